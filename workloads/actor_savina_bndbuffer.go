package workloads

import (
	"errors"
	"strconv"
)

const (
	bufferRoom = 50
	bufferEnds = 40 // producers, and as many consumers
	bufferWork = 25 // rounds of the filler function, of the producer and of the consumer
)

// savinaBndBuffer is a bounded buffer. Its places are the messages: the buffer sends an empty one
// to a producer, so that no more items are under way than it has room for, consumption included.
// Work is the filler function, and not Savina's random numbers.
func savinaBndBuffer() []Workload {
	return savina(Workload{
		Name:     "bndbuffer",
		Doc:      "after Savina: a buffer of 50 places between 40 producers and 40 consumers, which work on each item: back pressure by an actor",
		Op:       "an item, of four messages",
		Messages: 4,
		Checked:  "each place takes its way through producer, buffer and consumer, step by step; each producer makes as many items as it should; what consumers have made of them",
	}, func(s *progress) savinaProgram[*place] { return newBuffer(s) })
}

// A place of the buffer is the message: empty to a producer, with an item back, on to a
// consumer, and back empty.
type place struct {
	from     int // who has sent it
	producer int
	consumer int
	step     int8 // which of the four messages it is
	value    uint32
}

// A bufferEnd is a producer or a consumer.
type bufferEnd struct {
	left  int    // items of this Do, of a producer
	items int    // in all
	sum   uint64 // of what a consumer has made of them
	_     [40]byte
}

// buffer is node 0; producer i is node 1+i, consumer i is node 1+bufferEnds+i.
type buffer struct {
	rota      // the producers
	places    [bufferRoom]place
	producers [bufferEnds]bufferEnd
	consumers [bufferEnds]bufferEnd

	// The buffer's.
	free   []*place // empty
	filled []*place // in the order in which they came
	ready  []int    // producers with items left to make
	idle   []int    // consumers
	due    int      // items of this Do that have not been consumed
}

func newBuffer(s *progress) *buffer {
	b := new(buffer)
	b.rota = newRota(s, bufferEnds, func(at, ops int) { b.producers[at].left = ops })
	for i := range b.places {
		b.free = append(b.free, &b.places[i])
	}
	for i := range bufferEnds {
		b.idle = append(b.idle, i)
	}
	return b
}

func (b *buffer) size() int { return 1 + 2*bufferEnds }

func (b *buffer) deal(n int) {
	b.rota.deal(n)
	b.due = n
	b.parts.Store(1) // it is over with the last item, of whichever producer
}

func (b *buffer) start(send func(to int, p *place) error) error { return send(0, nil) }

func (b *buffer) handle(at int, p *place, send carrier[*place]) error {
	if p == nil {
		if err := b.told(at); err != nil {
			return err
		}
		_ = b.each(func(at int) error {
			b.ready = append(b.ready, at)
			return nil
		})
		b.match(send)
		return nil
	}
	step := p.step
	p.step++
	switch {
	case step == 0 && at == 1+p.producer:
		e := &b.producers[p.producer]
		p.value = fill(item(p.producer, e.items), bufferWork)
		e.items++
		p.from = at
		send(0, p)
	case step == 1 && at == 0 && p.from == 1+p.producer:
		b.filled = append(b.filled, p)
		if b.producers[p.producer].left > 0 {
			b.ready = append(b.ready, p.producer)
		}
		b.match(send)
	case step == 2 && at == 1+bufferEnds+p.consumer:
		e := &b.consumers[p.consumer]
		e.items++
		e.sum += uint64(fill(p.value, bufferWork))
		p.from = at
		send(0, p)
	case step == 3 && at == 0 && p.from == 1+bufferEnds+p.consumer:
		b.free = append(b.free, p)
		b.idle = append(b.idle, p.consumer)
		b.match(send)
		if b.due--; b.due == 0 {
			b.part()
		}
	default:
		return errors.New("workloads: an item came twice, out of order or to another actor")
	}
	return nil
}

// item is the k-th item of a producer.
func item(producer, k int) uint32 { return uint32(producer)<<24 ^ uint32(k) }

// match sends what can be sent: empty places to producers, filled ones to consumers.
func (b *buffer) match(send carrier[*place]) {
	for len(b.filled) > 0 && len(b.idle) > 0 {
		p := shift(&b.filled)
		p.from, p.consumer = 0, shift(&b.idle)
		send(1+bufferEnds+p.consumer, p)
	}
	for len(b.free) > 0 && len(b.ready) > 0 {
		p := shift(&b.free)
		p.from, p.producer, p.step = 0, shift(&b.ready), 0
		b.producers[p.producer].left--
		send(1+p.producer, p)
	}
}

// shift takes the first element out of a short queue.
func shift[T any](queue *[]T) T {
	q := *queue
	first := q[0]
	copy(q, q[1:])
	*queue = q[:len(q)-1]
	return first
}

func (b *buffer) check() error {
	var (
		want uint64
		got  uint64
	)
	for i, n := range b.asked {
		if b.producers[i].items != n {
			return errors.New("workloads: producer " + strconv.Itoa(i) + " has made " + strconv.Itoa(b.producers[i].items) + " items instead of " + strconv.Itoa(n))
		}
		for k := range n {
			want += uint64(fill(item(i, k), 2*bufferWork))
		}
	}
	for i := range b.consumers {
		got += b.consumers[i].sum
	}
	if got != want || len(b.free) != bufferRoom || len(b.idle) != bufferEnds {
		return errors.New("workloads: consumers have had other items than were made, or a place is missing")
	}
	return nil
}
