package measure

import (
	"runtime"
	"strconv"

	"github.com/dynolab/dyno/internal/decimal"
)

// Run is a prepared workload; those of package workloads are such. Its methods are
// not called concurrently.
type Run interface {
	// Do performs n operations. It may be called again, unless it has returned an
	// error, which says what was wrong with a result.
	Do(n int) error

	// Check says after the last Do whether every result is accounted for.
	Check() error
}

// Metric is a value that is worth knowing beside the time.
type Metric struct {
	Value  float64
	Unit   string // as benchmark lines have it: "backlog", "B/actor"
	Better Better // which way a value in this unit is better; the same for all of a unit
}

// Better is a direction: which values are better. The zero value is not one: a metric that
// has none was forgotten.
type Better uint8

// The directions.
const (
	Lower   Better = 1 + iota
	Higher         // more is better
	Neither        // it explains other metrics, such as how much work an operation is
)

// AppendUnit appends to dst what readers have to know of the metric's unit, as a Unit
// line of Go's benchmark format without its first word: "p50-ns better=lower". It appends
// nothing if neither direction is better.
func (m Metric) AppendUnit(dst []byte) []byte {
	switch m.Better {
	case Lower:
		return append(append(dst, m.Unit...), " better=lower"...)
	case Higher:
		return append(append(dst, m.Unit...), " better=higher"...)
	}
	return dst
}

// Figure is what was measured.
type Figure struct {
	Ops    int
	Ticks  int64  // of Do, without the look at the clock
	Memory Memory // allocated in Do

	// Overhead is what was subtracted for the look at the clock, in ticks.
	Overhead int64

	// Extra are further metrics. They stand in the line in this order.
	Extra []Metric
}

// Measure measures n operations of run, after as many that are not measured, and
// checks the run, which cannot be used afterwards. The error is that of Do or
// Check, and then there is no figure. It panics if n is less than 1.
func Measure(run Run, n int, c Clock) (Figure, error) {
	if n < 1 {
		panic("measure: fewer than one operation")
	}
	if err := run.Do(n); err != nil {
		return Figure{}, err
	}
	return Cold(run, n, c)
}

// Cold is Measure without the first, unmeasured time: for what is to be measured when
// it happens first, and for workloads that are done at fixed times.
func Cold(run Run, n int, c Clock) (Figure, error) {
	if n < 1 {
		panic("measure: fewer than one operation")
	}
	f := Figure{Ops: n, Overhead: Overhead(c)}
	runtime.GC() // of what came before
	f.Memory.Begin()
	begun := c.Now()
	err := run.Do(n)
	ended := c.Now()
	f.Memory.End()
	if err == nil {
		err = run.Check()
	}
	if err != nil {
		return Figure{}, err
	}
	f.Ticks = max(0, ended-begun-f.Overhead)
	return f, nil
}

// Add appends metrics to f.Extra.
func (f *Figure) Add(m ...Metric) { f.Extra = append(f.Extra, m...) }

// Each calls do with each metric in the order of the figure's line: the time, bytes and
// objects of an operation, and those in Extra.
func (f *Figure) Each(c Clock, do func(Metric)) {
	n := max(f.Ops, 1)
	time := Nanoseconds + "/op"
	if c.Unit() == Instructions {
		time = Instructions + "/op"
	}
	do(Metric{Amount(c, float64(f.Ticks)) / float64(n), time, Lower})
	do(Metric{float64(f.Memory.Bytes / uint64(n)), "B/op", Lower})
	do(Metric{float64(f.Memory.Objects / uint64(n)), "allocs/op", Lower})
	for _, m := range f.Extra {
		do(m)
	}
}

// AppendLine appends the figure to dst as a line of Go's benchmark format, without a
// line feed:
//
//	BenchmarkActor/workload=ring/impl=serial 1000 312.041 insns/op 0 B/op 0 allocs/op 0 allocs/msg
//
// name is the benchmark's, with or without "Benchmark" in front. Time is in ns/op or
// insns/op, by the clock's unit. B/op and allocs/op are rounded down to whole
// numbers, as package testing does it, so that they can be compared with what it
// prints; what must not be rounded is in Extra. Numbers are written as testing writes
// them, with four digits at least, but instructions to the thousandth: of up to a
// thousand operations that is exact.
func (f *Figure) AppendLine(dst []byte, name string, c Clock) []byte {
	const prefix = "Benchmark"
	if len(name) < len(prefix) || name[:len(prefix)] != prefix {
		dst = append(dst, prefix...)
	}
	dst = append(dst, name...)
	dst = strconv.AppendInt(append(dst, ' '), int64(max(f.Ops, 1)), 10)
	f.Each(c, func(m Metric) {
		dst = append(dst, ' ')
		switch m.Unit {
		case Instructions + "/op":
			dst = decimal.AppendShort(dst, m.Value, 3)
		case "B/op", "allocs/op":
			dst = strconv.AppendUint(dst, uint64(m.Value), 10)
		default:
			dst = AppendValue(dst, m.Value)
		}
		dst = append(append(dst, ' '), m.Unit...)
	})
	return dst
}

// AppendValue appends v to dst as package testing prints the values of benchmarks,
// but for the spaces in front: whole numbers from 1,000 on, four digits of smaller
// ones, and never more than seven behind the point.
func AppendValue(dst []byte, v float64) []byte {
	return decimal.Append(dst, v, decimals(v))
}

// decimals returns how many digits testing prints behind the point.
func decimals(v float64) int {
	if v < 0 {
		v = -v
	}
	if v == 0 {
		return 0
	}
	// The limits are where the number before would be rounded up to one digit more.
	for i, limit := range [...]float64{999.95, 99.995, 9.9995, 0.99995, 0.099995, 0.0099995, 0.00099995} {
		if v >= limit {
			return i
		}
	}
	return 7
}
