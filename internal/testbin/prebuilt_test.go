package testbin

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
)

// A binary that is there already is measured as it is: in its folder or another one, and
// driven if it was built so.
func TestPrebuilt(t *testing.T) {
	driven := drivable(t)
	plain := filepath.Join(t.TempDir(), "plain.test")
	if _, err := goSays(t.Context(), drivableDir, "test", "-c", "-o", plain); err != nil {
		t.Fatal(err)
	}
	all, err := Prebuilt([]string{plain}, "")
	if err != nil || len(all) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	b := all[0]
	if b.Pkg != "example.com/subject" || b.Path != plain || b.Dir != filepath.Dir(plain) || len(b.Hash) != 64 || !b.Prebuilt() {
		t.Errorf("%+v", b)
	}
	if !errors.Is(b.Undrivable, program.ErrUnsupported) || !strings.Contains(b.Undrivable.Error(), "without the overlay") {
		t.Errorf("built without the overlay: %v", b.Undrivable)
	}
	l, err := b.Cases(t.Context(), "^Benchmark(Sub|N)$", 1, time.Minute)
	if err != nil || len(l.Cases) != 6 || l.Cases[0].Pkg != b.Pkg {
		t.Errorf("%+v, %v", l, err)
	}

	all, problems, err := Build(t.Context(), ".", t.TempDir(), []string{"binary:" + driven, "dir:" + drivableDir}, BuildOptions{Driven: true})
	if err != nil || len(problems) > 0 || len(all) != 1 || all[0].Dir != drivableDir || all[0].Undrivable != nil {
		t.Errorf("%+v, %v, %v", all, problems, err)
	}
	// It is linked in one layout, however many there are of others.
	if err := Link(t.Context(), all, 0, 3, nil); err != nil || all[0].in(2).Path != driven {
		t.Errorf("%+v, %v", all, err)
	}
}

// Beside a package that is built, it keeps its layout when that is linked in others.
func TestPrebuiltIsNotLinked(t *testing.T) {
	driven := drivable(t)
	all, problems, err := Build(t.Context(), cacheModule(t, "1"), t.TempDir(), []string{"binary:" + driven, "."}, BuildOptions{})
	if err != nil || len(problems) > 0 || len(all) != 2 || all[0].Prebuilt() || !all[1].Prebuilt() {
		t.Fatalf("%+v, %v, %v", all, problems, err)
	}
	progress := ""
	says := func(linked, of int) { progress += fmt.Sprintf("%d/%d ", linked, of) }
	if err := Link(t.Context(), all, 0, 3, says); err != nil || len(all[0].Layouts) != 3 || len(all[1].Layouts) != 0 || progress != "1/2 2/2 " {
		t.Errorf("%+v, %v", all, err)
	}

	// Others are linked when blocks come that need them, up to the next look, of what is still measured.
	plan := &record.Plan{Blocks: 6, Layouts: 6, Looks: []int{3, 4, 6}}
	if n := LinkedFirst(plan); n != 3 {
		t.Errorf("%d layouts are linked first", n)
	}
	subject := NewBinaries(t.Context(), plan, all)
	var group record.Group
	for _, b := range all {
		group.Steps = append(group.Steps, record.Step{Case: record.Case{Pkg: b.Pkg}})
	}
	units := []record.Unit{{Turns: &group}}
	for _, c := range []struct {
		block, linked int
		units         []record.Unit
	}{{3, 3, units}, {4, 3, nil}, {4, 4, units}} {
		must(t, subject.Prepare(t.Context(), c.block, c.units))
		if n := len(subject.byID[all[0].Pkg].Layouts); n != c.linked {
			t.Errorf("%d layouts before block %d of %d units, want %d", n, c.block, len(c.units), c.linked)
		}
	}
	if now, last := subject.of(4, group.Steps[0]), subject.of(3, group.Steps[0]); now.Hash == last.Hash || now.Hash == all[0].Hash || subject.of(4, group.Steps[1]).Path != driven {
		t.Errorf("block 4 is of %+v", now)
	}
}

func TestPrebuiltRefuses(t *testing.T) {
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	exe, err := os.Executable() // of testbin's tests
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	text, other := filepath.Join(dir, "text"), filepath.Join(dir, "other.test")
	must(t, errors.Join(os.WriteFile(text, []byte("#!/bin/sh\n"), 0o755), os.Symlink(exe, other)))
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{exe, filepath.Join(dir, "none")}, "there is no file"},
		{[]string{text}, "is not a Go program"},
		{[]string{goTool}, "and not a test binary: go test -c makes one"},
		{[]string{exe, other}, "are both of the package github.com/dynolab/dyno/internal/testbin"},
	} {
		if _, err := Prebuilt(c.files, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.files, err, c.want)
		}
	}
	// Though this binary has the text in it that would be added.
	if b, err := Prebuilt([]string{exe}, ""); err != nil || b[0].Undrivable == nil {
		t.Errorf("%+v, %v", b, err)
	}
	if _, _, err := Build(t.Context(), ".", dir, []string{".", "binary:" + exe}, BuildOptions{}); err == nil || !strings.Contains(err.Error(), "which is measured itself") {
		t.Error(err)
	}
	if _, _, err := Build(t.Context(), ".", dir, []string{"program:x"}, BuildOptions{}); err == nil || !strings.Contains(err.Error(), "speaks the driving protocol") {
		t.Error(err)
	}
}

// The test binary of a package main says of itself, up to Go 1.26, that it is the program.
func TestPrebuiltMain(t *testing.T) {
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "x.test")
	must(t, errors.Join(
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module example.com/m\n\ngo 1.23\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "m.go"), []byte("package main\n\nfunc main() {}\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "m_test.go"), []byte("package main\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) {}\n"), 0o644),
	))
	if _, err := goSays(t.Context(), dir, "test", "-c", "-o", file); err != nil {
		t.Fatal(err)
	}
	if all, err := Prebuilt([]string{file}, ""); err != nil || all[0].Pkg != "example.com/m" {
		t.Errorf("%+v, %v", all, err)
	}
}

// What was built for another version of the protocol says so, and answers nothing else.
func TestOtherVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.test")
	must(t, os.WriteFile(path, []byte("\x00this binary of package testing speaks version 9 of dyno's driving protocol\x00"), 0o755))
	if why, err := undrivable(path); err != nil || !errors.Is(why, program.ErrUnsupported) || !strings.Contains(why.Error(), "version 9 of the driving protocol, and this is version 1") {
		t.Errorf("%v, %v", why, err)
	}
	said, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer said.Close()
	cmd := exec.CommandContext(t.Context(), drivable(t), "-test.run=^$", "-test.bench=^BenchmarkN$")
	cmd.Env = append(os.Environ(), "DYNO_DRIVE=protocol=9 name=BenchmarkN")
	cmd.ExtraFiles = []*os.File{said, answers} // no commands come
	err = cmd.Run()
	answers.Close()
	if text, rerr := io.ReadAll(said); err != nil || rerr != nil || string(text) != "refused\t\"this binary of package testing speaks version 1 of dyno's driving protocol, and not 9\"\n" {
		t.Errorf("it answers %q, %v, %v", text, rerr, err)
	}
}

// A package has a name even if the binary's build does not say it.
func TestPrebuiltOfFiles(t *testing.T) {
	out := filepath.Join(t.TempDir(), "my bench.test")
	src := filepath.Join(t.TempDir(), "a_test.go")
	must(t, os.WriteFile(src, []byte("package a\nimport \"testing\"\nfunc BenchmarkA(b *testing.B) {}\n"), 0o644))
	if _, err := goSays(t.Context(), "", "test", "-c", "-o", out, src); err != nil {
		t.Fatal(err)
	}
	b, err := Prebuilt([]string{out}, "")
	if err != nil || b[0].Pkg != "my-bench" {
		t.Fatalf("%+v, %v", b, err)
	}
	l, err := b[0].Cases(t.Context(), ".", 1, time.Minute)
	if err != nil || !slices.Equal(caseNames(l), []string{"BenchmarkA"}) {
		t.Errorf("%+v, %v", l, err)
	}
}

func caseNames(l *Listing) (names []string) {
	for _, c := range l.Cases {
		names = append(names, c.Name)
	}
	return names
}
