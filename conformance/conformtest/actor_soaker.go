package conformtest

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/dynolab/dyno/actor"
)

// soaker is what the soak knows of one of its actors. It outlives the actor's
// values: it is its book, and a model of what may come next.
//
// The model. Messages of one sender come for the first time in the order in
// which they were sent; a mailbox may lose some of them, or put those of others
// in between. What was stashed and then unstashed comes next, in the order in which
// it was stashed, and before what was unstashed earlier and has not come yet. A
// restart unstashes as well, and puts the message that was failed on before that,
// unless it has become a dead letter: front is what must come next, in order,
// before everything else, notices included. A Terminated comes once for an actor
// that is watched, a timer's message as long as the timer runs, and neither
// timers nor the receive timeout outlive a restart.
//
// Everything belongs to the actor's turn, and is read by others when the system is
// over.
type soaker struct {
	r      *soakRound
	rng    *rand.Rand
	id, n  int32
	block  bool // its mailbox's policy
	middle bool // it has middleware, where messages arrive first
	guards bool // it is the guardian

	values  int  // how many there have been
	started bool // PostStop or PreRestart is to come

	last     map[int32]int32 // of each sender the last message
	stash    []any
	front    []any
	failed   any // the message that was failed on, until it is known what becomes of it
	watching map[actor.Ref]struct{}
	timers   map[*soakTick]*actor.Timer
	idle     bool // there is a receive timeout
	asked    []soakAsk
	closing  func(left int) // told how many are still watched

	calls, handled   int64 // of Receive; and messages that were sent
	raised, raisedOn int64 // failures; and those on a message that was sent
	escalated        int64
}

// soakTick is a timer's message.
type soakTick struct{ periodic bool }

func (r *soakRound) newSoaker(rng *rand.Rand) *soaker {
	a := &soaker{
		r: r, rng: rand.New(rand.NewPCG(rng.Uint64(), 1)), id: r.ids.Add(1),
		last: map[int32]int32{}, watching: map[actor.Ref]struct{}{},
	}
	r.mu.Lock()
	r.soakers = append(r.soakers, a)
	r.mu.Unlock()
	return a
}

// obey is what the guardian does.
func (a *soaker) obey(ctx *actor.Context, msg any) error {
	a.calls++
	switch m := msg.(type) {
	case *soakOrder:
		err := m.do(ctx)
		if err == nil {
			a.handled++
			a.r.became(&m.soakParcel, "handled")
		}
		return err
	case actor.Terminated:
		a.terminated(m)
		if a.closing != nil {
			a.closing(len(a.watching))
		}
	default:
		a.r.wrong("the guardian was given %v, which was not sent", msg)
	}
	return nil
}

// soakValue is an actor's value, without and with hooks at its start.
type soakValue struct {
	*soaker
	nth int
}

type soakHooked struct{ soakValue }

// Receive implements [actor.Actor].
func (v *soakValue) Receive(ctx *actor.Context, msg any) error {
	a := v.soaker
	if !a.middle {
		a.arrived(ctx, msg)
	}
	switch {
	case v.nth != a.values:
		a.r.wrong("%v: value %d was called when there were %d", ctx.Self(), v.nth, a.values)
	case !a.started:
		a.r.wrong("%v: value %d was called before it has started or after it has stopped", ctx.Self(), v.nth)
	}
	return a.receive(ctx, msg)
}

// PreStart implements [actor.PreStarter].
func (v *soakHooked) PreStart(ctx *actor.Context) error {
	if v.nth != 1 {
		v.r.wrong("%v: PreStart was called for value %d, which has a PostRestart", ctx.Self(), v.nth)
	}
	return v.begin(ctx)
}

// PostRestart implements [actor.PostRestarter].
func (v *soakHooked) PostRestart(ctx *actor.Context, cause error) error {
	if !soakFailure(cause) {
		v.r.wrong("%v was restarted because of %v", ctx.Self(), cause)
	}
	return v.begin(ctx)
}

func (v *soakHooked) begin(ctx *actor.Context) error {
	if v.started {
		v.r.wrong("%v: value %d was started twice, or before the last was stopped", ctx.Self(), v.nth)
	}
	if v.rng.IntN(16) == 0 {
		return v.raise()
	}
	v.started = true
	if v.rng.IntN(4) == 0 {
		v.time(ctx)
	}
	if v.rng.IntN(8) == 0 {
		v.spawn(ctx, v.rng)
	}
	return nil
}

// PreRestart implements [actor.PreRestarter].
func (v *soakHooked) PreRestart(ctx *actor.Context, cause error) error {
	if !soakFailure(cause) {
		v.r.wrong("%v is going to be restarted because of %v", ctx.Self(), cause)
	}
	return v.end(ctx)
}

// PostStop implements [actor.PostStopper].
func (v *soakValue) PostStop(ctx *actor.Context) error { return v.end(ctx) }

func (v *soakValue) end(ctx *actor.Context) error {
	if !v.started {
		v.r.wrong("%v: value %d was stopped without having been started", ctx.Self(), v.nth)
	}
	v.started = false
	for c := range ctx.Children() {
		v.r.wrong("%v is stopped or restarted before its child %v has stopped", ctx.Self(), c)
	}
	if v.rng.IntN(32) == 0 {
		return v.raise()
	}
	return nil
}

// fresh makes a value: in the parent's turn when the actor is spawned, in its own when
// it is restarted.
func (a *soaker) fresh(hooked bool) actor.Actor {
	if a.values > 0 {
		a.front = append(a.stash, a.front...)
		a.stash = nil
		a.decided()
		clear(a.timers)
		a.idle = false
		if a.rng.IntN(32) == 0 {
			a.raised++
			panic(errSoak)
		}
	}
	a.values++
	v := soakValue{a, a.values}
	if hooked {
		a.started = false
		return &soakHooked{v}
	}
	a.started = true
	return &v
}

// decided finds out what was decided about the message that was failed on.
func (a *soaker) decided() {
	if msg := a.failed; msg != nil {
		a.failed = nil
		if soakBook(msg).outcomes.Load() == 0 {
			a.front = append([]any{msg}, a.front...)
		}
	}
}

// arrived checks that the model allows msg to come now.
func (a *soaker) arrived(ctx *actor.Context, msg any) {
	a.calls++
	a.decided()
	if len(a.front) > 0 {
		if msg != a.front[0] {
			a.r.wrong("%v was given %v before what it had stashed or failed on", ctx.Self(), msg)
		}
		a.front = a.front[1:]
		return
	}
	switch m := msg.(type) {
	case *soakTick:
		if _, ok := a.timers[m]; !ok {
			a.r.wrong("%v was given the message of a timer that is not running", ctx.Self())
		}
		if !m.periodic {
			delete(a.timers, m)
		}
		return
	case actor.Terminated:
		a.terminated(m)
		return
	case actor.ReceiveTimeout:
		if !a.idle {
			a.r.wrong("%v was given a ReceiveTimeout that it had not asked for", ctx.Self())
		}
		return
	}
	p := soakBook(msg)
	if p == nil {
		a.r.wrong("%v was given %v, which was not sent", ctx.Self(), msg)
		return
	}
	if last := a.last[p.from]; p.n <= last {
		a.r.wrong("%v was given message %d of sender %d after its message %d", ctx.Self(), p.n, p.from, last)
	}
	a.last[p.from] = p.n
}

// raise fails in one of the ways there are.
func (a *soaker) raise() error {
	a.raised++
	switch k := a.rng.IntN(16); {
	case k < 2:
		panic(errSoak)
	case k < 4 && !a.r.sys.Synchronous(): // else it would end the goroutine in Wait, or in Shutdown, that runs it
		runtime.Goexit()
	case k < 5:
		return actor.Fatal(errSoak)
	}
	return errSoak
}

// failOn fails on a message.
func (a *soaker) failOn(msg any) error {
	if soakBook(msg) != nil {
		a.failed = msg
		a.raisedOn++
	}
	return a.raise()
}

// through is the middleware of some actors.
func (a *soaker) through(next actor.ReceiveFunc) actor.ReceiveFunc {
	return func(ctx *actor.Context, msg any) error {
		a.arrived(ctx, msg)
		if a.rng.IntN(1024) == 0 {
			return a.failOn(msg)
		}
		return next(ctx, msg)
	}
}

func (a *soaker) receive(ctx *actor.Context, msg any) error {
	r := a.r
	k := a.rng.IntN(4096)
	if !r.storm && k < 4096-64 {
		k = 4096 // nothing out of the ordinary
	} else if !r.storm {
		k = a.rng.IntN(4096)
	}
	if k < 16 {
		return a.failOn(msg)
	}
	if p := soakBook(msg); p != nil {
		if k < 80 && len(a.stash) < 32 {
			ctx.Stash(msg)
			a.stash = append(a.stash, msg)
			return nil
		}
		if q, ok := msg.(*soakQuestion); ok {
			a.answer(ctx, q)
		}
		a.handled++
		r.became(p, "handled")
	}
	switch {
	case !r.begun.Load():
		return nil // there is no target yet
	case k == 4096:
		if k := a.rng.IntN(16); k > 0 {
			a.tell(ctx, k == 1)
		}
		return nil
	}
	a.act(ctx, k)
	return nil
}

// answer answers a question, or does not.
func (a *soaker) answer(ctx *actor.Context, q *soakQuestion) {
	for range []int{0, 1, 1, 1, 1, 1, 1, 2}[a.rng.IntN(8)] {
		m := &soakAnswer{question: q}
		var msg any = m
		var err error
		switch a.rng.IntN(8) {
		case 0:
			msg, err = errSoak, q.to.Fail(errSoak)
		case 1:
			err = q.to.Tell(m)
		default:
			err = ctx.Reply(q.to, m)
		}
		if err != nil {
			if s, ok := err.(*actor.SendError); !ok || s.Reason != actor.ErrLate || s.Msg != msg {
				a.r.wrong("the answer to message %d of sender %d was refused with %v", q.n, q.from, err)
			}
		}
	}
}

func (a *soaker) terminated(m actor.Terminated) {
	if _, ok := a.watching[m.Actor]; !ok {
		a.r.wrong("an actor was told that %v has stopped, which it does not watch, or not any more", m.Actor)
	}
	delete(a.watching, m.Actor)
	if _, ok := a.r.sys.Lookup(m.Actor.PID()); ok {
		a.r.wrong("%v has stopped, an actor was told, and is there", m.Actor)
	}
	if m.Err != nil && !soakFailure(m.Err) {
		a.r.wrong("%v has stopped because of %v", m.Actor, m.Err)
	}
}

// tell sends the next parcel to anybody, with patience or without. A circle of
// actors that wait for each other would wait for ever without a context.
func (a *soaker) tell(ctx *actor.Context, patient bool) {
	r := a.r
	t := r.targets[a.rng.IntN(soakTargets)].Load()
	m := r.take(a.id, &a.n)
	switch {
	case m == nil:
	case !t.block:
		r.sent(t.ref, m, m, ctx.Tell(t.ref, m))
	default:
		within, end := soakGone, func() {}
		if patient {
			within, end = context.WithTimeout(context.Background(), time.Duration(a.rng.IntN(200))*time.Microsecond)
		}
		r.sent(t.ref, m, m, ctx.TellContext(within, t.ref, m))
		end()
	}
}

// act does what k says, from 16 to 4095. Fewer actors stop than are spawned, or
// there would soon be no target, and in a storm fewer messages are sent
// than handled, or there would be ever more.
func (a *soaker) act(ctx *actor.Context, k int) {
	r := a.r
	t := r.targets[a.rng.IntN(soakTargets)].Load()
	switch {
	case k < 1000:
		a.tell(ctx, k < 112)
	case k < 1080:
		if m := r.take(a.id, &a.n); m != nil {
			a.ask(ctx, t.ref, m)
		}
	case k < 1160:
		a.poll()
	case k < 1240:
		if !t.block {
			if m := r.take(a.id, &a.n); m != nil {
				ctx.Forward(t.ref, m)
			}
		}
	case k < 1280:
		a.spawn(ctx, a.rng)
	case k < 1300:
		v := soakValue{a, a.values}
		ctx.Become(v.Receive)
	case k < 1320:
		ctx.Unbecome()
	case k < 1380:
		runtime.Gosched()
	case k < 1384:
		ctx.Stop(t.ref)
	case k < 1388:
		ctx.StopSelf()
	case k < 1500:
		ctx.UnstashAll()
		a.front = append(a.stash, a.front...)
		a.stash = nil
	case k < 1560:
		if t.ref != ctx.Self() {
			ctx.Watch(t.ref)
			a.watching[t.ref] = struct{}{}
		}
	case k < 1600:
		for ref := range a.watching { // any
			ctx.Unwatch(ref)
			delete(a.watching, ref)
			break
		}
	case k < 1660:
		a.time(ctx)
	case k < 1680:
		a.idle = a.rng.IntN(2) == 0
		ctx.SetReceiveTimeout(0)
		if a.idle {
			ctx.SetReceiveTimeout(time.Duration(1+a.rng.IntN(300)) * time.Microsecond)
		}
	case k < 1710:
		ctx.Suspend(r.suspension(a.rng, a.block))
	case k < 1800:
		ctx.Resume(t.ref)
	}
	if n := ctx.Stashed(); n != len(a.stash) {
		r.wrong("%v has stashed %d messages, and is told of %d", ctx.Self(), len(a.stash), n)
	}
}

// time starts a timer or stops one.
func (a *soaker) time(ctx *actor.Context) {
	if len(a.timers) > 0 && a.rng.IntN(2) == 0 || len(a.timers) > 8 {
		for m, t := range a.timers { // any
			if !t.Stop() {
				a.r.wrong("%v: Stop of a timer whose message has not come says that there was none to come", ctx.Self())
			}
			if t.Stop() {
				a.r.wrong("%v: Stop of a timer that is stopped says that there was a message to come", ctx.Self())
			}
			delete(a.timers, m)
			break
		}
		return
	}
	m := &soakTick{periodic: a.rng.IntN(4) == 0}
	if a.timers == nil {
		a.timers = map[*soakTick]*actor.Timer{}
	}
	d := time.Duration(1+a.rng.IntN(300)) * time.Microsecond
	if m.periodic {
		a.timers[m] = ctx.StartPeriodic(10*d, m)
	} else {
		a.timers[m] = ctx.StartTimer(d, m)
	}
}

// ask asks from a turn. The result is looked for in later turns.
func (a *soaker) ask(ctx *actor.Context, to actor.Ref, p *soakParcel) {
	a.r.asks.Add(1)
	q := soakAsk{q: &soakQuestion{soakParcel: p}}
	q.future = ctx.Ask(to, time.Duration(1+a.rng.IntN(300))*time.Microsecond, func(to actor.ReplyTo) any {
		q.q.to = to
		return q.q
	})
	a.asked = append(a.asked, q)
	a.poll()
}

// poll looks for results, and gives up on the oldest ask if there are many.
func (a *soaker) poll() {
	a.asked = slices.DeleteFunc(a.asked, func(q soakAsk) bool {
		msg, done, err := q.future.Poll()
		if done {
			a.r.result(q, msg, err)
		}
		return done
	})
	if len(a.asked) > 4 {
		a.asked[0].future.Discard()
		a.r.ended(a.asked[0])
		a.asked = slices.Delete(a.asked, 0, 1)
	}
}

// supervisor is how the actor treats its children: in any way there is, or, nil,
// stops those that fail.
func (a *soaker) supervisor() *actor.Supervisor {
	rng := a.rng
	if rng.IntN(8) == 0 {
		return nil
	}
	s := &actor.Supervisor{
		Strategy:    actor.Strategy(rng.IntN(8) / 7),
		MaxRestarts: []int{0, 1, 3, -1, -1}[rng.IntN(5)],
		Window:      []time.Duration{0, time.Millisecond, -1}[rng.IntN(3)],
		Retry:       rng.IntN(2) == 0,
	}
	if s.Strategy == actor.AllForOne && (s.MaxRestarts < 0 || s.Window == time.Millisecond) {
		// With more than 16 children, one of which fails to start as a rule,
		// they would be restarted for ever.
		s.MaxRestarts, s.Window = 5, -1
	}
	if rng.IntN(2) == 0 {
		s.Backoff = actor.Backoff{
			Min: time.Duration(1+rng.IntN(100)) * time.Microsecond, Max: time.Millisecond,
			Factor: 1 + rng.Float64(), Jitter: rng.Float64(), Seed: rng.Uint64(),
		}
	}
	if rng.IntN(4) > 0 {
		s.Decide = a.decide
	}
	return s
}

// decide is called in the actor's turn when a child has failed.
func (a *soaker) decide(f actor.Failure) actor.Directive {
	if !soakFailure(f.Err) {
		a.r.wrong("a supervisor is asked about %v", f.Err)
	}
	switch k := a.rng.IntN(32); {
	case k < 14:
		return actor.Restart
	case k < 26:
		return actor.Resume
	case k < 28:
		return actor.Stop
	case a.guards: // or its failure would be the end of the system
		return actor.Restart
	case k < 31:
		a.escalated++
		return actor.Escalate
	}
	if err := a.raise(); err != nil {
		panic(err)
	}
	return actor.Stop
}

// spawn makes a child, which senders then know instead of another one.
func (a *soaker) spawn(ctx *actor.Context, rng *rand.Rand) {
	r := a.r
	if a.closing != nil {
		return
	}
	c := r.newSoaker(rng)
	hooked := rng.IntN(2) == 0
	policies := actor.Policies()
	m := actor.MailboxConfig{Policy: policies[rng.IntN(len(policies))]}
	if m.Policy != actor.Unbounded {
		m.Capacity = 1 + rng.IntN(8)
	}
	if rng.IntN(2) == 0 { // one sender's are equals, and stay in order
		m.Priority = func(msg any) int { return int(soakBook(msg).from % 3) }
	}
	if !r.storm {
		m.Capacity *= 64
	}
	if rng.IntN(6) == 0 {
		bound, oldest := 1+rng.IntN(16), rng.IntN(2) == 0
		m = actor.MailboxConfig{New: func() actor.Mailbox { return &soakMailbox{bound: bound, oldest: oldest} }}
	}
	if rng.IntN(6) == 0 {
		m.Watermark = 1 + rng.IntN(8)
	}
	c.block = m.Policy == actor.Block
	p := actor.Props{
		New: func() actor.Actor { return c.fresh(hooked) }, Mailbox: m,
		Throughput: rng.IntN(8), Supervisor: c.supervisor(),
	}
	if rng.IntN(6) == 0 {
		c.middle = true
		p.Middleware = []actor.Middleware{c.through}
	}
	ref, err := ctx.Spawn(p)
	switch {
	case err == nil:
		r.targets[rng.IntN(soakTargets)].Store(&soakTarget{ref, c.block})
		if rng.IntN(2) == 0 {
			ctx.Watch(ref)
			a.watching[ref] = struct{}{}
		}
	case err == actor.ErrStopping && c.values == 0:
	default:
		r.wrong("Spawn returned %v", err)
	}
}

// soakMailbox is a mailbox of one's own.
type soakMailbox struct {
	bound  int
	oldest bool // is dropped if it is full, and not the newest refused
	msgs   []any
}

// Enqueue implements [actor.Mailbox].
func (b *soakMailbox) Enqueue(msg any, drop func(any)) actor.SendResult {
	if len(b.msgs) >= b.bound {
		if !b.oldest {
			return actor.Full
		}
		drop(b.msgs[0])
		b.msgs = slices.Delete(b.msgs, 0, 1)
	}
	b.msgs = append(b.msgs, msg)
	return actor.Sent
}

// Dequeue implements [actor.Mailbox].
func (b *soakMailbox) Dequeue() (any, bool) {
	if len(b.msgs) == 0 {
		return nil, false
	}
	msg := b.msgs[0]
	b.msgs = slices.Delete(b.msgs, 0, 1)
	return msg, true
}

// Len implements [actor.Mailbox].
func (b *soakMailbox) Len() int { return len(b.msgs) }
