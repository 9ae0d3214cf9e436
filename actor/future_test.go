package actor_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/impls/serial"
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
		for i := range 2 { // one is handled and one waits
			fs = append(fs, h.System.Ask(slow, 0, ask(i)))
			synctest.Wait()
		}
		start := time.Now()
		for _, inside := range []bool{false, true} {
			for _, timeout := range []time.Duration{time.Minute, 1, -1} {
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
