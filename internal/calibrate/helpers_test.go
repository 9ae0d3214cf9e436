package calibrate

import (
	"context"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

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
	if err := session.Run(context.Background(), from.Plan, h, store, from, session.Quiet{}, nil); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}
