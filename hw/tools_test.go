package hw

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// toy is the board that the fake programs are for.
func toy(t *testing.T) Board {
	t.Helper()
	b, err := parseBoard([]byte(validTinyGo))
	if err != nil {
		t.Fatal(err)
	}
	b.Flash, b.RAM = 64<<20, 64<<20 // what Go links is large
	return b
}

// wantOutcome checks the outcome of err, and that its text and hint mention things.
func wantOutcome(t *testing.T, err error, o Outcome, mentions ...string) *Error {
	t.Helper()
	e, rest := outcome(err)
	if e == nil || rest != nil || e.Outcome != o {
		t.Fatalf("the error is %v, want %v", err, o)
	}
	text := e.Error() + "\n" + e.Hint() + "\n" + e.Output
	for _, m := range mentions {
		if !strings.Contains(text, m) {
			t.Errorf("%q is not in\n%s", m, text)
		}
	}
	if e.Hint() == "" {
		t.Errorf("%v has no hint", e)
	}
	return e
}

func TestFindTinyGo(t *testing.T) {
	needsSymlinks(t)
	b := toy(t)
	program(t, "tinygo")
	c, err := FindCompiler(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	if c.String() != "tinygo0.41.0-go1.26.8" || c.Version != "0.41.0" || len(c.Env) > 0 {
		t.Errorf("%v: %+v", c, c)
	}

	t.Run("variable", func(t *testing.T) {
		t.Setenv(tinygoVariable, filepath.Join(t.TempDir(), "tinygo"))
		_, err := FindCompiler(t.Context(), b)
		wantOutcome(t, err, ToolchainMissing, tinygoVariable, b.Install)
	})
	t.Run("too old", func(t *testing.T) {
		t.Setenv(tinygoSaysVersion, "tinygo version 0.31.0 linux/amd64 (using go version go1.22.1 and LLVM version 17.0.1)")
		_, err := FindCompiler(t.Context(), b)
		wantOutcome(t, err, ToolchainMissing, "0.31.0 uses go1.22.1", "needs go1.23", b.Install)
	})
	t.Run("something else", func(t *testing.T) {
		t.Setenv(tinygoSaysVersion, "this is no tinygo")
		_, err := FindCompiler(t.Context(), b)
		wantOutcome(t, err, ToolchainMissing, "this is no tinygo")
	})
	t.Run("no such target", func(t *testing.T) {
		t.Setenv(tinygoFailsAt, "info")
		t.Setenv(tinygoFails, "target toy-target does not exist")
		_, err := FindCompiler(t.Context(), b)
		wantOutcome(t, err, ToolchainMissing, "toy-target", "does not exist")
	})
	// TinyGo takes an older Go only: one that was fetched before is used.
	t.Run("older Go", func(t *testing.T) {
		cache := t.TempDir()
		platform := "." + runtime.GOOS + "-" + runtime.GOARCH
		for _, release := range []string{"go1.22.9", "go1.23.4", "go1.23.12", "go1.24.1", "go1.23.13.plan9-386"} {
			name := release + platform
			if strings.Contains(release, "plan9") {
				name = release
			}
			if err := os.MkdirAll(filepath.Join(cache, "golang.org", "toolchain@v0.0.1-"+name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		want := filepath.Join(cache, "golang.org", "toolchain@v0.0.1-go1.23.12"+platform)
		t.Setenv("GOMODCACHE", cache)
		t.Setenv(tinygoGoroot, want)
		t.Setenv(tinygoSaysVersion, "tinygo version 0.33.0 linux/amd64 (using go version go1.23.12 and LLVM version 16.0.6)")
		c, err := FindCompiler(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if c.Go != "go1.23.12" || !strings.Contains(strings.Join(c.Env, " "), "GOROOT="+want) {
			t.Errorf("%+v", c)
		}
	})
	t.Run("no older Go", func(t *testing.T) {
		t.Setenv("GOMODCACHE", t.TempDir())
		t.Setenv("GOPROXY", "off")
		t.Setenv("GOFLAGS", "-modcacherw")
		t.Setenv(tinygoGoroot, "/nowhere")
		_, err := FindCompiler(t.Context(), b)
		wantOutcome(t, err, ToolchainMissing, "takes Go 1.19 to 1.23", "TinyGo 0.41 or newer", "GOROOT")
	})
}

// TestMissing: what a board needs and is not there is told all at once.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	t.Setenv(tinygoVariable, "")
	err := errors.Join(Missing(t.Context(), toy(t))...)
	if err == nil || !strings.Contains(err.Error(), "tinygo is not on PATH") || !strings.Contains(err.Error(), "toy-emulator is not on PATH") {
		t.Errorf("%v", err)
	}
	b, err := parseBoard([]byte(validGo))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Missing(t.Context(), b)...); err == nil || !strings.Contains(err.Error(), "the go command") || !strings.Contains(err.Error(), "ssh is not") {
		t.Errorf("%v", err)
	}
}
