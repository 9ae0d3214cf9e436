package workloads_test

import (
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/workloads"
)

// actorCounts are numbers of operations around everything that an actor
// workload might divide by or round to.
var actorCounts = []int{1, 2, 3, 4, 5, 7, 8, 9, 99, 100, 101, 119, 120, 121, 239, 240, 241, 255, 256, 257, 999, 1000, 1001, 1021, 1023, 1025, 2001, 5000, 8191, 8192, 20_001}

// isCurve reports whether w is a point of a curve: a workload with another number
// of actors.
func isCurve(w workloads.Actor) bool {
	key, value, _ := strings.Cut(w.Variant, "=")
	return key == "actors" || key == "shuffled" || key == "producers" && !strings.Contains(value, "/") || strings.Contains(value, "messages=")
}

// actorScale returns which numbers of operations to use for a workload. The race
// detector is slow, and allows a process no more than 8,128 goroutines.
func actorScale(w workloads.Actor) []int {
	switch {
	case w.Actors >= 10_000:
		return []int{1, 1001, 2001} // two actors for each operation
	case raceEnabled:
		return []int{1, 3, 8, 120, 241, 1025, 2001, 5000}
	case w.Name == "blocked":
		return []int{1, 2, 9, 10, 900, 901} // each round takes a millisecond or more
	case w.Variant != "":
		return []int{1, 2, 7, 64, 65, 5000, 20_001}
	}
	return actorCounts
}

// setting is what a workload needs of an implementation.
func setting(impl dyno.Impl) workloads.Setting {
	return workloads.Setting{NewDispatcher: impl.NewDispatcher, NewExecutor: impl.NewExecutor, NewGroup: impl.NewGroup}
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
				exerciseActor(t, w, actorScale(w), w.Prepare, setting(impl))
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
	if w.Actors < 10_000 {
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
			if st := setting(impl); st.NewDispatcher != nil {
				st.Ops = 1
				w.Prepare(st).Close()
			}
		}
	}
}

func TestActorsDoOfNothingPanics(t *testing.T) {
	for _, w := range workloads.Actors() {
		for _, n := range []int{0, -1} {
			func() {
				st := setting(impls.All()[0])
				st.Ops = 1
				run := w.Prepare(st)
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

func TestActorFields(t *testing.T) { checkFields(t, describedActors(), "ref-chan-buffered") }

func TestActorDocumentIsCurrent(t *testing.T) { checkDocument(t, describedActors(), "Actors") }
