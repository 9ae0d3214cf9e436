package workloads_test

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/workloads"
)

// actorCounts are numbers of operations around everything that an actor
// workload might divide by or round to.
var actorCounts = []int{1, 2, 3, 4, 5, 7, 8, 9, 99, 100, 101, 119, 120, 121, 239, 240, 241, 255, 256, 257, 999, 1000, 1001, 1021, 1023, 1025, 2001, 5000, 8191, 8192, 20_001}

// isCurve reports whether w is a point of a curve: a workload with another number
// of actors.
func isCurve(w workloads.Actor) bool {
	key, _, _ := strings.Cut(w.Variant, "=")
	return key == "actors" || key == "shuffled" || key == "producers"
}

// actorScale returns which numbers of operations to use for a workload. The race
// detector is slow, and allows a process no more than 8,128 goroutines.
func actorScale(w workloads.Actor) []int {
	switch {
	case strings.HasSuffix(w.Variant, "0000"):
		return []int{1, 1001, 2001} // two actors for each operation
	case raceEnabled:
		return []int{1, 3, 8, 120, 241, 1025, 2001, 5000}
	case w.Variant != "":
		return []int{1, 2, 7, 64, 65, 5000, 20_001}
	}
	return actorCounts
}

func TestActors(t *testing.T) {
	for _, w := range workloads.Actors() {
		for _, impl := range impls.All() {
			t.Run(w.Path()+"/impl="+impl.Name, func(t *testing.T) {
				if impl.NewDispatcher == nil {
					t.Skip("runs no actors")
				}
				if lacks := impl.Promises.Lacks(w.Needs); len(lacks) > 0 {
					t.Skip("needs ", strings.Join(lacks, ", "))
				}
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				exerciseActor(t, w, actorScale(w), w.Prepare, workloads.Setting{NewDispatcher: impl.NewDispatcher})
			})
		}
	}
}

func TestActorRefs(t *testing.T) {
	for _, w := range workloads.Actors() {
		for _, ref := range w.Refs {
			t.Run(w.Path()+"/impl="+ref.Name, func(t *testing.T) {
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				exerciseActor(t, w, actorScale(w), ref.Prepare, workloads.Setting{})
			})
		}
	}
}

// exerciseActor checks runs of n operations in one go, of several in a row, and
// of two prepared at the same time.
func exerciseActor(t *testing.T, w workloads.Actor, counts []int, prepare func(workloads.Setting) workloads.Run, st workloads.Setting) {
	t.Helper()
	few := st
	few.Ops = counts[len(counts)-1]
	if !strings.HasSuffix(w.Variant, "0000") {
		few.Ops = 0 // all actors there are
	}
	all, other := prepare(few), prepare(few)
	for _, n := range counts {
		st.Ops = n
		one := prepare(st)
		if err := one.Do(n); err != nil {
			t.Fatalf("%d operations, alone: Do: %v", n, err)
		}
		if err := one.Check(); err != nil {
			t.Fatalf("%d operations, alone: Check: %v", n, err)
		}
		one.Close()
		if err := all.Do(n); err != nil {
			t.Fatalf("%d operations, in a row: Do: %v", n, err)
		}
		if err := other.Do(3); err != nil {
			t.Fatalf("3 operations of another run after %d of the first: %v", n, err)
		}
	}
	for name, run := range map[string]workloads.Run{"in a row": all, "another beside it": other} {
		if err := run.Check(); err != nil {
			t.Fatalf("%s: Check: %v", name, err)
		}
		run.Close()
	}
}

// What small machines run, and no list has, is checked like the others.
func TestSmallActors(t *testing.T) {
	for _, w := range workloads.SmallActors() {
		for _, impl := range impls.All() {
			t.Run(w.Path()+"/impl="+impl.Name, func(t *testing.T) {
				defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
				exerciseActor(t, w, []int{1, 2, 33, 500}, w.Prepare, workloads.Setting{NewDispatcher: impl.NewDispatcher, Ring: 8})
			})
		}
	}
}

// A run that was prepared and never used leaves nothing behind either.
func TestUnusedActorRun(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	for _, w := range workloads.Actors() {
		st := workloads.Setting{Ops: 1}
		for _, ref := range w.Refs {
			ref.Prepare(st).Close()
		}
		for _, impl := range impls.All() {
			if st.NewDispatcher = impl.NewDispatcher; st.NewDispatcher != nil {
				w.Prepare(st).Close()
			}
		}
	}
}

func TestActorsDoOfNothingPanics(t *testing.T) {
	for _, w := range workloads.Actors() {
		for _, n := range []int{0, -1} {
			func() {
				run := w.Prepare(workloads.Setting{NewDispatcher: impls.All()[0].NewDispatcher, Ops: 1})
				defer run.Close()
				defer func() {
					if v := fmt.Sprint(recover()); !strings.HasPrefix(v, "workloads: ") {
						t.Errorf("%s: Do(%d): panicked with %s, want a message of this package", w.Path(), n, v)
					}
				}()
				run.Do(n)
			}()
		}
	}
}

func TestActorNames(t *testing.T) {
	const refs = ": ref-chan-buffered ref-chan-unbuffered ref-mutex-cond"
	want := []string{
		"workload=ask: ref-chan-buffered ref-chan-unbuffered ref-chan-reused ref-mutex-cond",
		"workload=ask/from=outside: ref-chan-buffered ref-chan-unbuffered ref-chan-reused ref-mutex-cond",
		"workload=backpressure" + refs,
		"workload=big" + refs,
		"workload=chameneos" + refs,
		"workload=count" + refs,
		"workload=fanin" + refs,
		"workload=fanin/producers=1" + refs,
		"workload=fanin/producers=2" + refs,
		"workload=fanin/producers=4" + refs,
		"workload=fanin/producers=16" + refs,
		"workload=fanin/producers=32" + refs,
		"workload=fanin/producers=64" + refs,
		"workload=fanout" + refs,
		"workload=forkjoin" + refs,
		"workload=latency1k" + refs,
		"workload=latency100k" + refs,
		"workload=pairs" + refs,
		"workload=pairs/actors=2" + refs,
		"workload=pairs/actors=20" + refs,
		"workload=pairs/actors=200" + refs,
		"workload=pairs/actors=20000" + refs,
		"workload=pairs/actors=200000" + refs,
		"workload=pairs/actors=1000000" + refs,
		"workload=pingpong" + refs,
		"workload=priority: ref-chan-buffered ref-mutex-cond",
		"workload=restart: ref-chan-buffered ref-chan-unbuffered",
		"workload=restart/retry=on: ref-chan-buffered ref-chan-unbuffered",
		"workload=restart/failure=panic: ref-chan-buffered ref-chan-unbuffered",
		"workload=ring" + refs + " ref-floor",
		"workload=ring/actors=2" + refs + " ref-floor",
		"workload=ring/actors=10" + refs + " ref-floor",
		"workload=ring/actors=1000" + refs + " ref-floor",
		"workload=ring/actors=10000" + refs + " ref-floor",
		"workload=ring/actors=100000" + refs + " ref-floor",
		"workload=ring/actors=1000000" + refs + " ref-floor",
		"workload=ring/shuffled=1000" + refs + " ref-floor",
		"workload=ring/shuffled=10000" + refs + " ref-floor",
		"workload=ring/shuffled=100000" + refs + " ref-floor",
		"workload=ring/shuffled=1000000" + refs + " ref-floor",
		"workload=spawn" + refs,
		"workload=spawn/rate=1000" + refs,
		"workload=suspend: ref-chan-buffered ref-chan-unbuffered",
		"workload=suspend/until=room: ref-chan-buffered ref-chan-unbuffered",
		"workload=timers: ref-chan-buffered ref-afterfunc",
	}
	checkNames(t, describedActors(), want)
}

func TestActorFields(t *testing.T) { checkFields(t, describedActors(), "ref-chan-buffered") }

func TestActorDocumentIsCurrent(t *testing.T) { checkDocument(t, describedActors(), "Actors") }
