//go:build unix

package serve

import (
	"syscall"
	"testing"
)

// pipe makes a named pipe. To open it would wait for a writer who never comes.
func pipe(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Logf("no named pipes here: %v", err)
	}
}
