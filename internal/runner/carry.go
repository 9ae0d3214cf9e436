package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/jobs"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// A Carriage is a job that was sent to this machine.
type Carriage struct {
	Job     string // the folder that it is packed in
	Work    string // a folder for what is unpacked
	Out     string // path of the results; if they are there already, the run goes on
	Machine string // what this machine is called in results
	Idle    string // one of the Idle constants

	// Reports, if it is not nil, gets how far it is: a line of JSON, a [CarryReport], at the
	// start and after each block, or before each case of a board.
	Reports io.Writer
}

// A CarryReport says how far a job is.
type CarryReport struct {
	Block int     `json:"block"` // how many blocks, or cases of a board, are done
	Of    int     `json:"of"`
	Left  float64 `json:"left"` // seconds, about
}

// JobKey is the configuration key of the job that a results file is of: jobs.ID.
const JobKey = "job"

// Carry carries a job out, or goes on with it. Results are the ones that a local run writes,
// with the circumstances of this machine, and with what the sender says of the code. Its error
// is session.ErrInterrupted if it was interrupted; what is measured is kept then. A job that
// does not fit together, or is for another platform, is an error before anything is measured.
func (r *Runner) Carry(ctx context.Context, c Carriage) error {
	return r.whole(ctx, func(ctx context.Context) error {
		if err := r.lockMachine(ctx); err != nil { // before what takes processor time
			return r.unmeasured(ctx, err)
		}
		j, err := r.arrived(ctx, c)
		if err != nil || j == nil {
			return r.unmeasured(ctx, err)
		}
		if err := r.checkIdle(ctx, c.Idle); err != nil {
			return r.unmeasured(ctx, err)
		}
		r.progress.report = c.Report
		return r.measure(ctx, j)
	})
}

// Report tells how far a job is.
func (c *Carriage) Report(done CarryReport) {
	if c.Reports != nil {
		_ = json.NewEncoder(c.Reports).Encode(done) // the results count, and not who reads this
	}
}

// arrived opens a job; nil if it was carried out already.
func (r *Runner) arrived(ctx context.Context, c Carriage) (*job, error) {
	o, err := jobs.Open(c.Job, c.Work)
	if err != nil {
		return nil, err
	}
	if o.Platform != platform() {
		return nil, fmt.Errorf("the job is for %s, and this machine is %s", o.Platform, platform())
	}
	if err := setEnvironment(o.Settings); err != nil {
		return nil, err
	}
	j := &job{plan: o.CarriedPlan(), path: c.Out, title: o.Title, absent: o.Absent}
	j.take(r.processes, unpacked(o))
	j.here = session.DescribeMachine(ctx, c.Machine)
	own := append([]record.Setting{fixed(JobKey, o.ID)}, o.Settings...)
	j.here.Fixed = append(append(own, j.here.Fixed...), session.Identity(ctx)...)
	j.from, err = Begun(r.con, c.Out, func(path string) (*record.Interrupted, error) {
		from, err := record.ReadInterrupted(path)
		if err == nil {
			err = from.Refuse(append(j.here.Differences(from.Config), from.Plan.Differences(j.plan)...))
		}
		return from, err
	})
	if err != nil {
		return nil, err
	}
	if j.from != nil && j.from.Finished() {
		fmt.Fprintf(r.con, "%s is complete\n", c.Out)
		return nil, nil
	}
	return j, nil
}

// Begun reads what an earlier try has left at path, nil if that is nothing to go on with: what
// read refuses is moved out of the way, and con says why.
func Begun(con *console.Console, path string, read func(path string) (*record.Interrupted, error)) (*record.Interrupted, error) {
	from, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err == nil:
		return from, nil
	}
	fmt.Fprintf(con, "begun anew: %v\n", err)
	return nil, os.Rename(path, fmt.Sprintf("%s.%d.before", path, time.Now().UnixNano()))
}

// ranWith are the environment variables that change how a program runs: those of the sender
// count, and not those of the user who started the agent.
var ranWith = []string{"GOGC", "GOMEMLIMIT", "GODEBUG", "GOMAXPROCS"}

// setEnvironment makes the environment of what is measured that of the sender.
func setEnvironment(settings []record.Setting) error {
	for _, name := range ranWith {
		value := ""
		for _, s := range settings {
			if s.Key == strings.ToLower(name) {
				value = strings.Join(s.Values, " ")
			}
		}
		if value == "" {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		} else if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}
