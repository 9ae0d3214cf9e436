package actorloop

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/internal/queue"
	"github.com/dynolab/dyno/task"
)

// shut is the bit in an executor's door that says that it is closed.
const shut = 1 << 63

// Executor runs tasks whose states belong to a manager loop. Make one with
// [NewExecutor].
//
// Of a handle's room, Word is the state: the manager writes it and any goroutine may
// read it. Own is the task's record; Start sets it.
type Executor struct {
	// door is the number of tasks accepted so far, and shut. Start and Close
	// change it, and so need no answer from the manager.
	door atomic.Uint64

	engine errgroup.Group // runs the tasks

	orders inbox[order] // to the manager
	calls  sync.Pool    // of *inquiry

	manager ledger // belongs to the manager loop
}

// ledger is what the manager owns, beside the records.
type ledger struct {
	over uint64 // tasks whose state is not Pending any more

	// What the invariants are checked against; kept in builds that check only.
	returned uint64       // events of that kind handled
	loops    atomic.Int32 // manager loops that run
}

// record is a task as the manager sees it.
type record struct {
	h   *task.Handle
	end node[order] // sent once: returned

	// These are the manager's.
	waits queue.List[*inquiry] // those without an answer
	done  chan struct{}        // nil until a goroutine asks for it
}

type orderKind uint8

const (
	returned orderKind = iota // the task is to be what status says, unless it is over
	await                     // answered when the task is over
	forgo                     // the caller of an await does not wait any more; that is answered, unless it has been
	revoke                    // make the task Canceled; answered with whether it was done
	publish                   // answered with the task's done channel
	census                    // answered with the number of Pending tasks
)

// order is a command or an event.
type order struct {
	kind   orderKind
	status task.Status // of returned
	of     *record     // of all but census
	by     *inquiry    // of all that are answered, which it is part of; of forgo, that of the await
}

// inquiry is a command whose caller waits for the answer.
type inquiry struct {
	command node[order]
	reply   chan reply // capacity 1

	// These are the manager's, of an await.
	waiting bool
	queued  queue.Node[*inquiry]
}

// reply is the manager's answer.
type reply struct {
	n    int
	ok   bool
	done chan struct{}
}

// NewExecutor returns an executor that is open.
func NewExecutor() *Executor {
	x := new(Executor)
	x.orders.init()
	return x
}

// send gives the manager an order.
func (x *Executor) send(o *node[order]) {
	if x.orders.send(o) {
		go x.loop()
	}
}

// inquire sends a command that is going to be answered.
func (x *Executor) inquire(k orderKind, of *record) *inquiry {
	q, _ := x.calls.Get().(*inquiry)
	if q == nil {
		q = &inquiry{reply: make(chan reply, 1)}
		q.queued.Value = q
	}
	q.command.msg = order{kind: k, of: of, by: q}
	x.send(&q.command)
	return q
}

// ask gives a command and returns the manager's answer.
func (x *Executor) ask(k orderKind, of *record) reply {
	q := x.inquire(k, of)
	a := <-q.reply
	x.keep(q)
	return a
}

// keep saves a command that was answered, and that the manager does not have any
// more, for the next call.
func (x *Executor) keep(q *inquiry) {
	q.command.msg.of = nil
	x.calls.Put(q)
}

// Start implements [task.Executor].
func (x *Executor) Start(h, _ *task.Handle) error {
	for {
		d := x.door.Load()
		if d&shut != 0 {
			return task.ErrClosed
		}
		invariants.Window() // Close may come now, or another Start
		if x.door.CompareAndSwap(d, d+1) {
			break
		}
	}
	r := &record{h: h}
	r.end.msg = order{kind: returned, of: r}
	h.Room().Own = r
	x.engine.Go(func() error {
		x.run(r)
		return nil // the state says what has become of the task
	})
	return nil
}

// Status implements [task.Executor].
func (x *Executor) Status(h *task.Handle) task.Status {
	return task.Status(h.Room().Word.Load())
}

// Wait implements [task.Executor].
func (x *Executor) Wait(ctx context.Context, h, _ *task.Handle) error {
	if x.Status(h) != task.Pending {
		return nil // and the task's context need not be made
	}
	ended := ctx.Done()
	if ctx.Err() != nil {
		return x.verdict(ctx, h)
	}
	w := x.inquire(await, recordOf(h))
	select {
	case <-w.reply:
		x.keep(w)
	case <-ended:
		// The manager may be about to answer. It decides, and its answer may
		// be that the task is over all the same. Either way forgo refers to w,
		// which therefore is not kept.
		x.send(&node[order]{msg: order{kind: forgo, by: w}})
		<-w.reply
	}
	return x.verdict(ctx, h)
}

// verdict is what Wait returns: nil if h is over, whatever has become of ctx.
func (x *Executor) verdict(ctx context.Context, h *task.Handle) error {
	if x.Status(h) != task.Pending {
		return nil
	}
	return ctx.Err()
}

// Done implements [task.Executor].
func (x *Executor) Done(h *task.Handle) <-chan struct{} {
	return x.ask(publish, recordOf(h)).done
}

// Cancel implements [task.Executor].
func (x *Executor) Cancel(h *task.Handle) bool {
	return x.Status(h) == task.Pending && x.ask(revoke, recordOf(h)).ok
}

// Yield implements [task.Executor]. It is a hint.
func (x *Executor) Yield(*task.Handle) { runtime.Gosched() }

// Flush implements [task.Executor]. There is nothing to do: tasks run by
// themselves.
func (x *Executor) Flush(int) int { return 0 }

// Pending implements [task.Executor].
func (x *Executor) Pending() int { return x.ask(census, nil).n }

// Close implements [task.Executor].
func (x *Executor) Close() {
	for {
		d := x.door.Load()
		invariants.Window() // a Start may come now
		if d&shut != 0 || x.door.CompareAndSwap(d, d|shut) {
			return
		}
	}
}

// recordOf returns the record of h.
func recordOf(h *task.Handle) *record { return h.Room().Own.(*record) }

// run is the task's goroutine. Whatever the task does, the last thing is to report.
func (x *Executor) run(r *record) {
	r.end.msg.status = task.Failed // what stands if the task does not return
	defer x.send(&r.end)
	if s := x.Status(r.h); s != task.Pending {
		r.end.msg.status = s // it was canceled before it began
		return
	}
	r.end.msg.status = r.h.Run()
}

// loop is the manager. It runs on a goroutine of its own while there are orders,
// and is the only one to touch x.manager and the records.
func (x *Executor) loop() {
	if invariants.Enabled {
		x.manager.loops.Add(1)
	}
	for yielded := false; ; {
		o := x.orders.receive()
		if o == nil {
			switch {
			case !yielded:
				yielded = true
				runtime.Gosched() // those who run have more to say
			case x.sleep():
				return
			}
			continue
		}
		yielded = false
		for o != nil {
			following := o.next
			o.next = nil
			x.handle(o)
			x.check()
			o = following
		}
	}
}

// sleep ends the manager's duty if there is no order, and reports whether it did.
func (x *Executor) sleep() bool {
	if invariants.Enabled {
		x.manager.loops.Add(-1) // before: afterwards there may be another manager
	}
	asleep := x.orders.sleep()
	if invariants.Enabled && !asleep {
		x.manager.loops.Add(1)
	}
	return asleep
}

// handle does what an order asks for. Like all methods below it is the manager's.
// A command that is answered is its sender's again.
func (x *Executor) handle(n *node[order]) {
	o := &n.msg
	switch r := o.of; o.kind {
	case returned:
		if invariants.Enabled {
			x.manager.returned++
		}
		if x.Status(r.h) == task.Pending {
			x.settle(r, o.status)
		}
	case await:
		if x.Status(r.h) != task.Pending {
			o.by.reply <- reply{}
			return
		}
		o.by.waiting = true
		r.waits.Push(&o.by.queued)
	case forgo:
		if w := o.by; w.waiting {
			w.waiting = false
			w.command.msg.of.waits.Remove(&w.queued)
			w.reply <- reply{}
		}
	case revoke:
		pending := x.Status(r.h) == task.Pending
		if pending {
			x.settle(r, task.Cancelled)
		}
		o.by.reply <- reply{ok: pending}
	case publish:
		if r.done == nil {
			r.done = make(chan struct{})
			if x.Status(r.h) != task.Pending {
				close(r.done)
			}
		}
		o.by.reply <- reply{done: r.done}
	case census:
		o.by.reply <- reply{n: int(x.door.Load()&^shut - x.manager.over)}
	}
}

// settle makes the task of r, which is Pending, what s says, and answers those who
// wait.
func (x *Executor) settle(r *record, s task.Status) {
	r.h.Room().Word.Store(uint32(s)) // hands the result over to all who do not ask
	x.manager.over++
	for !r.waits.Empty() {
		w := r.waits.Pop().Value
		w.waiting = false
		w.reply <- reply{}
	}
	if r.done != nil {
		close(r.done)
	}
}

// check panics if an invariant of the package comment does not hold, in between
// two orders. It costs nothing in builds without invariants.
func (x *Executor) check() {
	if !invariants.Enabled {
		return
	}
	m := &x.manager
	accepted := x.door.Load() &^ shut
	switch {
	case m.loops.Load() != 1:
		invariants.Violated("actorloop", "only the manager loop changes the states")
	case m.returned > accepted:
		invariants.Violated("actorloop", "a task returns once, and only if it was accepted")
	case m.over > accepted || m.over < m.returned:
		invariants.Violated("actorloop", "what has returned is over, and what is over was accepted")
	}
}
