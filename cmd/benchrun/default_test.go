package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/report"
)

// The report is there after the first block, which is shown, and is written again after others.
func TestSoFar(t *testing.T) {
	data, err := os.ReadFile(filepath.FromSlash("../../results/amd-epyc-2c-linux-amd64/20261123-095420-6ee9794b.bench"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "r.bench")
	for block, shown := range []bool{true, false} {
		end := []byte(fmt.Sprintf("\n# end of block %d\n", block+1))
		i := bytes.Index(data, end)
		if i < 0 {
			t.Fatalf("no %s", end)
		}
		if err := os.WriteFile(path, data[:i+len(end)], 0o644); err != nil {
			t.Fatal(err)
		}
		var out, said strings.Builder
		cmd := newRootCmd()
		cmd.SetOut(&out)
		cmd.SetErr(&said)
		soFar(cmd, path, block+1)
		html, err := os.ReadFile(report.HTMLPath(report.Path([]string{path}, "")))
		if err != nil || said.Len() > 0 || !strings.Contains(string(html), fmt.Sprint(block+1, " of ")) || strings.Contains(out.String(), "so far") != shown {
			t.Errorf("block %d: %v, %s\n%s", block+1, err, out.String(), said.String())
		}
	}
}
