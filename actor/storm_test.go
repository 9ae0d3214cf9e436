package actor_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
)

// rounds returns how often a random experiment is repeated: n times, or as many
// times more as DYNO_SOAK says.
func rounds(tb testing.TB, n int) int {
	tb.Helper()
	if testing.Short() {
		n = max(1, n/10)
	}
	if s := os.Getenv("DYNO_SOAK"); s != "" {
		k, err := strconv.Atoi(s)
		must(tb, err)
		n *= k
	}
	return n
}

// TestEveryMessageIsAccountedFor has many senders, inside and outside, send to
// actors that stop, fail and are spawned meanwhile, and then shuts down under
// fire. Each message must have been handled, returned, or reported as a dead
// letter, exactly once, and what one sender sent to one actor must have been
// handled in that order.
func TestEveryMessageIsAccountedFor(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		for i := range rounds(t, 20) {
			seed := rand.Uint64()
			if !t.Run("seed="+strconv.FormatUint(seed, 10), func(t *testing.T) { storm(t, impl, seed) }) {
				t.Fatalf("round %d", i)
			}
		}
	})
}

// letter is a message with its sender and a running number.
type letter struct {
	from, n int
	fate    atomic.Uint32 // how often something has become of it
}

// book is kept by all actors of a storm.
type book struct {
	handled, returned, dead atomic.Int64
	twice                   atomic.Int64
	disorder                atomic.Int64
}

func (b *book) count(c *atomic.Int64, msg any) {
	c.Add(1)
	if l, ok := msg.(*letter); ok && l.fate.Add(1) != 1 {
		b.twice.Add(1)
	}
}

// target handles letters, sends some on, and comes to different ends.
type target struct {
	b     *book
	rng   *rand.Rand
	last  map[int]int
	prio  bool
	peers *peers
	sent  *atomic.Int64
	id    int
	n     int
}

// peers are those that messages are sent to; some have stopped.
type peers struct {
	mu   sync.Mutex
	refs []actor.Ref
}

// add adds r, in the place of an older one if there are many.
func (p *peers) add(r actor.Ref, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.refs) < 10 {
		p.refs = append(p.refs, r)
	} else {
		p.refs[n%10] = r
	}
}

func (p *peers) any(rng *rand.Rand) actor.Ref {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.refs[rng.IntN(len(p.refs))]
}

func (a *target) Receive(ctx *actor.Context, msg any) error {
	l := msg.(*letter)
	k := a.rng.IntN(1000)
	if k != 250 && k != 251 { // or it becomes a dead letter
		a.b.count(&a.b.handled, l)
	}
	if last, ok := a.last[l.from]; ok && last >= l.n && !a.prio {
		a.b.disorder.Add(1)
	}
	a.last[l.from] = l.n
	switch {
	case k < 200: // not more, or there would be ever more messages
		a.n++
		a.sent.Add(1)
		m := &letter{from: a.id, n: a.n}
		cctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		if err := ctx.TellContext(cctx, a.peers.any(a.rng), m); err != nil {
			a.b.count(&a.b.returned, err.(*actor.SendError).Msg)
		}
	case k < 250:
		a.n++
		a.sent.Add(1)
		if a.prio { // a full mailbox may have it wait for ever
			ctx.Forward(ctx.Self(), &letter{from: a.id, n: a.n})
		} else {
			ctx.Forward(actor.Ref{}, &letter{from: a.id, n: a.n})
		}
	case k == 250:
		return errTest
	case k == 251:
		panic(errTest)
	case k == 252:
		ctx.StopSelf()
	}
	return nil
}

func storm(t *testing.T, impl dyno.Impl, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	var (
		b    book
		sent atomic.Int64
		p    peers
		ids  atomic.Int64
	)
	newTarget := func(ctx *actor.Context, rng *rand.Rand) {
		id := int(ids.Add(1))
		a := &target{b: &b, rng: rand.New(rand.NewPCG(seed, uint64(id))), last: map[int]int{}, peers: &p, sent: &sent, id: -id}
		pr := actor.Props{New: func() actor.Actor { return a }, Throughput: 1 + rng.IntN(5)}
		pr.Mailbox.Policy = actor.Policy(rng.IntN(5))
		if pr.Mailbox.Policy != actor.Unbounded {
			pr.Mailbox.Capacity = 1 + rng.IntN(4)
		}
		if rng.IntN(3) == 0 {
			a.prio = true
			pr.Mailbox.Priority = func(msg any) int { return msg.(*letter).n % 3 }
		}
		r, err := ctx.Spawn(pr)
		if err != nil {
			if !errors.Is(err, actor.ErrStopping) {
				t.Error(err)
			}
			return
		}
		p.add(r, id)
	}
	failed, back := atomic.Int64{}, atomic.Int64{}
	sys, err := actor.NewSystem(actor.Config{
		Dispatcher: impl.NewDispatcher(),
		Guardian:   props(func(ctx *actor.Context, msg any) error { newTarget(ctx, msg.(*rand.Rand)); return nil }),
		DeadLetters: func(l actor.DeadLetter) {
			if l.Returned {
				back.Add(1) // the sender counts it, too
				return
			}
			b.count(&b.dead, l.Msg)
		},
		Failures: func(actor.Failure) { failed.Add(1) },
	})
	if err != nil {
		t.Fatal(err)
	}
	var guardians int64 // messages to the guardian: handled, dead or returned as well
	spawn := func(rng *rand.Rand) error {
		return sys.UserGuardian().Tell(rng)
	}
	drive := func() {
		if sys.Synchronous() {
			sys.RunUntilIdle()
		}
	}
	for range 8 {
		guardians++
		must(t, spawn(rand.New(rand.NewPCG(rng.Uint64(), 0))))
	}
	drive()
	for sys.Stats().Spawned < 11 { // workers are at it
		time.Sleep(10 * time.Microsecond)
	}

	var wg sync.WaitGroup
	stop := make(chan struct{})
	for from := 1; from <= 4; from++ {
		rng := rand.New(rand.NewPCG(seed, uint64(1000+from)))
		wg.Go(func() {
			for n := 0; ; {
				select {
				case <-stop:
					return
				default:
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
				for range 32 {
					n++
					sent.Add(1)
					if err := p.any(rng).TellContext(ctx, &letter{from: from, n: n}); err != nil {
						b.count(&b.returned, err.(*actor.SendError).Msg)
					}
				}
				cancel()
				drive()
			}
		})
	}
	for range 20 + rng.IntN(50) {
		switch rng.IntN(3) {
		case 0:
			sys.Stop(p.any(rng))
		case 1:
			guardians++
			must(t, spawn(rand.New(rand.NewPCG(rng.Uint64(), 0))))
		default:
			time.Sleep(time.Duration(rng.IntN(100)) * time.Microsecond)
		}
	}
	must(t, sys.Shutdown(context.Background())) // while they send
	close(stop)
	wg.Wait()

	st := sys.Stats()
	handled, returned, dead := b.handled.Load(), b.returned.Load(), b.dead.Load()
	if all := sent.Load() + guardians; int64(st.Messages-st.Failed)+returned+dead != all {
		t.Errorf("sent %d, handled %d of %d, returned %d, dead %d", all, st.Messages-st.Failed, st.Messages, returned, dead)
	}
	if int64(st.DeadLetters) != dead || int64(st.Failures) != failed.Load() || int64(st.Spawned) < ids.Load()+3-guardians || st.Actors != 0 || st.Workers != 0 {
		t.Errorf("dead %d, failed %d, spawned %d, but %+v", dead, failed.Load(), ids.Load(), st)
	}
	if int64(st.Returned) != returned || back.Load() != returned {
		t.Errorf("returned %d, reported %d, but %+v", returned, back.Load(), st)
	}
	if n := b.twice.Load(); n != 0 {
		t.Errorf("%d letters had more than one fate", n)
	}
	if n := b.disorder.Load(); n != 0 {
		t.Errorf("%d letters were handled out of order", n)
	}
	t.Logf("sent %d, handled %d, returned %d, dead %d (%d dropped), failed %d", sent.Load(), handled, returned, dead, st.Dropped, failed.Load())
}
