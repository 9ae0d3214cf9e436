package actor_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/actor"
)

func nothing(*actor.Context, any) error { return nil }

func TestNames(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var room, anon, other actor.Ref
		h.do(func(ctx *actor.Context) {
			var err error
			room, err = ctx.SpawnNamed("room", props(func(ctx *actor.Context, msg any) error {
				var err error
				anon, err = ctx.Spawn(props(nothing))
				must(t, err)
				other, err = ctx.SpawnNamed("room", props(nothing)) // the same name below another parent
				must(t, err)
				if c, ok := ctx.Child(anon.Name()); !ok || c != anon {
					t.Errorf("Child(%q) = %v, %v", anon.Name(), c, ok)
				}
				return nil
			}))
			must(t, err)
			must(t, ctx.Tell(room, 1))
			if r, err := ctx.SpawnNamed("room", props(nothing)); err != actor.ErrNameTaken || !r.IsZero() {
				t.Errorf("a second room: %v, %v", r, err)
			}
			for _, bad := range []string{"", "a/b", "/", "anon-", "anon-9", "anon-x"} {
				if r, err := ctx.SpawnNamed(bad, props(nothing)); err != actor.ErrBadName || !r.IsZero() {
					t.Errorf("SpawnNamed(%q): %v, %v", bad, r, err)
				}
			}
			if c, ok := ctx.Child("room"); !ok || c != room {
				t.Errorf("Child(room) = %v, %v", c, ok)
			}
			for _, missing := range []string{"", "hall", "anon-", "anon-x", "anon-01", "anon-99", "anon-" + room.PID().String()} {
				if c, ok := ctx.Child(missing); ok {
					t.Errorf("Child(%q) = %v", missing, c)
				}
			}
		})
		if got := room.Path(); got != "/user/room" {
			t.Errorf("Path = %q", got)
		}
		if want := "anon-" + anon.PID().String(); anon.Name() != want || anon.Path() != "/user/room/"+want {
			t.Errorf("Name = %q, Path = %q, want …/%s", anon.Name(), anon.Path(), want)
		}
		if got, want := anon.String(), anon.Path()+"#"+anon.PID().String(); got != want {
			t.Errorf("String = %q, want %q", got, want)
		}
		for _, r := range []actor.Ref{h.sys.UserGuardian(), room, anon, other} {
			if got, ok := h.sys.Find(r.Path()); !ok || got != r {
				t.Errorf("Find(%q) = %v, %v", r.Path(), got, ok)
			}
			if got, ok := h.sys.Lookup(r.PID()); !ok || got != r {
				t.Errorf("Lookup(%v) = %v, %v", r.PID(), got, ok)
			}
		}
		for _, path := range []string{"", "user", "/", "/nobody", "/user/", "/user//room", "/user/room/", "/user/anon-" + anon.PID().String(), "/user/room/anon-0"} {
			if r, ok := h.sys.Find(path); ok {
				t.Errorf("Find(%q) = %v", path, r)
			}
		}
		// The name is free when its owner has stopped, and the old Ref is not the new one.
		h.sys.Stop(room)
		h.settle()
		if _, ok := h.sys.Find("/user/room/room"); ok {
			t.Error("a child of a stopped actor is still found")
		}
		h.do(func(ctx *actor.Context) {
			again, err := ctx.SpawnNamed("room", props(nothing))
			must(t, err)
			if again == room || again.PID() == room.PID() {
				t.Errorf("%v took over the identity of %v", again, room)
			}
			wantBack(t, ctx.Tell(room, 5), 5, room, actor.ErrStopped)
			if r, ok := h.sys.Lookup(room.PID()); ok {
				t.Errorf("Lookup of the old PID = %v", r)
			}
			if room.Path() != again.Path() {
				t.Errorf("%v and %v have different paths", room, again)
			}
		})
	})
}

// A PID is never given out again, although slots are.
func TestPIDsAreUnique(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		seen := map[actor.PID]bool{}
		var live []actor.Ref
		for i := range 2000 {
			var r actor.Ref
			h.do(func(ctx *actor.Context) {
				var err error
				r, err = ctx.Spawn(props(nothing))
				must(t, err)
				live = append(live, r)
				if i%3 > 0 {
					k := i * 7 % len(live)
					ctx.Stop(live[k])
					live = slices.Delete(live, k, k+1)
				}
			})
			if seen[r.PID()] {
				t.Fatalf("PID %v was given out twice", r.PID())
			}
			seen[r.PID()] = true
			if p, ok := actor.ParsePID(r.PID().String()); !ok || p != r.PID() {
				t.Fatalf("ParsePID(%q) = %v, %v", r.PID(), p, ok)
			}
		}
		for _, r := range live {
			if got, ok := h.sys.Lookup(r.PID()); !ok || got != r {
				t.Errorf("Lookup(%v) = %v, %v, want %v", r.PID(), got, ok, r)
			}
		}
		if n := h.sys.Stats().Actors; n != len(live)+3 {
			t.Errorf("Stats.Actors = %d, want %d and three guardians", n, len(live))
		}
	})
}

func FuzzParsePID(f *testing.F) {
	for _, s := range []string{"", "1", "1.2", "4294967295.4294967295", "4294967296", "1.", ".1", "01", "1.02", "1.0", "+1", "-1", "0", "1.2.3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, ok := actor.ParsePID(s)
		if ok && p.String() != s {
			t.Errorf("ParsePID(%q) = %v", s, p)
		}
		if !ok && strings.Trim(s, "0123456789") == "" && len(s) > 0 && len(s) < 10 && s[0] != '0' {
			t.Errorf("ParsePID(%q) failed", s)
		}
	})
}

func TestZeroRef(t *testing.T) {
	bubbles(t, func(t *testing.T, h *host) {
		var r actor.Ref
		if !r.IsZero() || !r.PID().IsZero() || r.Name() != "" || r.Path() != "" || r.String() != "nobody" {
			t.Errorf("the zero Ref is %v, %v, %q, %q", r, r.PID(), r.Name(), r.Path())
		}
		wantBack(t, r.Tell(1), 1, r, actor.ErrNobody)
		h.do(func(ctx *actor.Context) {
			wantBack(t, ctx.Tell(r, 2), 2, r, actor.ErrNobody)
			wantBack(t, ctx.TellContext(t.Context(), r, 3), 3, r, actor.ErrNobody)
			ctx.Forward(r, 4)
			ctx.Stop(r)
		})
		h.sys.Stop(r)
		wantAll(t, h.dead(), 4)
		if _, ok := h.sys.Lookup(actor.PID{}); ok {
			t.Error("the zero PID is somebody's")
		}
	})
}
