package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The estimate that counts averages is the median of them all, listed.
func TestHodgesLehmannByListing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.OneOf(
			rapid.Float64Range(-1e9, 1e9),
			rapid.SampledFrom([]float64{0, 1, -1, 1e300, -1e300, math.MaxFloat64}),
		), 1, 3*few).Draw(t, "d")
		w := walsh(d)
		slices.Sort(w)
		if got, want := HodgesLehmann(d), Median(w); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
		e := averagesOf(d)
		if e.count() != len(w) {
			t.Fatalf("%d averages, want %d", e.count(), len(w))
		}
		for i, want := range append(slices.Clone(w), math.Inf(1)) {
			if i > 0 {
				if got, next := e.smallest(i); got != w[i-1] || next != want {
					t.Fatalf("number %d of %v and the next are %v and %v, want %v and %v", i, w, got, next, w[i-1], want)
				}
			}
			below, atMost := e.around(want)
			if wantBelow, wantAtMost := listed(w).around(want); below != wantBelow || atMost != wantAtMost {
				t.Fatalf("of %v are %d below %v and %d at most that, want %d and %d", w, below, want, atMost, wantBelow, wantAtMost)
			}
		}
	})
}

// Values that are in no order do not keep it from ending.
func TestHodgesLehmannOfNoNumbers(t *testing.T) {
	for _, odd := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		d := append(slices.Repeat([]float64{1}, 20), odd)
		if got := HodgesLehmann(d); got != 1 {
			t.Errorf("of 20 times 1 and %v: %v", odd, got)
		}
	}
}

// Signed rank p-values of all sign patterns, against the sum of ranks counted
// over all other patterns: the definition of the test.
func TestSignedRankByPermutation(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 40 {
		n := 3 + rng.IntN(7)
		size := make([]float64, n)
		for i := range size {
			size[i] = float64(i+1) + rng.Float64()/2 // ranks are 1 to n
		}
		stat := func(signs int) int {
			sum := 0
			for i := range n {
				if signs>>i&1 == 1 {
					sum += i + 1
				}
			}
			return sum
		}
		mine, extreme := rng.IntN(1<<n), 0
		middle := float64(n*(n+1)) / 4
		for other := range 1 << n {
			if math.Abs(float64(stat(other))-middle) >= math.Abs(float64(stat(mine))-middle) {
				extreme++
			}
		}
		d := slices.Clone(size)
		for i := range d {
			if mine>>i&1 == 0 {
				d[i] = -d[i]
			}
		}
		near(t, fmt.Sprintf("p of %v", d), SignedRank(d, 0.05).P, float64(extreme)/float64(int(1)<<n), 1e-12)
	}
}

// R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm"), and of 0.01 to 0.05.
func TestHolmExamples(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct{ p, want []float64 }{
		{[]float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{[]float64{0.01, 0.02, 0.03, 0.04, 0.05}, []float64{0.05, 0.08, 0.09, 0.09, 0.09}},
		{[]float64{nan, 0.4, nan, 0.6}, []float64{nan, 0.8, nan, 0.8}},
		{[]float64{0.7, 0.9}, []float64{1, 1}},
		{nil, nil},
	} {
		got := Holm(c.p)
		for i := range c.want {
			if math.IsNaN(c.want[i]) != math.IsNaN(got[i]) || math.Abs(got[i]-c.want[i]) > 1e-12 {
				t.Errorf("Holm(%v) = %v, want %v", c.p, got, c.want)
			}
		}
	}
}

// Adjusted p-values at most alpha are those that the procedure rejects, step by
// step as Holm's paper has it; and the level of the first that it does not.
func TestHolmByItsSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 500 {
		p := make([]float64, 1+rng.IntN(12))
		for i := range p {
			p[i] = math.Pow(rng.Float64(), 4)
		}
		const alpha = 0.05
		sorted := slices.Sorted(slices.Values(p))
		rejected := 0
		for rejected < len(p) && sorted[rejected] <= alpha/float64(len(p)-rejected) {
			rejected++
		}
		adjusted := Holm(p)
		for i, a := range adjusted {
			if (a <= alpha) != (slices.Index(sorted, p[i]) < rejected) {
				t.Fatalf("%v of %v: adjusted %v, but the procedure rejects %d", p[i], p, a, rejected)
			}
		}
		if rejected < len(p) {
			near(t, "level", HolmLevel(adjusted, alpha), alpha/float64(len(p)-rejected), 1e-15)
		}
	}
}

// bound is the most that a rate at this level may show in so many rounds: four
// standard deviations of the count above it.
func bound(level float64, rounds int) float64 {
	return level + 4*math.Sqrt(level*(1-level)/float64(rounds))
}

// A family whose members share a base, as columns of a row do, claims anything
// false as rarely as the level says; some of its members do differ.
func TestHolmFamilyError(t *testing.T) {
	const rounds, alpha, n = 3000, 0.05, 12
	rng := rand.New(rand.NewPCG(11, 12))
	wrong, uncorrected, found := 0, 0, 0
	for range rounds {
		p := make([]float64, 8)
		base := make([]float64, n)
		for i := range base {
			base[i] = rng.NormFloat64()
		}
		for k := range p {
			effect := 0.0
			if k < 2 {
				effect = 5
			}
			d := make([]float64, n)
			for i := range d {
				d[i] = effect + rng.NormFloat64() - base[i]
			}
			p[k] = SignedRank(d, alpha).P
		}
		adjusted := Holm(p)
		if slices.ContainsFunc(adjusted[2:], func(p float64) bool { return p <= alpha }) {
			wrong++
		}
		if slices.ContainsFunc(p[2:], func(p float64) bool { return p <= alpha }) {
			uncorrected++
		}
		if adjusted[0] <= alpha {
			found++
		}
	}
	if rate := float64(wrong) / rounds; rate > bound(alpha, rounds) {
		t.Errorf("%.3f of the families claim something false, want at most %v", rate, alpha)
	}
	if rate := float64(uncorrected) / rounds; rate < 2*alpha {
		t.Errorf("without correction it is %.3f: this family is no trial", rate)
	}
	if found < rounds*9/10 {
		t.Errorf("a difference of 3.5 times the spread was found %d times of %d", found, rounds)
	}
}

func TestDecide(t *testing.T) {
	r := Rule{Alpha: 0.05, Margin: 0.02}
	nan := math.NaN()
	for _, c := range []struct {
		name  string
		e     Evidence
		want  Answer
		doubt Doubt
	}{
		{"more", Evidence{Lo: 0.03, Est: 0.05, Hi: 0.07, Adjusted: 0.01, Layouts: 1}, More, NoDoubt},
		{"less", Evidence{Lo: -0.07, Est: -0.05, Hi: -0.03, Adjusted: 0.05, Layouts: 1}, Less, NoDoubt},
		{"not after correction", Evidence{Lo: 0.03, Est: 0.05, Hi: 0.07, Adjusted: 0.051}, Unknown, NoDoubt},
		{"no test", Evidence{Lo: 0.03, Est: 0.05, Hi: 0.07, Adjusted: nan}, Unknown, NoDoubt},
		{"same", Evidence{Lo: -0.019, Est: 0, Hi: 0.019, Adjusted: 1}, Same, NoDoubt},
		{"proven, but it does not matter", Evidence{Lo: 0.005, Est: 0.01, Hi: 0.015, Adjusted: 0.001, Layouts: 12}, Same, NoDoubt},
		{"too wide for the margin", Evidence{Lo: -0.021, Est: 0, Hi: 0.019, Adjusted: 1}, Unknown, NoDoubt},
		{"no interval", Evidence{Lo: math.Inf(-1), Est: 0.4, Hi: math.Inf(1), Adjusted: 0.2}, Unknown, NoDoubt},
		{"measured apart", Evidence{Lo: 1, Est: 2, Hi: 3, Adjusted: 0.001, Apart: true}, Doubtful, MeasuredApart},
		{"measured apart, unknown", Evidence{Lo: -1, Est: 2, Hi: 3, Adjusted: 0.3, Apart: true}, Unknown, NoDoubt},
		{"small, few layouts", Evidence{Lo: 0.01, Est: 0.018, Hi: 0.03, Adjusted: 0.01, Layouts: 7}, Doubtful, FewLayouts},
		{"small, many layouts", Evidence{Lo: 0.01, Est: 0.018, Hi: 0.03, Adjusted: 0.01, Layouts: 8}, More, NoDoubt},
		{"small, same binary", Evidence{Lo: 0.01, Est: 0.018, Hi: 0.03, Adjusted: 0.01}, More, NoDoubt},
		{"bias explains it", Evidence{Lo: 0.03, Est: 0.05, Hi: 0.07, Adjusted: 0.01, Bias: 0.03}, Doubtful, BiasedControl},
		{"bias explains it, downwards", Evidence{Lo: -0.07, Est: -0.05, Hi: -0.03, Adjusted: 0.01, Bias: 0.04}, Doubtful, BiasedControl},
		{"bias does not", Evidence{Lo: 0.03, Est: 0.05, Hi: 0.07, Adjusted: 0.01, Bias: 0.01}, More, NoDoubt},
		{"bias hides a difference", Evidence{Lo: -0.01, Est: 0, Hi: 0.01, Adjusted: 1, Bias: 0.015}, Doubtful, BiasedControl},
		{"bias hides none", Evidence{Lo: -0.01, Est: 0, Hi: 0.01, Adjusted: 1, Bias: 0.005}, Same, NoDoubt},
		{"contradicting looks", Evidence{Lo: -0.01, Est: 0.1, Hi: 0.11, Adjusted: 0.01}, Unknown, NoDoubt},
	} {
		if got, doubt := r.Decide(c.e); got != c.want || doubt != c.doubt {
			t.Errorf("%s: %v, %v, want %v, %v", c.name, got, doubt, c.want, c.doubt)
		}
	}
	// Without a margin only what is equal is the same.
	if got, _ := (Rule{Alpha: 0.05}).Decide(Evidence{Adjusted: nan}); got != Same {
		t.Errorf("equal values: %v", got)
	}
}

func TestLooks(t *testing.T) {
	for blocks, want := range map[int][]int{1: {1}, 2: {2}, 6: {6}, 7: {6, 7}, 10: {8, 10}, 12: {6, 9, 12}, 18: {9, 14, 18}, 20: {10, 15, 20}} {
		if got := ThreeLooks(blocks).At; !slices.Equal(got, want) {
			t.Errorf("looks at %d blocks: %v, want %v", blocks, got, want)
		}
	}
	for _, l := range []Looks{{}, {At: []int{5}}, {At: []int{5, 9}}, {At: []int{6, 9, 12}}, {At: []int{6, 9, 12, 15}}} {
		sum := 0.0
		for k := range max(1, len(l.At)) {
			sum += l.share(k)
		}
		near(t, fmt.Sprintf("shares of %v", l.At), sum, 1, 1e-15)
	}
	l := Looks{At: []int{6, 9, 12}}
	for blocks, want := range map[int]float64{1: 0.05, 6: 0.05, 7: 0.15, 9: 0.15, 10: 0.8, 12: 0.8, 13: 0.8} {
		near(t, fmt.Sprintf("share of a look at %d blocks", blocks), l.Share(blocks), want, 1e-15)
	}
	// A look counts blocks by their numbers, whether or not they are there; those after
	// the last look are of the last.
	d := []float64{1, 2, 3, 4, 5, 6, 7}
	c := Family{{D: d, Number: []int{1, 2, 4, 5, 6, 8, 14}}}.Mean(0, l, 0.2)
	near(t, "p of a mean with holes", c.P, min(student(d[:5], expected, 0.2).P/0.05, student(d[:6], expected, 0.2).P/0.15, student(d, expected, 0.2).P/0.8), 1e-15)
	if c.Est != 4 || c.Units != 7 {
		t.Errorf("the last look is not of all blocks: %+v", c)
	}
	// Of intervals that have nothing in common the last one stands, and of others what is in all.
	for _, c := range []struct{ first, last, want Shift }{
		{Shift{Lo: 1, Hi: 2}, Shift{Lo: 3, Hi: 4}, Shift{Lo: 3, Hi: 4}},
		{Shift{Lo: 1, Hi: 3}, Shift{Lo: 2, Hi: 4}, Shift{Lo: 2, Hi: 3}},
	} {
		both := Looks{At: []int{6, 12}}.combine(12, nil, 0.05, func(until int, _ float64) Shift {
			if until == 6 {
				return c.first
			}
			return c.last
		})
		if both.Lo != c.want.Lo || both.Hi != c.want.Hi {
			t.Errorf("%+v and %+v together are %+v", c.first, c.last, both)
		}
	}
	// No block before the first look: the second is the first.
	e := Family{{D: d, Number: []int{7, 8, 9, 10, 11, 12, 13}}}.Mean(0, l, 0.2)
	near(t, "p of a mean that begins late", e.P, min(student(d[:3], expected, 0.2).P/0.15, student(d, expected, 0.2).P/0.8), 1e-15)
}

// A run that stops as soon as it has an answer is wrong no more often than its
// level says, in what it claims and in its intervals; at the usual level it would
// be.
func TestLooksError(t *testing.T) {
	const rounds, alpha, n = 4000, 0.05, 20
	l := ThreeLooks(n)
	rng := rand.New(rand.NewPCG(15, 16))
	normal := func() []float64 {
		d := make([]float64, n)
		for i := range d {
			d[i] = rng.NormFloat64()
		}
		return d
	}
	f := Family{{}}
	for range 20 { // which say that blocks are independent
		f = append(f, Blocks{D: normal()})
	}
	wrong, greedy, missed, stopped := 0, 0, 0, 0
	for range rounds {
		d := normal()
		once, early := false, false
		for _, at := range l.At {
			f[0].D = d[:at]
			once = once || f.Mean(0, Looks{}, alpha).P <= alpha
			if s := f.Mean(0, l, alpha); s.P <= alpha {
				early = true
				if s.Lo <= 0 && s.Hi >= 0 {
					t.Fatalf("p = %v, but the interval is [%v, %v]", s.P, s.Lo, s.Hi)
				}
				break
			}
		}
		greedy += count(once)
		wrong += count(early)
		stopped += count(len(f[0].D) < n)
		s := f.Mean(0, l, alpha)
		missed += count(s.Lo > 0 || s.Hi < 0)
	}
	if rate := float64(wrong) / rounds; rate > bound(alpha, rounds) || rate < alpha/2 {
		t.Errorf("%.4f of the runs claim something false, want at most %v and not nearly none", rate, alpha)
	}
	if rate := float64(missed) / rounds; rate > bound(alpha, rounds) {
		t.Errorf("%.4f of the intervals miss, want at most %v", rate, alpha)
	}
	if rate := float64(greedy) / rounds; rate < bound(alpha, rounds) {
		t.Errorf("looking at the usual level is wrong in %.4f: this is no trial", rate)
	}
	if stopped == 0 {
		t.Error("no run stopped early")
	}
}

// Independent blocks pass, blocks that hang together or drift do not.
func TestOrdered(t *testing.T) {
	const rounds, n = 4000, 12
	rng := rand.New(rand.NewPCG(17, 18))
	var lag, trend, lagged, drifted int
	var good, bad [][]Order
	for range rounds {
		free, chain, drift := make([]float64, n), make([]float64, n), make([]float64, n)
		for i := range n {
			free[i] = rng.NormFloat64()
			chain[i] = free[i]
			if i > 0 {
				chain[i] += 0.6 * chain[i-1]
			}
			drift[i] = free[i] + 0.5*float64(i)
		}
		o, ok := Ordered(free)
		if !ok {
			t.Fatal("twelve blocks are too few")
		}
		lag += count(o.LagP <= 0.05)
		trend += count(o.TrendP <= 0.05)
		c, _ := Ordered(chain)
		lagged += count(c.LagP <= 0.05)
		d, _ := Ordered(drift)
		drifted += count(d.TrendP <= 0.05)
		good, bad = append(good, []Order{o}), append(bad, []Order{c, c})
	}
	for what, hits := range map[string]int{"lag": lag, "trend": trend} {
		if rate := float64(hits) / rounds; rate > bound(0.05, rounds) || rate < 0.02 {
			t.Errorf("%s: %.3f false alarms, want about 0.05", what, rate)
		}
	}
	if lagged < rounds/3 || drifted < rounds*9/10 {
		t.Errorf("found %d chains and %d drifts of %d", lagged, drifted, rounds)
	}
	if lag1, p := Together(good); p < 0.001 || math.Abs(lag1+1.0/n) > 0.02 {
		t.Errorf("independent blocks together: %.3f, p = %v", lag1, p)
	}
	if _, p := Together(bad[:20]); p > 0.001 {
		t.Errorf("twenty chains together: p = %v", p)
	}
	if _, ok := Ordered([]float64{1, 1, 1, 1, 1, 1, 1}); ok {
		t.Error("equal blocks have an order")
	}
	if _, p := Together(nil); !math.IsNaN(p) {
		t.Errorf("no orders: p = %v", p)
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Nonsense is the caller's fault.
func TestPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"no differences": func() { SignedRank(nil, 0.05) },
		"no sample":      func() { RankSum(nil, []float64{1}, 0.05) },
		"level":          func() { SignedRank([]float64{1}, 1) },
		"no values":      func() { HodgesLehmann(nil) },
		"no blocks":      func() { Mean(nil, nil, 0.05) },
		"mean's level":   func() { Mean([]float64{1, 2}, nil, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
