package actor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/internal/invariants"
)

// A request says where its reply is to go.
type query struct {
	replyTo actor.ReplyTo
	n       int
}

// doubler is an actor that replies with twice the number.
func doubler(ctx *actor.Context, msg any) error {
	q := msg.(*query)
	return ctx.Reply(q.replyTo, 2*q.n)
}

// ask makes the function that Ask wants.
func ask(n int) func(actor.ReplyTo) any {
	return func(r actor.ReplyTo) any { return &query{r, n} }
}

func ExampleSystem_Ask() {
	type square struct {
		replyTo actor.ReplyTo
		n       int
	}
	sys, err := actor.NewSystem(actor.Config{
		Dispatcher: serial.Impl.NewDispatcher(),
		Guardian: actortest.Func(func(ctx *actor.Context, msg any) error {
			m := msg.(square)
			return ctx.Reply(m.replyTo, m.n*m.n)
		}),
	})
	if err != nil {
		panic(err)
	}
	f := sys.Ask(sys.UserGuardian(), time.Second, func(r actor.ReplyTo) any { return square{r, 12} })
	fmt.Println(f.Wait(context.Background()))
	fmt.Println(f.Wait(context.Background()))
	// Output:
	// 144 <nil>
	// <nil> actor: the future's result has been taken
}

// TestAskWaitsForRoom: in a full mailbox whose policy is Block a request waits,
// but not longer than for its reply.
func TestAskWaitsForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t, lockbased.Impl)
		h.bubble = true
		letGo := make(chan struct{})
		slow := h.spawn(actor.Props{
			New: func() actor.Actor {
				return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
					<-letGo
					return doubler(ctx, msg)
				})
			},
			Mailbox: actor.MailboxConfig{Capacity: 1, Policy: actor.Block},
		})
		var fs []actor.Future
		for i := range 2 { // one in its hands and one in the mailbox
			fs = append(fs, h.System.Ask(slow, 0, ask(i)))
			synctest.Wait()
		}
		start := time.Now()
		for _, inside := range []bool{false, true} {
			for _, timeout := range []time.Duration{time.Minute, -1} {
				var f actor.Future
				if inside {
					h.do(func(ctx *actor.Context) { start = time.Now(); f = ctx.Ask(slow, timeout, ask(1)) })
					start = start.Add(time.Second) // in which h settles
				} else {
					start = time.Now()
					f = h.System.Ask(slow, timeout, ask(1))
				}
				if d := time.Since(start); d != max(timeout, 0) {
					t.Errorf("Ask with timeout %v waited for %v", timeout, d)
				}
				if _, err := f.Wait(context.Background()); !errors.Is(err, actor.ErrTimeout) {
					t.Errorf("the Future ended with %v", err)
				}
			}
		}
		go func() {
			time.Sleep(time.Hour)
			close(letGo)
		}()
		start = time.Now()
		fs = append(fs, h.System.Ask(slow, 0, ask(2)), h.System.Ask(slow, 2*time.Hour, ask(3)))
		if d := time.Since(start); d != time.Hour {
			t.Errorf("Ask waited for %v, want an hour", d)
		}
		for i, f := range fs {
			if msg, err := f.Wait(context.Background()); msg != 2*i || err != nil {
				t.Errorf("the reply to %d: %v, %v", i, msg, err)
			}
		}
	})
}

// What one client does with a Future in TestFutureIsLinearizable.
const (
	opReply = iota
	opPoll
	opWait // with a context that has ended
	opDiscard
	opOver // the system ends; only as the last operation of a history
	numOps
)

type futureOp struct{ kind, msg int }

// outcome is how an operation ended: with a message, or why not.
type outcome struct {
	msg int
	why error
}

var errNotYet = errors.New("not yet")

// futureModel is what a Future is: a place that is empty, holds something, or
// has been emptied.
var futureModel = porcupine.Model{
	Init: func() any { return outcome{why: errNotYet} },
	Step: func(state, input, output any) (bool, any) {
		s, in, out := state.(outcome), input.(futureOp), output.(outcome)
		taken := outcome{why: actor.ErrTaken}
		switch in.kind {
		case opReply:
			if s.why == errNotYet {
				return out == outcome{}, outcome{msg: in.msg}
			}
			return out.why == actor.ErrLate, s
		case opDiscard:
			return true, taken
		default:
			if s.why == errNotYet {
				return out == s, s
			}
			return out == s, taken
		}
	},
}

// TestFutureIsLinearizable has three clients do random things with one Future
// at once: there must be an order of what they did, in keeping with the order of
// time, in which a Future that knows of no concurrency would have answered the
// same. All Futures of a test share their promises.
func TestFutureIsLinearizable(t *testing.T) {
	h := newHost(t, lockbased.Impl)
	seed := rand.Uint64()
	rng := rand.New(rand.NewPCG(seed, 0))
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	var clock atomic.Int64
	const clients, each = 3, 3
	type task struct {
		f   actor.Future
		ops [each]futureOp
	}
	var begin [clients]chan task
	history := make(chan porcupine.Operation, clients*each)
	for c := range clients {
		begin[c] = make(chan task)
		go func() {
			for k := range begin[c] {
				for _, op := range k.ops {
					o := porcupine.Operation{ClientId: c, Input: op, Call: clock.Add(1)}
					o.Output = perform(k.f, op, ended)
					o.Return = clock.Add(1)
					history <- o
				}
			}
		}()
		defer close(begin[c])
	}
	seen := map[error]int{}
	letters, replies := 0, 0
	for i := range rounds(t, 20_000) {
		f := h.System.NewFuture(time.Duration(rng.IntN(2)) * time.Hour)
		for c := range clients {
			k := task{f: f}
			for j := range k.ops {
				k.ops[j] = futureOp{[...]int{opReply, opReply, opPoll, opWait, opDiscard}[rng.IntN(5)], 1 + c*each + j}
			}
			begin[c] <- k
		}
		var ops []porcupine.Operation
		for range clients * each {
			o := <-history
			ops = append(ops, o)
			if o.Input.(futureOp).kind == opReply {
				replies++
				if o.Output.(outcome).why != nil {
					letters++
				}
			}
			seen[o.Output.(outcome).why]++
		}
		if !porcupine.CheckOperations(futureModel, ops) {
			t.Fatalf("seed %d, history %d is not that of a Future: %+v", seed, i, ops)
		}
		f.Discard()
	}
	for _, why := range []error{nil, errNotYet, actor.ErrLate, actor.ErrTaken} {
		if seen[why] == 0 {
			t.Errorf("no operation ended with %v: this has tested little", why)
		}
	}
	if got := len(h.dead()); got < letters || got > replies {
		t.Errorf("%d dead letters, but %d of %d replies were late", got, letters, replies)
	}
}

func perform(f actor.Future, op futureOp, ended context.Context) outcome {
	var (
		msg any
		err error
	)
	switch op.kind {
	case opReply:
		if err := f.ReplyTo().Tell(op.msg); err != nil {
			return outcome{why: errors.Unwrap(err)}
		}
		return outcome{}
	case opDiscard:
		f.Discard()
		return outcome{}
	case opPoll:
		var done bool
		if msg, done, err = f.Poll(); !done {
			err = errNotYet
		}
	case opWait:
		if msg, err = f.Wait(ended); err == context.Canceled {
			err = errNotYet
		}
	}
	n, _ := msg.(int)
	return outcome{n, err}
}

// stormReply is a reply that askStorm keeps account of.
type stormReply struct {
	to   *stormAsk
	ends atomic.Int32 // how often it was taken, or was a dead letter
}

// stormAsk is a request in askStorm.
type stormAsk struct {
	replyTo actor.ReplyTo
	times   int  // how many replies it gets
	outside bool // from no actor
	fail    bool // by Fail, if outside
}

func (r *stormReply) Error() string { return "no" }

// TestEveryReplyIsAccountedFor asks, from many goroutines and an actor, a
// server that replies to some requests not at all, to some more than once, and
// to some by way of goroutines that do it later, while askers wait, poll, give
// up, discard and run out of time, and in some rounds the system ends. Each
// reply must have been taken, by who asked for it, or be a dead letter, once;
// and all that were refused must be dead letters.
func TestEveryReplyIsAccountedFor(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		for i := range rounds(t, 20) {
			seed := rand.Uint64()
			if !t.Run("seed="+strconv.FormatUint(seed, 10), func(t *testing.T) { askStorm(t, impl, seed, i%3 == 2) }) {
				t.Fatalf("round %d", i)
			}
		}
	})
}

func askStorm(t *testing.T, impl dyno.Impl, seed uint64, under bool) {
	const askers, asks = 6, 300
	h := newHost(t, impl)
	var replies, accepted, late, taken, timeouts, over, noAnswer atomic.Int64
	answer := func(q *stormAsk, send func(*stormReply) error) {
		for range q.times {
			r := &stormReply{to: q}
			replies.Add(1)
			if err := send(r); err == nil {
				accepted.Add(1)
			} else if errors.Is(err, actor.ErrLate) {
				late.Add(1)
			} else {
				t.Errorf("a reply was refused: %v", err)
			}
		}
	}
	outside := make(chan *stormAsk, askers*asks)
	var repliers sync.WaitGroup
	for range 2 {
		repliers.Go(func() {
			for q := range outside {
				answer(q, func(r *stormReply) error {
					if q.fail {
						return q.replyTo.Fail(r)
					}
					return q.replyTo.Tell(r)
				})
			}
		})
	}
	server := h.spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
		q := msg.(*stormAsk)
		if q.outside {
			outside <- q
		} else {
			answer(q, func(r *stormReply) error { return ctx.Reply(q.replyTo, r) })
		}
		return nil
	}))
	take := func(q *stormAsk, msg any, err error) {
		r, ok := msg.(*stormReply)
		if !ok {
			ok = errors.As(err, &r)
		}
		switch {
		case ok && r.to == q:
			taken.Add(1)
			if r.ends.Add(1) != 1 {
				t.Error("a reply was taken twice, or after it was a dead letter")
			}
		case ok:
			t.Error("a reply was taken by a caller that did not ask for it")
		case err == actor.ErrTimeout:
			timeouts.Add(1)
		case err == actor.ErrOver:
			over.Add(1)
		case errors.Is(err, actor.ErrStopped) && under:
			noAnswer.Add(1)
		default:
			t.Errorf("the Future ended with %v, %v", msg, err)
		}
	}
	stopped := make(chan struct{})
	var wg sync.WaitGroup
	for a := range askers {
		rng := rand.New(rand.NewPCG(seed, uint64(a)))
		wg.Go(func() {
			for i := range asks {
				q := &stormAsk{times: rng.IntN(4), outside: rng.IntN(2) == 0, fail: rng.IntN(4) == 0}
				timeout := time.Duration(0)
				if q.times == 0 || rng.IntN(3) == 0 {
					timeout = time.Duration(rng.IntN(50)+1) * time.Microsecond
				}
				f := h.System.Ask(server, timeout, func(r actor.ReplyTo) any { q.replyTo = r; return q })
				if under && a == 0 && i == asks/2 {
					go func() {
						must(t, h.System.Shutdown(context.Background()))
						close(stopped)
					}()
				}
				switch rng.IntN(6) {
				case 0:
					f.Discard()
				case 1:
					runtime.Gosched()
					f.Discard()
				case 2:
					if msg, done, err := f.Poll(); done {
						take(q, msg, err)
					} else {
						f.Discard()
					}
				case 3: // gives up, and comes back
					ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(20))*time.Microsecond)
					msg, err := f.Wait(ctx)
					cancel()
					if errors.Is(err, context.DeadlineExceeded) {
						msg, err = f.Wait(context.Background())
					}
					take(q, msg, err)
				case 4: // two wait, one gets it
					second := make(chan bool)
					go func() {
						msg, err := f.Wait(context.Background())
						if err != actor.ErrTaken {
							take(q, msg, err)
						}
						second <- err == actor.ErrTaken
					}()
					msg, err := f.Wait(context.Background())
					if err != actor.ErrTaken {
						take(q, msg, err)
					}
					if told := <-second; told == (err == actor.ErrTaken) {
						t.Errorf("of two who wait one gets it; the first got %v, %v", msg, err)
					}
				default:
					msg, err := f.Wait(context.Background())
					take(q, msg, err)
				}
			}
		})
	}
	idle := make(chan struct{})
	if h.System.Synchronous() {
		// Wait runs the actors once, and then another goroutine has to.
		var driver sync.WaitGroup
		driver.Go(func() {
			for {
				select {
				case <-idle:
					return
				default:
					h.System.RunUntilIdle()
					runtime.Gosched()
				}
			}
		})
		defer driver.Wait()
	}
	wg.Wait()
	close(idle)
	if under {
		<-stopped
	}
	must(t, h.System.Shutdown(context.Background()))
	close(outside)
	repliers.Wait()
	dead := int64(0)
	for _, l := range h.Letters() {
		// The others are requests that waited when the server was stopped.
		if r, ok := l.Msg.(*stormReply); ok {
			dead++
			if l.Reason != actor.ErrLate || r.ends.Add(1) != 1 {
				t.Errorf("a reply is a dead letter twice, or though it was taken; reason %v", l.Reason)
			}
		}
	}
	if replies.Load() != taken.Load()+dead || replies.Load() != accepted.Load()+late.Load() || late.Load() > dead {
		t.Errorf("%d replies, of which %d were accepted and %d late, but %d were taken and %d are dead letters",
			replies.Load(), accepted.Load(), late.Load(), taken.Load(), dead)
	}
	if taken.Load() == 0 || late.Load() == 0 || timeouts.Load() == 0 {
		t.Errorf("%d taken, %d late, %d timeouts: this has tested little", taken.Load(), late.Load(), timeouts.Load())
	}
}

// TestSystemThatAskedIsCollected: what promises share is a system's own, and
// nothing of it outlives the system; also not what a timer had to do yet.
func TestSystemThatAskedIsCollected(t *testing.T) {
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		gone := func() func() bool {
			sys, err := actor.NewSystem(actor.Config{Dispatcher: impl.NewDispatcher(), Guardian: actortest.Func(doubler)})
			must(t, err)
			for i := range 100 {
				f := sys.Ask(sys.UserGuardian(), time.Hour, ask(i))
				if msg, err := f.Wait(context.Background()); msg != 2*i || err != nil {
					t.Errorf("Wait: %v, %v", msg, err)
				}
				sys.NewFuture(time.Hour)
			}
			must(t, sys.Shutdown(context.Background()))
			return dead(sys)
		}()
		collected(t, map[string]func() bool{"a system that asked": gone})
	})
}

// TestAskDoesNotAllocate counts what asking allocates, with a deadline and
// without, answered or given up, when promises and queues have grown to their
// number.
func TestAskDoesNotAllocate(t *testing.T) {
	if invariants.Enabled {
		t.Skip("under -race sync.Pool throws away a part of what it is given")
	}
	forEach(t, func(t *testing.T, impl dyno.Impl) {
		h := newHost(t, impl)
		server := h.spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
			return ctx.Reply(msg.(*query).replyTo, msg)
		}))
		q := &query{}
		for _, timeout := range []time.Duration{0, time.Hour} {
			run := func(n int) {
				for range n {
					f := h.System.Ask(server, timeout, func(r actor.ReplyTo) any { q.replyTo = r; return q })
					if msg, err := f.Wait(context.Background()); msg != any(q) || err != nil {
						t.Fatalf("Wait: %v, %v", msg, err)
					}
					h.System.NewFuture(timeout).Discard()
				}
			}
			run(1000)
			const n = 50_000
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			run(n)
			runtime.ReadMemStats(&after)
			if got := after.Mallocs - before.Mallocs; got > n/100 {
				t.Errorf("%d allocations for %d asks with timeout %v", got, n, timeout)
			}
		}
	})
}

// BenchmarkAsk is a request to an actor and its reply to a goroutine: by a
// Future, by one with a deadline, and by a channel made for each request, as is
// usual.
func BenchmarkAsk(b *testing.B) {
	type channelQuery struct {
		reply chan any
	}
	forEach(b, func(b *testing.B, impl dyno.Impl) {
		for _, timeout := range []time.Duration{0, time.Minute} {
			b.Run("by=future/timeout="+timeout.String(), func(b *testing.B) {
				h := newHost(b, impl)
				server := h.spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
					return ctx.Reply(msg.(*query).replyTo, msg)
				}))
				q := &query{}
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					f := h.System.Ask(server, timeout, func(r actor.ReplyTo) any { q.replyTo = r; return q })
					if _, err := f.Wait(context.Background()); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		b.Run("by=channel", func(b *testing.B) {
			h := newHost(b, impl)
			server := h.spawn(actortest.Func(func(_ *actor.Context, msg any) error {
				msg.(*channelQuery).reply <- msg
				return nil
			}))
			q := &channelQuery{}
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				reply := make(chan any, 1)
				q.reply = reply
				must(b, server.Tell(q))
				if h.System.Synchronous() {
					h.System.RunUntilIdle()
				}
				<-reply
			}
		})
	})
	b.Run("impl=none", func(b *testing.B) { // no actor, no waiting: what the place of the reply costs
		for _, timeout := range []time.Duration{0, time.Minute} {
			b.Run("by=future/timeout="+timeout.String(), func(b *testing.B) {
				h := newHost(b, serial.Impl)
				b.ReportAllocs()
				b.ResetTimer()
				for range b.N {
					f := h.System.NewFuture(timeout)
					if f.ReplyTo().Tell(h) != nil {
						b.Fatal("late")
					}
					if _, done, _ := f.Poll(); !done {
						b.Fatal("not done")
					}
				}
			})
		}
		b.Run("by=channel", func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				c := make(chan any, 1)
				c <- b
				<-c
			}
		})
	})
}
