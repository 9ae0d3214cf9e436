package lab

import (
	"fmt"
	"strconv"
	"strings"
)

// Slices are what one process measured in turns with others: the time of each of
// its slices. A results file has them in a comment line below the result.
type Slices struct {
	N int // operations of each slice, at least 1

	// Warmup is how many slices were done before the measured ones, and Steady
	// whether their times had stopped changing by then.
	Warmup int
	Steady bool

	GCs int // garbage collections during the measured slices

	// Ns are the nanoseconds of each slice, one a round, in the order of the
	// rounds; Lost stands for a slice that is missing. Slices with the same index,
	// in the same block of the same row, are of the same round.
	Ns []int64
}

// Lost is the time of a slice that is missing.
const Lost = -1

// slicesMark begins the line of Slices.
const slicesMark = "# slices: "

// line is the line of a results file with s, without the newline; ParseSlices
// reads it.
func (s Slices) line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%sn=%d warmup=%d steady=%t gcs=%d ns=", slicesMark, s.N, s.Warmup, s.Steady, s.GCs)
	for i, ns := range s.Ns {
		if i > 0 {
			b.WriteByte(',')
		}
		if ns < 0 {
			b.WriteByte('-')
		} else {
			b.WriteString(strconv.FormatInt(ns, 10))
		}
	}
	return b.String()
}

// ParseSlices reads a line "# slices: n=… warmup=… steady=… gcs=… ns=…,…". ok is
// false for any other line. Only n and ns must be there; unknown keys are
// ignored.
func ParseSlices(line string) (s Slices, ok bool, err error) {
	rest, ok := strings.CutPrefix(line, slicesMark)
	if !ok {
		return s, false, nil
	}
	fail := func(format string, args ...any) (Slices, bool, error) {
		return Slices{}, false, fmt.Errorf("malformed line of slices: "+format, args...)
	}
	fields, err := ParseFields(rest)
	if err != nil {
		return fail("%w", err)
	}
	count := func(key string, least int) (n int, ok bool) {
		text, there := fields[key]
		if !there {
			return 0, least == 0
		}
		n, err := strconv.Atoi(text)
		return n, err == nil && n >= least
	}
	var good [3]bool
	s.N, good[0] = count("n", 1)
	s.Warmup, good[1] = count("warmup", 0)
	s.GCs, good[2] = count("gcs", 0)
	s.Steady = fields["steady"] != "false"
	for i, key := range []string{"n", "warmup", "gcs"} {
		if !good[i] {
			return fail("%s is %q", key, fields[key])
		}
	}
	if fields["ns"] == "" {
		return fail("it has no times")
	}
	for text := range strings.SplitSeq(fields["ns"], ",") {
		ns := int64(Lost)
		if text != "-" {
			if ns, err = strconv.ParseInt(text, 10, 64); err != nil || ns < 0 {
				return fail("%q is no number of nanoseconds", text)
			}
		}
		s.Ns = append(s.Ns, ns)
	}
	return s, true, nil
}
