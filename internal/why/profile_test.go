package why

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/pprof/profile"
)

// synthetic makes a profile of one kind: a line for each sample, its count and
// its stack, leaf first, as in "3 a.f b.g". One event costs each.
func synthetic(t *testing.T, kind Kind, each int64, lines string) *profile.Profile {
	t.Helper()
	p := &profile.Profile{PeriodType: new(profile.ValueType), SampleType: []*profile.ValueType{{Type: kinds[kind].count, Unit: "count"}, {Type: kinds[kind].cost, Unit: "any"}}}
	locations := make(map[string]*profile.Location)
	for line := range strings.Lines(lines) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		n := int64(0)
		for _, d := range words[0] {
			n = 10*n + int64(d-'0')
		}
		s := &profile.Sample{Value: []int64{n, n * each}}
		for _, symbol := range words[1:] {
			loc := locations[symbol]
			if loc == nil {
				id := uint64(len(locations) + 1)
				f := &profile.Function{ID: id, Name: symbol}
				loc = &profile.Location{ID: id, Line: []profile.Line{{Function: f}}}
				locations[symbol] = loc
				p.Function, p.Location = append(p.Function, f), append(p.Location, loc)
			}
			s.Location = append(s.Location, loc)
		}
		p.Sample = append(p.Sample, s)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	return p
}

// What a sample belongs to is decided by the runtime's part of its stack only,
// and in it by what says most.
func TestGroupOf(t *testing.T) {
	for stack, want := range map[string]string{
		"runtime.memmove runtime.chansend runtime.chansend1 x.org/a.f":                                        "channels",
		"runtime.futex runtime.futexsleep runtime.notesleep runtime.mPark runtime.stopm runtime.findRunnable": "scheduling",
		"runtime.futex runtime.futexsleep runtime.lock2 runtime.chanrecv x.org/a.f":                           "channels",
		"runtime.ready runtime.goready.func1 runtime.goready runtime.send runtime.chansend x.org/a.f":         "scheduling",
		"runtime.scanobject runtime.gcDrain runtime.gcAssistAlloc runtime.mallocgc x.org/a.f":                 "garbage collection",
		"runtime.memclrNoHeapPointers runtime.mallocgcSmallNoscan runtime.mallocgc runtime.newobject x.org/f": "allocating",
		"runtime.procyield internal/sync.(*Mutex).lockSlow sync.(*Mutex).Lock x.org/a.f":                      "locks",
		"runtime.mapaccess1_fast64 x.org/a.f":                                                                 "maps",
		"runtime.nanotime time.Now x.org/a.f":                                                                 "reading the clock",
		"x.org/a.f runtime.chansend1":                                                                         ownCode,
		"container/heap.Fix x.org/a.f":                                                                        "package container/heap",
		"main.f":                                                                                              ownCode,
		"runtime.whatever x.org/a.f":                                                                          otherRuntime,
		"":                                                                                                    otherRuntime,
	} {
		if got, _ := groupOf(strings.Fields(stack)); got != want {
			t.Errorf("groupOf(%s) = %q, want %q", stack, got, want)
		}
	}
}

func TestShort(t *testing.T) {
	for symbol, want := range map[string]string{
		"github.com/dynolab/dyno/impls/channel.(*Group[...]).Go": "channel.(*Group[…]).Go",
		"x.org/a.f[go.shape.struct { y.org/b.T; n []int }]":      "a.f[…]",
		"x.org/a.f[...].func1":                                   "a.f[…].func1",
		"runtime.mallocgc":                                       "runtime.mallocgc",
		"main.main":                                              "main.main",
		"unpaired]":                                              "unpaired]",
		"":                                                       "",
	} {
		if got := Short(symbol); got != want {
			t.Errorf("Short(%q) = %q, want %q", symbol, got, want)
		}
	}
	if got := packageOf("gopkg.in/x%2ev2.(*T[a/b.C]).f"); got != "gopkg.in/x.v2" {
		t.Errorf("packageOf = %q", got)
	}
}

func TestDiff(t *testing.T) {
	base := synthetic(t, CPU, 10_000_000, `
		400 x.org/a.work x.org/a.run
		100 runtime.findRunnable runtime.schedule runtime.mcall`)
	this := synthetic(t, CPU, 10_000_000, `
		300 x.org/a.work x.org/a.work x.org/a.run
		200 x.org/a.more x.org/a.run
		500 runtime.findRunnable runtime.schedule runtime.mcall`)
	// 1,000,000 operations on one side, twice as many on the other: 5 and 5 µs.
	d, err := Diff(CPU, Sampled{Profile: base, N: 1_000_000}, Sampled{Profile: this, N: 2_000_000})
	if err != nil {
		t.Fatal(err)
	}
	if d.Base.Total != 5000 || d.This.Total != 5000 || d.Base.Samples != 500 || d.This.Samples != 1000 {
		t.Errorf("totals are %+v and %+v", d.Base, d.This)
	}
	want := []Change{
		{Name: ownCode, Base: Cost{Flat: 4000}, This: Cost{Flat: 2500}, Main: []string{"a.work"}},
		{Name: "scheduling", Base: Cost{Flat: 1000}, This: Cost{Flat: 2500}, Main: []string{"runtime.findRunnable"}},
	}
	if !slices.EqualFunc(d.Groups, want, func(a, b Change) bool {
		return a.Name == b.Name && a.Base == b.Base && a.This == b.This && slices.Equal(a.Main, b.Main)
	}) {
		t.Errorf("groups are %+v", d.Groups)
	}
	i := slices.IndexFunc(d.Top, func(c Change) bool { return c.Symbol == "x.org/a.work" })
	// Recursion counts once: 300 of 1,000 samples, not 600.
	if i < 0 || d.Top[i].This != (Cost{Flat: 1500, Cum: 1500}) {
		t.Errorf("functions are %+v", d.Top)
	}
	if _, err := Diff(Alloc, Sampled{Profile: base, N: 1}, Sampled{Profile: this, N: 1}); err == nil {
		t.Error("a profile of CPU time was taken for one of allocations")
	}
}

// The events that two profiles share cancel out, and what is left is exact.
func TestMinus(t *testing.T) {
	one := synthetic(t, Alloc, 16, "1000 x.org/a.setup\n50 x.org/a.work")
	two := synthetic(t, Alloc, 16, "1000 x.org/a.setup\n100 x.org/a.work")
	p, err := minus(two, one)
	if err != nil {
		t.Fatal(err)
	}
	c, err := Sampled{Profile: p, N: 50}.costs(Alloc)
	if err != nil || len(c.flat) != 1 || c.flat["x.org/a.work"] != 16 || c.Samples != 50 {
		t.Errorf("left is %+v, %v", c, err)
	}
}

// A difference has what this costs more for as many operations, and pprof reads it as one.
func TestDifference(t *testing.T) {
	base := synthetic(t, CPU, 10_000_000, "100 x.org/a.f x.org/b.g\n100 x.org/a.f x.org/c.h")
	this := synthetic(t, CPU, 10_000_000, "50 x.org/a.f x.org/b.g\n2 x.org/d.i")
	p, err := diffProfile(Sampled{Profile: base, N: 2_000_000}, Sampled{Profile: this, N: 1_000_000})
	if err != nil || p.CheckValid() != nil {
		t.Fatal(err, p.CheckValid())
	}
	if got := total(p, 0); got != 50+2-100 {
		t.Errorf("it has %d samples more", got)
	}
	for _, s := range p.Sample {
		if s.DiffBaseSample() != (s.Value[0] < 0) {
			t.Errorf("pprof takes a sample of the wrong side: %+v", s)
		}
	}
	if total(base, 0) != 200 {
		t.Error("the base's profile is changed")
	}
}

// total is the sum of a value of all samples.
func total(p *profile.Profile, value int) (sum int64) {
	for _, s := range p.Sample {
		sum += s.Value[value]
	}
	return sum
}

func TestPaired(t *testing.T) {
	// Hollander, Wolfe, Chicken, table A.4: P(T+ >= 33) = 0.020 for n = 8, so that
	// the interval of 96.1 % reaches from the 4th to the 33rd of the 36 averages,
	// which begin with 1, 1.5, 2, 2.5 and end with 72, 80, 96, 128 here.
	if got := paired(make([]float64, 8), []float64{1, 2, 4, 8, 16, 32, 64, 128}, difference); got != (Interval{19, 2.5, 72}) {
		t.Errorf("paired = %+v", got)
	}
}

func TestCompareCounters(t *testing.T) {
	var base, this []tally
	for i := range counterPairs {
		x := float64(i)
		base = append(base, tallied(map[string]float64{"voluntary-switches": 1 + x/100, "gc-cycles": 0, "minor-faults": 2 + x, "cgo-calls": 0}))
		this = append(this, tallied(map[string]float64{"voluntary-switches": 3 + x/100, "gc-cycles": 1, "minor-faults": 9 - x, "cgo-calls": 0}))
	}
	got := compareCounters(base, this)
	moved := make(map[string]bool)
	for _, c := range got {
		moved[c.Key] = c.Moved
	}
	want := map[string]bool{"voluntary-switches": true, "gc-cycles": true, "minor-faults": false}
	if len(moved) != len(want) {
		t.Errorf("counters are %v", moved)
	}
	for key, m := range want {
		if moved[key] != m {
			t.Errorf("%s moved: %v", key, moved[key])
		}
	}
	if c := got[0]; c.Ratio == nil || math.Abs(c.Ratio.Ratio-3) > 0.2 {
		t.Errorf("the ratio of %s is %+v", c.Key, c.Ratio)
	}
	// What could make up little of the difference is not worth a word.
	if told := telling(got, 1e7); len(told) != 0 {
		t.Errorf("told of 10 ms: %+v", told)
	}
	if told := telling(got, 1000); len(told) != 2 || told[0].Key != "gc-cycles" {
		t.Errorf("told of 1 µs: %+v", told)
	}
}

func TestOps(t *testing.T) {
	p := Pair{Fastest: 100, Slowest: 200}
	if n := p.Ops(1e9); n != 1e7 {
		t.Errorf("for 1 s of 100 ns: %d", n)
	}
	p.Slowest = 6000 // which may take 6 s
	if n := p.Ops(1e9); n != 1e6 {
		t.Errorf("for at most 6 s of 6 µs: %d", n)
	}
	p.Fastest, p.Slowest = 1e10, 1e10
	if n := p.Ops(1e9); n != 2 {
		t.Errorf("for 1 s of 10 s: %d", n)
	}
}

func TestNames(t *testing.T) {
	e := &explainer{names: make(map[string]string)}
	for _, step := range []struct{ text, what, want string }{
		{"Group/w=short-2", "a", "Group-w=short-2"},
		{"Group-w=short-2", "b", "Group-w=short-2~2"},
		{"GROUP-w=short-2", "c", "GROUP-w=short-2~3"},
		{"Group/w=short-2", "a", "Group-w=short-2"},
		{"../..", "d", "cell"},
		{"..", "e", "cell~2"},
		{strings.Repeat("x", 500), "f", strings.Repeat("x", 120)},
	} {
		got := e.name("", step.text, step.what)
		if got != step.want || !filepath.IsLocal(got) {
			t.Errorf("%s is named %q, want %q", step.text, got, step.want)
		}
	}
}
