package testbin

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/agnivade/levenshtein"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/failure"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
)

// A Listing is what a subject's benchmarks are.
type Listing struct {
	Cases []record.Case // in the order in which they run

	// Says is the first thing that a case logs ([testing.B.Log]): a sentence about itself,
	// if it has one.
	Says map[record.Case]string

	// Absent are benchmarks that ran and gave no figure: they skipped
	// themselves, or failed.
	Absent []record.Hole
}

// mostCrashes bounds how often a listing begins again: a package of which so
// many benchmarks crash or hang is broken as a whole.
const mostCrashes = 10

// Cases runs every benchmark of s that bench matches once, with GOMAXPROCS=cpu,
// and returns them. bench is a pattern as go test -bench takes it. A benchmark
// that fails, crashes, ends the process, is not reached, or prints nothing for as long as
// timeout is absent; the others are listed all the same. It is an error if the subject ends
// in a way that is no benchmark's doing; what was listed before is returned with it.
func (s Binary) Cases(ctx context.Context, bench string, cpu int, timeout time.Duration) (*Listing, error) {
	var crashed []record.Hole
	var skip []string
	for {
		out, err := s.list(ctx, bench, strings.Join(skip, "|"), cpu, 1, timeout)
		if !out.spoke {
			out.report = readText(out.text, cpu)
			out.has = s.names(ctx, timeout)
		}
		l := out.listing(s.Pkg)
		l.Absent = append(slices.Clone(crashed), l.Absent...)
		var f *program.Failure
		if err != nil && !errors.As(err, &f) {
			return l, err
		}
		left := slices.DeleteFunc(slices.Clone(out.has), func(name string) bool {
			return !record.MatchesTop(bench, name) || slices.Contains(out.began, name) ||
				slices.ContainsFunc(crashed, func(h record.Hole) bool { return h.Case == name })
		})
		switch {
		case len(left) > 0 && len(out.began) == 0, out.spoke && !out.main:
			return l, s.endedEarly(f, out)
		case f == nil && out.running == "", f != nil && f.Kind == failure.Fail:
			// Each failure is in the listing.
			for _, name := range left {
				l.Absent = append(l.Absent, record.Hole{Case: name, Reason: "did not run, though nothing failed: TestMain or another benchmark ended the process"})
			}
			return l, nil
		case f != nil && len(left) == 0 && out.running == "" && slices.ContainsFunc(out.absent, func(h record.Hole) bool { return !h.Skipped }):
			return l, nil // what it printed hides that
		case len(crashed) == mostCrashes:
			return l, err
		}
		if f == nil {
			f = &program.Failure{Reason: "ended the process, with success" + program.LastLine(out.text)}
		}
		h := record.Hole{Case: cmp.Or(out.panicked, out.running), Kind: f.Kind, Reason: f.Reason}
		if out.panicked == "" && f.Kind == failure.Crash {
			found, err := s.culprit(ctx, out.began, cpu, timeout)
			if err != nil {
				return l, err
			}
			if found.Case != "" {
				h = found
			}
		}
		if h.Case == "" {
			return l, err
		}
		crashed = append(crashed, h)
		skip = append(skip, record.Case{Name: h.Case}.Pattern())
	}
}

// endedEarly is the error of a subject that ended before any of its benchmarks ran. f says
// how, if not with success.
func (s Binary) endedEarly(f *program.Failure, out output) error {
	who := "the initialization of a package"
	if files, _ := filepath.Glob(filepath.Join(s.Dir, "*_test.go")); out.main == out.spoke && slices.ContainsFunc(files, hasTestMain) {
		who = "its TestMain"
	}
	if f == nil {
		f = &program.Failure{Kind: failure.Exit, Reason: "ended with exit status 0" + program.LastLine(out.text), Output: child.Excerpt(out.text)}
	}
	if f.Kind != failure.Exit {
		return f // it crashed, or hangs
	}
	said := program.LastLine(f.Output)
	return &program.Failure{Reason: who + " " + strings.TrimSuffix(f.Reason, said) + " before any benchmark ran" + said, Output: f.Output}
}

// hasTestMain reports whether a test file has a TestMain.
func hasTestMain(file string) bool {
	text, err := os.ReadFile(file)
	return err == nil && bytes.Contains(text, []byte("\nfunc TestMain("))
}

// names asks a subject that does not report for the names of its top-level benchmarks; nil if
// it does not tell.
func (s Binary) names(ctx context.Context, timeout time.Duration) (names []string) {
	out, err := invocation{subject: s, args: []string{"-test.list=^Benchmark"}, timeout: timeout}.run(ctx)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(out.text) {
		if line = strings.TrimRight(line, "\r\n"); isName(line) {
			names = append(names, line)
		}
	}
	return names
}

// list runs benchmarks for one operation each, as many times as it is told.
func (s Binary) list(ctx context.Context, bench, skip string, cpu, times int, timeout time.Duration) (output, error) {
	reports := s.made != nil && s.made.overlay != ""
	return invocation{
		subject: s,
		report:  reports,
		// Of one that does not report, -v has a skipped benchmark tell why, and each its name
		// before it runs.
		args: []string{
			"-test.run=^$", "-test.bench=" + bench, "-test.skip=" + skip, "-test.benchtime=1x",
			"-test.cpu=" + strconv.Itoa(cpu), "-test.count=" + strconv.Itoa(times), "-test.v=" + strconv.FormatBool(!reports),
		},
		timeout:     timeout,
		sinceOutput: true,
	}.bench(ctx)
}

// culprit finds which benchmark it was that crashed, of those that had begun, in
// this order: the latest that crashes alone too. It need not be the latest of
// all. When a benchmark panics, its deferred calls run, and one of testing's
// begins the next benchmark while the runtime is still printing the stack. With
// no next one the process may even end before, and well. So if none crashes in
// one run each, they run several times.
func (s Binary) culprit(ctx context.Context, begun []string, cpu int, timeout time.Duration) (record.Hole, error) {
	begun = begun[max(0, len(begun)-mostCrashes):]
	for _, times := range []int{1, 10} {
		for _, name := range slices.Backward(begun) {
			c := record.Case{Name: name}
			_, err := s.list(ctx, c.Pattern(), c.Beneath(), cpu, times, timeout)
			var f *program.Failure
			switch {
			case err == nil:
			case !errors.As(err, &f):
				return record.Hole{}, err
			case f.Kind == failure.Crash:
				return record.Hole{Case: name, Kind: f.Kind, Reason: f.Reason}, nil
			}
		}
	}
	return record.Hole{}, nil
}

// readText makes a report of what a subject that does not report prints with -test.v and
// -test.cpu=cpu. A result counts if its benchmark runs: others are print.
func readText(text string, cpu int) (r report) {
	suffix := record.Step{CPU: cpu}.FullName() // what follows the name
	var first, last string                     // log entries; the last is what a skip or a failure gives as its reason
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for mark, word := range map[string]string{"--- SKIP: ": "skipped", "--- FAIL: ": "failed"} {
			if name, ok := strings.CutPrefix(line, mark); ok {
				r.takeAbsent(word, name, indent+last)
				last, r.running = "", ""
			}
		}
		switch entry, indented := strings.CutPrefix(line, indent); {
		case indented && strings.HasPrefix(entry, indent) && last != "":
			last += " " + strings.TrimSpace(entry) // the entry's next line
		case indented:
			last = entry
			first = cmp.Or(first, entry)
		case isName(line):
			first, last, r.running = "", "", line
			r.began = append(r.began, line)
		case line == "PASS", line == child.Failed:
			r.running = "" // what comes is not a benchmark's doing
		}
		if r.running == "" {
			continue
		}
		// What was printed without a newline stands before the name.
		full := r.running + suffix
		at := strings.LastIndex(line, full)
		if at < 0 {
			continue
		}
		if res, ok := record.ParseResult(line[at:]); ok && "Benchmark"+string(res.Name) == full {
			r.results = append(r.results, result{r.running, res.Iters, strings.TrimSpace(line[at+len(full):]), first})
			last, r.running = "", ""
		}
	}
	return r
}

// indent begins the lines of a benchmark's log.
const indent = "    "

// isName reports whether line is what testing prints when a benchmark begins.
func isName(line string) bool {
	return strings.HasPrefix(line, "Benchmark") && !strings.ContainsFunc(line, unicode.IsSpace)
}

// withoutPosition takes "file.go:12: " off a line of a test's log.
func withoutPosition(s string) string {
	if m := logPosition.FindString(s); m != "" {
		return s[len(m):]
	}
	return s
}

var logPosition = regexp.MustCompile(`^[^\s:]+\.go:\d+: `)

// NoMatch returns the error for a pattern that matches none of the known cases,
// with the names that come nearest to it. A pattern that a person types is
// mostly a part of a name, so it is held against the parts too.
func NoMatch(bench string, known []record.Case) error {
	if len(known) == 0 {
		return errors.New("the packages have no benchmarks that can run")
	}
	type near struct {
		text     string
		distance int
	}
	var all []near
	// add takes text in, held against what a person may call it.
	add := func(text string, calls ...string) {
		if slices.ContainsFunc(all, func(n near) bool { return n.text == text }) {
			return
		}
		n := near{text, math.MaxInt}
		for _, call := range calls {
			n.distance = min(n.distance, levenshtein.ComputeDistance(strings.ToLower(call), strings.ToLower(bench)))
		}
		all = append(all, n)
	}
	want := strings.Count(bench, "/") + 1
	for _, c := range known {
		elems := strings.Split(c.Name, "/")
		for i, e := range elems {
			_, value, _ := strings.Cut(e, "=")
			add(e, e, value, strings.TrimPrefix(e, "Benchmark"))
			if want > 1 && i+want <= len(elems) {
				part := strings.Join(elems[i:i+want], "/")
				add(part, part, strings.TrimPrefix(part, "Benchmark"))
			}
		}
	}
	slices.SortStableFunc(all, func(a, b near) int { return a.distance - b.distance })
	names := make([]string, 0, 3)
	for _, n := range all[:min(3, len(all))] {
		names = append(names, strconv.Quote(n.text))
	}
	return fmt.Errorf("no benchmark matches --bench %q; the nearest names are %s (benchrun list shows all; as in go test, the parts of a pattern between slashes match the parts of a name)",
		bench, strings.Join(names, ", "))
}
