package workloads

import (
	"errors"
	"strconv"
	"time"

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

// checkedFunnel is what a funnel checks.
const checkedFunnel = "each sender's messages in order, none missing, none twice; their sum"

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
	*progress
	work    uint32 // rounds of filler work for each message
	window  int    // messages of a sender that may be under way; 0 is no limit
	senders []funnelSender
	sink    funnelSink
	odd     int // the sender that gets the first of the next odd messages
}

// A funnelSender is an actor.
type funnelSender struct {
	*progress
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
	deals int   // Dos, or floods of one

	heard int // the last of these that it was told to begin

	_ [64]byte // senders are worked on by different processors
}

// A funnelSink is the actor that receives.
type funnelSink struct {
	*funnel
	_    [64]byte // the senders' line is in front
	left int      // notes to come in this Do
	done uint32   // the result of the filler work
	in   []funnelInbound
	_    [64]byte
}

// funnelInbound is what the receiver knows of a sender.
type funnelInbound struct {
	inbound
	owed int // notes it has not told the sender of
}

func newFunnel(s *progress, senders, window int) *funnel {
	f := &funnel{progress: s, senders: make([]funnelSender, senders), window: window}
	f.sink.funnel = f
	f.sink.in = make([]funnelInbound, senders)
	for i := range f.senders {
		f.senders[i].progress = s
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
		s.deals++
		if f.window == 0 {
			s.free = s.quota
		}
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
		if f.window > 0 && s.free+in.owed != f.window {
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

// silentSink is the actor that receives where senders hear nothing of it: they are told
// to wait by a full mailbox, or need not wait.
type silentSink struct{ *funnelSink }

func (k silentSink) Receive(_ *actor.Context, msg any) error {
	m, ok := msg.(*note)
	if !ok {
		return errStray()
	}
	return k.take(m)
}

// moreNotes tells a sender to go on, and that as many of its notes as the
// number have arrived.
type moreNotes int

// These are made once: a conversion to any at each send would allocate.
var (
	beginNotes any = moreNotes(0)
	creditNote any = moreNotes(credit)
)

// hear books what the sender is told, and reports whether hearing it is a part of the Do.
func (s *funnelSender) hear(msg any) (part bool, err error) {
	more, ok := msg.(moreNotes)
	if !ok {
		return false, errStray()
	}
	if more > 0 {
		s.free += int(more)
		return true, nil
	}
	if s.heard == s.deals {
		return false, errors.New("workloads: a sender was told twice to begin")
	}
	s.heard = s.deals
	s.left = s.quota
	return false, nil
}

func (s *funnelSender) Receive(ctx *actor.Context, msg any) error {
	part, err := s.hear(msg)
	if err != nil {
		return err
	}
	if part {
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

func (k *funnelSink) Receive(ctx *actor.Context, msg any) error {
	m, ok := msg.(*note)
	if !ok {
		return errStray()
	}
	return k.accept(ctx, m)
}

// accept takes a note, and tells its sender when that is due.
func (k *funnelSink) accept(ctx *actor.Context, m *note) error {
	// What is owed is paid first: with the last note the Do is over.
	if k.owes(m) {
		if err := ctx.Tell(k.senders[m.from].self, creditNote); err != nil {
			return err
		}
	}
	return k.take(m)
}

// owes books that a note has come and reports whether its sender is to be told: that it hears
// of it is a part of the Do.
func (k *funnelSink) owes(m *note) bool {
	in := &k.in[m.from]
	if in.owed++; in.owed < credit {
		return false
	}
	in.owed = 0
	k.parts.Add(1)
	return true
}

// A funnelKind is a workload of a funnel.
type funnelKind struct {
	senders int

	// flood is how many messages are sent without hearing of the receiver, all of
	// which may be under way at once; there is a pause until all have come, and
	// then as many again. 0: no more than window of a sender are under way.
	flood int
}

// window is how many messages of a sender may be under way; 0 is no limit.
func (k funnelKind) window() int {
	if k.flood > 0 {
		return 0
	}
	return window
}

func (k funnelKind) onActors(st Setting) Run {
	return k.onActorsAs(st,
		func(s *funnelSender) actor.Actor { return s },
		func(sink *funnelSink) actor.Actor {
			if k.flood > 0 {
				return silentSink{sink}
			}
			return sink
		})
}

// onActorsAs is onActors with actors of other types.
func (k funnelKind) onActorsAs(st Setting, sender func(s *funnelSender) actor.Actor, receiver func(k *funnelSink) actor.Actor) Run {
	r := newActorsRun()
	r.most = k.flood
	f := newFunnel(&r.progress, k.senders, k.window())
	r.protocol = f
	r.begun = func(ctx *actor.Context) error {
		for i := range f.senders {
			s := &f.senders[i]
			// One with nothing to send could hear of this Do in the next one.
			if s.quota > 0 {
				if err := ctx.Tell(s.self, beginNotes); err != nil {
					return err
				}
			}
		}
		return nil
	}
	r.raise(st, func(s *system, ctx *actor.Context) error {
		sink, err := s.spawn(ctx, receiver(&f.sink))
		for i := 0; i < k.senders && err == nil; i++ {
			f.senders[i].sink = sink
			f.senders[i].self, err = s.spawn(ctx, sender(&f.senders[i]))
		}
		return err
	})
	return r
}

// funnelByHand is a funnel run by a reference. What brings the messages is written out for
// channels and for slices: with onChannels a message costs 6 % more, with onBoxes 4 %.
type funnelByHand struct {
	*handRun
	funnel *funnel
	start  []chan struct{} // to the senders
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

// newFunnelByHand makes the senders' goroutines, which call send in each Do.
// What lets the receiver go is end.
func newFunnelByHand(k funnelKind, work uint32, send func(s *funnelSender), end func()) *funnelByHand {
	r := &funnelByHand{handRun: newHandRun()}
	r.most = k.flood
	r.begun = func() { r.release() }
	r.funnel = newFunnel(&r.progress, k.senders, k.window())
	r.protocol = r.funnel
	r.funnel.work = work
	for i := range k.senders {
		s, start := &r.funnel.senders[i], make(chan struct{}, 1)
		r.start = append(r.start, start)
		r.launch(func() {
			for range start {
				send(s)
			}
		})
	}
	r.let = func() {
		for _, ch := range r.start {
			close(ch)
		}
		end()
	}
	return r
}

// funnelOnChannel is a funnel with one channel.
func funnelOnChannel(k funnelKind, work uint32, room int) Run {
	in := make(chan *note, room)
	r := newFunnelByHand(k, work,
		func(s *funnelSender) {
			for range s.quota {
				in <- s.pick()
			}
		},
		func() { close(in) })
	sink := &r.funnel.sink
	r.launch(func() {
		for m := range in {
			if err := sink.take(m); err != nil {
				r.fail(err) // and go on, or the senders would wait for ever
			}
		}
	})
	return r
}

// funnelOnBox is a funnel with one locked mailbox.
func funnelOnBox(k funnelKind, work uint32, room int) Run {
	in := condbox.New[*note](room)
	r := newFunnelByHand(k, work,
		func(s *funnelSender) {
			for range s.quota {
				in.Put(s.pick())
			}
		},
		in.Close)
	sink := &r.funnel.sink
	r.launch(func() {
		var batch []*note
		for {
			if batch = in.TakeAll(batch); len(batch) == 0 {
				return
			}
			for _, m := range batch {
				if err := sink.take(m); err != nil {
					r.fail(err)
				}
			}
		}
	})
	return r
}

// refs returns the references of a funnel whose queue is room long. Nothing that holds
// any number of messages can be made of channels, so in a flood their senders
// wait for room, as those of every channel do; a slice takes all that comes.
func (k funnelKind) refs(work uint32, room int) []Ref {
	slice, length := "goroutines and one slice, no longer than the channel, behind a mutex and condition variables", room
	if k.flood > 0 {
		slice, length = "goroutines and one slice of any length behind a mutex and a condition variable", 0
	}
	return []Ref{
		{refBuffered, "goroutines and one buffered channel", func(Setting) Run { return funnelOnChannel(k, work, room) }},
		{refUnbuffered, "goroutines and one unbuffered channel", func(Setting) Run { return funnelOnChannel(k, work, 0) }},
		{refMutexCond, slice, func(Setting) Run { return funnelOnBox(k, work, length) }},
	}
}

// outsideFunnel is a funnel run by an implementation whose senders are goroutines.
type outsideFunnel struct {
	*system
	senders *funnelByHand // who send to the actor
	funnel  *funnel
	sent    chan struct{} // a sender has sent its quota, or given up
	busy    int           // senders that have not said so
}

// fromOutside has goroutines send that are no actors. They hear nothing of the receiver:
// its mailbox makes them wait, or they do not.
func (k funnelKind) fromOutside(st Setting, work uint32, mailbox actor.MailboxConfig) Run {
	r := &outsideFunnel{system: new(system), sent: make(chan struct{}, k.senders)}
	var sink actor.Ref
	r.senders = newFunnelByHand(k, work,
		func(s *funnelSender) {
			for range s.quota {
				if err := sink.Tell(s.pick()); err != nil {
					r.fail(err)
					break
				}
			}
			r.sent <- struct{}{}
		},
		func() {})
	r.funnel = r.senders.funnel
	r.funnel.progress = &r.progress // not that of the senders' goroutines
	r.raise(st, func(_ *system, ctx *actor.Context) (err error) {
		sink, err = ctx.Spawn(actor.Props{
			New:     func() actor.Actor { return silentSink{&r.funnel.sink} },
			Mailbox: mailbox,
		})
		return err
	})
	return r
}

func (r *outsideFunnel) Do(n int) error {
	if err := r.err(); err != nil {
		return err
	}
	return inRoundsOf(r.senders.most, n, r.round)
}

func (r *outsideFunnel) round(n int) error {
	r.funnel.deal(n)
	r.timer.Reset(patience)
	defer r.timer.Stop()
	for r.busy = r.senders.release(); r.busy > 0; r.busy-- {
		select {
		case <-r.sent:
		case <-r.over:
			// Either the actor was faster than a sender's word that it is done,
			// or something is wrong.
			if err := r.err(); err != nil {
				return err
			}
			r.end()
			<-r.sent
		}
	}
	return r.wait()
}

func (r *outsideFunnel) Check() error {
	if err := r.senders.stop(); err != nil {
		return err
	}
	return r.finish(r.funnel.check)
}

// Close stops what Check has not.
func (r *outsideFunnel) Close() {
	r.system.Close()
	late := time.NewTimer(parting)
	defer late.Stop()
	for ; r.busy > 0; r.busy-- { // the run has failed
		select {
		case <-r.sent:
		case <-late.C:
			return // they wait in Tell for ever
		}
	}
	r.senders.Close()
	r.system.Close() // again, now that no sender runs the actors, where senders do
}
