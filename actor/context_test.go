package actor_test

import (
	"strings"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/internal/invariants"
)

func TestContextKnowsItsPlace(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var self, parent actor.Ref
		var refs []actor.Ref
		h.do(func(ctx *actor.Context) {
			if ctx.Self() != h.sys.UserGuardian() || !ctx.Parent().IsZero() || ctx.System() != h.sys {
				t.Errorf("the guardian is %v, its parent %v", ctx.Self(), ctx.Parent())
			}
			for range 3 {
				r, err := ctx.Spawn(props(func(ctx *actor.Context, _ any) error {
					self, parent = ctx.Self(), ctx.Parent()
					return nil
				}))
				must(t, err)
				refs = append(refs, r)
			}
		})
		must(t, refs[1].Tell(1))
		h.settle()
		if self != refs[1] || parent != h.sys.UserGuardian() {
			t.Errorf("the child %v sees itself as %v, its parent as %v", refs[1], self, parent)
		}
		children := func() (got []actor.Ref) {
			h.do(func(ctx *actor.Context) {
				for r := range ctx.Children() {
					got = append(got, r)
				}
				for range ctx.Children() {
					break
				}
			})
			return got
		}
		if got := children(); len(got) != 3 || got[0] != refs[2] || got[1] != refs[1] || got[2] != refs[0] {
			t.Errorf("Children = %v, want the newest of %v first", got, refs)
		}
		for i, want := range [][]actor.Ref{{refs[2], refs[0]}, {refs[0]}, {}} { // the middle, the newest, the last
			h.sys.Stop([]actor.Ref{refs[1], refs[2], refs[0]}[i])
			h.settle()
			if got := children(); !equal(got, want) {
				t.Errorf("Children = %v, want %v", got, want)
			}
		}
	})
}

func equal(a, b []actor.Ref) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestBecome(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		as := func(name string) actor.ReceiveFunc {
			return func(ctx *actor.Context, msg any) error {
				j.add(name + ":" + msg.(string))
				if msg == "un" && !ctx.Unbecome() {
					j.add("bottom")
				}
				return nil
			}
		}
		b, c := as("b"), as("c")
		a := &hooked{journal: &j, name: "a"}
		a.onMessage = func(ctx *actor.Context, msg any) error {
			switch msg {
			case "b":
				ctx.Become(b)
			case "bc":
				ctx.Become(b)
				ctx.Become(c)
			case "un":
				j.add(ctx.Unbecome())
			}
			return nil
		}
		r := h.spawn(a.props())
		for _, m := range []string{"un", "b", "x", "un", "y", "bc", "x", "un", "x", "un", "y", "b"} {
			must(t, r.Tell(m))
		}
		h.settle()
		h.sys.Stop(r) // the hooks stay those of the actor
		h.settle()
		j.want(t, "a starts", "a gets un", false, "a gets b", "b:x", "b:un", "a gets y", "a gets bc",
			"c:x", "c:un", "b:x", "b:un", "a gets y", "a gets b", "a stops")
	})
	h := newHost(t, serial.Impl)
	h.do(func(ctx *actor.Context) {
		defer func() {
			if recover() == nil {
				t.Error("Become(nil) did not panic")
			}
		}()
		ctx.Become(nil)
	})
}

// A Context that is used when its actor is not in its turn is found out.
func TestContextOutsideItsTurn(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("needs a build with -race or -tags dynocheck")
	}
	bubbles(t, func(t *testing.T, h *host) {
		var kept *actor.Context
		h.do(func(ctx *actor.Context) { kept = ctx })
		for name, use := range map[string]func(){
			"Self":        func() { kept.Self() },
			"Parent":      func() { kept.Parent() },
			"Children":    func() { kept.Children() },
			"Child":       func() { kept.Child("x") },
			"System":      func() { kept.System() },
			"Tell":        func() { _ = kept.Tell(actor.Ref{}, 1) },
			"TellContext": func() { _ = kept.TellContext(t.Context(), actor.Ref{}, 1) },
			"Forward":     func() { kept.Forward(actor.Ref{}, 1) },
			"Spawn":       func() { _, _ = kept.Spawn(props(nothing)) },
			"SpawnNamed":  func() { _, _ = kept.SpawnNamed("x", props(nothing)) },
			"Stop":        func() { kept.Stop(actor.Ref{}) },
			"StopSelf":    func() { kept.StopSelf() },
			"Become":      func() { kept.Become(nothing) },
			"Unbecome":    func() { kept.Unbecome() },
		} {
			func() {
				defer func() {
					if v, _ := recover().(string); !strings.Contains(v, "outside its actor's turn") {
						t.Errorf("%s outside the turn: recovered %q", name, v)
					}
				}()
				use()
			}()
		}
	})
}

func TestForward(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var j journal
		alive := h.spawnFunc(func(_ *actor.Context, msg any) error { j.add(msg); return nil })
		gone := h.spawnFunc(nothing)
		h.sys.Stop(gone)
		h.settle()
		h.do(func(ctx *actor.Context) {
			ctx.Forward(alive, 1)
			ctx.Forward(gone, 2)
		})
		j.want(t, 1)
		if len(h.letters) != 1 || h.letters[0].Msg != 2 || h.letters[0].To != gone || h.letters[0].Reason != actor.ErrStopped {
			t.Errorf("dead letters: %v, want 2 for %v", h.letters, gone)
		}
		if st := h.sys.Stats(); st.Returned != 0 || st.DeadLetters != 1 {
			t.Errorf("%+v, want one dead letter, none returned", st)
		}
	})
}

func TestSpawnErrors(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		h.do(func(ctx *actor.Context) {
			for _, tt := range []struct {
				p     actor.Props
				field string
			}{
				{actor.Props{}, "Props.New"},
				{actor.Props{New: func() actor.Actor { return nil }}, "Props.New"},
				{actor.Props{New: props(nothing).New, Throughput: -1}, "Props.Throughput"},
				{actor.Props{New: props(nothing).New, Throughput: 1<<30 + 1}, "Props.Throughput"},
				{actor.Props{New: props(nothing).New, Mailbox: actor.MailboxConfig{Policy: 99, Capacity: 1}}, "Mailbox.Policy"},
				{actor.Props{New: props(nothing).New, Mailbox: actor.MailboxConfig{Capacity: 1}}, "Mailbox.Capacity"},
				{actor.Props{New: props(nothing).New, Mailbox: actor.MailboxConfig{Policy: actor.Block}}, "Mailbox.Capacity"},
				{actor.Props{New: props(nothing).New, Mailbox: actor.MailboxConfig{Policy: actor.Grow, Capacity: -1}}, "Mailbox.Capacity"},
			} {
				r, err := ctx.Spawn(tt.p)
				e, ok := err.(*actor.PropsError)
				if !ok || e.Field != tt.field || !r.IsZero() {
					t.Errorf("Spawn(%+v) = %v, %v, want a *PropsError about %s", tt.p, r, err, tt.field)
				}
			}
		})
		if n := h.sys.Stats().Spawned; n != 3 {
			t.Errorf("%d actors were spawned, want the guardians only", n)
		}
	})
}

// An actor tells one of another system: that is a tell from outside there.
func TestTellAcrossSystems(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		for _, d := range []actor.Dispatcher{lockbased.NewDispatcher(), serial.NewDispatcher()} {
			there := newHostOn(t, d)
			there.bubble = true
			var j journal
			r := there.spawnFunc(func(_ *actor.Context, msg any) error { j.add(msg); return nil })
			h.do(func(ctx *actor.Context) {
				must(t, ctx.Tell(r, 1))
				ctx.Forward(r, 2)
				must(t, ctx.TellContext(t.Context(), r, 3))
				ctx.Stop(r)
			})
			there.settle()
			if st := there.sys.Stats(); st.Actors != 3 || int(st.DeadLetters)+len(j.got()) != 3 {
				t.Errorf("handled %v, and then %+v", j.got(), st)
			}
		}
	})
}
