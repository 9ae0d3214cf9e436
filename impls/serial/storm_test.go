package serial_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/task"
)

// Any number of goroutines outside may do anything at once: every task has one
// end, no wait is forgotten and no goroutine is left, which the bubble would report,
// and no two tasks run at once, which the race detector would see from steps.
func TestStorm(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	for seed := range uint64(rounds) {
		synctest.Test(t, func(t *testing.T) { storm(t, seed) })
	}
}

func storm(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 7))
	x := serial.NewExecutorWith(serial.ExecutorConfig{
		Schedule:   serial.Schedule{Order: serial.Order(rng.IntN(3)), Seed: seed},
		StallAfter: -1,
	})
	var (
		mu    sync.Mutex
		all   []*task.Handle
		ends  = map[*task.Handle]task.Status{}
		steps int // of all tasks: they run one at a time
	)
	keep := func(h *task.Handle) *task.Handle {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, h)
		return h
	}
	anyone := func(n int) *task.Handle {
		mu.Lock()
		defer mu.Unlock()
		if len(all) == 0 {
			return nil
		}
		return all[n%len(all)]
	}
	saw := func(h *task.Handle, err error) {
		var e *task.Error
		if err != nil && !errors.As(err, &e) {
			return // only the wait is over
		}
		mu.Lock()
		defer mu.Unlock()
		s := h.Status()
		if old, ok := ends[h]; s == task.Pending || ok && old != s {
			t.Errorf("seed %d: after Wait the state is %v, and was %v", seed, s, old)
		}
		ends[h] = s
	}
	var body func(seed uint64, depth int) func(context.Context) error
	body = func(seed uint64, depth int) func(context.Context) error {
		return func(ctx context.Context) error {
			rng := rand.New(rand.NewPCG(seed, 8))
			for range rng.IntN(6) {
				steps++
				h, n := anyone(rng.IntN(1000)), rng.IntN(12)
				switch {
				case n < 4:
					if err := task.Yield(ctx); err != nil {
						t.Error(err)
					}
				case n < 6 && depth > 0:
					keep(task.Fork(ctx, func(ctx context.Context) (int, error) { return 0, body(rng.Uint64(), depth-1)(ctx) }).Handle())
				case n < 9:
					saw(h, h.Wait(ctx))
				case n < 10:
					short, stop := context.WithTimeout(ctx, time.Duration(rng.IntN(3))*time.Millisecond)
					saw(h, h.Wait(short))
					stop()
				case n < 11:
					h.Cancel()
				case rng.IntN(4) == 0:
					runtime.Goexit()
				}
			}
			return nil
		}
	}
	var outside sync.WaitGroup
	for range 2 + rng.IntN(6) {
		seed := rng.Uint64()
		outside.Go(func() {
			rng := rand.New(rand.NewPCG(seed, 9))
			for range 20 {
				h := anyone(rng.IntN(1000))
				switch n := rng.IntN(12); {
				case n < 4 || h == nil:
					keep(task.Start(x, body(rng.Uint64(), 3)))
				case n < 7:
					saw(h, h.Wait(context.Background()))
				case n < 8:
					short, stop := context.WithTimeout(t.Context(), time.Duration(rng.IntN(3))*time.Millisecond)
					saw(h, h.Wait(short))
					stop()
				case n < 9:
					if h.Cancel() && h.Status() != task.Cancelled {
						t.Error("canceled, and it is not")
					}
				case n < 10:
					h.Done()
				case n < 11:
					time.Sleep(time.Millisecond) // of the bubble's clock: until nothing else can go on
				default:
					x.Flush(1 + rng.IntN(10))
				}
			}
		})
	}
	outside.Wait()
	x.Close()
	for x.Flush(0) > 0 {
	}
	synctest.Wait()
	if n := x.Pending(); n != 0 {
		t.Errorf("seed %d: %d tasks are pending", seed, n)
	}
	for _, h := range all {
		if h.Status() == task.Pending {
			t.Errorf("seed %d: a task is pending", seed)
		}
		<-h.Done()
		saw(h, h.Wait(context.Background()))
	}
}
