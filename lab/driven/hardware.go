package driven

import (
	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/hwcount"
)

// counters are what counts a process: *hwcount.Counters, or a test's.
type counters interface {
	Read() (hwcount.Reading, error)
	Close() error
}

// machineCounters opens the counters of the machine, for the process that the calling
// thread starts next.
func machineCounters() (counters, error) {
	c, err := hwcount.Open()
	if err != nil {
		return nil, err // and no counters, which a nil *Counters would be
	}
	return c, nil
}

// startCounted starts the process with counters. It is started without, and
// p.uncounted says why, where there are none.
func (p *Process) startCounted() error {
	open := p.c.open
	if open == nil {
		open = machineCounters
	}
	err := child.StartPrepared(p.cmd, func() { p.counters, p.uncounted = open() }, p.ended)
	if err != nil {
		_ = p.closeCounters() // the process counts, which there is not
	}
	return err
}

// count begins to count a slice. The function that it returns ends that, and returns
// what was counted, or why nothing was; neither if nobody has asked.
func (p *Process) count() func() (*Hardware, string) {
	if !p.c.Hardware {
		return func() (*Hardware, string) { return nil, "" }
	}
	if p.counters == nil {
		return func() (*Hardware, string) { return nil, p.uncounted.Error() }
	}
	before, err := p.counters.Read()
	return func() (*Hardware, string) {
		var counts hwcount.Counts
		if err == nil {
			counts, err = p.countedSince(before)
		}
		if err != nil {
			return nil, err.Error()
		}
		return &Hardware{Instructions: counts.Instructions, Cycles: counts.Cycles}, ""
	}
}

// countedSince returns what was counted since before was read.
func (p *Process) countedSince(before hwcount.Reading) (hwcount.Counts, error) {
	now, err := p.counters.Read()
	if err != nil {
		return hwcount.Counts{}, err
	}
	return now.Since(before)
}

// closeCounters closes the counters, if there are any.
func (p *Process) closeCounters() error {
	if p.counters == nil {
		return nil
	}
	return p.counters.Close()
}
