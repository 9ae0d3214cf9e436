package patience

import (
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
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

func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		Until(t, func() error {
			if time.Since(begun) < time.Minute {
				return errors.New("not yet")
			}
			return nil
		})
		f := new(failed)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			Until(f, func() error { return errors.New("never") })
		}()
		<-ended
		if f.why != "Fatalf" {
			t.Error("what never happens does not fail")
		}
	})
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
