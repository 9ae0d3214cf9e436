package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

// TestAnchor: the anchor is two times, of loops that do what they say.
func TestAnchor(t *testing.T) {
	fields := strings.Fields(Anchor())
	if len(fields) != 2 {
		t.Fatalf("anchor is %q", fields)
	}
	for _, f := range fields {
		if ns, err := strconv.ParseFloat(f, 64); err != nil || !(ns > 0) || ns > 10_000 { // of a step, and not of a loop
			t.Errorf("%q is no time: %v", f, err)
		}
	}
	next := walk()
	seen, at := make([]bool, len(next)), uint32(0)
	for range next {
		if seen[at] {
			t.Fatal("the walk does not go through all of its memory")
		}
		seen[at], at = true, next[at]
	}
}

// TestAnchorOnRecord: each block has the anchor.
func TestAnchorOnRecord(t *testing.T) {
	path := filepath.Join(recordtest.Dir(t), "x.bench")
	plan := recordtest.Plan(1, 3)
	s, err := record.Create(path, plan, new(record.Circumstances), nil, time.Now())
	must(t, err)
	d := inProcesses(fake(0))
	d.anchor = func() string { return "1.5 6" }
	must(t, errors.Join(carryOut(context.Background(), plan, s, nil, new(watched), d), s.Close()))
	text, err := os.ReadFile(path)
	must(t, err)
	if n := strings.Count(string(text), "\nanchor: 1.5 6\n"); n != 3 {
		t.Errorf("three blocks have %d anchors:\n%s", n, text)
	}
}
