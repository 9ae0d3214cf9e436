package conformance

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/dynolab/dyno/actor"
)

// What a script waits for: replies, events, and room in a mailbox.

// pendingCall is a call on a goroutine of its own, which a script has named. It returns
// what it returned in the words of scripts.
type pendingCall struct {
	*call[string]
	cancel context.CancelFunc
}

// subscription is one to events, of whatever type.
type subscription struct {
	next func(ctx context.Context) (any, error)
	try  func() (any, bool)
	lost func() uint64
	end  func()
}

// outcome is what a call returned, in the words of scripts.
func (p *performance) outcome(v any, err error) string {
	var s *actor.SendError
	switch {
	case errors.As(err, &s):
		return "refused-" + reasonWord(s.Reason)
	case err != nil:
		return reasonWord(err)
	}
	return said(v)
}

// wait waits for a reply, or for an event.
func (p *performance) wait(ctx context.Context, name string) string {
	if s, ok := p.subs[name]; ok {
		return p.outcome(s.next(ctx))
	}
	return p.outcome(p.future(name).Wait(ctx))
}

// begin starts a call under a name.
func (p *performance) begin(name, what string, f func(ctx context.Context) string) *call[string] {
	ctx, cancel := context.WithCancel(context.Background())
	c := start(p.e, what, func() string { return f(ctx) })
	p.calls[name] = pendingCall{c, cancel}
	return c
}

// waits carries out a step that waits for something, and reports whether it is one.
func (p *performance) waits(verb string, args []string) bool {
	w, e := p.w, p.e
	switch verb {
	case "waiting": // FUTURE or SUBSCRIPTION [as NAME]: in Wait or Next, from now on
		name := args[len(args)-1]
		p.begin(name, "Wait", func(ctx context.Context) string { return p.wait(ctx, args[0]) }).blocks("there is nothing yet")
	case "sending": // NAME WHO MESSAGE: Tell to a full mailbox
		to, msg := p.ref(args[1]), p.message(nil, args[2])
		p.begin(args[0], "Tell", func(ctx context.Context) string {
			if err := to.TellContext(ctx, msg); err != nil {
				w.returned(err, to, msg, errors.Unwrap(err))
				return reasonWord(errors.Unwrap(err))
			}
			return "sent"
		}).blocks("the mailbox is full")
	case "shutting": // NAME: Shutdown
		p.begin(args[0], "Shutdown", func(ctx context.Context) string {
			return p.outcome("over", w.Shutdown(ctx))
		}).blocks("an actor has not stopped")
	case "blocked": // still
		for _, name := range args {
			p.calls[name].blocks("nothing has come")
		}
	case "give-up": // their contexts end
		for _, name := range args {
			p.calls[name].cancel()
		}
	case "woken": // NAME RESULT
		p.result(finished(w, p.calls[args[0]].call), args[1])
	case "one-of": // NAME … RESULT OTHERS: one call has returned RESULT, the others OTHERS
		names, result, others := args[:len(args)-2], args[len(args)-2], args[len(args)-1]
		var got []string
		for _, name := range names {
			got = append(got, finished(w, p.calls[name].call))
		}
		n := len(got)
		rest := slices.DeleteFunc(slices.Clone(got), func(s string) bool { return s == others })
		e.require(len(rest) == 1 && rest[0] == result && n > 1, "the calls returned “", quote(got), "”, want one ", result, " and otherwise ", others)
	case "await": // NAME RESULT: waits, and nothing else has actors run
		c := start(e, "Wait", func() string { return p.wait(context.Background(), args[0]) })
		p.result(c.get(), args[1])
	case "at-once": // NAME RESULT: the same, with a context that has ended
		p.result(p.wait(ended(errStop), args[0]), args[1])
	default:
		return false
	}
	return true
}

func (p *performance) result(got, want string) {
	p.e.require(got == want, "the result is ", got, ", want ", want)
}

// asking carries out a step about a future, and reports whether it is one.
func (p *performance) asking(verb string, args []string) bool {
	w, e := p.w, p.e
	switch verb {
	case "future":
		p.setFuture(args[0], w.NewFuture(within(args)))
	case "answer": // FUTURE VALUE [late], without an actor
		msg := p.message(nil, args[1])
		err := p.future(args[0]).ReplyTo().Tell(msg)
		if len(args) > 2 {
			w.tooLate(err, msg)
		} else {
			e.same("what ReplyTo.Tell returned", err, nil)
		}
	case "fails": // FUTURE [late], with errA
		err := p.future(args[0]).ReplyTo().Fail(errA)
		if len(args) > 1 {
			w.tooLate(err, errA)
		} else {
			e.same("what Fail returned", err, nil)
		}
	case "reply":
		w.answered(p.future(args[0]), p.message(nil, args[1]))
	case "pending":
		for _, name := range args {
			w.unanswered(p.future(name))
		}
	case "ended":
		w.failedWith(p.future(args[0]), reasonNamed(e, args[1]))
	case "refused": // FUTURE WHO NUMBER REASON: of the question, which came back
		f, to := p.future(args[0]), p.ref(args[1])
		_, done, err := f.Poll()
		e.require(done, "a question was refused, and its future has not ended")
		w.returned(err, to, petition{number(args[2]), f.ReplyTo()}, reasonNamed(e, args[3]))
	case "discard":
		p.future(args[0]).Discard()
	default:
		return false
	}
	return true
}

func within(args []string) (d time.Duration) {
	if i := slices.Index(args, "within"); i >= 0 {
		d = duration(args[i+1])
	}
	return d
}

// future returns the future of that name, the zero one if there is none.
func (p *performance) future(name string) actor.Future {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.futures[name]
}

func (p *performance) setFuture(name string, f actor.Future) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.futures[name] = f
}

// subscribing carries out a step about the event stream, and reports whether it is one.
func (p *performance) subscribing(verb string, args []string) bool {
	switch verb {
	case "subscribe": // NAME TYPE NUMBER [to WHO]
		p.subscribe(args[0], args[1], number(args[2]), args[3:])
	case "listen": // NAME TYPE: a function that logs NAME:EVENT
		p.subscribe(args[0], args[1], 0, nil)
	case "unsubscribe":
		p.subs[args[0]].end()
	case "lost":
		n := int(p.subs[args[0]].lost())
		p.e.require(n == number(args[1]), args[0], " has lost ", n, " events, want ", args[1])
	case "fetch": // these events have come, in this order, and no others
		p.w.idle()
		var got []string
		for ev, ok := p.subs[args[0]].try(); ok; ev, ok = p.subs[args[0]].try() {
			got = append(got, said(ev))
		}
		p.e.require(slices.Equal(got, args[1:]), "the events are “", quote(got), "”, want “", quote(args[1:]), "”")
	default:
		return false
	}
	return true
}

func (p *performance) subscribe(name, kind string, n int, to []string) {
	p.subs[name] = map[string]func(*performance, string, int, []string) subscription{
		"any": subscribeTo[any], "int": subscribeTo[int], "error": subscribeTo[error], "order": subscribeTo[*order],
		"letter": subscribeTo[actor.DeadLetter], "log": subscribeTo[actor.LogEvent], "stopped": subscribeTo[actor.ActorStopped],
	}[kind](p, name, n, to)
}

// subscribeTo subscribes to the events of a type: to fetch n, to have them sent to an actor
// that lets as many wait, or, if n is 0, by a function.
func subscribeTo[E any](p *performance, name string, n int, to []string) subscription {
	if len(to) == 0 && n > 0 {
		s := actor.Subscribe[E](p.w.Events(), n)
		next := func(ctx context.Context) (any, error) { return s.Next(ctx) }
		return subscription{next, func() (any, bool) { return s.TryNext() }, s.Lost, s.Unsubscribe}
	}
	var l *actor.Listener
	if n > 0 {
		l = actor.SubscribeActor[E](p.w.Events(), p.ref(to[1]), n)
	} else {
		l = actor.SubscribeFunc(p.w.Events(), func(ev E) {
			_ = p.happens(&turn{p: p, name: name, msg: ev}, name, ":"+said(ev))
		})
	}
	return subscription{lost: l.Lost, end: l.Unsubscribe}
}

// hear logs what the event stream says of actors that the script has named, and dead
// letters. What an event says must be so when it comes.
func (p *performance) hear(ev any) {
	if l, ok := ev.(actor.DeadLetter); ok {
		p.letter(l)
		return
	}
	entry, who, at := eventText(ev)
	if who.IsZero() || who.Name() == "system" || entry == "user.started" { // the last before there is a world
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.claim(!at.Before(p.began) && !at.After(p.clock.Now()), entry, " is said to have been at ", at.String())
	named, found := p.w.Find(who.Path())
	found = found && named == who // and not the next one of that name
	_, known := p.w.Lookup(who.PID())
	switch ev := ev.(type) {
	case actor.ActorStarted:
		p.claim(found && known, entry, ", and is not found")
	case actor.ActorStopped:
		p.claim(!found && !known, entry, ", and is found")
	case actor.ActorRestarted:
		p.claim(found && known && slices.Contains(p.all, ev.Cause), entry, " for ", ev.Cause, ", and is found: ", found)
		// 0: its parent was resumed, and it has nothing to go on with
		p.claim(ev.Restarts == 0 || slices.Contains(p.decided, restart{ev.Cause, ev.Restarts}), entry, ", on which no supervisor has decided")
	case actor.Supervised:
		p.claim(slices.Contains(p.all, ev.Cause), entry, " for ", ev.Cause, ", with which no actor has failed")
		p.claim(ev.Exhausted || (ev.Restarts > 0) == (ev.Directive == actor.Restart), entry, " and is said to be restart ", ev.Restarts)
		if ev.Directive == actor.Restart {
			p.decided = append(p.decided, restart{ev.Cause, ev.Restarts})
		}
	case actor.ActorSuspended:
		p.claim(ev.Suspension.Reason == scriptReason, entry, " for ", ev.Suspension.Reason)
	case actor.Failure:
		p.errs[who.Name()] = ev.Err
		p.all = append(p.all, ev.Err)
	}
	if who.Name() != "user" {
		p.events.note(entry)
	}
}

// scriptReason is for which scripts suspend actors.
const scriptReason = "as the script says"

// eventText is an event about an actor as scripts have it.
func eventText(ev any) (entry string, who actor.Ref, at time.Time) {
	what := ""
	switch ev := ev.(type) {
	case actor.ActorStarted:
		who, at, what = ev.Actor, ev.Time, ".started"
	case actor.ActorStopped:
		who, at, what = ev.Actor, ev.Time, ".stopped"
	case actor.ActorRestarted:
		who, at, what = ev.Actor, ev.Time, text(".restarted-", ev.Restarts)
	case actor.Failure:
		who, at, what = ev.Actor, ev.Time, ".failed"
	case actor.Supervised:
		who, at, what = ev.Actor, ev.Time, text(".", ev.Directive.String(), "-by-", ev.Parent.Name())
		if ev.Exhausted {
			what += "-exhausted"
		}
		if ev.Delay > 0 {
			what += "-after-" + ev.Delay.String()
		}
	case actor.BehaviorChanged:
		who, at, what = ev.Actor, ev.Time, text(".depth-", ev.Depth)
	case actor.ActorSuspended:
		who, at, what = ev.Actor, ev.Time, ".suspended"
		if ev.Suspension.After > 0 {
			what += "-for-" + ev.Suspension.After.String()
		}
		if r := ev.Suspension.Capacity; !r.IsZero() {
			what += "-room-" + r.Name()
		}
	case actor.ActorResumed:
		who, at, what = ev.Actor, ev.Time, ".resumed"
		if ev.Latency > 0 {
			what += "-after-" + ev.Latency.String()
		}
	case actor.MailboxHigh:
		who, at, what = ev.Actor, ev.Time, text(".high-", ev.Len)
	case actor.MailboxLow:
		who, at, what = ev.Actor, ev.Time, text(".low-", ev.Len)
	case actor.LogEvent:
		who, at, what = ev.Actor, ev.Time, text(".", ev.Level.String(), "-", ev.Text)
	default:
		return "", who, at
	}
	return who.Name() + what, who, at
}

// claim ends the check at its next step unless ok. It is for whom the event stream calls,
// from which no panic comes out.
func (p *performance) claim(ok bool, parts ...any) {
	p.e.checked.Add(1)
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	if !ok && p.w.verdict == nil {
		p.w.verdict = errors.New(text(parts...))
	}
}

// letter logs a dead letter: its reason, its receiver and the message.
func (p *performance) letter(l actor.DeadLetter) {
	to := l.To.Name()
	if l.To.IsZero() {
		to = "zero"
	}
	entry := text(reasonWord(l.Reason), "/", to, "/", said(l.Msg))
	if l.Returned {
		entry = "returned/" + entry
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var asks actor.ReplyTo
	if m, ok := l.Msg.(petition); ok {
		asks = m.re
	}
	p.claim(!l.Time.Before(p.began) && !l.Time.After(p.clock.Now()), "dead letter ", entry, " has the time ", l.Time.String())
	p.claim(l.ReplyTo == asks, "dead letter ", entry, " does not say who waits for a reply")
	p.claim(l.Cause == nil || l.Reason == actor.ErrFailed && slices.Contains(p.all, l.Cause), "dead letter ", entry, " has the cause ", l.Cause)
	p.claim((l.Reason == actor.ErrFailed) == (l.Cause != nil), "dead letter ", entry, " has the cause ", l.Cause)
	p.letters = append(p.letters, l)
	p.letterLog.note(entry)
}

// deadLetters demands these dead letters since the last time, in that order and no others:
// on the event stream, in the store, in the counts and with Config.DeadLetters.
func (p *performance) deadLetters(want []string) {
	p.entries(&p.letterLog, append([]string{"ordered"}, want...))
	w := p.w
	p.mu.Lock()
	all := slices.Clone(p.letters)
	p.mu.Unlock()
	kept := w.DeadLetters()
	if w.over {
		p.e.require(len(kept) == 0, "a system that is over keeps ", len(kept), " dead letters")
	} else {
		p.e.require(slices.Equal(kept, all[max(0, len(all)-p.keep):]), "of ", len(all), " dead letters ", len(kept), " others are kept")
	}
	st := w.Stats()
	var returned, letters, dropped int
	for _, l := range all {
		switch {
		case l.Returned:
			returned++
		case l.Reason == actor.ErrDropped:
			dropped++
			letters++
		default:
			letters++
		}
	}
	p.e.require(int(st.Returned) == returned && int(st.DeadLetters) == letters && int(st.Dropped) == dropped,
		"Stats counts ", st.Returned, " returned, ", st.DeadLetters, " dead letters and ", st.Dropped, " dropped, want ", returned, ", ", letters, " and ", dropped)
	w.mu.Lock()
	p.seen += len(w.letters) + len(w.failedLetters)
	w.letters, w.failedLetters = nil, nil
	w.mu.Unlock()
	p.e.require(p.seen == letters, "Config.DeadLetters was called with ", p.seen, " dead letters that were not returned, want ", letters)
}
