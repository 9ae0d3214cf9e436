//go:build !linux

package hwcount

import "errors"

// Counters are the open counters of a process: there are none.
type Counters struct{}

// Open fails.
func Open() (*Counters, error) {
	return nil, errors.New("they are read on Linux only")
}

// OpenClock fails.
func OpenClock() (*Counters, error) { return Open() }

// Read is not reached.
func (*Counters) Read() (Reading, error) { return Reading{}, errors.ErrUnsupported }

// Close is not reached.
func (*Counters) Close() error { return nil }
