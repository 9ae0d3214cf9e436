package baseline

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/jobs"
)

// keep keeps a baseline of one package, whose binary says text in two layouts.
func keep(t *testing.T, s Store, module, name, text string) *Baseline {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "x.test"), text)
	if err := os.MkdirAll(filepath.Join(dir, "testdata"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "testdata", "in"), "read by "+text)
	b := &Baseline{Name: name, Module: module, Version: "main", Commit: strings.Repeat("ab", 20), Dirty: "false", Made: time.Unix(0, 0).UTC(), Layouts: 1}
	err := s.Keep(b, func(p *jobs.Packer) error {
		image, err := p.File(filepath.Join(dir, "x.test"))
		if err != nil {
			return err
		}
		write(t, filepath.Join(dir, "x.test"), text+", moved")
		moved, err := p.File(filepath.Join(dir, "x.test"))
		if err != nil {
			return err
		}
		folder, err := p.Folder(dir)
		b.Packages = []Package{{Pkg: "example.com/m", Images: []string{image, moved}, Folder: folder}}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestKeepAndOpen(t *testing.T) {
	s := Store(filepath.Join(t.TempDir(), "a[b]*", "store"))
	keep(t, s, "example.com/m", "release/1.0", "one")
	keep(t, s, "example.com/m", "release/1.0", "two") // replaces it
	keep(t, s, "example.com/other", "before", "three")
	b, err := s.Open("example.com/m", "release/1.0")
	if err != nil {
		t.Fatal(err)
	}
	images, folder, err := b.Images(b.Packages[0], filepath.Join(t.TempDir(), "in"), 5)
	if err != nil || len(images) != 2 {
		t.Fatalf("%v, %v", images, err)
	}
	if one, _, err := b.Images(b.Packages[0], filepath.Join(t.TempDir(), "in"), 1); err != nil || len(one) != 1 || filepath.Base(one[0]) != filepath.Base(images[0]) {
		t.Errorf("one layout: %v, %v", one, err)
	}
	if _, _, err := b.Images(b.Packages[0], filepath.Dir(folder), 1); err == nil {
		t.Error("a folder that is there is written into")
	}
	for path, want := range map[string]string{images[0]: "two", images[1]: "two, moved", filepath.Join(folder, "testdata", "in"): "read by two"} {
		if info, err := os.Stat(path); err != nil || path != filepath.Join(folder, "testdata", "in") && info.Mode()&0o100 == 0 {
			t.Errorf("%s cannot be run: %v, %v", path, info.Mode(), err)
		}
		if got, err := os.ReadFile(path); string(got) != want || err != nil {
			t.Errorf("%s says %q, %v; want %q", path, got, err, want)
		}
	}
	var size int64
	for _, p := range b.Parts {
		info, err := os.Stat(jobs.PartPath(b.folder, p.SHA256))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if b.Size() != size {
		t.Errorf("its size is %d, want %d", b.Size(), size)
	}
	// One that cannot be packed leaves the one of its name.
	failed := errors.New("no packing")
	if err := s.Keep(&Baseline{Name: "release/1.0", Module: "example.com/m"}, func(*jobs.Packer) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("a packer that fails: %v", err)
	}
	keep(t, s, "example.com/m", "release-1", "four")
	keep(t, s, "example.com/m", "z", "five")
	// Nor is one that is on its way.
	half := filepath.Join(s.of("example.com/m"), ".new-1")
	if err := os.CopyFS(half, os.DirFS(b.folder)); err != nil {
		t.Fatal(err)
	}
	all, err := s.All()
	_ = os.RemoveAll(half)
	var names []string
	for _, b := range all {
		names = append(names, b.Module+" "+b.Name)
	}
	if got := strings.Join(names, ", "); err != nil || got != "example.com/m release-1, example.com/m release/1.0, example.com/m z, example.com/other before" {
		t.Errorf("baselines are %s, %v", got, err)
	}
	left, _ := filepath.Glob(filepath.Join(glob(s.of("example.com/m")), ".*"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if err := s.Remove("example.com/m", "release/1.0"); err != nil {
		t.Error(err)
	}
	if _, err := s.Open("example.com/m", "release/1.0"); err == nil {
		t.Error("one that was removed is there")
	}
}

// TestAgain: what keeps the same anew names the commit, if all of it was committed.
func TestAgain(t *testing.T) {
	commit := strings.Repeat("ab", 20)
	for want, b := range map[string]Baseline{
		"x abababababab -tags=a": {Commit: commit, Dirty: "false", Build: " -tags=a"},
		"x abc":                  {Commit: "abc", Dirty: "false"},
		"x":                      {Commit: commit, Dirty: "true"},
		"x -race":                {Dirty: "false", Build: " -race"},
	} {
		b.Name = "x"
		if got := b.Again(); got != "benchrun ab --save-baseline "+want {
			t.Errorf("%+v: %s", b, got)
		}
	}
}

func TestUnknown(t *testing.T) {
	s := Store(t.TempDir())
	keep(t, s, "example.com/m", "before", "x")
	keep(t, s, "example.com/m", "v1.2.0", "x")
	keep(t, s, "example.com/other", "elsewhere", "x")
	long := strings.Repeat("x", 100)
	for name, want := range map[string]string{
		"befor":     `there is no baseline "befor" of example.com/m; did you mean before?`,
		"V1.2":      "did you mean v1.2.0?",
		"elsewhere": "but one of example.com/other: benchrun ab --save-baseline elsewhere",
		"zzzzzzzz":  "; there are before, v1.2.0: benchrun ab --save-baseline zzzzzzzz",
		"":          "cannot name a baseline",
		long:        "there is no baseline",
		long + "x":  "cannot name a baseline",
		"..":        "cannot name a baseline",
		".new-1":    "cannot name a baseline",
		"-x":        "cannot name a baseline",
		"a b":       "cannot name a baseline",
		"a\x1b[31m": `"a\x1b[31m" cannot name a baseline`,
		"a\u202eb":  "cannot name a baseline",
	} {
		for what, err := range map[string]error{"Open": second(s.Open("example.com/m", name)), "Remove": s.Remove("example.com/m", name)} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %q: %v; want %q", what, name, err, want)
			}
		}
	}
}

func second(_ *Baseline, err error) error { return err }

func TestDamage(t *testing.T) {
	const again = "to keep it anew: benchrun ab --save-baseline before abababababab"
	for name, c := range map[string]struct {
		damage func(t *testing.T, b *Baseline)
		want   string
	}{
		"a binary": {func(t *testing.T, b *Baseline) { write(t, jobs.PartPath(b.folder, b.Packages[0].Images[0]), "0ne") }, "a file is not what its digest says; " + again},
		"a folder": {func(t *testing.T, b *Baseline) { write(t, jobs.PartPath(b.folder, b.Packages[0].Folder), "") }, "a file is not what its digest says; " + again},
		"gone":     {func(t *testing.T, b *Baseline) { _ = os.Remove(jobs.PartPath(b.folder, b.Packages[0].Images[0])) }, "a file of it is gone; " + again},
		"elsewhere": {func(_ *testing.T, b *Baseline) {
			b.Parts = append(b.Parts, jobs.Part{SHA256: "../../x"})
			b.Packages[0].Images[0] = "../../x"
		}, `"../../x" is no digest`},
		"unknown": {func(_ *testing.T, b *Baseline) { b.Parts = nil }, "it has no part"},
	} {
		t.Run(name, func(t *testing.T) {
			s := Store(t.TempDir())
			b := keep(t, s, "example.com/m", "before", "one")
			c.damage(t, b)
			if _, _, err := b.Images(b.Packages[0], filepath.Join(t.TempDir(), "in"), 1); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
		})
	}
	s := Store(t.TempDir())
	b := keep(t, s, "example.com/m", "before", "one")
	keep(t, s, "example.com/m", "good", "one")
	for text, want := range map[string]string{"{": "is damaged", `{"format": 99, "name": "before"}`: "a format that this one does not read"} {
		write(t, filepath.Join(b.folder, documentName), text)
		if _, err := s.Open("example.com/m", "before"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
		if all, err := s.All(); len(all) != 1 || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %d of them, %v; want one and %q", text, len(all), err, want)
		}
	}
	if err := s.Remove("example.com/m", "before"); err != nil {
		t.Errorf("one that is damaged: %v", err)
	}
}
