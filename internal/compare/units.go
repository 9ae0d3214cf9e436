package compare

import (
	"slices"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/record"
)

// A dimension is what the name of a unit says of it, by the conventions of package testing
// and golang.org/x/perf/benchunit: what it is of, then what it is measured in, then after a
// slash what it is for, such as "p99-ns", "msgs/s" or "allocs/op".
type dimension struct {
	better  int     // as in Table
	speed   bool    // a time or a rate: less or more of it is faster
	seconds float64 // how many one of it is, of a time; 0 of all else
}

// secondsIn are the units of time.
var secondsIn = map[string]float64{
	"ns": 1e-9, "nsec": 1e-9, "nanosecond": 1e-9, "nanoseconds": 1e-9,
	"us": 1e-6, "µs": 1e-6, "μs": 1e-6, "usec": 1e-6, "microsecond": 1e-6, "microseconds": 1e-6,
	"ms": 1e-3, "msec": 1e-3, "millisecond": 1e-3, "milliseconds": 1e-3,
	"s": 1, "sec": 1, "secs": 1, "second": 1, "seconds": 1,
	"min": 60, "minute": 60, "minutes": 60, "h": 3600, "hour": 3600, "hours": 3600,
}

// bytesWords are the units of memory. For each operation less of it is better; a size by
// itself may be anything.
var bytesWords = []string{"B", "kB", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "byte", "bytes"}

// unitWords say which way is better: words of which fewer are better whatever they are
// counted in, words that are a cost, and words that are a rate by themselves.
var unitWords = struct{ faults, costs, rates []string }{
	faults: strings.Fields("error errors err errs fail fails failed failure failures drop drops dropped loss lost miss misses missed " +
		"timeout timeouts retry retries abort aborts conflict conflicts collision collisions fault faults leak leaks leaked stall stalls"),
	costs: strings.Fields("alloc allocs mallocs instruction instructions insns cycles gcs syscalls latency"),
	rates: strings.Fields("qps rps tps fps iops bps kbps mbps gbps flops mflops gflops throughput"),
}

// dimensionOf returns what the name of a unit says.
func dimensionOf(unit string) dimension {
	of, per, isPer := cutLast(unit, "/")
	words := strings.FieldsFunc(of, func(r rune) bool { return strings.ContainsRune("-_ */", r) })
	if len(words) == 0 {
		return dimension{}
	}
	last := words[len(words)-1]
	isRate := isPer && secondsIn[per] > 0
	seconds := secondsIn[strings.ToLower(last)]
	isIn := func(list []string) func(string) bool {
		return func(word string) bool { return slices.Contains(list, strings.ToLower(word)) }
	}
	switch {
	case slices.ContainsFunc(words, isIn(unitWords.faults)):
		return dimension{better: -1}
	case seconds > 0 && isRate:
		return dimension{} // a part of the time, of which one may want more or less
	case seconds > 0:
		return dimension{-1, true, seconds}
	case isIn(unitWords.costs)(last) && !isRate, slices.Contains(bytesWords, last) && isPer && !isRate:
		return dimension{better: -1}
	case isIn(unitWords.costs)(last):
		return dimension{} // what is faster allocates more in a second
	case isRate, isIn(unitWords.rates)(last):
		return dimension{better: 1, speed: true}
	}
	return dimension{}
}

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Seconds is how many seconds one of unit is, such as 1e-9 of "ns/op" and "p99-ns"; 0 if it
// is not one of time.
func Seconds(unit string) float64 { return dimensionOf(unit).seconds }

// IsBytes reports whether unit counts bytes one by one, such as "B/op" and "text-bytes".
func IsBytes(unit string) bool {
	of, per, isPer := cutLast(unit, "/")
	last := of[strings.LastIndexAny(of, "-_ ")+1:]
	return slices.Contains([]string{"B", "byte", "bytes"}, last) && !(isPer && secondsIn[per] > 0)
}

// betterOf returns which way a unit is better: what the files say, or if they say nothing,
// what its name does.
func betterOf(meta benchfmt.UnitMetadataMap, unit string) int {
	if said := meta.Get(unit, "better"); said != nil {
		return map[string]int{"higher": 1, "lower": -1}[said.Value]
	}
	if slices.Contains(resourceUnits, unit) {
		return -1
	}
	return dimensionOf(unit).better
}

// directionLine is what a benchmark prints to say which way the unit of t is better.
func (t *Table) directionLine() string {
	return record.UnitMark + t.Unit + " better=lower (or higher)"
}
