package conformance

import (
	"context"
	"slices"

	"github.com/dynolab/dyno/actor"
)

// What actors do in a script.

// turn is where acts are done: in a turn of an actor, or, if ctx is nil, outside.
type turn struct {
	p    *performance
	ctx  *actor.Context
	name string
	msg  any // that is handled, if it is a message
	next *passing
}

// passing is what middleware, or an invoker, is told to do with a message.
type passing struct {
	keep, succeed bool
	msg           any
	times         int
}

// acts does one act after the other, up to one that fails.
func (p *performance) acts(t *turn, words []string) error {
	for len(words) > 0 {
		var act []string
		act, words = statement(words)
		if err := p.act(t, act); err != nil {
			return err
		}
	}
	return nil
}

// act does one act. The error is the actor's.
func (p *performance) act(t *turn, words []string) error {
	ctx, args := t.ctx, words[1:]
	switch words[0] {
	case "tell", "forward", "tell-pid", "tell-ended", "tell-nil":
		p.tell(t, words[0], p.who(t, args[0]), args[1:])
	case "ask": // FUTURE WHO NUMBER [within TIME]
		ask := func(re actor.ReplyTo) any { return petition{number(args[2]), re} }
		if ctx == nil {
			p.setFuture(args[0], p.w.Ask(p.ref(args[1]), within(args), ask))
		} else {
			p.setFuture(args[0], ctx.Ask(p.ref(args[1]), within(args), ask))
		}
	case "pass": // what has been heard, to an actor that may refuse it
		_ = p.ref(args[0]).Tell(t.msg)
	case "say": // LEVEL TEXT
		ctx.Log(map[string]actor.Level{"debug": actor.LevelDebug, "warn": actor.LevelWarn, "error": actor.LevelError}[args[0]], args[1])
	case "keep":
		t.next.keep = true
	case "succeed":
		t.next.succeed = true
	case "instead":
		t.next.msg = p.message(t, args[0])
	case "again":
		t.next.times++
	case "fail":
		kind := p.kind
		if len(args) > 0 {
			kind = failureKindNamed(p.e, args[0])
		}
		p.mu.Lock()
		p.injected[t.name] = append(p.injected[t.name], injection{t.msg, kind})
		p.mu.Unlock()
		return kind.fail()
	case "stop":
		switch r := p.who(t, args[0]); {
		case ctx == nil:
			p.w.Stop(r)
		case len(args) > 1 && args[2] == "outside": // stop self by outside
			p.w.Stop(r)
		case r == ctx.Self() && len(args) == 1:
			ctx.StopSelf()
		default:
			ctx.Stop(r)
		}
	case "spawn":
		p.spawn(ctx, args)
	case "watch":
		for _, name := range args {
			ctx.Watch(p.who(t, name))
		}
	case "unwatch":
		for _, name := range args {
			ctx.Unwatch(p.who(t, name))
		}
	case "suspend":
		p.suspend(t, args)
	case "resume":
		if r := p.who(t, args[0]); ctx == nil {
			p.w.Resume(r)
		} else {
			ctx.Resume(r)
		}
	case "stash":
		if len(args) == 0 {
			ctx.Stash(t.msg)
		}
		for _, m := range args {
			ctx.Stash(p.message(t, m))
		}
	case "unstash":
		ctx.UnstashAll()
	case "become":
		ctx.Become(p.behaviour(args[0]))
	case "unbecome":
		p.e.require(ctx.Unbecome() == (len(args) == 0), "Unbecome says the opposite of what it did")
	case "timer", "every":
		p.timer(t, words[0] == "every", args)
	case "cancel":
		p.mu.Lock()
		timer := p.timers[args[0]]
		p.mu.Unlock()
		p.e.require(timer.Stop() == (len(args) == 1), "Stop of timer ", args[0], " said the opposite of whether there was anything to come")
	case "timeout":
		ctx.SetReceiveTimeout(duration(args[0]))
	case "note":
		p.log.note(args[0])
	case "hold":
		p.gate(args[0]).pass()
	case "time":
		p.clock.Advance(duration(args[0]))
	case "exit":
		p.e.fail("an act ends its goroutine by failing: fail Goexit")
	case "publish":
		for _, m := range args {
			p.w.Events().Publish(p.message(t, m))
		}
	case "expect":
		p.expect(t, args)
	case "answer":
		p.answer(t, args)
	default:
		p.e.fail("a script says “", quote(words), "”, which is not understood")
	}
	return nil
}

// tell sends messages, which are accepted, or come back for the reason after the word
// refused.
func (p *performance) tell(t *turn, how string, to actor.Ref, msgs []string) {
	var reason error
	if i := slices.Index(msgs, "refused"); i >= 0 {
		reason = reasonNamed(p.e, msgs[i+1])
		msgs = msgs[:i]
	}
	for _, m := range msgs {
		msg := p.message(t, m)
		var err error
		switch {
		case how == "forward":
			t.ctx.Forward(to, msg)
		case how == "tell-pid":
			err = p.w.Tell(to.PID(), msg)
		case how != "tell":
			var ctx context.Context // nil, which never ends
			if how == "tell-ended" {
				ctx = ended(errStop)
			}
			if t.ctx == nil {
				err = to.TellContext(ctx, msg)
			} else {
				err = t.ctx.TellContext(ctx, to, msg)
			}
		case t.ctx == nil:
			err = to.Tell(msg)
		default:
			err = t.ctx.Tell(to, msg)
		}
		switch {
		case reason == actor.ErrUnknown: // whom it was for is not known
			p.w.returned(err, actor.Ref{}, msg, reason)
		case reason != nil:
			p.w.returned(err, to, msg, reason)
		case err != nil:
			p.e.fail("Tell of ", m, " returned ", err, ", want nil")
		}
	}
}

// refuses waits until an actor takes a message no more: what it still takes has to be a dead
// letter for the same reason.
func (p *performance) refuses(to actor.Ref, word string, reason error) {
	msg := p.message(nil, word)
	p.w.until(to.Path()+" to refuse messages", func() bool {
		err := to.Tell(msg)
		if err == nil {
			p.w.undelivered(to, reason, msg)
			return false
		}
		p.w.returned(err, to, msg, reason)
		return true
	})
}

// suspend suspends an actor: [WHO] [for TIME] [room WHO] [by outside].
func (p *performance) suspend(t *turn, args []string) {
	who, s, outside := p.who(t, args[0]), actor.Suspension{Reason: scriptReason}, false
	for args = args[1:]; len(args) > 1; args = args[2:] {
		switch args[0] {
		case "for":
			s.After = duration(args[1])
		case "room":
			s.Capacity = p.ref(args[1])
		case "by":
			outside = args[1] == "outside"
		default:
			p.e.fail("there is no way to suspend an actor called ", args[0])
		}
	}
	switch {
	case t.ctx != nil && who == t.ctx.Self() && !outside:
		t.ctx.Suspend(s)
	case t.ctx == nil && t.msg == nil && !who.IsZero():
		p.w.suspend(who, s) // and waits until it is
	default:
		p.w.Suspend(who, s)
	}
}

// timer starts a timer: TIME MESSAGE [as NAME].
func (p *performance) timer(t *turn, periodic bool, args []string) {
	d, msg := duration(args[0]), p.message(t, args[1])
	var timer *actor.Timer
	if periodic {
		timer = t.ctx.StartPeriodic(d, msg)
	} else {
		timer = t.ctx.StartTimer(d, msg)
	}
	if len(args) > 3 {
		p.mu.Lock()
		p.timers[args[3]] = timer
		p.mu.Unlock()
	}
}

// expect looks at what an actor sees in its turn.
func (p *performance) expect(t *turn, args []string) {
	ctx, what, args := t.ctx, args[0], args[1:]
	switch what {
	case "children": // exactly these, the newest first
		var got []string
		for r := range ctx.Children() {
			got = append(got, r.Name())
		}
		p.e.require(slices.Equal(got, args), "the children of ", t.name, " are “", quote(got), "”, want “", quote(args), "”")
	case "child":
		r, ok := ctx.Child(args[0])
		p.e.require(ok && r == p.ref(args[0]), t.name, " has no child ", args[0])
	case "childless":
		_, ok := ctx.Child(args[0])
		p.e.require(!ok, t.name, " has a child ", args[0])
	case "place": // its own Ref and its parent's
		p.e.require(ctx.Self() == p.ref(t.name) && ctx.Parent() == p.ref(args[0]), "Self is ", ctx.Self().Path(), " and Parent ", ctx.Parent().Path(),
			", want ", t.name, " and ", args[0])
	case "stashed":
		p.e.require(ctx.Stashed() == number(args[0]), ctx.Stashed(), " messages are stashed, want ", args[0])
	case "gone":
		p.e.require(!p.w.Alive(p.ref(args[0])), args[0], " is found")
	default:
		p.e.fail("a script expects ", what, ", which is not understood")
	}
}

// answer replies in a turn: QUESTION VALUE [late].
func (p *performance) answer(t *turn, args []string) {
	p.mu.Lock()
	re := p.replies[args[0]]
	p.mu.Unlock()
	msg := p.message(t, args[1])
	err := t.ctx.Reply(re, msg)
	if len(args) > 2 {
		p.w.tooLate(err, msg)
	} else {
		p.e.same("what Reply returned", err, nil)
	}
}

// who returns the actor of that name, in a turn.
func (p *performance) who(t *turn, name string) actor.Ref {
	if name == "self" {
		return t.ctx.Self()
	}
	return p.ref(name)
}

// ref returns the actor of that name that was spawned last.
func (p *performance) ref(name string) actor.Ref {
	p.mu.Lock()
	defer p.mu.Unlock()
	r, ok := p.refs[name]
	p.e.require(ok, "there is no actor ", name, " in the script")
	return r
}

// gate returns the gate of that name; it is a new one after a release.
func (p *performance) gate(name string) *gate {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gates[name] == nil {
		p.gates[name] = p.e.gate()
	}
	return p.gates[name]
}

// behaviour logs what it is told with a name of its own.
func (p *performance) behaviour(name string) actor.ReceiveFunc {
	return func(ctx *actor.Context, msg any) error {
		if o, ok := msg.(*order); ok {
			return o.Do(ctx)
		}
		return p.happens(&turn{p: p, ctx: ctx, name: ctx.Self().Name(), msg: msg}, name, ":"+said(msg))
	}
}

// happens logs what happens to an actor, and does what the script has follow on it.
func (p *performance) happens(t *turn, who, what string) error {
	p.log.note(who, what)
	return p.follow(t, who, what)
}

func (p *performance) follow(t *turn, who, what string) error {
	p.mu.Lock()
	acts, ok := p.rules[who+what]
	if !ok {
		acts = p.rules[author(who+".")+what] // whichever life it is
	}
	p.mu.Unlock()
	return p.acts(t, acts)
}
