package bisect

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/scenes.txt; look at the difference before you commit it")

// A scene is a history, and what is special about its lab.
type scene struct {
	name     string
	versions int
	sigma    float64
	steps    map[int]float64
	change   func(l *spyLab, o *Options)
}

// of is a test of positions that lie in a range.
func of(from, to int) func(int) bool { return func(p int) bool { return from <= p && p <= to } }

// scenes meet every way that a bisection goes.
var scenes = []scene{
	{"a step", 60, 0, map[int]float64{23: 0.03}, nil},
	{"lost in the noise", 40, 0.03, map[int]float64{23: 0.02}, nil},
	{"far too small", 40, 0.2, map[int]float64{23: 0.03}, func(l *spyLab, _ *Options) {
		l.evaluate = func(_ Measurement, _, _ int, j Comparison) Comparison { j.Proven = true; return j }
	}},
	{"noise, and no time to look again", 40, 0.03, map[int]float64{23: 0.02}, func(l *spyLab, _ *Options) { l.time = 4 }},
	{"two alike", 60, 0.004, map[int]float64{20: 0.03, 40: 0.03}, nil},
	{"up and down", 60, 0.004, map[int]float64{20: 0.06, 40: -0.03}, nil},
	{"neighbours", 60, 0.004, map[int]float64{30: 0.02, 31: 0.02}, nil},
	{"two, and time for one", 60, 0.004, map[int]float64{20: 0.05, 40: 0.01}, func(l *spyLab, _ *Options) { l.time = 4.2 }},
	{"small ones beside it", 60, 0.004, map[int]float64{10: 0.006, 30: 0.03, 35: 0.006, 50: 0.006}, nil},
	{"none that is proven alone", 40, 0.004, map[int]float64{8: 0.01, 16: 0.01, 24: 0.01, 32: 0.01}, func(l *spyLab, _ *Options) {
		l.evaluate = func(m Measurement, base, x int, j Comparison) Comparison {
			j.Proven = j.Proven && x-base > 30
			return j
		}
	}},
	{"some do not build", 60, 0.004, map[int]float64{30: 0.03}, func(l *spyLab, _ *Options) { l.broken = func(p int) bool { return p%4 == 1 } }},
	{"it does not build", 60, 0.004, map[int]float64{30: 0.03}, func(l *spyLab, _ *Options) { l.broken = of(27, 34) }},
	{"nothing builds", 20, 0.004, map[int]float64{10: 0.03}, func(l *spyLab, _ *Options) { l.broken = of(1, 19) }},
	{"it does not build, and no time", 60, 0.004, map[int]float64{30: 0.03}, func(l *spyLab, _ *Options) { l.broken = of(27, 34); l.time = 4 }},
	{"the same programs", 60, 0.004, map[int]float64{30: 0.03}, func(l *spyLab, _ *Options) { l.same = 0.8 }},
	{"no figures", 60, 0.004, map[int]float64{30: 0.03}, func(l *spyLab, _ *Options) { l.muted = of(20, 27) }},
	{"no time for a visit", 60, 0.004, map[int]float64{30: 0.03}, func(l *spyLab, _ *Options) { l.time = 1.2 }},
	{"no time for a proof", 60, 0.004, map[int]float64{30: 0.03}, func(l *spyLab, _ *Options) { l.time = 2.4 }},
	{"time for fewer blocks", 60, 0.03, map[int]float64{30: 0.05}, func(l *spyLab, _ *Options) { l.time = 7 }},
	{"another order", 60, 0.004, map[int]float64{30: 0.03}, func(_ *spyLab, o *Options) {
		o.Weights = slices.Repeat([]float64{1}, 60)
		o.Weights[29], o.Weights[9] = 30, 30
	}},
	{"another order, on both sides", 60, 0.004, map[int]float64{20: 0.03, 40: 0.03}, func(_ *spyLab, o *Options) {
		o.Weights = slices.Repeat([]float64{1}, 60)
		o.Weights[24], o.Weights[34], o.Weights[39] = 30, 60, 90
	}},
	{"a rest that its proof sees", 60, 0.004, map[int]float64{30: 0.03}, func(l *spyLab, _ *Options) {
		l.evaluate = func(m Measurement, base, x int, j Comparison) Comparison {
			j.Proven = j.Proven || len(m.Positions) == 4 && x != 30
			return j
		}
	}},
	{"ends that are there", 60, 0.004, map[int]float64{30: 0.03}, func(l *spyLab, o *Options) {
		o.Ends, _ = l.world.Measure(context.Background(), Measurement{Positions: []int{0, 60}, Blocks: 12})
	}},
	{"the ends the same", 60, 0.004, nil, nil},
	{"an unlucky proof", 60, 0.004, map[int]float64{30: 0.03}, func(l *spyLab, _ *Options) { l.unlucky = 1 }},
	{"proofs that fail", 60, 0.004, map[int]float64{30: 0.03}, func(l *spyLab, _ *Options) { l.unlucky = 9 }},
	{"within the margin", 60, 0.001, map[int]float64{30: 0.03}, func(l *spyLab, _ *Options) {
		l.evaluate = func(m Measurement, base, x int, j Comparison) Comparison {
			if m.Proof {
				j.Proven, j.Same, j.Need = false, true, 0
			}
			return j
		}
	}},
	{"a rest that is proven once", 60, 0.004, map[int]float64{20: 0.03, 40: 0.02}, func(l *spyLab, _ *Options) {
		l.evaluate = func(m Measurement, base, x int, j Comparison) Comparison {
			j.Proven = j.Proven && (m.Proof || x-base == 60)
			return j
		}
	}},
	{"counts", 60, 0.1, map[int]float64{10: 8, 30: 3, 50: -4}, counts},
	{"counts that are not all there", 60, 0, map[int]float64{30: 3}, func(l *spyLab, o *Options) {
		counts(l, o)
		l.noise = func() float64 { return 0 }
		l.broken = of(28, 32)
	}},
	{"a rest of counts", 60, 0.1, map[int]float64{10: 8, 30: 3}, func(l *spyLab, o *Options) {
		counts(l, o)
		l.evaluate = func(m Measurement, base, x int, j Comparison) Comparison {
			j.Proven = j.Proven && (m.Proof || x-base == 60)
			return j
		}
	}},
}

// few of them meet every call of a lab.
var few = slices.DeleteFunc(slices.Clone(scenes), func(s scene) bool {
	return !slices.Contains([]string{"far too small", "neighbours", "nothing builds", "proofs that fail", "a rest of counts"}, s.name)
})

func counts(_ *spyLab, o *Options) {
	o.Exact, o.Margin, o.Offered, o.Blocks = true, 0.5, []int{1, 2}, 6
}

// play finds what there is in a scene, with a lab that fails at a call if that is not 0.
func (s scene) play(t *testing.T, fail int, say func(format string, a ...any)) (*Answer, *spyLab, error) {
	l, o := spy(s.versions, s.sigma, s.steps), timeOptions()
	l.fail = fail
	if s.change != nil {
		s.change(l, &o)
	}
	l.begin(l.r) // with what was changed
	o.Report = func(e Event) {
		if e.Kind == EventSame { // in no order
			l.seenSame = append(l.seenSame, e.Position*1000+e.Last)
			return
		}
		say("  %s %d-%d, %d blocks: level %.3g of %.3g, most %.3g of %s, %.3g left%s\n", kinds[e.Kind], e.Position, e.Last, e.Blocks, e.Level, e.Step, e.Most, short(e.Suspects), e.Left, e.Problem)
		if e.Compared != (Comparison{}) {
			say("    %s\n", e.Compared)
		}
	}
	l.say = say
	a, err := Find(t.Context(), l, s.versions, o)
	return a, l, err
}

var kinds = [...]string{"compare", "ends", "visit", "seen", "broken", "same", "split", "proof", "proved", "rest"}

func (c Comparison) String() string {
	return fmt.Sprintf("proven %t, same %t: %.4f (%.4f to %.4f), p %.2g, need %d", c.Proven, c.Same, c.Ratio, c.Lo, c.Hi, c.P, c.Need)
}

// short writes positions in a few words, and so that another one shows.
func short(positions []int) string {
	sum := 0
	for _, p := range positions {
		sum += p * p
	}
	return fmt.Sprintf("%d suspects (%d)", len(positions), sum)
}

// TestScenes: what is measured, at which level, what is told on the way and answered at the end.
func TestScenes(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("others round in other places")
	}
	var b strings.Builder
	for _, s := range scenes {
		fmt.Fprintf(&b, "%s\n", s.name)
		say := func(format string, a ...any) { fmt.Fprintf(&b, format, a...) }
		a, l, err := s.play(t, 0, say)
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		slices.Sort(l.seenSame)
		say("  answer: %d comparisons, %d blocks, time up %t, broken %v, the same %v\n", a.Comparisons, a.Blocks, a.TimeUp, a.Broken, l.seenSame)
		for _, s := range a.Steps {
			say("    step %d: %s\n", s.Position, s.Compared)
		}
		for _, o := range a.Open {
			say("    open %d-%d %s, narrowed %t: %s\n", o.First, o.Last, short(o.Suspects), o.Narrowed, o.Why)
			if o.Compared != nil {
				say("      %s\n", o.Compared)
			}
		}
	}
	const path = "testdata/scenes.txt"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, name := strings.Split(b.String(), "\n"), ""
	for i, line := range strings.Split(string(want), "\n") {
		if line != "" && line[0] != ' ' {
			name = line
		}
		if i >= len(got) || got[i] != line {
			t.Fatalf("%s: line %d is %q, want %q", name, i+1, got[min(i, len(got)-1)], line)
		}
	}
}

var errLab = errors.New("the lab fails")

// TestLabFails: an error of a lab, in whichever call, is the answer.
func TestLabFails(t *testing.T) {
	for _, s := range few {
		_, l, err := s.play(t, 0, func(string, ...any) {})
		if err != nil {
			t.Fatal(err)
		}
		for call := 1; call <= l.calls; call++ {
			if _, failed, err := s.play(t, call, func(string, ...any) {}); !errors.Is(err, errLab) || failed.calls != call {
				t.Errorf("%s: call %d of %d fails, and after %d the error is %v", s.name, call, l.calls, failed.calls, err)
			}
		}
	}
}

// TestEndsFail: an end that gave no figures in a visit, a proof or a range ends the bisection.
func TestEndsFail(t *testing.T) {
	for _, s := range few {
		_, l, err := s.play(t, 0, func(string, ...any) {})
		if err != nil {
			t.Fatal(err)
		}
		for n, m := range l.asked {
			for _, p := range m.Positions[:2] {
				if len(m.Positions) < 3 || p == 0 || p == s.versions {
					silent := s
					silent.change = func(l *spyLab, o *Options) {
						if s.change != nil {
							s.change(l, o)
						}
						l.silent = map[int]int{n + 1: p}
					}
					var end *EndError
					if _, _, err := silent.play(t, 0, func(string, ...any) {}); !errors.As(err, &end) || end.Position != p {
						t.Errorf("%s: %d gives no figures in measurement %d, %+v: %v", s.name, p, n+1, m, err)
					}
				}
			}
		}
	}
}

// TestFormulas: what is reckoned with, in figures that are known otherwise.
func TestFormulas(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-12*max(1, math.Abs(want))) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near("log t", logT(2), -3*math.Log(1+4.0/5))
	near("entropy", entropy(0.25), 0.25*2+0.75*math.Log2(4.0/3))
	near("entropy of what is sure", entropy(0)+entropy(1), 0)
	near("what is left where nothing is told", remaining(0.3, 0), entropy(0.3))
	d := deviations([]float64{1, 3}, 3)
	near("a deviation of two", d[0], -3*math.Sqrt2)
	near("a deviation of five", deviations([]float64{0, 1, 2, 3, 100}, 1)[0], -2*math.Sqrt(5/4.0))
	near("no bound", bounded([]float64{0, 0, 0, 2}), 1)
	near("bounded", bounded([]float64{1, -1, 1, 1, 9}), (4+6.25/0.6745/0.6745)/0.9776/5)
	near("none", bounded(nil), 0)
	few := levelOf([]float64{0, 1, 2, 9})
	near("the squares of four", few.squares, 50)
	many := levelOf([]float64{0, 1, 2, 3, 100})
	near("the squares of five", many.squares, bounded(deviations([]float64{0, 1, 2, 3, 100}, 1))*4)
	s := New(uniform(4), []float64{0.9, 1, 1.1, 1})
	all := s.spread.variance
	near("a spread", all, bounded(deviations([]float64{0.9, 1, 1.1, 1}, math.Sqrt(1/difference))))
	near("a variance", s.variance(level{blocks: 4, squares: 30 * all}, 2, 0.5, 3), (4+60)/(4+3.0)*all/4+0.5+0.01*9+0.0001)
	near("a variance of all", s.variance(level{blocks: 4}, 1, 0, 0), all/4+0.0001)
	near("an error", s.err(9, 2), math.Sqrt(all/9+0.01*4+0.0001))
	_, e := s.Step()
	near("an error of a step", e, math.Sqrt(bounded(deviations([]float64{0.9, 1, 1.1, 1}, 1))/4))
	near("bits of four", s.Open(), 2)
	s.shared = 0.25
	near("an error with what is shared", s.err(9, 2), math.Sqrt(all/9+0.25+0.01*4+0.0001))
	c := channelOf(3)
	near("bits of an even chance", c.information(0.5), (c[15]+c[16])/2)
	near("bits between the first two", c.information(1/32.0), (c[0]+c[1])/2)
	near("bits between the last two", c.information(31/32.0), (c[30]+c[31])/2)
	near("bits of a small chance", c.information(0.001), c[0]*entropy(0.001)/entropy(1/64.0))
	near("bits of a large one", c.information(0.999), c[31]*entropy(0.999)/entropy(1/64.0))
	near("bits of none", c.information(certain)+c.information(1-certain), 0)
	near("a channel", newChannel(3)[15], entropy(15.5/32)-remaining(15.5/32, 3))
	near("a channel that is asked for", channelOf(3.004)[15], c[15])
	near("a channel that is far off", channelOf(400)[15], newChannel(20)[15])
	if got := (&finder{Options: Options{Exact: true}}).amount(12.345678) + (&finder{}).amount(math.Log(0.9)); got != "+12.35-10.00 %" {
		t.Errorf("amounts are %s", got)
	}
	for _, c := range []struct {
		lo, hi float64
		want   bool
	}{{0.001, 0.03, true}, {0.001, 0.02, false}, {-0.03, -0.001, true}, {-0.02, -0.001, false}, {-0.001, 0.03, false}, {-0.03, 0.001, false}} {
		if got := (&finder{Options: Options{Margin: 0.02}}).beyond(c.lo, c.hi); got != c.want {
			t.Errorf("%v to %v beyond the margin: %t", c.lo, c.hi, got)
		}
	}
}
