package workstealing

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/task"
)

// numbered returns n handles that nobody has started, numbered from 1.
func numbered(n int) []*task.Handle {
	hs := make([]*task.Handle, n)
	for i := range hs {
		hs[i] = new(task.Handle)
		hs[i].Room().ID = uint64(i + 1)
	}
	return hs
}

// number is the number of h, or 0.
func number(h *task.Handle) uint64 {
	if h == nil {
		return 0
	}
	return h.Room().ID
}

// One goroutine cannot tell the forks from a slice, also where the indices
// overflow.
func TestForksAreADeque(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		hs := numbered(600)
		var f forks
		if seed%2 == 0 { // indices near the end of their range
			f.last, f.seen, f.dirty = 1<<32-100, 1<<32-100, 1<<32-100
			f.top.Store(7<<32 | 1<<32 - 100)
			f.publish()
		}
		var model []*task.Handle
		accepted := uint32(0)
		for len(hs) > 40 {
			alive := func(hs []*task.Handle) (n int) {
				for _, h := range hs {
					if waits(h) {
						n++
					}
				}
				return n
			}
			var got, want *task.Handle
			switch op := r.IntN(20); {
			case op < 8:
				f.push(hs[0])
				model = append(model, hs[0])
				hs = hs[1:]
				accepted++
			case op < 9:
				n := 1 + r.IntN(batch)
				f.fill(hs[:n])
				for i := n - 1; i >= 0; i-- {
					model = append(model, hs[i])
				}
				hs = hs[n:]
			case op < 12:
				for got = f.pop(); got != nil && !waits(got); got = f.pop() {
				}
				for n := len(model); n > 0 && want == nil; n-- {
					if h := model[n-1]; waits(h) {
						want = h
					}
					model = model[:n-1]
				}
			case op < 15:
				for got = f.steal(); got != nil && !waits(got); got = f.steal() {
				}
				for len(model) > 0 && want == nil {
					if waits(model[0]) {
						want = model[0]
					}
					model = model[1:]
				}
			case op < 17 && len(model) > 0:
				claim(model[r.IntN(len(model))])
			case op < 19:
				f.trim()
				for n := len(model); n > 0 && !waits(model[n-1]); n-- {
					model = model[:n-1]
				}
				// What is claimed and not at the end may stay, or be dropped.
				if f.len() > len(model) || f.len() > 0 && !waits(f.ring.Load().at(f.last-1).Load()) {
					t.Fatalf("seed %d: %d tasks after trim, want at most %d", seed, f.len(), len(model))
				}
			case op == 19 && f.len() == 0:
				f.tidy()
			}
			if got != want {
				t.Fatalf("seed %d: task %d came out, want %d", seed, number(got), number(want))
			}
			if f.len() < alive(model) || f.len() > len(model) || f.accepted() != accepted {
				t.Fatalf("seed %d: %d tasks and %d accepted, want %d, of which %d wait, and %d", seed, f.len(), f.accepted(), len(model), alive(model), accepted)
			}
		}
	}
}

// Owner and thieves together take each task once, the owner the newest of those
// that are left and thieves each one later than the one before.
func TestForksHandEachTaskOutOnce(t *testing.T) {
	const thieves = 3
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		hs := numbered(500)
		taken := make([]atomic.Int32, len(hs)+1)
		var f forks
		var over atomic.Bool
		var wg sync.WaitGroup
		for range thieves {
			wg.Go(func() {
				last := uint64(0)
				for {
					done := over.Load()
					h := f.steal()
					switch {
					case h != nil:
						if number(h) <= last {
							t.Errorf("seed %d: a thief took task %d after %d", seed, number(h), last)
						}
						last = number(h)
						taken[last].Add(1)
					case done:
						return
					default:
						runtime.Gosched()
					}
				}
			})
		}
		newest := uint64(0)
		for len(hs) > 0 {
			for range min(1+r.IntN(40), len(hs)) {
				f.push(hs[0])
				newest = number(hs[0])
				hs = hs[1:]
			}
			for range r.IntN(40) {
				h := f.pop()
				if h == nil {
					f.tidy()
					break
				}
				if number(h) > newest {
					t.Fatalf("seed %d: task %d was popped, which is newer than %d", seed, number(h), newest)
				}
				newest = number(h)
				taken[newest].Add(1)
			}
			runtime.Gosched()
		}
		over.Store(true)
		wg.Wait()
		for i := 1; i < len(taken); i++ {
			if n := taken[i].Load(); n != 1 {
				t.Fatalf("seed %d: task %d was taken %d times", seed, i, n)
			}
		}
		if f.len() != 0 {
			t.Fatalf("seed %d: %d tasks are left", seed, f.len())
		}
	}
}

// The same where owner and thief are closest: where there is one task or two, taken
// from both ends, and where the ring is full, so that what is pushed next goes where
// the thief has just taken something.
func TestForksAtTheEdges(t *testing.T) {
	for name, turn := range map[string]func(f *forks, push func(), took func(*task.Handle)){
		"few": func(f *forks, push func(), took func(*task.Handle)) {
			push()
			push()
			took(f.pop())
			took(f.steal())
		},
		"full": func(f *forks, push func(), _ func(*task.Handle)) {
			for i := 0; i < fewest && f.len() < fewest; i++ {
				push()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			hs := numbered(100_000)
			taken := make([]atomic.Int32, len(hs)+1)
			took := func(h *task.Handle) {
				if h != nil {
					taken[number(h)].Add(1)
				}
			}
			var f forks
			var over atomic.Bool
			var thief sync.WaitGroup
			thief.Go(func() {
				for n := 0; !over.Load(); n++ {
					took(f.steal())
					if n%100 == 0 {
						runtime.Gosched()
					}
				}
			})
			pushed := 0
			push := func() { f.push(hs[pushed]); pushed++ }
			for n := 0; pushed < len(hs)-fewest; n++ {
				turn(&f, push, took)
				if n%100 == 0 {
					runtime.Gosched()
				}
			}
			over.Store(true)
			thief.Wait()
			for f.len() > 0 {
				h := f.steal()
				if h == nil {
					t.Fatal("a place with a task is empty")
				}
				took(h)
			}
			for i := 1; i <= pushed; i++ {
				if n := taken[i].Load(); n != 1 {
					t.Fatalf("task %d was taken %d times", i, n)
				}
			}
		})
	}
}

// held returns the numbers of the tasks that the ring points to.
func (f *forks) held() (all []uint64) {
	for i := range *f.ring.Load() {
		if h := (*f.ring.Load())[i].Load(); h != nil {
			all = append(all, number(h))
		}
	}
	return all
}

// What was taken is not held for long.
func TestForksLetGo(t *testing.T) {
	var f forks
	for _, h := range numbered(10_000) {
		f.push(h)
	}
	for range 5_000 {
		f.steal()
	}
	for range 4_900 {
		f.pop()
	}
	if n := len(f.held()); n > 100+litter {
		t.Errorf("%d tasks are held, of which 100 are left", n)
	}
	for f.pop() != nil {
	}
	f.tidy()
	if n := f.held(); n != nil || len(*f.ring.Load()) > fewest {
		t.Errorf("tasks %v are held in %d places, with nothing to do", n, len(*f.ring.Load()))
	}
	// Those that only the owner takes, one by one, do not fill the ring either.
	for _, h := range numbered(100) {
		f.push(h)
		f.pop()
	}
	if n := f.held(); n != nil {
		t.Errorf("tasks %v are held, which were the last ones when they were popped", n)
	}
}

// Tasks that were claimed where they are do not gather: a task may start two and
// wait for the older one first, for ever.
func TestForksDropWhatIsClaimed(t *testing.T) {
	for _, first := range []int{0, 1} {
		var f forks
		for range 10_000 {
			hs := numbered(2)
			f.push(hs[0])
			f.push(hs[1])
			for _, i := range []int{first, 1 - first} {
				claim(hs[i])
				f.trim()
			}
			if f.len() != 0 {
				t.Fatalf("%d tasks are left, and all were claimed", f.len())
			}
		}
		// Likewise if the task never waits, and others claim or cancel them.
		for range 10_000 {
			h := numbered(1)[0]
			f.push(h)
			claim(h)
		}
		kept := numbered(1)[0] // in the middle
		f.push(kept)
		for range 10_000 {
			h := numbered(1)[0]
			f.push(h)
			claim(h)
		}
		if n := len(*f.ring.Load()); n > 2*fewest {
			t.Errorf("the ring has %d places, for one task", n)
		}
		for h := f.steal(); h != kept; h = f.steal() {
			if h == nil {
				t.Fatal("the one task is gone")
			}
		}
	}
}

// Two owners at once are noticed, in builds that check.
func TestTwoOwnersAreNoticed(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("invariants are checked under -race and -tags dynocheck only")
	}
	h := numbered(1)
	for name, op := range map[string]func(*forks){
		"push": func(f *forks) { f.push(h[0]) },
		"pop":  func(f *forks) { f.pop() },
		"fill": func(f *forks) { f.fill(h) },
		"trim": func(f *forks) { f.trim() },
	} {
		func() {
			defer func() {
				want := "workstealing: invariant violated: a task's context is used by the task's own goroutine only"
				if got := recover(); got != want {
					t.Errorf("%s beside another owner: %v was said, want %q", name, got, want)
				}
			}()
			var f forks
			f.enter()
			op(&f)
		}()
	}
}

// What arrives leaves in the same order.
func TestArrivalsAreAQueue(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		hs := numbered(300)
		var a arrivals
		next, pushed := uint64(1), uint64(0)
		for pushed < uint64(len(hs)) {
			for range min(r.Uint64N(50), uint64(len(hs))-pushed) {
				a.push(hs[pushed])
				pushed++
			}
			var some [batch]*task.Handle
			limit := r.IntN(batch + 1)
			n := a.take(some[:limit])
			if want := min(limit, int(pushed+1-next)); n > want || n == 0 && want > 0 {
				t.Fatalf("seed %d: %d were taken of %d, the limit being %d", seed, n, pushed+1-next, limit)
			}
			for _, h := range some[:n] {
				if number(h) != next || h.Room().Link != nil {
					t.Fatalf("seed %d: task %d came out, want %d, or it is linked still", seed, number(h), next)
				}
				next++
			}
			if a.empty() != (next > pushed) {
				t.Fatalf("seed %d: empty is %v with %d tasks", seed, a.empty(), pushed+1-next)
			}
		}
	}
}

// Many producers and takers: each task comes out once, and those of one producer
// in order for each taker.
func TestArrivalsHandEachTaskOutOnce(t *testing.T) {
	const producers, takers, each = 3, 2, 3000
	hs := numbered(producers * each)
	taken := make([]atomic.Int32, len(hs)+1)
	var a arrivals
	var producing, taking sync.WaitGroup
	var over atomic.Bool
	for p := range producers {
		producing.Go(func() {
			for _, h := range hs[p*each : (p+1)*each] {
				a.push(h)
			}
		})
	}
	for range takers {
		taking.Go(func() {
			var last [producers]uint64
			var some [batch]*task.Handle
			for {
				done := over.Load()
				n := a.take(some[:])
				if n == 0 && done && a.empty() {
					return
				}
				for _, h := range some[:n] {
					id := number(h)
					taken[id].Add(1)
					if l := &last[(id-1)/each]; id <= *l {
						t.Errorf("task %d came after %d", id, *l)
					} else {
						*l = id
					}
				}
				if n == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	producing.Wait()
	over.Store(true)
	taking.Wait()
	for i := 1; i < len(taken); i++ {
		if n := taken[i].Load(); n != 1 {
			t.Fatalf("task %d was taken %d times", i, n)
		}
	}
	if left := slices.IndexFunc(hs, func(h *task.Handle) bool { return h.Room().Link != nil }); left >= 0 {
		t.Errorf("task %d is linked still", left+1)
	}
}
