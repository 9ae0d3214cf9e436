package workloads

import (
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/workloads/internal/condbox"
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
// must give work away, or nobody else has any.
func actorFanOut() []Workload {
	return []Workload{{
		Name:    "fanout",
		Doc:     "one actor sends to 1,000 others in turn: how fast one can put others to work",
		TooBig:  "1,000 actors, with 64 messages under way to each",
		Prepare: fanOutOnActors,
		Refs: []Ref{
			{
				Name:    refBuffered,
				Doc:     "a goroutine and a channel of 64 each",
				Prepare: func(Setting) Run { return fanOutOnChannels(fanOutRoom) },
			},
			{
				Name:    refUnbuffered,
				Doc:     "a goroutine and an unbuffered channel each",
				Prepare: func(Setting) Run { return fanOutOnChannels(0) },
			},
			{
				Name:    refMutexCond,
				Doc:     "a goroutine each and a slice of at most 64 behind a mutex and condition variables",
				Prepare: func(Setting) Run { return fanOutOnBoxes() },
			},
		},
	}}
}

// fanOut is what runs in all ways have in common. Everybody gets the same
// messages, each of which goes to all receivers before the next one does.
type fanOut struct {
	*score
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

func newFanOut(s *score) *fanOut {
	f := &fanOut{
		score:     s,
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

// Receive implements [actor.Actor].
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

// Receive implements [actor.Actor].
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

// fanOutRun is FanOut run by an implementation.
type fanOutRun struct {
	*stage
	fan *fanOut
}

func fanOutOnActors(st Setting) Run {
	r := new(fanOutRun)
	r.stage = newStage(st, func(s *stage, ctx *actor.Context) error {
		f := newFanOut(&s.score)
		r.fan = f
		var err error
		f.self, err = s.spawn(ctx, fanOutSender{f})
		for i := 0; i < fanOutReceivers && err == nil; i++ {
			f.receivers[i].self, err = s.spawn(ctx, &f.receivers[i])
		}
		return err
	})
	return r
}

func (r *fanOutRun) Do(n int) error {
	if err := r.err(); err != nil {
		return err
	}
	r.fan.deal(n)
	return r.play(func(ctx *actor.Context) error { return ctx.Tell(r.fan.self, beginNotes) })
}

func (r *fanOutRun) Check() error {
	if err := r.stop(); err != nil {
		return err
	}
	return r.fan.check()
}

// fanOutByHand is FanOut run by a reference, whose sender is the caller of Do.
type fanOutByHand struct {
	*crew
	fan *fanOut
}

func newFanOutByHand() *fanOutByHand {
	r := &fanOutByHand{crew: new(crew)}
	r.init()
	r.fan = newFanOut(&r.score)
	return r
}

func (r *fanOutByHand) Check() error {
	if err := r.stop(); err != nil {
		return err
	}
	return r.fan.check()
}

// fanOutChannels is FanOut on channels.
type fanOutChannels struct {
	*fanOutByHand
	in []chan *note
}

func fanOutOnChannels(room int) Run {
	r := fanOutChannels{newFanOutByHand(), make([]chan *note, fanOutReceivers)}
	for i := range r.in {
		r.in[i] = make(chan *note, room)
		to, own := &r.fan.receivers[i], r.in[i]
		r.launch(func() {
			for m := range own {
				if err := to.take(m); err != nil {
					r.fail(err)
				}
			}
		})
	}
	r.let = func() {
		for _, ch := range r.in {
			close(ch)
		}
	}
	return r
}

func (r fanOutChannels) Do(n int) error {
	r.fan.deal(n)
	for range n {
		m, to := r.fan.pick()
		r.in[to] <- m
	}
	return r.wait()
}

// fanOutBoxes is FanOut on locked mailboxes.
type fanOutBoxes struct {
	*fanOutByHand
	in []*condbox.Box[*note]
}

func fanOutOnBoxes() Run {
	r := fanOutBoxes{newFanOutByHand(), make([]*condbox.Box[*note], fanOutReceivers)}
	for i := range r.in {
		r.in[i] = condbox.New[*note](fanOutRoom)
		to, own := &r.fan.receivers[i], r.in[i]
		r.launch(func() {
			var batch []*note
			for {
				if batch = own.TakeAll(batch); len(batch) == 0 {
					return
				}
				for _, m := range batch {
					if err := to.take(m); err != nil {
						r.fail(err)
					}
				}
			}
		})
	}
	r.let = func() {
		for _, b := range r.in {
			b.Close()
		}
	}
	return r
}

func (r fanOutBoxes) Do(n int) error {
	r.fan.deal(n)
	for range n {
		m, to := r.fan.pick()
		r.in[to].Put(m)
	}
	return r.wait()
}
