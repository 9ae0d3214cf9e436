package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/dynolab/dyno/internal/record"
)

// A bisectLog is the state of a bisection: a line of JSON for each thing that it has asked
// and what came of it, in order. A bisection that goes on asks the same again, and what is
// in the log is answered by it, until there is no more.
type bisectLog struct {
	f       *os.File
	folder  string
	answers map[string]bisectEntry // of builds and measurements that are done, by key
	began   map[string]bisectEntry // of measurements that were begun
	asked   map[string]int         // how many times a measurement was asked for, by what is measured
	limits  []bisectLimit          // that it had, in order
	seconds float64                // that what was answered took
	left    int                    // answers that have not been asked for again
	started bisectStart
}

// bisectLogName is the file's name in the bisection's folder.
const bisectLogName = "bisect.jsonl"

// A bisectEntry is a line.
type bisectEntry struct {
	Do string    `json:"do"` // one of the constants below
	At time.Time `json:"at"`

	Start *bisectStart `json:"start,omitempty"`

	Key      string  `json:"key,omitempty"`      // of a build the commit, of a measurement what was measured
	File     string  `json:"file,omitempty"`     // of a measurement's results, in the folder
	Identity string  `json:"identity,omitempty"` // of a build
	Problem  string  `json:"problem,omitempty"`  // of a build
	Seconds  float64 `json:"seconds,omitempty"`

	Limit float64 `json:"limit,omitempty"` // of a search that goes on, in seconds from its start; 0 is none

	Times *bisectTimes `json:"times,omitempty"` // as known after a measurement
}

const (
	doStart   = "start"
	doBuilt   = "built"
	doMeasure = "measure" // is begun
	doDone    = "measured"
	doLimit   = "limit" // is another one from here on
)

// A bisectLimit is how many seconds a search may take from its start, 0 for any, once it has
// so many answers. One that goes on has to decide as it did for as long as the log answers,
// and then by its own limit.
type bisectLimit struct {
	after   int
	seconds float64
}

// A bisectStart is what a bisection was asked for.
type bisectStart struct {
	Good     string        `json:"good"`
	Bad      string        `json:"bad"`
	GoodName string        `json:"goodName"`
	BadName  string        `json:"badName"`
	Packages []string      `json:"packages"`
	Bench    string        `json:"bench"`
	Unit     string        `json:"unit"`
	Memory   bool          `json:"memory,omitempty"`
	Alpha    float64       `json:"alpha"`
	Margin   float64       `json:"margin"`
	Blocks   int           `json:"blocks"`
	Trimpath bool          `json:"trimpath"`
	Machine  string        `json:"machine,omitempty"`
	Within   time.Duration `json:"within,omitempty"` // nanoseconds
}

// startOf is what c asks for, of two commits.
func startOf(c *Bisect, good, bad string, names [2]string) bisectStart {
	return bisectStart{
		Good: good, Bad: bad, GoodName: names[0], BadName: names[1], Packages: c.Packages, Bench: c.Bench, Unit: c.Unit, Memory: c.Memory,
		Alpha: c.Compare.Alpha, Margin: c.Compare.Margin, Blocks: c.Blocks, Trimpath: c.Trimpath, Machine: c.Machine, Within: c.Within,
	}
}

// restore has c ask for the same again, but for the time that it may take.
func (s bisectStart) restore(c *Bisect) {
	c.Args, c.Packages, c.Bench, c.Unit, c.Memory, c.Trimpath = []string{s.Good, s.Bad}, s.Packages, s.Bench, s.Unit, s.Memory, s.Trimpath
	c.Compare.Alpha, c.Compare.Margin, c.Machine, c.Blocks = s.Alpha, s.Margin, s.Machine, s.Blocks
}

// createBisectLog makes the log of a new bisection in its folder, which it makes too.
func createBisectLog(folder string, start bisectStart) (*bisectLog, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(folder, bisectLogName), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	l := newBisectLog(f, folder)
	if err := record.LockResults(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	l.started = start
	return l, l.add(bisectEntry{Do: doStart, Start: &start})
}

func newBisectLog(f *os.File, folder string) *bisectLog {
	return &bisectLog{f: f, folder: folder, answers: make(map[string]bisectEntry), began: make(map[string]bisectEntry), asked: make(map[string]int)}
}

// openBisectLog opens the log in the folder to go on with it. A line that a kill has torn
// is cut off.
func openBisectLog(folder string) (*bisectLog, error) {
	f, err := os.OpenFile(filepath.Join(folder, bisectLogName), os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("%s is no bisection to go on with: %w", folder, err)
	}
	l := newBisectLog(f, folder)
	if err := l.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", f.Name(), err), f.Close())
	}
	return l, nil
}

func (l *bisectLog) read() error {
	if err := record.LockResults(l.f); err != nil {
		return err
	}
	data, err := io.ReadAll(l.f)
	if err != nil {
		return err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	for i, line := range bytes.Split(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n")) {
		var e bisectEntry
		err := json.Unmarshal(line, &e)
		switch {
		case i == 0 && (err != nil || e.Do != doStart || e.Start == nil):
			return errors.New("it does not say what was asked for: start a new search")
		case err != nil:
			return fmt.Errorf("line %d is damaged: %w; cut the file off before it to go on from there, or start a new search", i+1, err)
		}
		l.take(e)
	}
	if err := l.f.Truncate(int64(len(whole))); err != nil {
		return err
	}
	l.left = len(l.answers)
	return nil
}

// take takes in an entry.
func (l *bisectLog) take(e bisectEntry) {
	switch e.Do {
	case doStart:
		l.started = *e.Start
		l.limits = []bisectLimit{{0, e.Start.Within.Seconds()}}
	case doLimit:
		l.limits = append(l.limits, bisectLimit{len(l.answers), e.Limit})
	case doMeasure:
		l.began[e.Key] = e
	case doBuilt, doDone:
		l.answers[e.Key] = e
	}
}

// add writes an entry, and takes it in. It is on the disk when add returns.
func (l *bisectLog) add(e bisectEntry) error {
	e.At = time.Now().UTC().Truncate(time.Millisecond)
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := l.f.Write(append(line, '\n')); err != nil {
		return err
	}
	l.take(e)
	l.seconds += e.Seconds
	return l.f.Sync()
}

// answer returns what the log has under key.
func (l *bisectLog) answer(key string) (e bisectEntry, ok bool) {
	if e, ok = l.answers[key]; ok && l.left > 0 {
		l.left--
		l.seconds += e.Seconds
	}
	return e, ok
}

// goOn gives a search that goes on a limit of its own: so much more than what the log has
// took, or none.
func (l *bisectLog) goOn(within time.Duration) error {
	limit := within.Seconds()
	if limit > 0 {
		for _, e := range l.answers {
			limit += e.Seconds
		}
	}
	if last := l.limits[len(l.limits)-1]; last.seconds == limit {
		return nil
	}
	return l.add(bisectEntry{Do: doLimit, Limit: limit})
}

// time returns how many seconds are left, by the limit that holds for the next decision.
func (l *bisectLog) time() float64 {
	limit := 0.0
	for _, next := range l.limits {
		if next.after <= len(l.answers)-l.left {
			limit = next.seconds
		}
	}
	if limit <= 0 {
		return math.Inf(1)
	}
	return limit - l.seconds
}

// measurement returns the key of a measurement, which tells it from earlier ones of the
// same.
func (l *bisectLog) measurement(what string) (key string) {
	l.asked[what]++
	return fmt.Sprintf("%s #%d", what, l.asked[what])
}

func (l *bisectLog) close() { _ = l.f.Close() }
