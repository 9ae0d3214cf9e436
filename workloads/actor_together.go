package workloads

import (
	"context"
	"errors"
	"strconv"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads/internal/errgroup"
)

const (
	togetherActors = 64
	togetherTasks  = 8 // of a group
)

// actorTogether is a program that has everything: actors that start futures that use groups,
// whose sum goes back to the actor as a message. No actor waits in its turn. They run on one
// runtime where the implementation has such, and else side by side.
func actorTogether() []Workload {
	return []Workload{{
		Name:     "together",
		Doc:      "64 actors start futures that use groups of 8 tasks: what a program costs that has all three",
		Op:       "such a cycle: a future, its group and the message of the answer",
		Checked:  "each answer once, to the actor that has asked; each sum",
		TooBig:   "tasks and groups keep a goroutine each where they wait, so a stack of its own",
		Together: true,
		Prepare:  togetherOnActors,
		Refs: []Ref{
			{
				Name:    refBuffered,
				Doc:     "a goroutine and a buffered channel each, a goroutine for a future, errgroup and a buffered channel for a group",
				Prepare: func(Setting) Run { return togetherOnChannels(1) },
			},
			{refUnbuffered, "the same with unbuffered channels to the actors", func(Setting) Run { return togetherOnChannels(0) }},
		},
	}}
}

// An inquiry is what an actor wants to know: the argument of its future and, with the
// answer, the message to it. There are two of each actor, used in turn, so that one that
// comes again is told from the next.
type inquiry struct {
	of     *inquirer
	seq    int64
	answer uint64
}

// compute is the i-th part of the answer.
func (q *inquiry) compute(i int) int {
	return int(fill(uint32(q.of.index)<<16^uint32(q.seq)<<3^uint32(i), 16) >> 8)
}

// An inquirer is an actor.
type inquirer struct {
	*progress
	index     int
	self      actor.Ref
	inquiries [2]inquiry
	open      bool
	left      int // in this Do
	answered  int64
	seq       int64
	_         [64]byte // they are worked on by different processors
}

// handle handles a message, nil being the beginning, and returns what to ask next, or nil.
func (a *inquirer) handle(q *inquiry) (*inquiry, error) {
	if q == nil {
		if a.open || a.left == 0 {
			return nil, errors.New("workloads: an actor was told twice to begin")
		}
	} else {
		if !a.open || q.of != a || q.seq != a.seq {
			return nil, errors.New("workloads: an answer came twice, or to an actor that has not asked")
		}
		var want uint64
		for i := range togetherTasks {
			want += uint64(q.compute(i))
		}
		if q.answer != want {
			return nil, errors.New("workloads: a group found " + strconv.FormatUint(q.answer, 10) + " instead of " + strconv.FormatUint(want, 10))
		}
		a.open = false
		a.answered++
		if a.left == 0 {
			a.part()
			return nil, nil
		}
	}
	a.left--
	a.open = true
	a.seq++
	next := &a.inquiries[a.seq&1]
	next.of, next.seq, next.answer = a, a.seq, 0
	return next, nil
}

// inquiryBoard is what runs in all ways have in common.
type inquiryBoard struct {
	*progress
	actors []inquirer
	busy   int // actors that have anything to do in this Do
	asked  int64
}

func newInquiryBoard(s *progress) *inquiryBoard {
	b := &inquiryBoard{progress: s, actors: make([]inquirer, togetherActors)}
	for i := range b.actors {
		b.actors[i].progress, b.actors[i].index = s, i
	}
	return b
}

func (b *inquiryBoard) deal(n int) {
	b.busy = min(n, togetherActors)
	b.begin(n, b.busy)
	b.asked += int64(n)
	for i := range b.actors {
		b.actors[i].left = share(n, i, togetherActors)
	}
}

func (b *inquiryBoard) check() error {
	var answered int64
	for i := range b.actors {
		answered += b.actors[i].answered
	}
	return countCheck(b.asked, answered)
}

// togetherRun is Together run by an implementation.
type togetherRun struct {
	actorsRun
	newGroup NewGroup
	opts     []group.Option
}

func togetherOnActors(st Setting) Run {
	st.Impl = st.Impl.Joined()
	r := &togetherRun{newGroup: st.Impl.NewGroup, opts: []group.Option{group.WithResultBuffer(togetherTasks)}}
	r.system = &system{ex: st.Impl.NewExecutor()}
	b := newInquiryBoard(&r.progress)
	r.protocol = b
	r.raise(st, func(s *system, ctx *actor.Context) (err error) {
		for i := 0; i < togetherActors && err == nil; i++ {
			b.actors[i].self, err = s.spawn(ctx, &togetherActor{&b.actors[i], r})
		}
		return err
	})
	r.begun = func(ctx *actor.Context) error {
		for i := range b.busy {
			if err := ctx.Tell(b.actors[i].self, nil); err != nil {
				return err
			}
		}
		return nil
	}
	return r
}

// togetherActor is an inquirer that starts futures.
type togetherActor struct {
	*inquirer
	run *togetherRun
}

func (a *togetherActor) Receive(_ *actor.Context, msg any) error {
	q, ok := msg.(*inquiry)
	if !ok && msg != nil {
		return errStray()
	}
	next, err := a.handle(q)
	if err != nil || next == nil {
		return err
	}
	task.Call(a.run.ex, a.run.answer, next)
	return nil
}

// answer is the task of a future. It returns how many parts it has added up.
func (r *togetherRun) answer(ctx context.Context, q *inquiry) (int, error) {
	n, err := r.sum(ctx, q)
	if err == nil {
		err = q.of.self.Tell(q)
	}
	if err != nil {
		r.fail(errors.New("workloads: a future ended with " + errText(err)))
	}
	return n, err
}

func (r *togetherRun) sum(ctx context.Context, q *inquiry) (int, error) {
	g := r.newGroup(ctx, r.opts...)
	for i := range togetherTasks {
		if err := g.Go(func(context.Context) (int, error) { return q.compute(i), nil }); err != nil {
			return 0, abandon(g, err)
		}
	}
	g.Close()
	n := 0
	for {
		res, ok, err := g.Next(ctx)
		if err == nil {
			err = res.Err
		}
		if err != nil {
			return n, abandon(g, err)
		}
		if !ok {
			return n, g.Wait()
		}
		n++
		q.answer += uint64(res.Value)
	}
}

// Check implements [Run]. The last message is sent a little before its task is over.
func (r *togetherRun) Check() error {
	if err := r.actorsRun.Check(); err != nil {
		return err
	}
	r.ex.Close()
	return nil
}

func (r *togetherRun) Close() {
	r.actorsRun.Close()
	r.ex.Close()
}

// togetherOnChannels has a goroutine for everything.
func togetherOnChannels(room int) Run {
	r := newHandRun()
	b := newInquiryBoard(&r.progress)
	r.protocol = b
	var send carrier[*inquiry]
	answer := func(q *inquiry) {
		if err := sumOnErrgroup(context.Background(), q); err != nil {
			r.fail(err)
		}
		send(q.of.index, q)
	}
	send = onChannels(r.goroutines, togetherActors, func(int) int { return room }, func(at int, q *inquiry) error {
		next, err := b.actors[at].handle(q)
		if err == nil && next != nil {
			go answer(next)
		}
		return err
	})
	r.begun = func() {
		for i := range b.busy {
			send(i, nil)
		}
	}
	return r
}

// sumOnErrgroup is what one writes for a group with results in the order of completion.
func sumOnErrgroup(ctx context.Context, q *inquiry) error {
	eg, _ := errgroup.WithContext(ctx)
	results := make(chan int, togetherTasks)
	for i := range togetherTasks {
		eg.Go(func() error {
			results <- q.compute(i)
			return nil
		})
	}
	for range togetherTasks {
		q.answer += uint64(<-results)
	}
	return eg.Wait()
}
