package bisect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/stats"
)

// A spyLab is a world without noise that notes what it is asked.
type spyLab struct {
	*world
	asked    []Measurement
	alphas   []float64 // of comparisons, in order
	time     float64   // what Left says; 0 is without end
	evaluate func(m Measurement, base, x int, j Comparison) Comparison

	muted   func(position int) bool // visits of it give no figures
	unlucky int                     // so many proofs meet a layout that is half as slow again
	silent  map[int]int             // by the number of a measurement, the position that gives no figures
	fail    int                     // which call is the one that fails
	calls   int

	events   []Event
	seenSame []int // positions that were the same program, in no order
	say      func(format string, a ...any)
}

// call counts a call of the lab, and fails if it is the one.
func (l *spyLab) call() error {
	if l.calls++; l.calls == l.fail {
		return errLab
	}
	return nil
}

func (l *spyLab) Build(ctx context.Context, position int) (Build, error) {
	if err := l.call(); err != nil {
		return Build{}, err
	}
	return l.world.Build(ctx, position)
}

func (l *spyLab) Left() float64 {
	if l.time == 0 {
		return math.Inf(1)
	}
	return l.time - l.full
}

func (l *spyLab) Measure(ctx context.Context, m Measurement) (*Measured, error) {
	if err := l.call(); err != nil {
		return nil, err
	}
	l.asked = append(l.asked, m)
	if l.say != nil {
		l.say("  measure %v, %d blocks, proof %t\n", m.Positions, m.Blocks, m.Proof)
	}
	seen, err := l.world.Measure(ctx, m)
	silence := func(p int) {
		seen.Failed[p] = "gave no figure"
		delete(seen.Levels, p)
	}
	if p, ok := l.silent[len(l.asked)]; ok {
		silence(p)
	}
	if len(m.Positions) == 3 && l.muted != nil && l.muted(m.Positions[2]) {
		silence(m.Positions[2])
	}
	if m.Proof && l.unlucky > 0 {
		l.unlucky--
		seen.Levels[m.Positions[1]][0] += math.Log(1.5)
	}
	compare := seen.Compare
	seen.Compare = func(base, x int, alpha float64) (Comparison, error) {
		if err := l.call(); err != nil {
			return Comparison{}, err
		}
		if l.say != nil {
			l.say("  compared at %.4g\n", alpha)
		}
		l.alphas = append(l.alphas, alpha)
		j, err := compare(base, x, alpha)
		if l.evaluate != nil {
			j = l.evaluate(m, base, x, j)
		}
		return j, err
	}
	return seen, err
}

// spy returns a lab of versions with these steps, whose blocks scatter by so much.
func spy(versions int, sigma float64, steps map[int]float64) *spyLab {
	r := rand.New(rand.NewPCG(71, uint64(versions)))
	w := &world{versions: versions, build: 0.1, steps: steps, noise: r.NormFloat64, sigma: sigma}
	w.begin(r)
	return &spyLab{world: w}
}

// find finds what there is.
func (l *spyLab) find(t *testing.T, o Options) *Answer {
	t.Helper()
	a, err := Find(t.Context(), l, l.versions, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// finder returns one of this lab that has not begun.
func (l *spyLab) finder() *finder {
	f := &finder{Options: timeOptions(), lab: l, built: make(map[int]Build), answer: &Answer{Broken: make(map[int]string)}}
	f.Report = func(e Event) { l.events = append(l.events, e) }
	return f
}

// hunt returns the search of a range whose ends differ by these levels.
func (l *spyLab) hunt(first, last int, ends ...float64) *hunt {
	return &hunt{finder: l.finder(), Search: New(uniform(last-first), ends), first: first, last: last, known: make(map[int]bool)}
}

// told are the events of a kind, as "position-last".
func (l *spyLab) told(kind EventKind) (all []string) {
	for _, e := range l.events {
		if e.Kind == kind {
			all = append(all, fmt.Sprintf("%d-%d", e.Position, e.Last))
		}
	}
	slices.Sort(all)
	return all
}

// proofs are the measurements that were proofs.
func (l *spyLab) proofs() (all []Measurement) {
	for _, m := range l.asked {
		if m.Proof {
			all = append(all, m)
		}
	}
	return all
}

// TestLevels: the ends are compared at half of the level, the first proof has a quarter... of what
// is left each has a half, so that all claims together keep to it.
func TestLevels(t *testing.T) {
	l := spy(100, 0.001, map[int]float64{40: 0.02})
	l.evaluate = func(m Measurement, base, x int, j Comparison) Comparison {
		if m.Proof {
			j.Proven, j.Same, j.Need = false, false, 0 // each fails
		}
		return j
	}
	o := timeOptions()
	o.Margin = 0.001
	a := l.find(t, o)
	if want := []float64{o.Alpha / 2, o.Alpha / 2, o.Alpha / 4, o.Alpha / 8}; !slices.Equal(l.alphas, want) {
		t.Errorf("levels are %v, want %v", l.alphas, want)
	}
	if n := len(l.proofs()); n != mostProofs || len(a.Open) != 1 || a.Open[0].Why != "3 proofs were tried, and none of them succeeded" {
		t.Errorf("%d proofs, %+v", n, a.Open)
	}
	for k := range 8 {
		f := &finder{Options: o, proofs: k}
		if got, want := f.level(), o.Alpha*math.Pow(0.5, float64(k)); got != want {
			t.Errorf("after %d proofs the level is %v, want %v", k, got, want)
		}
	}
	var sum float64
	for k := 1; k < 60; k++ {
		sum += (&finder{Options: o, proofs: k}).level()
	}
	if sum > o.Alpha {
		t.Errorf("all proofs together have %v, want %v at most", sum, o.Alpha)
	}
}

// TestProofs: a proof measures the suspect after the version before it, in blocks that nothing
// was chosen by, with both ends; and so is a range of one version its own proof.
func TestProofs(t *testing.T) {
	l := spy(100, 0.001, map[int]float64{40: 0.03})
	a := l.find(t, timeOptions())
	if p := l.proofs(); len(p) != 1 || !slices.Equal(p[0].Positions, []int{39, 40, 0, 100}) || p[0].Blocks < 12 {
		t.Errorf("proofs are %+v", p)
	}
	if len(a.Steps) != 1 || a.Steps[0].Position != 40 || len(a.Open) > 0 || a.TimeUp {
		t.Errorf("answer %+v", a)
	}
	// Of ends that lie side by side with their neighbours nothing is measured twice.
	for culprit, want := range map[int][]int{1: {0, 1, 100}, 100: {99, 100, 0}} {
		l := spy(100, 0.001, map[int]float64{culprit: 0.03})
		l.find(t, timeOptions())
		if p := l.proofs(); len(p) != 1 || !slices.Equal(p[0].Positions, want) {
			t.Errorf("of %d: %+v, want %v", culprit, p, want)
		}
	}
	// A version beside a step: the rest of one version is proven in fresh blocks.
	for _, c := range []struct {
		first, last int
		proof       bool
	}{{4, 5, true}, {4, 6, false}, {4, 9, false}} {
		l := spy(10, 0.001, map[int]float64{5: 0.03})
		f := l.finder()
		if err := f.rest(t.Context(), c.first, c.last, nil); err != nil {
			t.Fatal(err)
		}
		if l.asked[0].Proof != c.proof || !slices.Equal(l.asked[0].Positions, []int{c.first, c.last}) {
			t.Errorf("the rest %d to %d is measured by %+v", c.first, c.last, l.asked[0])
		}
		if len(f.answer.Steps) != 1 || f.answer.Steps[0].Position != 5 || l.alphas[0] != f.Alpha/2 {
			t.Errorf("the rest %d to %d: %+v at %v", c.first, c.last, f.answer, l.alphas)
		}
	}
}

// TestNotMeasured: what cannot be measured is no step of the version beside it: if the culprit lies
// among such versions, or beside them, what is proven is the range.
func TestNotMeasured(t *testing.T) {
	for _, c := range []struct{ from, to, culprit, first, last int }{
		{30, 35, 32, 29, 36}, {30, 35, 36, 29, 36}, {39, 39, 40, 38, 40}, {40, 40, 40, 39, 41},
	} {
		l := spy(100, 0.0005, map[int]float64{c.culprit: 0.03})
		l.broken = func(p int) bool { return p >= c.from && p <= c.to }
		a := l.find(t, timeOptions())
		if len(a.Steps) != 0 || len(a.Open) != 1 || a.Open[0].First != c.first || a.Open[0].Last != c.last || a.Open[0].Compared == nil || !a.Open[0].Compared.Proven ||
			!slices.Equal(a.Open[0].Suspects, upTo(c.first, c.last)) || a.Open[0].Why != "what lies between cannot be measured" {
			t.Errorf("%d to %d cannot be measured, and %d is it: %+v %+v", c.from, c.to, c.culprit, a.Steps, a.Open)
		}
		for p := range a.Broken {
			if p < c.from || p > c.to || a.Broken[p] != "does not build" {
				t.Errorf("broken are %v", a.Broken)
			}
		}
	}
}

// TestTrust: one visit, however sure it seems, says so much and no more, of times and of counts;
// for and against alike.
func TestTrust(t *testing.T) {
	for _, trust := range []float64{trustTime, trustCount} {
		for _, bad := range []bool{false, true} {
			s := New(uniform(2), []float64{0.02, 0.02001, 0.01999, 0.02})
			s.trust = trust
			var blocks []Block
			for range 40 {
				b := Block{Candidate: 0, Bad: 0.02}
				if bad {
					b.Candidate = 0.02
				}
				blocks = append(blocks, b)
			}
			s.Add(Visit{1, blocks})
			post := s.Posterior()
			odds := post[1] / post[0]
			if bad {
				odds = 1 / odds
			}
			if most := math.Exp(trust) * 1.001; odds > most || odds < math.Exp(trust)/3 && trust == trustTime {
				t.Errorf("bad %t: one visit makes odds of %.0f, want up to %.0f", bad, odds, most)
			}
		}
	}
	if trustTime != math.Log(200) || trustCount != math.Log(1e6) {
		t.Errorf("a visit says up to %v and %v", math.Exp(trustTime), math.Exp(trustCount))
	}
}

// TestBlocks: how many blocks a proof, a range and a step's height take.
func TestBlocks(t *testing.T) {
	o := timeOptions()
	hunt := func(sigma, step float64, need int, exact bool, proofs int) *hunt {
		ends := []float64{step - sigma, step, step + sigma, step}
		f := &finder{Options: o, proofs: proofs, answer: &Answer{}}
		f.Exact = exact
		return &hunt{finder: f, Search: New(uniform(4), ends), need: need}
	}
	for _, c := range []struct {
		name        string
		sigma, step float64
		need        int
		exact       bool
		proofs      int
		want        int
	}{
		{"a clear step", 0.0001, 0.02, 0, false, 0, 12},
		{"a noisy one", 0.05, 0.02, 0, false, 0, mostProofBlocks},
		{"what the last proof told", 0.0001, 0.02, 20, false, 0, 20},
		{"but no more than that", 0.0001, 0.02, 100, false, 0, mostProofBlocks},
		{"counts", 0, 2, 0, true, 0, 12},
		{"counts, after many proofs", 0, 2, 0, true, 10, 17},
	} {
		h := hunt(c.sigma, c.step, c.need, c.exact, c.proofs)
		if got := h.proofBlocks(); got != c.want {
			t.Errorf("%s: %d blocks, want %d", c.name, got, c.want)
		}
	}
	for _, c := range []struct {
		exact  bool
		blocks int
		proofs int
		want   int
	}{{false, 12, 9, 12}, {false, 5, 0, 5}, {true, 6, 0, 10}, {true, 6, 5, 12}, {true, 30, 0, 30}} {
		f := &finder{Options: Options{Alpha: 0.05, Blocks: c.blocks, Exact: c.exact}, proofs: c.proofs}
		got := f.rangeBlocks()
		if c.exact && c.blocks < 10 { // by their signs so many prove a difference at the level of the next proof
			if math.Pow(0.5, float64(got-1)) > f.level()/2 {
				t.Errorf("%d blocks of counts prove nothing at %v", got, f.level()/2)
			}
		}
		if got != c.want {
			t.Errorf("%+v: %d blocks", c, got)
		}
	}
	if got := blocksToKnow([]float64{1, 2, 3, 2}); got != 3 { // (2/3)·16/4
		t.Errorf("%d blocks know a step of 2 that scatters by 0.8, want 3", got)
	}
	if mostProofs != 3 || mostProofBlocks != 48 || leastProofCounts != 10 || unlikely != 0.3 || doubtful != 3 || between != 5 || knownErrors != 4 {
		t.Error("a limit that docs/bisect.md has is another one")
	}
	if got, want := DefaultOptions(), (Options{Alpha: 0.05, Blocks: 12, Offered: []int{2, 3, 4, 6, 9, 12}, Suspects: 0.95}); !reflect.DeepEqual(got, want) {
		t.Errorf("the defaults are %+v", got)
	}
}

// TestEndsAgain: ends of which nothing is proven are compared once more, in the blocks that it
// takes and a quarter more, at least twice as many as before, if that is no more than there may be
// and if there is time.
func TestEndsAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		need   int
		same   bool
		time   float64
		blocks []int
		up     bool
	}{
		{"few", 10, false, 0, []int{12, 24}, false},
		{"some", 30, false, 0, []int{12, 37}, false},
		{"as many as there may be", 48, false, 0, []int{12, 48}, false},
		{"too many", 49, false, 0, []int{12}, false},
		{"unknown", 0, false, 0, []int{12}, false},
		{"the same", 30, true, 0, []int{12}, false},
		{"just time", 30, false, 1 + 37/12.0 + 1e-9, []int{12, 37}, false},
		{"no time", 30, false, 1 + 37/12.0 - 1e-3, []int{12}, true},
	} {
		l := spy(20, 0.001, nil)
		l.time = c.time
		l.evaluate = func(_ Measurement, _, _ int, j Comparison) Comparison {
			return Comparison{Need: c.need, Same: c.same, P: 0.5}
		}
		a := l.find(t, timeOptions())
		var blocks []int
		for _, m := range l.asked {
			blocks = append(blocks, m.Blocks)
		}
		if !slices.Equal(blocks, c.blocks) || a.TimeUp != c.up || a.Comparisons != len(c.blocks) || len(a.Open)+len(a.Steps) > 0 {
			t.Errorf("%s: blocks %v, want %v; %+v", c.name, blocks, c.blocks, a)
		}
		sum := 0
		for _, n := range c.blocks {
			sum += n
		}
		if a.Blocks != sum {
			t.Errorf("%s: %d blocks in all, want %d", c.name, a.Blocks, sum)
		}
	}
	for call := 1; call <= 4; call++ { // each of both is measured and compared
		l := spy(20, 0.001, nil)
		l.fail = call
		l.evaluate = func(Measurement, int, int, Comparison) Comparison { return Comparison{Need: 10} }
		if _, err := Find(t.Context(), l, l.versions, timeOptions()); !errors.Is(err, errLab) {
			t.Errorf("call %d fails: %v", call, err)
		}
	}
}

// TestChances: versions that do not build lie together: near one the next is as far from it as
// all that did not lie apart.
func TestChances(t *testing.T) {
	s := New(uniform(20), []float64{0.02, 0.021})
	want := func(position int, want float64) {
		t.Helper()
		if got := s.chance(position - 1); math.Abs(got-want) > 1e-9 {
			t.Errorf("the chance of %d is %.3f, want %.3f", position, got, want)
		}
	}
	want(5, 1)
	s.Exclude(10)
	want(9, 0.5)
	want(8, 2.0/3)
	want(11, 0.5)
	s.Exclude(13)
	want(9, 1.0/(1+4)) // a run of four
	want(12, 0.5)
	want(14, 0.2)
	s.Ready(7)
	want(9, 1.0/(1+2)) // one that builds is two before it
	want(8, 2.0/(2+1))
}

// TestNearest: the nearest version that can be measured is looked for where one is likely to build,
// within the range.
func TestNearest(t *testing.T) {
	const first = 5
	for _, c := range []struct {
		excluded []int // of the range
		broken   int
		from, by int
		want     int
		tried    []int // by the range's own numbers, as all here
	}{
		{nil, 0, 9, -1, 9, []int{9}},
		{[]int{10, 16}, 0, 9, -1, 7, []int{7}}, // whose chance is 0.3
		{[]int{10, 16}, 0, 17, 1, 18, []int{18}},
		{[]int{10, 16}, 7, 9, -1, 4, []int{4, 7}}, // the chances beside it are less now
		{[]int{9}, 0, 9, -1, 8, []int{8}},
		{nil, 0, 0, -1, 0, nil},
		{nil, 0, 20, 1, 20, nil},
	} {
		l := spy(first+20, 0.001, nil)
		l.broken = func(p int) bool { return c.broken > 0 && p == first+c.broken }
		h := l.hunt(first, first+20, 0.02, 0.021)
		for _, p := range c.excluded {
			h.Exclude(p)
		}
		got, err := h.nearest(t.Context(), first+c.from, c.by)
		var tried []int
		for p := range h.built {
			tried = append(tried, p-first)
		}
		slices.Sort(tried)
		if err != nil || got != first+c.want || !slices.Equal(tried, c.tried) {
			t.Errorf("%+v: %d after %v, %v", c, got-first, tried, err)
		}
	}
}

// TestReady: what is known to build costs no doubt, and what is excluded is never chosen.
func TestReady(t *testing.T) {
	s := New(uniform(9), []float64{0.02, 0.0201})
	s.Exclude(4)
	s.Ready(5)
	if c, ok := s.Next([]int{2}, even); !ok || c.Position != 5 || c.Blocks != 2 {
		t.Errorf("visits %+v, want 5", c)
	}
	for weight, want := range map[float64]bool{1.2e-4: false, 4e-4: true} { // of a thousandth of a bit, and of five
		if _, ok := New([]float64{weight, 1}, []float64{0.02, 0.02000001}).Next([]int{2}, even); ok != want {
			t.Errorf("beside a version of %v a visit is worth its while: %t", weight, ok)
		}
	}
	if _, ok := s.Next([]int{2}, func(int, int) float64 { return math.Inf(1) }); ok {
		t.Error("what costs more than there is, is chosen")
	}
	if c, ok := s.Next([]int{2, 4}, func(p, n int) float64 {
		if p != 2 || n != 4 {
			return math.Inf(1)
		}
		return 1
	}); !ok || c.Position != 2 || c.Blocks != 4 || c.Cost != 1 || !(c.Bits > 0) {
		t.Errorf("visits %+v, want what can be paid", c)
	}
}

// TestBetweenLevels: a version off both ends by more than a quarter of the step is at the level of
// neither, as surely as its blocks say.
func TestBetweenLevels(t *testing.T) {
	for _, c := range []struct {
		at     float64 // of the step
		errors bool
	}{{0, false}, {0.2, false}, {0.3, true}, {0.5, true}, {0.7, true}, {0.8, false}, {1, false}, {1.3, true}, {-0.3, true}} {
		s := New(uniform(4), []float64{0.0199, 0.02, 0.0201, 0.02})
		var v Visit
		v.Position = 2
		for i := range 8 {
			v.Blocks = append(v.Blocks, Block{Candidate: c.at*0.02 + 0.0001*float64(i%3-1), Bad: 0.02 + 0.00001*float64(i%2)})
		}
		s.Add(v)
		errors, blocks := s.Between(2)
		if (errors > between) != c.errors || blocks != 8 {
			t.Errorf("at %v of the step: %.1f standard errors in %d blocks", c.at, errors, blocks)
		}
		above := levelOf(s.visits[0].values).above
		step, stepErr := s.Step()
		off := min(math.Abs(above-step/2), math.Abs(above+step/2))
		if want := off / math.Sqrt(s.spread.variance/8+stepErr*stepErr/4); errors > 0 && math.Abs(errors-want) > 1e-9*want {
			t.Errorf("at %v of the step: %v standard errors, want %v", c.at, errors, want)
		}
		if errors, blocks := s.Between(3); errors != 0 || blocks != 0 {
			t.Errorf("a version that was not visited: %v, %d", errors, blocks)
		}
	}
}

// TestKnow: a version of the range that is the same program as another one that can be measured is
// searched no more, nor is what lies between.
func TestKnow(t *testing.T) {
	const first, last = 5, 25
	for _, c := range []struct {
		position int
		b        Build
		same     []string
		from, to int // versions that cannot be it, of the range's own numbers
	}{
		{12, Build{Identity: "x"}, []string{"12-9"}, 5, 7},
		{6, Build{Identity: "a"}, []string{"6-5"}, 1, 1},
		{24, Build{Identity: "b"}, []string{"24-25"}, 20, 20},
		{10, Build{}, nil, 0, 0},
		{15, Build{Identity: "p"}, nil, 0, 0},
		{15, Build{Identity: "x", Problem: "does not build"}, nil, 0, 0},
		{9, Build{Identity: "x"}, nil, 0, 0},
	} {
		l := spy(40, 0.001, nil)
		h := l.hunt(first, last, 0.02, 0.021)
		h.built = map[int]Build{5: {Identity: "a"}, 9: {Identity: "x"}, 11: {}, 16: {Identity: "p", Problem: "does not build"}, 25: {Identity: "b"}, 2: {Identity: "x"}, 30: {Identity: "x"}}
		got := h.know(c.position, c.b)
		if told := l.told(EventSame); got != (c.same != nil) || !slices.Equal(told, c.same) {
			t.Errorf("%+v: same %t, told %v", c, got, told)
		}
		for i, p := range h.prior {
			if out := i+1 >= c.from && i+1 <= c.to; (p == 0) != out {
				t.Errorf("%+v: version %d has the weight %v", c, i+1, p)
			}
		}
		if i := c.position - first - 1; h.excluded[i] != (c.b.Problem != "") || h.ready[i] != (c.b.Problem == "") {
			t.Errorf("%+v: excluded %t, ready %t", c, h.excluded[i], h.ready[i])
		}
		if h.know(c.position, Build{Identity: "a"}) || len(l.told(EventSame)) != len(c.same) {
			t.Errorf("%+v: what is known is taken in again", c)
		}
	}
}

// TestSearchKnows: the search of a part begins with what came of building its versions before, and
// with its own weights.
func TestSearchKnows(t *testing.T) {
	l := spy(30, 0.0005, map[int]float64{12: 0.03})
	f := l.finder()
	f.built = map[int]Build{2: {Identity: "z"}, 8: {Identity: "y"}, 22: {Identity: "z"}, 25: {Identity: "z"}}
	f.broken(8, "gave no figures")
	f.Weights = slices.Repeat([]float64{1}, 30)
	f.Weights[7], f.Weights[11] = 100, 1000
	ends, err := l.world.Measure(t.Context(), Measurement{Positions: []int{5, 25}, Blocks: 12})
	if err != nil {
		t.Fatal(err)
	}
	h, err := f.search(t.Context(), 5, 25, ends)
	if err != nil {
		t.Fatal(err)
	}
	if !h.excluded[8-5-1] {
		t.Error("what gave no figures is to be visited again")
	}
	if told := l.told(EventSame); !slices.Equal(told, []string{"22-25"}) {
		t.Errorf("the same are %v", told)
	}
	if len(f.answer.Steps) != 1 || f.answer.Steps[0].Position != 12 || l.asked[0].Positions[2] != 11 && l.asked[0].Positions[2] != 12 {
		t.Errorf("%+v after %+v", f.answer.Steps, l.asked)
	}
}

// TestTimeUp: that there was no time for something stays said.
func TestTimeUp(t *testing.T) {
	l := spy(10, 0.001, nil)
	l.time = 2
	f := l.finder()
	if !f.fits(2) || f.answer.TimeUp || f.fits(2.1) || !f.answer.TimeUp || !f.fits(1) || !f.answer.TimeUp {
		t.Errorf("time up %t", f.answer.TimeUp)
	}
}

// TestSteps: the ends of a range are held against one another, whatever the others of a measurement
// were held against.
func TestSteps(t *testing.T) {
	for _, c := range []struct{ base, last, want []float64 }{
		{[]float64{1, 2}, []float64{5, 9}, []float64{4, 7}},
		{[]float64{1}, []float64{5, 9}, []float64{5, 9}},
		{[]float64{1, 2, 3}, []float64{5, 9}, []float64{5, 9}},
		{nil, []float64{5}, []float64{5}},
	} {
		m := &Measured{Levels: map[int][]float64{3: c.base, 7: c.last}}
		if got := m.steps(3, 7); !slices.Equal(got, c.want) {
			t.Errorf("%+v: steps are %v", c, got)
		}
	}
	l := spy(20, 0.001, nil)
	h := l.hunt(5, 15, 0.02, 0.021)
	h.take(&Measured{Levels: map[int][]float64{5: {0.1, 0.2}, 15: {0.3, 0.5}, 9: {0.7, 0.9, 1}}}, 9)
	v := h.visits[0]
	if want := []float64{0.7 - 0.1 - 0.1, 0.9 - 0.2 - 0.15}; v.position != 4 || len(v.values) != 2 || math.Abs(v.values[0]-want[0])+math.Abs(v.values[1]-want[1]) > 1e-12 {
		t.Errorf("a visit saw %+v, want %v", v, want)
	}
	if ends := h.ends[2:]; len(ends) != 2 || math.Abs(ends[0]-0.2)+math.Abs(ends[1]-0.3) > 1e-12 {
		t.Errorf("the ends are %v", ends)
	}
}

// TestHeight: how high a step is, is measured once more if its blocks do not tell, in as many as it
// takes, if there may be so many and there is time.
func TestHeight(t *testing.T) {
	for _, c := range []struct {
		need   int // of two blocks
		exact  bool
		noisy  bool
		time   float64
		blocks []int
		why    bool
	}{
		{2, false, false, 0, nil, false},
		{5, false, false, 0, []int{12}, false},
		{20, false, false, 0, []int{20}, false},
		{48, false, false, 0, []int{48}, false},
		{49, false, false, 0, nil, true},
		{49, true, false, 0, nil, false},
		{48, false, false, 4, []int{48}, false},
		{48, false, false, 3.9, nil, true},
		{20, false, true, 0, []int{20}, true},
	} {
		l := spy(30, 0.0001, map[int]float64{12: 0.03})
		if l.time = c.time; c.noisy {
			l.sigma = 0.5
		}
		l.built[5], l.built[25] = true, true
		f := l.finder()
		f.Exact = c.exact
		d := 0.03 * math.Sqrt((float64(c.need)-0.1)/32)
		ends := &Measured{Levels: map[int][]float64{5: {0, 0}, 25: {0.03 - d, 0.03 + d}}}
		levels, why, err := f.height(t.Context(), 5, 25, ends)
		var blocks []int
		for _, m := range l.asked {
			blocks = append(blocks, m.Blocks)
		}
		if err != nil || !slices.Equal(blocks, c.blocks) || (why != "") != c.why || c.why != (levels == nil) || c.why && !c.noisy && !strings.Contains(why, fmt.Sprintf("about %d blocks", c.need)) {
			t.Errorf("%+v: %v, %q, %v after blocks %v", c, levels, why, err, blocks)
		}
	}
}

// TestVisitBeforeAProof: a visit leaves time for the proof behind it, if one does.
func TestVisitBeforeAProof(t *testing.T) {
	for left, want := range map[float64]int{100: 9, 1.5: 6, 1.4: 4} {
		l := spy(30, 0.03, map[int]float64{12: 0.02})
		l.build = 1
		l.built[5], l.built[25] = true, true
		h := l.hunt(5, 25, -0.01, 0.02, 0.05, 0.02)
		proof := l.Cost(h.proofPositions(5, 6), h.proofBlocks())
		l.time = proof + left
		if _, err := h.step(t.Context()); err != nil || l.asked[0].Blocks != want {
			t.Errorf("with time for %v beside a proof: %+v, %v, want %d blocks", left, l.asked, err, want)
		}
	}
}

// TestOthers: what lies before and after a step is seen in its proof, and what differs there is
// measured once more; if that proves nothing both together may tell.
func TestOthers(t *testing.T) {
	for _, again := range []bool{false, true} {
		l := spy(30, 0.0005, map[int]float64{11: 0.03, 20: 0.03})
		l.evaluate = func(m Measurement, _, _ int, j Comparison) Comparison {
			j.Proven = j.Proven && (again || len(m.Positions) == 4)
			return j
		}
		h := l.hunt(5, 25, 0.06, 0.0601)
		m, err := l.Measure(t.Context(), Measurement{Positions: h.proofPositions(10, 11), Blocks: 12, Proof: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.others(t.Context(), m, 10, 11); err != nil {
			t.Fatal(err)
		}
		if rest := l.told(EventRest); !slices.Equal(rest, []string{"11-25"}) || l.alphas[0] != h.Alpha || h.same[0] != [2]int{5, 10} {
			t.Errorf("the rest %v is seen at %v, and %v is the same", rest, l.alphas[0], h.same)
		}
		open := h.answer.Open
		if again {
			if len(h.answer.Steps) != 1 || h.answer.Steps[0].Position != 20 || len(open) > 0 {
				t.Errorf("%+v, %+v", h.answer.Steps, open)
			}
		} else if len(open) != 1 || open[0].First != 11 || open[0].Last != 25 || !strings.HasPrefix(open[0].Why, "two measurements of its ends together differ by +3.0") || !slices.Equal(open[0].Suspects, upTo(11, 25)) {
			t.Errorf("open are %+v", open)
		}
	}
}

// TestRestOfBoth: the blocks of both measurements of a range tell together, at half of the level.
func TestRestOfBoth(t *testing.T) {
	l := spy(30, 0, map[int]float64{20: 0.03})
	l.noise = func() float64 { return 0 }
	l.evaluate = func(Measurement, int, int, Comparison) Comparison { return Comparison{} }
	f := l.finder()
	before := []float64{0.04, 0.05, 0.06, 0.08}
	if err := f.rest(t.Context(), 11, 25, &Measured{Levels: map[int][]float64{25: before}}); err != nil {
		t.Fatal(err)
	}
	both := stats.Mean(append(before, slices.Repeat([]float64{0.03}, 12)...), nil, f.Alpha/2)
	want := fmt.Sprintf("two measurements of its ends together differ by %s (%s to %s), and neither was enough to search between them", f.amount(both.Est), f.amount(both.Lo), f.amount(both.Hi))
	if open := f.answer.Open; len(open) != 1 || open[0].Why != want {
		t.Errorf("open are %+v, want one of which %s", open, want)
	}
}

// TestSplitFindsNothing: of a range with more than one step, none of which is proven, the suspects are
// left, whatever was left of another range before.
func TestSplitFindsNothing(t *testing.T) {
	l := spy(30, 0.0005, map[int]float64{10: 0.03, 20: 0.03})
	l.evaluate = func(Measurement, int, int, Comparison) Comparison { return Comparison{} }
	h := l.hunt(5, 25, 0.06, 0.0601)
	h.answer.Open = []Open{{First: 1, Last: 4}}
	if err := h.split(t.Context(), 15); err != nil || len(h.answer.Open) != 2 || !strings.HasPrefix(h.answer.Open[1].Why, "there is more than one step") {
		t.Errorf("open are %+v, %v", h.answer.Open, err)
	}
}

// TestAccountOf: where steps were found, and nothing is open, what the ends differ by beyond them is
// open, in the versions of which nothing is known. Steps of counts are known exactly.
func TestAccountOf(t *testing.T) {
	for _, c := range []struct {
		name        string
		step, found float64
		exact       bool
		open        bool // something is before
		same        [][2]int
		first, last int // of what is open; none if they are 0
	}{
		{"all of it", 0.03, 0.03, false, false, nil, 0, 0},
		{"a part", 0.09, 0.03, false, false, nil, 5, 25},
		{"a part the other way", 0.03, -0.03, false, false, nil, 5, 25},
		{"a part, and something is open", 0.09, 0.03, false, true, nil, 0, 0},
		{"nothing", 0.09, 0, false, false, nil, 0, 0},
		{"beside what is the same", 0.09, 0.03, false, false, [][2]int{{5, 8}, {22, 25}}, 8, 22},
		{"everything is the same", 0.09, 0.03, false, false, [][2]int{{5, 11}, {12, 25}}, 5, 25},
		{"one of ten counts", 10, 9, true, false, nil, 5, 25},
		{"one of ten per cent", 10, 9, false, false, nil, 0, 0}, // as much as versions differ that are not the culprit
	} {
		h := spy(30, 0.001, nil).hunt(5, 25, c.step, c.step*1.0001, c.step, c.step*0.9999)
		h.Exact, h.same = c.exact, c.same
		if c.found != 0 {
			h.answer.Steps = []Step{{Position: 12, levels: []float64{c.found, c.found, c.found * 1.0001, c.found}}}
		}
		if c.open {
			h.answer.Open = []Open{{First: 1, Last: 2}}
		}
		before := len(h.answer.Open)
		h.account()
		if open := h.answer.Open[before:]; len(open) != min(1, c.last) || c.last > 0 && (open[0].First != c.first || open[0].Last != c.last) {
			t.Errorf("%s: open are %+v, want %d to %d", c.name, open, c.first, c.last)
		}
	}
}

// TestAnswerIsInOrder: what is found later and lies before stands before.
func TestAnswerIsInOrder(t *testing.T) {
	l := spy(40, 0.0003, map[int]float64{10: 0.025, 30: 0.11})
	var got []int
	for _, s := range l.find(t, timeOptions()).Steps {
		got = append(got, s.Position)
	}
	l = spy(40, 0.0003, map[int]float64{10: 0.025, 30: 0.11})
	l.broken = func(p int) bool { return p == 10 || p == 30 }
	for _, o := range l.find(t, timeOptions()).Open {
		got = append(got, o.First, o.Last)
	}
	if !slices.Equal(got, []int{10, 30, 9, 11, 29, 31}) {
		t.Errorf("found are %v", got)
	}
	h := spy(30, 0.001, nil).hunt(5, 7, 0.02, 0.021)
	h.Options.Suspects = 0.5 // which both versions have
	lab := h.lab.(*spyLab)
	if _, err := h.step(t.Context()); err != nil || !lab.asked[0].Proof {
		t.Errorf("what is as likely as it has to be is not proven: %+v, %v", lab.asked, err)
	}
}

// TestVisitAgain: what seems to be at the level of neither end is visited again before its range is
// split, unless it was seen in blocks enough.
func TestVisitAgain(t *testing.T) {
	for blocks, want := range map[int][]int{6: {6, 12}, 11: {11, 12}, 12: {12}} {
		l := spy(30, 0.0005, map[int]float64{10: 0.03, 20: 0.03})
		h := l.hunt(5, 25, 0.06, 0.0601, 0.0599, 0.06)
		if done, err := h.visit(t.Context(), 15, blocks, 0); !done || err != nil || !slices.Equal(l.told(EventSplit), []string{"15-0"}) {
			t.Errorf("%d blocks: done %t, %v, split %v", blocks, done, err, l.told(EventSplit))
		}
		var got []int
		for _, m := range l.asked {
			if slices.Equal(m.Positions, []int{5, 25, 15}) {
				got = append(got, m.Blocks)
			}
		}
		if !slices.Equal(got, want) || len(h.answer.Steps) != 2 {
			t.Errorf("%d blocks: visits of %v, want %v; steps %+v", blocks, got, want, h.answer.Steps)
		}
	}
}

// TestSuspects: the fewest versions that are likely enough, no more where they just are.
func TestSuspects(t *testing.T) {
	s := New([]float64{1, 4, 1, 2}, []float64{0.02, 0.021})
	for p, want := range map[float64][]int{0.1: {2}, 0.5: {2}, 0.51: {2, 4}, 0.75: {2, 4}, 1: {1, 2, 3, 4}} {
		if got := s.Suspects(p); !slices.Equal(got, want) {
			t.Errorf("with probability %v: %v, want %v", p, got, want)
		}
	}
}

// TestIsSame: what changes a range is after its first version, and its last at the latest.
func TestIsSame(t *testing.T) {
	f := &finder{same: [][2]int{{5, 8}, {9, 10}}}
	if got := slices.DeleteFunc(upTo(3, 12), f.isSame); !slices.Equal(got, []int{4, 5, 9, 11, 12}) {
		t.Errorf("of 4 to 12 remain %v", got)
	}
}

// TestProve: a proof has the blocks that there is time for, as many as the one before told, and says
// where what was suspected is less than the margin.
func TestProve(t *testing.T) {
	for _, c := range []struct {
		name    string
		suspect int
		time    float64
		sigma   float64
		need    int // as the proof tells, which fails
		same    bool
		blocks  []int
		done    bool
		next    int   // blocks of the next proof
		visits  []int // that it is as good as, by the range's own numbers
	}{
		{"time for all", 12, 0, 0.03, 1, false, []int{48}, false, 48, []int{6, 7}},
		{"for fewer", 12, 30 / 12.0, 0.03, 1, false, []int{30}, false, 48, []int{6, 7}},
		{"for the least", 12, 1, 0.03, 1, false, []int{12}, false, 48, []int{6, 7}},
		{"for none", 12, 0.99, 0.03, 1, false, nil, true, 48, nil},
		{"what it takes", 12, 0, 0.0001, 48, false, []int{12}, false, 48, []int{6, 7}},
		{"more than there may be", 12, 0, 0.0001, 49, false, []int{12}, false, 12, []int{6, 7}},
		{"of the first", 6, 0, 0.03, 1, false, []int{48}, false, 48, []int{1}},
		{"of the last", 25, 0, 0.03, 1, false, []int{48}, false, 48, []int{19}},
		{"within the margin", 12, 0, 0.0001, 0, true, []int{12}, true, 12, []int{6, 7}},
		{"where it is not any more", 13, 0, 0.0001, 0, true, []int{12}, false, 12, []int{7, 8}},
	} {
		l := spy(30, c.sigma, map[int]float64{12: 0.02})
		l.time = c.time
		for p := range 30 {
			l.built[p] = true
		}
		l.evaluate = func(Measurement, int, int, Comparison) Comparison { return Comparison{Need: c.need, Same: c.same} }
		h := l.hunt(5, 25, 0.02-c.sigma, 0.02, 0.02+c.sigma, 0.02)
		h.finder.proofs = mostProofs - 1 // of other ranges
		weights := uniform(20)
		weights[6] = 1000
		h.Search = New(weights, h.ends)
		done, err := h.prove(t.Context(), c.suspect)
		for i, v := range h.visits {
			if i >= len(c.visits) || v.position != c.visits[i] {
				t.Errorf("%s: a visit of %d, want of %v", c.name, v.position, c.visits)
			}
		}
		var blocks []int
		for _, m := range l.asked {
			blocks = append(blocks, m.Blocks)
		}
		if err != nil || done != c.done || !slices.Equal(blocks, c.blocks) || h.proofBlocks() != c.next || len(h.visits) != len(c.visits) {
			t.Errorf("%s: done %t, %v, after blocks %v, and %d next", c.name, done, err, blocks, h.proofBlocks())
		}
		if open := h.answer.Open; (len(open) == 1) != c.done || c.same && c.done && (open[0].First != 11 || !strings.HasPrefix(open[0].Why, "it is where both ends' levels meet")) {
			t.Errorf("%s: open are %+v", c.name, open)
		}
	}
}

// TestNarrow: where nothing between can be measured, a proof of the ends is tried as often as any.
func TestNarrow(t *testing.T) {
	l := spy(30, 0.001, map[int]float64{12: 0.02})
	l.evaluate = func(Measurement, int, int, Comparison) Comparison { return Comparison{} }
	h := l.hunt(5, 25, 0.02, 0.0201)
	for p := 1; p < 20; p++ {
		h.Exclude(p)
	}
	done, err := h.narrow(t.Context())
	if p := l.proofs(); err != nil || !done || len(p) != mostProofs || !slices.Equal(p[0].Positions, []int{5, 25}) || len(h.answer.Open) != 1 {
		t.Errorf("%t, %v after %+v: %+v", done, err, l.asked, h.answer.Open)
	}
	l.time = l.full + 0.99
	if done, err := h.narrow(t.Context()); err != nil || !done || len(l.proofs()) != mostProofs || !h.answer.TimeUp || h.answer.Open[1].Why != "what lies between cannot be measured" {
		t.Errorf("without time: %t, %v after %+v: %+v", done, err, l.asked, h.answer)
	}
}
