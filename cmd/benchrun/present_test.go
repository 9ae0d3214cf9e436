package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/testbin"
)

// What the default comparison shows of its results: the table, and where the report
// and the results are.
func TestPresent(t *testing.T) {
	data, err := os.ReadFile("../../internal/compare/testdata/compare/turns.bench")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run.bench")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := newRootCmd()
	var out, said bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&said)
	cmd.SetContext(t.Context())
	if err := present(cmd, path); err != nil {
		t.Fatal(err)
	}
	html := strings.TrimSuffix(path, ".bench") + ".html"
	for _, want := range []string{"faster", "report:  " + html, "results: " + path} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in what is shown:\n%s", want, out.String())
		}
	}
	if _, err := os.Stat(html); err != nil {
		t.Error(err)
	}
}

// A run that ends because its file cannot be written says how to go on.
func TestUnwritableResultsSayHowToGoOn(t *testing.T) {
	plan := &record.Plan{Blocks: 1, CPU: []int{1}, Time: "1x"}
	store, err := record.Create(filepath.Join(t.TempDir(), "r.bench"), plan, new(record.Circumstances), nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil { // now nothing can be written any more
		t.Fatal(err)
	}
	err = carryOut(t.Context(), io.Discard, plan, testbin.NewBinaries(plan, nil, nil), store, nil, newProgress(io.Discard, 0), nil, "benchrun run")
	if err == nil || !strings.Contains(err.Error(), "what was measured is kept. To go on:\n  benchrun run --resume "+store.Path) {
		t.Errorf("%v", err)
	}
}
