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
	"github.com/dynolab/dyno/conformance"
)

// The soak: for as long as the settings say, systems in which goroutines and
// actors send, while actors are stopped, fail, and are spawned again, and the
// system goes down. The clauses of package conformance do the same in small and
// in bubbles; this is with real time, real processors and enough of it for
// orders of events that come up once in millions.
//
// Of every message a book is kept, in the message: exactly one thing becomes
// of it, it is handled, returned to its sender, or found undelivered.

// soakTargets is how many actors senders know at a time.
const soakTargets = 16

// soakParcel is a message.
type soakParcel struct {
	from, n int32         // the sender, and its how manieth message: ascending for every receiver
	fate    atomic.Uint32 // how many things have become of it
}

// soakTarget is whom messages are sent to.
type soakTarget struct {
	ref   actor.Ref
	block bool // its policy is Block: whoever sends without a context may wait for long
}

// soakCounts is what was counted in one system or, in the end, in all.
type soakCounts struct {
	systems, sent, handled, returned, undelivered, dropped, actors, failures int64
	workers                                                                  int // the most at a time
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
	c.workers = max(c.workers, o.workers)
}

// soakRound is one system and the book of its messages.
type soakRound struct {
	sys     *actor.System
	seed    uint64
	parcels []soakParcel
	next    atomic.Int64 // parcels taken, and vain attempts
	orders  atomic.Int64 // sent to the guardian
	ids     atomic.Int32 // senders so far, actors included
	targets [soakTargets]atomic.Pointer[soakTarget]

	handled, returned, undelivered atomic.Int64
	spawned, stopped, failed       atomic.Int64
	workers                        int // the most that were seen; trouble's until it is over

	mu  sync.Mutex
	err error // the first thing that was wrong
}

// soakOrder is a message to the guardian, which is accounted for as well.
type soakOrder struct {
	soakParcel
	do func(ctx *actor.Context) error
}

func (r *soakRound) wrong(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// became books that one thing has become of p.
func (r *soakRound) became(p *soakParcel, count *atomic.Int64, what string) {
	count.Add(1)
	if n := p.fate.Add(1); n != 1 {
		r.wrong("message %d of sender %d was %s, and that is thing %d that has become of it", p.n, p.from, what, n)
	}
}

// take returns a parcel that nobody has sent yet, nil when all are sent.
func (r *soakRound) take(from, n int32) *soakParcel {
	i := r.next.Add(1) - 1
	if i >= int64(len(r.parcels)) {
		return nil
	}
	p := &r.parcels[i]
	p.from, p.n = from, n
	return p
}

// sent books what sending msg, whose book is p, returned.
func (r *soakRound) sent(to actor.Ref, msg any, p *soakParcel, err error) {
	if err == nil {
		return
	}
	var s *actor.SendError
	switch {
	case !errors.As(err, &s) || s.Msg != msg || s.To != to:
		r.wrong("sending message %d of sender %d to %v returned %v, want a *SendError that gives it back", p.n, p.from, to, err)
	case s.Reason == actor.ErrStopped, s.Reason == actor.ErrFull, s.Reason == context.Canceled, s.Reason == context.DeadlineExceeded:
	case s.Reason == actor.ErrDeadlock && r.sys.Synchronous():
	default:
		r.wrong("message %d of sender %d came back because of %v", p.n, p.from, s.Reason)
	}
	r.became(p, &r.returned, "returned")
}

func (r *soakRound) letter(l actor.DeadLetter) {
	if l.Returned {
		return // its sender books it
	}
	var p *soakParcel
	switch m := l.Msg.(type) {
	case *soakParcel:
		p = m
	case *soakOrder:
		p = &m.soakParcel
	default:
		r.wrong("a dead letter is %v, which nobody sent", l.Msg)
		return
	}
	switch l.Reason {
	case actor.ErrStopped, actor.ErrDropped, actor.ErrFailed, actor.ErrFull: // the last after Forward
	default:
		r.wrong("message %d of sender %d is a dead letter because of %v", p.n, p.from, l.Reason)
	}
	r.became(p, &r.undelivered, "found undelivered")
}

// soakActor is an actor that does anything. Its messages are those of sender id.
type soakActor struct {
	r    *soakRound
	rng  *rand.Rand
	id   int32
	n    int32
	last map[int32]int32 // of each sender the last message
}

var errSoak = errors.New("a failure of the soak's")

// soakGone is a context that has ended.
var soakGone = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

func (a *soakActor) Receive(ctx *actor.Context, msg any) error {
	r, p := a.r, msg.(*soakParcel)
	k := a.rng.IntN(4096)
	if k < 1508 || k >= 1516 || k >= 1514 && r.sys.Synchronous() {
		r.became(p, &r.handled, "handled") // else it fails, and the message becomes a dead letter
	}
	if last := a.last[p.from]; p.n <= last {
		r.wrong("%v was given message %d of sender %d after its message %d", ctx.Self(), p.n, p.from, last)
	}
	a.last[p.from] = p.n
	t := r.targets[a.rng.IntN(soakTargets)].Load()
	// Fewer stop than are spawned, or there would soon be nobody to send to, and
	// fewer messages are sent than handled, or there would be ever more.
	switch {
	case k < 1280:
		a.n++
		if m := r.take(a.id, a.n); m != nil {
			// A circle of actors that wait for each other would wait for ever
			// without a context.
			wait, cancel := soakGone, context.CancelFunc(func() {})
			if k < 32 {
				wait, cancel = context.WithTimeout(context.Background(), time.Duration(a.rng.IntN(200))*time.Microsecond)
			}
			r.sent(t.ref, m, m, ctx.TellContext(wait, t.ref, m))
			cancel()
		}
	case k < 1360 && !t.block:
		a.n++
		if m := r.take(a.id, a.n); m != nil {
			ctx.Forward(t.ref, m)
		}
	case k < 1400:
		r.spawn(ctx, a.rng)
	case k < 1420:
		ctx.Become(a.Receive)
	case k < 1440:
		ctx.Unbecome()
	case k < 1500:
		runtime.Gosched()
	case k < 1504:
		ctx.Stop(t.ref)
	case k < 1508:
		ctx.StopSelf()
	case k < 1512:
		r.failed.Add(1)
		return errSoak
	case k < 1514:
		r.failed.Add(1)
		panic(errSoak)
	case k < 1516 && !r.sys.Synchronous(): // else it would end the sender who runs it
		r.failed.Add(1)
		runtime.Goexit()
	}
	return nil
}

// PostStop implements [actor.PostStopper].
func (a *soakActor) PostStop(*actor.Context) error {
	a.r.stopped.Add(1)
	return nil
}

// spawn makes a child, whom senders then know instead of somebody else.
func (r *soakRound) spawn(ctx *actor.Context, rng *rand.Rand) {
	a := &soakActor{r: r, rng: rand.New(rand.NewPCG(rng.Uint64(), 1)), id: r.ids.Add(1), last: map[int32]int32{}}
	m := actor.MailboxConfig{Policy: actor.Policy(rng.IntN(int(actor.Block) + 1))}
	if m.Policy != actor.Unbounded {
		m.Capacity = 1 + rng.IntN(8)
	}
	if rng.IntN(2) == 0 { // one sender's are equals, and stay in order
		m.Priority = func(msg any) int { return int(msg.(*soakParcel).from % 3) }
	}
	ref, err := ctx.Spawn(actor.Props{New: func() actor.Actor { return a }, Mailbox: m, Throughput: rng.IntN(8)})
	switch {
	case err == nil:
		r.spawned.Add(1)
		r.targets[rng.IntN(soakTargets)].Store(&soakTarget{ref, m.Policy == actor.Block})
	case err != actor.ErrStopping:
		r.wrong("Spawn returned %v", err)
	}
}

// tellGuardian has the guardian call do.
func (r *soakRound) tellGuardian(do func(ctx *actor.Context) error) {
	o := &soakOrder{soakParcel: soakParcel{from: -1, n: -1}, do: do}
	g := r.sys.UserGuardian()
	r.orders.Add(1)
	r.sent(g, o, &o.soakParcel, g.Tell(o))
	r.drive()
}

func (r *soakRound) drive() {
	if r.sys.Synchronous() {
		r.sys.RunUntilIdle()
	}
}

// send is what one goroutine does until all parcels are sent.
func (r *soakRound) send(rng *rand.Rand) {
	id := r.ids.Add(1)
	n := int32(0)
	for {
		t := r.targets[rng.IntN(soakTargets)].Load()
		ctx, cancel := soakGone, context.CancelFunc(func() {})
		switch k := rng.IntN(16); {
		case k < 1:
			ctx = context.Background() // room or the end of the actor will come
		case k < 4:
			ctx, cancel = context.WithTimeout(context.Background(), time.Duration(rng.IntN(300))*time.Microsecond)
		}
		for range 1 + rng.IntN(8) {
			n++
			p := r.take(id, n)
			if p == nil {
				cancel()
				return
			}
			r.sent(t.ref, p, p, t.ref.TellContext(ctx, p))
		}
		cancel()
		r.drive()
	}
}

// trouble stops actors and spawns others until all parcels are sent.
func (r *soakRound) trouble(rng *rand.Rand) {
	for r.next.Load() < int64(len(r.parcels)) {
		r.workers = max(r.workers, r.sys.Stats().Workers)
		switch rng.IntN(4) {
		case 0:
			r.sys.Stop(r.targets[rng.IntN(soakTargets)].Load().ref)
		case 1, 2:
			rng := rand.New(rand.NewPCG(rng.Uint64(), 2))
			r.tellGuardian(func(ctx *actor.Context) error {
				r.spawn(ctx, rng)
				return nil
			})
		}
		for range rng.IntN(256) {
			runtime.Gosched()
		}
		r.drive()
	}
}

// finish ends the system in one of the ways there are, when so many parcels
// have been sent, and waits for it. It returns the error that the system must
// be done with, nil if that is not known.
func (r *soakRound) finish(rng *rand.Rand, after int64) error {
	for r.next.Load() < min(after, int64(len(r.parcels))) {
		runtime.Gosched()
	}
	var handled atomic.Bool
	switch rng.IntN(4) {
	case 0:
		r.tellGuardian(func(ctx *actor.Context) error {
			ctx.StopSelf()
			return nil
		})
	case 1:
		r.tellGuardian(func(*actor.Context) error {
			handled.Store(true)
			r.failed.Add(1)
			return errSoak
		})
	case 2:
		if err := r.sys.Shutdown(soakGone); err != nil {
			var s *actor.ShutdownError
			if !errors.As(err, &s) {
				return fmt.Errorf("Shutdown with an ended context returned %w, want a *ShutdownError", err)
			}
		}
	}
	if err := r.sys.Shutdown(context.Background()); err != nil {
		return fmt.Errorf("Shutdown returned %w", err)
	}
	select {
	case <-r.sys.Done():
	default:
		return errors.New("Shutdown has returned nil, and Done is not closed")
	}
	if err := r.sys.Err(); handled.Load() && err != errSoak || !handled.Load() && err != nil {
		return fmt.Errorf("the system's Err is %w; the guardian has failed: %v", err, handled.Load())
	}
	return nil
}

// soakSystem runs one system and balances its book.
func (s *suite) soakSystem(e *conformance.Env, parcels []soakParcel, seed uint64) (soakCounts, weak.Pointer[actor.System], error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	r := &soakRound{seed: seed, parcels: parcels}
	clear(r.parcels)
	sys, err := actor.NewSystem(actor.Config{
		Dispatcher: s.impl.NewDispatcher(),
		Guardian: actor.Props{New: func() actor.Actor {
			return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
				o := msg.(*soakOrder)
				err := o.do(ctx)
				if err == nil {
					r.became(&o.soakParcel, &r.handled, "handled")
				}
				return err
			})
		}},
		DeadLetters: r.letter,
	})
	if err != nil {
		return soakCounts{}, weak.Pointer[actor.System]{}, err
	}
	r.sys = sys
	nobody := soakTarget{ref: sys.UserGuardian()}
	for i := range r.targets {
		r.targets[i].Store(&nobody)
	}
	// Whoever sends finds actors, not the guardian, which takes orders only.
	spawns := rand.New(rand.NewPCG(rng.Uint64(), 0))
	var known atomic.Bool
	r.tellGuardian(func(ctx *actor.Context) error {
		for all := false; !all; {
			r.spawn(ctx, spawns)
			all = true
			for i := range r.targets {
				all = all && r.targets[i].Load() != &nobody
			}
		}
		known.Store(true)
		return nil
	})
	for !known.Load() {
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
	err = r.finish(rng, rng.Int64N(int64(2*len(parcels))))
	if err != nil {
		return soakCounts{}, weak.Pointer[actor.System]{}, err
	}
	senders.Wait()
	others.Wait()
	c, err := r.balance()
	return c, weak.Make(sys), err
}

// balance closes the book of a system that is done, when nobody sends any more.
func (r *soakRound) balance() (soakCounts, error) {
	parcels := min(r.next.Load(), int64(len(r.parcels)))
	st := r.sys.Stats()
	c := soakCounts{
		systems: 1, sent: parcels + r.orders.Load(), handled: r.handled.Load(), returned: r.returned.Load(), undelivered: r.undelivered.Load(),
		dropped: int64(st.Dropped), actors: r.spawned.Load(), failures: r.failed.Load(), workers: r.workers,
	}
	r.mu.Lock()
	err := r.err
	r.mu.Unlock()
	if err != nil {
		return c, err
	}
	for i := range parcels {
		if p := &r.parcels[i]; p.fate.Load() != 1 {
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
		{"Messages", int64(st.Messages - st.Failed), c.handled},
		{"Returned", int64(st.Returned), c.returned},
		{"DeadLetters", int64(st.DeadLetters), c.undelivered},
		{"Failures", int64(st.Failures), c.failures},
		{"Spawned", int64(st.Spawned), c.actors + 3},
		{"Actors", int64(st.Actors), 0},
		{"Workers", int64(st.Workers), 0},
	} {
		if count.have != count.want {
			return c, fmt.Errorf("Stats.%s of a system that is done is %d, want %d", count.name, count.have, count.want)
		}
	}
	if n := r.stopped.Load(); n != c.actors {
		return c, fmt.Errorf("%d actors were spawned and %d PostStops called", c.actors, n)
	}
	return c, nil
}

// checkSoak runs one system after another until the time is up.
func checkSoak(_ *testing.T, s *suite) outcome {
	var sum soakCounts
	seed := s.set.seed
	begun := time.Now()
	err := outside(s.limit+s.set.soaking, s.env(seed), func(e *conformance.Env) error {
		const kept = 64
		var systems [kept]weak.Pointer[actor.System]
		parcels := make([]soakParcel, 20_000)
		goroutines := e.Goroutines()
		for i := 0; i < 3 || time.Since(begun) < s.set.soaking; i++ {
			seed = s.set.seedOf(i)
			// Small systems have more of beginning and end, large ones of what
			// is between.
			n := []int{100, 1000, len(parcels)}[i%3]
			c, system, err := s.soakSystem(e, parcels[:n], seed)
			if err != nil {
				return fmt.Errorf("in system %d: %w", i+1, err)
			}
			sum.add(c)
			systems[i%kept] = system
		}
		if s.impl.Promises.Parks {
			more := 0
			for range 1000 {
				if more = e.Goroutines() - goroutines; more <= 0 {
					break
				}
				e.Settle()
			}
			if more > 0 {
				return fmt.Errorf("%d goroutines more after %d systems:\n%s", more, sum.systems, head(allStacks(), 4<<10))
			}
		}
		if collected(e, systems[:min(kept, sum.systems)]...) >= 0 {
			return errors.New("one of the last systems is still reachable")
		}
		return nil
	})
	return outcome{err: err, seed: seed, notes: []string{fmt.Sprintf(
		"conform-metric: clause=actor/soak seconds=%.1f systems=%d actors=%d failures=%d workers=%d sent=%d handled=%d returned=%d undelivered=%d dropped=%d",
		time.Since(begun).Seconds(), sum.systems, sum.actors, sum.failures, sum.workers, sum.sent, sum.handled, sum.returned, sum.undelivered, sum.dropped)}}
}
