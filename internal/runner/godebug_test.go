package runner

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/testbin"
)

// A difference is noted, and two programs of one module have none.
func TestNoteGODEBUG(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module m\n\ngo 1.23\n\ngodebug panicnil=1\n"), 0o644),
		os.WriteFile(filepath.Join(dir, "m.go"), []byte("package main\n\nfunc main() {}\n"), 0o644),
	); err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "m.exe", ".")
	build.Dir, build.Env = dir, append(os.Environ(), "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	of := func(path string) []testbin.Binary { return []testbin.Binary{{Path: path}} }
	note := func(old, this []testbin.Binary) string {
		v := &Versions{w: console.New(new(strings.Builder), 0), binaries: [2][]testbin.Binary{old, this}}
		v.noteGODEBUG()
		return strings.Join(v.Notes, "\n")
	}
	other := of(filepath.Join(dir, "m.exe"))
	if got := note(other, of(own)); !strings.Contains(got, "different GODEBUG settings") || !strings.Contains(got, "others") {
		t.Errorf("%q", got)
	}
	for _, sides := range [][2][]testbin.Binary{{of(own), of(own)}, {other, other}, {nil, of(own)}, {of(own), of(dir)}} {
		if got := note(sides[0], sides[1]); got != "" {
			t.Errorf("%+v: %q", sides, got)
		}
	}
}

// The values are what Go 1.26.8 and 1.27.4 give a module whose go line is so.
func TestDifferentGODEBUG(t *testing.T) {
	const (
		of22, of24   = "asynctimerchan=1,containermaxprocs=0,multipathtcp=0", "containermaxprocs=0"
		of22In27     = "containermaxprocs=0,multipathtcp=0,tracebacklabels=0"
		of26, of26In = "", "tracebacklabels=0"
	)
	for _, c := range []struct{ oldGo, old, newGo, new, want string }{
		{"go1.26.8", of24, "go1.26.8", of24, ""},
		{"go1.26.8", of24, "go1.26.8", of26, "old has containermaxprocs=0"},
		{"go1.26.8", of26, "go1.26.8", of24, "new has containermaxprocs=0"},
		{"go1.26.8", of26, "go1.27.4", of26In, ""},
		{"go1.27.4", of26In, "go1.26.8", of26, ""},
		{"go1.26.8", of22, "go1.27.4", of22In27, "old has asynctimerchan=1"},
		{"go1.27.4", of22In27, "go1.26.8", of22, "new has asynctimerchan=1"},
		{"go1.26.8", "a=1,b=1,c=1,d=1,e=1", "go1.26.8", "", "old has a=1, old has b=1, old has c=1, and 2 others"},
	} {
		of := func(version, settings string) *debug.BuildInfo {
			b := &debug.BuildInfo{GoVersion: version}
			if settings != "" {
				b.Settings = []debug.BuildSetting{{Key: "DefaultGODEBUG", Value: settings}}
			}
			return b
		}
		if got := strings.Join(differentGODEBUG(of(c.oldGo, c.old), of(c.newGo, c.new)), ", "); got != c.want {
			t.Errorf("%s %q and %s %q: %q, want %q", c.oldGo, c.old, c.newGo, c.new, got, c.want)
		}
	}
}
