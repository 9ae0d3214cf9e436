package workloads

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/task"
)

// What a job is told by its tasks, by those of executors and references alike, is
// checked. Here the job is told something else.
func TestJobsCheck(t *testing.T) {
	for _, c := range []struct {
		name string
		job  func(n int) (int, error)
		says string // the error; empty if there is to be none
	}{
		{"fib", fibJob(by(sure(fibOnFloor))), ""},
		{"fib, one too many", fibJob(by(sure(func(n int) int { return fibOnFloor(n) + 1 }))), "instead of"},
		{"queens", queensJob(8, by(sure(queensOnFloor))), ""},
		{"queens, a position too few", queensJob(8, by(sure(func(b queensBoard) uint64 { return queensOnFloor(b) - queensPosition }))), "instead of"},
		{"queens, a way too many", queensJob(8, by(sure(func(b queensBoard) uint64 { return queensOnFloor(b) + queensWay - queensPosition }))), "instead of"},
		{"tree", treeJob(by(sure(treeOnFloor))), ""},
		{"tree, a node less", treeJob(by(sure(func(n *treeNode) uint32 { return treeOnFloor(n) - n.left.right.weight }))), "instead of"},
		{"pipeline", pipelineJob(by(sure(pipelineOnChannels(1)))), ""},
		{"pipeline, a step less", pipelineJob(by(sure(func(k int) uint32 { return pipelineOnChannels(1)(k - 1) }))), "instead of"},
		{"quicksort", quicksortJob(by(sure(divideOnGoroutines[quicksortShare]))), ""},
		{"quicksort, a task less", quicksortJob(by(sure(func(s quicksortShare) int { return divideOnGoroutines(s) - 1 }))), "instead of"},
		{"quicksort, not at all", quicksortJob(by(sure(func(s quicksortShare) int { return s.tasks }))), "not sorted"},
		{
			"quicksort, two in the wrong order",
			quicksortJob(by(sure(func(s quicksortShare) int {
				slices.Sort(s.data)
				s.data[700], s.data[701] = s.data[701], s.data[700]
				return s.tasks
			}))), "not sorted",
		},
		{
			"quicksort, a number twice",
			quicksortJob(by(sure(func(s quicksortShare) int {
				slices.Sort(s.data)
				s.data[700] = s.data[701]
				return s.tasks
			}))), "not sorted",
		},
		{"matmul", matmulJob(by(sure(divideOnGoroutines[matmulShare]))), ""},
		{"matmul, not at all", matmulJob(by(sure(func(s matmulShare) int { return s.to }))), "block 0"},
		{
			"matmul, a block less",
			matmulJob(by(sure(func(s matmulShare) int {
				return 1 + divideOnGoroutines(matmulShare{s.m, 0, s.to - 1})
			}))), "of the product is wrong",
		},
		{
			"matmul, a wrong number",
			matmulJob(by(sure(func(s matmulShare) int {
				n := divideOnGoroutines(s)
				s.m.c[matmulSize+3]++
				return n
			}))), "block 0",
		},
	} {
		most := 3 * 4096
		switch name, _, _ := strings.Cut(c.name, ","); name {
		case "quicksort", "matmul":
			most = 300
		}
		for _, n := range []int{43, most} {
			for left := n; left > 0; {
				k, err := c.job(left)
				if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
					t.Errorf("%s: %d operations: error %v, want one with %q", c.name, left, err, c.says)
				}
				if err != nil || k < 1 || k > left {
					break
				}
				left -= k
			}
		}
	}
}

// Values that are missing, another's or of the round before are noticed.
func TestValuesAreChecked(t *testing.T) {
	good := func() []uint32 {
		v := make([]uint32, 100)
		for i := range v {
			v[i] = crowdValue(i)
		}
		return v
	}
	if err := checkCrowd(good(), nil); err != nil {
		t.Error(err)
	}
	values := good()
	_ = checkCrowd(values, nil)
	if err := checkCrowd(values, nil); err == nil {
		t.Error("the values of the round before were taken for new ones")
	}
	values = good()
	values[3], values[4] = values[4], values[3]
	if err := checkCrowd(values, nil); err == nil {
		t.Error("two values that were exchanged were not noticed")
	}
	seen := make(map[uint32]bool)
	for i := range spawnAwaitMost {
		v := crowdValue(i)
		if v == 0 || seen[v] && i < 1000 {
			t.Fatalf("task %d has the value %d, which is no task's, or another's", i, v)
		}
		seen[v] = true
	}

	var s shared
	job := sharedJob(&s, func(k int) error { return s.check(s.value, nil) })
	if _, err := job(3); err != nil {
		t.Error(err)
	}
	before := s.value
	if before == 0 {
		t.Error("the value of shared is that of a task that has not run")
	}
	job = sharedJob(&s, func(k int) error { return s.check(before, nil) })
	if _, err := job(3); err == nil {
		t.Error("the value of the round before was not noticed")
	}
}

// The one that all wait for is not over before they have come.
func TestSharedWaits(t *testing.T) {
	var s shared
	yields := 0
	s.value = 7
	v := s.compute(3, func() {
		if yields++; yields%10 == 0 {
			s.come()
		}
	})
	if v != 7 || yields != 30 {
		t.Errorf("value %d after %d yields, want 7 after 30", v, yields)
	}
	yields = 0
	s.compute(4, func() { yields++ })
	if yields != sharedPatience {
		t.Errorf("%d yields when no other task comes, want %d", yields, sharedPatience)
	}
}

// What became of a task that two cancel fits what each of them was told.
func TestCancelCheck(t *testing.T) {
	v := crowdValue(5)
	for _, c := range []struct {
		v        uint32
		err      error
		s        task.Status
		up, down bool
		ok       bool
	}{
		{v, nil, task.Resolved, false, false, true},
		{0, context.Canceled, task.Cancelled, true, false, true},
		{0, context.Canceled, task.Cancelled, false, true, true},
		{0, context.Canceled, task.Cancelled, true, true, false},
		{0, context.Canceled, task.Cancelled, false, false, false},
		{v, context.Canceled, task.Cancelled, true, false, false},
		{0, nil, task.Cancelled, true, false, false},
		{v, nil, task.Resolved, true, false, false},
		{v, nil, task.Resolved, true, true, false},
		{0, nil, task.Resolved, false, false, false},
		{v + 1, nil, task.Resolved, false, false, false},
		{v, errStop, task.Resolved, false, false, false},
		{v, nil, task.Pending, false, false, false},
		{0, errStop, task.Failed, false, false, false},
	} {
		if err := cancelCheck(5, c.v, c.err, c.s, c.up, c.down); (err == nil) != c.ok {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}

// What is known of boards is what a search finds, and the last one is the
// largest that fits its type.
func TestQueensTable(t *testing.T) {
	for n := range queensWays {
		got := queensOnFloor(queensBoard{size: uint32(n)})
		if ways, positions := got>>32, int(got&(1<<32-1)); ways != queensWays[n] || positions != queensPositions[n] {
			t.Errorf("board of %d: %d ways with %d positions, want %d with %d", n, ways, positions, queensWays[n], queensPositions[n])
		}
	}
	if !slices.IsSorted(queensPositions[:]) || queensPositions[0] != 1 {
		t.Errorf("not any number of operations is made up of %v", queensPositions)
	}
}

// A tree of k nodes has those and no others, whatever it was before.
func TestForest(t *testing.T) {
	f := newForest()
	var count func(n *treeNode) int
	count = func(n *treeNode) int {
		if n == nil {
			return 0
		}
		return 1 + count(n.left) + count(n.right)
	}
	for _, k := range []int{1, treeMost, 2, 3, 1000, 999, 4, treeMost, treeMost - 1, 1} {
		if root := f.tree(k); count(root) != k || treeOnFloor(root) != f.upTo[k] {
			t.Errorf("%d nodes instead of %d, of weight %d instead of %d", count(root), k, treeOnFloor(root), f.upTo[k])
		}
	}
}

// Numbers are divided at a number, and tasks in proportion, whatever they are.
func TestQuicksortDivides(t *testing.T) {
	for name, data := range map[string][]uint32{
		"none":       {},
		"one":        {1},
		"two":        {2, 1},
		"equal":      slices.Repeat([]uint32{7}, 1000),
		"ascending":  ascending(1000),
		"descending": descending(1000),
		"largest":    {1, 2, 1, 2, 9},
	} {
		for _, tasks := range []int{2, 3, 10, 1000} {
			all := slices.Clone(data)
			s := quicksortShare{all, tasks}
			a, b, ok := s.divide()
			if !ok || len(a.data)+len(b.data) != len(data) || a.tasks+b.tasks != tasks || a.tasks < 1 || b.tasks < 1 {
				t.Errorf("%s by %d: %d by %d and %d by %d", name, tasks, len(a.data), a.tasks, len(b.data), b.tasks)
				continue
			}
			if len(a.data) > 0 && len(b.data) > 0 && slices.Max(a.data) > slices.Min(b.data) {
				t.Errorf("%s by %d: %d is among the smaller numbers, %d among the larger ones", name, tasks, slices.Max(a.data), slices.Min(b.data))
			}
			if n := divideOnGoroutines(s); n != tasks {
				t.Errorf("%s: %d tasks, want %d", name, n, tasks)
			}
			want := slices.Sorted(slices.Values(data))
			if !slices.Equal(all, want) {
				t.Errorf("%s by %d is %v", name, tasks, all)
			}
		}
	}
}

func ascending(n int) []uint32 {
	v := make([]uint32, n)
	for i := range v {
		v[i] = uint32(i)
	}
	return v
}

func descending(n int) []uint32 {
	v := ascending(n)
	slices.Reverse(v)
	return v
}
