package workloads

import (
	"github.com/dynolab/dyno/actor"
)

const (
	fanOutReceivers = 1000

	// fanOutRoom is how many messages may wait for a receiver. Actors have no
	// other bound than the sum over all receivers; references have queues of
	// this length.
	fanOutRoom = 64

	// fanOutCredit is how many messages a receiver lets the sender know of at a
	// time. These messages come on top of the operations.
	fanOutCredit = 32
)

// actorFanOut is one actor that sends to a thousand, in turn: the sender's processor
// must give work away, or no other has any.
func actorFanOut() []Workload {
	return []Workload{{
		Name:    "fanout",
		Doc:     "one actor sends to 1,000 others in turn: how fast one can put others to work",
		Checked: "each receiver's messages in order, none missing, none twice; their sum",
		TooBig:  "1,000 actors, with 64 messages under way to each",
		Prepare: fanOutOnActors,
		Refs: []Ref{
			{refBuffered, "a goroutine and a channel of 64 each", func(Setting) Run { return fanOutByHand(channelsOf[*note](fanOutRoom)) }},
			{refUnbuffered, "a goroutine and an unbuffered channel each", func(Setting) Run { return fanOutByHand(channelsOf[*note](0)) }},
			{
				Name:    refMutexCond,
				Doc:     "a goroutine each and a slice of at most 64 behind a mutex and condition variables",
				Prepare: func(Setting) Run { return fanOutByHand(boxesOf[*note](fanOutRoom)) },
			},
		},
	}}
}

// fanOut is what runs in all ways have in common. All receivers get the same
// messages, each of which goes to all receivers before the next one does.
type fanOut struct {
	*progress
	table     []note
	receivers []fanOutReceiver

	// The sender's.
	next int // index of the next note
	to   int // who gets it next
	left int // messages to send
	free int // messages it may send before it hears of the receivers
	owed int // receivers' messages of fanOutCredit that it has heard of, modulo their number
	self actor.Ref

	// Written between two Dos, while the sender may still handle a receipt.
	quota int // messages to send in this Do
}

// A fanOutReceiver is an actor.
type fanOutReceiver struct {
	inbound
	fan  *fanOut
	sent int64 // what is sent to it by the end of this Do
	owed int   // messages it has not told the sender of
	self actor.Ref
	_    [8]byte
}

func newFanOut(s *progress) *fanOut {
	f := &fanOut{
		progress:  s,
		table:     newNotes(0),
		receivers: make([]fanOutReceiver, fanOutReceivers),
		free:      fanOutReceivers * fanOutRoom,
	}
	for i := range f.receivers {
		f.receivers[i].fan = f
	}
	return f
}

// deal prepares n messages.
func (f *fanOut) deal(n int) {
	f.begin(n, min(n, fanOutReceivers))
	f.quota = n
	for i := range f.receivers {
		f.receivers[(f.to+i)%fanOutReceivers].sent += int64(share(n, i, fanOutReceivers))
	}
}

// pick returns the next message and who gets it.
func (f *fanOut) pick() (*note, int) {
	m, to := &f.table[f.next], f.to
	if f.to++; f.to == fanOutReceivers {
		f.to = 0
		if f.next++; f.next == notes {
			f.next = 0
		}
	}
	return m, to
}

// take books a message, and the receiver's end of the Do.
func (r *fanOutReceiver) take(m *note) error {
	if err := r.inbound.take(m); err != nil {
		return err
	}
	if r.count == r.sent {
		r.fan.part()
	}
	return nil
}

func (f *fanOut) check() error {
	free := f.free + f.owed*fanOutCredit
	for i := range f.receivers {
		r := &f.receivers[i]
		if err := r.check(f.table, r.sent); err != nil {
			return err
		}
		free += r.owed
	}
	if free != fanOutReceivers*fanOutRoom {
		return errCredit
	}
	return nil
}

func (r *fanOutReceiver) Receive(ctx *actor.Context, msg any) error {
	m, ok := msg.(*note)
	if !ok {
		return errStray()
	}
	// What is owed is paid first: with the last message the Do is over.
	if r.owed++; r.owed == fanOutCredit {
		r.owed = 0
		r.fan.parts.Add(1) // that the sender hears of it is a part of the Do
		if err := ctx.Tell(r.fan.self, creditNote); err != nil {
			return err
		}
	}
	return r.take(m)
}

// fanOutSender is the actor that sends.
type fanOutSender struct{ *fanOut }

func (f fanOutSender) Receive(ctx *actor.Context, msg any) error {
	more, ok := msg.(moreNotes)
	if !ok {
		return errStray()
	}
	if more > 0 {
		defer f.part()
		// Not every receipt is worth a burst of sends: one from each is.
		if f.owed++; f.owed < fanOutReceivers {
			return nil
		}
		f.owed = 0
		f.free += fanOutReceivers * fanOutCredit
	} else {
		f.left = f.quota
	}
	for f.left > 0 && f.free > 0 {
		f.left--
		f.free--
		m, to := f.pick()
		if err := ctx.Tell(f.receivers[to].self, m); err != nil {
			return err
		}
	}
	return nil
}

func fanOutOnActors(st Setting) Run {
	r := newActorsRun()
	f := newFanOut(&r.progress)
	r.protocol = f
	r.begun = func(ctx *actor.Context) error { return ctx.Tell(f.self, beginNotes) }
	r.raise(st, func(s *system, ctx *actor.Context) (err error) {
		f.self, err = s.spawn(ctx, fanOutSender{f})
		for i := 0; i < fanOutReceivers && err == nil; i++ {
			f.receivers[i].self, err = s.spawn(ctx, &f.receivers[i])
		}
		return err
	})
	return r
}

// fanOutByHand runs fanOut by a reference, whose sender is the caller of Do.
func fanOutByHand(carry carrying[*note]) Run {
	r := newHandRun()
	f := newFanOut(&r.progress)
	r.protocol = f
	send := carry(r.goroutines, fanOutReceivers, func(at int, m *note) error { return f.receivers[at].take(m) })
	r.begun = func() {
		for range f.quota {
			m, to := f.pick()
			send(to, m)
		}
	}
	return r
}
