package hw

import (
	"cmp"
	"context"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// oldestGo is the oldest Go that the firmware compiles with: what runs on boards uses
// nothing newer.
const oldestGo = "go1.23"

// tinygoVariable is the environment variable that names the tinygo command, if it is
// not the one on PATH.
const tinygoVariable = "TINYGO"

// A Compiler is what makes images for a kind of board: TinyGo, or the go command.
type Compiler struct {
	Kind Kind
	Path string // of the command
	// Version is TinyGo's own, such as "0.41.0"; "" for the go command.
	Version string
	// Go is the version of Go whose language and standard library are compiled, such
	// as "go1.26.8".
	Go string
	// Env is added to the environment of the command.
	Env []string
}

// String names the compiler in one word, as the firmware says it: "go1.26.8", or
// "tinygo0.41.0-go1.26.8".
func (c *Compiler) String() string {
	if c.Kind == kindTinyGo {
		return "tinygo" + c.Version + "-" + c.Go
	}
	return c.Go
}

// FindCompiler looks for the compiler that b needs. If it is not there, or cannot
// compile for b, the error has the outcome ToolchainMissing and says what to install.
func FindCompiler(ctx context.Context, b Board) (*Compiler, error) {
	if b.Kind == kindGo {
		return findGo(ctx)
	}
	return findTinyGo(ctx, b)
}

// findRunner looks for the program on this machine that runs b's images: the
// emulator, or ssh. It is "" for a board with a serial port, which needs none.
func findRunner(b Board) (path string, err error) {
	var name string
	switch b.Kit() {
	case "emulator":
		if name = b.Emulator[0]; strings.Contains(name, imageMark) {
			return "", nil // this machine runs the image itself
		}
	case "ssh":
		name = "ssh"
	default:
		return "", nil
	}
	if path, err = exec.LookPath(name); err != nil {
		return "", missing(b, name+" is not on PATH", "", err)
	}
	return path, nil
}

// FindRunner returns what runs b's images on this machine, in words: an emulator with its version,
// ssh, or "" if the images are brought to the board in another way. The error has the outcome
// ToolchainMissing.
func FindRunner(ctx context.Context, b Board) (string, error) {
	path, err := findRunner(b)
	if err != nil || path == "" || b.Kit() != "emulator" {
		return filepath.Base(path), err
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", missing(b, path+" does not tell its version", string(out), err)
	}
	return firstLine(string(out)), nil
}

// Missing says what b needs to be built and run and this machine does not have. It may
// take a second, since compilers are asked for their version.
func Missing(ctx context.Context, b Board) (all []error) {
	_, compiler := FindCompiler(ctx, b)
	_, runner := findRunner(b)
	for _, err := range []error{compiler, runner} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

// missing makes the error of a program that b needs, and that is not there or cannot do it.
func missing(b Board, what, said string, err error) *Error {
	return &Error{Outcome: ToolchainMissing, What: what, Do: "install " + b.Install, Output: said, Err: err}
}

func findGo(ctx context.Context) (*Compiler, error) {
	path, err := exec.LookPath("go")
	if err != nil {
		return nil, &Error{Outcome: ToolchainMissing, What: "the go command is not on PATH", Do: "install Go", Err: err}
	}
	c := &Compiler{Kind: kindGo, Path: path}
	said, err := c.say(ctx, "env", "GOVERSION")
	if err != nil {
		return nil, &Error{Outcome: ToolchainMissing, What: path + " does not tell its version", Output: said, Err: err}
	}
	// A development version has a second word.
	c.Go, _, _ = strings.Cut(said, " ")
	return c, nil
}

var (
	tinygoVersion = regexp.MustCompile(`^tinygo version (\S+) \S+ \(using go version (\S+) and LLVM version (\S+)\)`)
	tinygoTakes   = regexp.MustCompile(`requires go version 1\.(\d+) through 1\.(\d+), got go(\S+)`)
)

// findTinyGo looks for TinyGo and for a Go that it takes. TinyGo compiles the
// standard library of a Go that is installed, and refuses one that is newer than
// itself.
func findTinyGo(ctx context.Context, b Board) (*Compiler, error) {
	name := cmp.Or(os.Getenv(tinygoVariable), "tinygo")
	path, err := exec.LookPath(name)
	if err != nil {
		where := "tinygo is not on PATH"
		if name != "tinygo" {
			where = fmt.Sprintf("%s, as the variable %s has it, is not a program", name, tinygoVariable)
		}
		return nil, missing(b, where, "", err)
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	c := &Compiler{Kind: kindTinyGo, Path: path}
	said, err := c.say(ctx, "info", "-target="+b.Target)
	if m := tinygoTakes.FindStringSubmatch(said); err != nil && m != nil {
		least, _ := strconv.Atoi(m[1])
		most, _ := strconv.Atoi(m[2])
		goroot, why := olderGo(ctx, least, most)
		if goroot == "" {
			return nil, &Error{
				Outcome: ToolchainMissing,
				What:    fmt.Sprintf("%s takes Go 1.%s to 1.%s, and the one here is Go %s", path, m[1], m[2], m[3]),
				Do:      fmt.Sprintf("install TinyGo 0.41 or newer, or a Go from 1.23 to 1.%d and set GOROOT to its folder", most),
				Output:  why,
			}
		}
		c.Env = []string{
			"GOROOT=" + goroot, "GOTOOLCHAIN=local",
			"PATH=" + filepath.Join(goroot, "bin") + string(os.PathListSeparator) + os.Getenv("PATH"),
		}
		said, err = c.say(ctx, "info", "-target="+b.Target)
	}
	if err != nil {
		return nil, missing(b, fmt.Sprintf("%s cannot compile for the target %s", path, b.Target), said, err)
	}
	said, err = c.say(ctx, "version")
	m := tinygoVersion.FindStringSubmatch(said)
	if err != nil || m == nil {
		return nil, missing(b, path+" does not tell its version as TinyGo does", said, err)
	}
	c.Version, c.Go = m[1], m[2]
	if !version.IsValid(c.Go) || version.Compare(c.Go, oldestGo) < 0 {
		return nil, missing(b, fmt.Sprintf("TinyGo %s uses %s, and the firmware needs %s", c.Version, c.Go, oldestGo), "", nil)
	}
	return c, nil
}

// say runs the compiler and returns what it prints, on both streams, without the
// space around it.
func (c *Compiler) say(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Path, args...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.WaitDelay = 10 * time.Second // if it is interrupted, what it has started may go on
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// olderGo returns the GOROOT of a Go from 1.least to 1.most, "" if there is none,
// with why. It is one that the go command has fetched before, the newest of them, or
// that it fetches now.
func olderGo(ctx context.Context, least, most int) (goroot, why string) {
	compiler, err := findGo(ctx)
	if err != nil {
		return "", "the go command is not on PATH"
	}
	if cache, err := compiler.say(ctx, "env", "GOMODCACHE"); err == nil {
		if goroot := fetchedGo(cache, least, most); goroot != "" {
			return goroot, ""
		}
	}
	// The first release of a minor version is always there.
	compiler.Env = []string{"GOTOOLCHAIN=go1." + strconv.Itoa(most) + ".0"}
	said, err := compiler.say(ctx, "env", "GOROOT")
	if err != nil {
		return "", said
	}
	return said, ""
}

// fetchedGo returns the GOROOT of the newest Go from 1.least to 1.most in a module
// cache, "" if there is none.
func fetchedGo(cache string, least, most int) string {
	const before = "toolchain@v0.0.1-"
	platform := "." + runtime.GOOS + "-" + runtime.GOARCH
	folders, _ := filepath.Glob(filepath.Join(cache, "golang.org", before+"go1.*"+platform))
	release := func(folder string) string {
		return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(folder), before), platform)
	}
	folders = slices.DeleteFunc(folders, func(folder string) bool {
		lang := version.Lang(release(folder))
		minor, err := strconv.Atoi(strings.TrimPrefix(lang, "go1."))
		return err != nil || minor < least || minor > most || version.Compare(lang, oldestGo) < 0
	})
	if len(folders) == 0 {
		return ""
	}
	return slices.MaxFunc(folders, func(a, b string) int { return version.Compare(release(a), release(b)) })
}

// imageMark is where the path of the image goes in an emulator's command.
const imageMark = "{image}"
