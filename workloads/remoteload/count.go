package remoteload

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/workloads"
)

const checkedFlow = "each sender's messages in order, none missing, none twice"

// count is one actor that sends to one of another system as fast as it may. With
// frame=one each message is a frame of its own: what batches are worth.
func (k kit) count() []workloads.Workload {
	w := workloads.Workload{
		Name:    "count",
		Doc:     "an actor sends to another system's as fast as it may: what a message costs among many. With frame=one each is a frame of its own",
		Checked: checkedFlow,
		Prepare: flowKind{senders: 1}.onActors(k),
		Refs:    k.ref("two goroutines, which fill buffers,", flowKind{senders: 1}.byHand(k)),
	}
	one := w
	one.Variant, one.Refs = "frame=one", nil
	one.Prepare = flowKind{senders: 1, config: remote.Config{Batch: 1}}.onActors(k)
	return []workloads.Workload{w, one}
}

// fanIn is count with eight senders.
func (k kit) fanIn() []workloads.Workload {
	return []workloads.Workload{{
		Name:    "fanin",
		Doc:     "8 actors send to one of another system as fast as they may: whether senders get into each other's way",
		Checked: checkedFlow,
		Prepare: flowKind{senders: 8}.onActors(k),
		Refs:    k.ref("8 goroutines, which fill a buffer behind a mutex,", flowKind{senders: 8}.byHand(k)),
	}}
}

// slowReceiver is count with a receiver that takes its time.
func (k kit) slowReceiver() []workloads.Workload {
	f := flowKind{senders: 1, work: slowWork, config: remote.Config{Window: 256, Backlog: 256}}
	w := workloads.Workload{
		Name:    "slowreceiver",
		Doc:     "an actor that takes a microsecond a message gets them from another system's that is faster: what back pressure costs, and whether it holds",
		Checked: checkedFlow + "; that no more are accepted and not handled than the window, the mailbox and a turn have room for",
		Prepare: f.onActors(k),
	}
	if k.link.Holds {
		w.Refs = k.ref("two goroutines", f.byHand(k))
	}
	return []workloads.Workload{w}
}

// slowWork is about a microsecond of computing.
const slowWork = 700

// flowKind is a job of senders and one receiver.
type flowKind struct {
	senders int
	work    int // rounds of computing for each message
	config  remote.Config
}

// share returns how many of n sender i sends.
func (f flowKind) share(n, i int) int {
	if i < n%f.senders {
		return n/f.senders + 1
	}
	return n / f.senders
}

// receiver is the far end of a flow.
type receiver struct {
	came tally
	work int
	done uint32
}

func (r *receiver) take(n Note) error {
	x := r.done ^ uint32(n) | 1
	for range r.work {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
	}
	r.done = x
	return r.came.take(n)
}

// send is what a sender is told: to send so many.
type send int

type flow struct {
	*pair
	kind    flowKind
	senders []actor.Ref
	sent    []int
	end     receiver
	waiting atomic.Int64 // accepted and not handled
	most    atomic.Int64 // of waiting; written by the sender, if there is one
}

func (f flowKind) onActors(k kit) func(workloads.Setting) workloads.Run {
	return func(st workloads.Setting) workloads.Run {
		r := &flow{pair: k.newPair(st, f.config), kind: f, sent: make([]int, f.senders), end: receiver{came: make(tally, f.senders), work: f.work}}
		far := r.abroad(r.near, r.spawn(r.far, func(_ *actor.Context, msg any) error {
			if err := r.end.take(msg.(Note)); err != nil {
				return err
			}
			r.waiting.Add(-1)
			r.one()
			return nil
		}))
		for s := range f.senders {
			next := 0
			r.senders = append(r.senders, r.spawn(r.near, func(ctx *actor.Context, msg any) error {
				for range int(msg.(send)) {
					if err := ctx.Tell(far, newNote(s, next)); err != nil {
						return err
					}
					next++
					if n := r.waiting.Add(1); f.senders == 1 {
						r.most.Store(max(r.most.Load(), n))
					}
				}
				return nil
			}))
		}
		return r
	}
}

func (r *flow) Do(n int) error {
	if err := r.err(); err != nil {
		return err
	}
	r.left.Store(int64(n))
	for i, s := range r.senders {
		share := r.kind.share(n, i)
		r.sent[i] += share
		if err := s.Tell(send(share)); err != nil {
			return err
		}
	}
	return r.wait()
}

// turn is how many messages a turn takes, of which the mailbox knows nothing, and
// looks how many come between two looks at its length.
const (
	turn  = 300
	looks = 32
)

// errPressure is what is wrong when a slow receiver does not hold its senders back.
var errPressure = errors.New("remoteload: more messages were accepted and not handled than there is room for")

func (r *flow) Check() error {
	c := r.kind.config
	if c.Backlog > 0 && r.most.Load() > int64(c.Window+c.Backlog+turn+looks+1) {
		return errPressure
	}
	return r.end.came.check(r.sent)
}

// handFlow is a flow by hand.
type handFlow struct {
	*byHand
	kind    flowKind
	mu      sync.Mutex // of who sends
	sent    []int
	end     receiver
	waiting sync.WaitGroup
}

func (f flowKind) byHand(k kit) func(workloads.Setting) workloads.Run {
	return func(workloads.Setting) workloads.Run {
		r := &handFlow{byHand: k.newByHand(), kind: f, sent: make([]int, f.senders), end: receiver{came: make(tally, f.senders), work: f.work}}
		r.receive(func(n Note) error {
			if err := r.end.take(n); err != nil {
				return err
			}
			r.one()
			return nil
		})
		return r
	}
}

func (r *handFlow) Do(n int) error {
	if err := r.err(); err != nil {
		return err
	}
	r.left.Store(int64(n))
	for s := range r.kind.senders {
		share := r.kind.share(n, s)
		r.waiting.Go(func() {
			buf := make([]byte, 0, size)
			for range share {
				buf, _ = newNote(s, r.sent[s]).AppendBinary(buf[:0])
				r.sent[s]++
				r.mu.Lock()
				err := r.x.Send(buf)
				r.mu.Unlock()
				if err != nil {
					r.fail(err)
					return
				}
			}
			r.mu.Lock()
			defer r.mu.Unlock()
			if err := r.x.Flush(); err != nil {
				r.fail(err)
			}
		})
	}
	r.waiting.Wait()
	return r.wait()
}

func (r *handFlow) Check() error { return r.end.came.check(r.sent) }
