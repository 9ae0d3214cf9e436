package benchtest

import (
	"flag"
	"testing"

	"github.com/dynolab/dyno/internal/measure"
	"github.com/dynolab/dyno/workloads"
)

// A driver has a benchmark measured slice by slice, in turn with those of other
// processes: what package internal/program adds to testing.B, in the binaries that are
// built for it and in no others. docs/driving.md says how.
type driver interface {
	DriveAsked() bool
	DriveRefused(reason string)
	DriveSession(unit int, _ bool, do func(n int) error, reset func(), end func(n int, allocs, bytes uint64) error) error
}

// asked returns the driver of b, nil if there is none. If the workload is not to be
// sliced, it ends the benchmark.
func asked(b *testing.B, slicing workloads.Slicing) driver {
	d, ok := any(b).(driver)
	if !ok || !d.DriveAsked() {
		return nil
	}
	if slicing.Whole != "" {
		d.DriveRefused(slicing.Whole)
	}
	return d
}

// listed reports whether benchrun list runs b: its package testing can have slices and is not
// asked for any, and one operation is all there is.
func listed(b *testing.B) bool {
	d, ok := any(b).(driver)
	return ok && !d.DriveAsked() && flag.Lookup("test.benchtime").Value.String() == "1x"
}

// session lets d have slices of run until it has enough, and reports what they
// found then: operations, and allocations and bytes of all of them. What was before
// the last reset does not count, but is checked with the others.
func session(b *testing.B, d driver, w workloads.Workload, run workloads.Run, m *meter) {
	total := 0
	err := d.DriveSession(max(w.Slicing.Unit, 1), false, func(n int) error {
		total += n
		return run.Do(n)
	}, m.reset, func(n int, allocs, bytes uint64) error {
		if err := run.Check(); err != nil {
			return err
		}
		if n > 0 {
			m.allocated = measure.Memory{Objects: allocs, Bytes: bytes}
			m.report(n)
		}
		return nil
	})
	if err != nil {
		b.Fatalf("%s: %d operations: %v", w.Path(), total, err)
	}
}
