package testbin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/agnivade/levenshtein"

	"github.com/dynolab/dyno/internal/child"
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
// that fails, crashes, or prints nothing for as long as timeout is absent; the
// others are listed all the same. It is an error if the subject ends in a way
// that is no benchmark's doing; what was listed before is returned with it.
func (s Binary) Cases(ctx context.Context, bench string, cpu int, timeout time.Duration) (*Listing, error) {
	var crashed []record.Hole
	var skip []string
	for {
		text, err := s.list(ctx, bench, strings.Join(skip, "|"), cpu, 1, timeout)
		l, at := parseListing(s.Pkg, text, cpu)
		l.Absent = append(slices.Clone(crashed), l.Absent...)
		var f *program.Failure
		switch {
		case err == nil:
			return l, nil
		case !errors.As(err, &f):
			return l, err
		case strings.HasPrefix(f.Reason, "failed: "):
			return l, nil // each failure is in the listing
		case len(crashed) == mostCrashes:
			return l, err
		}
		h := record.Hole{Case: at.running, Reason: f.Reason}
		if strings.HasPrefix(f.Reason, "crashed: ") {
			found, err := s.culprit(ctx, at.names, cpu, timeout)
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

// list runs benchmarks for one operation each, as many times as it is told.
func (s Binary) list(ctx context.Context, bench, skip string, cpu, times int, timeout time.Duration) (string, error) {
	return invocation{
		subject: s,
		// With -v a skipped benchmark tells why, and each says its name before
		// it runs.
		args: []string{
			"-test.run=^$", "-test.bench=" + bench, "-test.skip=" + skip, "-test.benchtime=1x",
			"-test.cpu=" + strconv.Itoa(cpu), "-test.count=" + strconv.Itoa(times), "-test.v",
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
			case strings.HasPrefix(f.Reason, "crashed: "):
				return record.Hole{Case: name, Reason: f.Reason}, nil
			}
		}
	}
	return record.Hole{}, nil
}

// begun is how far a listing has come.
type begun struct {
	names   []string // of the benchmarks that have begun, parents too
	running string   // the one that had not ended; "" if there is none
}

// parseListing reads what a test binary prints with -test.v and -test.cpu=cpu.
func parseListing(pkg, text string, cpu int) (l *Listing, at begun) {
	l = &Listing{Says: make(map[record.Case]string)}
	suffix := record.Step{CPU: cpu}.FullName() // what follows the name
	var first, last string                     // log entries; the last is what a skip or a failure gives as its reason
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for _, end := range []struct {
			mark    string
			skipped bool
		}{{"--- SKIP: ", true}, {"--- FAIL: ", false}} {
			if name, ok := strings.CutPrefix(line, end.mark); ok {
				// A parent fails with its children; it is no benchmark of its own.
				if !slices.ContainsFunc(l.Absent, func(h record.Hole) bool { return strings.HasPrefix(h.Case, name+"/") }) {
					reason := cmp.Or(last, "no reason given")
					if end.skipped {
						reason = withoutPosition(reason)
					} else {
						reason = "failed: " + reason
					}
					l.Absent = append(l.Absent, record.Hole{Case: name, Reason: reason, Skipped: end.skipped})
				}
				last, at.running = "", ""
			}
		}
		switch entry, indented := strings.CutPrefix(line, "    "); {
		case indented && strings.HasPrefix(entry, "    ") && last != "":
			last += " " + strings.TrimSpace(entry) // the entry's next line
		case indented:
			last = entry
			first = cmp.Or(first, withoutPosition(entry))
		case isName(line):
			first, last, at.running = "", "", line
			at.names = append(at.names, line)
		case line == "PASS", line == child.Failed:
			at.running = "" // what comes is not a benchmark's doing
		}
		if res, ok := record.ParseResult(line); ok {
			name := strings.TrimSuffix("Benchmark"+string(res.Name), suffix)
			if res.Iters > 0 {
				c := record.Case{Pkg: pkg, Name: name}
				l.Cases = append(l.Cases, c)
				if first != "" {
					l.Says[c] = first
				}
			} else {
				l.Absent = append(l.Absent, record.Hole{Case: name, Reason: record.NoOperations})
			}
			last, at.running = "", ""
		}
	}
	return l, at
}

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
