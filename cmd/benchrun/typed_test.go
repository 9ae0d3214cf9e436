package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/record"
)

// What the pages type to go test and benchstat does what they say: a count of ten does not
// end in go's ten minutes, and benchstat ignores every key that varies within a run.
func TestPagesTypeToOthers(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	must(t, err)
	help, err := filepath.Glob("help/*.txt")
	must(t, err)
	files, err := filepath.Glob("../../results/*/2026*-604d8cd8.bench")
	must(t, err)
	if len(files) == 0 {
		t.Fatal("the run that README shows is not there")
	}
	varies := varying(t, files[0])
	counts, ignores := 0, 0
	for _, page := range slices.Concat(pages, help, []string{"../../README.md"}) {
		text := readPage(t, page)
		for _, line := range regexp.MustCompile(`(?m)^ *go test .*-count 10.*`).FindAllString(text, -1) {
			counts++
			if !strings.Contains(line, "-timeout 0") {
				t.Errorf("%s: %s: go test ends it after ten minutes", page, line)
			}
		}
		for _, m := range regexp.MustCompile(`(?m)^benchstat .*-ignore (\S+) .*`).FindAllStringSubmatch(text, -1) {
			ignores++
			for _, key := range varies {
				if !slices.Contains(strings.Split(m[1], ","), key) {
					t.Errorf("%s: %s: %s varies within a run", page, m[0], key)
				}
			}
		}
	}
	if counts < 2 || ignores < 2 {
		t.Errorf("only %d and %d commands were looked at", counts, ignores)
	}
}

// varying returns the keys of a results file that have several values, but for the package.
func varying(t *testing.T, file string) (keys []string) {
	t.Helper()
	f, err := record.ReadFile(file)
	must(t, err)
	for _, s := range f.Config {
		if len(s.Values) > 1 && s.Key != "pkg" {
			keys = append(keys, s.Key)
		}
	}
	return keys
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
