package workstealing_test

import (
	"context"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/dynolab/dyno/impls/workstealing"
	"github.com/dynolab/dyno/task"
)

// fib starts a task for one of the two numbers and computes the other one itself.
func fib(ctx context.Context, n int) (int, error) {
	if n < 2 {
		return n, nil
	}
	f := task.ForkCall(ctx, fib, n-1)
	b, err := fib(ctx, n-2)
	if err != nil {
		return 0, err
	}
	a, err := f.Value(ctx)
	return a + b, err
}

// fibBoth starts a task for each.
func fibBoth(ctx context.Context, n int) (int, error) {
	if n < 2 {
		return n, nil
	}
	f, g := task.ForkCall(ctx, fibBoth, n-1), task.ForkCall(ctx, fibBoth, n-2)
	b, err := g.Value(ctx)
	if err != nil {
		return 0, err
	}
	a, err := f.Value(ctx)
	return a + b, err
}

// fibGroup is fib with errgroup, a goroutine for each task.
func fibGroup(n int) (int, error) {
	if n < 2 {
		return n, nil
	}
	var g errgroup.Group
	var a int
	g.Go(func() (err error) { a, err = fibGroup(n - 1); return err })
	b, err := fibGroup(n - 2)
	if err != nil {
		return 0, err
	}
	return a + b, g.Wait()
}

func fibGroupBoth(n int) (int, error) {
	if n < 2 {
		return n, nil
	}
	var g errgroup.Group
	var a, b int
	g.Go(func() (err error) { a, err = fibGroupBoth(n - 1); return err })
	g.Go(func() (err error) { b, err = fibGroupBoth(n - 2); return err })
	err := g.Wait()
	return a + b, err
}

// tree is a balanced binary tree of sums.
type tree struct {
	l, r *tree
	v    int
}

func grow(depth int) *tree {
	if depth == 0 {
		return &tree{v: 1}
	}
	return &tree{l: grow(depth - 1), r: grow(depth - 1), v: 1}
}

func (t *tree) sum(ctx context.Context) (int, error) {
	if t.l == nil {
		return t.v, nil
	}
	f := task.ForkCall(ctx, func(ctx context.Context, t *tree) (int, error) { return t.sum(ctx) }, t.l)
	b, err := t.r.sum(ctx)
	if err != nil {
		return 0, err
	}
	a, err := f.Value(ctx)
	return t.v + a + b, err
}

func (t *tree) sumGroup() (int, error) {
	if t.l == nil {
		return t.v, nil
	}
	var g errgroup.Group
	var a int
	g.Go(func() (err error) { a, err = t.l.sumGroup(); return err })
	b, err := t.r.sumGroup()
	if err != nil {
		return 0, err
	}
	return t.v + a + b, g.Wait()
}

const spawned = 100_000

func same(_ context.Context, n int) (int, error) { return n, nil }

// spawn starts many tasks at once, with start, and awaits each.
func spawn(ctx context.Context, start func(n int) *task.Future[int]) (int, error) {
	fs := make([]*task.Future[int], spawned)
	for i := range fs {
		fs[i] = start(i % 2)
	}
	sum := 0
	for _, f := range fs {
		v, err := f.Value(ctx)
		if err != nil {
			return 0, err
		}
		sum += v
	}
	return sum, nil
}

func spawnGroup() (int, error) {
	var g errgroup.Group
	vs := make([]int, spawned)
	for i := range vs {
		g.Go(func() error { vs[i] = i % 2; return nil })
	}
	err := g.Wait()
	sum := 0
	for _, v := range vs {
		sum += v
	}
	return sum, err
}

// BenchmarkJoin compares the executor with a goroutine a task, by errgroup. An op
// is one task.
func BenchmarkJoin(b *testing.B) {
	root := grow(15)
	inside := func(f func(context.Context) (int, error)) func(ex task.Executor) (int, error) {
		return func(ex task.Executor) (int, error) { return task.Go(ex, f).Value(context.Background()) }
	}
	for _, c := range []struct {
		name        string
		tasks, want int
		of          func(ex task.Executor) (int, error)
		ref         func() (int, error)
	}{
		{"fib", 121392, 75025, inside(func(ctx context.Context) (int, error) { return fib(ctx, 25) }), func() (int, error) { return fibGroup(25) }},
		{"fibboth", 242784, 75025, inside(func(ctx context.Context) (int, error) { return fibBoth(ctx, 25) }), func() (int, error) { return fibGroupBoth(25) }},
		{"tree", 1<<15 - 1, 1<<16 - 1, inside(root.sum), root.sumGroup},
		{"spawnawait", spawned, spawned / 2, inside(func(ctx context.Context) (int, error) {
			return spawn(ctx, func(n int) *task.Future[int] { return task.ForkCall(ctx, same, n) })
		}), spawnGroup},
		{"spawnoutside", spawned, spawned / 2, func(ex task.Executor) (int, error) {
			return spawn(context.Background(), func(n int) *task.Future[int] { return task.Call(ex, same, n) })
		}, spawnGroup},
	} {
		run := func(name string, f func() (int, error)) {
			b.Run("work="+c.name+"/impl="+name, func(b *testing.B) {
				b.ReportAllocs()
				rounds := 0
				for n := 0; n < b.N; n += c.tasks {
					rounds++
					if got, err := f(); got != c.want || err != nil {
						b.Fatal(got, err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(rounds*c.tasks), "ns/task")
			})
		}
		ex := workstealing.NewExecutor()
		run("workstealing", func() (int, error) { return c.of(ex) })
		run("ref-errgroup", c.ref)
	}
}
