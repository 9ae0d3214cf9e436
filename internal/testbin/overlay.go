package testbin

import (
	"cmp"
	"context"
	_ "embed" // for the file that is added
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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
	{file: benchmarkFile, begin: "func (b *B) runN(n int) {", statement: "b.driveRuns(); defer b.driveRan()"},
	{file: benchmarkFile, begin: "func (b *B) doBench() BenchmarkResult {", statement: "defer b.driveResult()"},
	{file: benchmarkFile, begin: "\truntime.GC()", statement: "if b.driveCollect() { runtime.GC() }", instead: true},
	{file: testingFile, begin: "func MainStart(deps testDeps,", end: ") *M {", statement: "driveMain(deps, benchmarks)"},
}

// KnownReleases are the Go releases against which what is added is held: the newest two.
var KnownReleases = []string{"go1.26.8", "go1.27.4"}

// known says what another Go may do about one that is not.
var known = "known are " + strings.Join(KnownReleases, " and ") + ", as with GOTOOLCHAIN=" + KnownReleases[len(KnownReleases)-1]

// line matches the line that begins the function, or is replaced; its group is what stands
// behind it.
func (ins insertion) line() *regexp.Regexp {
	between := ""
	if ins.end != "" {
		between = ".*"
	}
	return regexp.MustCompile("(?m)^" + regexp.QuoteMeta(ins.begin) + between + regexp.QuoteMeta(ins.end) + "(\r?)$")
}

// insert returns src, which is file, with its insertions.
func insert(file, src string) (string, error) {
	for _, ins := range insertions {
		if ins.file != file {
			continue
		}
		found := ins.line().FindAllStringSubmatchIndex(src, -1)
		if len(found) != 1 {
			return "", fmt.Errorf("%w: package testing of this Go has %d lines %q in %s, which should be one; %s", program.ErrUnsupported, len(found), ins.begin+ins.end, file, known)
		}
		begin, end := found[0][0], found[0][2]
		line := src[begin:end] + " " + ins.statement
		if ins.instead {
			line = "\t" + ins.statement
		}
		src = src[:begin] + line + src[end:]
	}
	return src, nil
}

// Overlay writes a package testing that can be driven into the folder out, and
// returns the path of the file to give to go test -c as -overlay. It is made of the
// package testing of the toolchain that the go command uses in the folder dir, as a
// go.mod may name one; "" is the current folder. with is what is to take the place of the
// word go in that command: mostly that itself, else the environment, as "KEY=value", and
// the path of another go command. The error wraps [program.ErrUnsupported], and says what was
// not found, if that package is not as expected.
//
// What is written depends on the toolchain alone, so that the go command builds
// package testing anew once, and finds it in its cache ever after.
func Overlay(ctx context.Context, dir, out string) (path string, with []string, err error) {
	b := &builder{dir: dir}
	if err := b.readSettings(ctx); err != nil {
		return "", nil, err
	}
	if b.overlay, err = b.writeOverlay(ctx, out); err != nil {
		return "", nil, err
	}
	return b.overlay, append(b.options.Env, cmp.Or(b.goTool, "go")), b.fits(ctx)
}

// writeOverlay is Overlay without the look whether it compiles, for a builder that has its
// settings, and another toolchain then if that is needed.
func (b *builder) writeOverlay(ctx context.Context, out string) (path string, err error) {
	if err := program.Supported(); err != nil {
		return "", err
	}
	if out, err = filepath.Abs(out); err != nil {
		return "", err
	}
	replace, err := b.givenOverlay()
	if err != nil {
		return "", err
	}
	was := b.settings["GOROOT"]
	if err := b.leaveModuleCache(ctx); err != nil {
		return "", err
	}
	if root := b.settings["GOROOT"]; root != was {
		for from, to := range replace {
			if rest, ok := strings.CutPrefix(from, was+string(filepath.Separator)); ok {
				delete(replace, from)
				replace[filepath.Join(root, rest)] = to
			}
		}
	}
	std := b.std("testing")
	write := func(name string, text []byte) error {
		replace[filepath.Join(std, name)] = filepath.Join(out, name)
		return os.WriteFile(filepath.Join(out, name), text, 0o644)
	}
	for _, file := range []string{benchmarkFile, testingFile} {
		at := filepath.Join(std, file)
		if given, ok := replace[at]; ok && given == "" {
			return "", fmt.Errorf("%w: the -overlay of GOFLAGS takes %s away", program.ErrUnsupported, at)
		} else if ok {
			at = given
		}
		src, err := os.ReadFile(at)
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
	return path, os.WriteFile(path, text, 0o644)
}

// givenOverlay returns what an overlay in GOFLAGS replaces, and by what: the one that is given to
// go test -c takes its place. Paths are absolute; what is replaced by "" is not there.
func (b *builder) givenOverlay() (map[string]string, error) {
	replace := make(map[string]string)
	file := flagIn(b.settings["GOFLAGS"], "-overlay")
	if file == "" {
		return replace, nil
	}
	text, err := os.ReadFile(b.abs(file))
	if err != nil {
		return nil, fmt.Errorf("the -overlay of GOFLAGS: %w", err)
	}
	var given struct{ Replace map[string]string }
	if err := json.Unmarshal(text, &given); err != nil {
		return nil, fmt.Errorf("the -overlay of GOFLAGS, %s: %w", file, err)
	}
	for from, to := range given.Replace {
		if to != "" {
			to = b.abs(to)
		}
		replace[b.abs(from)] = to
	}
	return replace, nil
}

// abs returns a path as the go command takes it in the builder's folder.
func (b *builder) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	dir, err := filepath.Abs(b.dir)
	if err != nil {
		dir = b.dir
	}
	return filepath.Join(dir, path)
}

// fits returns why the builder's overlay does not compile, nil if it does. What is added uses
// fields and functions of the package, which another Go may have changed. The compiler knows.
func (b *builder) fits(ctx context.Context) error {
	_, err := b.says(ctx, "build", "-overlay="+b.overlay, "testing")
	if err == nil || ctx.Err() != nil {
		return err
	}
	what := err.Error()
	for line := range strings.Lines(what) { // the first of the compiler's, without the folder
		if at := strings.Index(line, ".go:"); at >= 0 {
			what = strings.TrimSpace(line[strings.LastIndexByte(line[:at], os.PathSeparator)+1:])
			break
		}
	}
	return fmt.Errorf("%w: package testing of this Go does not compile with what is added; %s: %s", program.ErrUnsupported, known, what)
}
