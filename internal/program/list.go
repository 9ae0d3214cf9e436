package program

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/failure"
)

// A Listing is what a program says of its benchmarks.
type Listing struct {
	Pkg   string   // what it calls what it measures, as Go names packages; "" if it does not say
	Names []string // of its benchmarks, without the number of processors; not empty
	Made  string   // with which versions and flags it was made; "" if it does not say
	Units []string // such as "MB/s better=higher": lines of the Go benchmark format without their first word
}

// List asks the program at path, in the folder dir, for its benchmarks. Its error is a
// [*Failure], which says why the program was of no use, or wraps [ErrUnsupported], or what
// has ended ctx. timeout must be positive.
func List(ctx context.Context, path, dir string, args []string, timeout time.Duration) (*Listing, error) {
	if err := Supported(); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %s=%d", Variable, listWord, fieldProtocol, Version))
	p, err := child.Run(cmd)
	if err != nil {
		return nil, &Failure{Reason: "does not start: " + err.Error()}
	}
	select {
	case <-p.Ended():
	case <-limited.Done():
		p.Kill(context.Cause(limited))
		<-p.Ended()
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case p.Killed() != nil:
		return nil, &Failure{Reason: fmt.Sprintf("does not say within %v which benchmarks it has", timeout)}
	case p.Failed():
		said := p.Printed()
		f := Ended(said, cmd.ProcessState)
		f.Reason = "asked for its benchmarks, it " + f.Reason
		return nil, f
	}
	return parseListing(p.Stdout.String())
}

// Ended is the failure of a process that has ended, and printed said: if neither a crash nor
// a benchmark gives a reason, with the last line.
func Ended(said string, state *os.ProcessState) *Failure {
	kind, why := child.WhyFailed(said, state)
	if kind == failure.Exit {
		why += LastLine(said)
	}
	return &Failure{Kind: kind, Reason: why, Output: child.Excerpt(said)}
}

// LastLine returns the last line of what a program has printed, but for what package testing
// prints itself, behind a colon; "" if it has printed nothing.
func LastLine(said string) string {
	for _, line := range slices.Backward(strings.Split(said, "\n")) {
		line = strings.TrimSpace(line)
		if line == "" || ofTesting.MatchString(line) {
			continue
		}
		if r := []rune(line); len(r) > 200 {
			line = string(r[:200]) + "…"
		}
		return ": " + line
	}
	return ""
}

// ofTesting matches what package testing prints beside logs.
var ofTesting = regexp.MustCompile(`^(PASS|FAIL|goos: .*|goarch: .*|pkg: .*|cpu: .*|Benchmark\S*|Benchmark\S*\s+\d+\s.*|--- .*)$`)

// parseListing reads what a program prints that is asked for its benchmarks.
func parseListing(text string) (*Listing, error) {
	l := new(Listing)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		switch rest = strings.TrimSpace(rest); {
		case line == "", strings.HasPrefix(line, "#"):
		case word == "pkg:" && rest != "" && !strings.ContainsFunc(rest, unicode.IsSpace):
			l.Pkg = rest
		case word == "made:" && rest != "":
			l.Made = rest
		case word == "Unit" && len(strings.Fields(rest)) > 1:
			l.Units = append(l.Units, rest)
		case isName(line):
			if slices.Contains(l.Names, line) {
				return nil, &Failure{Reason: "names " + line + " twice"}
			}
			l.Names = append(l.Names, line)
		default:
			return nil, &Failure{Reason: fmt.Sprintf("does not speak the driving protocol: asked for its benchmarks, it printed %.60q", line)}
		}
	}
	if len(l.Names) == 0 {
		return nil, &Failure{Reason: "asked for its benchmarks, it named none"}
	}
	return l, nil
}

// isName reports whether s is the name of a benchmark, as Go would have it.
func isName(s string) bool {
	first, ok := strings.CutPrefix(s, "Benchmark")
	return ok && (first == "" || !unicode.IsLower([]rune(first)[0])) && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == unicode.ReplacementChar })
}
