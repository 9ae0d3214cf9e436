package testbin

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/program"
)

// cacheModule makes a module in a folder of its own.
func cacheModule(t *testing.T, says string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.23\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) { b.Log(" + says + ") }\n",
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// buildOne builds a module's test in two layouts, and returns their hashes.
func buildOne(t *testing.T, dir string, o BuildOptions) map[string]string {
	t.Helper()
	o.Env = append(o.Env, "GOFLAGS=-trimpath -ldflags=-s", "GOWORK=off")
	out := t.TempDir()
	subjects, problems, err := Build(context.Background(), dir, out, []string{"."}, o)
	err = errors.Join(err, Link(context.Background(), subjects, 0, 2, nil))
	if err != nil || len(problems) > 0 || len(subjects) != 1 {
		t.Fatalf("%v %+v %+v", err, subjects, problems)
	}
	for _, i := range append(subjects[0].Layouts, Image{subjects[0].Path, subjects[0].Hash}) {
		if hash, err := program.HashFile(i.Path); err != nil || hash != i.Hash {
			t.Errorf("%s has hash %s, not %s: %v", i.Path, hash, i.Hash, err)
		}
		if info, err := os.Stat(i.Path); err != nil || info.Mode()&0o100 == 0 {
			t.Errorf("%s is not executable: %v", i.Path, err)
		}
	}
	return subjects[0].Hashes()
}

// Equal sources give equal binaries, wherever they lie: that is how it is seen
// that two versions of a package do not differ.
func TestBuildDoesNotDependOnTheFolder(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles test binaries")
	}
	o := BuildOptions{Driven: true}
	a, b := buildOne(t, cacheModule(t, "1"), o), buildOne(t, cacheModule(t, "1"), o)
	if len(a) != 2 || !maps.Equal(a, b) {
		t.Errorf("%v\nand %v", a, b)
	}
	if c := buildOne(t, cacheModule(t, "2"), o); c["example.com/m"] == a["example.com/m"] {
		t.Error("other sources, the same binary")
	}
}

func TestBuildCache(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles test binaries")
	}
	folder := t.TempDir()
	open := func() *BuildCache {
		c, err := OpenBuildCache(folder)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	one, two := cacheModule(t, "1"), cacheModule(t, "2")
	o := BuildOptions{Cache: open()}

	o.Source = "tree 1"
	first := buildOne(t, one, o)
	// That nothing is compiled is seen by sources that are not what they are
	// said to be.
	o.Cache = open()
	if got := buildOne(t, two, o); !maps.Equal(got, first) {
		t.Errorf("the same source is built again: %v, not %v", got, first)
	}
	o.Driven = true
	if got := buildOne(t, one, o); got["example.com/m"] == first["example.com/m"] {
		t.Error("the overlay is not part of the key")
	}
	o.Driven = false
	for source, dir := range map[string]string{"tree 2": two, "": two} {
		o.Source = source
		if got := buildOne(t, dir, o); got["example.com/m"] == first["example.com/m"] {
			t.Errorf("source %q is taken for another", source)
		}
	}

	// A profile is a part of the program, wherever it lies, and by what is in it.
	profile := filepath.Join(t.TempDir(), "p")
	o.Source, o.Env = "tree 1", []string{"GOFLAGS=-trimpath -pgo=" + profile}
	keys := make(map[string]bool)
	for _, text := range []string{"", "GO PREPROFILE V1\n", "GO PREPROFILE V1\n"} {
		must(t, os.WriteFile(profile, []byte(text), 0o644))
		b := &builder{dir: one, options: o}
		must(t, b.readSettings(t.Context()))
		if b.sources = b.describe(); b.sources == "" {
			t.Fatal("nothing is kept")
		}
		keys[b.sources] = true
	}
	o.Env = []string{"GOFLAGS=-trimpath -pgo=p"}
	b := &builder{dir: one, options: o}
	must(t, b.readSettings(t.Context()))
	if len(keys) != 2 || b.describe() != "" {
		t.Errorf("%d keys of two profiles, and %q of one of a relative path", len(keys), b.describe())
	}
	o.Source, o.Env = "", nil

	// Damage is not executed: binaries of the right size with other contents.
	var damaged int
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "-d") {
			return err
		}
		damaged++
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		data[len(data)/2] ^= 1
		return os.WriteFile(path, data, 0o644)
	})
	if err != nil || damaged < 4 {
		t.Fatalf("%d files: %v", damaged, err)
	}
	o.Source = "tree 1"
	if got := buildOne(t, one, o); !maps.Equal(got, first) {
		t.Errorf("from a damaged cache: %v, not %v", got, first)
	}
}

// What nothing identifies is compiled, but linked only if it differs from what was built last.
func TestSameProgramIsNotLinkedAgain(t *testing.T) {
	if testing.Short() || runtimeIsWindows {
		t.Skip("compiles test binaries, with a shell script")
	}
	log := filepath.Join(t.TempDir(), "log")
	script := filepath.Join(t.TempDir(), "tool")
	must(t, os.WriteFile(script, []byte("#!/bin/sh\ncase \"$*\" in *-V=full) ;; */link\\ *) echo link >>"+log+" ;; esac\nexec \"$@\"\n"), 0o755))
	c, err := OpenBuildCache(t.TempDir())
	must(t, err)
	dir := cacheModule(t, "1")
	var hashes []string
	build := func() {
		t.Helper()
		o := BuildOptions{Cache: c, Env: []string{"GOFLAGS=-ldflags=-s -toolexec=" + script, "GOWORK=off"}}
		built, problems, err := Build(t.Context(), dir, t.TempDir(), []string{"."}, o)
		if err != nil || len(problems) > 0 || len(built) != 1 {
			t.Fatalf("%v %+v %+v", err, built, problems)
		}
		hash, err := program.HashFile(built[0].Path)
		must(t, err)
		if hash != built[0].Hash {
			t.Errorf("the program has hash %s, not %s", hash, built[0].Hash)
		}
		hashes = append(hashes, hash)
	}
	build()
	build()
	must(t, os.Rename(filepath.Join(cacheModule(t, "2"), "m_test.go"), filepath.Join(dir, "m_test.go")))
	build()
	if links := strings.Count(string(readFile(t, log)), "link"); links != 2 || hashes[0] != hashes[1] || hashes[0] == hashes[2] {
		t.Errorf("%d links, of programs %v", links, hashes)
	}
}

func TestBuildCacheIsBounded(t *testing.T) {
	folder := t.TempDir()
	c, err := OpenBuildCache(folder)
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "x")
	now := time.Now()
	for i, text := range []string{"oldest", "middle", "newest"} {
		must(t, os.WriteFile(binary, []byte(text), 0o755))
		c.put(cacheKey(text), binary)
		file, _, err := c.c.GetFile(cacheKey(text))
		if err != nil {
			t.Fatal(err)
		}
		must(t, os.Chtimes(file, now, now.Add(time.Duration(i-10)*time.Hour)))
	}
	must(t, c.bound(12))
	for text, want := range map[string]bool{"oldest": false, "middle": true, "newest": true} {
		if got := c.get(cacheKey(text), binary) != ""; got != want {
			t.Errorf("%s is there: %v, want %v", text, got, want)
		}
	}
	if err := c.Trim(); err != nil || c.get(cacheKey("newest"), binary) == "" {
		t.Errorf("Trim: %v", err)
	}
}
