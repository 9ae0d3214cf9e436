package workloads

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/workloads/internal/errgroup"
)

const (
	nestedFan    = 8
	nestedLeaves = nestedFan * nestedFan * nestedFan
)

// groupNested is divide and conquer: an implementation that runs tasks on a fixed number of
// workers learns here that all of them can be waiting.
func groupNested() []Workload {
	return []Workload{{
		Name:    "nested",
		Doc:     "a tree of groups, 8 × 8 × 8 leaves: what a small group costs, and whether tasks may wait for tasks",
		Op:      "a leaf",
		Checked: "the number of results of each group, the sum over all leaves, every `Wait`",
		Slicing: Slicing{Unit: nestedLeaves},
		Prepare: func(st Setting) Run { return nestedOnGroup(st.Impl.NewGroup) },
		Refs: []Ref{
			{refErrgroup, "an errgroup and a channel of results for every group of the tree", func(Setting) Run { return nestedOnErrgroup() }},
			{
				Name:    refGoroutines,
				Doc:     "a goroutine each, a WaitGroup and results in a slice behind a mutex for every group of the tree",
				Prepare: func(Setting) Run { return nestedOnGoroutines() },
			},
			{refFloor, "bare workers and an atomic counter over the leaves, no groups at all", func(Setting) Run { return nestedOnFloor() }},
		},
	}}
}

// A nestedRun adds up the weights of the leaves by a tree of groups. A leaf that
// is lost, doubled or altered on the way shows in the sum, since the weights
// are irregular and no two are the same.
type nestedRun struct {
	upTo  []int // weight of leaves 0 … i-1
	n     int   // leaves in this round: the nodes above others stay away
	round func(ctx context.Context) (int, error)

	asked, booked int64
}

func newNestedRun() *nestedRun {
	r := &nestedRun{upTo: make([]int, nestedLeaves+1)}
	for i := range nestedLeaves {
		r.upTo[i+1] = r.upTo[i] + nestedWeight(i)
	}
	return r
}

// nestedWeight is an irregular number of 20 bits, so that sums fit 32 bits.
func nestedWeight(leaf int) int { return int(fill(uint32(leaf), 3) >> 12) }

func (r *nestedRun) Do(n int) error {
	r.asked += int64(n)
	return inRounds(n, nestedLeaves, func(k int) error {
		r.n = k
		sum, err := r.round(context.Background())
		if err != nil {
			return errors.New("workloads: a task of the tree ended with " + errText(err))
		}
		if sum != r.upTo[k] {
			return errors.New("workloads: the leaves add up to " + strconv.Itoa(sum) + " instead of " + strconv.Itoa(r.upTo[k]))
		}
		r.booked += int64(k)
		return nil
	})
}

func (r *nestedRun) Check() error { return countCheck(r.asked, r.booked) }

func (r *nestedRun) Close() { r.upTo, r.round = nil, nil }

// A nestedNode is a task of the tree: a leaf, or a group of tasks below it.
type nestedNode struct {
	first int // number of the first leaf
	kids  []nestedNode
	task  group.TaskFunc[int] // leaf: return the weight; else: run the kids
}

// newNestedTree makes a tree of the given number of leaves. The tasks of nodes
// call runKids with their node.
func newNestedTree(n *nestedNode, first, leaves int, runKids func(context.Context, *nestedNode) (int, error)) {
	n.first = first
	if leaves == 1 {
		n.task = func(context.Context) (int, error) { return nestedWeight(first), nil }
		return
	}
	n.task = func(ctx context.Context) (int, error) { return runKids(ctx, n) }
	n.kids = make([]nestedNode, nestedFan)
	for i := range n.kids {
		newNestedTree(&n.kids[i], first+i*leaves/nestedFan, leaves/nestedFan, runKids)
	}
}

// present returns the nodes below n that have leaves among the first k.
func (n *nestedNode) present(k int) []nestedNode {
	i := len(n.kids)
	for i > 0 && n.kids[i-1].first >= k {
		i--
	}
	return n.kids[:i]
}

func nestedOnGroup(newGroup NewGroup) Run {
	r := newNestedRun()
	opts := []group.Option{group.WithResultBuffer(nestedFan)}
	root := new(nestedNode)
	newNestedTree(root, 0, nestedLeaves, func(ctx context.Context, n *nestedNode) (int, error) {
		g := newGroup(ctx, opts...)
		kids := n.present(r.n)
		for i := range kids {
			if err := g.Go(kids[i].task); err != nil {
				return 0, abandon(g, err)
			}
		}
		g.Close()
		sum, taken := 0, 0
		for {
			res, ok, err := g.Next(ctx)
			if err == nil {
				err = res.Err
			}
			if err != nil {
				return 0, abandon(g, err)
			}
			if !ok {
				break
			}
			sum += res.Value
			taken++
		}
		if err := countCheck(int64(len(kids)), int64(taken)); err != nil {
			return 0, err
		}
		return sum, g.Wait()
	})
	r.round = root.task
	return r
}

func nestedOnErrgroup() Run {
	r := newNestedRun()
	root := new(nestedNode)
	newNestedTree(root, 0, nestedLeaves, func(ctx context.Context, n *nestedNode) (int, error) {
		eg, ctx := errgroup.WithContext(ctx)
		kids := n.present(r.n)
		results := make(chan group.Result[int], nestedFan)
		for i := range kids {
			eg.Go(func() error {
				v, err := kids[i].task(ctx)
				results <- group.Result[int]{Value: v, Err: err}
				return err
			})
		}
		sum := 0
		for range kids {
			res := <-results
			if res.Err != nil {
				return 0, res.Err
			}
			sum += res.Value
		}
		return sum, eg.Wait()
	})
	r.round = root.task
	return r
}

func nestedOnGoroutines() Run {
	r := newNestedRun()
	root := new(nestedNode)
	newNestedTree(root, 0, nestedLeaves, func(ctx context.Context, n *nestedNode) (int, error) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		kids := n.present(r.n)
		var (
			wg      sync.WaitGroup
			mu      sync.Mutex
			results = make([]group.Result[int], 0, nestedFan)
			first   error
		)
		wg.Add(len(kids))
		for i := range kids {
			go func() {
				defer wg.Done()
				v, err := kids[i].task(ctx)
				mu.Lock()
				defer mu.Unlock()
				results = append(results, group.Result[int]{Value: v, Err: err})
				if err != nil && first == nil {
					first = err
					cancel(err)
				}
			}()
		}
		wg.Wait()
		sum := 0
		for _, res := range results {
			sum += res.Value
		}
		return sum, first
	})
	r.round = root.task
	return r
}

func nestedOnFloor() Run {
	workers := runtime.GOMAXPROCS(0)
	r := newNestedRun()
	leaves := make([]group.TaskFunc[int], nestedLeaves)
	for i := range leaves {
		leaves[i] = func(context.Context) (int, error) { return nestedWeight(i), nil }
	}
	type worker struct {
		sum int
		err error
		_   [64]byte // workers are written by different processors
	}
	var (
		next atomic.Int64
		team = make([]worker, workers)
		wg   sync.WaitGroup
	)
	work := func(ctx context.Context, w *worker) {
		sum := 0
		for i := int(next.Add(1)) - 1; i < r.n; i = int(next.Add(1)) - 1 {
			v, err := leaves[i](ctx)
			if err != nil {
				w.err = err
				return
			}
			sum += v
		}
		w.sum = sum
	}
	r.round = func(ctx context.Context) (int, error) {
		next.Store(0)
		wg.Add(workers - 1)
		for i := 1; i < workers; i++ {
			go func() {
				defer wg.Done()
				work(ctx, &team[i])
			}()
		}
		work(ctx, &team[0])
		wg.Wait()
		sum := 0
		for i := range team {
			if team[i].err != nil {
				return 0, team[i].err
			}
			sum += team[i].sum
		}
		return sum, nil
	}
	return r
}
