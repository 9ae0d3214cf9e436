package session

import (
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/record"
)

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// create begins a results file.
func create(t testing.TB, path string, plan *record.Plan) *record.Store {
	t.Helper()
	s, err := record.Create(path, plan, someCircumstances, nil, time.Unix(1e9, 0))
	must(t, err)
	return s
}

// interrupted reads what a file of results has.
func interrupted(t testing.TB, path string) *record.Interrupted {
	t.Helper()
	r, err := record.ReadInterrupted(path)
	must(t, err)
	return r
}

// resume opens a file of results again.
func resume(t testing.TB, r *record.Interrupted) *record.Store {
	t.Helper()
	s, err := r.Resume(time.Unix(1e9, 0))
	must(t, err)
	return s
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}
