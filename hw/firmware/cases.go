package firmware

import (
	"iter"
	"strconv"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/measure"
)

// Case is something that a board can be asked to run.
type Case struct {
	// Part and Name are the case's full name: "bench" and
	// "Actor/workload=pingpong/impl=serial", "conform" and "group/go-nil-task". There is
	// no space in them. They are apart so that a long list of cases needs no
	// memory for names.
	Part, Name string

	// Ops is how many operations a benchmark does; 0 for what is none.
	Ops int

	// Skip, if not nil, says why the case cannot be run on this board; "" if it can.
	Skip func(b *Board) string

	// Run runs the case. An error is why it has failed. What it reports it gives
	// to r, before it returns.
	Run func(r *Report) error
}

// Cases are the cases of a part of the firmware, one after the other. They are made
// when they are asked for: a board has no memory for all of them at once.
type Cases = iter.Seq[Case]

// is reports whether name is the full name of c.
func (c *Case) is(name string) bool {
	p := len(c.Part)
	return len(name) == p+1+len(c.Name) && name[:p] == c.Part && name[p] == '/' && name[p+1:] == c.Name
}

// Report is where a case reports, and what it runs on. It must not be used by
// several goroutines, nor when Run has returned.
type Report struct {
	Board *Board
	Impl  dyno.Impl

	m *monitor
}

// Result reports a figure, under the name of a benchmark: a line that begins with
// "result", after lines that begin with "unit" and say which way its metrics are better.
// Call it when everything has been checked.
func (r *Report) Result(name string, f measure.Figure) {
	m := r.m
	f.Each(r.Board.Clock, func(metric measure.Metric) {
		if metric.Better != measure.Lower && metric.Better != measure.Higher {
			return
		}
		m.begin(line.UnitPrefix)
		m.text = metric.AppendUnit(m.text)
		m.send()
	})
	m.begin(line.ResultPrefix)
	m.text = f.AppendLine(m.text, name, r.Board.Clock)
	m.send()
}

// Note reports something for people, made of parts: strings, errors, integers,
// floats, booleans.
func (r *Report) Note(parts ...any) {
	r.m.begin("note ")
	for _, p := range parts {
		r.m.text = appendPart(r.m.text, p)
	}
	r.m.send()
}

// appendPart appends v as text, without package fmt, which takes 47 KB of flash.
func appendPart(dst []byte, v any) []byte {
	switch v := v.(type) {
	case string:
		return append(dst, v...)
	case int:
		return strconv.AppendInt(dst, int64(v), 10)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case uint64:
		return strconv.AppendUint(dst, v, 10)
	case float64:
		return measure.AppendValue(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case error:
		return append(dst, v.Error()...)
	case interface{ String() string }:
		return append(dst, v.String()...)
	case nil:
		return append(dst, "nil"...)
	}
	return append(dst, "(a value that is neither error, string nor number)"...)
}
