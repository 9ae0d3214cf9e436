package peers

import (
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// An actorWorld is a system of protoactor-go, and how many dead letters it has reported.
type actorWorld struct {
	*actor.ActorSystem
	dead atomic.Int32
}

func newActorWorld() *actorWorld {
	w := &actorWorld{ActorSystem: actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger {
		return slog.New(slog.NewTextHandler(io.Discard, nil))
	}))}
	w.EventStream.Subscribe(func(event any) {
		if letter, ok := event.(*actor.DeadLetterEvent); ok {
			if _, system := letter.Message.(actor.SystemMessage); !system {
				w.dead.Add(1)
			}
		}
	})
	return w
}

// spawn starts an actor that does this with each message; props may be nil.
func (w *actorWorld) spawn(receive func(ctx actor.Context), options ...actor.PropsOption) *actor.PID {
	return w.Root.Spawn(actor.PropsFromFunc(receive, options...))
}

// A queued actor is busy with its first message while others wait: numbers.
type queued struct {
	*actorWorld
	pid     *actor.PID
	release chan struct{}
	handled []int
}

func newQueued(n int, at func(m int), options ...actor.PropsOption) *queued {
	q := &queued{actorWorld: newActorWorld(), release: make(chan struct{})}
	q.pid = q.spawn(func(ctx actor.Context) {
		if m, ok := ctx.Message().(int); ok {
			if m == 0 {
				<-q.release
			}
			at(m)
			q.handled = append(q.handled, m)
		}
	}, options...)
	for m := range n + 1 {
		q.Root.Send(q.pid, m)
	}
	return q
}

func nothing(int) {}

// end lets the actor go on until nothing moves any more.
func (q *queued) end() *queued {
	close(q.release)
	synctest.Wait()
	return q
}

// ofThem says what became of n messages that waited.
func (q *queued) ofThem(n int) string {
	handled := 0
	for _, m := range q.handled {
		if m > 0 {
			handled++
		}
	}
	return fmt.Sprintf("of %d that wait %d are handled, %d are dead letters", n, handled, q.dead.Load())
}

// only protoactor is there.
func only(f func() string) map[string]func() string {
	return map[string]func() string{"protoactor": f}
}

const surprising = "protoactor"

var actorEdges = []edge{
	{asks: "a handler panics, ten messages wait", by: only(func() string {
		q := newQueued(10, func(m int) {
			if m == 0 {
				panic("it")
			}
		}).end()
		return q.ofThem(10) + "; the message itself is lost"
	}), surprise: surprising},
	{asks: "a handler always panics, 30 messages", by: only(func() string {
		calls := 0
		q := newQueued(30, func(int) { calls++; panic("it") }).end()
		q.Root.Send(q.pid, 1)
		synctest.Wait()
		return fmt.Sprintf("stopped after %d; of the %d that wait, and one sent later, %d are dead letters", calls, 31-calls, q.dead.Load())
	}), surprise: surprising},
	{asks: "a handler ends by `runtime.Goexit`", by: only(func() string {
		return newQueued(10, func(m int) {
			if m == 0 {
				runtime.Goexit()
			}
		}).end().ofThem(10) + ", and it stays so"
	}), surprise: surprising},
	{asks: "`Stop`, ten messages wait", by: only(func() string {
		q := newQueued(10, nothing)
		q.Root.Stop(q.pid)
		return q.end().ofThem(10)
	}), surprise: surprising},
	{asks: "`Poison`, ten messages wait, ten come later", by: only(func() string {
		q := newQueued(10, nothing)
		q.Root.Poison(q.pid)
		for m := range 10 {
			q.Root.Send(q.pid, 100+m)
		}
		return q.end().ofThem(20)
	}), surprise: surprising},
	{asks: "`PoisonFuture(…).Wait()`, the actor is busy for a minute", by: only(func() string {
		q, began := newQueued(0, nothing), time.Now()
		err := q.Root.PoisonFuture(q.pid).Wait()
		took := time.Since(began)
		q.end()
		return fmt.Sprintf("after %v: %v", took, err)
	}), surprise: surprising},
	{asks: "a message to an actor that has stopped", by: only(func() string {
		q := newQueued(0, nothing).end()
		_ = q.Root.StopFuture(q.pid).Wait()
		q.Root.Send(q.pid, 1)
		return fmt.Sprintf("%d dead letter", q.dead.Load())
	})},
	{asks: "a request to an actor that has stopped, with a time limit of a minute", by: only(func() string {
		q := newQueued(0, nothing).end()
		_ = q.Root.StopFuture(q.pid).Wait()
		began := time.Now()
		_, err := q.Root.RequestFuture(q.pid, 1, time.Minute).Result()
		return fmt.Sprintf("after %v: %v", time.Since(began), err)
	})},
	{asks: "a request waits at an actor that is stopped, with a time limit of a minute", by: only(func() string {
		q, began := newQueued(0, nothing), time.Now()
		f := q.Root.RequestFuture(q.pid, 1, time.Minute)
		q.Root.Stop(q.pid)
		q.end()
		_, err := f.Result()
		return fmt.Sprintf("after %v: %v", time.Since(began), err)
	}), surprise: surprising},
	{asks: "a reply after the time limit", by: only(func() string {
		w := newActorWorld()
		pid := w.spawn(func(ctx actor.Context) {
			if _, ok := ctx.Message().(int); ok {
				time.Sleep(time.Hour)
				ctx.Respond("late")
			}
		})
		_, err := w.Root.RequestFuture(pid, 1, time.Minute).Result()
		time.Sleep(2 * time.Hour)
		return fmt.Sprintf("the asker has %v, the reply is %d dead letter", err, w.dead.Load())
	})},
	{asks: "a second reply", by: only(func() string {
		w := newActorWorld()
		pid := w.spawn(func(ctx actor.Context) {
			if _, ok := ctx.Message().(int); ok {
				ctx.Respond("one")
				ctx.Respond("two")
			}
		})
		f := w.Root.RequestFuture(pid, 1, time.Minute)
		synctest.Wait()
		got, err := f.Result()
		return fmt.Sprintf("the asker has %q, %v; %d dead letters", got, err, w.dead.Load())
	}), surprise: surprising},
	{asks: "a handler panics after it has stashed three messages", by: only(func() string {
		return stashed(func(ctx actor.Context) { panic("it") })
	})},
	{asks: "an actor stops with three messages stashed", by: only(func() string {
		return stashed(func(ctx actor.Context) { ctx.Stop(ctx.Self()) })
	}), surprise: surprising},
	{asks: "an actor with a child restarts", by: only(func() string {
		w := newActorWorld()
		ends, starts := 0, 0
		child := actor.PropsFromFunc(func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case *actor.Started:
				starts++
			case *actor.Stopped:
				ends++
			}
		})
		pid := w.spawn(func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case string:
				ctx.Spawn(child)
			case int:
				panic("it")
			}
		})
		w.Root.Send(pid, "")
		w.Root.Send(pid, 1)
		synctest.Wait()
		return fmt.Sprintf("the child is stopped (%d) and not made again (%d)", ends, starts-1)
	})},
	{asks: "an actor that has stopped is watched", by: only(func() string {
		q := newQueued(0, nothing).end()
		_ = q.Root.StopFuture(q.pid).Wait()
		told := 0
		q.spawn(func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case *actor.Started:
				ctx.Watch(q.pid)
			case *actor.Terminated:
				told++
			}
		})
		synctest.Wait()
		return fmt.Sprintf("%d `Terminated`", told)
	})},
	{asks: "1,000 messages of one sender", by: only(func() string {
		q := newQueued(1000, nothing).end()
		for i, m := range q.handled {
			if i != m {
				return fmt.Sprintf("message %d is handled as number %d", m, i)
			}
		}
		return fmt.Sprintf("%d in order", len(q.handled)-1)
	})},
}

// stashed has an actor stash three messages and then do something.
func stashed(do func(ctx actor.Context)) string {
	w := newActorWorld()
	again, restarted := 0, false
	pid := w.spawn(func(ctx actor.Context) {
		switch m := ctx.Message().(type) {
		case *actor.Restarting:
			restarted = true
		case int:
			switch {
			case m == 3:
				do(ctx)
			case restarted:
				again++
			default:
				ctx.Stash()
			}
		}
	})
	for m := range 4 {
		w.Root.Send(pid, m)
	}
	synctest.Wait()
	return fmt.Sprintf("%d come again, %d are dead letters", again, w.dead.Load())
}
