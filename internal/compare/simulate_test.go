package compare

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/stats"
)

// A madeUp comparison is one of two programs by slices that a machine might have
// measured, with a control.
type madeUp struct {
	blocks, rounds int
	shift          float64 // by which each slice of the new one takes longer, as a logarithm
	rare           float64 // by which the new one's mean grows besides, by one slice in a hundred
	noise          float64 // of a slice, on all sides
	process        float64 // by which processes of one program differ
	delayed        float64 // the part of slices that the machine delays, on all sides
	delay          float64 // by how many times their own time, on average
}

// value is what a process gives in a block, at moments that all sides have in common.
func (m madeUp) value(r *rand.Rand, block int, moments []float64, shift, rare float64) value {
	v := value{measured: &measured{blockID: blockID{"f", strconv.Itoa(block)}, number: block, layout: strconv.Itoa(block)}}
	level := shift + m.process*r.NormFloat64()
	for _, moment := range moments {
		ns := 1e6 * math.Exp(moment+level+m.noise*r.NormFloat64())
		if rare > 0 && r.Float64() < 0.01 {
			ns += 1e6 * 100 * rare
		}
		if m.delayed > 0 && r.Float64() < m.delayed {
			ns += 1e6 * m.delay * r.ExpFloat64()
		}
		v.rounds = append(v.rounds, ns)
		v.v += ns / float64(len(moments))
	}
	return v
}

// reports returns n comparisons, in reports of ten rows with their controls, judged
// as Compare does at the level alpha.
func (m madeUp) reports(n int, alpha float64, seed uint64) (all []*tested) {
	r := rand.New(rand.NewPCG(seed, 17))
	j := &evaluator{c: &Comparison{Alpha: alpha, Margin: DefaultMargin}}
	for len(all) < n {
		var family []*tested
		add := func(x, ref []value) *tested {
			t := j.test(untested(len(x), len(ref)), pair(x, ref), x, ref, "sec/op")
			family = append(family, t)
			return t
		}
		for range min(10, n-len(all)) {
			var base, control, x []value
			for block := range m.blocks {
				moments := make([]float64, m.rounds)
				for i := range moments {
					moments[i] = 0.2 * r.Float64()
				}
				base = append(base, m.value(r, block+1, moments, 0, 0))
				control = append(control, m.value(r, block+1, moments, 0, 0))
				x = append(x, m.value(r, block+1, moments, m.shift, m.rare))
			}
			all = append(all, add(x, withTwins(base, control)))
			add(control, base)
		}
		estimate(family, alpha)
	}
	return all
}

// Where nothing differs a comparison says that something does as often as its level
// lets it; and the interval has the truth as often as it should. Neither what the
// machine does to a few slices of all sides alike changes that.
func TestLevelAndCoverage(t *testing.T) {
	const comparisons = 1000
	for name, c := range map[string]struct {
		m           madeUp
		least, most int // alarms without a difference
		covered     int // of a difference of 5 %, at least
		found       int // so many of those are told from nothing, at least
	}{
		"normal slices": {madeUp{noise: 0.05}, 20, 70, 930, 990},
		// What is a hundred times the usual comes in few slices, and says nothing of them.
		"delayed slices": {madeUp{noise: 0.05, delayed: 0.03, delay: 50}, 20, 70, 930, 990},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := c.m
			m.blocks, m.rounds, m.process = 12, 30, 0.01
			alarms := 0
			for _, test := range m.reports(comparisons, 0.05, 1) {
				if test.vs.P <= 0.05 {
					alarms++
				}
				if (test.vs.P <= 0.05) != (test.vs.Lo > 1 || test.vs.Hi < 1) {
					t.Errorf("the test and its interval contradict one another: %+v", test.vs)
				}
			}
			if alarms < c.least || alarms > c.most {
				t.Errorf("%d alarms in %d comparisons of a program with itself", alarms, comparisons)
			}
			m.shift = math.Log(1.05)
			covered, found, off := 0, 0, 0.0
			for _, test := range m.reports(comparisons, 0.05, 2) {
				if test.vs.Lo <= 1.05 && 1.05 <= test.vs.Hi {
					covered++
				}
				if test.vs.Lo > 1 {
					found++
				}
				off += (math.Log(test.vs.Ratio) - m.shift) / comparisons
			}
			if covered < c.covered || covered > 990 || found < c.found || math.Abs(off) > 0.01 {
				t.Errorf("of %d differences of 5 %%, %d intervals have it, %d are found; they are off by %.4f on average", comparisons, covered, found, off)
			}
			t.Logf("%d alarms; %d of %d intervals have 5 %%, %d find it, off by %.4f", alarms, covered, comparisons, found, off)
		})
	}
}

// A cost that comes in one slice of a hundred is found, and its size is that of the
// mean, which it is a part of.
func TestRareCostIsFound(t *testing.T) {
	const comparisons = 100
	m := madeUp{blocks: 12, rounds: session.SharpRounds, noise: 0.05, process: 0.005, rare: 0.05}
	truth := 1 + 0.05/math.Exp(0.5*m.noise*m.noise)/(math.Expm1(0.2)/0.2) // of what a slice takes on average
	found, rare, covered, less := 0, 0, 0, 0
	for _, test := range m.reports(comparisons, 0.05, 3) {
		if test.vs.Lo > 1 {
			found++
		}
		if test.vs.Hi < 1 {
			less++
		}
		if test.vs.RareCosts {
			rare++
		}
		if test.vs.Lo <= truth && truth <= test.vs.Hi {
			covered++
		}
	}
	if found < 90 || rare < 90 || covered < 88 || less > 0 {
		t.Errorf("of %d: %d found, %d as rare costs, %d intervals have %.4f; %d say the contrary", comparisons, found, rare, covered, truth, less)
	}
	t.Logf("of %d: %d found, %d as rare costs, %d intervals have %.4f; %d say the contrary", comparisons, found, rare, covered, truth, less)
}

// Of the two estimates each spends its share of the level, in the test and in the
// interval.
func TestEstimateSpendsItsShare(t *testing.T) {
	const alpha = 0.04
	for _, c := range []struct {
		rare, share float64
	}{{0, typicalShare}, {0.3, plainShare}} {
		m := madeUp{blocks: 12, rounds: 100, noise: 0.05, process: 0.01, shift: 0.01, rare: c.rare}
		test := m.reports(1, alpha, 5)[0]
		test.vs = untested(12, 12)
		estimate([]*tested{test}, alpha)
		blocks := test.blocks
		if c.rare == 0 {
			blocks.D = test.typical
		}
		want := stats.Family{blocks}.Mean(0, stats.Looks{}, alpha*c.share)
		if test.vs.RareCosts != (c.rare > 0) || test.shift.Lo != want.Lo || test.shift.Hi != want.Hi || test.vs.P != min(1, want.P/c.share) {
			t.Errorf("rare costs of %v: %+v, %+v; want %+v", c.rare, test.vs, test.shift, want)
		}
	}
}

// What is known of other comparisons changes nothing if there are none, and looks are
// no part of the standard error that an answer is checked with.
func TestEstimateByLooks(t *testing.T) {
	m := madeUp{blocks: 12, rounds: 30, noise: 0.05, process: 0.01}
	fixed := m.reports(1, 0.05, 4)[0]
	looks := *fixed
	looks.looks = stats.Looks{At: []int{6, 9, 12}}
	looks.vs = untested(12, 12)
	before := *fixed.rough
	family := []*tested{&looks}
	estimate(family, 0.05)
	alone := *fixed
	alone.vs = untested(12, 12)
	estimate([]*tested{&alone}, 0.05)
	if *looks.rough != *alone.rough || before.Est != alone.rough.Est {
		t.Errorf("the mean is %+v, and with looks %+v", *alone.rough, *looks.rough)
	}
	if looks.vs.Hi-looks.vs.Lo <= alone.vs.Hi-alone.vs.Lo {
		t.Errorf("looks cost nothing: %+v, %+v", looks.vs, alone.vs)
	}
	// A standard error to either side.
	if width := alone.rough.Hi - alone.rough.Lo; math.Abs(width/2/(alone.rough.Spread/math.Sqrt(12))-1) > 0.3 {
		t.Errorf("%v wide with a spread of %v", width, alone.rough.Spread)
	}
}
