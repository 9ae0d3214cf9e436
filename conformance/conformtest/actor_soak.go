package conformtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/conformance"
)

// The soak: systems, one after the other until as many messages have been sent as
// the settings ask for, in which goroutines and actors send and ask while actors
// fail, are restarted, suspended, stopped and spawned again, and the system goes
// down. The clauses of package conformance do the same in small and in bubbles;
// this is with real time, real processors and enough of it for orders of events
// that come up once in millions. What an actor does is in actor_soaker.go.
//
// Of every message a book is kept, in the message: exactly one thing becomes
// of it, it is handled, returned to its sender, or a dead letter. Handled it is
// when Receive has returned nil and it was not stashed in that call; a message
// that its receiver failed on is handled again, if the supervisor says so, or a
// dead letter. Likewise every reply is taken or a dead letter, and every ask has
// one result.

// soakTargets is how many actors senders know at a time.
const soakTargets = 16

// soakParcel is a message.
type soakParcel struct {
	from, n  int32         // the sender, and its sequence number: ascending for every receiver
	outcomes atomic.Uint32 // how many things have become of it
}

// soakQuestion is a message that wants an answer.
type soakQuestion struct {
	*soakParcel
	to   actor.ReplyTo
	left atomic.Value // the reason for which it is a dead letter
}

// ReplyAddress implements [actor.Requester].
func (q *soakQuestion) ReplyAddress() actor.ReplyTo { return q.to }

// soakAnswer is the answer.
type soakAnswer struct {
	question *soakQuestion
	outcomes atomic.Uint32
}

// soakOrder is a message to the guardian.
type soakOrder struct {
	soakParcel
	do func(ctx *actor.Context) error
}

// soakBook returns the book of a message that was sent by the test, nil for others.
func soakBook(msg any) *soakParcel {
	switch m := msg.(type) {
	case *soakParcel:
		return m
	case *soakQuestion:
		return m.soakParcel
	case *soakOrder:
		return &m.soakParcel
	}
	return nil
}

// soakTarget is whom messages are sent to.
type soakTarget struct {
	ref   actor.Ref
	block bool // its policy is Block: a sender without a context may wait for long
}

// soakCounts is what was counted in one system or, in the end, in all.
type soakCounts struct {
	systems, sent, handled, returned, undelivered, dropped      int64
	actors, failures, restarts, suspends, asks, answered, calls int64
	workers                                                     int // the most at a time
}

func (c *soakCounts) add(o soakCounts) {
	c.systems += o.systems
	c.sent += o.sent
	c.handled += o.handled
	c.returned += o.returned
	c.undelivered += o.undelivered
	c.dropped += o.dropped
	c.actors += o.actors
	c.failures += o.failures
	c.restarts += o.restarts
	c.suspends += o.suspends
	c.asks += o.asks
	c.answered += o.answered
	c.calls += o.calls
	c.workers = max(c.workers, o.workers)
}

// soakRound is one system and the book of its messages.
type soakRound struct {
	sys     *actortest.System
	storm   bool // trouble all the time; else now and then, so that many messages are handled
	parcels []soakParcel
	next    atomic.Int64 // parcels taken, and vain attempts
	orders  atomic.Int64 // sent to the guardian
	ids     atomic.Int32 // senders so far, actors included
	targets [soakTargets]atomic.Pointer[soakTarget]

	guardian *soaker
	begun    atomic.Bool // all targets are actors
	failing  atomic.Bool // the guardian has been told to fail

	returned, undelivered          atomic.Int64
	late                           atomic.Int64 // dead letters that are answers
	asks, taken                    atomic.Int64 // by way of futures; answers that came
	reported, stopped, middleCalls atomic.Int64 // failures, stops, calls that the system has told of
	workers                        int          // the most that were seen; trouble's until it is over

	mu      sync.Mutex // guards what follows
	soakers []*soaker
	err     error // the first thing that was wrong
}

func (r *soakRound) wrong(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// became books that one thing has become of p.
func (r *soakRound) became(p *soakParcel, what string) {
	if n := p.outcomes.Add(1); n != 1 {
		r.wrong("message %d of sender %d was %s, and that is thing %d that has become of it", p.n, p.from, what, n)
	}
}

// take returns a parcel that was not sent yet, nil when all are sent.
func (r *soakRound) take(from int32, n *int32) *soakParcel {
	i := r.next.Add(1) - 1
	if i >= int64(len(r.parcels)) {
		return nil
	}
	*n++
	p := &r.parcels[i]
	p.from, p.n = from, *n
	return p
}

// sent books what sending msg, whose book is p, returned.
func (r *soakRound) sent(to actor.Ref, msg any, p *soakParcel, err error) {
	if err == nil {
		return
	}
	r.refused(to, msg, p, err)
	r.returned.Add(1)
	r.became(p, "returned")
}

// refused checks the error of a send.
func (r *soakRound) refused(to actor.Ref, msg any, p *soakParcel, err error) {
	var s *actor.SendError
	switch {
	case !errors.As(err, &s) || s.Msg != msg || s.To != to:
		r.wrong("sending message %d of sender %d to %v returned %v, want a *SendError that gives it back", p.n, p.from, to, err)
	case s.Reason == actor.ErrStopped, s.Reason == actor.ErrFull, s.Reason == context.Canceled, s.Reason == context.DeadlineExceeded:
	case s.Reason == actor.ErrTimeout: // of an ask that waited for room
	case s.Reason == actor.ErrDeadlock && r.sys.Synchronous():
	default:
		r.wrong("message %d of sender %d came back because of %v", p.n, p.from, s.Reason)
	}
}

func (r *soakRound) letter(l actor.DeadLetter) {
	if a, ok := l.Msg.(*soakAnswer); ok || l.Msg == errSoak {
		if l.Reason != actor.ErrLate || l.Returned {
			r.wrong("an answer is a dead letter because of %v (returned: %v)", l.Reason, l.Returned)
		}
		r.late.Add(1)
		if ok {
			r.answer(a, "too late")
		}
		return
	}
	p := soakBook(l.Msg)
	if p == nil {
		r.wrong("a dead letter is %v, which was not sent", l.Msg)
		return
	}
	if q, ok := l.Msg.(*soakQuestion); ok && l.ReplyTo != q.to {
		r.wrong("the dead letter of a question does not say who asked it")
	}
	if q, ok := l.Msg.(*soakQuestion); ok && !l.Returned {
		q.left.Store(l.Reason)
	}
	if l.Returned {
		if _, asked := l.Msg.(*soakQuestion); asked { // the future may have ended otherwise, and its owner not know
			r.returned.Add(1)
			r.became(p, "returned")
		}
		return // others are booked by their sender
	}
	switch l.Reason {
	case actor.ErrStopped, actor.ErrDropped, actor.ErrFull: // the last after Forward
	case actor.ErrFailed:
		if !soakFailure(l.Cause) {
			r.wrong("message %d of sender %d was failed on, with the cause %v", p.n, p.from, l.Cause)
		}
	default:
		r.wrong("message %d of sender %d is a dead letter because of %v", p.n, p.from, l.Reason)
	}
	r.undelivered.Add(1)
	r.became(p, "found undelivered")
}

// answer books that one thing has become of an answer.
func (r *soakRound) answer(a *soakAnswer, what string) {
	if n := a.outcomes.Add(1); n != 1 {
		r.wrong("the answer to message %d of sender %d was %s, and that is thing %d that has become of it", a.question.n, a.question.from, what, n)
	}
}

// failure sees every failure of an actor: none has another cause.
func (r *soakRound) failure(f actor.Failure) {
	r.reported.Add(1)
	if !soakFailure(f.Err) {
		var p *actor.PanicError
		if errors.As(f.Err, &p) {
			r.wrong("%v failed on %v: %v\n%s", f.Actor, f.Msg, f.Err, p.Stack)
		} else {
			r.wrong("%v failed on %v: %v", f.Actor, f.Msg, f.Err)
		}
	}
}

var errSoak = errors.New("a failure of the soak's")

// soakFailure reports whether err is what actors of the soak fail with.
func soakFailure(err error) bool { return errors.Is(err, errSoak) || err == actor.ErrGoexit }

// soakGone is a context that has ended.
var soakGone = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// tellGuardian has the guardian call do.
func (r *soakRound) tellGuardian(do func(ctx *actor.Context) error) {
	o := &soakOrder{soakParcel: soakParcel{from: -1, n: -1}, do: do}
	g := r.sys.UserGuardian()
	r.orders.Add(1)
	r.sent(g, o, &o.soakParcel, g.Tell(o))
	r.sys.Drive()
}

// send is what one goroutine does until all parcels are sent.
func (r *soakRound) send(rng *rand.Rand) {
	id, n := r.ids.Add(1), int32(0)
	for {
		t := r.targets[rng.IntN(soakTargets)].Load()
		// Actors pass on more than they are sent: a flood only has
		// the messages wait.
		for try := 0; !r.storm && t.ref.Backlog() > 32 && try < 64 && r.next.Load() < int64(len(r.parcels)); try++ {
			r.sys.Drive()
			runtime.Gosched()
			t = r.targets[rng.IntN(soakTargets)].Load()
		}
		ctx, end := soakGone, func() {}
		switch k := rng.IntN(16); {
		case k < 1:
			ctx = context.Background() // room or the end of the actor will come
		case k < 4:
			ctx, end = context.WithTimeout(context.Background(), time.Duration(rng.IntN(300))*time.Microsecond)
		}
		for range 1 + rng.IntN(8) {
			p := r.take(id, &n)
			if p == nil {
				end()
				return
			}
			if rng.IntN(8) == 0 {
				r.ask(rng, t.ref, p)
				continue
			}
			r.sent(t.ref, p, p, t.ref.TellContext(ctx, p))
		}
		end()
		r.sys.Drive()
	}
}

// soakAsk is an ask that has not ended, or whose end was not seen.
type soakAsk struct {
	q      *soakQuestion
	future actor.Future
}

// ask asks from outside, and waits for the answer or does not.
func (r *soakRound) ask(rng *rand.Rand, to actor.Ref, p *soakParcel) {
	r.asks.Add(1)
	timeout := time.Duration(1+rng.IntN(300)) * time.Microsecond
	a := soakAsk{q: &soakQuestion{soakParcel: p}}
	a.future = r.sys.Ask(to, timeout, func(to actor.ReplyTo) any {
		a.q.to = to
		return a.q
	})
	switch rng.IntN(4) {
	case 0:
		a.future.Discard()
		r.ended(a)
	case 1:
		if msg, done, err := a.future.Poll(); done {
			r.result(a, msg, err)
		} else {
			a.future.Discard()
			r.ended(a)
		}
	case 2: // gives up, and looks once more
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(100))*time.Microsecond)
		msg, err := a.future.Wait(ctx)
		cancel()
		if err == context.DeadlineExceeded {
			msg, err = a.future.Wait(context.Background())
		}
		r.result(a, msg, err)
	default:
		msg, err := a.future.Wait(context.Background())
		r.result(a, msg, err)
	}
}

// result checks what an ask has ended with.
func (r *soakRound) result(a soakAsk, msg any, err error) {
	var s *actor.SendError
	switch {
	case err == nil:
		if m, ok := msg.(*soakAnswer); !ok || m.question != a.q {
			r.wrong("question %d of sender %d was answered with %v, which is of another one", a.q.n, a.q.from, msg)
		} else {
			r.taken.Add(1)
			r.answer(m, "taken")
		}
	case err == errSoak, err == actor.ErrTimeout, err == actor.ErrOver:
	case err == a.q.left.Load():
	case errors.As(err, &s):
		r.refused(s.To, a.q, a.q.soakParcel, err)
	default:
		r.wrong("question %d of sender %d ended with %v", a.q.n, a.q.from, err)
	}
	r.ended(a)
}

// ended checks that an ask which has ended does not end once more.
func (r *soakRound) ended(a soakAsk) {
	if msg, done, err := a.future.Poll(); !done || err != actor.ErrTaken {
		r.wrong("question %d of sender %d, whose result was taken, has another one: %v, %v, %v", a.q.n, a.q.from, msg, done, err)
	}
}

// trouble stops, suspends and resumes actors and spawns others until all
// parcels are sent.
func (r *soakRound) trouble(rng *rand.Rand) {
	for r.next.Load() < int64(len(r.parcels)) {
		r.workers = max(r.workers, r.sys.Stats().Workers)
		t := r.targets[rng.IntN(soakTargets)].Load()
		switch k := rng.IntN(8); {
		case k < 2:
			r.sys.Stop(t.ref)
		case k < 5:
			rng := rand.New(rand.NewPCG(rng.Uint64(), 2))
			r.tellGuardian(func(ctx *actor.Context) error {
				r.guardian.spawn(ctx, rng)
				return nil
			})
		case k < 6:
			if t.ref != r.sys.UserGuardian() {
				r.sys.Suspend(t.ref, r.suspension(rng, t.block))
			}
		default:
			r.sys.Resume(t.ref)
		}
		pause := 256
		if !r.storm {
			pause = 4096
		}
		for range rng.IntN(pause) {
			runtime.Gosched()
		}
		r.sys.Drive()
	}
}

// suspension is a random one. If the actor's mailbox has those wait who send to
// it, it ends by itself.
func (r *soakRound) suspension(rng *rand.Rand, block bool) actor.Suspension {
	p := actor.Suspension{Reason: "soak"}
	if block || rng.IntN(2) == 0 {
		p.After = time.Duration(1+rng.IntN(200)) * time.Microsecond
	}
	if rng.IntN(2) == 0 {
		p.Capacity = r.targets[rng.IntN(soakTargets)].Load().ref
	}
	return p
}

// census has the guardian's children stop, and waits until it has been told of
// every one that it watches.
func (r *soakRound) census() {
	left := atomic.Int64{}
	left.Store(1)
	r.tellGuardian(func(ctx *actor.Context) error {
		r.guardian.closing = func(n int) { left.Store(int64(n)) }
		for c := range ctx.Children() {
			ctx.Stop(c)
		}
		r.guardian.closing(len(r.guardian.watching))
		return nil
	})
	for begun := time.Now(); left.Load() > 0; {
		if time.Since(begun) > 30*time.Second {
			err := r.sys.Shutdown(soakGone) // which says in what state they are
			r.wrong("the guardian was not told of %d actors that it watches, whose stop was asked for 30 s ago: %v", left.Load(), err)
			return
		}
		r.sys.Drive()
		runtime.Gosched()
	}
}

// finish ends the system in one of the ways there are, when so many parcels
// have been sent, and waits for it.
func (r *soakRound) finish(rng *rand.Rand, after int64) error {
	for r.next.Load() < min(after, int64(len(r.parcels))) {
		runtime.Gosched()
	}
	switch rng.IntN(5) {
	case 0:
		r.tellGuardian(func(ctx *actor.Context) error {
			ctx.StopSelf()
			return nil
		})
	case 1:
		r.tellGuardian(func(*actor.Context) error {
			r.failing.Store(true)
			r.guardian.raised++
			r.guardian.raisedOn++
			return errSoak
		})
	case 2:
		if err := r.sys.Shutdown(soakGone); err != nil {
			var s *actor.ShutdownError
			if !errors.As(err, &s) {
				return fmt.Errorf("Shutdown with an ended context returned %w, want a *ShutdownError", err)
			}
		}
	case 3:
		r.census()
	}
	if err := r.sys.Shutdown(context.Background()); err != nil {
		return fmt.Errorf("Shutdown returned %w", err)
	}
	if !r.sys.Over() {
		return errors.New("Shutdown has returned nil, and Done is not closed")
	}
	if err := r.sys.Err(); r.failing.Load() && err != errSoak || !r.failing.Load() && err != nil {
		return fmt.Errorf("the system's Err is %w; the guardian has failed: %v", err, r.failing.Load())
	}
	return nil
}

// soakSystem runs one system and balances its book.
func (s *suite) soakSystem(e *conformance.Env, parcels []soakParcel, storm bool, seed uint64) (soakCounts, weak.Pointer[actor.System], error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	r := &soakRound{parcels: parcels, storm: storm}
	clear(r.parcels)
	g := r.newSoaker(rng)
	g.guards = true
	r.guardian = g
	config := actor.Config{
		Dispatcher:      s.impl.NewDispatcher(),
		Guardian:        actortest.Func(g.obey),
		DeadLetters:     r.letter,
		Failures:        r.failure,
		KeepDeadLetters: rng.IntN(3) - 1,
	}
	config.Guardian.Supervisor = g.supervisor()
	middle := rng.IntN(3) == 0
	if middle {
		config.Middleware = []actor.Middleware{func(next actor.ReceiveFunc) actor.ReceiveFunc {
			return func(ctx *actor.Context, msg any) error {
				r.middleCalls.Add(1)
				return next(ctx, msg)
			}
		}}
	}
	r.sys = actortest.New(config, func(err error) { panic(err) })
	heard := rng.IntN(3) == 0
	if heard {
		actor.SubscribeFunc(r.sys.Events(), func(actor.ActorStopped) { r.stopped.Add(1) })
	}
	guardian := soakTarget{ref: r.sys.UserGuardian()}
	for i := range r.targets {
		r.targets[i].Store(&guardian)
	}
	// Senders find actors, not the guardian, which takes orders only.
	spawns := rand.New(rand.NewPCG(rng.Uint64(), 0))
	r.tellGuardian(func(ctx *actor.Context) error {
		for all := false; !all; {
			g.spawn(ctx, spawns)
			all = true
			for i := range r.targets {
				all = all && r.targets[i].Load() != &guardian
			}
		}
		r.begun.Store(true)
		return nil
	})
	for !r.begun.Load() {
		e.Settle()
	}

	var senders sync.WaitGroup
	for range 1 + rng.IntN(6) {
		rng := rand.New(rand.NewPCG(rng.Uint64(), 0))
		senders.Go(func() { r.send(rng) })
	}
	var others sync.WaitGroup
	troubles := rand.New(rand.NewPCG(rng.Uint64(), 0))
	others.Go(func() { r.trouble(troubles) })
	after := rng.Int64N(int64(2 * len(parcels)))
	if !storm {
		after = int64(len(parcels)) // these are there to be handled
	}
	system := weak.Make(r.sys.System)
	if err := r.finish(rng, after); err != nil {
		return soakCounts{}, system, err
	}
	senders.Wait()
	others.Wait()
	c, err := r.balance(middle, heard)
	return c, system, err
}

// balance closes the book of a system that is done, when nothing is sent any more.
func (r *soakRound) balance(middle, heard bool) (soakCounts, error) {
	var actors, calls, handled, raised, raisedOn, escalated int64
	for _, a := range r.soakers {
		for _, q := range a.asked {
			if msg, done, err := q.future.Poll(); done {
				r.result(q, msg, err)
			} else {
				r.wrong("question %d of sender %d has no result when the system is over", q.q.n, q.q.from)
			}
		}
		if a.values > 0 {
			actors++
		}
		calls += a.calls
		handled += a.handled
		raised += a.raised
		raisedOn += a.raisedOn
		escalated += a.escalated
		if a.started {
			r.wrong("an actor has started, and neither PreRestart nor PostStop came after that")
		}
	}
	parcels := min(r.next.Load(), int64(len(r.parcels)))
	st := r.sys.Stats()
	c := soakCounts{
		systems: 1, sent: parcels + r.orders.Load(), handled: handled, returned: r.returned.Load(), undelivered: r.undelivered.Load(),
		dropped: int64(st.Dropped), actors: actors, failures: raised, restarts: int64(st.Restarts), suspends: int64(st.Suspends),
		asks: r.asks.Load(), answered: r.taken.Load(), calls: calls, workers: r.workers,
	}
	r.mu.Lock()
	err := r.err
	r.mu.Unlock()
	if err != nil {
		return c, err
	}
	for i := range parcels {
		if p := &r.parcels[i]; p.outcomes.Load() != 1 {
			return c, fmt.Errorf("message %d of sender %d, one of %d, is lost: nothing has become of it", p.n, p.from, c.sent)
		}
	}
	if c.handled+c.returned+c.undelivered != c.sent {
		return c, fmt.Errorf("%d messages were sent, %d handled, %d returned and %d undelivered", c.sent, c.handled, c.returned, c.undelivered)
	}
	for _, count := range []struct {
		name       string
		have, want int64
	}{
		{"Messages", int64(st.Messages), calls},
		{"Failed", int64(st.Failed), raisedOn},
		{"Returned", int64(st.Returned), c.returned},
		{"DeadLetters", int64(st.DeadLetters), c.undelivered + r.late.Load()},
		{"Failures", int64(st.Failures), raised + escalated},
		{"Failures", int64(st.Failures), r.reported.Load()},
		{"Spawned", int64(st.Spawned), c.actors + 3},
		{"Actors", int64(st.Actors), 0},
		{"Workers", int64(st.Workers), 0},
	} {
		if count.have != count.want {
			return c, fmt.Errorf("Stats.%s of a system that is done is %d, want %d", count.name, count.have, count.want)
		}
	}
	switch n := r.stopped.Load(); {
	case st.Resumes > st.Suspends:
		return c, fmt.Errorf("there were %d suspensions and %d ends of them", st.Suspends, st.Resumes)
	case heard && n != c.actors+1: // and the user guardian
		return c, fmt.Errorf("%d actors were spawned, the guardians not counted, and %d events say that one has stopped", c.actors, n)
	case middle && r.middleCalls.Load() != calls:
		return c, fmt.Errorf("actors were called %d times, the system's middleware %d times", calls, r.middleCalls.Load())
	}
	return c, nil
}

// soakFlow is how many messages there are in a system with little trouble.
const soakFlow = 500_000

// checkSoak runs one system after another until enough messages were sent.
func checkSoak(_ *testing.T, s *suite) outcome {
	var sum soakCounts
	seed := s.set.seed
	begun := time.Now()
	e := s.env(seed)
	settled := func(do func() error) error {
		return outside(s.limit, e, func(*conformance.Env) error { return do() })
	}
	const kept = 64
	var systems [kept]weak.Pointer[actor.System]
	parcels := make([]soakParcel, min(soakFlow, max(s.set.messages/4, min(s.set.messages, 20_000))))
	goroutines := runtime.NumGoroutine() + 1 // this one, which waits for the check's
	err := func() error {
		for i := 0; i < 4 || sum.sent < int64(s.set.messages) && time.Since(begun) < s.set.soaking; i++ {
			seed = s.set.seedOf(i)
			// Small systems have more of beginning and end, large ones of what
			// is between.
			n := min(len(parcels), []int{100, 1000, 20_000, soakFlow}[i%4])
			// A system is bounded by itself, so that one that hangs is known by
			// its seed.
			if err := settled(func() error {
				c, system, err := s.soakSystem(e, parcels[:n], i%4 < 3, seed)
				sum.add(c)
				systems[i%kept] = system
				return err
			}); err != nil {
				return fmt.Errorf("in system %d: %w", i+1, err)
			}
		}
		if sum.sent < int64(s.set.messages) {
			return fmt.Errorf("only %d messages of %d were sent in %v", sum.sent, s.set.messages, s.set.soaking)
		}
		return settled(func() error {
			if s.impl.Promises.Parks {
				if err := goroutinesLeft(e, goroutines, 0); err != nil {
					return fmt.Errorf("after %d systems %w", sum.systems, err)
				}
			}
			if collected(e, systems[:min(kept, sum.systems)]...) >= 0 {
				return errors.New("one of the last systems is still reachable")
			}
			return nil
		})
	}()
	took := time.Since(begun).Seconds()
	return outcome{err: err, seed: seed, notes: []string{fmt.Sprintf(
		"conform-metric: clause=actor/soak seconds=%.1f messages=%d rate=%.0f systems=%d actors=%d failures=%d restarts=%d suspends=%d asks=%d answered=%d workers=%d handled=%d returned=%d undelivered=%d dropped=%d calls=%d",
		took, sum.sent, float64(sum.sent)/took, sum.systems, sum.actors, sum.failures, sum.restarts, sum.suspends, sum.asks, sum.answered, sum.workers,
		sum.handled, sum.returned, sum.undelivered, sum.dropped, sum.calls)}}
}
