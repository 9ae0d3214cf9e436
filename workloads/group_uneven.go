package workloads

import (
	"context"
	"math/bits"
	"math/rand/v2"
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
			{refFloor, "the same work dealt beforehand into equal parts, one for each processor", func(Setting) Run { return unevenBatch().onFloor(0) }},
		},
	}}
}

func unevenBatch() *batch {
	u := uneven()
	b := &batch{
		tasks:    make([]group.TaskFunc[int], unevenTasks),
		want:     u.want,
		failFast: true, // the default: no task fails
		deal:     u.dealer(),
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

// dealer returns a function that deals the tasks 0 … k-1 to workers: the most expensive
// that is left goes to the one that has the least work so far.
func (u *unevenTable) dealer() func(workers []floorWorker, k int) {
	byCost := numbers(unevenTasks)
	slices.SortStableFunc(byCost, func(i, j int) int { return int(u.rounds[j]) - int(u.rounds[i]) })
	return func(workers []floorWorker, k int) {
		for i := range workers {
			w := &workers[i]
			if w.dealt == nil {
				w.dealt = make([]int, 0, unevenTasks)
			}
			w.dealt, w.load = w.dealt[:0], 0
		}
		for _, i := range byCost {
			if i >= k {
				continue
			}
			least := &workers[0]
			for p := range workers {
				if workers[p].load < least.load {
					least = &workers[p]
				}
			}
			least.dealt = append(least.dealt, i)
			least.load += int64(u.rounds[i])
		}
	}
}
