package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// TestNoControlIsPrinted: what commands print of names, of files, and of what was typed, is
// shown and never obeyed by a terminal, on both of its ways out.
func TestNoControlIsPrinted(t *testing.T) {
	const bad = "\x1b]0;pwned\x07\x1b[2J\u009b31m\u202e\x7f"
	dir := t.TempDir()
	path := filepath.Join(dir, "a"+bad+".bench")
	text := "machine: box" + bad + "\npkg: example.com/p" + bad + "\nUnit x" + bad + "/op better=lower\n" +
		strings.Repeat("BenchmarkX"+bad+"/impl=a"+bad+" 1 5 ns/op 7 x"+bad+"/op\nBenchmarkX"+bad+"/impl=b 1 6 ns/op 7 x"+bad+"/op\n", 6)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"compare", path},
		{"compare", path, "--format", "full"},
		{"compare", path, "--format", "md"},
		{"compare", path, "--format", "html"},
		{"compare", path, "--format", "json"},
		{"compare", path, "--format", "csv"},
		{"compare", path, "--filter", bad},
		{"compare", path, "--base", bad},
		{"compare", bad},
		{bad},
		{"compare", "--" + bad},
		{"history", dir},
		{"targets", path},
		{"report", path, "--out", dir},
		{"why", path},
		{"ab", bad},
		{"list", bad},
		{"conform", bad},
		{"board", "run", bad},
		{"compare", path, "--format", bad},
	} {
		var out, said bytes.Buffer
		run(t.Context(), args, strings.NewReader(""), &out, &said)
		for name, printed := range map[string]string{"output": out.String(), "error": said.String()} {
			if i := strings.IndexFunc(printed, func(r rune) bool { return r != '\n' && r != '\t' && !unicode.IsGraphic(r) }); i >= 0 {
				t.Errorf("%q: %s has %q", args, name, printed[max(0, i-60):min(len(printed), i+20)])
			}
		}
		if out.Len()+said.Len() == 0 {
			t.Errorf("%q prints nothing", args)
		}
	}
}
