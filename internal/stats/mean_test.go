package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Tails of Student's distribution, from SciPy (2*stats.t.sf); and the critical
// values of every table.
func TestStudentTail(t *testing.T) {
	for _, c := range []struct {
		t    float64
		df   int
		want float64
	}{
		{0, 7, 1},
		{0.3, 1, 0.8144528418445154},
		{5, 1, 0.12566591637800234},
		{2, 2, 0.1835034190722739},
		{20, 2, 0.002490663892367097},
		{5, 3, 0.015392438073302296},
		{2, 4, 0.1161165235168155},
		{5, 5, 0.0041047159800533225},
		{2, 11, 0.07080395506803452},
		{20, 11, 5.344325078535112e-10},
		{5, 12, 0.0003093112112838887},
		{5, 47, 8.412192927712431e-06},
		{100000, 1, 6.366197723463607e-06},
		{10000, 2, 9.999999850000001e-09},
		{50, 5, 6.047757626601234e-08},
		{20, 47, 1.2552849699908147e-24},
		{40, 47, 5.910281069104923e-38},
		{9, 200, 1.7709382923264814e-16},
	} {
		near(t, fmt.Sprintf("tail of %v at %d", c.t, c.df), studentTail(c.t, c.df)/c.want, 1, 1e-9)
	}
	for df, want := range map[int]float64{1: 12.706, 2: 4.303, 5: 2.571, 11: 2.201, 30: 2.042, 120: 1.980} {
		near(t, fmt.Sprintf("5 %% point at %d", df), studentQuantile(0.05, df), want, 5e-4)
	}
	for df := 1; df < 60; df++ {
		for _, level := range []float64{0.9, 0.05, 0.001, 1e-6, 1e-9} {
			near(t, "tail of the quantile", studentTail(studentQuantile(level, df), df)/level, 1, 1e-6)
		}
	}
}

// The variance of the mean, and what the sample variance is on average, from the
// matrix of all correlations.
func TestInflation(t *testing.T) {
	for _, n := range []int{2, 3, 12, 50} {
		for _, corr := range []float64{0, 0.05, 0.2, 0.5, 0.9} {
			all, size := 0.0, float64(n)
			for i := range n {
				for j := range n {
					all += math.Pow(corr, math.Abs(float64(i-j)))
				}
			}
			shown := (size - all/size) / (size - 1)
			near(t, fmt.Sprintf("%d values of correlation %v", n, corr), inflation(corr, n), all/size/shown, 1e-9*all)
		}
	}
}

// Student's sleep data, the differences of his first example: t = 4.06 of 9 degrees
// of freedom (R: t.test). Ours is that, made wider by the correlation.
func TestMeanExample(t *testing.T) {
	d := []float64{1.2, 2.4, 1.3, 1.3, 0, 1, 1.8, 0.8, 4.6, 1.4}
	s := student(d, 0.3, 0.05)
	near(t, "mean", s.Est, 1.58, 1e-12)
	near(t, "spread", s.Spread, 1.229995, 1e-6)
	// Sum of products of neighbours over the sum of squares, plus 1/n.
	r := -0.16909518 + 0.1
	corr := (10*r + 30*0.3) / (6 + 30)
	near(t, "correlation", s.Corr, corr, 1e-6)
	wide := math.Sqrt(inflation(s.Corr, 10))
	near(t, "p", s.P, studentTail(4.062128/wide, 9), 1e-7)
	near(t, "lower end", s.Lo, 1.58-0.8798859*wide, 1e-5)
	near(t, "upper end", s.Hi, 1.58+0.8798859*wide, 1e-5)
	if s.Units != 10 || s.MinP != 0 {
		t.Errorf("%d units, least p %v", s.Units, s.MinP)
	}
}

// p <= alpha says the same as an interval without zero; what is said of x is the
// mirror of -x, and does not depend on the unit of measurement.
func TestMeanAgrees(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		alpha := rapid.SampledFrom([]float64{0.001, 0.05, 0.25, 0.5}).Draw(t, "alpha")
		value := rapid.OneOf(rapid.Float64Range(-1, 3), rapid.SampledFrom([]float64{0, 0.5, 1, 1, 1}))
		b := Blocks{D: rapid.SliceOfN(value, 1, 20).Draw(t, "d")}
		b.Layout = rapid.SliceOfN(rapid.StringMatching("[a-j]?"), 0, len(b.D)).Draw(t, "layout")
		looks := Looks{At: rapid.SampledFrom([][]int{nil, {6, 9, 12}, {3, 20}}).Draw(t, "looks")}
		others := Family{{D: rapid.SliceOfN(value, 1, 12).Draw(t, "other")}}

		a := append(others, b).Mean(1, looks, alpha)
		minus := append(others, Blocks{D: negated(b.D), Layout: b.Layout}).Mean(1, looks, alpha)
		if significant := a.Lo > 0 || a.Hi < 0; significant != (a.P <= alpha) && !(len(looks.At) > 0 && a.P <= alpha) {
			t.Fatalf("p = %v at alpha %v, but the interval is [%v, %v]", a.P, alpha, a.Lo, a.Hi)
		}
		if a.MinP > alpha && !math.IsInf(a.Lo, -1) {
			t.Fatalf("an interval from too few values: %+v", a)
		}
		if a.P < a.MinP || a.P > 1 {
			t.Fatalf("p out of bounds: %+v", a)
		}
		if a.Est != -minus.Est || a.Lo != -minus.Hi || a.Hi != -minus.Lo || a.P != minus.P {
			t.Fatalf("%+v is not the mirror of %+v", a, minus)
		}
		for i := range b.D {
			b.D[i] *= 1024 // exact
		}
		if big := append(others, b).Mean(1, looks, alpha); big.P != a.P || big.Lo != 1024*a.Lo || big.Est != 1024*a.Est {
			t.Fatalf("%+v is not %+v times 1024", big, a)
		}
	})
}

// A dozen blocks give p-values as small as Holm's correction asks for, with no gaps:
// the test has no least one.
func TestMeanIsSmooth(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	d := make([]float64, 12)
	for i := range d {
		d[i] = rng.NormFloat64()
	}
	last := 1.0
	shifted := func(by float64) []float64 {
		out := slices.Clone(d)
		m, _ := moments(d)
		for i := range out {
			out[i] += by - m
		}
		return out
	}
	for by := 0.02; last > 1e-7; by += 0.02 {
		p := Mean(shifted(by), nil, 0.05).P
		if !(p < last) || p < last/2 {
			t.Fatalf("a mean of %v spreads: p = %v after %v", by, p, last)
		}
		last = p
	}
}

// Few blocks, equal blocks, one block.
func TestMeanOfLittle(t *testing.T) {
	inf := math.Inf(1)
	same := func(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }
	for name, c := range map[string]struct {
		d    []float64
		want Shift
	}{
		"one":               {[]float64{3}, Shift{Est: 3, Lo: -inf, Hi: inf, P: 1, MinP: 1}},
		"five":              {[]float64{3, 3.1, 3, 3.1, 2.9}, Shift{Est: 3.02, Lo: -inf, Hi: inf, P: 1.0 / 16, MinP: 1.0 / 16}},
		"five equal":        {same(5, 3), Shift{Est: 3, Lo: -inf, Hi: inf, P: 1.0 / 16, MinP: 1.0 / 16}},
		"six equal":         {same(6, 3), Shift{Est: 3, Lo: 3, Hi: 3, P: 1.0 / 32, MinP: 1.0 / 32}},
		"six equal tenths":  {same(6, 0.1), Shift{Est: 0.1, Lo: 0.1, Hi: 0.1, P: 1.0 / 32, MinP: 1.0 / 32}},
		"twelve times none": {same(12, 0), Shift{P: 1}},
	} {
		s := Mean(c.d, nil, 0.05)
		ok := math.Abs(s.Est-c.want.Est) < 1e-12 && s.P == c.want.P && s.MinP == c.want.MinP
		if !ok || math.Abs(s.Lo-c.want.Lo) > 1e-12 || math.Abs(s.Hi-c.want.Hi) > 1e-12 {
			t.Errorf("%s: %+v, want %+v", name, s, c.want)
		}
	}
	// At a level that five blocks can reach they find something.
	if s := Mean([]float64{3, 3.1, 3, 3.1, 2.9}, nil, 0.1); s.P != 1.0/16 || !(s.Lo > 0) {
		t.Errorf("five blocks at level 0.1: %+v", s)
	}
}

// Blocks of a layout are one unit, in the order in which layouts appear; too few
// layouts, and blocks without one, are none.
func TestUnits(t *testing.T) {
	eight := []string{"0", "1", "2", "3", "4", "5", "6", "7"}
	for name, c := range map[string]struct {
		b    Blocks
		want []float64
	}{
		"none":      {Blocks{D: []float64{1, 2, 3}}, []float64{1, 2, 3}},
		"too few":   {Blocks{D: []float64{1, 2, 3}, Layout: []string{"a", "b", "a"}}, []float64{1, 2, 3}},
		"in turns":  {Blocks{D: []float64{8, 7, 6, 5, 4, 3, 2, 1, 10, 9}, Layout: append(slices.Clone(eight), "0", "2")}, []float64{9, 7, 7.5, 5, 4, 3, 2, 1}},
		"in a row":  {Blocks{D: []float64{8, 7, 6, 5, 4, 3, 2, 1, 2}, Layout: append(slices.Clone(eight), "7")}, []float64{8, 7, 6, 5, 4, 3, 2, 1.5}},
		"some gaps": {Blocks{D: []float64{8, 7, 6, 5, 4, 3, 2, 1, 2}, Layout: append(slices.Clone(eight), "")}, []float64{8, 7, 6, 5, 4, 3, 2, 1, 2}},
		"not all":   {Blocks{D: []float64{8, 7, 6, 5, 4, 3, 2, 1, 2}, Layout: []string{"0", "0"}}, []float64{7.5, 6, 5, 4, 3, 2, 1, 2}},
	} {
		if got := c.b.units(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	d := []float64{8, 7, 6, 5, 4, 3, 2, 1, 10, 9}
	a, b := Mean(d, append(slices.Clone(eight), "0", "2"), 0.05), Mean([]float64{9, 7, 7.5, 5, 4, 3, 2, 1}, nil, 0.05)
	if a != b || a.Units != 8 {
		t.Errorf("%+v, want %+v", a, b)
	}
}

// What a comparison presumes of its correlation is what the others show, at a look
// what they showed by then; its own blocks count once.
func TestFamilyLearns(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 24))
	chain := func(n int, corr float64) []float64 {
		d := make([]float64, n)
		for i := range d {
			d[i] = rng.NormFloat64() * math.Sqrt(1-corr*corr)
			if i > 0 {
				d[i] += corr * d[i-1]
			}
		}
		return d
	}
	for _, corr := range []float64{0, 0.2, 0.4} {
		var f Family
		sum := 0.0
		const members = 200
		for range members {
			f = append(f, Blocks{D: chain(12, corr)})
		}
		for i := range f {
			sum += f.Mean(i, Looks{}, 0.05).Corr / members
		}
		near(t, fmt.Sprintf("mean correlation of a family with %v", corr), sum, corr, 0.08) // it is never below 0
	}

	own, other := chain(12, 0), chain(24, 0.7)
	alone, pair := Family{{D: own}}, Family{{D: own}, {D: other}}
	if a, b := alone.Mean(0, Looks{}, 0.05), pair.Mean(0, Looks{}, 0.05); !(b.Corr > a.Corr) || !(b.Hi-b.Lo > a.Hi-a.Lo) || a.Est != b.Est {
		t.Errorf("alone %+v, beside blocks that resemble one another %+v", a, b)
	}
	if a, b := alone.Mean(0, Looks{}, 0.05), (Family{{D: own}, {D: other[:5]}, {D: make([]float64, 12)}}).Mean(0, Looks{}, 0.05); a != b {
		t.Errorf("five blocks, or equal ones, say something: %+v, %+v", a, b)
	}
	// Blocks that alternate are no reason for a shorter interval.
	swing := []float64{1, -1, 1.1, -1, 1, -1.1, 1, -1, 1, -1.2, 1, -1}
	if s := (Family{{D: swing}, {D: swing}, {D: swing}}).Mean(0, Looks{}, 0.05); s.Corr != 0 {
		t.Errorf("a correlation of %v is reckoned with", s.Corr)
	}
	// Nor are blocks that only grow the same block.
	grow := make([]float64, 1000)
	for i := range grow {
		grow[i] = float64(i)
	}
	if s := Mean(grow, nil, 0.05); s.Corr != mostCorr || !(s.Hi-s.Lo > 100) || math.IsInf(s.Hi, 1) {
		t.Errorf("blocks that only grow: %+v", s)
	}
	l := Looks{At: []int{6, 12}}
	early := Family{{D: own[:6]}, {D: other[:6]}}.Mean(0, l, 0.05)
	if s := (Family{{D: own[:6]}, {D: other}}).Mean(0, l, 0.05); s != early {
		t.Errorf("what comes after a look changes it: %+v, %+v", s, early)
	}
	numbers := []int{1, 2, 3, 4, 5, 8}
	if s := (Family{{D: own[:6], Number: numbers}, {D: other}}).Mean(0, l, 0.05); s == early {
		t.Error("the look at 12 is the look at 6")
	}
}
