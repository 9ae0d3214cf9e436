package testbin

import (
	"bytes"
	"context"
	_ "embed" // for the file that is added
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/dynolab/dyno/internal/program"
)

// driveGo is the file that is added to package testing. Its name keeps the go
// command from taking it for a part of this package.
//
//go:embed _drive.go
var driveGo []byte

// The names of the files, and of the one that is added.
const (
	benchmarkFile = "benchmark.go"
	testingFile   = "testing.go"
	driveFile     = "dyno_drive.go"
)

// An insertion puts a statement at the beginning of a function of package testing,
// in the line that begins it, so that line numbers in stacks stay right.
// Functions, and the one collection of garbage before each call of a benchmark, are
// all it knows of that package's source: they change less often than the rest.
type insertion struct {
	file string

	// begin and end are what the line that begins the function begins and ends
	// with; end is "" if they are the whole line.
	begin, end string

	statement string

	// instead says that the statement takes the place of the line, which is no
	// function's beginning.
	instead bool
}

var insertions = []insertion{
	{file: benchmarkFile, begin: "func (b *B) launch() {", statement: "if b.driven() { b.driveLaunch(); return }"},
	{file: benchmarkFile, begin: "func (b *B) loopSlowPath() bool {", statement: "if b.driven() { return b.driveLoop() }"},
	{file: benchmarkFile, begin: "func (b *B) runN(n int) {", statement: "defer b.driveRan()"},
	{file: benchmarkFile, begin: "\truntime.GC()", statement: "if b.driveCollect() { runtime.GC() }", instead: true},
	{file: testingFile, begin: "func MainStart(deps testDeps,", end: ") *M {", statement: "driveDeps(deps)"},
}

// begins reports whether the line begins the function.
func (ins insertion) begins(line string) bool {
	if ins.end == "" {
		return line == ins.begin
	}
	return strings.HasPrefix(line, ins.begin) && strings.HasSuffix(line, ins.end)
}

// insert returns src, which is file, with its insertions.
func insert(file, src string) (string, error) {
	for _, ins := range insertions {
		if ins.file != file {
			continue
		}
		at, found := 0, 0
		for end, line := range lines(src) {
			if ins.begins(line) {
				at = end
				found++
			}
		}
		if found != 1 {
			return "", fmt.Errorf("%w: package testing of this Go has %d lines %q in %s, which should be one", program.ErrUnsupported, found, ins.begin+ins.end, file)
		}
		if ins.instead {
			src = src[:at-len(ins.begin)] + "\t" + ins.statement + src[at:]
		} else {
			src = src[:at] + " " + ins.statement + src[at:]
		}
	}
	return src, nil
}

// lines yields the lines of s without their line ends, and where they end.
func lines(s string) func(yield func(end int, line string) bool) {
	return func(yield func(int, string) bool) {
		at := 0
		for line := range strings.Lines(s) {
			text := strings.TrimRight(line, "\r\n")
			if !yield(at+len(text), text) {
				return
			}
			at += len(line)
		}
	}
}

// Overlay writes a package testing that can be driven into the folder out, and
// returns the path of the file to give to go test -c as -overlay. It is made of the
// package testing of the toolchain that the go command uses in the folder dir, as a
// go.mod may name one; "" is the current folder. The error wraps [program.ErrUnsupported],
// and says what was not found, if that package is not as expected.
//
// What is written depends on the toolchain alone, so that the go command builds
// package testing anew once, and finds it in its cache ever after.
func Overlay(ctx context.Context, dir, out string) (path string, err error) {
	if err := program.Supported(); err != nil {
		return "", err
	}
	said, err := goSays(ctx, dir, "list", "-f", "{{.Dir}}", "testing")
	if err != nil {
		return "", err
	}
	if out, err = filepath.Abs(out); err != nil {
		return "", err
	}
	std := strings.TrimSpace(said)
	replace := make(map[string]string)
	write := func(name string, text []byte) error {
		replace[filepath.Join(std, name)] = filepath.Join(out, name)
		return os.WriteFile(filepath.Join(out, name), text, 0o644)
	}
	for _, file := range []string{benchmarkFile, testingFile} {
		src, err := os.ReadFile(filepath.Join(std, file))
		if err != nil {
			return "", fmt.Errorf("%w: %w", program.ErrUnsupported, err)
		}
		text, err := insert(file, string(src))
		if err != nil {
			return "", err
		}
		if err := write(file, []byte(text)); err != nil {
			return "", err
		}
	}
	if err := write(driveFile, driveGo); err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(map[string]any{"Replace": replace}, "", "\t")
	if err != nil {
		return "", err
	}
	path = filepath.Join(out, "overlay.json")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return "", err
	}
	// What is added uses fields and functions of the package, which another Go
	// may have changed. The compiler knows.
	if _, err := goSays(ctx, dir, "build", "-overlay="+path, "testing"); err != nil {
		if ctx.Err() != nil {
			return "", err
		}
		return "", fmt.Errorf("%w: package testing of this Go does not compile with what is added: %w", program.ErrUnsupported, err)
	}
	return path, nil
}

// goSays runs the go command in dir and returns what it prints.
func goSays(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return "", fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
		}
		return "", err
	}
	return stdout.String(), nil
}
