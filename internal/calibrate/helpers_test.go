package calibrate

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// write puts a results file into a temporary folder and returns its path.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// resume carries out the rest of an interrupted run.
func resume(t *testing.T, path string, h fakeSubject) {
	t.Helper()
	from, err := record.ReadInterrupted(path)
	if err != nil {
		t.Fatal(err)
	}
	store, err := from.Resume(time.Unix(2e9, 0))
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Run(context.Background(), from.Plan, h, store, from, silent{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}
