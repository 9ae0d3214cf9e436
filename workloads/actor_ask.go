package workloads

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"sync/atomic"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/workloads/internal/condbox"
)

// actorAsk is request and reply: between actors, and from outside in two ways.
func actorAsk() []Workload { return []Workload{askPlain(), askOutsider(), askFutures()} }

// askPlain is request and reply. The server does not know its client.
//
// The reference ref-chan-buffered makes a channel for the reply to each request, as a client does
// that may one day stop waiting: a reply that comes too late must not be taken for that to the
// next request. ref-chan-reused has one for all, as actors have one mailbox, and cannot tell.
func askPlain() Workload {
	a := bareAsk()
	a.On = func(_ Setting, f Framework) Run { return askOn(f) }
	a.Checked = "each reply is that to the last request, once; what all replies add up to"
	a.Refs = []Ref{
		{refBuffered, "goroutines, a buffered channel of requests and one of capacity 1 for each reply", func(Setting) Run { return askOnChannels(1, false) }},
		{refUnbuffered, "goroutines, an unbuffered channel of requests and one for each reply", func(Setting) Run { return askOnChannels(0, false) }},
		{
			Name:    refReused,
			Doc:     "as ref-chan-buffered, with one channel for all replies, which no client could use that gives up waiting",
			Prepare: func(Setting) Run { return askOnChannels(1, true) },
		},
		{refMutexCond, "goroutines, a slice behind a mutex and a condition variable, and both of them for each reply", func(Setting) Run { return askOnBoxes() }},
	}
	return a
}

// bareAsk is askPlain without references.
func bareAsk() Workload {
	return Workload{
		Name:     "ask",
		Doc:      "an actor sends requests with a reply-to to another and waits for each reply: request and reply are one operation",
		Messages: 2,
		Prepare:  askBetweenActors,
	}
}

// askOutsider is askPlain by a goroutine that is no actor, as every program has one somewhere: it
// is woken for every reply, which an actor passes on to it. The client of the references is a
// goroutine anyway.
func askOutsider() Workload {
	a := askPlain()
	a.On = nil // its client is no actor
	a.Variant = "from=outside"
	a.Doc = "a goroutine sends requests with a reply-to to an actor and waits for each reply: what leaving and entering the system costs"
	a.TooBig = "a goroutine waits for an actor, which nothing wakes where one goroutine does everything; ask between actors is there"
	a.Prepare = askFromOutside
	return a
}

// askFutures is askOutsider by [actor.System.Ask], which needs no actor in between.
func askFutures() Workload {
	a := askOutsider()
	a.Variant = "from=outside/by=future"
	a.Doc = "a goroutine asks an actor, again and again, and waits for the future of each reply: what waiting for an actor costs"
	a.Prepare = askByFuture
	return a
}

// A question is the request and, sent back, the reply.
type question struct {
	replyTo actor.Ref
	x       uint32
	reply   answer
}

type answer struct {
	y uint32
}

// respond computes the reply to a request.
func (q *question) respond() *answer {
	q.reply.y = fill(q.x, 1)
	return &q.reply
}

// asker is what runs in all ways have in common: the client's side, which makes requests and
// looks at the replies, and how many the server has served.
type asker struct {
	*progress
	q           question
	left        int
	open        bool // a reply is expected
	asked, told int64
	sum, want   uint64

	_      [64]byte // the server's line is another one
	served int64
}

// request returns the next request.
func (a *asker) request() *question {
	a.q.x = a.q.x*0x9e3779b1 + 1
	a.want += uint64(fill(a.q.x, 1))
	a.open = true
	a.left--
	return &a.q
}

// take books a reply.
func (a *asker) take(r *answer) error {
	if !a.open || r.y != fill(a.q.x, 1) {
		return errors.New("workloads: a reply came that is not the one to the last request: " + strconv.FormatUint(uint64(r.y), 10))
	}
	a.open = false
	a.told++
	a.sum += uint64(r.y)
	r.y = 0
	return nil
}

func (a *asker) deal(n int) {
	a.begin(n, 1)
	a.left = n
	a.asked += int64(n)
}

func (a *asker) check() error {
	if err := countCheck(a.asked, a.served); err != nil {
		return err
	}
	if err := countCheck(a.asked, a.told); err != nil {
		return err
	}
	if a.sum != a.want {
		return errors.New("workloads: the replies were not those to the requests")
	}
	return nil
}

// errTwice is what is wrong when what begins a Do has come twice.
var errTwice = errors.New("workloads: the client was told twice to begin")

// askServer is the actor that answers.
type askServer struct{ *asker }

func (s askServer) Receive(ctx *actor.Context, msg any) error {
	q, ok := msg.(*question)
	if !ok {
		return errStray()
	}
	s.served++
	return ctx.Tell(q.replyTo, q.respond())
}

// askRun is ask run by an implementation.
type askRun struct {
	actorsRun
	asker
	serverRef actor.Ref
	clientRef actor.Ref // who gets the replies
}

// Receive implements [actor.Actor]: it is the client.
func (r *askRun) Receive(ctx *actor.Context, msg any) error {
	if msg != nil {
		a, ok := msg.(*answer)
		if !ok {
			return errStray()
		}
		if err := r.take(a); err != nil {
			return err
		}
		if r.left == 0 {
			r.part()
			return nil
		}
	} else if r.open || r.left == 0 {
		return errTwice
	}
	return ctx.Tell(r.serverRef, r.request())
}

func newAsk(st Setting, client func(r *askRun) actor.Actor) *askRun {
	r := new(askRun)
	r.system = new(system)
	r.asker.progress = &r.system.progress
	r.protocol = &r.asker
	r.raise(st, func(s *system, ctx *actor.Context) (err error) {
		if r.serverRef, err = s.spawn(ctx, askServer{&r.asker}); err != nil {
			return err
		}
		r.clientRef, err = s.spawn(ctx, client(r))
		r.q.replyTo = r.clientRef
		return err
	})
	return r
}

func askBetweenActors(st Setting) Run {
	r := newAsk(st, func(r *askRun) actor.Actor { return r })
	r.begun = func(ctx *actor.Context) error { return ctx.Tell(r.clientRef, nil) }
	return r
}

// askOutside is askOutsider. Its client hands on what it receives.
type askOutside struct {
	*askRun
	reply atomic.Pointer[answer] // from the actor to the goroutine
}

func (r *askOutside) Receive(_ *actor.Context, msg any) error {
	a, ok := msg.(*answer)
	if !ok {
		return errStray()
	}
	if !r.reply.CompareAndSwap(nil, a) {
		return errors.New("workloads: a second reply came before the first was taken")
	}
	r.end()
	return nil
}

func askFromOutside(st Setting) Run {
	r := new(askOutside)
	r.askRun = newAsk(st, func(*askRun) actor.Actor { return r })
	return r
}

func (r *askOutside) Do(n int) error {
	if err := r.err(); err != nil {
		return err
	}
	r.deal(n)
	synchronous := r.sys.Synchronous()
	r.timer.Reset(patience)
	defer r.timer.Stop()
	for r.left > 0 {
		if err := r.serverRef.Tell(r.request()); err != nil {
			r.fail(err)
			return r.err() // why the server has stopped, if that is why
		}
		if synchronous {
			r.sys.RunUntilIdle()
			if r.reply.Load() == nil {
				r.fail(errLost)
			}
		}
		<-r.over // a plain receive, as in the references
		a := r.reply.Swap(nil)
		if a == nil {
			return r.err()
		}
		if err := r.take(a); err != nil {
			r.fail(err)
			return err
		}
	}
	return r.err()
}

// askFuture is askFutures. Its only actor takes the client's place, and is asked.
type askFuture struct {
	*askRun
	to actor.ReplyTo // where the reply to the last request goes
}

func (r *askFuture) Receive(ctx *actor.Context, msg any) error {
	q, ok := msg.(*question)
	if !ok {
		return errStray()
	}
	r.served++
	return ctx.Reply(r.to, q.respond())
}

func askByFuture(st Setting) Run {
	r := new(askFuture)
	r.askRun = newAsk(st, func(*askRun) actor.Actor { return r })
	return r
}

func (r *askFuture) Do(n int) error {
	if err := r.err(); err != nil {
		return err
	}
	r.deal(n)
	r.timer.Reset(patience)
	defer r.timer.Stop()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-r.over: // something is wrong: the system's end ends the wait for a reply that does not come
			_ = r.shutdown(parting)
		case <-stop:
		}
	}()
	ask := func(to actor.ReplyTo) any {
		r.to = to
		return r.request()
	}
	for r.left > 0 {
		msg, err := r.sys.Ask(r.clientRef, 0, ask).Wait(context.Background())
		if a, ok := msg.(*answer); !ok {
			err = cmp.Or(err, errStray())
		} else {
			err = r.take(a)
		}
		if err != nil {
			r.fail(err)
			return r.err() // why the server has stopped, if that is why
		}
	}
	return r.err()
}

// askByHand is ask run by a reference.
type askByHand struct {
	*handRun
	asker
}

// newAskByHand makes a client that calls ask for each request and passes on its
// reply.
func newAskByHand(ask func(q *question) *answer) *askByHand {
	r := &askByHand{handRun: newHandRun()}
	r.asker.progress = &r.handRun.progress
	r.protocol = &r.asker
	r.worker(func() error {
		for r.left > 0 {
			if err := r.take(ask(r.request())); err != nil {
				return err
			}
		}
		r.part()
		return nil
	})
	return r
}

// askOnChannels has a server behind a channel. With reused, all replies take
// the same channel.
func askOnChannels(room int, reused bool) Run {
	type request struct {
		*question
		reply chan *answer
	}
	requests := make(chan request, room)
	one := make(chan *answer, room)
	r := newAskByHand(func(q *question) *answer {
		reply := one
		if !reused {
			reply = make(chan *answer, room)
		}
		requests <- request{q, reply}
		return <-reply
	})
	r.launch(func() {
		for req := range requests {
			r.served++
			req.reply <- req.respond()
		}
	})
	r.also(func() { close(requests) })
	return r
}

// askOnBoxes has a server behind a locked mailbox, and a lock and a condition
// variable for each reply.
func askOnBoxes() Run {
	type boxed struct {
		*question
		reply *condbox.Slot[*answer]
	}
	requests := condbox.New[boxed](0)
	r := newAskByHand(func(q *question) *answer {
		reply := condbox.NewSlot[*answer]()
		requests.Put(boxed{q, reply})
		return reply.Get()
	})
	r.launch(func() {
		var batch []boxed
		for {
			if batch = requests.TakeAll(batch); len(batch) == 0 {
				return
			}
			for _, req := range batch {
				r.served++
				req.reply.Set(req.respond())
			}
		}
	})
	r.also(requests.Close)
	return r
}
