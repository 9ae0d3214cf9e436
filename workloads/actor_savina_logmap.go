package workloads

import (
	"errors"
	"strconv"
)

const (
	logmapSeries = 10
	logmapWindow = 16 // terms that the master has asked a series for
)

// savinaLogmap is the logistic map, x' = r·x·(1 − x). A series does not compute itself: it asks
// its computer for the next term, and puts off what else it is asked until the answer is there, in
// a queue of its own and not a stash. Terms are whole numbers, the same on every machine.
func savinaLogmap() []Workload {
	return savina(Workload{
		Name:     "logmap",
		Doc:      "after Savina: a master asks 10 series for terms, each of which asks a computer for one at a time and puts off the rest meanwhile: synchronous requests",
		Op:       "a term, of four messages",
		Messages: 4,
		Checked:  "requests to a series in order, each once; one at a time at each computer; the last term of each series",
	}, func(s *progress) savinaProgram[*term] { return newLogmap(s) })
}

// A term is the message: of the master to a series, on to its computer, back, and to the master.
type term struct {
	from   int // who has sent it
	series int
	step   int8 // which of the four messages it is
	turn   int  // which of those of its series it is
	left   int  // how often the master is to send it in this Do
	x      uint32
}

type logmapOf struct {
	asking  bool    // the computer
	waiting []*term // put off
	x       uint32
	came    int // requests
	terms   int
	_       [64]byte
}

// logmap is node 0, the master; series i is node 1+2i, and its computer node 2+2i.
type logmap struct {
	rota   // the messages
	all    [logmapSeries * logmapWindow]term
	series [logmapSeries]logmapOf

	sent, back [logmapSeries]int // the master's: to and from each series
}

func newLogmap(s *progress) *logmap {
	l := new(logmap)
	l.rota = newRota(s, len(l.all), func(at, ops int) { l.all[at].left = ops })
	for i := range l.all {
		l.all[i].series = i % logmapSeries
	}
	for i := range l.series {
		l.series[i].x = logmapBegin
	}
	return l
}

func (l *logmap) size() int { return 1 + 2*logmapSeries }

func (l *logmap) start(send func(to int, t *term) error) error { return send(0, nil) }

// logmapBegin is the first term. Terms are multiples of 2^-32, since whole numbers are the same
// everywhere.
const logmapBegin = 1 << 31 / 100

// logmapNext returns the term of a series that follows x. Rates are Savina's: 3.46 and 0.0025
// more for each series, as multiples of 2^-16.
func logmapNext(series int, x uint32) uint32 {
	rate := uint64(34_600+25*series) << 16 / 10_000
	return uint32((uint64(x) * uint64(^x) >> 32) * rate >> 16)
}

// dispatch has the master ask for a term.
func (l *logmap) dispatch(t *term, send carrier[*term]) {
	t.from, t.step, t.turn = 0, 0, l.sent[t.series]
	l.sent[t.series]++
	send(1+2*t.series, t)
}

func (l *logmap) handle(at int, t *term, send carrier[*term]) error {
	if t == nil {
		if err := l.told(at); err != nil {
			return err
		}
		return l.each(func(at int) error {
			l.dispatch(&l.all[at], send)
			return nil
		})
	}
	s, node := &l.series[t.series], 1+2*t.series
	from, step := t.from, t.step
	t.from = at
	t.step++
	switch {
	case step == 0 && at == node && from == 0 && t.turn == s.came:
		s.came++
		s.waiting = append(s.waiting, t)
		s.ask(node, send)
	case step == 1 && at == node+1 && from == node:
		t.x = logmapNext(t.series, t.x)
		send(node, t)
	case step == 2 && at == node && from == node+1 && s.asking:
		s.asking = false
		s.x = t.x
		s.terms++
		send(0, t)
		s.ask(node, send)
	case step == 3 && at == 0 && from == node && t.turn == l.back[t.series] && t.left > 0:
		l.back[t.series]++
		if t.left--; t.left == 0 {
			l.part()
			return nil
		}
		l.dispatch(t, send)
	default:
		return errors.New("workloads: a term came twice, out of order or to another actor")
	}
	return nil
}

// ask sends what has waited longest to the computer, if it has nothing to do.
func (s *logmapOf) ask(node int, send carrier[*term]) {
	if s.asking || len(s.waiting) == 0 {
		return
	}
	s.asking = true
	t := shift(&s.waiting)
	t.x = s.x
	t.from = node
	send(node+1, t)
}

func (l *logmap) check() error {
	var terms [logmapSeries]int
	for i, n := range l.asked {
		terms[l.all[i].series] += n
	}
	for i := range l.series {
		x := uint32(logmapBegin)
		for range terms[i] {
			x = logmapNext(i, x)
		}
		if s := &l.series[i]; s.terms != terms[i] || s.x != x {
			return errors.New("workloads: series " + strconv.Itoa(i) + " has " + strconv.Itoa(s.terms) + " terms instead of " + strconv.Itoa(terms[i]) + ", or others")
		}
	}
	return nil
}
