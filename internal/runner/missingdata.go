package runner

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/testbin"
)

// tellAbsent says what gives no figures: what only one version has, and what skips itself,
// with the reason that may be behind it. What fails has been said.
func (v *Versions) tellAbsent(ctx context.Context, absent []record.Hole) {
	told := make(map[string]bool) // hints
	for _, h := range absent {
		switch {
		case h.Case == "":
		case h.Gone():
			fmt.Fprintf(v.w, "%s %s: %s\n", h.Pkg, h.Case, h.Reason)
		case h.Skipped:
			fmt.Fprintf(v.w, "%s %s skips itself in the %s version: %s\n", h.Pkg, h.Case, h.Side, h.Reason)
		}
		if text := v.missingData(ctx, h); text != "" && !told[text] {
			told[text] = true
			fmt.Fprintf(v.w, "note: %s\n", text)
		}
	}
}

// missingData says which file a benchmark lacks, by its reason, that the same package has in
// the other version, as data that git does not keep is in the work tree only; "" if none is.
func (v *Versions) missingData(ctx context.Context, h record.Hole) string {
	own := slices.Index(sides[:], h.Side)
	if own < 0 || h.Gone() || v.trees[own] == nil || v.trees[own].Commit == "" {
		return ""
	}
	dir := func(side int) string {
		i := slices.IndexFunc(v.binaries[side], func(b testbin.Binary) bool { return b.Pkg == h.Pkg })
		if i < 0 {
			return ""
		}
		return v.binaries[side][i].Dir
	}
	here, there := dir(own), dir(1-own)
	if here == "" || there == "" {
		return ""
	}
	lacks := func(path string) bool {
		_, inOther := os.Stat(filepath.Join(there, path))
		_, inOwn := os.Stat(filepath.Join(here, path))
		return inOther == nil && os.IsNotExist(inOwn)
	}
	var file string
	for word := range strings.FieldsFuncSeq(h.Reason, func(r rune) bool { return strings.ContainsRune(" :;,\"'()`", r) }) {
		if file == "" && !filepath.IsAbs(word) && strings.ContainsAny(word, "./") && lacks(word) {
			file = word
		}
	}
	if file == "" {
		file = firstFile(there, "testdata", lacks)
	}
	if file == "" {
		return ""
	}
	why := "is not in that version"
	status, err := child.Says(ctx, there, nil, "git", "status", "--porcelain", "--ignored", "--", file)
	switch {
	case err != nil:
	case strings.HasPrefix(status, "!!"):
		why = "is ignored by git"
	case strings.HasPrefix(status, "??"):
		why = "is not in git"
	}
	return fmt.Sprintf("%s of %s %s, and so not in the %s version, %s. Commit it, or compare two folders that have it: benchrun ab FOLDER .",
		file, h.Pkg, why, h.Side, v.trees[own].Name)
}

// firstFile returns the first file below dir/under that is wanted, by its path below dir; "" if none is. It looks
// at some hundreds.
func firstFile(dir, under string, wanted func(path string) bool) (first string) {
	looked := 0
	_ = filepath.WalkDir(filepath.Join(dir, under), func(path string, entry fs.DirEntry, err error) error {
		if looked++; err != nil || looked > 500 {
			return filepath.SkipAll
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil || entry.IsDir() || !wanted(rel) {
			return nil
		}
		first = filepath.ToSlash(rel)
		return filepath.SkipAll
	})
	return first
}
