package conform

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/record"
)

// Options say what to check.
type Options struct {
	Dir      string   // where go runs; "" is the working directory
	Packages []string // patterns that go test takes; empty means "./impls/..."

	// Timeout limits the tests of one package; zero means ten minutes, as go
	// test has it. A test that reaches it is killed, and its stacks are shown.
	Timeout time.Duration

	// Progress is called with what there is to say while the tests run; nil is never.
	Progress func(string)
}

// A Matrix says which clauses of the conformance suite each package passed.
type Matrix struct {
	Clauses  []Clause // in the order of the suite
	Packages []Conformance
}

// A Clause is one line of the suite, as it names itself in its output.
type Clause struct{ Name, Rule string }

// Conformance is what one package's TestConformance said.
type Conformance struct {
	Path    string // import path
	Results map[string]ClauseResult

	// Problem says why there are no, or not all, results: the package does not
	// build, it crashed, or something other than a clause failed. Output is
	// then what it printed.
	Problem string
	Output  string
}

// A ClauseResult is the outcome of one clause.
type ClauseResult struct {
	// Outcome is "pass", "skip" or "fail"; anything else the suite says, such
	// as "unknown", counts as not passed.
	Outcome string
	Why     string // the reason of a skip or failure
	Seed    string // of a random clause
	Repeat  string // the command that repeats a failure
}

// Conforms reports whether every clause of every package was passed or
// skipped.
func (m *Matrix) Conforms() bool {
	for _, p := range m.Packages {
		for _, r := range p.Results {
			if !r.Passed() {
				return false
			}
		}
	}
	return true
}

// Broken reports whether some package has a problem besides its clauses, so
// that the matrix is not complete.
func (m *Matrix) Broken() bool {
	return slices.ContainsFunc(m.Packages, func(p Conformance) bool { return p.Problem != "" })
}

// Passed reports whether the clause was passed, or skipped for a reason.
func (r ClauseResult) Passed() bool { return r.Outcome == "pass" || r.Outcome == "skip" }

// Run runs the conformance test of packages and collects what their
// clauses say. Packages without such a test are left out; that there is none
// at all is an error. A package that does not build or crashes is not: its
// Problem says so.
func Run(ctx context.Context, o Options) (*Matrix, error) {
	if len(o.Packages) == 0 {
		o.Packages = []string{"./impls/..."}
	}
	for _, p := range o.Packages {
		if strings.HasPrefix(p, "-") {
			return nil, fmt.Errorf("package %q begins with a hyphen; it would be a flag of go test", p)
		}
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Minute
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	args := append([]string{"test", "-json", "-count=1", "-timeout=" + o.Timeout.String(), "-run=^TestConformance$"}, o.Packages...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = o.Dir
	// Let go test stop its children; a test that does not is ended by its time
	// limit.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	o.Progress("building and running the conformance test of " + strings.Join(o.Packages, " "))
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("running go test: %w", err)
	}
	m, readErr := readConform(out, o.Progress)
	_, _ = io.Copy(io.Discard, out) // so that go is never stuck writing
	waitErr := cmd.Wait()
	plain := child.GoError(stderr.String())
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("conformance test stopped: %w", context.Cause(ctx))
	case readErr != nil:
		return nil, readErr
	case len(m.Packages) == 0 && waitErr != nil && plain != nil:
		return nil, plain
	case len(m.Packages) == 0 && waitErr != nil:
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), waitErr, bytes.TrimSpace(stderr.Bytes()))
	case len(m.Packages) == 0:
		return nil, fmt.Errorf("no package of %s has a TestConformance; such a test calls conformtest.Run",
			strings.Join(o.Packages, " "))
	}
	return m, nil
}

// An event is one line of go test -json; see go doc test2json and go help
// buildjson.
type event struct {
	Action, Package, ImportPath, Test, Output, FailedBuild string
}

// A running package is one whose events are still being read.
type running struct {
	Conformance
	output  bytes.Buffer
	partial map[string]string // an unfinished line, by test
	done    bool              // TestConformance ended
	crashed bool              // the runtime ended the process
	failed  bool              // and failed, as opposed to its clauses
	seen    bool              // there is such a test
}

// readConform reads the output of go test -json.
func readConform(r io.Reader, progress func(string)) (*Matrix, error) {
	const test = "TestConformance"
	m := new(Matrix)
	packages := make(map[string]*running)
	builds := make(map[string]*bytes.Buffer) // compiler output by build
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("reading go test's output: %w", err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				continue // not of go test: a test that writes to stdout by other ways
			}
			if e.Action == "build-output" {
				if builds[e.ImportPath] == nil {
					builds[e.ImportPath] = new(bytes.Buffer)
				}
				builds[e.ImportPath].WriteString(e.Output)
			}
			if e.Package != "" {
				p := packages[e.Package]
				if p == nil {
					p = &running{partial: make(map[string]string)}
					p.Path, p.Results = e.Package, make(map[string]ClauseResult)
					packages[e.Package] = p
				}
				p.take(m, e, test)
				if e.Test == "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") {
					if p.end(e, builds[e.FailedBuild]) {
						m.Packages = append(m.Packages, p.Conformance)
						progress(p.Summary())
					}
					delete(packages, e.Package)
				}
			}
		}
		if err == io.EOF {
			break
		}
	}
	// Packages end in the order in which they finish; a matrix is read by name.
	slices.SortFunc(m.Packages, func(a, b Conformance) int { return strings.Compare(a.Path, b.Path) })
	return m, nil
}

// take takes one event of p.
func (p *running) take(m *Matrix, e event, test string) {
	if e.Test == test {
		p.seen = true
		switch e.Action {
		case "pass", "skip":
			p.done = true
		case "fail":
			p.done, p.failed = true, true
		}
	}
	if e.Action != "output" {
		return
	}
	p.output.WriteString(e.Output)
	line := p.partial[e.Test] + e.Output
	if !strings.HasSuffix(line, "\n") {
		p.partial[e.Test] = line // test2json cuts long lines
		return
	}
	delete(p.partial, e.Test)
	// What a test logs is indented; this is the runtime speaking.
	if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
		p.crashed = true
	}
	c, res, ok, err := parseConformLine(line)
	if err != nil {
		p.Problem = err.Error()
	}
	if !ok {
		return
	}
	if !slices.ContainsFunc(m.Clauses, func(have Clause) bool { return have.Name == c.Name }) {
		m.Clauses = append(m.Clauses, c)
	}
	// A clause that speaks twice has been run twice: what is worse stays.
	if old, said := p.Results[c.Name]; !said || (old.Passed() && !res.Passed()) || (old.Outcome == "skip" && res.Outcome == "pass") {
		p.Results[c.Name] = res
	}
}

// end concludes p at its last event, and reports whether it belongs in the
// matrix.
func (p *running) end(e event, build *bytes.Buffer) bool {
	_, _, failing := p.Count()
	switch {
	case e.FailedBuild != "":
		p.Problem = "does not build"
		if build != nil {
			p.output.Write(build.Bytes())
		}
	case e.Action == "fail" && !p.seen:
		p.Problem = "failed before its conformance test began"
	case e.Action == "fail" && (!p.done || p.crashed):
		p.Problem = "crashed or ran out of time"
	case p.Problem != "": // a malformed line
	case p.failed && failing == 0:
		p.Problem = "failed, but no clause says so"
	case e.Action == "fail" && !p.failed:
		p.Problem = "failed outside its conformance test"
	case p.seen && len(p.Results) == 0 && e.Action == "pass":
		p.Problem = "its conformance test names no clause"
	}
	if p.Problem != "" {
		p.Output = p.output.String()
	}
	return p.Problem != "" || p.seen
}

// Count returns how many clauses were passed and skipped, and how many were not.
func (c Conformance) Count() (passed, skipped, failed int) {
	for _, r := range c.Results {
		switch r.Outcome {
		case "pass":
			passed++
		case "skip":
			skipped++
		default:
			failed++
		}
	}
	return passed, skipped, failed
}

// Summary counts the results in one line.
func (c Conformance) Summary() string {
	pass, skip, fail := c.Count()
	s := fmt.Sprintf("%s: %d passed, %d skipped, %d failed", c.Path, pass, skip, fail)
	if c.Problem != "" {
		s += "; " + c.Problem
	}
	return s
}

// parseConformLine reads a line that the conformance suite prints for each
// clause: "conform: clause=… rule=… result=… [seed=…] [why=…] [repeat=…]",
// behind whatever the testing package puts before it. ok is false for any
// other line.
func parseConformLine(line string) (c Clause, r ClauseResult, ok bool, err error) {
	const mark = "conform: clause="
	at := strings.Index(line, mark)
	if at < 0 {
		return c, r, false, nil
	}
	fields, err := record.ParseFields(strings.TrimRight(line[at+len("conform: "):], "\r\n"))
	if err != nil {
		return c, r, false, fmt.Errorf("malformed conform line: %w", err)
	}
	c = Clause{Name: fields["clause"], Rule: fields["rule"]}
	r = ClauseResult{Outcome: fields["result"], Why: fields["why"], Seed: fields["seed"], Repeat: fields["repeat"]}
	if c.Name == "" || r.Outcome == "" {
		return c, r, false, errors.New("malformed conform line: it lacks clause or result")
	}
	return c, r, true, nil
}
