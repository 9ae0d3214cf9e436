package record

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Slices are what one process measured in turns with others: the time of each of
// its slices. A results file has them in a comment line below the result, which
// FORMAT.md describes.
type Slices struct {
	N      int           // operations of each slice, at least 1
	Warmup int           // slices that were done before the measured ones
	Steady bool          // their times had stopped changing by then
	GCs    int           // garbage collections during the measured slices
	Took   time.Duration // by the row in this block, with everything; 0 if it is not known

	// Whole says that the process ran nothing but these slices, one after another,
	// since the first began. Then their sum is all that the operations cost,
	// collections included.
	Whole bool

	// Rare is the part of its time that the process is likely to spend on collections
	// that come so seldom that fewer than one is due in all of these slices; 0 if
	// they are not so rare.
	Rare float64

	// Ns are the nanoseconds of each slice, one a round; Lost stands for a slice that is
	// missing. Slices with the same index, in the same block of the same row, are of the
	// same round.
	Ns []int64

	CPU []time.Duration // processor time of the process in each slice; nil if it is not known
}

// Lost is the time of a slice that is missing.
const Lost = -1

// Line is the line of a results file with s, without the newline.
func (s Slices) Line() string {
	var whole, took, rare string
	if s.Whole {
		whole = "true"
	}
	if s.Took > 0 {
		took = strconv.FormatInt(s.Took.Milliseconds(), 10)
	}
	if s.Rare > 0 {
		rare = fmt.Sprintf("%.3g", s.Rare)
	}
	ns := make([]string, len(s.Ns))
	for i, n := range s.Ns {
		ns[i] = "-"
		if n >= 0 {
			ns[i] = strconv.FormatInt(n, 10)
		}
	}
	cpu := make([]string, len(s.CPU))
	for i, d := range s.CPU {
		cpu[i] = strconv.FormatInt(d.Microseconds(), 10)
	}
	return SlicesMark + formatFields("n", strconv.Itoa(s.N), "warmup", strconv.Itoa(s.Warmup), "steady", strconv.FormatBool(s.Steady), "gcs", strconv.Itoa(s.GCs),
		"whole", whole, "row-ms", took, "rare", rare, "ns", strings.Join(ns, ","), "cpu-us", strings.Join(cpu, ","))
}

// parseSlices reads what stands behind SlicesMark.
func parseSlices(text string) (s Slices, err error) {
	defer func() {
		if err != nil {
			s, err = Slices{}, fmt.Errorf("malformed line of slices: %w", err)
		}
	}()
	fields, err := ParseFields(text)
	if err != nil {
		return s, err
	}
	number := func(key, text string, least, most int64) int64 {
		n, bad := strconv.ParseInt(text, 10, 64)
		if err == nil && (bad != nil || n < least || n > most) {
			err = fmt.Errorf("%q is no %s", text, key)
		}
		return n
	}
	count := func(key string, least int64) int {
		text, ok := fields[key]
		if !ok && least == 0 {
			return 0
		}
		return int(number(key, text, least, math.MaxInt))
	}
	duration := func(key, text string, unit time.Duration) time.Duration {
		return time.Duration(number(key, text, 0, math.MaxInt64/int64(unit))) * unit
	}
	s = Slices{
		N: count("n", 1), Warmup: count("warmup", 0), GCs: count("gcs", 0),
		Steady: fields["steady"] != "false", Whole: fields["whole"] == "true",
		Took: duration("row-ms", cmp.Or(fields["row-ms"], "0"), time.Millisecond),
	}
	rare, bad := strconv.ParseFloat(cmp.Or(fields["rare"], "0"), 64)
	if bad != nil || !(rare >= 0) || math.IsInf(rare, 1) {
		return s, fmt.Errorf("rare is %q", fields["rare"])
	}
	s.Rare = rare
	s.Ns = make([]int64, 0, 1+strings.Count(fields["ns"], ","))
	for text := range strings.SplitSeq(fields["ns"], ",") {
		ns := int64(Lost)
		if text != "-" {
			ns = number("number of nanoseconds", text, 0, math.MaxInt64)
		}
		s.Ns = append(s.Ns, ns)
	}
	if fields["cpu-us"] != "" {
		s.CPU = make([]time.Duration, 0, len(s.Ns))
		for text := range strings.SplitSeq(fields["cpu-us"], ",") {
			s.CPU = append(s.CPU, duration("number of microseconds", text, time.Microsecond))
		}
		if err == nil && len(s.CPU) != len(s.Ns) {
			err = fmt.Errorf("it has %d slices, and processor times of %d", len(s.Ns), len(s.CPU))
		}
	}
	return s, err
}
