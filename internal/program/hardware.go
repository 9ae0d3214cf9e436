package program

import (
	"errors"

	"github.com/dynolab/dyno/internal/hwcount"
)

// Counters are what counts a process: *hwcount.Counters, or a test's.
type Counters interface {
	Read() (hwcount.Reading, error)
	Close() error
}

// machineCounters opens the counters of the machine for a process that stands still.
func machineCounters(pid int) (Counters, error) {
	c, err := hwcount.Attach(pid)
	if err != nil {
		return nil, err // and no counters, which a nil *Counters would be
	}
	return c, nil
}

// CountHardware has processors count what the process does from its next command on,
// until StopCounting: its slices have Hardware then. They take longer, so their times
// are of no use. The error says why there is nothing that counts; the process is as
// good as before.
func (p *Process) CountHardware() error {
	if !p.Freeze() {
		return errors.New("a process cannot be stopped here, so its threads are not known")
	}
	c, err := p.c.Attach(p.hello.Pid)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counters = c
	return nil
}

// StopCounting ends what CountHardware began, if it did. It may be called by any
// goroutine.
func (p *Process) StopCounting() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.counters == nil {
		return nil
	}
	c := p.counters
	p.counters = nil
	return c.Close()
}

// count begins to count a slice. The function that it returns ends that, and returns
// what was counted, or why nothing was; neither if nothing counts.
func (p *Process) count() func() (*Hardware, string) {
	p.mu.Lock()
	c := p.counters
	p.mu.Unlock()
	if c == nil {
		return func() (*Hardware, string) { return nil, "" }
	}
	before, err := c.Read()
	return func() (*Hardware, string) {
		var after hwcount.Reading
		if err == nil {
			after, err = c.Read()
		}
		var counts Hardware
		if err == nil {
			counts, err = after.Since(before)
		}
		if err != nil {
			return nil, err.Error()
		}
		return &counts, ""
	}
}
