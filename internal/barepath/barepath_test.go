package barepath

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// needsLinks skips a test where the PATH is not bare.
func needsLinks(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows lets users make no links")
	}
}

// bare sets PATH to a bare one, with the programs more.
func bare(t *testing.T, more ...string) {
	t.Helper()
	path, err := Make(t.TempDir(), more...)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", path)
}

// TestMake: of two programs that this machine has the one is there that was named, and Go
// and a shell are there; all of them work.
func TestMake(t *testing.T) {
	needsLinks(t)
	here := t.TempDir()
	for _, name := range []string{"named", "forgotten"} {
		if err := os.WriteFile(filepath.Join(here, name), []byte("#!/bin/sh\necho I am ${0##*/}\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", here+string(os.PathListSeparator)+os.Getenv("PATH"))
	bare(t, "named", "named", "nowhere", "sh")
	for command, want := range map[string]string{
		"named":             "I am named",
		"go env GOOS":       runtime.GOOS,
		"echo one | cat":    "one",
		"forgotten || true": "",
		"nowhere || true":   "",
	} {
		out, err := exec.Command("sh", "-c", command).Output()
		if got := strings.TrimSpace(string(out)); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", command, got, err, want)
		}
	}
}

// TestRace: where the race detector cannot be built, make race says so and runs nothing with
// it, nor does make examples.
func TestRace(t *testing.T) {
	needsLinks(t)
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("needs make")
	}
	bare(t, "date", "find", "make", "sort")
	t.Setenv("CGO_ENABLED", "0") // as it is where there is no C compiler
	t.Setenv("MAKEFLAGS", "")    // of the make that runs this test
	if exec.Command("go", "list", "-race", ".").Run() == nil {
		t.Skip("here the race detector needs no C compiler")
	}
	cmd := exec.Command("make", "--dry-run", "race", "examples")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	said := string(out)
	if err != nil || !strings.Contains(said, "SKIPPED: the race detector needs a C compiler") || regexp.MustCompile(`go test .*-race`).MatchString(said) {
		t.Errorf("%v\n%s", err, said)
	}
}

// TestForeign: without an emulator .ci/foreign leaves the tests of other processors out,
// says how many packages it concerns and what to install, and does not fail.
func TestForeign(t *testing.T) {
	needsLinks(t)
	const foreign = "s390x"
	if runtime.GOARCH == foreign {
		t.Skip("this machine runs them itself")
	}
	bare(t)
	cmd := exec.Command("bash", ".ci/foreign", foreign, "qemu-"+foreign, "-count=1", "./group", "./task")
	cmd.Dir = "../.."
	out, err := cmd.CombinedOutput()
	const want = "SKIPPED for GOARCH=" + foreign + ": the tests of 2 packages need qemu-" + foreign + ", which is not installed (it is in the package qemu-user)\n"
	if err != nil || string(out) != want {
		t.Errorf("%v\n%swant\n%s", err, out, want)
	}
}
