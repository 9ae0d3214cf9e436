package actor_test

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
)

// leaver has a timer, and a PreRestart that calls Goexit.
type leaver struct {
	*journal
	life int
}

func (a *leaver) Receive(ctx *actor.Context, msg any) error {
	switch msg {
	case "time":
		ctx.StartPeriodic(100*time.Millisecond, "tick")
		ctx.SetReceiveTimeout(250 * time.Millisecond)
		return nil
	case "fail":
		return errors.New("x")
	}
	a.add(a.life)
	a.add(msg)
	return nil
}

func (a *leaver) PreRestart(*actor.Context, error) error {
	runtime.Goexit()
	return nil
}

// TestTimersEndWithGoexit has no timer of a value outlive it, even if the hook
// that should have stopped them calls Goexit.
func TestTimersEndWithGoexit(t *testing.T) {
	bubbles(t, func(_ *testing.T, h *host) {
		j := &journal{}
		lives := 0
		var ref actor.Ref
		up := props(func(ctx *actor.Context, _ any) error {
			var err error
			ref, err = ctx.Spawn(actor.Props{New: func() actor.Actor { lives++; return &leaver{j, lives} }})
			return err
		})
		up.Supervisor = &actor.Supervisor{}
		must(h, h.spawn(up).Tell(nil))
		h.settle()
		must(h, ref.Tell("time"))
		must(h, ref.Tell("fail"))
		h.settle()
		must(h, ref.Tell("alive"))
		h.settle()
		j.want(h, 2, "alive")
	})
}

// TestDecideGoexit has a child that failed be stopped if nobody has said what
// becomes of it, and not be suspended for ever.
func TestDecideGoexit(t *testing.T) {
	bubbles(t, func(_ *testing.T, h *host) {
		var ref actor.Ref
		up := props(func(ctx *actor.Context, _ any) error {
			var err error
			ref, err = ctx.Spawn(props(func(*actor.Context, any) error { return errors.New("x") }))
			return err
		})
		up.Supervisor = &actor.Supervisor{Decide: func(actor.Failure) actor.Directive {
			runtime.Goexit()
			return actor.Resume
		}}
		top := props(func(ctx *actor.Context, _ any) error {
			r, err := ctx.Spawn(up)
			must(h, r.Tell(nil))
			return err
		})
		top.Supervisor = &actor.Supervisor{Decide: func(actor.Failure) actor.Directive { return actor.Resume }}
		must(h, h.spawn(top).Tell(nil))
		h.settle()
		must(h, ref.Tell("fail"))
		h.settle()
		if _, ok := h.sys.Lookup(ref.PID()); ok {
			h.Error("the child is there")
		}
		if n := len(h.failed()); n != 2 {
			h.Errorf("there were %d failures, want the child's and its supervisor's", n)
		}
	})
}

// TestGoexitKeepsOrder has a Decide end its goroutine after it has resumed the
// supervisor, which a Suspend behind the failure is about to suspend: the Suspend
// came first, and so the supervisor goes on.
func TestGoexitKeepsOrder(t *testing.T) {
	bubbles(t, func(_ *testing.T, h *host) {
		var j journal
		var up, child actor.Ref
		busy, open := make(chan struct{}), make(chan struct{})
		p := props(func(ctx *actor.Context, msg any) error {
			switch msg {
			case "spawn":
				var err error
				child, err = ctx.Spawn(props(func(*actor.Context, any) error { return errors.New("x") }))
				return err
			case "wait":
				close(busy)
				<-open
				return nil
			}
			j.add(msg)
			return nil
		})
		p.Supervisor = &actor.Supervisor{Decide: func(actor.Failure) actor.Directive {
			h.sys.Resume(up)
			runtime.Goexit()
			return actor.Stop
		}}
		top := props(func(ctx *actor.Context, _ any) error {
			var err error
			up, err = ctx.Spawn(p)
			return err
		})
		top.Supervisor = &actor.Supervisor{Decide: func(actor.Failure) actor.Directive { return actor.Resume }}
		must(h, h.spawn(top).Tell(nil))
		h.settle()
		must(h, up.Tell("spawn"))
		h.settle()
		if h.sys.Synchronous() {
			must(h, child.Tell("fail"))
			must(h, h.sys.UserGuardian().Tell(func(*actor.Context) { h.sys.Suspend(up, actor.Suspension{}) })) // in the turn before up's
		} else {
			must(h, up.Tell("wait"))
			<-busy
			must(h, child.Tell("fail"))
			h.settle()
			h.sys.Suspend(up, actor.Suspension{})
			close(open)
		}
		h.settle()
		must(h, up.Tell("alive"))
		h.settle()
		j.want(h, "alive")
	})
}
