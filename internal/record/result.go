package record

import (
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"
)

// ParseResult reads a benchmark line, and reports whether it is one.
func ParseResult(line string) (*benchfmt.Result, bool) {
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

// ConfigOf is r.GetConfig(key), which makes a map of all the configuration of each result first.
func ConfigOf(r *benchfmt.Result, key string) string {
	for i := range r.Config {
		if r.Config[i].Key == key {
			return string(r.Config[i].Value)
		}
	}
	return ""
}

// Written returns the unit of v as it stands in the file.
func Written(v benchfmt.Value) string {
	if v.OrigUnit != "" {
		return v.OrigUnit
	}
	return v.Unit
}

// InUnit returns v's value in unit, a written form of v's tidy unit.
func InUnit(v benchfmt.Value, unit string) float64 {
	if v.OrigUnit == unit {
		return v.OrigValue
	}
	factor, _ := benchunit.Tidy(1, unit)
	return v.Value / factor
}

// Tidied returns v in its tidy unit. benchfmt leaves out the step for values that scaling
// does not change, and would give 0 ns/op a unit of its own.
func Tidied(v benchfmt.Value) benchfmt.Value {
	if v.OrigUnit == "" {
		if val, unit := benchunit.Tidy(v.Value, v.Unit); unit != v.Unit {
			return benchfmt.Value{Value: val, Unit: unit, OrigValue: v.Value, OrigUnit: v.Unit}
		}
	}
	return v
}

// NoOperations is why a result of no operations is none.
const NoOperations = "panicked, and package testing ended the process before that was said"

// Shortened quotes s, or the beginning of it.
func Shortened(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		return strconv.Quote(string(r[:most]) + "…")
	}
	return strconv.Quote(s)
}
