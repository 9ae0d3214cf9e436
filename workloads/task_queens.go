package workloads

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads/internal/errgroup"
)

// queensMost is the size of the largest board.
const queensMost = 10

// taskQueens is a search whose branches cannot be foreseen: every way to put one more queen on
// the board, where no other attacks it, is a task that tries all ways to go on. On a chessboard a
// search is done after a fraction of a millisecond, and the next one is started from outside.
func taskQueens() []Workload {
	return []Workload{
		queens("", queensMost, "all ways to put 10 queens on a board, with a task for every position on the way: a wide and uneven tree of joins"),
		queens("board=8", 8, "all ways to put 8 queens on a board, again and again: how soon all processors are at work, and have no more to do"),
	}
}

func queens(variant string, size int, doc string) Workload {
	job := func(search asking[queensBoard, uint64]) taskJob { return queensJob(size, search) }
	return Workload{
		Name:    "queens",
		Variant: variant,
		Doc:     doc,
		Op:      "a position",
		Checked: "the number of ways, and of positions",
		Slicing: Slicing{Unit: queensPositions[size]},
		Prepare: onTask(job, queensTask),
		Refs: []Ref{
			valueRef(refErrgroup, "an errgroup for the positions that follow on each one", job, queensOnErrgroup),
			valueRef(refGoroutines, "a goroutine each, and a WaitGroup for those that follow on each position", job, sure(queensOnGoroutines)),
			valueRef(refBuffered, "a goroutine each, and a channel for the values of those that follow on each position", job, sure(queensOnChannels)),
			valueRef(refFloor, "calls of a function, on one goroutine", job, sure(queensOnFloor)),
		},
	}
}

// What is known of boards of size 0, 1, 2, …: the ways to put as many queens on
// them, and with how many positions a search gets there, the empty board
// included.
var (
	queensWays      = [queensMost + 1]uint64{1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724}
	queensPositions = [queensMost + 1]int{1, 2, 3, 6, 17, 54, 153, 552, 2057, 8394, 35_539}
)

// queensJob searches the largest board, up to the given size, that n positions
// are enough for.
func queensJob(size int, search asking[queensBoard, uint64]) taskJob {
	return largest(queensPositions[:size+1], func(i int) error {
		return search(queensBoard{size: uint32(i)}, queensWays[i]<<32+uint64(queensPositions[i]))
	})
}

// queensBoard is a position: a queen in each of the first rows.
type queensBoard struct {
	size, row uint32

	// The columns that queens hold, and that they attack along the diagonals in
	// this row: a bit each.
	columns, left, right uint32
}

// What a position counts for. Each search adds up the ways in the upper half,
// and in the lower one the positions, so that none can get lost.
const (
	queensPosition = 1
	queensWay      = 1<<32 + queensPosition
)

// done reports whether all queens are on the board.
func (b queensBoard) done() bool { return b.row == b.size }

// free returns the columns where a queen may stand in this row.
func (b queensBoard) free() uint32 {
	return ^(b.columns | b.left | b.right) & (1<<b.size - 1)
}

// put returns the position with a queen more, in the lowest of the columns.
func (b queensBoard) put(columns uint32) queensBoard {
	c := columns & -columns
	return queensBoard{b.size, b.row + 1, b.columns | c, (b.left | c) << 1, (b.right | c) >> 1}
}

func queensTask(ctx context.Context, b queensBoard) (uint64, error) {
	if b.done() {
		return queensWay, nil
	}
	var next [queensMost]*task.Future[uint64]
	n := 0
	for free := b.free(); free != 0; free &= free - 1 {
		next[n] = task.ForkCall(ctx, queensTask, b.put(free))
		n++
	}
	sum := uint64(queensPosition)
	for _, f := range next[:n] {
		v, err := f.Value(ctx)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

func queensOnErrgroup(b queensBoard) (uint64, error) {
	if b.done() {
		return queensWay, nil
	}
	var (
		eg     errgroup.Group
		values [queensMost]uint64
	)
	i := 0
	for free := b.free(); free != 0; free &= free - 1 {
		next, value := b.put(free), &values[i]
		eg.Go(func() (err error) {
			*value, err = queensOnErrgroup(next)
			return err
		})
		i++
	}
	err := eg.Wait()
	sum := uint64(queensPosition)
	for _, v := range values[:i] {
		sum += v
	}
	return sum, err
}

func queensOnGoroutines(b queensBoard) uint64 {
	if b.done() {
		return queensWay
	}
	var (
		wg     sync.WaitGroup
		values [queensMost]uint64
	)
	i := 0
	for free := b.free(); free != 0; free &= free - 1 {
		next, value := b.put(free), &values[i]
		wg.Add(1)
		go func() {
			defer wg.Done()
			*value = queensOnGoroutines(next)
		}()
		i++
	}
	wg.Wait()
	sum := uint64(queensPosition)
	for _, v := range values[:i] {
		sum += v
	}
	return sum
}

func queensOnChannels(b queensBoard) uint64 {
	if b.done() {
		return queensWay
	}
	values := make(chan uint64, queensMost)
	n := 0
	for free := b.free(); free != 0; free &= free - 1 {
		next := b.put(free)
		go func() { values <- queensOnChannels(next) }()
		n++
	}
	sum := uint64(queensPosition)
	for range n {
		sum += <-values
	}
	return sum
}

func queensOnFloor(b queensBoard) uint64 {
	if b.done() {
		return queensWay
	}
	sum := uint64(queensPosition)
	for free := b.free(); free != 0; free &= free - 1 {
		sum += queensOnFloor(b.put(free))
	}
	return sum
}
