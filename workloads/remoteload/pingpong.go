package remoteload

import (
	"io"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/workloads"
)

// pingPong is all latency: one message is under way.
func (k kit) pingPong() []workloads.Workload {
	return []workloads.Workload{{
		Name:     "pingpong",
		Doc:      "an actor sends a message to another system's and has it back before it sends the next: what a hop between systems costs",
		Op:       "a message there and back",
		Checked:  "each message in turn, at both ends",
		Messages: 2,
		Prepare:  k.pingPongOnActors,
		Refs: append(k.ref("two goroutines", k.pingPongByHand), workloads.Ref{
			Name:    k.link.Ref + "-handed",
			Doc:     "the same with a goroutine at each end that reads and hands over through a channel: what that step costs",
			Prepare: k.handed().pingPongByHand,
		}),
	}}
}

type pingPong struct {
	*pair
	ping        actor.Ref
	sent        int // by the near actor, in all
	there, back tally
}

func (k kit) pingPongOnActors(st workloads.Setting) workloads.Run {
	r := &pingPong{pair: k.newPair(st, remote.Config{}), there: tally{0}, back: tally{0}}
	var home, away actor.Ref
	send := func(ctx *actor.Context) error {
		r.sent++
		return ctx.Tell(away, newNote(0, r.sent-1))
	}
	r.ping = r.spawn(r.near, func(ctx *actor.Context, msg any) error {
		n, ok := msg.(Note)
		if !ok { // begin
			return send(ctx)
		}
		if err := r.back.take(n); err != nil {
			return err
		}
		last := r.left.Load() == 1
		r.one()
		if last {
			return nil
		}
		return send(ctx)
	})
	home = r.abroad(r.far, r.ping)
	away = r.abroad(r.near, r.spawn(r.far, func(ctx *actor.Context, msg any) error {
		n := msg.(Note)
		if err := r.there.take(n); err != nil {
			return err
		}
		return ctx.Tell(home, n)
	}))
	return r
}

// begin has a near actor begin a Do.
type begin struct{}

func (r *pingPong) Do(n int) error {
	if err := r.err(); err != nil {
		return err
	}
	r.left.Store(int64(n))
	if err := r.ping.Tell(begin{}); err != nil {
		return err
	}
	return r.wait()
}

func (r *pingPong) Check() error {
	sent := []int{r.sent}
	if err := r.there.check(sent); err != nil {
		return err
	}
	return r.back.check(sent)
}

// echo is a ping-pong by hand: the caller's goroutine and one that sends back.
type echo struct {
	*byHand
	sent        int
	there, back tally
	buf         []byte
}

func (k kit) pingPongByHand(workloads.Setting) workloads.Run {
	r := &echo{byHand: k.newByHand(), there: tally{0}, back: tally{0}}
	buf := make([]byte, 0, size)
	r.receive(func(n Note) error {
		if err := r.there.take(n); err != nil {
			return err
		}
		buf, _ = n.AppendBinary(buf[:0])
		if err := r.y.Send(buf); err != nil {
			return err
		}
		return r.y.Flush()
	})
	return r
}

// handed returns a kit whose ends have goroutines of their own to read.
func (k kit) handed() kit {
	raw := k.link.Raw
	k.link.Raw = func() (x, y End, err error) {
		if x, y, err = raw(); err != nil {
			return nil, nil, err
		}
		return newHandedEnd(x), newHandedEnd(y), nil
	}
	return k
}

// handedEnd is an End off which a goroutine reads, which hands over through a channel.
type handedEnd struct {
	End
	come chan Note
	buf  []byte
	over chan struct{} // closed by Close
	done chan struct{} // closed when the goroutine has ended
}

func newHandedEnd(e End) *handedEnd {
	h := &handedEnd{End: e, come: make(chan Note), over: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(h.done)
		defer close(h.come)
		for {
			b, err := e.Receive()
			var n Note
			if err != nil || n.UnmarshalBinary(b) != nil {
				return
			}
			select {
			case h.come <- n:
			case <-h.over:
				return
			}
		}
	}()
	return h
}

func (h *handedEnd) Receive() ([]byte, error) {
	n, ok := <-h.come
	if !ok {
		return nil, io.EOF
	}
	h.buf, _ = n.AppendBinary(h.buf[:0])
	return h.buf, nil
}

func (h *handedEnd) Close() error {
	select {
	case <-h.over:
		return nil
	default:
	}
	close(h.over)
	err := h.End.Close()
	<-h.done
	return err
}

func (r *echo) Do(n int) error {
	for range n {
		if err := r.err(); err != nil {
			return err
		}
		r.buf, _ = newNote(0, r.sent).AppendBinary(r.buf[:0])
		r.sent++
		if err := r.x.Send(r.buf); err != nil {
			return err
		}
		if err := r.x.Flush(); err != nil {
			return err
		}
		b, err := r.x.Receive()
		if err != nil {
			return err
		}
		var back Note
		if err = back.UnmarshalBinary(b); err == nil {
			err = r.back.take(back)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *echo) Check() error { return r.back.check([]int{r.sent}) }
