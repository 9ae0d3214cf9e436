package targets

import (
	"regexp"
	"slices"
	"strings"
)

// Pattern is the pattern, as go test -bench has it, of the benchmarks that the required
// targets of hosts need, or all: for each workload the implementations of which something
// is promised, and the references that are the base of that.
func Pattern(all bool) string {
	type workload struct{ bench, path string }
	var order []workload
	impls := make(map[workload][]string) // patterns
	need := func(bench, path string, names ...string) {
		w := workload{bench, path}
		if impls[w] == nil {
			order = append(order, w)
		}
		for _, n := range names {
			if !slices.Contains(impls[w], n) {
				impls[w] = append(impls[w], n)
			}
		}
	}
	for _, t := range All() {
		if t.Where&Host == 0 || !t.Required && !all {
			continue
		}
		// Every one: a name that does not begin with ref-. There is no way to
		// say so but letter by letter.
		names := []string{"[^r]", "r[^e]", "re[^f]", "ref[^-]"}
		if t.Impls != nil {
			names = nil
			for _, impl := range t.Impls {
				names = append(names, regexp.QuoteMeta(impl)+"$")
			}
		}
		if t.Base != "" {
			names = append(names, regexp.QuoteMeta(t.Base)+"$")
		}
		need(t.Bench, t.Workload, names...)
		if t.BaseWorkload != "" {
			need(t.Bench, t.BaseWorkload, names...)
		}
	}
	var patterns []string
	for _, w := range order {
		elems := []string{"^Benchmark" + w.bench + "$"}
		for e := range strings.SplitSeq("workload="+w.path, "/") {
			elems = append(elems, "^"+regexp.QuoteMeta(e)+"$")
		}
		elems = append(elems, "^impl=("+strings.Join(impls[w], "|")+")")
		patterns = append(patterns, strings.Join(elems, "/"))
	}
	return strings.Join(patterns, "|")
}
