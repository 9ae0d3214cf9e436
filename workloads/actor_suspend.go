package workloads

import (
	"errors"
	"strconv"

	"github.com/dynolab/dyno/actor"
)

// actorSuspend is an actor that is suspended and resumed for each message: it asks for it
// itself and says so to another one, which sends it the next message, waits a turn, so that a
// suspension that is none would be noticed, and resumes it.
//
// The [Meter] learns two times, both until that message is handled: of the "cycle", from asking
// to be suspended, and of the "resume", from asking for that.
func actorSuspend() []Workload {
	return []Workload{{
		Name:     "suspend",
		Doc:      "an actor suspends itself, is sent a message, and resumed by another one: what a cycle costs, until that message is handled",
		Op:       "such a cycle",
		Checked:  "no message is handled while the actor is to be suspended; all in order, none missing, none twice; the system's own count of suspensions",
		Messages: 3,
		TooBig:   "its times of single cycles would have to be kept, several thousand of them",
		Timings:  suspendTimings,
		Prepare:  suspendOnActors,
		Refs: []Ref{
			{
				Name:    refBuffered,
				Doc:     "goroutines and buffered channels, one of which the suspended one waits for before it looks at its messages again",
				Prepare: func(st Setting) Run { return suspendOnChannels(st, 1) },
			},
			{refUnbuffered, "the same, with unbuffered channels but for the messages", func(st Setting) Run { return suspendOnChannels(st, 0) }},
		},
	}}
}

// suspendTimings are the times of a cycle.
var suspendTimings = []string{suspendCycle: "cycle", suspendResume: "resume"}

const (
	suspendCycle = iota
	suspendResume
)

// A numbered message is one to an actor that is suspended. In all of these types seq is the
// number of the operation. There are messages of each for two operations or
// more, used in turn, so that one that comes again is told from the next one.
type numbered struct{ seq int64 }

// A notice says that its sender is being suspended.
type notice struct{ seq int64 }

// A reminder is a message to oneself.
type reminder struct{ seq int64 }

// now returns the time, if there is a clock.
func (p *suspensions) now() int64 {
	if p.meter == nil {
		return 0
	}
	return p.meter.Now()
}

// suspensions is what runs in all ways have in common. It is used by one at a time: the one that
// sends a message or resumes hands it over.
type suspensions struct {
	*progress
	meter     Meter
	sys       *system // nil in references
	last      int64   // the operation that ends the Do
	sent      int64   // the last message that was sent; operations count from 1
	suspended bool    // the actor has asked to be suspended, and not gone on
	begun     int64   // when it was, in nanoseconds by the Meter's clock

	messages  [2]numbered
	notices   [2]notice
	reminders [2]reminder

	handled int64 // the last message that was handled
	noticed bool  // the resumer has been told that the other is suspended
	resumed int64 // the last operation that a resume was asked for in
	ended   int64 // when it was, in nanoseconds

	sleeper, resumer actor.Ref // of an implementation
}

func (p *suspensions) deal(n int) {
	p.begin(n, 1)
	p.last += int64(n)
}

// errTurn says that something came out of turn.
func errTurn(what string, seq, last int64) error {
	return errors.New("workloads: " + what + " of operation " + strconv.FormatInt(seq, 10) + " came out of turn, or again: the last one was " + strconv.FormatInt(last, 10))
}

// suspend books that the suspendedActor is going to be suspended, and returns what it is
// to tell the resumer.
func (p *suspensions) suspend() (*notice, error) {
	if p.suspended {
		return nil, errors.New("workloads: an actor was told to begin that had begun")
	}
	p.suspended = true
	p.begun = p.now()
	y := &p.notices[p.handled&1]
	y.seq = p.handled
	return y, nil
}

// hear books a notice, and returns the call to make.
func (p *suspensions) hear(y *notice) (*numbered, error) {
	if p.noticed || y.seq != p.sent {
		return nil, errTurn("word of the suspension", y.seq, p.sent)
	}
	p.noticed = true
	p.sent++
	c := &p.messages[p.sent&1]
	c.seq = p.sent
	return c, nil
}

// reminder returns what the resumer tells itself then.
func (p *suspensions) reminder() *reminder {
	m := &p.reminders[p.sent&1]
	m.seq = p.sent
	return m
}

// resume books that the suspendedActor is going to be resumed.
func (p *suspensions) resume(m *reminder) error {
	if !p.noticed || m.seq != p.sent || p.resumed == p.sent {
		return errTurn("the resumer's message to itself", m.seq, p.sent)
	}
	p.noticed = false
	p.resumed = p.sent
	p.ended = p.now()
	return nil
}

// wakeUp books a call to the suspendedActor.
func (p *suspensions) wakeUp(c *numbered) error {
	if c.seq != p.handled+1 {
		return errTurn("the message", c.seq, p.handled)
	}
	if !p.suspended || p.resumed != c.seq {
		return errors.New("workloads: message " + strconv.FormatInt(c.seq, 10) + " was handled by an actor that was to be suspended")
	}
	p.handled++
	p.suspended = false
	if p.meter != nil {
		now := p.meter.Now()
		p.meter.Timing(suspendCycle, now-p.begun)
		p.meter.Timing(suspendResume, now-p.ended)
	}
	return nil
}

// check compares what was handled, and what the system has counted, with what was asked for.
func (p *suspensions) check() error {
	if err := countCheck(p.last, p.sent); err != nil {
		return err
	}
	if err := countCheck(p.last, p.handled); err != nil || p.sys == nil {
		return err
	}
	if st := p.sys.sys.Stats(); st.Suspends != uint64(p.last) || st.Resumes != uint64(p.last) {
		return errors.New("workloads: the system counted " + strconv.FormatUint(st.Suspends, 10) + " suspensions and " +
			strconv.FormatUint(st.Resumes, 10) + " ends of them in " + strconv.FormatInt(p.last, 10) + " operations")
	}
	return nil
}

func suspendOnActors(st Setting) Run {
	r := newActorsRun()
	p := &suspensions{progress: &r.progress, meter: st.Meter, sys: r.system}
	r.protocol = p
	r.begun = func(ctx *actor.Context) error { return ctx.Tell(p.sleeper, nil) }
	r.raise(st, func(s *system, ctx *actor.Context) (err error) {
		if p.sleeper, err = s.spawn(ctx, suspendedActor{p}); err != nil {
			return err
		}
		p.resumer, err = ctx.Spawn(actor.Props{
			New: func() actor.Actor { return resumer{p} },
			// It lets the other have a turn before it handles its own message.
			Throughput: 1,
		})
		return err
	})
	return r
}

// A suspendedActor is the actor that is suspended.
type suspendedActor struct{ *suspensions }

func (p suspendedActor) Receive(ctx *actor.Context, msg any) error {
	if msg != nil {
		c, ok := msg.(*numbered)
		if !ok {
			return errStray()
		}
		if err := p.wakeUp(c); err != nil {
			return err
		}
		if p.handled == p.last {
			p.part()
			return nil
		}
	}
	y, err := p.suspend()
	if err != nil {
		return err
	}
	ctx.Suspend(actor.Suspension{Reason: "it is to be resumed"})
	return ctx.Tell(p.resumer, y)
}

// A resumer is the actor that resumes the other.
type resumer struct{ *suspensions }

func (p resumer) Receive(ctx *actor.Context, msg any) error {
	switch m := msg.(type) {
	case *notice:
		c, err := p.hear(m)
		if err != nil {
			return err
		}
		if err := ctx.Tell(p.sleeper, c); err != nil {
			return err
		}
		return ctx.Tell(ctx.Self(), p.reminder())
	case *reminder:
		if err := p.resume(m); err != nil {
			return err
		}
		ctx.Resume(p.sleeper)
		return nil
	}
	return errStray()
}

// suspendOnChannels has a goroutine each. The suspended one waits at a channel of its own.
func suspendOnChannels(st Setting, room int) Run {
	r := newHandRun()
	p := &suspensions{progress: &r.progress, meter: st.Meter}
	r.protocol = p
	in := make(chan *numbered, 1) // a mailbox: the message waits there
	notices, resumes := make(chan *notice, room), make(chan struct{}, room)
	r.worker(func() error {
		for p.handled < p.last {
			y, err := p.suspend()
			if err != nil {
				return err
			}
			notices <- y
			<-resumes
			if err := p.wakeUp(<-in); err != nil {
				return err
			}
		}
		p.part()
		return nil
	})
	r.launch(func() {
		for y := range notices {
			c, err := p.hear(y)
			if err == nil {
				in <- c
				err = p.resume(p.reminder())
			}
			if err != nil {
				r.fail(err)
				return
			}
			resumes <- struct{}{}
		}
	})
	r.also(func() { close(notices) })
	return r
}
