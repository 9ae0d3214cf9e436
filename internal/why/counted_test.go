package why

import (
	"testing"

	"github.com/dynolab/dyno/internal/counter"
)

// blocksOf returns three profiles with a little noise in the allocator.
func blocksOf(p counter.Profile) (all []counter.Profile) {
	for _, noise := range []float64{-5, 0, 5} {
		one := counter.Profile{{Func: "runtime.mallocgc", File: "malloc.go", Line: 1}: 100 + noise}
		for at, v := range p {
			one[at] += v
		}
		all = append(all, one)
	}
	return all
}

func TestCounted(t *testing.T) {
	work := counter.Place{Func: "example.com/m.Work[go.shape.int]", File: "m.go", Line: 7}
	next := counter.Place{Func: "example.com/m.next", File: "m.go", Line: 20}
	inlined := counter.Place{Func: work.Func, File: "m.go", Line: 20}
	closure := counter.Place{Func: "example.com/m.Work.f.func2", File: "m.go", Line: 30}
	renamed := counter.Place{Func: "example.com/m.f.func1", File: "m.go", Line: 30}
	malloc := counter.Place{Func: "runtime.mallocgc", File: "malloc.go", Line: 9}
	for _, test := range []struct {
		name       string
		base, this counter.Profile
		want       string
	}{
		{"nothing", counter.Profile{work: 900}, counter.Profile{work: 900}, ""},
		{"a function", counter.Profile{work: 900}, counter.Profile{work: 950}, "of +5 %: m.Work[…] (m.go:7) +5 %"},
		{"less", counter.Profile{work: 900}, counter.Profile{work: 800}, "of -10 %: m.Work[…] (m.go:7) -10 %"},
		{"the runtime", counter.Profile{work: 900}, counter.Profile{work: 900, malloc: 40}, "of +4 %: allocating +4 %"},
		{"noise of the runtime", counter.Profile{work: 900}, counter.Profile{work: 950, malloc: 4}, "of +5.4 %: m.Work[…] (m.go:7) +5 %"},
		{"inlined no longer", counter.Profile{work: 800, inlined: 100}, counter.Profile{work: 800, next: 150}, "of +5 %: m.next (m.go:20) +15 % (inlined no longer), m.Work[…] (m.go:20) -10 %"},
		{"inlined now", counter.Profile{work: 800, next: 150}, counter.Profile{work: 800, inlined: 100}, "of -4.8 %: m.next (m.go:20) -14 % (inlined now), m.Work[…] (m.go:20) +9.5 %"},
		{"only called otherwise", counter.Profile{work: 700, closure: 200}, counter.Profile{work: 750, renamed: 200}, "of +5 %: m.Work[…] (m.go:7) +5 %"},
		{"other lines", counter.Profile{work: 800, closure: 100}, counter.Profile{work: 800, next: 150}, "of +5 %: m.next (m.go:20) +15 %, m.Work.f.func2 (m.go:30) -10 %"},
		{"what it calls", counter.Profile{work: 900}, counter.Profile{work: 901, malloc: 99}, "of +10 %: m.Work[…] (m.go:7) +0.1 %, with allocating +9.9 %"},
	} {
		if got := Counted(blocksOf(test.base), blocksOf(test.this)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	if got := Counted(blocksOf(counter.Profile{work: 1})[:1], blocksOf(counter.Profile{work: 2})); got != "" {
		t.Errorf("of one block: %q", got)
	}
}

// TestWhere: the line that differs is found though others have moved.
func TestWhere(t *testing.T) {
	lines := func(from int, costs ...float64) map[sourceLine]float64 {
		all := make(map[sourceLine]float64)
		for i, v := range costs {
			all[sourceLine{"m.go", from + i}] = v
		}
		return all
	}
	for _, test := range []struct {
		name    string
		was, is map[sourceLine]float64
		want    string
	}{
		{"the same", lines(10, 1, 2, 3), lines(10, 1, 2, 3), ""},
		{"moved", lines(10, 1, 2, 3), lines(20, 1, 2, 3), ""},
		{"a line more", lines(10, 1, 900, 3), lines(10, 1, 5, 900, 3), " (m.go:11)"},
		{"at the end", lines(10, 1, 900), lines(12, 1, 900, 4), " (m.go:14)"},
		{"a line less", lines(10, 1, 5, 900), lines(10, 1, 900), " (m.go:11)"},
		{"a line that costs more", lines(10, 1, 900, 3), lines(20, 1, 950, 3), " (m.go:21)"},
		{"two, of which one matters", lines(10, 1, 2, 3, 4), lines(10, 1, 2.5, 3, 9), " (m.go:13)"},
		{"less than none", nil, lines(7, -3), " (m.go:7)"},
		{"all new", nil, lines(7, 3, 8), " (m.go:8)"},
	} {
		if got := where(test.was, test.is); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestKeepCounts: what is kept is a profile that pprof reads, with all instructions, and what the
// index says of it is the difference.
func TestKeepCounts(t *testing.T) {
	results := t.TempDir() + "/run.bench"
	work := counter.Place{Func: "m.Work", File: "m.go", Line: 7}
	c := &Cell{Base: "old", Column: "new", Folder: "A-b=c-d-2"}
	p, err := keepCounts(results, c, blocksOf(counter.Profile{work: 1}), blocksOf(counter.Profile{work: 2}))
	if err != nil {
		t.Fatal(err)
	}
	if p.Base.Total != 101 || p.This.Total != 102 || p.Unit != "instrs/op" {
		t.Errorf("%+v", p)
	}
	if top := p.Top[0]; top.Name != "m.Work" || top.change() != 1 {
		t.Errorf("first is %+v", top)
	}
	if p.Base.Path != "A-b=c-d-2/old.instructions.pb.gz" {
		t.Errorf("kept in %s", p.Base.Path)
	}
	diff, err := readProfile(Folder(results) + "/" + p.Diff)
	if err != nil || total(diff, 0) != countedOps {
		t.Errorf("the difference is %v, %v", diff, err)
	}
}
