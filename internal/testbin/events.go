package testbin

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/failure"
	"github.com/dynolab/dyno/internal/record"
)

// reportWord asks a test binary that was built with the overlay, in program.Variable, to
// report on file descriptor 3 what runs and what came of it. What benchmarks print is no
// part of that: neither what breaks a result line nor what looks like one.
const reportWord = "report"

// A report is what a subject has reported of one run.
type report struct {
	spoke    bool     // it reports at all
	main     bool     // its packages were initialized
	has      []string // its top-level benchmarks
	began    []string // benchmarks that have begun, parents too, in this order
	running  string   // the one that had not ended; "" if there is none
	panicked string   // the first one that panicked; "" if none has
	results  []result
	absent   []record.Hole // skipped and failed
}

// A result is what came of one benchmark.
type result struct {
	name string // without the number of processors
	n    int    // operations
	line string // what testing prints behind the name
	said string // what it logged
}

// readReport reads what a subject has reported.
func readReport(text string) (r report) {
	for line := range strings.Lines(text) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		var texts [4]string
		for i, field := range strings.SplitN(rest, "\t", len(texts)) {
			texts[i], _ = strconv.Unquote(field) // of a torn line, which the process has died in, what there is
		}
		name := texts[0]
		switch word {
		case "reports":
			r.spoke = true
		case "begins":
			r.main = true
		case "has":
			r.has = append(r.has, name)
		case "runs":
			r.began, r.running = append(r.began, name), name
		case "panics":
			r.panicked = cmp.Or(r.panicked, name)
		case "ran", "skipped", "failed":
			r.end(name)
			r.takeAbsent(word, name, texts[1])
		case "result":
			r.end(name)
			n, _ := strconv.Atoi(texts[1])
			r.results = append(r.results, result{name, n, texts[2], texts[3]})
		}
	}
	return r
}

// end notes that a benchmark has ended. Of two, one beneath the other, the inner one ends
// first.
func (r *report) end(name string) {
	if r.running == name {
		r.running = ""
	}
}

// takeAbsent takes in that a benchmark skipped itself or failed, once: it may fail in each
// of its calls. A parent fails with its children; it is no benchmark of its own.
func (r *report) takeAbsent(word, name, said string) {
	beneath := func(h record.Hole) bool { return h.Case == name || strings.HasPrefix(h.Case, name+"/") }
	if word == "ran" || slices.ContainsFunc(r.absent, beneath) {
		return
	}
	reason := cmp.Or(child.LatestEntry(said), "no reason given")
	h := record.Hole{Case: name, Kind: failure.Fail, Reason: "failed: " + reason}
	if word == "skipped" {
		h = record.Hole{Case: name, Kind: failure.Skip, Reason: withoutPosition(reason), Skipped: true}
	}
	r.absent = append(r.absent, h)
}

// listing is what a run of one operation each lists.
func (r *report) listing(pkg string) *Listing {
	l := &Listing{Says: make(map[record.Case]string), Absent: r.absent}
	for _, res := range r.results {
		c := record.Case{Pkg: pkg, Name: res.name}
		if res.n == 0 {
			l.Absent = append(l.Absent, record.Hole{Case: res.name, Kind: failure.Crash, Reason: record.NoOperations})
			continue
		}
		l.Cases = append(l.Cases, c)
		if first := firstEntry(res.said); first != "" {
			l.Says[c] = first
		}
	}
	return l
}

// firstEntry returns the first line of what a benchmark has logged, without its position.
func firstEntry(said string) string {
	line, _, _ := strings.Cut(said, "\n")
	return withoutPosition(strings.TrimSpace(line))
}

// lines returns the benchmark lines of fullName, which is name with the number of
// processors.
func (r *report) lines(name, fullName string) (lines []string) {
	for _, res := range r.results {
		if res.name == name {
			lines = append(lines, fullName+" \t"+res.line)
		}
	}
	return lines
}
