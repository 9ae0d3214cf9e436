package quotetest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// madeOf is the line of a page that says what its tables were made of.
var madeOf = regexp.MustCompile(`(?m)^<!-- made of: [0-9a-f]+ -->\n`)

// Unchanged reports whether neither a page nor any of the files that its tables are made of,
// which patterns name, have changed since the page was written: then to make the tables again
// shows nothing. By night it is always false.
func Unchanged(t *testing.T, page []byte, patterns ...string) bool {
	t.Helper()
	if os.Getenv("DYNO_NIGHTLY") != "" || bytes.Equal(page, Stamp(t, page, patterns...)) {
		return os.Getenv("DYNO_NIGHTLY") == ""
	}
	t.Log("what the tables are made of has changed: they are made again, which takes long; -update notes that")
	return false
}

// Stamp returns a page with the line that says what it was made of, at its end. Of Go files
// that is the code: what a comment says changes no table, nor what another package tests.
func Stamp(t *testing.T, page []byte, patterns ...string) []byte {
	t.Helper()
	bare := madeOf.ReplaceAll(page, nil)
	sum := sha256.New()
	sum.Write(bare)
	for _, pattern := range patterns {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no such files (%v)", pattern, err)
		}
		slices.Sort(files)
		for _, name := range files {
			if filepath.Dir(name) != "." && strings.HasSuffix(name, "_test.go") {
				continue
			}
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if filepath.Ext(name) == ".go" {
				data = code(data)
			}
			fmt.Fprintf(sum, "%s %d\n%s", filepath.Base(name), len(data), data)
		}
	}
	return append(bare, fmt.Sprintf("<!-- made of: %x -->\n", sum.Sum(nil)[:8])...)
}

// code returns the tokens of a Go file, a line each, without comments.
func code(src []byte) []byte {
	var s scanner.Scanner
	s.Init(token.NewFileSet().AddFile("", -1, len(src)), src, nil, 0)
	var b bytes.Buffer
	for {
		_, tok, lit := s.Scan()
		if tok == token.EOF {
			return b.Bytes()
		}
		fmt.Fprintln(&b, tok, lit)
	}
}
