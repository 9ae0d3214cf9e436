package workstealing

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/task"
)

// forkOf is a job for h.
func forkOf(h *task.Handle) job { return job{r: (*future)(h)} }

// One goroutine cannot tell the queue from a slice, also where the indices
// overflow: the newest comes out if it is a fork, else the oldest.
func TestQueueIsADeque(t *testing.T) {
	seeds := uint64(300)
	if testing.Short() { // under -race: here is one goroutine
		seeds = 20
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 0))
		all := numbered(2000)
		hs := all
		q := runq{limit: 2 + r.IntN(300)}
		if seed%2 == 0 { // indices near the end of their range
			q.word.Store(span{0, indices - 9, indices - 9}.pack())
		}
		type item struct {
			n    uint64
			fork bool
		}
		var model []item
		forks := false // one came since the queue was last empty
		for len(hs) > 0 {
			var got, want uint64
			switch op := r.IntN(10); {
			case op < 5:
				fork := r.IntN(3) > 0
				flags := uint32(flagUrgent)
				if fork {
					flags |= flagForks
				}
				if q.push(forkOf(hs[0]), flags) {
					if fork {
						q.last = (*future)(hs[0]) // as worker.fork does
					}
					forks = fork || forks && len(model) > 0
					if model = append(model, item{number(hs[0]), fork}); len(model) > q.limit {
						t.Fatalf("seed %d: %d are in a queue of %d", seed, len(model), q.limit)
					}
				} else if len(model) < q.limit {
					t.Fatalf("seed %d: no room for one beside %d of %d", seed, len(model), q.limit)
				}
				hs = hs[1:]
			case op == 5 && len(model) > 1:
				i := len(model) - 1 - r.IntN(2)
				f := (*future)(all[model[i].n-1])
				newest := model[len(model)-1]
				if is := newest.n == model[i].n && newest.fork; q.withdraw(f) != is {
					t.Fatalf("seed %d: that task %d, of %d the last but %d, could be withdrawn is %v", seed, model[i].n, len(model), len(model)-1-i, !is)
				} else if is {
					model = model[:i]
				}
			case op < 8:
				got = number(handle(q.pop()))
				if n := len(model); n > 0 && model[n-1].fork {
					want, model = model[n-1].n, model[:n-1]
				} else if n > 0 {
					want, model = model[0].n, model[1:]
				}
			default:
				to := runq{limit: 2 + r.IntN(300)}
				got = number(handle(q.steal(&to, false)))
				n := 0
				if len(model) > 0 {
					n = len(model) - len(model)/2
					if forks {
						n = 1
					}
					for n-1 > to.limit { // no room for them
						n = (n + 1) / 2
					}
					want, model = model[0].n, model[1:]
				}
				for range n - 1 {
					j := to.oldest()
					if number(handle(j)) != model[0].n {
						t.Fatalf("seed %d: task %d was moved, want %d", seed, number(handle(j)), model[0].n)
					}
					model = model[1:]
				}
				if to.len() != 0 {
					t.Fatalf("seed %d: %d more were moved", seed, to.len())
				}
			}
			if got != want || q.len() != len(model) {
				t.Fatalf("seed %d: task %d came out, want %d; %d are left, want %d", seed, got, want, q.len(), len(model))
			}
		}
	}
}

// Owner and thieves together take each job once, also where they are closest: where
// there is one job or two, and where the queue is full or grows.
func TestQueueHandsEachJobOutOnce(t *testing.T) {
	const thieves = 3
	rounds := uint64(200)
	if testing.Short() {
		rounds = 40
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(seed, 1))
		hs := numbered(2000)
		taken := make([]atomic.Int32, len(hs)+1)
		took := func(j job) bool {
			if !j.none() {
				taken[number(handle(j))].Add(1)
			}
			return !j.none()
		}
		q := runq{limit: 2 + r.IntN(300)}
		flags := [...]uint32{0, flagForks}[seed%2]
		var over atomic.Bool
		var wg sync.WaitGroup
		for range thieves {
			wg.Go(func() {
				own := runq{limit: 1 << (1 + seed%5)}
				for {
					done := over.Load()
					found := took(q.steal(&own, false))
					for took(own.pop()) {
					}
					if !found {
						if done {
							return
						}
						runtime.Gosched()
					}
				}
			})
		}
		most := 1 + r.IntN(40)
		for len(hs) > 0 {
			var pushed *task.Handle // the newest
			for range min(1+r.IntN(most), len(hs)) {
				for !q.push(forkOf(hs[0]), flags) {
					took(q.oldest())
				}
				pushed, hs = hs[0], hs[1:]
			}
			for range r.IntN(most) {
				if h := pushed; flags == flagForks && h != nil && q.withdraw((*future)(h)) {
					took(forkOf(h))
				}
				if !took(q.pop()) {
					break
				}
			}
			runtime.Gosched()
		}
		over.Store(true)
		wg.Wait()
		for took(q.oldest()) {
		}
		for i := 1; i < len(taken); i++ {
			if n := taken[i].Load(); n != 1 {
				t.Fatalf("seed %d: task %d was taken %d times", seed, i, n)
			}
		}
	}
}

// What was taken is not held.
func TestQueueLetsGo(t *testing.T) {
	q, to := runq{limit: 1 << 10}, runq{limit: 1 << 10}
	for _, h := range numbered(1000) {
		q.push(forkOf(h), 0)
	}
	for range 300 {
		q.newest()
		q.oldest()
	}
	q.steal(&to, false)
	for i, j := range *q.slots.Load() {
		if s := unpack(q.word.Load()); j.r != nil && int((uint32(i)-s.head)&indices) >= s.len() {
			t.Errorf("place %d holds task %d, which was taken", i, number(handle(j)))
		}
	}
}

// A worker whose newest fork was stolen does not hold it.
func TestQueueLetsGoOfAStolenFork(t *testing.T) {
	for name, next := range map[string]func(w *worker){
		"nothing comes":     func(w *worker) { w.queue.pop() },
		"an actor comes":    func(w *worker) { w.add(job{r: new(box)}, 0) },
		"an actor is there": func(w *worker) { w.add(job{r: new(box)}, 0); w.add(job{r: new(box)}, 0) },
	} {
		w, _ := busy(t, Config{})
		w.fork((*future)(numbered(1)[0]))
		to := runq{limit: 1 << 10}
		if w.queue.steal(&to, false).none() {
			t.Fatal("nothing was stolen")
		}
		if next(w); w.queue.last != nil {
			t.Errorf("%s: the queue holds a fork that was stolen", name)
		}
	}
}

// A thief that has jobs of its own takes one.
func TestBusyThiefTakesOne(t *testing.T) {
	q, to := runq{limit: 1 << 10}, runq{limit: 1 << 10}
	all := numbered(9)
	for _, h := range all[:8] {
		q.push(forkOf(h), 0)
	}
	to.push(forkOf(all[8]), flagForks)
	if j := q.steal(&to, false); handle(j) != all[0] || q.len() != 7 || to.len() != 1 || to.forks != 1 {
		t.Errorf("%v, %d and %d jobs left, of these %d forks, want the oldest, 7, 1 and 1", j, q.len(), to.len(), to.forks)
	}
}

// Tasks that were claimed where they are queued do not gather: a task may start two
// and wait for the older one first, for ever.
func TestClaimedForksDoNotGather(t *testing.T) {
	x := NewExecutor()
	x.pool.search.Add(1) // no other worker
	w := x.pool.unpark()
	for _, first := range []int{0, 1} {
		for range 10_000 {
			hs := numbered(2)
			w.fork((*future)(hs[0]))
			w.fork((*future)(hs[1]))
			for _, i := range []int{first, 1 - first} {
				claim(hs[i])
				w.queue.drop((*future)(hs[i]))
			}
		}
	}
	if !x.pool.inject.empty() || w.queue.len() > 2*litter {
		t.Errorf("tasks that were claimed are in the inject queue, or %d in the worker's own", w.queue.len())
	}
	kept := numbered(1)[0]
	w.fork((*future)(kept))
	for range 10_000 {
		h := numbered(1)[0]
		w.fork((*future)(h))
		claim(h)
	}
	for j := w.take(); handle(j) != kept; j = w.take() {
		if j.none() {
			t.Fatal("the one task that waits is gone")
		}
	}
}

// A look for tasks that were claimed leaves those that wait, also when it is thorough.
func TestDropKeepsWhatWaits(t *testing.T) {
	x := NewExecutor()
	x.pool.search.Add(1) // no other worker
	w := x.pool.unpark()
	hs := numbered(2)
	for _, h := range hs {
		w.fork((*future)(h))
	}
	claim(hs[0])
	w.queue.drops = litter - 1
	w.queue.drop((*future)(hs[0]))
	if handle(w.queue.pop()) != hs[1] {
		t.Error("a task that waited is gone, when another one was looked for that had been claimed")
	}
}

// A queue that had forks and is empty is one for anything again: of it a thief takes half.
func TestEmptyQueueForgetsForks(t *testing.T) {
	q, to := runq{limit: 1 << 10}, runq{limit: 1 << 10}
	all := numbered(9)
	q.push(forkOf(all[8]), flagForks|flagUrgent)
	q.pop()
	for _, h := range all[:8] {
		q.push(forkOf(h), 0)
	}
	if q.steal(&to, false); to.len() != 3 || q.len() != 4 {
		t.Errorf("a thief took one job and %d more, %d are left, want 3 and 4", to.len(), q.len())
	}
	if f := unpack(to.word.Load()).flags; f != 0 {
		t.Errorf("what is not urgent has flags %b where it was stolen", f)
	}
}

// Who looks for a task where there is none leaves the actors that wait, in their order.
func TestDropLeavesActors(t *testing.T) {
	q := runq{limit: 1 << 10}
	for range 2 {
		q.push(job{r: new(box)}, 0)
	}
	h := numbered(1)[0]
	q.drop((*future)(h))
	if s := unpack(q.word.Load()); s.flags != 0 || q.forks != 0 || s.len() != 2 {
		t.Errorf("%d jobs with flags %b, %d of them forks, want two and neither", s.len(), s.flags, q.forks)
	}
	q.push(forkOf(h), flagForks)
	claim(h)
	q.drops = litter - 1
	if q.drop((*future)(h)); q.forks != 0 || q.len() != 2 {
		t.Errorf("%d jobs, %d of them forks, want two actors below the task that was dropped", q.len(), q.forks)
	}
}

// What was claimed at the new end goes, too, until the one that was looked for is found.
func TestDropTakesWhatWasClaimed(t *testing.T) {
	q := runq{limit: 1 << 10}
	hs := numbered(2)
	for _, h := range hs {
		q.push(forkOf(h), flagForks)
		claim(h)
	}
	q.drop((*future)(hs[0]))
	if n := q.len(); n != 0 {
		t.Errorf("%d tasks are left that were claimed", n)
	}
}

// lagging returns an empty queue of smallest places at two of which a thief is, and its word.
func lagging(t *testing.T) (q *runq, word uint32) {
	t.Helper()
	q = &runq{limit: 1 << 10}
	for _, h := range numbered(2) {
		q.push(forkOf(h), 0)
	}
	word = span{flagLocked, 2, 2}.pack()
	q.word.Store(word)
	return q, word
}

// A thief at whose own queue another one is just then takes what there is room for.
func TestThiefWithoutRoomTakesLess(t *testing.T) {
	q := runq{limit: 1 << 10}
	for _, h := range numbered(4 * smallest) {
		q.push(forkOf(h), 0)
	}
	to, _ := lagging(t)
	if j := q.steal(to, false); number(handle(j)) != 1 || q.len()+to.len() != 4*smallest-1 {
		t.Errorf("%v, and %d and %d jobs are left, want the oldest and all others", j, q.len(), to.len())
	}
	to, _ = lagging(t)
	to.limit = smallest - 2 // not even for one
	to.fits = to.limit - smallest
	if j := q.steal(to, false); j.none() || to.len() != 0 {
		t.Errorf("%v and %d more were taken, want one job and no more", j, to.len())
	}
}

// A batch that comes while a thief is at two places leaves these alone.
func TestBatchKeepsOffAThiefsPlaces(t *testing.T) {
	p := workerless(t)
	w := newWorker(p, 1)
	own := numbered(batch)
	for _, h := range own {
		w.queue.push(forkOf(h), 0)
	}
	w.queue.word.Store(span{flagLocked, 2, 2}.pack())
	for _, h := range numbered(2 * batch) {
		p.inject.push(forkOf(h))
	}
	if j := w.receive(); number(handle(j)) != 1 {
		t.Errorf("%v came first, want the oldest", j)
	}
	for i := range uint32(2) {
		if j := *w.queue.own.at(i); handle(j) != own[i] {
			t.Errorf("in place %d is %v, want what the thief is about to take", i, j)
		}
	}
}

// Two owners at once are noticed, in builds that check.
func TestTwoOwnersAreNoticed(t *testing.T) {
	if !invariants.Enabled {
		t.Skip("invariants are checked under -race and -tags dynocheck only")
	}
	for name, op := range map[string]func(*runq){
		"push":   func(q *runq) { q.push(forkOf(numbered(1)[0]), flagForks) },
		"newest": func(q *runq) { q.newest() },
		"oldest": func(q *runq) { q.oldest() },
	} {
		func() {
			defer func() {
				want := "workstealing: invariant violated: a task's context is used by the task's own goroutine only"
				if got := recover(); got != want {
					t.Errorf("%s beside another owner: %v was said, want %q", name, got, want)
				}
			}()
			q := runq{limit: 4}
			q.enter()
			op(&q)
		}()
	}
}

// A queue that a thief has just emptied, and not yet handed back, has nothing for others: its
// owner waits for the thief.
func TestNoJobIsSharedOfAnEmptyQueue(t *testing.T) {
	w, woken := busy(t, Config{})
	q, word := lagging(t)
	s := unpack(word)
	w.queue.own, w.queue.limit, w.queue.fits = q.own, 2, 2
	w.queue.slots.Store(&w.queue.own)
	w.queue.word.Store(word)
	go func() {
		for !woken() {
			runtime.Gosched()
		}
		s.flags = 0
		w.queue.word.Store(s.pack())
	}()
	w.add(job{r: new(box)}, 0)
	if w.queue.len() != 1 || !w.pool.inject.empty() {
		t.Errorf("%d jobs are in the queue, want one, and none elsewhere", w.queue.len())
	}
}

// What the owner has taken it does not hold.
func TestQueueLetsGoOfWhatItsOwnerTook(t *testing.T) {
	w, _ := busy(t, Config{})
	for _, h := range numbered(2) {
		w.fork((*future)(h))
	}
	w.queue.pop()
	if w.queue.last != nil {
		t.Error("the queue holds a fork that was taken")
	}
}

// A thief that comes as the places are exchanged takes nothing.
func TestThiefThatComesAsTheQueueGrows(t *testing.T) {
	needsWindows(t)
	q, to := runq{limit: 1 << 10}, runq{limit: 1 << 10}
	hs := numbered(smallest + 1)
	for _, h := range hs[:smallest] {
		q.push(forkOf(h), 0)
	}
	came := false
	end := invariants.Within(func() {
		if !came {
			came = true
			if j := q.steal(&to, false); !j.none() {
				t.Errorf("task %d was stolen from places that are being exchanged", number(handle(j)))
			}
		}
	})
	q.push(forkOf(hs[smallest]), 0)
	end()
	if !came || q.len() != smallest+1 {
		t.Errorf("the queue has %d jobs, want %d", q.len(), smallest+1)
	}
}

// A block of which workers took batches is used again when all of it was taken, and not before.
func TestReceivedBlockIsUsedAgain(t *testing.T) {
	p := workerless(t)
	w := newWorker(p, 1)
	w.row, w.bit = new(row), 1
	block := p.inject.head.Load().block
	for range blockSize {
		p.inject.push(job{r: new(box)})
	}
	for n := 0; n < blockSize; n++ {
		if p.inject.spare.Load() != nil {
			t.Fatalf("after %d jobs of %d the block is believed to be empty", n, blockSize)
		}
		if w.receive().none() {
			t.Fatalf("no job after %d of %d", n, blockSize)
		}
		for ; !w.queue.pop().none(); n++ {
		}
	}
	if p.inject.spare.Load() != block {
		t.Error("the block is not used again")
	}
}
