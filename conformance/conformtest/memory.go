package conformtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/group"
)

// checkDropped makes many groups, uses them and drops them, and looks at what
// is left: no goroutine and no memory.
func checkDropped(_ *testing.T, s *suite) outcome {
	n := s.set.groups
	limit := s.limit + leakRounds*time.Duration(n)*time.Millisecond
	return s.outside(limit, func(e *conformance.Env) error {
		parent, cancel := context.WithCancel(context.Background())
		defer cancel()
		if err := dropGroups(s, parent, 2000); err != nil { // what is made once is made now
			return err
		}
		// A group that leaks anything at all leaks more than 16 bytes.
		slack := 0
		if !s.impl.Promises.Parks {
			slack = 16 + 4*runtime.GOMAXPROCS(0) // workers that are shared and stay
		}
		_, err := leavesNothing(e, int64(64<<10+16*n), slack, func() error { return dropGroups(s, parent, n) })
		if err != nil {
			return fmt.Errorf("after %d groups: %w", n, err)
		}
		return nil
	})
}

func head(b []byte, n int) []byte { return b[:min(n, len(b))] }

var errTask = errors.New("a task failed")

// dropGroups makes n groups and leaves them in the ways that G8 allows.
func dropGroups(s *suite, parent context.Context, n int) error {
	value := func(context.Context) (int, error) { return 1, nil }
	failing := func(context.Context) (int, error) { return 0, errTask }
	for i := range n {
		ctx := context.Background()
		if i%8 < 4 { // a parent that outlives the group: the group must be closed
			ctx = parent
		}
		g := s.impl.NewGroup(ctx, group.WithMaxConcurrency(i%3), group.WithFailFast(i%5 < 2))
		for _, fn := range []group.TaskFunc[int]{value, failing} {
			if err := g.Go(fn); err != nil {
				return fmt.Errorf("Go returned %w", err)
			}
		}
		switch i % 4 {
		case 0: // closed and drained
			g.Close()
			for range group.Results(context.Background(), g) {
			}
		case 1: // closed, waited for, results left
			g.Close()
		case 2: // one result taken, cancelled, closed
			_, _, _ = g.Next(context.Background())
			g.Cancel(errTask)
			g.Close()
		case 3:
			if i%8 < 4 {
				g.Close()
			} // else dropped open
		}
		if err := g.Wait(); err != errTask {
			return fmt.Errorf("Wait returned %v, want %v", err, errTask)
		}
	}
	return nil
}

// leakRounds is how often something is repeated before it is said to leak.
const leakRounds = 3

// leavesNothing calls repeat, which begins and ends something over and over, and returns by
// how many bytes the heap has grown. It fails if more than bound bytes, or more than slack
// goroutines, stay behind each time. An implementation may start workers at any time, and
// keep them, with their stacks and queues: these stay once. What each repetition leaves
// behind comes again.
func leavesNothing(e *conformance.Env, bound int64, slack int, repeat func() error) (grown int64, err error) {
	for range leakRounds {
		e.Settle()
		goroutines, bytes := runtime.NumGoroutine(), heapInUse()
		if err := repeat(); err != nil {
			return 0, err
		}
		err = errors.Join(heapLeft(e, bytes, bound), goroutinesLeft(e, goroutines, slack))
		grown = heapInUse() - bytes
		if err == nil {
			break
		}
	}
	return grown, err
}

// heapLeft waits until no more than bound bytes are reachable beyond base.
func heapLeft(e *conformance.Env, base, bound int64) error {
	grown := int64(0)
	for range 20 {
		e.Settle()
		if grown = heapInUse() - base; grown <= bound {
			return nil
		}
	}
	return fmt.Errorf("the heap has grown by %d KiB, want at most %d KiB", grown>>10, bound>>10)
}

// goroutinesLeft waits until there are no more goroutines than before, but for slack.
func goroutinesLeft(e *conformance.Env, before, slack int) error {
	more := 0
	for try := range 1000 {
		e.Settle()
		if more = runtime.NumGoroutine() - before; more <= slack {
			return nil
		}
		if try%5 == 0 {
			runtime.GC() // may be what ends those of something that was dropped
		}
	}
	return fmt.Errorf("there are %d goroutines more:\n%s", more, head(allStacks(), 4<<10))
}

// heapInUse returns the bytes that are reachable.
func heapInUse() int64 {
	runtime.GC()
	runtime.GC() // the first one may leave floating garbage
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// footprint returns the bytes of heap and stacks in use, with garbage.
func footprint() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
