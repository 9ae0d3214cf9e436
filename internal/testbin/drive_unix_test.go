//go:build darwin || linux

package testbin

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// A process that a benchmark starts is not driven, and what is left of those ends
// with the benchmark.
func TestForks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	t.Setenv("SUBJECT_LOCK", path)
	p, _ := drive(t, "BenchmarkForks", 1, 10)
	finish(t, p)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// This waits until the process has ended, which it does not by itself.
	must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
}
