package workloads

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync"

	"github.com/dynolab/dyno/task"
)

const (
	quicksortTasks = 256 // at most, for one array
	quicksortGrain = 512 // numbers a task has to sort, on average
)

// taskQuicksort divides parts that are more than one task's share about a median of three, and
// one of the two goes to a new task. A task takes some 20 µs, so that little depends on what it
// costs, and most on how the work is shared out.
func taskQuicksort() []Workload {
	return []Workload{{
		Name:    "quicksort",
		Doc:     "131,072 numbers are sorted by 256 tasks, which divide them among each other: uneven work that appears as it is done",
		Checked: "how many tasks; that the numbers are in order, and the ones that there were",
		Slicing: Slicing{Unit: quicksortTasks},
		Prepare: onTask(quicksortJob, quicksortTask),
		Refs: divideRefs(quicksortJob, "package slices, on one goroutine", func(s quicksortShare) int {
			slices.Sort(s.data)
			return s.tasks
		}),
	}}
}

// quicksortShare are numbers to sort, and by how many tasks: a [divisible].
type quicksortShare struct {
	data  []uint32
	tasks int
}

// quicksortJob sorts the first 512·k numbers of a large array, with k tasks.
func quicksortJob(ask asking[quicksortShare, int]) taskJob {
	n := quicksortNumbers()
	data := make([]uint32, len(n.from))
	return atMost(quicksortTasks, func(k int) error {
		part := data[:k*quicksortGrain]
		copy(part, n.from[:])
		if err := ask(quicksortShare{part, k}, k); err != nil {
			return err
		}
		if !sorted(part, n.upTo[k]) {
			return errors.New("workloads: the numbers are not sorted, or others than there were")
		}
		return nil
	})
}

// numbersToSort is what all runs have in common.
type numbersToSort struct {
	from [quicksortTasks * quicksortGrain]uint32
	upTo [quicksortTasks + 1]uint64 // marks of the first 512·k of them
}

var quicksortNumbers = sync.OnceValue(func() *numbersToSort {
	n := new(numbersToSort)
	for i := range n.from {
		n.from[i] = fill(uint32(i), 3)
	}
	for k := range quicksortTasks {
		n.upTo[k+1] = n.upTo[k]
		for _, v := range n.from[k*quicksortGrain : (k+1)*quicksortGrain] {
			n.upTo[k+1] += quicksortMark(v)
		}
	}
	return n
})

// quicksortMark is a number's part of the sum that tells other numbers from those
// that there were.
func quicksortMark(v uint32) uint64 {
	m := uint64(v) * 0x9e3779b97f4a7c15
	return m ^ bits.RotateLeft64(m, 29)
}

// sorted reports whether the numbers are in order, and have the given sum of
// marks.
func sorted(data []uint32, sum uint64) bool {
	before := uint32(0)
	for _, v := range data {
		if v < before {
			return false
		}
		before = v
		sum -= quicksortMark(v)
	}
	return sum == 0
}

// divide implements [divisible]: the smaller numbers and the larger ones, and tasks in
// proportion, but one at least.
func (s quicksortShare) divide() (a, b quicksortShare, ok bool) {
	if s.tasks == 1 {
		return a, b, false
	}
	i, k := 0, 1
	if n := len(s.data); n > 0 {
		i = partition(s.data)
		k = min(max((s.tasks*i+n/2)/n, 1), s.tasks-1)
	}
	return quicksortShare{s.data[:i], k}, quicksortShare{s.data[i:], s.tasks - k}, true
}

func (s quicksortShare) do() { slices.Sort(s.data) }

// partition moves numbers until none of those before the index that it returns is
// larger than any from there on.
func partition(data []uint32) int {
	a, b, c := data[0], data[len(data)/2], data[len(data)-1]
	median := max(min(a, b), min(max(a, b), c))
	i, j := -1, len(data)
	for {
		for i++; data[i] < median; i++ {
		}
		for j--; data[j] > median; j-- {
		}
		if i >= j {
			return j + 1
		}
		data[i], data[j] = data[j], data[i]
	}
}

func quicksortTask(ctx context.Context, s quicksortShare) (int, error) {
	a, b, ok := s.divide()
	if !ok {
		s.do()
		return 1, nil
	}
	f := task.ForkCall(ctx, quicksortTask, b)
	x, err := quicksortTask(ctx, a)
	if err != nil {
		return 0, err
	}
	y, err := f.Value(ctx)
	return x + y, err
}
