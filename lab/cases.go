package lab

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"
	"golang.org/x/perf/benchfmt"
)

// A Case is one benchmark of a subject: a leaf, with all its sub-benchmark
// names, such as "BenchmarkGroup/workload=short/impl=channel".
type Case struct {
	Pkg  string
	Name string // without the "-8" that tells GOMAXPROCS
}

// A Listing is what a subject's benchmarks are.
type Listing struct {
	Cases []Case // in the order in which they run

	// Absent are benchmarks that ran and gave no figure: they skipped
	// themselves, or failed.
	Absent []Hole
}

// Cases runs every benchmark of s that bench matches once, and returns them.
// bench is a pattern as go test -bench takes it. It is an error if the subject
// crashes or hangs; a benchmark that fails is only absent.
func (s Subject) Cases(bench string, timeout time.Duration, kill <-chan struct{}) (*Listing, error) {
	text, err := invocation{
		subject: s,
		// One processor, so that the names have no suffix to take off. With -v a
		// skipped benchmark tells why.
		args:    []string{"-test.run=^$", "-test.bench=" + bench, "-test.benchtime=1x", "-test.cpu=1", "-test.v"},
		timeout: timeout,
		kill:    kill,
	}.run()
	l := parseListing(s.Pkg, text)
	var f *failure
	switch {
	case err == nil:
		return l, nil
	case errors.As(err, &f) && len(l.Absent) > 0 && strings.HasPrefix(f.reason, "failed: "):
		return l, nil // each failure is in the listing
	}
	return l, err
}

// parseListing reads what a test binary prints with -test.v -test.cpu=1.
func parseListing(pkg, text string) *Listing {
	l := new(Listing)
	var last string // the latest indented line: what a skip or a failure gives as its reason
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		for _, end := range []struct {
			mark    string
			skipped bool
		}{{"--- SKIP: ", true}, {"--- FAIL: ", false}} {
			if name, ok := strings.CutPrefix(strings.TrimSpace(line), end.mark); ok {
				name, _, _ = strings.Cut(name, " ")
				// A parent fails with its children; it is no benchmark of its own.
				if !slices.ContainsFunc(l.Absent, func(h Hole) bool { return strings.HasPrefix(h.Case, name+"/") }) {
					reason := last
					if reason == "" {
						reason = "no reason given"
					}
					l.Absent = append(l.Absent, Hole{Case: name, Reason: reason, Skipped: end.skipped})
				}
				last = ""
			}
		}
		if strings.HasPrefix(line, "    ") {
			last = withoutPosition(strings.TrimSpace(line))
			continue
		}
		if res, ok := parseResult(line); ok {
			l.Cases = append(l.Cases, Case{Pkg: pkg, Name: "Benchmark" + string(res.Name)})
			last = ""
		}
	}
	return l
}

// withoutPosition takes "file.go:12: " off a line of a test's log.
func withoutPosition(s string) string {
	if m := logPosition.FindString(s); m != "" {
		return s[len(m):]
	}
	return s
}

var logPosition = regexp.MustCompile(`^[^\s:]+\.go:\d+: `)

// parseResult reads a benchmark line, and reports whether it is one.
func parseResult(line string) (*benchfmt.Result, bool) {
	if !strings.HasPrefix(line, "Benchmark") {
		return nil, false
	}
	r := benchfmt.NewReader(strings.NewReader(line+"\n"), "")
	if !r.Scan() {
		return nil, false
	}
	res, ok := r.Result().(*benchfmt.Result)
	return res, ok
}

// pattern returns a -test.bench pattern that matches the case and no other.
func (c Case) pattern() string {
	elems := strings.Split(c.Name, "/")
	for i, e := range elems {
		elems[i] = "^" + regexp.QuoteMeta(e) + "$"
	}
	return strings.Join(elems, "/")
}

// CheckPattern returns an error if bench is no -test.bench pattern.
func CheckPattern(bench string) error {
	for elem := range strings.SplitSeq(bench, "/") {
		if _, err := regexp.Compile(elem); err != nil {
			return fmt.Errorf("--bench %q: %w", bench, err)
		}
	}
	return nil
}

// NoMatch returns the error for a pattern that matches none of the known cases,
// with the names that come nearest to it. A pattern that a person types is
// mostly a part of a name, so it is held against the parts too.
func NoMatch(bench string, known []Case) error {
	if len(known) == 0 {
		return errors.New("the packages have no benchmarks that can run")
	}
	type near struct {
		text     string
		distance int
	}
	var all []near
	add := func(text, part string) {
		if slices.ContainsFunc(all, func(n near) bool { return n.text == text }) {
			return
		}
		d := levenshtein.ComputeDistance(strings.ToLower(part), strings.ToLower(bench))
		all = append(all, near{text, d})
	}
	want := strings.Count(bench, "/") + 1
	for _, c := range known {
		elems := strings.Split(c.Name, "/")
		for i, e := range elems {
			add(e, e)
			if _, value, ok := strings.Cut(e, "="); ok {
				all[slices.IndexFunc(all, func(n near) bool { return n.text == e })].distance = min(
					levenshtein.ComputeDistance(value, bench),
					levenshtein.ComputeDistance(e, bench))
			}
			if want > 1 && i+want <= len(elems) {
				part := strings.Join(elems[i:i+want], "/")
				add(part, part)
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
