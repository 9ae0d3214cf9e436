package conformance

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// staged returns the props of an actor that writes down its hooks and what it
// is told.
func (d *eventLog) staged(name string) actor.Props {
	return actor.Props{New: making(&staged{
		receive: d.hear,
		start: func(*actor.Context) error {
			d.note(name, "-starts")
			return nil
		},
		stop: func(*actor.Context) error {
			d.note(name, "-stops")
			return nil
		},
	})}
}

// failureKind is a way to fail.
type failureKind struct {
	name string
	fail func() error
	is   func(e *Env, err error) // demands that err is of that kind
}

// failureKinds returns the ways to fail that the platform has.
func failureKinds(e *Env) []failureKind {
	all := []failureKind{
		{"error", func() error { return errA }, func(e *Env, err error) { e.same("the failure", err, errA) }},
		{"panic", func() error { panic(errB) }, func(e *Env, err error) {
			var p *actor.PanicError
			e.require(errors.As(err, &p) && p.Value == errB && errors.Is(err, errB), "the failure is ", err, ", want a *PanicError of ", errB)
			e.require(!e.Platform.Stacks || len(p.Stack) > 0, "the *PanicError has no stack")
		}},
	}
	if e.Platform.RuntimePanics {
		all = append(all, failureKind{"run-time error", func() error {
			var m map[int]int
			m[e.Rounds] = 1 //lint:ignore SA5000 the panic is what it is for
			return nil
		}, func(e *Env, err error) {
			var r runtime.Error
			e.require(errors.As(err, &r), "the failure is ", err, ", want a runtime.Error")
		}})
	}
	if e.Platform.Goexit {
		all = append(all, failureKind{"Goexit", func() error {
			runtime.Goexit()
			return nil
		}, func(e *Env, err error) { e.same("the failure", err, actor.ErrGoexit) }})
	}
	return all
}

// failureKindNamed returns the way to fail of that name; besides those of
// failureKinds there are the fatal ones.
func failureKindNamed(e *Env, name string) failureKind {
	fatal := func(e *Env, err error) {
		var f *actor.FatalError
		e.require(errors.As(err, &f) && errors.Is(err, errA), "the failure is ", err, ", want a *FatalError of ", errA)
	}
	for _, k := range append(failureKinds(e),
		failureKind{"fatal", func() error { return actor.Fatal(errA) }, fatal},
		failureKind{"wrapped-fatal", func() error { return errors.Join(errB, actor.Fatal(errA)) }, fatal},
		failureKind{"fatal-panic", func() error { panic(actor.Fatal(errA)) }, fatal},
	) {
		if k.name == name {
			return k
		}
	}
	e.fail("there is no way to fail called ", name)
	return failureKind{}
}

// V7, FR-004: stopping one.
var stopClauses = []Clause{
	{
		Name: "actor/stop-idle-soon", Rule: "FR-004",
		Why: "a system message that comes just as the actor goes idle is found: the turn's end looks once more",
		Check: actors(func(w *world) {
			d := &eventLog{}
			for i := range 100 {
				r := w.Spawn(actor.Props{New: hearing(d)})
				w.tell(r, i)
				for range i % 10 {
					yield()
				}
				if i%2 == 0 {
					w.idle()
				}
				w.Stop(r)
				w.Gone(r)
			}
			w.mu.Lock()
			w.letters = nil // who was stopped in time has one
			w.mu.Unlock()
		}),
	},
	{
		Name: "actor/stop-family", Rule: "V7",
		Why: "stopping an actor stops all below it, children before parents, and no others; Shutdown stops all, once",
		Check: actors(func(w *world) {
			t := w.family(w.e.random(), 60)
			top := t.refs[1]
			below := map[actor.Ref]bool{top: true}
			for i, r := range t.refs {
				if i > 0 && below[t.refs[t.parent[i]]] {
					below[r] = true
				}
			}
			w.End(top)
			for _, r := range t.refs {
				w.e.require(w.Alive(r) != below[r], r.Path(), " is alive: ", w.Alive(r), ", after its ancestor was stopped: ", below[r])
			}
			t.inOrder(len(below))
			w.shutdown()
			t.inOrder(len(t.refs))
			for _, r := range append(t.refs, w.UserGuardian()) {
				_, ok := w.Lookup(r.PID())
				w.e.require(!ok, r.Path(), " is found after Shutdown")
				w.returned(r.Tell(1), r, 1, actor.ErrStopped)
			}
		}),
	},
}

// mailboxes holds a configuration of every kind, with room for three messages
// of equal priority.
var mailboxes = func() (all []actor.MailboxConfig) {
	for _, priority := range []func(any) int{nil, samePriority} {
		for _, policy := range actor.Policies() {
			m := actor.MailboxConfig{Policy: policy, Priority: priority}
			switch policy {
			case actor.Unbounded:
			case actor.Grow:
				m.Capacity = 2
			default:
				m.Capacity = 3
			}
			all = append(all, m)
		}
	}
	return all
}()

func samePriority(any) int { return 0 }

// tree is a family of actors that write down in which order they stop.
type tree struct {
	w      *world
	refs   []actor.Ref
	parent []int // index of the parent, or -1

	mu    sync.Mutex
	stops []int // in order
}

// family spawns n actors below the guardian, at random places.
func (w *world) family(rng *rand.Rand, n int) *tree {
	t := &tree{w: w}
	for i := range n {
		p := actor.Props{New: making(&staged{receive: (&eventLog{}).hear, stop: func(*actor.Context) error {
			t.mu.Lock()
			t.stops = append(t.stops, i)
			t.mu.Unlock()
			return nil
		}})}
		parent := -1
		above := w.UserGuardian()
		if i > 0 {
			parent = max(0, i-1-rng.IntN(8))
			above = t.refs[parent]
		}
		w.In(above, func(ctx *actor.Context) { t.refs = append(t.refs, w.born(ctx.Spawn(p))) })
		t.parent = append(t.parent, parent)
	}
	return t
}

// inOrder demands that n of the family have stopped, each once, and children
// before parents.
func (t *tree) inOrder(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.w.e.require(len(t.stops) == n, len(t.stops), " PostStops were called, want ", n)
	when := make([]int, len(t.refs))
	for at, i := range t.stops {
		t.w.e.require(when[i] == 0, "PostStop of actor ", i, " was called twice")
		when[i] = at + 1
	}
	for i, p := range t.parent {
		if p >= 0 && when[p] > 0 {
			t.w.e.require(when[i] > 0 && when[i] < when[p], "actor ", p, " stopped before its child ", i, ": the order was ", t.stops)
		}
	}
}

// V7: the end of a system.
var shutdownClauses = []Clause{
	{
		Name: "actor/shutdown-limit", Rule: "V7", Needs: overlapEager,
		Why: "Shutdown returns when its context ends, and says who has not stopped; they go on stopping, and a second call sees it",
		Check: actors(func(w *world) {
			other := w.SpawnNamed("other", actortest.Scripted())
			a := w.SpawnNamed("a", actortest.Scripted())
			var b actor.Ref
			w.In(a, func(ctx *actor.Context) { b = w.born(ctx.SpawnNamed("b", actortest.Scripted())) })
			g := w.e.gate()
			w.ask(b, func(*actor.Context) { g.pass() })
			w.reached(g, 1)
			ctx, cancel := context.WithCancel(context.Background())
			c := start(w.e, "Shutdown", func() error { return w.Shutdown(ctx) })
			w.Gone(other)
			c.blocks("an actor has not stopped")
			cancel()
			var s *actor.ShutdownError
			err := finished(w, c)
			w.e.require(errors.As(err, &s) && s.Cause == context.Canceled && errors.Is(err, context.Canceled),
				"Shutdown returned ", err, ", want a *ShutdownError because of ", context.Canceled)
			running := map[string]actor.Straggler{}
			for _, r := range s.Running {
				running[r.Path] = r
			}
			for path, state := range map[string]actor.State{
				"/": actor.StateStopping, "/user": actor.StateStopping, "/user/a": actor.StateStopping, "/user/a/b": actor.StateRunning,
			} {
				r, ok := running[path]
				w.e.require(ok && r.State == state && !r.PID.IsZero(), "Shutdown does not say that ", path, " is ", state.String(), " but: ", err)
			}
			for path := range running {
				w.e.require(path != "/user/other", "Shutdown says that /user/other has not stopped")
			}
			w.e.require(running["/user/a/b"].PID == b.PID(), "Shutdown reports /user/a/b with PID ", running["/user/a/b"].PID.String(), ", want ", b.PID().String())
			w.e.require(!came(w.Done()), "Done is closed while ", b.Path(), " is in a turn")
			again := start(w.e, "Shutdown", func() error { return w.Shutdown(nil) }) //nolint:staticcheck // nil means Background
			again.blocks("an actor has not stopped")
			g.open()
			w.e.same("what the second Shutdown returned", finished(w, again), nil)
			w.done()
		}),
	},
	{
		Name: "actor/shutdown-within-a-turn", Rule: "V7",
		Why: "an actor may begin the end of its system; it cannot wait for it, being in the way, and is told so when its context ends",
		Check: actors(func(w *world) {
			r := w.Spawn(actortest.Scripted())
			d := &eventLog{}
			w.ask(r, func(ctx *actor.Context) {
				var s *actor.ShutdownError
				err := w.Shutdown(ended(errStop))
				w.e.require(errors.As(err, &s), "Shutdown within a turn returned ", err, ", want a *ShutdownError")
				found := false
				for _, x := range s.Running {
					found = found || x.PID == r.PID()
				}
				w.e.require(found, "Shutdown within a turn does not say that the caller has not stopped: ", err)
				d.note("told")
			})
			w.done()
			w.wantLog(d, "told")
		}),
	},
}
