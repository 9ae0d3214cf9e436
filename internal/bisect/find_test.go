package bisect

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/dynolab/dyno/internal/stats"
)

// histories is how many are simulated: few by day, and at night as many as the page quotes.
func histories(day, night int) int {
	if os.Getenv("DYNO_NIGHTLY") == "" {
		return day
	}
	return night
}

// full is the blocks of a comparison that sees the step with a power of 90 % at a
// two-sided level of 0.5 %.
const full = 12

// A world is a simulated history, and the machine that measures it. Its noise is none that
// a [Search] reckons with: that takes blocks to be independent, and what visits show to have
// Student's distribution.
type world struct {
	versions int
	steps    map[int]float64 // by position
	noise    func() float64  // of a side in a block, with variance 1
	sigma    float64         // its standard deviation; 0 is that of full blocks

	broken func(position int) bool
	same   float64 // the part of versions that are the same program as the one before
	build  float64 // its cost, in full comparisons

	drift   float64 // of a version against the one before, standard deviation
	layouts float64 // of a version in a layout, standard deviation
	unlucky float64 // the part of layouts in which a version takes half as long again; none of the ends is
	slow    float64 // of the moment, which weighs on one process more than on another: standard deviation of a random walk, a block
	shared  float64 // what a version shows in all blocks of one measurement, standard deviation
	disturb float64 // the part of sides of blocks that are disturbed, by ten times the noise

	level    []float64
	program  []int
	layoutOf map[[2]int]float64
	walk     map[int]float64
	fresh    int // layouts that were used up by proofs
	made     int
	r        *rand.Rand

	built     map[int]bool
	full      float64 // comparisons, in full ones, ends and proofs included
	searching float64 // those of visits
}

// normalNoise, tails and skewed are noises of variance 1: what is expected, Student's t
// with 3 degrees of freedom, and waiting times, which are skewed.
func normalNoise(r *rand.Rand) float64 { return r.NormFloat64() }

func tails(r *rand.Rand) float64 {
	var c float64
	for range 3 {
		z := r.NormFloat64()
		c += z * z
	}
	return r.NormFloat64() / math.Sqrt(c)
}

func skewed(r *rand.Rand) float64 { return r.ExpFloat64() - 1 }

// begin draws what is random about the history.
func (w *world) begin(r *rand.Rand) {
	w.r = r
	w.level, w.program = make([]float64, w.versions+1), make([]int, w.versions+1)
	w.layoutOf, w.walk, w.built = make(map[[2]int]float64), make(map[int]float64), map[int]bool{0: true, w.versions: true}
	w.fresh, w.made, w.full, w.searching = 0, 0, 0, 0
	if w.sigma == 0 {
		w.sigma = 0.02 / (2.807 + 1.2816) * math.Sqrt(full/2.0)
	}
	for i := 1; i <= w.versions; i++ {
		step, culprit := w.steps[i]
		w.program[i], w.level[i] = w.program[i-1], w.level[i-1]
		if culprit || r.Float64() >= w.same {
			w.program[i] = i
			w.level[i] += step + w.drift*r.NormFloat64()
		}
	}
}

func (w *world) Build(_ context.Context, position int) (Build, error) {
	w.built[position] = true
	if position > 0 && position < w.versions && w.broken != nil && w.broken(position) {
		return Build{Problem: "does not build"}, nil
	}
	return Build{Identity: fmt.Sprint(w.program[position])}, nil
}

func (w *world) Cost(positions []int, blocks int) float64 {
	cost := float64(blocks) / full
	for _, p := range positions {
		if !w.built[p] {
			cost += w.build
		}
	}
	return cost
}

func (w *world) Left() float64 { return 100 - w.full }

// side is what a version shows in a block of the given layout.
func (w *world) side(position, layout int) float64 {
	key := [2]int{w.program[position], layout}
	if _, ok := w.layoutOf[key]; !ok {
		w.layoutOf[key] = w.layouts * w.r.NormFloat64()
		if w.unlucky > 0 && position > 0 && position < w.versions && w.r.Float64() < w.unlucky {
			w.layoutOf[key] = math.Log(1.5)
		}
	}
	noise := w.noise()
	if w.r.Float64() < w.disturb {
		noise += 10
	}
	return w.level[position] + w.layoutOf[key] + w.sigma*noise
}

func (w *world) Measure(_ context.Context, m Measurement) (*Measured, error) {
	w.full += float64(m.Blocks) / full
	if len(m.Positions) == 3 {
		w.searching += float64(m.Blocks) / full
	}
	first := w.made % full // visits go through the layouts of the ends
	if m.Proof {
		w.fresh += m.Blocks
		first = 1000 + w.fresh
	}
	w.made += m.Blocks
	shared := make(map[int]float64)
	for _, p := range m.Positions {
		shared[p] = w.shared * w.r.NormFloat64()
	}
	seen := &Measured{Levels: make(map[int][]float64), Failed: make(map[int]string)}
	for block := range m.Blocks {
		layout := first + block
		if !m.Proof {
			layout %= full
		}
		base := (w.side(m.Positions[0], layout) + w.side(m.Positions[0], layout)) / 2 // with its control
		for _, p := range m.Positions {
			w.walk[p] += w.slow * w.r.NormFloat64()
			v := w.side(p, layout) + w.walk[p] + shared[p] - base - shared[m.Positions[0]]
			if p == m.Positions[0] {
				v = 0
			}
			seen.Levels[p] = append(seen.Levels[p], v)
		}
	}
	seen.Compare = func(base, x int, alpha float64) (Comparison, error) {
		d := make([]float64, m.Blocks)
		for i := range d {
			d[i] = seen.Levels[x][i] - seen.Levels[base][i]
		}
		s := stats.Mean(d, nil, alpha)
		margin := timeOptions().Margin
		same := s.Lo > -margin && s.Hi < margin
		need := 0
		if s.P > alpha && !same {
			need = s.Need(max(math.Abs(s.Est), margin), alpha, 100)
		}
		return Comparison{Proven: s.P <= alpha && !same, Same: same, Need: need, Ratio: math.Exp(s.Est), Lo: math.Exp(s.Lo), Hi: math.Exp(s.Hi), P: s.P}, nil
	}
	return seen, nil
}

// TestSimulated shows how often a bisection is right among 1,000 versions with a step of
// 2 %, of which a full comparison sees nine of ten at a level of 0.5 %. It is the whole of
// it, with the ends and the proofs, but that the ends are known to differ: in one of ten
// histories a single comparison would not tell. Visits are what other ways of bisecting
// count as comparisons.
func TestSimulated(t *testing.T) {
	runs := histories(6, 400)
	every := func(n int) func(int) bool {
		return func(p int) bool { return (p*2654435761>>7)%n == 0 }
	}
	for _, c := range []struct {
		name  string
		world world
		noise func(*rand.Rand) float64
		// right is the share of searches whose answer is: the culprit is proven, or not
		// proven but in the set. named is that of those that name it; most bounds the
		// comparisons of visits, and all those with ends and proofs.
		right, named, most, all float64
	}{
		{"builds cost half a comparison", world{build: 0.5}, normalNoise, 0.95, 0.95, 14, 20},
		{"builds cost two", world{build: 2}, normalNoise, 0.95, 0.95, 14, 20},
		{"builds are there", world{build: 0.01}, normalNoise, 0.95, 0.95, 14, 20},
		{"heavy tails", world{build: 0.5}, tails, 0.95, 0.9, 14, 20},
		{"skewed", world{build: 0.5}, skewed, 0.95, 0.9, 14, 20},
		{"one block of twenty is disturbed", world{build: 0.5, disturb: 0.02}, normalNoise, 0.95, 0.8, 14, 24},
		{"one of ten does not build", world{build: 0.5, broken: every(10)}, normalNoise, 0.95, 0.75, 14, 20},
		{"a third does not build", world{build: 0.5, broken: func(p int) bool { return p > 400 && p < 700 }}, normalNoise, 0.95, 0.6, 14, 20},
		{"nine of ten are the same program", world{build: 0.5, same: 0.9}, normalNoise, 0.95, 0.95, 14, 20},
		{"versions drift", world{build: 0.5, drift: 0.0001}, normalNoise, 0.95, 0.9, 14, 24},
		{"the machine drifts", world{build: 0.5, slow: 0.0005}, normalNoise, 0.95, 0.9, 14, 24},
		{"layouts differ", world{build: 0.5, layouts: 0.003}, tails, 0.95, 0.9, 14, 24},
		{"one layout of fifty is unlucky", world{build: 0.5, unlucky: 0.02}, normalNoise, 0.95, 0.7, 14, 24}, // a proof meets one in more than a third of cases
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 2))
			right, named, more, builds, comparisons, all := 0, 0, 0, 0, 0.0, 0.0
			for range runs {
				w := c.world
				w.versions = 1000
				culprit := 1 + r.IntN(w.versions)
				w.steps = map[int]float64{culprit: 0.02}
				w.noise = func() float64 { return c.noise(r) }
				w.begin(r)
				o := timeOptions()
				o.Ends = w.different(t, 0.05)
				a, err := Find(t.Context(), &w, w.versions, o)
				if err != nil {
					t.Fatal(err)
				}
				isRight, isNamed := a.grade([]int{culprit})
				if isRight {
					right++
				}
				if isNamed {
					named++
				}
				if a.more() {
					more++
				}
				comparisons += w.searching / float64(runs)
				all += w.full / float64(runs)
				builds += len(w.built) - 2
			}
			t.Logf("right %d, named and proven %d of %d, more said to be left %d; comparisons %.1f, with ends and proofs %.1f; builds %.1f", right, named, runs, more, comparisons, all, float64(builds)/float64(runs))
			atLeast(t, "right", right, runs, c.right)
			atLeast(t, "named", named, runs, c.named)
			atLeast(t, "nothing said to be left", runs-more, runs, 0.95)
			if comparisons > c.most || all > c.all {
				t.Errorf("%.1f comparisons, and %.1f with ends and proofs, want at most %.0f and %.0f", comparisons, all, c.most, c.all)
			}
		})
	}
}

// TestCoverage shows that the answer holds the culprit in 95 of 100 histories also on a
// machine that is far noisier than the step is high: ends that were barely proven, whose step
// looks several times as high as it is, what all blocks of a visit share, and a search that
// ends early, so that its set is the answer.
func TestCoverage(t *testing.T) {
	runs := histories(40, 1000)
	for _, c := range []struct {
		name    string
		noise   func(*rand.Rand) float64
		louder  float64 // than the noise in which twelve blocks see the step
		shared  float64 // of the noise of a side in a block
		time    float64 // full comparisons
		atLeast float64 // the share that is searched at all
	}{
		{"as expected, with no time", normalNoise, 1, 0, 4, 0.9},
		{"as expected, with a shared error", normalNoise, 1, 0.3, 30, 0.7},
		{"three times the noise", normalNoise, 3, 0, 6, 0},
		{"three times the noise, heavy tails, shared", tails, 3, 0.3, 10, 0},
		{"ten times the noise, with a shared error", normalNoise, 10, 0.3, 10, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(7, 8))
			right, searched, size := 0, 0, 0
			for range runs {
				w := world{versions: 120, build: 0.2, noise: func() float64 { return c.noise(r) }}
				culprit := 1 + r.IntN(w.versions)
				w.steps = map[int]float64{culprit: 0.02}
				w.begin(r)
				w.sigma *= c.louder
				w.shared = c.shared * w.sigma
				o := timeOptions()
				o.Ends = w.different(t, o.Alpha/2) // as Find judges them
				w.full = 100 - c.time
				a, err := Find(t.Context(), &w, w.versions, o)
				if err != nil {
					t.Fatal(err)
				}
				if isRight, _ := a.grade([]int{culprit}); isRight {
					right++
				}
				if len(a.Steps) > 0 || len(a.Open) > 0 && len(a.Open[0].Suspects) < w.versions {
					searched++
				}
				if len(a.Open) > 0 {
					size += len(a.Open[0].Suspects)
				}
			}
			t.Logf("right %d, searched %d of %d; sets of %.1f", right, searched, runs, float64(size)/float64(runs))
			atLeast(t, "right", right, runs, 0.95)
			atLeast(t, "searched", searched, runs, c.atLeast)
		})
	}
}

// timeOptions are those of a search for the time of an operation, with the margin that
// comparisons of a world have.
func timeOptions() Options {
	o := DefaultOptions()
	o.Margin = math.Log1p(0.02)
	return o
}

// different measures the ends until they are proven to differ at this level.
func (w *world) different(t *testing.T, level float64) *Measured {
	for range 1000 {
		m, _ := w.Measure(t.Context(), Measurement{Positions: []int{0, w.versions}, Blocks: full})
		if j, _ := m.Compare(0, w.versions, level); j.Proven {
			return m
		}
	}
	t.Fatal("the ends are never proven to differ")
	return nil
}

// grade says whether an answer is right of a history with steps at these positions: it names
// none that is no step, and each is named or in a set. All are named if it needs no set.
func (a *Answer) grade(steps []int) (right, named bool) {
	right, named = true, true
	for _, s := range a.Steps {
		right = right && slices.Contains(steps, s.Position)
	}
	for _, p := range steps {
		if slices.ContainsFunc(a.Steps, func(s Step) bool { return s.Position == p }) {
			continue
		}
		named = false
		right = right && slices.ContainsFunc(a.Open, func(o Open) bool { return slices.Contains(o.Suspects, p) || o.First < p && p <= o.Last })
	}
	return right, right && named
}

// atLeast fails if k of n is less than the share, by four standard deviations.
func atLeast(t *testing.T, what string, k, n int, share float64) {
	t.Helper()
	if float64(k) < float64(n)*share-4*math.Sqrt(float64(n)*share*(1-share)) {
		t.Errorf("%s in %d of %d, want %.0f %%", what, k, n, 100*share)
	}
}

// TestSeveralSteps shows what is found of more than one step.
func TestSeveralSteps(t *testing.T) {
	runs := histories(4, 200)
	for _, c := range []struct {
		name         string
		steps        map[int]float64
		right, named float64
		some         float64 // that at least one step is named, and none that is none
	}{
		{"two alike", map[int]float64{300: 0.02, 700: 0.02}, 0.95, 0.5, 0.8},
		{"one after a smaller one", map[int]float64{300: 0.015, 700: 0.04}, 0.95, 0.3, 0.9},
		{"a regression behind an improvement", map[int]float64{300: -0.03, 700: 0.06}, 0.95, 0.85, 0.95},
		{"a regression that was made good in part", map[int]float64{300: 0.06, 700: -0.03}, 0.95, 0.85, 0.95},
		{"three", map[int]float64{200: 0.03, 500: 0.03, 800: 0.03}, 0.95, 0.6, 0.9},
		{"neighbours", map[int]float64{500: 0.02, 503: 0.02}, 0.95, 0.3, 0.8},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(3, 4))
			var steps []int
			for p := range c.steps {
				steps = append(steps, p)
			}
			right, named, told, some, all := 0, 0, 0, 0, 0.0
			for range runs {
				w := world{versions: 1000, build: 0.5, steps: c.steps, noise: func() float64 { return tails(r) }}
				w.begin(r)
				o := timeOptions()
				o.Ends = w.different(t, 0.05)
				a, err := Find(t.Context(), &w, w.versions, o)
				if err != nil {
					t.Fatal(err)
				}
				wrong := slices.ContainsFunc(a.Steps, func(s Step) bool { return !slices.Contains(steps, s.Position) })
				_, isNamed := a.grade(steps)
				if !wrong {
					right++
				}
				if isNamed {
					named++
				}
				if isNamed || len(a.Open) > 0 {
					told++
				}
				if !wrong && len(a.Steps) > 0 {
					some++
				}
				all += w.full / float64(runs)
			}
			t.Logf("none wrong %d, all named %d, or that more is left told %d, one at least %d of %d; comparisons with ends and proofs %.1f", right, named, told, some, runs, all)
			atLeast(t, "right", right, runs, c.right)
			atLeast(t, "all named", named, runs, c.named)
			atLeast(t, "one named", some, runs, c.some)
		})
	}
}

// TestAccount shows that an answer is complete if the steps that it names explain by how much
// the ends differ, and says that more is left if they do not: steps beside one of 3 %, each too
// small for a proof of its own.
func TestAccount(t *testing.T) {
	runs := histories(40, 1000)
	for _, c := range []struct {
		name           string
		small          []int // positions of more steps
		by             float64
		complete, left float64 // the least share of answers that are, and that say so
	}{
		{"one step", nil, 0, 0.95, 0},
		{"and three that do not matter", []int{10, 25, 40}, 0.001, 0.95, 0},
		{"and two of 1 %", []int{30, 100}, 0.01, 0, 0.65},
		{"and four of 0.5 %", []int{10, 30, 80, 100}, 0.005, 0, 0.65},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(11, 12))
			named, complete, left := 0, 0, 0
			steps := map[int]float64{60: 0.03}
			for _, p := range c.small {
				steps[p] = c.by
			}
			for range runs {
				w := world{versions: 120, build: 0.2, steps: steps, noise: func() float64 { return tails(r) }}
				w.begin(r)
				o := timeOptions()
				o.Ends = w.different(t, o.Alpha/2)
				a, err := Find(t.Context(), &w, w.versions, o)
				if err != nil {
					t.Fatal(err)
				}
				found := slices.ContainsFunc(a.Steps, func(s Step) bool { return s.Position == 60 })
				more := a.more()
				switch {
				case found && more:
					left++
				case found && len(a.Open) == 0:
					complete++
				}
				if found {
					named++
				}
			}
			t.Logf("the step named in %d of %d; the answer complete in %d, more left in %d", named, runs, complete, left)
			atLeast(t, "complete", complete, runs, c.complete)
			atLeast(t, "more left", left, runs, c.left)
		})
	}
}

// more reports whether an answer says that more differs than what it names.
func (a *Answer) more() bool {
	return len(a.Steps) > 0 && slices.ContainsFunc(a.Open, func(o Open) bool { return !o.Narrowed })
}

// TestWithin shows that a search uses the time that there is and little more, that the set which
// it leaves is the smaller the more there is of it, and that it says that it was the time.
func TestWithin(t *testing.T) {
	runs := histories(10, 200)
	last := 1000.0
	for _, time := range []float64{2, 4, 6, 9, 20} {
		r := rand.New(rand.NewPCG(21, 22))
		right, up, sizes := 0, 0, 0.0
		for range runs {
			culprit := 1 + r.IntN(1000)
			w := world{versions: 1000, build: 0.2, steps: map[int]float64{culprit: 0.02}, noise: r.NormFloat64}
			w.begin(r)
			o := timeOptions()
			o.Ends = w.different(t, o.Alpha/2)
			w.full = 100 - time
			a, err := Find(t.Context(), &w, w.versions, o)
			if err != nil {
				t.Fatal(err)
			}
			isRight, named := a.grade([]int{culprit})
			if isRight {
				right++
			}
			if a.TimeUp {
				up++
				// One that is likely to be it is left, and only a proof tells more.
				if left := w.Left(); left > 0.5 && len(a.Open[0].Suspects) > 1 || left < -0.5 {
					t.Errorf("of time for %v comparisons %.2f are left", time, left)
				}
			} else if !named && a.Open == nil {
				t.Errorf("it says neither what it is nor that there was no time: %+v", a)
			}
			for _, open := range a.Open {
				sizes += float64(len(open.Suspects)) / float64(runs)
			}
		}
		t.Logf("time for %v: right %d, without time %d of %d; sets of %.0f", time, right, up, runs, sizes)
		atLeast(t, "right", right, runs, 0.95)
		if sizes > last*0.9 || time <= 2 && up < runs || time >= 20 && up > runs/10 {
			t.Errorf("with time for %v sets of %.1f are left, where less left %.1f; %d of %d ended by it", time, sizes, last, up, runs)
		}
		last = max(sizes, 1)
	}
}

// TestNoStep shows that no version is named where none changes anything, though the ends
// were taken to differ: every twentieth range has ends that seem to.
func TestNoStep(t *testing.T) {
	runs := histories(4, 200)
	r := rand.New(rand.NewPCG(5, 6))
	named := 0
	for range runs {
		w := world{versions: 200, build: 0.5, noise: func() float64 { return tails(r) }}
		w.begin(r)
		o := timeOptions()
		m, _ := w.Measure(t.Context(), Measurement{Positions: []int{0, 200}, Blocks: full})
		for i := range m.Levels[200] {
			m.Levels[200][i] += 0.02
		}
		o.Ends = m
		a, err := Find(t.Context(), &w, 200, o)
		if err != nil {
			t.Fatal(err)
		}
		if len(a.Steps) > 0 {
			named++
		}
	}
	t.Logf("named in %d of %d", named, runs)
	if limit := 0.05*float64(runs) + 4*math.Sqrt(0.05*0.95*float64(runs)); float64(named) > limit {
		t.Errorf("a version is named in %d of %d histories without a step, want at most %.0f", named, runs, limit)
	}
	w := world{versions: 200, noise: func() float64 { return r.NormFloat64() }, sigma: 0.001}
	w.begin(r)
	a, err := Find(t.Context(), &w, 200, timeOptions())
	if err != nil || !a.Ends.Same || len(a.Steps)+len(a.Open) > 0 || a.Comparisons != 1 {
		t.Errorf("ends that do not differ: %+v, %v", a, err)
	}
}

// Counts do not vary: halving finds the step.
func TestExact(t *testing.T) {
	for culprit := 1; culprit <= 1000; culprit += 37 {
		w := world{versions: 1000, build: 1, steps: map[int]float64{culprit: 3}, noise: func() float64 { return 0 }, broken: func(p int) bool { return p%50 == 0 }}
		w.begin(rand.New(rand.NewPCG(1, 1)))
		o := DefaultOptions()
		o.Exact, o.Offered, o.Blocks = true, []int{1}, 6
		a, err := Find(t.Context(), &w, 1000, o)
		if err != nil {
			t.Fatal(err)
		}
		if right, _ := a.grade([]int{culprit}); !right || len(a.Steps)+len(a.Open) != 1 || a.Comparisons > 16 {
			t.Errorf("culprit %d: %+v", culprit, a)
		}
	}
}

// A mutedLab is a world in which visits give no figures of some positions.
type mutedLab struct {
	*world
	muted func(position int) bool
}

func (l mutedLab) Measure(ctx context.Context, m Measurement) (*Measured, error) {
	seen, err := l.world.Measure(ctx, m)
	for _, p := range m.Positions {
		if len(m.Positions) == 3 && l.muted(p) {
			seen.Failed[p] = "gave no figure"
			delete(seen.Levels, p)
		}
	}
	return seen, err
}

// TestNoFigures proves that a version which gives no figures is searched around, and that an end
// which gives none is told, not the version beside it that has no ratio then.
func TestNoFigures(t *testing.T) {
	find := func(muted func(int) bool) (*Answer, error) {
		w := world{versions: 100, steps: map[int]float64{30: 3}, noise: func() float64 { return 0 }}
		w.begin(rand.New(rand.NewPCG(1, 1)))
		o := DefaultOptions()
		o.Exact, o.Offered, o.Blocks = true, []int{1}, 6
		return Find(t.Context(), mutedLab{&w, muted}, 100, o)
	}
	a, err := find(func(p int) bool { return 40 < p && p < 60 })
	if err != nil || len(a.Steps) != 1 || a.Steps[0].Position != 30 || len(a.Broken) == 0 {
		t.Errorf("some versions give no figures: %+v, error %v", a, err)
	}
	var end *EndError
	if a, err = find(func(p int) bool { return p < 100 }); !errors.As(err, &end) || end.Position != 0 {
		t.Errorf("the good end gives no figures: %+v, error %v", a, err)
	}
}

// An unluckyLab is a world in which the first proofs meet a layout that is half as slow again.
type unluckyLab struct {
	*world
	unlucky int // proofs
	proofs  int
}

func (l *unluckyLab) Measure(ctx context.Context, m Measurement) (*Measured, error) {
	seen, err := l.world.Measure(ctx, m)
	if m.Proof {
		if l.proofs++; l.proofs <= l.unlucky {
			seen.Levels[m.Positions[1]][0] += math.Log(1.5)
		}
	}
	return seen, err
}

// TestProofAgain shows that a proof which one layout has spoilt is repeated in others, and that
// the search ends if they fail as well.
func TestProofAgain(t *testing.T) {
	for _, c := range []struct {
		unlucky, proofs int
		named           bool
	}{{0, 1, true}, {1, 2, true}, {mostProofs, mostProofs, false}} {
		r := rand.New(rand.NewPCG(9, 10))
		w := &world{versions: 100, build: 0.5, steps: map[int]float64{37: 0.02}, noise: r.NormFloat64, sigma: 0.004}
		w.begin(r)
		lab := &unluckyLab{world: w, unlucky: c.unlucky}
		a, err := Find(t.Context(), lab, w.versions, timeOptions())
		if err != nil {
			t.Fatal(err)
		}
		right, named := a.grade([]int{37})
		if !right || named != c.named || lab.proofs != c.proofs {
			t.Errorf("with %d unlucky layouts: right %t, named %t after %d proofs: %+v", c.unlucky, right, named, lab.proofs, a)
		}
	}
}

// A signsLab is a world whose comparisons look at signs only, as those of counts that vary a
// little: six blocks prove a difference at 0.05, and none at a half of that.
type signsLab struct{ *world }

func (l signsLab) Measure(ctx context.Context, m Measurement) (*Measured, error) {
	seen, err := l.world.Measure(ctx, m)
	compare := seen.Compare
	seen.Compare = func(base, x int, alpha float64) (Comparison, error) {
		j, err := compare(base, x, alpha)
		j.Proven = j.Proven && math.Pow(0.5, float64(m.Blocks-1)) <= alpha
		return j, err
	}
	return seen, err
}

// TestSeveralCounts shows that all steps of a count are named, though their comparisons have
// lower and lower levels.
func TestSeveralCounts(t *testing.T) {
	steps := []int{30, 60, 90, 120}
	w := &world{versions: 150, build: 1, steps: make(map[int]float64), noise: func() float64 { return 0 }}
	for _, p := range steps {
		w.steps[p] = 8
	}
	w.begin(rand.New(rand.NewPCG(1, 1)))
	o := DefaultOptions()
	o.Exact, o.Offered, o.Blocks = true, []int{1}, 7
	a, err := Find(t.Context(), signsLab{w}, w.versions, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, named := a.grade(steps); !named {
		t.Errorf("%+v", a)
	}
}
