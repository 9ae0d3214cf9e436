package workloads

import (
	"errors"
	"strconv"
)

const (
	dictWorkers = 20
	dictKeys    = 512
	dictWrites  = 10 // of a hundred requests
	listSums    = 1  // of a hundred requests to a list
)

// savinaConcDict is a server that all others wait for. A write adds to what is there, so that the
// end does not depend on the order, and what a worker reads of a key never falls: Savina checks
// nothing.
func savinaConcDict() []Workload {
	return savina(Workload{
		Name:     "concdict",
		Doc:      "after Savina: 20 workers ask one server to read a dictionary, and with a tenth of the requests to write: a server that all others wait for",
		Op:       "a request with its reply",
		Messages: 2,
		Checked:  "each request is served once, each reply is that to the last request; what a worker reads of a key never falls; the dictionary in the end",
	}, func(s *progress) savinaProgram[*lookup] { return newDict(s, 0, new(dictTable)) })
}

// savinaConcSLL is the same with a sorted linked list, which the server walks for each request. All
// keys are in it to begin with; Savina's grows with each write.
func savinaConcSLL() []Workload {
	return savina(Workload{
		Name:     "concsll",
		Doc:      "after Savina: 20 workers ask one server to search a sorted list, a tenth of the time to write, a hundredth to add it up: concdict with a server that works longer",
		Op:       "a request with its reply",
		Messages: 2,
		Checked:  "each request is served once, each reply is that to the last request; what a worker reads of a key never falls, nor does the sum; the list in the end",
	}, func(s *progress) savinaProgram[*lookup] { return newDict(s, listSums, newDictList()) })
}

// A dictStore is what the server keeps: a value for each key.
type dictStore interface {
	at(key int) *int64
	sum() int64
}

type dictTable [dictKeys]int64

func (t *dictTable) at(key int) *int64 { return &t[key] }

func (t *dictTable) sum() (sum int64) {
	for _, v := range t {
		sum += v
	}
	return sum
}

// A dictList is a list in the order of keys, whose elements do not lie so in memory.
type dictList struct{ first *dictElement }

type dictElement struct {
	key   int
	value int64
	next  *dictElement
}

func newDictList() *dictList {
	const stride = 199 // has no factor in common with dictKeys, which is a power of two
	elements := make([]dictElement, dictKeys)
	place := func(key int) *dictElement { return &elements[key*stride%dictKeys] }
	for key := range dictKeys {
		place(key).key = key
		if key > 0 {
			place(key - 1).next = place(key)
		}
	}
	return &dictList{place(0)}
}

func (l *dictList) at(key int) *int64 {
	e := l.first
	for e.key < key {
		e = e.next
	}
	return &e.value
}

func (l *dictList) sum() (sum int64) {
	for e := l.first; e != nil; e = e.next {
		sum += e.value
	}
	return sum
}

// A lookup is a worker, and the message that it and the server send each other.
type lookup struct {
	home   int                 // its number
	rnd    splitMix            // its seed is the worker's number
	left   int                 // requests of this Do
	key    int                 // dictKeys asks for the sum of all
	add    int64               // 0 is a read
	value  int64               // what the key has then
	atWork bool                // it is the server's
	seen   [dictKeys + 1]int64 // the value of each key, and the sum
	_      [64]byte
}

// dict is the server's, node 0; worker i is node i+1.
type dict struct {
	rota    // the workers
	workers [dictWorkers]lookup
	sums    int // of a hundred requests

	values dictStore // the server's
	served int64     // the server's
}

func newDict(s *progress, sums int, values dictStore) *dict {
	d := &dict{sums: sums, values: values}
	d.rota = newRota(s, dictWorkers, func(at, ops int) { d.workers[at].left = ops })
	for i := range d.workers {
		d.workers[i].home, d.workers[i].rnd = i, splitMix(i)
	}
	return d
}

func (d *dict) size() int { return dictWorkers + 1 }

// draw draws the next request, of which so many of a hundred are for sums.
func (w *lookup) draw(sums int) {
	w.key, w.add = w.rnd.below(dictKeys), 0
	switch kind := w.rnd.below(100); {
	case kind < dictWrites:
		w.add = 1 + int64(w.rnd.below(1000))
	case kind < dictWrites+sums:
		w.key = dictKeys
	}
	w.atWork = true
}

func (d *dict) start(send func(to int, w *lookup) error) error {
	return d.each(func(at int) error {
		w := &d.workers[at]
		w.draw(d.sums)
		return send(0, w)
	})
}

func (d *dict) handle(at int, w *lookup, send carrier[*lookup]) error {
	switch {
	case at == 0 && w.atWork:
		d.served++
		w.value, w.atWork = d.serve(w), false
		send(w.home+1, w)
		return nil
	case at != w.home+1 || w.atWork || w.left == 0:
		return errors.New("workloads: a request or a reply came twice, or to another worker")
	case w.value < w.seen[w.key]+w.add:
		return errors.New("workloads: a worker has read less than was there before")
	}
	w.seen[w.key] = w.value
	if w.left--; w.left == 0 {
		d.part()
		return nil
	}
	w.draw(d.sums)
	send(0, w)
	return nil
}

// serve does what a worker asks for, and returns what is there then.
func (d *dict) serve(w *lookup) int64 {
	if w.key == dictKeys {
		return d.values.sum()
	}
	v := d.values.at(w.key)
	*v += w.add
	return *v
}

// check makes the same requests again.
func (d *dict) check() error {
	var (
		want   [dictKeys + 1]int64 // the last is of no key
		served int64
	)
	for i, n := range d.asked {
		w := lookup{rnd: splitMix(i)}
		for range n {
			w.draw(d.sums)
			want[w.key] += w.add
			served++
		}
	}
	if err := countCheck(served, d.served); err != nil {
		return err
	}
	for key := range dictKeys {
		if got := *d.values.at(key); got != want[key] {
			return errors.New("workloads: key " + strconv.Itoa(key) + " has " + strconv.FormatInt(got, 10) + " instead of " + strconv.FormatInt(want[key], 10))
		}
	}
	return nil
}
