package report

import (
	"fmt"
	"slices"

	"github.com/dynolab/dyno/internal/compare"
)

// faults says what fails by the fault of the new version, in a line for each way to
// fail: "1 benchmark crashes in new: Hash-2: panic: oh (tiny.go:12)".
func faults(c *compare.Comparison) (lines []string) {
	for _, kind := range []compare.FailureKind{compare.Crashes, compare.Hangs, compare.Fails, compare.Gone, compare.Skips} {
		for _, noun := range []string{"package", "benchmark"} {
			var some []compare.Failure
			for _, f := range c.Failures {
				if f.Fault && f.Kind == kind && (f.Row == "") == (noun == "package") {
					some = append(some, f)
				}
			}
			if len(some) > 0 {
				lines = append(lines, fmt.Sprintf("%s %s in %s: %s", counted(len(some), noun), verb(kind, len(some)), some[0].Col, named(some)))
			}
		}
	}
	return lines
}

// verb is what n things of a kind do.
func verb(kind compare.FailureKind, n int) string {
	if n == 1 {
		return string(kind)
	}
	return map[compare.FailureKind]string{
		compare.Crashes: "crash", compare.Hangs: "hang", compare.Fails: "fail", compare.Gone: "are gone", compare.Skips: "skip themselves",
	}[kind]
}

// named names some failures of a kind, the first few with their reasons.
func named(some []compare.Failure) string {
	const most = 3
	rest := ""
	if n := len(some); n > most+1 {
		some, rest = some[:most], fmt.Sprintf("and %d more", n-most)
	}
	return joined("; ", append(each(some, described), rest)...)
}

// described names a failure with its reason, as far as its kind does not say it.
func described(f compare.Failure) string {
	s := f.Name()
	if f.Blocks != "" {
		s += " in block " + f.Blocks
	}
	if f.Kind == compare.Gone {
		return s
	}
	return s + ": " + f.Detail
}

// otherFailures says, in as few words, what fails by no fault of the new version.
func otherFailures(c *compare.Comparison) (parts []string) {
	type row struct{ name, pkg string }
	in := make(map[row][]string) // the columns in which it fails
	for _, f := range c.Failures {
		in[row{f.Row, f.Pkg}] = append(in[row{f.Row, f.Pkg}], f.Col)
	}
	where := func(f compare.Failure) string {
		cols := in[row{f.Row, f.Pkg}]
		switch {
		case f.Fault || f.Col == "":
			return ""
		case f.Accepted:
			return "missing in " + f.Col + ", as accepted"
		case len(cols) == 1:
			return "failing in " + f.Col + " only"
		case f.Col == cols[0]:
			return "failing in both versions"
		}
		return "" // reported with the other column
	}
	var words []string
	some := make(map[string][]compare.Failure)
	for _, f := range c.Failures {
		word := where(f)
		if word != "" && some[word] == nil {
			words = append(words, word)
		}
		some[word] = append(some[word], f)
	}
	return each(words, func(word string) string { return fmt.Sprintf("%d %s (%s)", len(some[word]), word, named(some[word])) })
}

// failedRow reports whether a row has a failure, which says why it lacks figures.
func failedRow(c *compare.Comparison, r compare.Row) bool {
	return slices.ContainsFunc(c.Failures, func(f compare.Failure) bool { return f.Row == r.Name && f.Pkg == r.Pkg })
}

// isFault reports whether a row fails in a column by the fault of the new version.
func isFault(c *compare.Comparison, r compare.Row, col string) bool {
	return slices.ContainsFunc(c.Failures, func(f compare.Failure) bool {
		return f.Fault && f.Row == r.Name && f.Pkg == r.Pkg && f.Col == col
	})
}
