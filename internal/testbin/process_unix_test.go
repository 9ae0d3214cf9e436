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
	if line, err := measureSubject(subject(t, "leave"), "leave", time.Minute, nil); err != nil || line == "" {
		t.Fatalf("a subject that leaves a child: %q, %v", line, err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// This waits until the child has ended, which it does not by itself.
	must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
}
