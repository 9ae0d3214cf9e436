package patience

import (
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"
)

// failed is a test that notes how it fails.
type failed struct {
	testing.TB
	why string
}

func (*failed) Helper()             {}
func (*failed) Logf(string, ...any) {}

func (f *failed) Fatalf(string, ...any) {
	f.why = "Fatalf"
	runtime.Goexit()
}

func TestTry(t *testing.T) {
	var limits []time.Duration
	Try(t, time.Second, func(limit time.Duration) error {
		if limits = append(limits, limit); len(limits) < 3 {
			return errors.New("too short")
		}
		return nil
	})
	if want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}; !slices.Equal(limits, want) {
		t.Errorf("it tries %v, want %v", limits, want)
	}
	f, tries := new(failed), 0
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		Try(f, time.Second, func(time.Duration) error { tries++; return errors.New("always") })
	}()
	<-ended
	if f.why != "Fatalf" || tries != 9 {
		t.Errorf("what never works: %q after %d tries", f.why, tries)
	}
}
