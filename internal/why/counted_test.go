package why

import (
	"os"
	"strings"
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
	malloc := counter.Place{Func: "runtime.mallocgc", File: "malloc.go", Line: 9}
	for _, test := range []struct {
		name       string
		base, this counter.Profile
		want       string
	}{
		{"nothing", counter.Profile{work: 900}, counter.Profile{work: 900}, ""},
		{"a function", counter.Profile{work: 900}, counter.Profile{work: 950}, "of +5 %: m.Work[…] +5 %"},
		{"less", counter.Profile{work: 900}, counter.Profile{work: 800}, "of -10 %: m.Work[…] -10 %"},
		{"the runtime", counter.Profile{work: 900}, counter.Profile{work: 900, malloc: 40}, "of +4 %: allocating +4 %"},
		{"noise of the runtime", counter.Profile{work: 900}, counter.Profile{work: 950, malloc: 4}, "of +5.4 %: m.Work[…] +5 %"},
		{"inlined no longer", counter.Profile{work: 800, inlined: 100}, counter.Profile{work: 800, next: 150}, "of +5 %: m.next +15 % (inlined no longer), m.Work[…] -10 %"},
		{"inlined now", counter.Profile{work: 800, next: 150}, counter.Profile{work: 800, inlined: 100}, "of -4.8 %: m.next -14 % (inlined now), m.Work[…] +9.5 %"},
	} {
		if got := Counted(blocksOf(test.base), blocksOf(test.this)); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	if got := Counted(blocksOf(counter.Profile{work: 1})[:1], blocksOf(counter.Profile{work: 2})); got != "" {
		t.Errorf("of one block: %q", got)
	}
}

// TestWriteCounts: what is kept is a profile that pprof reads, with all instructions.
func TestWriteCounts(t *testing.T) {
	results := t.TempDir() + "/run.bench"
	work := counter.Place{Func: "m.Work", File: "m.go", Line: 7}
	paths, err := WriteCounts(results, "A/b=c d-2", []string{"old", "new"}, [][]counter.Profile{blocksOf(counter.Profile{work: 1}), blocksOf(counter.Profile{work: 2})})
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		p, err := ParseProfile(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		sum := int64(0)
		for _, s := range p.Sample {
			sum += s.Value[0]
		}
		if want := int64(101+i) * 1_000_000; sum != want {
			t.Errorf("%s has %d, want %d", path, sum, want)
		}
	}
	if !strings.Contains(paths[0], "A-b=c-d-2") {
		t.Errorf("kept in %s", paths[0])
	}
}
