package workloads

import (
	"errors"
	"strconv"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/workloads/internal/condbox"
)

const (
	// notes is how many different messages a sender has. They are never
	// written to, so that it does not matter how many wait somewhere, and sent
	// one after the other, round and round. The number is prime, so that a
	// queue that overwrites itself does not replace a message by one that
	// looks the same.
	notes = 1021

	// window is how many messages of a sender may be on their way. Actors have
	// no other bound; references have queues of this length.
	window = 1024

	// credit is how many messages the receiver lets a sender know of at a time
	// that they have arrived. These messages come on top of the operations.
	credit = 256
)

// note is a message of many.
type note struct {
	from  int32
	index int32
	value uint32
}

// newNotes makes the notes of a sender.
func newNotes(from int) []note {
	table := make([]note, notes)
	for i := range table {
		table[i] = note{int32(from), int32(i), fill(uint32(from*notes+i), 2)}
	}
	return table
}

// inbound is what a receiver knows of one sender.
type inbound struct {
	next  int32 // the index of its next note
	count int64
	sum   uint64
}

// take books a note. A note that is missing, comes twice or comes too early
// is not the next one.
func (in *inbound) take(m *note) error {
	if m.index != in.next {
		return errors.New("workloads: message " + strconv.Itoa(int(m.index)) + " of sender " + strconv.Itoa(int(m.from)) +
			" came instead of message " + strconv.Itoa(int(in.next)))
	}
	if in.next++; in.next == notes {
		in.next = 0
	}
	in.count++
	in.sum += uint64(m.value)
	return nil
}

// check compares what has come with the first count notes of table, round and
// round.
func (in *inbound) check(table []note, count int64) error {
	if in.count != count {
		return errors.New("workloads: " + strconv.FormatInt(in.count, 10) + " messages of sender " + strconv.Itoa(int(table[0].from)) +
			" came instead of " + strconv.FormatInt(count, 10))
	}
	var whole, part uint64
	for i := range table {
		whole += uint64(table[i].value)
		if int64(i) < count%notes {
			part += uint64(table[i].value)
		}
	}
	if in.sum != uint64(count/notes)*whole+part {
		return errors.New("workloads: the messages of sender " + strconv.Itoa(int(table[0].from)) + " were not what it sent")
	}
	return nil
}

// funnel is a job that three workloads have in common: senders send to one
// receiver as fast as they can. An operation is a message.
type funnel struct {
	*score
	work    uint32 // rounds of filler work for each message
	senders []funnelSender
	sink    funnelSink
	odd     int // the sender that gets the first of the next odd messages
}

// A funnelSender is an actor.
type funnelSender struct {
	*score
	table []note
	next  int // index of the next note
	left  int // notes to send
	free  int // notes it may send before it hears of the receiver
	self  actor.Ref
	sink  actor.Ref

	// Written between two Dos. That the receiver has a note does not mean that
	// its sender has gone to sleep, so left is the sender's alone.
	quota int   // notes to send in this Do
	sent  int64 // and in all

	_ [64]byte // senders are worked on by different processors
}

// A funnelSink is the actor that receives.
type funnelSink struct {
	*funnel
	_    [64]byte // the senders' line is in front
	left int      // notes to come in this Do
	done uint32   // what the filler work has come to
	in   []funnelInbound
	_    [64]byte
}

// funnelInbound is what the receiver knows of a sender.
type funnelInbound struct {
	inbound
	owed int // notes it has not told the sender of
}

func newFunnel(s *score, senders int) *funnel {
	f := &funnel{score: s, senders: make([]funnelSender, senders)}
	f.sink.funnel = f
	f.sink.in = make([]funnelInbound, senders)
	for i := range f.senders {
		f.senders[i].score = s
		f.senders[i].table = newNotes(i)
		f.senders[i].free = window
	}
	return f
}

// deal gives the senders n notes to send.
func (f *funnel) deal(n int) {
	f.begin(n, 1)
	k := len(f.senders)
	for i := range k {
		s := &f.senders[(f.odd+i)%k]
		s.quota = share(n, i, k)
		s.sent += int64(s.quota)
	}
	f.odd = (f.odd + n) % k
	f.sink.left = n
}

func (f *funnel) check() error {
	for i := range f.senders {
		s, in := &f.senders[i], &f.sink.in[i]
		if err := in.check(s.table, s.sent); err != nil {
			return err
		}
		if s.free+in.owed != window {
			return errCredit
		}
	}
	return nil
}

// errCredit is what is wrong when a sender has heard of more or fewer messages
// than it was told of.
var errCredit = errors.New("workloads: a message with which a receiver told its sender what has arrived was lost, doubled or sent to another")

// pick returns the next note to send.
func (s *funnelSender) pick() *note {
	m := &s.table[s.next]
	if s.next++; s.next == notes {
		s.next = 0
	}
	return m
}

// take books a note, and the end of the Do.
func (k *funnelSink) take(m *note) error {
	if err := k.in[m.from].take(m); err != nil {
		return err
	}
	if k.work > 0 {
		k.done = fill(k.done^m.value, k.work)
	}
	if k.left--; k.left == 0 {
		k.part()
	}
	return nil
}

// moreNotes tells a sender to go on, and that as many of its notes as the
// number have arrived.
type moreNotes int

// These are made once: a conversion to any at each send would allocate.
var (
	beginNotes any = moreNotes(0)
	creditNote any = moreNotes(credit)
)

// Receive implements [actor.Actor].
func (s *funnelSender) Receive(ctx *actor.Context, msg any) error {
	more, ok := msg.(moreNotes)
	if !ok {
		return errStray()
	}
	if more == 0 {
		s.left = s.quota
	} else {
		s.free += int(more)
		defer s.part()
	}
	for s.left > 0 && s.free > 0 {
		s.left--
		s.free--
		if err := ctx.Tell(s.sink, s.pick()); err != nil {
			return err
		}
	}
	return nil
}

// Receive implements [actor.Actor].
func (k *funnelSink) Receive(ctx *actor.Context, msg any) error {
	m, ok := msg.(*note)
	if !ok {
		return errStray()
	}
	// What is owed is paid first: with the last note the Do is over.
	in := &k.in[m.from]
	if in.owed++; in.owed == credit {
		in.owed = 0
		k.parts.Add(1) // that the sender hears of it is a part of the Do
		if err := ctx.Tell(k.senders[m.from].self, creditNote); err != nil {
			return err
		}
	}
	return k.take(m)
}

// funnelOfActors is a funnel run by an implementation.
type funnelOfActors struct {
	*stage
	funnel *funnel
}

func funnelOnActors(st Setting, senders int) Run {
	r := new(funnelOfActors)
	r.stage = newStage(st, func(s *stage, ctx *actor.Context) error {
		f := newFunnel(&s.score, senders)
		r.funnel = f
		sink, err := s.spawn(ctx, &f.sink)
		for i := 0; i < senders && err == nil; i++ {
			f.senders[i].sink = sink
			f.senders[i].self, err = s.spawn(ctx, &f.senders[i])
		}
		return err
	})
	r.begun = r.release
	return r
}

func (r *funnelOfActors) Do(n int) error {
	if err := r.err(); err != nil {
		return err
	}
	r.funnel.deal(n)
	return r.play(r.begun)
}

// release lets the senders send.
func (r *funnelOfActors) release(ctx *actor.Context) error {
	for i := range r.funnel.senders {
		s := &r.funnel.senders[i]
		// One with nothing to send could hear of this Do in the next one.
		if s.quota > 0 {
			if err := ctx.Tell(s.self, beginNotes); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *funnelOfActors) Check() error {
	if err := r.stop(); err != nil {
		return err
	}
	return r.funnel.check()
}

// funnelByHand is a funnel run by a reference.
type funnelByHand struct {
	*crew
	funnel *funnel
	start  []chan struct{} // to the senders
}

func (r *funnelByHand) Do(n int) error {
	r.funnel.deal(n)
	r.release()
	return r.wait()
}

// release lets the senders send that have anything to send, and returns how
// many those are.
func (r *funnelByHand) release() int {
	senders := 0
	for i, ch := range r.start {
		// One with nothing to send could hear of this Do in the next one.
		if r.funnel.senders[i].quota > 0 {
			ch <- struct{}{}
			senders++
		}
	}
	return senders
}

func (r *funnelByHand) Check() error {
	if err := r.stop(); err != nil {
		return err
	}
	return r.funnel.check()
}

// newFunnelByHand makes the senders' goroutines, which call send in each Do.
// What lets the receiver go is end.
func newFunnelByHand(senders int, work uint32, send func(s *funnelSender), end func()) *funnelByHand {
	c := new(crew)
	c.init()
	r := &funnelByHand{crew: c, funnel: newFunnel(&c.score, senders)}
	r.funnel.work = work
	for i := range senders {
		s, start := &r.funnel.senders[i], make(chan struct{}, 1)
		r.start = append(r.start, start)
		c.launch(func() {
			for range start {
				send(s)
			}
		})
	}
	c.let = func() {
		for _, ch := range r.start {
			close(ch)
		}
		end()
	}
	return r
}

// funnelOnChannel is a funnel with one channel.
func funnelOnChannel(senders int, work uint32, room int) Run {
	in := make(chan *note, room)
	r := newFunnelByHand(senders, work,
		func(s *funnelSender) {
			for range s.quota {
				in <- s.pick()
			}
		},
		func() { close(in) })
	k := &r.funnel.sink
	r.launch(func() {
		for m := range in {
			if err := k.take(m); err != nil {
				r.fail(err) // and go on, or the senders would wait for ever
			}
		}
	})
	return r
}

// funnelOnBox is a funnel with one locked mailbox.
func funnelOnBox(senders int, work uint32, room int) Run {
	in := condbox.New[*note](room)
	r := newFunnelByHand(senders, work,
		func(s *funnelSender) {
			for range s.quota {
				in.Put(s.pick())
			}
		},
		in.Close)
	k := &r.funnel.sink
	r.launch(func() {
		var batch []*note
		for {
			if batch = in.TakeAll(batch); len(batch) == 0 {
				return
			}
			for _, m := range batch {
				if err := k.take(m); err != nil {
					r.fail(err)
				}
			}
		}
	})
	return r
}

// funnelRefs returns the references of a funnel whose queue is room long.
func funnelRefs(senders int, work uint32, room int) []ActorRef {
	return []ActorRef{
		{
			Name:    refBuffered,
			Doc:     "goroutines and one buffered channel",
			Prepare: func(Setting) Run { return funnelOnChannel(senders, work, room) },
		},
		{
			Name:    refUnbuffered,
			Doc:     "goroutines and one unbuffered channel",
			Prepare: func(Setting) Run { return funnelOnChannel(senders, work, 0) },
		},
		{
			Name:    refMutexCond,
			Doc:     "goroutines and one slice, no longer than the channel, behind a mutex and condition variables",
			Prepare: func(Setting) Run { return funnelOnBox(senders, work, room) },
		},
	}
}
