package workloads

import (
	"errors"
	"strconv"
)

const (
	dictWorkers = 20
	dictKeys    = 512
	dictWrites  = 10 // of a hundred requests
)

// savinaConcDict is one server with a dictionary, and workers that read and write it. A write
// adds to what is there, so that the end does not depend on the order, and what a worker reads
// of a key never falls: Savina checks nothing.
func savinaConcDict() []Workload {
	return savina(Workload{
		Name:     "concdict",
		Doc:      "after Savina: 20 workers ask one server to read a dictionary, and with a tenth of the requests to write: a server that all others wait for",
		Op:       "a request with its reply",
		Messages: 2,
		Checked:  "each request is served once, each reply is that to the last request; what a worker reads of a key never falls; the dictionary in the end",
	}, func(s *progress) savinaProgram[*lookup] { return newDict(s) })
}

// A lookup is a worker, and the message that it and the server send each other.
type lookup struct {
	home   int      // its number
	rnd    splitMix // its seed is the worker's number
	left   int      // requests of this Do
	key    int
	add    int64 // 0 is a read
	value  int64 // what the key has then
	atWork bool  // it is the server's
	seen   [dictKeys]int64
	_      [64]byte
}

// dict is the server's, node 0; worker i is node i+1.
type dict struct {
	*progress
	workers [dictWorkers]lookup
	done    [dictWorkers]int
	asking  rota // the workers

	values [dictKeys]int64 // the server's
	served int64           // the server's
}

func newDict(s *progress) *dict {
	d := &dict{progress: s, asking: rota{of: dictWorkers}}
	for i := range d.workers {
		d.workers[i].home, d.workers[i].rnd = i, splitMix(i)
	}
	return d
}

func (d *dict) size() int { return dictWorkers + 1 }

// draw draws the next request.
func (w *lookup) draw() {
	w.key, w.add = w.rnd.below(dictKeys), 0
	if w.rnd.below(100) < dictWrites {
		w.add = 1 + int64(w.rnd.below(1000))
	}
	w.atWork = true
}

func (d *dict) deal(n int) {
	d.asking.deal(d.progress, n, func(at, ops int) {
		d.workers[at].left = ops
		d.done[at] += ops
	})
}

func (d *dict) start(send func(to int, w *lookup) error) error {
	return d.asking.each(func(at int) error {
		w := &d.workers[at]
		w.draw()
		return send(0, w)
	})
}

func (d *dict) handle(at int, w *lookup, send carrier[*lookup]) error {
	switch {
	case at == 0 && w.atWork:
		d.served++
		d.values[w.key] += w.add
		w.value, w.atWork = d.values[w.key], false
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
	w.draw()
	send(0, w)
	return nil
}

// check makes the same requests again.
func (d *dict) check() error {
	var (
		want   [dictKeys]int64
		served int64
	)
	for i, n := range d.done {
		w := lookup{rnd: splitMix(i)}
		for range n {
			w.draw()
			want[w.key] += w.add
			served++
		}
	}
	if err := countCheck(served, d.served); err != nil {
		return err
	}
	for key := range want {
		if d.values[key] != want[key] {
			return errors.New("workloads: key " + strconv.Itoa(key) + " has " + strconv.FormatInt(d.values[key], 10) + " instead of " + strconv.FormatInt(want[key], 10))
		}
	}
	return nil
}
