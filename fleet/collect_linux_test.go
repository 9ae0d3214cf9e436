package fleet_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dynolab/dyno/fleet"
	"github.com/dynolab/dyno/internal/runner"
)

// TestCollectEndsWhileItReadsItsFolder: a collector that is asked to end before it has told of
// all that lies in its folder ends without an error.
func TestCollectEndsWhileItReadsItsFolder(t *testing.T) {
	l := newLab(t)
	folder := filepath.Join(t.TempDir(), "kept")
	path := filepath.Join(folder, "one", "any.bench")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) // with a reader, so that none has to come first
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- fleet.Collect(ctx, l.client, folder, l.said)
		_ = pipe.Close() // should it have ended too early
	}()
	// Of what the file begins with the collector reads 64 KiB, and asks the server; then it
	// reads the file. A pipe holds less than is written here, so when all is written it does.
	head := fmt.Sprintf("machine: one\n%s: %s\nblock: 1\n", runner.JobKey, strings.Repeat("a", 64))
	if _, err := pipe.Write(append([]byte(head), bytes.Repeat([]byte("\n"), 4<<20)...)); err != nil {
		t.Fatalf("it has not read its folder, and says %v; %v", <-ended, err)
	}
	cancel()
	if err := pipe.Close(); err != nil { // the end of the file
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("it was asked to end, and says: %v", err)
	}
}
