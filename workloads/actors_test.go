package workloads_test

import (
	"fmt"
	"os"
	"regexp"
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

// Names are keys of tables and results, and must not change by accident: old
// figures could not be compared any more.
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
	var got []string
	for _, w := range workloads.Actors() {
		line := w.Path() + ":"
		for _, ref := range w.Refs {
			line += " " + ref.Name
		}
		got = append(got, line)
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("the workloads and their references are\n%s\nwant\n%s", g, w)
	}
}

func TestActorFields(t *testing.T) {
	path := regexp.MustCompile(`^workload=[a-z0-9]+(/[a-z0-9]+=[a-z0-9]+)?$`)
	sentence := regexp.MustCompile(`^[^\n]{20,160}[^\n.]$`)
	seen := map[string]bool{}
	for _, w := range workloads.Actors() {
		switch p := w.Path(); {
		case !path.MatchString(p):
			t.Errorf("%q is not a path of lower-case keys and values", p)
		case seen[p]:
			t.Errorf("%s is in the list twice", p)
		case !sentence.MatchString(w.Doc):
			t.Errorf("%s: its description fits no table: %q", p, w.Doc)
		case len(w.Refs) == 0 || w.Refs[0].Name != "ref-chan-buffered":
			t.Errorf("%s: the first reference, the base, must be ref-chan-buffered", p)
		}
		seen[w.Path()] = true
		refs := map[string]bool{}
		for _, ref := range w.Refs {
			if !strings.HasPrefix(ref.Name, "ref-") || refs[ref.Name] || ref.Doc == "" {
				t.Errorf("%s: reference %q: no ref- name, twice, or without a description", w.Path(), ref.Name)
			}
			refs[ref.Name] = true
		}
	}
}

// The document's table has a row for every workload, and none for others.
func TestActorDocumentIsCurrent(t *testing.T) {
	page, err := os.ReadFile("../docs/workloads.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Actors\n")
	table, _, _ = strings.Cut(table, "\n#")
	type row struct{ variants, refs string }
	got := map[string]row{}
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|") // empty, name, variants, …, references, empty
		if len(cells) != 7 || !strings.Contains(cells[1], "`") {
			continue // no row, or the table's head
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		got[strings.Trim(cells[1], "`")] = row{cells[2], cells[5]}
	}
	want := map[string]row{}
	for _, w := range workloads.Actors() {
		r := want[w.Name]
		if w.Variant != "" {
			if r.variants != "" {
				r.variants += ", "
			}
			r.variants += "`" + w.Variant + "`"
		}
		var refs []string
		for _, ref := range w.Refs {
			refs = append(refs, "`"+ref.Name+"`")
		}
		r.refs = strings.Join(refs, ", ")
		want[w.Name] = r
	}
	for name, r := range want {
		if got[name] != r {
			t.Errorf("docs/workloads.md, row of %s: %+v, want %+v", name, got[name], r)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("docs/workloads.md has a row for %s, which is no workload", name)
		}
	}
}
