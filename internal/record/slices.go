package record

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
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

	// Took is how long the row took in this block by the clock on the wall, with
	// everything: starting its processes, warming them up, all their slices. 0 if
	// that is not known.
	Took time.Duration

	// Whole says that the process ran nothing but these slices, one after another,
	// since the first began: it stood still in between, and no collection was forced.
	// Then their sum is all that the operations cost, collections included. Files of
	// before 2026-11-22 do not say so, and have most collections outside.
	Whole bool

	// Rare is the part of its time that the process is likely to spend on collections
	// that come so seldom that fewer than one is due in all of these slices; 0 if
	// they are not so rare.
	Rare float64

	// Ns are the nanoseconds of each slice, one a round, in the order of the
	// rounds; Lost stands for a slice that is missing. Slices with the same index,
	// in the same block of the same row, are of the same round.
	Ns []int64

	// CPU is the processor time of the process in each slice; nil if it is not known.
	CPU []time.Duration
}

// Lost is the time of a slice that is missing.
const Lost = -1

// Line is the line of a results file with s, without the newline; ParseSlices
// reads it.
func (s Slices) Line() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%sn=%d warmup=%d steady=%t gcs=%d", SlicesMark, s.N, s.Warmup, s.Steady, s.GCs)
	if s.Whole {
		b.WriteString(" whole=true")
	}
	if s.Took > 0 {
		fmt.Fprintf(&b, " row-ms=%d", s.Took.Milliseconds())
	}
	if s.Rare > 0 {
		fmt.Fprintf(&b, " rare=%.3g", s.Rare)
	}
	for i, ns := range s.Ns {
		b.WriteString(separator(i, " ns="))
		if ns < 0 {
			b.WriteByte('-')
		} else {
			b.WriteString(strconv.FormatInt(ns, 10))
		}
	}
	for i, d := range s.CPU {
		b.WriteString(separator(i, " cpu-us="))
		b.WriteString(strconv.FormatInt(d.Microseconds(), 10))
	}
	return b.String()
}

// separator is what stands before element i of a list that key begins.
func separator(i int, key string) string {
	if i == 0 {
		return key
	}
	return ","
}

// ParseSlices reads a line "# slices: n=… warmup=… steady=… gcs=… row-ms=… whole=… rare=… ns=…,…
// cpu-us=…,…". ok is false for any other line. Only n and ns must be there; unknown
// keys are ignored.
func ParseSlices(line string) (s Slices, ok bool, err error) {
	rest, ok := strings.CutPrefix(line, SlicesMark)
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
	s.Steady, s.Whole = fields["steady"] != "false", fields["whole"] == "true"
	for i, key := range []string{"n", "warmup", "gcs"} {
		if !good[i] {
			return fail("%s is %q", key, fields[key])
		}
	}
	if text := fields["row-ms"]; text != "" {
		if s.Took, ok = readTime(text, time.Millisecond); !ok {
			return fail("row-ms is %q", text)
		}
	}
	if text := fields["rare"]; text != "" {
		if s.Rare, err = strconv.ParseFloat(text, 64); err != nil || !(s.Rare >= 0) || math.IsInf(s.Rare, 1) {
			return fail("rare is %q", text)
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
	if fields["cpu-us"] == "" {
		return s, true, nil
	}
	for text := range strings.SplitSeq(fields["cpu-us"], ",") {
		cpu, ok := readTime(text, time.Microsecond)
		if !ok {
			return fail("%q is no number of microseconds", text)
		}
		s.CPU = append(s.CPU, cpu)
	}
	if len(s.CPU) != len(s.Ns) {
		return fail("it has %d slices, and processor times of %d", len(s.Ns), len(s.CPU))
	}
	return s, true, nil
}

// readTime reads so many times unit; ok is false for a number that is no such time.
func readTime(text string, unit time.Duration) (d time.Duration, ok bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return time.Duration(n) * unit, err == nil && n >= 0 && n <= math.MaxInt64/int64(unit)
}
