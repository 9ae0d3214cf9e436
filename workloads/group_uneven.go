package workloads

import (
	"context"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/dynolab/dyno/group"
)

const (
	unevenTasks  = 1 << 10
	unevenBlocks = 16  // with the same work in each, see unevenTable
	unevenMin    = 256 // rounds of the cheapest task
	unevenSpread = 64  // the most expensive costs just below this many times that
)

// groupUneven is computing with a heavy tail: half of the tasks cost less than twice
// the cheapest, and one in sixteen makes up four tenths of the work. It tells
// implementations that keep all processors busy to the end from those that
// hand out tasks without looking.
//
// The floor is perfect balance: the same tasks, dealt beforehand into equal
// parts, one for each processor. An implementation's time divided by the
// floor's is its imbalance and overhead together.
func groupUneven() []Workload {
	return []Workload{{
		Name:    "uneven",
		Doc:     "groups of 1,024 computing tasks of very different length: whether every processor is busy to the end",
		Checked: "each task's result, once, with a checksum of what it computed; `Wait`'s answer",
		Work:    func(n int) int64 { return uneven().workOf(n) },
		Slicing: Slicing{Unit: unevenTasks},
		Prepare: func(st Setting) Run { return unevenBatch().onGroup(st.Impl.NewGroup) },
		Refs: []Ref{
			refBatchErrgroup(unevenBatch),
			refBatchGoroutines(unevenBatch),
			{refFloor, "the same work dealt beforehand into equal parts, one for each processor", func(Setting) Run { return unevenFloor(unevenBatch()) }},
		},
	}}
}

func unevenBatch() *batch {
	u := uneven()
	b := &batch{
		tasks:    make([]group.TaskFunc[int], unevenTasks),
		want:     u.want,
		failFast: true, // the default: no task fails
	}
	for i, rounds := range u.rounds {
		b.tasks[i] = func(context.Context) (int, error) { return unevenValue(i, rounds), nil }
	}
	return b
}

// unevenValue computes for the given number of rounds. The value has the
// task's number in its low ten bits and a checksum of the work in the next
// twenty, which leaves a 32-bit int positive.
func unevenValue(i int, rounds uint32) int {
	return i | int(fill(uint32(i), rounds)&(1<<20-1))*unevenTasks
}

// fill is filler work that no compiler can shorten: each round needs the one
// before, and its result is checked. A round takes one to two nanoseconds on a
// server of the 2020s.
func fill(x, rounds uint32) uint32 {
	for range rounds {
		x = bits.RotateLeft32(x*0x9e3779b1, 15) ^ 0x85ebca6b
	}
	return x
}

// unevenTable is what all runs of the workload have in common.
type unevenTable struct {
	rounds []uint32 // what task i costs
	want   []int    // what task i returns
	upTo   []int64  // rounds of tasks 0 … i-1
}

var uneven = sync.OnceValue(newUnevenTable)

// newUnevenTable makes the same table on every machine, in integers.
//
// The costs are the quantiles of a Pareto distribution with shape 1, bounded at
// unevenSpread times its minimum. They are dealt, the most expensive first and back and forth,
// into blocks, and the blocks shuffled within themselves: a number of
// operations that is no multiple of the table's length then has nearly the
// same work for each as any other.
func newUnevenTable() *unevenTable {
	const (
		blockLen = unevenTasks / unevenBlocks
		half     = 2 * unevenTasks // the quantiles are at odd multiples of 1/half
	)
	u := &unevenTable{
		rounds: make([]uint32, unevenTasks),
		want:   make([]int, unevenTasks),
		upTo:   make([]int64, unevenTasks+1),
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	for q := range unevenTasks { // the q-th most expensive
		// min / (1 - p·(1 - 1/spread)) for the probability p = (half-1-2q)/half
		p := half - 1 - 2*q
		cost := unevenMin * half * unevenSpread / (half*unevenSpread - p*(unevenSpread-1))
		deal, block := q/unevenBlocks, q%unevenBlocks
		if deal%2 == 1 {
			block = unevenBlocks - 1 - block
		}
		u.rounds[block*blockLen+deal] = uint32(cost)
	}
	for block := range slices.Chunk(u.rounds, blockLen) {
		rnd.Shuffle(len(block), func(i, j int) { block[i], block[j] = block[j], block[i] })
	}
	for i, r := range u.rounds {
		u.want[i] = unevenValue(i, r)
		u.upTo[i+1] = u.upTo[i] + int64(r)
	}
	return u
}

// workOf returns the rounds of n operations.
func (u *unevenTable) workOf(n int) int64 {
	return int64(n/unevenTasks)*u.upTo[unevenTasks] + u.upTo[n%unevenTasks]
}

// unevenPart is what one processor does of a round on the floor.
type unevenPart struct {
	tasks  []int // their numbers
	work   int64 // their rounds together
	ledger *ledger
	err    error
	_      [64]byte // parts are written by different processors
}

// deal deals the tasks 0 … k-1 to parts: the most expensive that is left goes to the
// part that has the least work so far. byCost holds all task numbers, the most
// expensive first.
func (u *unevenTable) deal(parts []unevenPart, byCost []int, k int) {
	for i := range parts {
		parts[i].tasks, parts[i].work = parts[i].tasks[:0], 0
	}
	for _, i := range byCost {
		if i >= k {
			continue
		}
		least := &parts[0]
		for p := range parts {
			if parts[p].work < least.work {
				least = &parts[p]
			}
		}
		least.tasks = append(least.tasks, i)
		least.work += int64(u.rounds[i])
	}
}

// byCost returns all task numbers, the most expensive first.
func (u *unevenTable) byCost() []int {
	s := numbers(unevenTasks)
	slices.SortStableFunc(s, func(i, j int) int { return int(u.rounds[j]) - int(u.rounds[i]) })
	return s
}

// unevenFloor runs a part of each round on each processor, the first part on
// the caller's goroutine.
func unevenFloor(b *batch) Run {
	u := uneven()
	byCost := u.byCost()
	parts := make([]unevenPart, runtime.GOMAXPROCS(0))
	for i := range parts {
		parts[i].tasks = make([]int, 0, unevenTasks)
		parts[i].ledger = newLedger(b, false)
	}
	var (
		wg    sync.WaitGroup
		dealt int // tasks in the parts
	)
	do := func(p *unevenPart) {
		p.ledger.open(dealt)
		for _, i := range p.tasks {
			v, err := b.tasks[i](context.Background())
			if p.err = p.ledger.enter(group.Result[int]{Value: v, Err: err}); p.err != nil {
				return
			}
		}
	}
	r := &batchRun{batch: b, ledger: newLedger(b, false)}
	r.round = func(k int) error {
		if k != dealt { // rarely: whole rounds are alike
			u.deal(parts, byCost, k)
			dealt = k
		}
		wg.Add(len(parts) - 1)
		for i := range parts[1:] {
			go func() {
				defer wg.Done()
				do(&parts[1+i])
			}()
		}
		do(&parts[0])
		wg.Wait()
		r.ledger.open(k)
		for i := range parts {
			if err := parts[i].err; err != nil {
				return err
			}
			if err := r.ledger.absorb(parts[i].ledger); err != nil {
				return err
			}
		}
		r.booked += int64(r.ledger.taken)
		return b.settle(r.ledger, nil)
	}
	return r
}
