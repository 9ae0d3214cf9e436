//go:build !linux

package hwcount

import "errors"

// Counters are the open counters of a process: there are none.
type Counters struct{}

// Attach fails.
func Attach(int) (*Counters, error) {
	return nil, errors.New("they are read on Linux only")
}

// AttachClock fails.
func AttachClock(pid int) (*Counters, error) { return Attach(pid) }

// Read is not reached.
func (*Counters) Read() (Reading, error) { return Reading{}, errors.ErrUnsupported }

// Close is not reached.
func (*Counters) Close() error { return nil }
