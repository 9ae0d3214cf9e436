package remoteload

import (
	"context"
	"errors"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/workloads"
)

// ask is a goroutine that waits for the reply to each request.
func (k kit) ask() []workloads.Workload {
	return []workloads.Workload{{
		Name:     "ask",
		Doc:      "a goroutine asks an actor of another system and waits for the reply before it asks again: what an answer costs",
		Op:       "a request with its reply",
		Checked:  "each request in turn; each reply is that to its request",
		Messages: 2,
		Prepare:  k.askActors,
		Refs:     k.ref("two goroutines", k.pingPongByHand),
	}}
}

// request asks for its number.
type request struct {
	Note
	to actor.ReplyTo
}

func (q request) ReplyAddress() actor.ReplyTo { return q.to }

func (q *request) SetReplyAddress(to actor.ReplyTo) { q.to = to }

type asker struct {
	*pair
	far  actor.Ref
	sent int
	came tally
}

func (k kit) askActors(st workloads.Setting) workloads.Run {
	r := &asker{pair: k.newPair(st, remote.Config{}), came: tally{0}}
	r.far = r.abroad(r.near, r.spawn(r.pair.far, func(ctx *actor.Context, msg any) error {
		q := msg.(request)
		if err := r.came.take(q.Note); err != nil {
			return err
		}
		return ctx.Reply(q.to, q.Note)
	}))
	return r
}

var errReply = errors.New("remoteload: the reply is not that to the request")

func (r *asker) Do(n int) error {
	for range n {
		if err := r.err(); err != nil {
			return err
		}
		q := newNote(0, r.sent)
		r.sent++
		f := r.near.sys.Ask(r.far, patience, func(to actor.ReplyTo) any { return request{q, to} })
		got, err := f.Wait(context.Background())
		if err != nil {
			return err
		}
		if got != q {
			return errReply
		}
	}
	return nil
}

func (r *asker) Check() error {
	if err := r.err(); err != nil {
		return err
	}
	return r.came.check([]int{r.sent})
}
