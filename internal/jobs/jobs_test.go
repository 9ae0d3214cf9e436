package jobs

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

// write writes a file with its folder.
func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	return path
}

// packed packs a job of two benchmarks in a test binary, with a package's folder, and of one
// in a program.
func packed(t testing.TB) (folder, id string) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir+"/pkg/testdata/deep/input.txt", "input")
	write(t, dir+"/pkg/a_test.go", "package a")
	write(t, dir+"/pkg/sub/not_sent.go", "package sub")
	if err := os.Symlink("/etc/passwd", dir+"/pkg/testdata/link"); err != nil {
		t.Fatal(err)
	}
	folder = filepath.Join(dir, "job")
	p, err := NewPacker(folder)
	if err != nil {
		t.Fatal(err)
	}
	must := func(digest string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return digest
	}
	image := must(p.File(write(t, dir+"/a.test", "first layout")))
	other := must(p.File(write(t, dir+"/a-1.test", "second layout")))
	program := must(p.File(write(t, dir+"/bench-c", "#!program")))
	plan := recordtest.Turns(2, 6, 3)
	plan.Cases = append(plan.Cases, record.Case{Pkg: "bench-c", Name: "BenchmarkC"})
	plan.Subjects = map[string]string{"example.com/a": image, "example.com/a layout=1": other, "./bench-c": program}
	id, err = p.Finish(&Job{
		Title: "run ./a", Name: "run-0123", Platform: "linux/amd64", Plan: plan.Encode(), Expected: time.Minute,
		Settings: []record.Setting{{Key: "commit", Values: []string{"0123"}}},
		Absent:   []record.Hole{{Pkg: "example.com/b", Reason: "does not build"}},
		Binaries: []Binary{{Pkg: "example.com/a", Image: image, Layouts: []string{image, other, image}, Folder: must(p.Folder(dir + "/pkg"))}},
		Programs: []Program{{Name: "./bench-c", Pkg: "bench-c", Image: program, Cases: plan.Cases[2:]}},
	})
	must("", err)
	return folder, id
}

// What is packed comes out again: the plan, the binaries, and of the package's folder what its
// tests may read and nothing else.
func TestPackOpen(t *testing.T) {
	folder, id := packed(t)
	work := t.TempDir()
	for range 2 { // again, over what is there
		o, err := Open(folder, work)
		if err != nil {
			t.Fatal(err)
		}
		if o.ID != id || !IsID(id) {
			t.Errorf("the job is called %q, and was %q", o.ID, id)
		}
		if got, want := o.CarriedPlan().ID(), recordtest.Turns(2, 6, 3).ID(); got == want || len(o.CarriedPlan().Cases) != 3 {
			t.Errorf("the plan is %s with %d cases", got, len(o.CarriedPlan().Cases))
		}
		image, err := os.ReadFile(o.Image(o.Binaries[0].Layouts[1]))
		if err != nil || string(image) != "second layout" {
			t.Errorf("the second layout is %q, %v", image, err)
		}
		var files []string
		dir := o.Dir(o.Binaries[0].Folder)
		err = filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				files = append(files, strings.TrimPrefix(path, dir))
			}
			return err
		})
		if got, want := strings.Join(files, " "), "/a_test.go /testdata/deep/input.txt"; got != want || err != nil {
			t.Errorf("the folder has %s, %v; want %s", got, err, want)
		}
		if entries, err := os.ReadDir(o.Dir("")); err != nil || len(entries) != 0 {
			t.Errorf("the empty folder has %d entries, %v", len(entries), err)
		}
	}
}

// Equal input gives an equal job, whatever times files have.
func TestSameID(t *testing.T) {
	_, one := packed(t)

	if _, other := packed(t); other != one {
		t.Errorf("the same job is called %s and %s", one, other)
	}
}

// A part that is not what it was is an error, also if it has the same size.
func TestChangedPart(t *testing.T) {
	for name, change := range map[string]func(b []byte) []byte{
		"changed": func(b []byte) []byte { b[0] ^= 1; return b },
		"cut off": func(b []byte) []byte { return b[:len(b)-1] },
		"longer":  func(b []byte) []byte { return append(b, 'x') },
	} {
		folder, _ := packed(t)
		_, j, err := Read(folder)
		if err != nil {
			t.Fatal(err)
		}
		path := PartPath(folder, j.Binaries[0].Image)
		b, err := os.ReadFile(path)
		if err := errors.Join(err, os.WriteFile(path, change(b), 0o644)); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(folder, t.TempDir()); err == nil || !strings.Contains(err.Error(), "not what its digest says") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A document of unknown origin is read, or refused with a reason; it is never followed.
func TestHostileDocuments(t *testing.T) {
	folder, _ := packed(t)
	document, _, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	digest := strings.Repeat("0", 64)
	for _, c := range []struct {
		name, want string
		change     func(j *Job)
	}{
		{"another format", "format 2", func(j *Job) { j.Format = 2 }},
		{"a name with a folder", "is not a file's", func(j *Job) { j.Name = "../../etc/cron.d/x" }},
		{"a hidden name", "is not a file's", func(j *Job) { j.Name = ".profile" }},
		{"a flag as a name", "is not a file's", func(j *Job) { j.Name = "-rf" }},
		{"a title that clears the screen", "not a line", func(j *Job) { j.Title = "\x1b[2J" }},
		{"no platform", "platform", func(j *Job) { j.Platform = "linux" }},
		{"a time before now", "expects", func(j *Job) { j.Expected = -1 }},
		{"no plan", "no plan", func(j *Job) { j.Plan = "" }},
		{"a plan without an end", "", func(j *Job) { j.Plan = strings.Repeat(j.Plan, 2) }},
		{"a plan with figures", "not of a plan", func(j *Job) { j.Plan += "BenchmarkX 1 1 ns/op\n" }},
		{"a setting that is two lines", "cannot be written", func(j *Job) {
			j.Settings = []record.Setting{{Key: "a", Values: []string{"b\nBenchmarkX 1 1 ns/op"}}}
		}},
		{"a setting that is a result", "cannot be written", func(j *Job) { j.Settings = []record.Setting{{Key: "BenchmarkX", Values: []string{"1"}}} }},
		{"a missing result that is two lines", "cannot be written", func(j *Job) { j.Absent[0].Pkg = "a\nb" }},
		{"two binaries of a package", "two binaries", func(j *Job) { j.Binaries = append(j.Binaries, j.Binaries[0]) }},
		{"an environment that is not a program's of Go", "has the environment", func(j *Job) { j.Binaries[0].Env = []string{"GOGC=50", "LD_PRELOAD=x.so"} }},
		{"an environment of two lines", "has the environment", func(j *Job) { j.Binaries[0].Env = []string{"GOGC=50\nx"} }},
		{"a binary without layouts", "0 layouts", func(j *Job) { j.Binaries[0].Layouts = nil }},
		{"another binary than the plan's", "not the one that the plan names", func(j *Job) { j.Binaries[0].Image = digest }},
		{"another program than the plan's", "not the one that the plan names", func(j *Job) { j.Programs[0].Image = j.Binaries[0].Image }},
		{"a benchmark of nothing", "nothing in it has", func(j *Job) { j.Programs[0].Cases = nil }},
		{"a part that is not there", "not in its list", func(j *Job) { j.Binaries[0].Folder = digest }},
		{"a path as a part", "digest", func(j *Job) { j.Parts[0].SHA256 = "../../../etc/passwd" }},
		{"a part twice", "twice", func(j *Job) { j.Parts[1] = j.Parts[0] }},
		{"a part of no size", "bytes", func(j *Job) { j.Parts[0].Size = -1 }},
		{"a huge part", "bytes", func(j *Job) { j.Parts[0].Size = 1 << 60 }},
		{"a part too many", "nothing names", func(j *Job) { j.Parts = append(j.Parts, Part{SHA256: digest}) }},
		{"thousands of parts", "more than", func(j *Job) { j.Parts = make([]Part, MostParts+1) }},
	} {
		j, err := Decode(document)
		if err != nil {
			t.Fatal(err)
		}
		c.change(j)
		b, err := json.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode(b); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want an error with %q", c.name, err, c.want)
		}
	}
	for _, text := range []string{"", "null", "[]", "{", string(document) + "{}", `{"format":1,"run":"rm"}`} {
		if _, err := Decode([]byte(text)); err == nil {
			t.Errorf("%.40q is taken for a job", text)
		}
	}
	if _, err := Decode(make([]byte, MostDocument+1)); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a document of 16 MiB: %v", err)
	}
}

// Every circumstance of the sender may have a name that it gives itself: a variable, a program.
func TestSettings(t *testing.T) {
	folder, _ := packed(t)
	_, j, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(record.Environment, record.MadePrefix+"bench_c.v2") {
		j.Settings = []record.Setting{{Key: strings.ToLower(name), Values: []string{"0"}}}
		if _, err := j.Encode(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An archive does not reach out of its folder.
func TestHostileArchives(t *testing.T) {
	for name, h := range map[string]tar.Header{
		"above":        {Name: "../out", Typeflag: tar.TypeReg},
		"above, later": {Name: "a/../../out", Typeflag: tar.TypeReg},
		"absolute":     {Name: "/tmp/out", Typeflag: tar.TypeReg},
		"a link":       {Name: "out", Linkname: "/etc", Typeflag: tar.TypeSymlink},
		"a hard link":  {Name: "out", Linkname: "/etc/passwd", Typeflag: tar.TypeLink},
		"a device":     {Name: "out", Typeflag: tar.TypeChar, Devmajor: 1},
		"not clean":    {Name: "a//b", Typeflag: tar.TypeReg},
		"empty":        {Name: ".", Typeflag: tar.TypeReg},
	} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		if err := errors.Join(w.WriteHeader(&h), w.Close()); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		err := Unpack(write(t, dir+"/x.tar", b.String()), dir+"/in")
		if err == nil || !strings.Contains(err.Error(), "not a file below it") {
			t.Errorf("%s: %v", name, err)
		}
		if entries, _ := os.ReadDir(dir + "/in"); len(entries) > 0 {
			t.Errorf("%s: %s was unpacked", name, entries[0].Name())
		}
	}
	// A size that the archive does not have.
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "big", Typeflag: tar.TypeReg, Size: MostPart + 1}); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := Unpack(write(t, dir+"/x.tar", b.String()), dir+"/in"); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Errorf("a file of more than a gigabyte: %v", err)
	}
}

// Whatever is read, what was accepted is written as it was read.
func FuzzDecode(f *testing.F) {
	folder, _ := packed(f)
	document, err := os.ReadFile(DocumentPath(folder))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(document)
	f.Add([]byte(`{"format":1,"platform":"linux/amd64","name":"x","plan":"# plan: {}\n"}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		j, err := Decode(document)
		if err != nil {
			return
		}
		again, err := j.Encode()
		if err != nil {
			t.Fatalf("what was accepted cannot be written: %v", err)
		}
		other, err := Decode(again)
		if err != nil || other.CarriedPlan().ID() != j.CarriedPlan().ID() {
			t.Fatalf("what was written is another plan, %v", err)
		}
	})
}

// Whatever an archive holds, nothing is written elsewhere.
func FuzzUnpack(f *testing.F) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, name := range []string{"a", "testdata/b"} {
		if err := w.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: 1, Mode: 0o755}); err != nil {
			f.Fatal(err)
		}
		_, _ = io.WriteString(w, "x")
	}
	_ = w.Close()
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, archive []byte) {
		dir := t.TempDir()
		_ = Unpack(write(t, dir+"/x.tar", string(archive)), dir+"/in")
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > 2 {
			t.Fatalf("%d files beside the archive, %v", len(entries)-1, err)
		}
	})
}
