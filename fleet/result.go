package fleet

import (
	"errors"
	"fmt"
	"time"

	"github.com/dynolab/dyno/internal/console"
)

// What bounds results that other users send.
const (
	mostResult  = 256 << 10 // bytes of a Result
	mostResults = 256 << 20 // bytes of a results file
	mostSaid    = 16 << 10  // bytes of what a job that failed has said
)

// What became of a job.
const (
	Done      = "done"      // the results are stored
	Failed    = "failed"    // it could not be carried out; Said has why
	Cancelled = "cancelled" // its sender did not want it any more
	Refused   = "refused"   // what the machine sent was not a result of this job
)

// A Result is what a machine says became of a job.
type Result struct {
	Outcome string    `json:"outcome"`
	SHA256  string    `json:"sha256,omitempty"` // of the results file, which is a part
	Size    int64     `json:"size,omitempty"`
	Said    string    `json:"said,omitempty"`
	Fence   uint64    `json:"fence"` // the token of the lease under which it was carried out: for display
	At      time.Time `json:"at"`    // by the machine's clock: for display
}

// Stored is what the collector has stored of a job.
type Stored struct {
	Result
	File string `json:"file,omitempty"` // in the folder of results
}

// Err is the error of a job that has no results; nil if it has.
func (s *Stored) Err() error {
	switch s.Outcome {
	case Done:
		return nil
	case Cancelled:
		return errors.New("the job was cancelled")
	}
	return fmt.Errorf("the job has no results (%s): %s", s.Outcome, console.Printable(s.Said))
}
