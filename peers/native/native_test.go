// Package native lays adapters of peers beside programs that were written without them, as the
// peers' own documentation has it: an adapter that makes its peer slower by more than a tenth
// is a defect of the adapter. An operation is a round: 256 tasks, or 1,000 hops.
package native

import (
	"context"
	"sync"
	"testing"

	"github.com/alitto/pond/v2"
	"github.com/asynkron/protoactor-go/actor"
	"github.com/panjf2000/ants/v2"
	"github.com/sourcegraph/conc/pool"
	"golang.org/x/sync/errgroup"

	"github.com/dynolab/dyno/peers"
	"github.com/dynolab/dyno/workloads"
)

const (
	tasks = 256
	limit = 32
	hops  = 1000
)

func BenchmarkAdapter(b *testing.B) {
	for _, p := range []struct {
		name   string
		native func(b *testing.B) (round func())
	}{
		{"errgroup", onErrgroup},
		{"conc", onConc},
		{"pond", onPond},
		{"ants", onAnts},
		{"protoactor", onProtoactor},
	} {
		b.Run("peer="+p.name+"/impl=native", func(b *testing.B) {
			round := p.native(b)
			for b.Loop() {
				round()
			}
		})
		b.Run("peer="+p.name+"/impl=adapter", func(b *testing.B) {
			run, n := adapter(b, p.name)
			defer run.Close()
			for b.Loop() {
				if err := run.Do(n); err != nil {
					b.Fatal(err)
				}
			}
			if err := run.Check(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// adapter returns a run of the workload that the native programs are, and how many operations
// a round has.
func adapter(b *testing.B, name string) (run workloads.Run, n int) {
	for _, w := range workloads.All() {
		switch w.Path() {
		case "workload=short/failfast=off":
			for _, p := range peers.Groups() {
				if p.Name == name {
					return p.Ref(w).Prepare(workloads.Setting{}), tasks
				}
			}
		case "workload=pingpong":
			for _, p := range peers.Actors() {
				if p.Name == name {
					return p.Ref(w).Prepare(workloads.Setting{}), hops
				}
			}
		}
	}
	b.Fatalf("no peer is called %s", name)
	return nil, 0
}

// sum takes the results of a round, and looks whether they are all there.
func sum(b *testing.B, results <-chan int) {
	got, n := 0, 0
	for v := range results {
		got += v
		n++
	}
	if n != tasks || got != tasks*(tasks-1)/2 {
		b.Fatalf("%d results, whose sum is %d", n, got)
	}
}

func onErrgroup(b *testing.B) func() {
	return func() {
		results := make(chan int, tasks)
		ctx := context.Background()
		var g errgroup.Group
		g.SetLimit(limit)
		for i := range tasks {
			g.Go(func() error {
				results <- i
				return ctx.Err()
			})
		}
		go func() {
			_ = g.Wait()
			close(results)
		}()
		sum(b, results)
	}
}

func onConc(b *testing.B) func() {
	return func() {
		results := make(chan int, tasks)
		p := pool.New().WithMaxGoroutines(limit).WithContext(context.Background()).WithFirstError()
		for i := range tasks {
			p.Go(func(ctx context.Context) error {
				results <- i
				return ctx.Err()
			})
		}
		go func() {
			_ = p.Wait()
			close(results)
		}()
		sum(b, results)
	}
}

func onPond(b *testing.B) func() {
	p := pond.NewPool(limit)
	b.Cleanup(p.StopAndWait)
	return func() {
		results := make(chan int, tasks)
		g := p.NewGroupContext(context.Background())
		for i := range tasks {
			g.Submit(func() { results <- i })
		}
		go func() {
			_ = g.Wait()
			close(results)
		}()
		sum(b, results)
	}
}

func onAnts(b *testing.B) func() {
	p, err := ants.NewPool(limit)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(p.Release)
	return func() {
		results := make(chan int, tasks)
		var wg sync.WaitGroup
		for i := range tasks {
			wg.Add(1)
			_ = p.Submit(func() {
				defer wg.Done()
				results <- i
			})
		}
		go func() {
			wg.Wait()
			close(results)
		}()
		sum(b, results)
	}
}

// ball is sent back and forth.
type ball struct{ left int }

func onProtoactor(b *testing.B) func() {
	system := actor.NewActorSystem()
	b.Cleanup(system.Shutdown)
	over := make(chan struct{})
	var players [2]*actor.PID
	for i := range players {
		players[i] = system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
			m, ok := ctx.Message().(*ball)
			if !ok {
				return
			}
			if m.left--; m.left == 0 {
				over <- struct{}{}
				return
			}
			ctx.Send(players[1-i], m)
		}))
	}
	m := new(ball)
	return func() {
		m.left = hops
		system.Root.Send(players[0], m)
		<-over
	}
}
