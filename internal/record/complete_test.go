package record_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

// A file is complete when all blocks have ended; what is torn, or stops before, is not.
func TestComplete(t *testing.T) {
	path := filepath.Join(t.TempDir(), "r.bench")
	p := recordtest.Plan(1, 2)
	s, err := Create(path, p, new(Circumstances), nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	state := func() string {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		run, err := Complete("r.bench", data)
		if err != nil {
			return err.Error()
		}
		return "complete: " + run.Plan.ID()
	}
	for n := 1; n <= 2; n++ {
		s.Block(n, "", p)
		for _, step := range p.Steps() {
			s.Single(Record{Step: step, Printed: step.FullName() + " 1 5 ns/op"}, p)
		}
		if want := fmt.Sprintf("r.bench has %d of 2 blocks", n-1); state() != want {
			t.Errorf("within block %d: %s, want %s", n, state(), want)
		}
		if err := s.End(n, ""); err != nil {
			t.Fatal(err)
		}
	}
	if want := "complete: " + p.ID(); state() != want {
		t.Errorf("%s, want %s", state(), want)
	}
	if err := os.Truncate(path, int64(len(readAll(t, path))-1)); err != nil {
		t.Fatal(err)
	}
	if want := "r.bench ends in the middle of"; !strings.HasPrefix(state(), want) {
		t.Errorf("%s, want %s", state(), want)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
