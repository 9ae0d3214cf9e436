package conformance

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
)

// Way is a way for handlers to wait for what another handler does.
type Way struct {
	Name string

	// New returns the two halves for n handlers: each of them calls wait, and another one
	// calls release, once. It may leave a handler for which that never comes.
	New func(e *Env, n int) (wait, release func())
}

// waits are the ways that need no more than Go's scheduler and its timers.
var waits = []Way{
	{"waits", func(e *Env, _ int) (wait, release func()) {
		g := e.gate()
		return g.pass, g.open
	}},
	{"sleeps", func(*Env, int) (wait, release func()) {
		var awake atomic.Bool
		return func() {
			for i := 0; i < 20_000 && !awake.Load(); i++ {
				time.Sleep(time.Millisecond)
			}
		}, func() { awake.Store(true) }
	}},
}

// together are ways to tell some actors something in turn, of which the first ones wait until
// the others have handled theirs.
var together = []struct {
	what       string
	n, waiting int
	child      bool // the second is a child of the first
	teller     int  // from a turn: -1 of one more actor, 1 of the first; else from outside
}{
	{what: "the second of two", n: 2, waiting: 1},
	{what: "the second and the third of three", n: 3, waiting: 1},
	{what: "the third of three", n: 3, waiting: 2},
	{what: "a child of the first", n: 2, waiting: 1, child: true},
	{what: "the second of two that an actor tells", n: 2, waiting: 1, teller: -1},
	{what: "the second of three that an actor tells", n: 3, waiting: 2, teller: -1},
	{what: "a child that the first tells itself", n: 2, waiting: 1, child: true, teller: 1},
}

// Overlaps returns the check that of actors which are told something together each has its
// turn though others wait for it in these ways: on an idle system whose turns have been
// measured and on one whose turns have not, and with several numbers of processors. A bubble has
// no time that goes on in a turn, and a scheduler may take that for what it does not know; so
// there turns sleep a little before.
func Overlaps(ways []Way, rounds int) func(e *Env) error {
	return check(func(e *Env) {
		for _, procs := range [...]int{1, 2, 4, 8} {
			processors(procs, func() {
				for _, warm := range [...]bool{false, true} {
					for shape := range together {
						e.overlap(shape, warm, ways, rounds)
					}
				}
			})
		}
	})
}

// overlap is Overlaps with one number of processors, for one shape.
func (e *Env) overlap(shape int, warm bool, ways []Way, rounds int) {
	s := together[shape]
	w := e.world(actor.Config{})
	defer w.abandon()
	refs := w.spawns(s.n)
	if s.child {
		w.In(refs[0], func(ctx *actor.Context) { refs[1] = w.born(ctx.Spawn(actortest.Scripted())) })
	}
	teller := w.Spawn(actortest.Scripted())
	if warm {
		w.warm(refs[0], teller)
	}
	for _, way := range ways {
		for range rounds {
			w.idle()
			wait, release := way.New(e, s.waiting)
			var left, over atomic.Int32
			left.Store(int32(s.n - s.waiting))
			orders := make([]*order, s.n)
			for i := range orders {
				orders[i] = &order{Do: func(ctx *actor.Context) error {
					if i == 0 && s.teller > 0 {
						for j := 1; j < s.n; j++ {
							w.tells(ctx, refs[j], orders[j])
						}
					}
					if i < s.waiting {
						wait()
					} else if left.Add(-1) == 0 {
						release()
					}
					over.Add(1)
					return nil
				}}
			}
			switch {
			case s.teller < 0:
				w.ask(teller, func(ctx *actor.Context) {
					for i, o := range orders {
						w.tells(ctx, refs[i], o)
					}
				})
			case s.teller > 0:
				w.tell(refs[0], orders[0])
			default:
				for i, o := range orders {
					w.tell(refs[i], o)
				}
			}
			w.until("all to have had their turns", func() bool { return int(over.Load()) == s.n }, func() string {
				temper := "cold"
				if warm {
					temper = "warm"
				}
				return text(s.what, " has no turn while the handler of an earlier one ", way.Name, " for it (", temper, ", ", runtime.GOMAXPROCS(0), " processors)")
			})
		}
	}
	w.end()
}

// warm has two actors send to each other for some milliseconds.
func (w *world) warm(a, b actor.Ref) {
	left := 20_000
	if w.e.Exact {
		left = 100
	}
	var hop *order
	var over atomic.Bool
	hop = &order{Do: func(ctx *actor.Context) error {
		if w.e.Exact {
			time.Sleep(25 * time.Microsecond)
		}
		if left--; left == 0 {
			over.Store(true)
			return nil
		}
		a, b = b, a
		w.tells(ctx, a, hop)
		return nil
	}}
	w.tell(a, hop)
	w.until("two actors to send to each other", over.Load)
}
