package workloads

import (
	"errors"
	"strconv"

	"github.com/dynolab/dyno/actor"
)

// actorSuspend is what it costs that an actor does not run for a while.
func actorSuspend() []Workload { return []Workload{suspendForMessage(), suspendUntilRoom()} }

// suspendForMessage is an actor that is suspended and resumed for each message: it asks
// for it itself and says so to another one, which sends it the next message,
// waits a turn, so that a suspension that is none would be noticed, and resumes
// it. An operation is such a cycle, up to the moment at which the message that had
// waited is handled.
//
// The [Meter] learns two times: of the "cycle", from asking to be suspended to
// handling that message, and of the "resume", from asking for it to handling
// the message.
func suspendForMessage() Workload {
	return Workload{
		Name:     "suspend",
		Doc:      "an actor suspends itself, is sent a message, and resumed by another one: what a cycle costs, until that message is handled",
		Messages: 3,
		TooBig:   "its times of single cycles would have to be kept, several thousand of them",
		Timings:  napTimings,
		Prepare:  napOnActors,
		Refs: []Ref{
			{
				Name:    refBuffered,
				Doc:     "goroutines and buffered channels, one of which the suspended one waits for before it looks at its messages again",
				Prepare: func(st Setting) Run { return napOnChannels(st, 1) },
			},
			{
				Name:    refUnbuffered,
				Doc:     "the same, with unbuffered channels but for the messages",
				Prepare: func(st Setting) Run { return napOnChannels(st, 0) },
			},
		},
	}
}

// suspendUntilRoom is backpressure without a goroutine that waits: an actor with
// something to send to a full mailbox suspends itself until there is room. That of
// the receiver is for one message, so an operation is a message, and a cycle. A
// message that is sent before there is room would be refused.
//
// The [Meter] learns the time of the "cycle", from asking for the suspension to the
// moment at which the sender goes on. There is no telling from outside when there
// was room: as soon as the receiver has taken the message, which may be before it
// handles it.
func suspendUntilRoom() Workload {
	return Workload{
		Name:     "suspend",
		Variant:  "until=room",
		Doc:      "an actor sends to a mailbox with room for one message and is suspended until there is room: backpressure without waiting",
		Messages: 2,
		TooBig:   "its times of single cycles would have to be kept, several thousand of them",
		Timings:  napTimings[:1],
		Prepare:  roomOnActors,
		Refs: []Ref{
			{
				Name:    refBuffered,
				Doc:     "goroutines, a buffered channel of messages and one of word that there is room",
				Prepare: func(st Setting) Run { return roomOnChannels(st, 1) },
			},
			{
				Name:    refUnbuffered,
				Doc:     "the same with unbuffered channels",
				Prepare: func(st Setting) Run { return roomOnChannels(st, 0) },
			},
		},
	}
}

// napTimings are the times of a cycle.
var napTimings = []string{napCycle: "cycle", napResume: "resume"}

const (
	napCycle = iota
	napResume
)

// A call is a message to whom is suspended. In all of these types seq is the
// number of the operation. There are messages of each for two operations or
// more, used in turn, so that one that comes again is told from the next one.
type call struct{ seq int64 }

// A yawn says that its sender is being suspended.
type yawn struct{ seq int64 }

// A nudge is a message to oneself.
type nudge struct{ seq int64 }

// naps is what runs of suspendForMessage in all ways have in common. It is used by one at a
// time: whoever sends a message or resumes hands it over.
type naps struct {
	*score
	meter Meter

	calls  [2]call
	yawns  [2]yawn
	nudges [2]nudge

	last    int64 // the operation that ends the Do
	sent    int64 // the last call that was sent; operations count from 1
	handled int64 // the last call that was handled
	asleep  bool  // the sleeper has asked to be suspended since then
	yawned  bool  // the waker has been told of that
	resumed int64 // the last operation that a resume was asked for in

	// In nanoseconds, by the Meter's clock.
	begun int64 // when the suspension was asked for
	ended int64 // when its end was
}

func newNaps(s *score, st Setting) *naps { return &naps{score: s, meter: st.Meter} }

// now returns the time, if there is a clock.
func now(m Meter) int64 {
	if m == nil {
		return 0
	}
	return m.Now()
}

func (p *naps) deal(n int) {
	p.begin(n, 1)
	p.last += int64(n)
}

// errTurn says that something came out of turn.
func errTurn(what string, seq, last int64) error {
	return errors.New("workloads: " + what + " of operation " + strconv.FormatInt(seq, 10) + " came out of turn, or again: the last one was " + strconv.FormatInt(last, 10))
}

// lie books that the sleeper is going to be suspended, and returns what it is
// to tell the waker.
func (p *naps) lie() (*yawn, error) {
	if p.asleep {
		return nil, errors.New("workloads: an actor was told to begin that had begun")
	}
	p.asleep = true
	p.begun = now(p.meter)
	y := &p.yawns[p.handled&1]
	y.seq = p.handled
	return y, nil
}

// hear books a yawn, and returns the call to make.
func (p *naps) hear(y *yawn) (*call, error) {
	if p.yawned || y.seq != p.sent {
		return nil, errTurn("word of the suspension", y.seq, p.sent)
	}
	p.yawned = true
	p.sent++
	c := &p.calls[p.sent&1]
	c.seq = p.sent
	return c, nil
}

// nudge returns what the waker tells itself then.
func (p *naps) nudge() *nudge {
	m := &p.nudges[p.sent&1]
	m.seq = p.sent
	return m
}

// resume books that the sleeper is going to be resumed.
func (p *naps) resume(m *nudge) error {
	if !p.yawned || m.seq != p.sent || p.resumed == p.sent {
		return errTurn("the waker's message to itself", m.seq, p.sent)
	}
	p.yawned = false
	p.resumed = p.sent
	p.ended = now(p.meter)
	return nil
}

// wake books a call to the sleeper.
func (p *naps) wake(c *call) error {
	if c.seq != p.handled+1 {
		return errTurn("the message", c.seq, p.handled)
	}
	if !p.asleep || p.resumed != c.seq {
		return errors.New("workloads: message " + strconv.FormatInt(c.seq, 10) + " was handled by an actor that was to be suspended")
	}
	p.handled++
	p.asleep = false
	if p.meter != nil {
		now := p.meter.Now()
		p.meter.Timing(napCycle, now-p.begun)
		p.meter.Timing(napResume, now-p.ended)
	}
	return nil
}

func (p *naps) check() error {
	if err := countCheck(p.last, p.sent); err != nil {
		return err
	}
	return countCheck(p.last, p.handled)
}

// napsCheck compares the system's own count with what was asked for.
func napsCheck(sys *actor.System, asked int64) error {
	if st := sys.Stats(); st.Suspends != uint64(asked) || st.Resumes != uint64(asked) {
		return errors.New("workloads: the system counted " + strconv.FormatUint(st.Suspends, 10) + " suspensions and " +
			strconv.FormatUint(st.Resumes, 10) + " ends of them in " + strconv.FormatInt(asked, 10) + " operations")
	}
	return nil
}

// napRun is suspendForMessage run by an implementation.
type napRun struct {
	*stage
	naps           *naps
	waker, sleeper actor.Ref
}

func napOnActors(st Setting) Run {
	r := new(napRun)
	r.stage = newStage(st, func(s *stage, ctx *actor.Context) (err error) {
		r.naps = newNaps(&s.score, st)
		if r.sleeper, err = s.spawn(ctx, sleeper{r}); err != nil {
			return err
		}
		r.waker, err = ctx.Spawn(actor.Props{
			New: func() actor.Actor { return waker{r} },
			// It lets the other have a turn before it handles its own message.
			Throughput: 1,
		})
		return err
	})
	return r
}

func (r *napRun) Do(n int) error {
	if err := r.err(); err != nil {
		return err
	}
	r.naps.deal(n)
	return r.play(func(ctx *actor.Context) error { return ctx.Tell(r.sleeper, nil) })
}

func (r *napRun) Check() error {
	if err := r.stop(); err != nil {
		return err
	}
	if err := napsCheck(r.sys, r.naps.last); err != nil {
		return err
	}
	return r.naps.check()
}

// A sleeper is the actor that is suspended.
type sleeper struct{ *napRun }

// Receive implements [actor.Actor].
func (a sleeper) Receive(ctx *actor.Context, msg any) error {
	p := a.naps
	if msg != nil {
		c, ok := msg.(*call)
		if !ok {
			return errStray()
		}
		if err := p.wake(c); err != nil {
			return err
		}
		if p.handled == p.last {
			p.part()
			return nil
		}
	}
	y, err := p.lie()
	if err != nil {
		return err
	}
	ctx.Suspend(actor.Suspension{Reason: "it is to be resumed"})
	return ctx.Tell(a.waker, y)
}

// A waker is the actor that resumes the other.
type waker struct{ *napRun }

// Receive implements [actor.Actor].
func (a waker) Receive(ctx *actor.Context, msg any) error {
	p := a.naps
	switch m := msg.(type) {
	case *yawn:
		c, err := p.hear(m)
		if err != nil {
			return err
		}
		if err := ctx.Tell(a.sleeper, c); err != nil {
			return err
		}
		return ctx.Tell(ctx.Self(), p.nudge())
	case *nudge:
		if err := p.resume(m); err != nil {
			return err
		}
		ctx.Resume(a.sleeper)
		return nil
	}
	return errStray()
}

// napByHand is suspendForMessage run by a reference.
type napByHand struct {
	*crew
	naps   *naps
	begins chan struct{}
}

// napOnChannels has a goroutine each. The suspended one waits at a channel of its own.
func napOnChannels(st Setting, room int) Run {
	r := &napByHand{crew: new(crew), begins: make(chan struct{}, 1)}
	r.init()
	p := newNaps(&r.score, st)
	r.naps = p
	in := make(chan *call, 1) // a mailbox: the message waits there
	yawns, resumes := make(chan *yawn, room), make(chan struct{}, room)
	r.launch(func() {
		defer close(yawns)
		for range r.begins {
			for p.handled < p.last {
				y, err := p.lie()
				if err == nil {
					yawns <- y
					<-resumes
					err = p.wake(<-in)
				}
				if err != nil {
					r.fail(err)
					return
				}
			}
			p.part()
		}
	})
	r.launch(func() {
		for y := range yawns {
			c, err := p.hear(y)
			if err == nil {
				in <- c
				err = p.resume(p.nudge())
			}
			if err != nil {
				r.fail(err)
				return
			}
			resumes <- struct{}{}
		}
	})
	r.let = func() { close(r.begins) }
	return r
}

func (r *napByHand) Do(n int) error {
	r.naps.deal(n)
	r.begins <- struct{}{}
	return r.wait()
}

func (r *napByHand) Check() error {
	if err := r.stop(); err != nil {
		return err
	}
	return r.naps.check()
}

// push is what runs of suspendUntilRoom in all ways have in common.
type push struct {
	*score
	meter Meter
	last  int64 // the operation that ends the Do

	// The sender's.
	calls  [4]call // one is being handled, one waits, and one is sent
	nudges [2]nudge
	sent   int64
	asleep bool
	begun  int64 // when the suspension was asked for, in nanoseconds

	_ [64]byte

	handled int64 // the receiver's
}

func newPush(s *score, st Setting) *push { return &push{score: s, meter: st.Meter} }

func (p *push) deal(n int) {
	p.begin(n, 2) // the sender's end and the receiver's
	p.last += int64(n)
}

// next returns the next message, if there is one to send in this Do, and what the
// sender, which is going to be suspended, tells itself.
func (p *push) next() (*call, *nudge) {
	if p.sent == p.last {
		p.part()
		return nil, nil
	}
	p.asleep = true
	p.begun = now(p.meter)
	p.sent++
	c, m := &p.calls[p.sent&3], &p.nudges[p.sent&1]
	c.seq, m.seq = p.sent, p.sent
	return c, m
}

// goOn books that the sender is no longer suspended.
func (p *push) goOn(m *nudge) error {
	if !p.asleep || m.seq != p.sent {
		return errTurn("the sender's message to itself", m.seq, p.sent)
	}
	p.asleep = false
	if p.meter != nil {
		p.meter.Timing(napCycle, p.meter.Now()-p.begun)
	}
	return nil
}

// take books a message at the receiver.
func (p *push) take(c *call) error {
	if c.seq != p.handled+1 {
		return errTurn("the message", c.seq, p.handled)
	}
	if p.handled++; p.handled == p.last {
		p.part()
	}
	return nil
}

func (p *push) check() error {
	if err := countCheck(p.last, p.sent); err != nil {
		return err
	}
	return countCheck(p.last, p.handled)
}

// pushRun is suspendUntilRoom run by an implementation.
type pushRun struct {
	*stage
	push             *push
	sender, receiver actor.Ref
}

func roomOnActors(st Setting) Run {
	r := new(pushRun)
	r.stage = newStage(st, func(s *stage, ctx *actor.Context) (err error) {
		r.push = newPush(&s.score, st)
		r.receiver, err = ctx.Spawn(actor.Props{
			New: func() actor.Actor { return pushReceiver{r} },
			// What is sent before there is room comes back, and fails the run.
			Mailbox: actor.MailboxConfig{Capacity: 1, Policy: actor.DropNewest},
		})
		if err != nil {
			return err
		}
		r.sender, err = s.spawn(ctx, pushSender{r})
		return err
	})
	return r
}

func (r *pushRun) Do(n int) error {
	if err := r.err(); err != nil {
		return err
	}
	r.push.deal(n)
	return r.play(func(ctx *actor.Context) error { return ctx.Tell(r.sender, nil) })
}

func (r *pushRun) Check() error {
	if err := r.stop(); err != nil {
		return err
	}
	if err := napsCheck(r.sys, r.push.last); err != nil {
		return err
	}
	return r.push.check()
}

// A pushSender is the actor that sends when there is room.
type pushSender struct{ *pushRun }

// Receive implements [actor.Actor].
func (a pushSender) Receive(ctx *actor.Context, msg any) error {
	p := a.push
	if msg != nil {
		m, ok := msg.(*nudge)
		if !ok {
			return errStray()
		}
		if err := p.goOn(m); err != nil {
			return err
		}
	} else if p.asleep || p.sent == p.last {
		return errors.New("workloads: the sender was told twice to begin")
	}
	c, m := p.next()
	if c == nil {
		return nil
	}
	ctx.Suspend(actor.Suspension{Reason: "it waits for room", Capacity: a.receiver})
	if err := ctx.Tell(a.receiver, c); err != nil {
		return err
	}
	return ctx.Tell(ctx.Self(), m)
}

// A pushReceiver is the actor that is sent to.
type pushReceiver struct{ *pushRun }

// Receive implements [actor.Actor].
func (a pushReceiver) Receive(_ *actor.Context, msg any) error {
	c, ok := msg.(*call)
	if !ok {
		return errStray()
	}
	return a.push.take(c)
}

// pushByHand is suspendUntilRoom run by a reference.
type pushByHand struct {
	*crew
	push   *push
	begins chan struct{}
}

// roomOnChannels has a goroutine each, and a channel that says that there is room.
func roomOnChannels(st Setting, room int) Run {
	r := &pushByHand{crew: new(crew), begins: make(chan struct{}, 1)}
	r.init()
	p := newPush(&r.score, st)
	r.push = p
	in, taken := make(chan *call, room), make(chan struct{}, room)
	r.launch(func() {
		defer close(in)
		for range r.begins {
			for c, m := p.next(); c != nil; c, m = p.next() {
				in <- c
				<-taken
				if err := p.goOn(m); err != nil {
					r.fail(err)
					return
				}
			}
		}
	})
	r.launch(func() {
		for c := range in {
			taken <- struct{}{}
			if err := p.take(c); err != nil {
				r.fail(err)
			}
		}
	})
	r.let = func() { close(r.begins) }
	return r
}

func (r *pushByHand) Do(n int) error {
	r.push.deal(n)
	r.begins <- struct{}{}
	return r.wait()
}

func (r *pushByHand) Check() error {
	if err := r.stop(); err != nil {
		return err
	}
	return r.push.check()
}
