package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
