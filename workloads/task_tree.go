package workloads

import (
	"context"
	"sync"

	"github.com/dynolab/dyno/task"
	"github.com/dynolab/dyno/workloads/internal/errgroup"
)

// treeMost is how many nodes a tree has: 16 full levels.
const treeMost = 1<<16 - 1

// taskTree is a reduction. Unlike that of [taskFib] its tree is balanced, and lies in memory,
// where its nodes were found by another task before.
func taskTree() []Workload {
	return []Workload{
		tree("", "the sum over a binary tree of 65,535 nodes with a task for each: a reduction without a cutoff", treeTask,
			valueRef(refErrgroup, "an errgroup for the two children of every node", treeJob, treeOnErrgroup),
			valueRef(refGoroutines, "two goroutines and a WaitGroup for every node", treeJob, sure(treeOnGoroutines)),
			valueRef(refBuffered, "a goroutine and a channel for the one value of every node", treeJob, sure(func(root *treeNode) uint32 { return <-treeOnChannels(root) }))),
		tree("by=join", "the same with task.Join: one of the two children of every node is for another worker to take", treeByJoin,
			valueRef(refErrgroup, "an errgroup for one of the two children of every node", treeJob, treeHalfOnErrgroup),
			valueRef(refGoroutines, "a goroutine and a WaitGroup for one of the two children of every node", treeJob, sure(treeHalfOnGoroutines)),
			valueRef(refBuffered, "a goroutine and a channel for one of the two children of every node", treeJob, sure(treeHalfOnChannels))),
	}
}

func tree(variant, doc string, fn func(context.Context, *treeNode) (uint32, error), refs ...Ref) Workload {
	return Workload{
		Name:    "tree",
		Variant: variant,
		Doc:     doc,
		Op:      "a node",
		Checked: "the sum, of irregular weights",
		Slicing: Slicing{Unit: treeMost},
		Prepare: onTask(treeJob, fn),
		Refs:    append(refs, valueRef(refFloor, "calls of a function, on one goroutine", treeJob, sure(treeOnFloor))),
	}
}

// treeNode is a node. Its weight is irregular, so that one that is lost or taken
// for another shows in the sum.
type treeNode struct {
	weight      uint32
	left, right *treeNode
}

// A forest is the trees that jobs need: that of so many nodes is the first ones
// of the largest one.
type forest struct {
	nodes []treeNode
	upTo  []uint32 // weights of nodes 0 … i-1, without what does not fit
	size  int      // nodes of the tree that there is now
}

func newForest() *forest {
	f := &forest{nodes: make([]treeNode, treeMost), upTo: make([]uint32, treeMost+1)}
	for i := range f.nodes {
		f.nodes[i].weight = fill(uint32(i), 3)
		f.upTo[i+1] = f.upTo[i] + f.nodes[i].weight
	}
	f.link(0, treeMost)
	f.size = treeMost
	return f
}

// tree makes a tree of the first k nodes and returns its root.
func (f *forest) tree(k int) *treeNode {
	if k < f.size {
		f.link(k, f.size)
	} else {
		f.link(f.size, k)
	}
	f.size = k
	return &f.nodes[0]
}

// link turns the links to the nodes from i to before j on or off.
func (f *forest) link(i, j int) {
	for i = max(i, 1); i < j; i++ {
		parent, child := &f.nodes[(i-1)/2], &f.nodes[i]
		link := &parent.left
		if i%2 == 0 {
			link = &parent.right
		}
		if *link != nil {
			child = nil
		}
		*link = child
	}
}

// treeJob adds up trees.
func treeJob(add asking[*treeNode, uint32]) taskJob {
	f := newForest()
	return atMost(treeMost, func(k int) error { return add(f.tree(k), f.upTo[k]) })
}

func treeTask(ctx context.Context, n *treeNode) (uint32, error) {
	sum := n.weight
	var left, right *task.Future[uint32]
	if n.left != nil {
		left = task.ForkCall(ctx, treeTask, n.left)
	}
	if n.right != nil {
		right = task.ForkCall(ctx, treeTask, n.right)
	}
	for _, f := range [...]*task.Future[uint32]{left, right} {
		if f == nil {
			continue
		}
		v, err := f.Value(ctx)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

func treeByJoin(ctx context.Context, n *treeNode) (uint32, error) {
	switch {
	case n.left == nil:
		return n.weight, nil // without a left child there is no right one
	case n.right == nil:
		v, err := treeByJoin(ctx, n.left)
		return n.weight + v, err
	}
	x, y, err := task.Join(ctx, treeByJoin, n.left, n.right)
	return n.weight + x + y, err
}

func treeOnErrgroup(n *treeNode) (uint32, error) {
	if n.left == nil {
		return n.weight, nil // without a left child there is no right one
	}
	var (
		eg   errgroup.Group
		x, y uint32
	)
	eg.Go(func() (err error) {
		x, err = treeOnErrgroup(n.left)
		return err
	})
	if n.right != nil {
		eg.Go(func() (err error) {
			y, err = treeOnErrgroup(n.right)
			return err
		})
	}
	err := eg.Wait()
	return n.weight + x + y, err
}

func treeOnGoroutines(n *treeNode) uint32 {
	if n.left == nil {
		return n.weight
	}
	var (
		wg   sync.WaitGroup
		x, y uint32
	)
	wg.Add(1)
	go func() {
		defer wg.Done()
		x = treeOnGoroutines(n.left)
	}()
	if n.right != nil {
		wg.Add(1)
		go func() {
			defer wg.Done()
			y = treeOnGoroutines(n.right)
		}()
	}
	wg.Wait()
	return n.weight + x + y
}

func treeOnChannels(n *treeNode) <-chan uint32 {
	value := make(chan uint32, 1)
	go func() {
		if n.left == nil {
			value <- n.weight
			return
		}
		x := treeOnChannels(n.left)
		if n.right == nil {
			value <- n.weight + <-x
			return
		}
		y := treeOnChannels(n.right)
		value <- n.weight + <-x + <-y
	}()
	return value
}

func treeHalfOnErrgroup(n *treeNode) (uint32, error) {
	switch {
	case n.left == nil:
		return n.weight, nil
	case n.right == nil:
		v, err := treeHalfOnErrgroup(n.left)
		return n.weight + v, err
	}
	var (
		eg errgroup.Group
		y  uint32
	)
	eg.Go(func() (err error) {
		y, err = treeHalfOnErrgroup(n.right)
		return err
	})
	x, err := treeHalfOnErrgroup(n.left)
	if also := eg.Wait(); err == nil {
		err = also
	}
	return n.weight + x + y, err
}

func treeHalfOnGoroutines(n *treeNode) uint32 {
	switch {
	case n.left == nil:
		return n.weight
	case n.right == nil:
		return n.weight + treeHalfOnGoroutines(n.left)
	}
	var (
		wg sync.WaitGroup
		y  uint32
	)
	wg.Add(1)
	go func() {
		defer wg.Done()
		y = treeHalfOnGoroutines(n.right)
	}()
	x := treeHalfOnGoroutines(n.left)
	wg.Wait()
	return n.weight + x + y
}

func treeHalfOnChannels(n *treeNode) uint32 {
	switch {
	case n.left == nil:
		return n.weight
	case n.right == nil:
		return n.weight + treeHalfOnChannels(n.left)
	}
	value := make(chan uint32, 1)
	go func() { value <- treeHalfOnChannels(n.right) }()
	return n.weight + treeHalfOnChannels(n.left) + <-value
}

func treeOnFloor(n *treeNode) uint32 {
	if n == nil {
		return 0
	}
	return n.weight + treeOnFloor(n.left) + treeOnFloor(n.right)
}
