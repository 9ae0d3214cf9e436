// Package patience is for tests of what happens in real time. How long something honest
// takes on a machine that others use is not known: a limit short enough to wait for is too
// short some day. So the limit is what a test varies of what ends a process that takes too
// long ([Try]), and what is about to happen is waited for until it has ([Until]).
package patience

import (
	"testing"
	"time"
)

// most bounds the limits that are tried: no process is kept waiting for so long by
// anything but a fault.
const most = 4 * time.Minute

// Try calls try with limits of first, twice that, and so on, until it returns nil. It
// fails the test with the last error if none does up to some minutes. What is wrong at
// every limit fails, what a stalled machine has spoilt does not.
func Try(t testing.TB, first time.Duration, try func(limit time.Duration) error) {
	t.Helper()
	for limit := first; ; limit *= 2 {
		err := try(limit)
		if err == nil {
			return
		}
		if limit > most {
			t.Fatalf("with a limit of %v: %v", limit, err)
		}
		t.Logf("with a limit of %v, which may have been too short: %v", limit, err)
	}
}

// Until calls look until it returns nil, for something that is about to happen. It fails
// the test with the last error if it has not happened in some minutes.
func Until(t testing.TB, look func() error) {
	t.Helper()
	for deadline := time.Now().Add(most); ; {
		err := look()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %v: %v", most, err)
		}
		time.Sleep(time.Millisecond)
	}
}
