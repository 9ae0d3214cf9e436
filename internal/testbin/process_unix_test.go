//go:build darwin || linux

package testbin

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// What a subject leaves behind ends with it: it would disturb what is measured
// next.
func TestMeasureEndsGrandchildren(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	t.Setenv("LAB_LOCK", path)
	if line, err := measureSubject(t.Context(), subject(t, "leave"), "leave", time.Minute); err != nil || line == "" {
		t.Fatalf("a subject that leaves a child: %q, %v", line, err)
	}
	waitForLock(t, path)
}

// A process that a benchmark starts is not driven, and what is left of those ends
// with the benchmark.
func TestForks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	t.Setenv("SUBJECT_LOCK", path)
	p, _ := drive(t, "BenchmarkForks", 1, 10)
	finish(t, p)
	waitForLock(t, path)
}

// waitForLock waits until no process holds the lock any more.
func waitForLock(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
}
