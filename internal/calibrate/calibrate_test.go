package calibrate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

// Intervals as R. G. Newcombe tells them for the method of Clopper and Pearson
// (Statistics in Medicine 17, 1998, table I), and those that have a closed form.
func TestBinomialInterval(t *testing.T) {
	for _, c := range []struct {
		k, n   int
		lo, hi float64
	}{
		{81, 263, 0.2527, 0.3676},
		{15, 148, 0.0578, 0.1617},
		{0, 20, 0, 0.1684},
		{1, 29, 0.0009, 0.1776},
		{0, 1, 0, 0.975},
		{1, 1, 0.025, 1},
		{0, 0, 0, 1},
		{0, 400, 0, 1 - math.Pow(0.025, 1.0/400)},
		{400, 400, math.Pow(0.025, 1.0/400), 1},
	} {
		lo, hi := binomialInterval(c.k, c.n, 0.95)
		if math.Abs(lo-c.lo) > 0.00006 || math.Abs(hi-c.hi) > 0.00006 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.k, c.n, lo, hi, c.lo, c.hi)
		}
	}
}

// A world is made-up machines: what every process, slice and moment adds to the
// logarithm of a time.
type world struct {
	process, slice float64 // standard deviations
	drift          float64 // of what all processes of a block share, which remembers the blocks before
	off            float64 // what a slowed program is slower by beyond what it should be
}

// calibrationText makes a results file of that world: trials of so many blocks and
// rounds, of one benchmark, its control, and a copy slowed by each of slows.
func (w world) calibrationText(seed uint64, trials, blocks, rounds int, slows ...float64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	b.WriteString("machine: made-up\ncores: 2\nkernel: linux 6\ntoolchain: go1.26\nstarted: 2026-11-21T10:00:00Z\nUnit ns/op better=lower\n")
	moment, block := 0.0, 0
	for trial := 1; trial <= trials; trial++ {
		for within := range blocks {
			block++
			moment = 0.95*moment + w.drift*r.NormFloat64()
			fmt.Fprintf(&b, "trial: %d\nblock: %d\nlayout: %d\npkg: example.com/m\n", trial, block, within%5)
			one := func(copies int, slow float64) {
				fmt.Fprintf(&b, "case: 1\ncopy: %d\nslow: %v\ndriven: session\n", copies, slow)
				level := moment + w.process*r.NormFloat64() + math.Log1p(slow)
				if slow > 0 {
					level += w.off
				}
				var ns []float64
				for range rounds {
					ns = append(ns, math.Round(5e6*math.Exp(level+w.slice*r.NormFloat64())))
				}
				fmt.Fprintf(&b, "BenchmarkX/impl=a-2 %d %.4f ns/op\n", 1000*rounds, medianOf(ns)/1000)
				text := make([]string, len(ns))
				for i, v := range ns {
					text[i] = fmt.Sprintf("%.0f", v)
				}
				fmt.Fprintf(&b, "# slices: n=1000 warmup=2 ns=%s\n", strings.Join(text, ","))
			}
			one(1, 0)
			one(2, 0)
			for _, slow := range slows {
				one(1, slow)
			}
		}
	}
	return b.String()
}

// versionsText makes the results of benchrun ab of two versions that differ by the
// part slow, in that world.
func (w world) versionsText(seed uint64, slow float64) string {
	text := w.calibrationText(seed, 1, 10, 50, slow)
	return strings.NewReplacer(
		"trial: 1\n", "",
		"case: 1\ncopy: 1\nslow: 0\n", "side: old\ncase: 1\ncopy: 1\n",
		"case: 1\ncopy: 2\nslow: 0\n", "side: old\ncase: 1\ncopy: 2\n",
		fmt.Sprintf("case: 1\ncopy: 1\nslow: %v\n", slow), "side: new\ncase: 2\ncopy: 1\n",
	).Replace(text)
}

func ofTexts(t testing.TB, o Options, texts ...string) *compare.Calibration {
	t.Helper()
	var paths []string
	for i, text := range texts {
		paths = append(paths, recordtest.Write(t, fmt.Sprintf("c%d.bench", i), text))
	}
	c, err := Read(paths, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// drifts is a machine as they are: processes differ, slices too, and all gets
// slower and faster together.
var drifts = world{process: 0.004, slice: 0.01, drift: 0.02}

// has reports whether a rate's interval has p.
func has(r compare.Rate, p float64) bool { return r.Lo <= p && p <= r.Hi }

// What the method promises it is seen to keep: as many alarms as the level lets it, or
// somewhat fewer, since a report of few rows reckons with blocks that resemble one
// another, which these do not.
func TestCalibrationOfTheMethod(t *testing.T) {
	if testing.Short() {
		t.Skip("compares 400 made-up trials")
	}
	c := ofTexts(t, Options{}, drifts.calibrationText(7, 400, 10, 10, 0.02, 0.05))
	if c.Trials != 400 || c.Blocks != 10 || c.Rounds != 10 || c.Layouts != 5 || c.Alarms.N != 400 || c.Covered.N != 800 {
		t.Errorf("%+v", c)
	}
	const least, most = 0.02, 0.055
	if c.Alarms.Lo > most || c.Alarms.Hi < least || c.Alarms.Hi > 0.09 {
		t.Errorf("alarms %+v, want %v to %v", c.Alarms, least, most)
	}
	if c.Covered.Hi < 1-most || c.Covered.Lo > 1-least || c.Covered.Lo < 0.92 {
		t.Errorf("covered %+v, want %v to %v", c.Covered, 1-most, 1-least)
	}
	if c.Wrong.K > c.Alarms.K {
		t.Errorf("more wrong verdicts than alarms: %+v, %+v", c.Wrong, c.Alarms)
	}
	if len(c.Effects) != 2 || c.Effects[0].Slow != 0.02 || c.Effects[1].Slow != 0.05 {
		t.Fatalf("effects %+v", c.Effects)
	}
	for _, e := range c.Effects {
		if math.Abs(e.Ratio-1-e.Slow) > 0.001 || e.Denied.K > e.Denied.N/20 || math.Abs(e.Seconds-1) > 0.1 {
			t.Errorf("%+v", e)
		}
	}
	// Both are many standard errors (0.004 × sqrt(2/10) and a bit) from zero.
	if c.Effects[0].Found.Part() < 0.99 || c.Effects[1].Found.K != 400 {
		t.Errorf("found %+v", c.Effects)
	}
	if w := c.Benchmarks; len(w) != 1 || w[0].Name != "X/impl=a-2" || math.Abs(w[0].Spread-0.0073) > 0.001 {
		t.Errorf("benchmarks %+v", w)
	}
	// The machine drifts, so one who measures one after the other is misled, and one who
	// does not pair is blind.
	for _, h := range c.Habits[:2] {
		if h.Alarms.Lo < 0.2 {
			t.Errorf("%s: %+v, want many", h.Name, h.Alarms)
		}
	}
	for _, h := range c.Habits[2:] {
		if h.Alarms.Hi > 0.04 {
			t.Errorf("%s: %+v, want none to speak of", h.Name, h.Alarms)
		}
	}
	if h := c.Habits[3]; h.Effects[0].Found.Hi > 0.5 {
		t.Errorf("%s: found %+v of 2 %%", h.Name, h.Effects[0])
	}
	for i, n := range []int{2000, 200, 400, 400} {
		if got := c.Habits[i].Alarms.N; got != n {
			t.Errorf("%s: %d comparisons, want %d", c.Habits[i].Name, got, n)
		}
	}
}

// Without drift, who takes the slices of few processes for values of their own is
// misled by what the processes differ in. Here that is 1.3 times what slices do.
func TestCalibrationOfProcessesThatDiffer(t *testing.T) {
	c := ofTexts(t, Options{}, world{process: 0.004, slice: 0.01}.calibrationText(9, 200, 10, 10))
	for i, least := range map[int]float64{0: 0.05, 2: 0.1} {
		if h := c.Habits[i]; h.Alarms.Lo < least {
			t.Errorf("%s: %+v", h.Name, h.Alarms)
		}
	}
	for _, i := range []int{1, 3} {
		if h := c.Habits[i]; !has(h.Alarms, 0.05) {
			t.Errorf("%s: %+v", h.Name, h.Alarms)
		}
	}
}

// A machine without drift and without a difference between processes does
// not mislead.
func TestCalibrationOfAQuietWorld(t *testing.T) {
	quiet := world{slice: 0.01}
	c := ofTexts(t, Options{}, quiet.calibrationText(7, 150, 8, 10, 0.05))
	for _, h := range c.Habits {
		if !has(h.Alarms, 0.05) && !has(h.Alarms, 0.04) {
			t.Errorf("%s: %+v", h.Name, h.Alarms)
		}
		if h.Effects[0].Found.K != h.Effects[0].Found.N {
			t.Errorf("%s: %+v", h.Name, h.Effects)
		}
	}
}

// An inference that is wrong is seen.
func TestCalibrationSeesABrokenInference(t *testing.T) {
	if testing.Short() {
		t.Skip("compares 200 made-up trials several times")
	}
	text := drifts.calibrationText(8, 200, 10, 10, 0.02)
	right := ofTexts(t, Options{}, text)
	for name, c := range map[string]struct {
		evaluate func(*trial, Options) error
		seen     func(*compare.Calibration) bool
	}{
		"intervals of 80 %": {
			func(tr *trial, o Options) error {
				o.Alpha = 0.2
				return evaluateTrial(tr, o)
			},
			func(c *compare.Calibration) bool { return c.Covered.Hi < 0.9 },
		},
		"p a third as large": {
			func(tr *trial, o Options) error {
				err := evaluateTrial(tr, o)
				for i := range tr.pairs {
					tr.pairs[i].vs.P /= 3
				}
				return err
			},
			func(c *compare.Calibration) bool { return c.Alarms.Lo > 0.05 },
		},
		"biased by 0.4 %": {
			func(tr *trial, o Options) error {
				err := evaluateTrial(tr, o)
				for i := range tr.pairs {
					vs := tr.pairs[i].vs
					vs.Ratio, vs.Lo, vs.Hi = vs.Ratio*1.004, vs.Lo*1.004, vs.Hi*1.004
				}
				return err
			},
			func(c *compare.Calibration) bool { return c.Covered.Hi < 0.9 },
		},
		"every p above alpha is a verdict": {
			func(tr *trial, o Options) error {
				err := evaluateTrial(tr, o)
				for i := range tr.pairs {
					if tr.pairs[i].vs.Ratio > 1 {
						tr.pairs[i].verdict = compare.Slower
					}
				}
				return err
			},
			func(c *compare.Calibration) bool { return c.Wrong.Lo > 0.05 },
		},
	} {
		if got := ofTexts(t, Options{evaluate: c.evaluate}, text); !c.seen(got) {
			t.Errorf("%s: not seen: alarms %+v, wrong %+v, covered %+v", name, got.Alarms, got.Wrong, got.Covered)
		}
		if c.seen(right) {
			t.Errorf("%s: seen where it is not", name)
		}
	}
	// And a subject that is not slowed by what it says.
	wrong := drifts
	wrong.off = 0.01
	if got := ofTexts(t, Options{}, wrong.calibrationText(8, 100, 10, 10, 0.02)); got.Covered.Hi > 0.9 {
		t.Errorf("a slow-down that is 1 %% off is covered: %+v", got.Covered)
	}
}

// Files are pooled, and a part of one is worth what is in it.
func TestCalibrationPoolsFiles(t *testing.T) {
	one, two := drifts.calibrationText(1, 6, 8, 5, 0.02), drifts.calibrationText(2, 4, 8, 5, 0.02)
	both := ofTexts(t, Options{}, one, two)
	if both.Trials != 10 || both.Alarms.N != 10 || len(both.Files) != 2 {
		t.Errorf("%+v", both)
	}
	// Pairs of trials are of one file: three of the first, two of the other.
	if h := both.Habits[1]; h.Alarms.N != 5 {
		t.Errorf("%s: %d comparisons", h.Name, h.Alarms.N)
	}
	cut := one[:strings.Index(one, "trial: 4\nblock: 27\n")+400]
	if c := ofTexts(t, Options{}, cut); c.Trials != 4 || c.Alarms.N != 4 {
		t.Errorf("a part of a file: %+v", c)
	}
	if odd := ofTexts(t, Options{}, drifts.calibrationText(1, 5, 8, 5), drifts.calibrationText(2, 2, 8, 5)); odd.Habits[1].Alarms.N != 3 {
		t.Errorf("5 and 2 trials: %+v", odd.Habits[1])
	}
}

// What is driven in several ways is counted for each of them, also where a benchmark
// of the same name is.
func TestCalibrationByWayOfDriving(t *testing.T) {
	sessions := drifts.calibrationText(1, 6, 8, 5, 0.02, 0.05)
	off := drifts
	off.off = 0.2 // so that no interval has the truth
	calls := strings.ReplaceAll(off.calibrationText(2, 4, 8, 5, 0.05), "driven: session", "driven: runN")
	c := ofTexts(t, Options{}, sessions, calls)
	if len(c.Ways) != 2 || len(c.Benchmarks) != 2 || c.Alarms.N != 10 || c.Covered.N != 16 {
		t.Fatalf("%+v", c)
	}
	for i, want := range []struct {
		driven            string
		alarms, intervals int
		slows             []float64
	}{
		{"session", 6, 12, []float64{0.02, 0.05}},
		{"runN", 4, 4, []float64{0.05}},
	} {
		w, b := c.Ways[i], c.Benchmarks[i]
		if w.Driven != want.driven || w.Alarms.N != want.alarms || w.Wrong.N != want.alarms || w.Covered.N != want.intervals || len(w.Effects) != len(want.slows) {
			t.Errorf("%+v, want %+v", w, want)
		}
		if b.Driven != want.driven || b.Alarms != w.Alarms || b.Wrong != w.Wrong || b.Covered != w.Covered || !reflect.DeepEqual(b.Effects, w.Effects) {
			t.Errorf("%+v, but the way has %+v", b, w)
		}
		for k, e := range w.Effects {
			if e.Slow != want.slows[k] || e.Found.N != want.alarms {
				t.Errorf("%+v, want %v", e, want.slows[k])
			}
		}
	}
	if good, bad := c.Ways[0].Covered, c.Ways[1].Covered; good.K < 10 || bad.K != 0 {
		t.Errorf("covered %+v and %+v", good, bad)
	}
}

// The evaluate of a trial is told how its benchmarks were driven, as one of a report is.
func TestTrialsSayHowTheyWereDriven(t *testing.T) {
	f := record.Read("f", []byte("BenchmarkX-2 1 5 ns/op\n"))
	of := &trial{from: f, records: []trialRecord{{measured: measured{name: "X-2", driven: "loop", record: f.Results[0]}, copy: "1"}}}
	if r := of.file(false).Results[0].Result; r.GetConfig("driven") != "loop" {
		t.Errorf("%+v", r)
	}
}

// A calibration can be looked at as if it had been shorter.
func TestCalibrationOfFewerRounds(t *testing.T) {
	w := world{slice: 0.03} // where more slices are all that helps
	text := w.calibrationText(4, 30, 8, 40, 0.02)
	all, few := ofTexts(t, Options{}, text), ofTexts(t, Options{Rounds: 5}, text)
	if all.Rounds != 40 || few.Rounds != 5 || few.Trials != 30 {
		t.Errorf("%d and %d rounds, %d trials", all.Rounds, few.Rounds, few.Trials)
	}
	a, b := all.Benchmarks[0], few.Benchmarks[0]
	if math.Abs(a.Seconds/b.Seconds-8) > 0.1 {
		t.Errorf("%v s and %v s", a.Seconds, b.Seconds)
	}
	if r := b.Spread / a.Spread; math.Abs(r-math.Sqrt(8)) > 0.6 || a.Effects[0].Found.K <= b.Effects[0].Found.K {
		t.Errorf("spread %v and %v, found %+v and %+v", a.Spread, b.Spread, a.Effects[0].Found, b.Effects[0].Found)
	}
	if again := ofTexts(t, Options{Rounds: 40}, text); !reflect.DeepEqual(again.Alarms, all.Alarms) || !reflect.DeepEqual(again.Effects, all.Effects) {
		t.Errorf("all 40 rounds: %+v, want %+v", again.Effects, all.Effects)
	}
}

// What cannot be read is told by line, and the rest is read.
func TestCalibrationReadsWhatItCan(t *testing.T) {
	text := drifts.calibrationText(3, 2, 8, 5, 0.02)
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n")
	lines[len(lines)-1] += "\n"
	first := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "Benchmark") })
	lines[first] = "BenchmarkX/impl=a-2 what\n"
	lines = append(lines, "# hole: case=BenchmarkX/impl=a-2 block=17 reason=\"crashed: oh\"\n",
		"BenchmarkX/impl=a-2 100 5 ns/op\n", "!?\n", "# slices: n=0 ns=1\n", "BenchmarkX/impl=a-2 100 5")
	path := recordtest.Write(t, "c.bench", strings.Join(lines, ""))
	c, err := Read([]string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		fmt.Sprintf("%s:%d: not a benchmark result", path, first+1),
		fmt.Sprintf("%s:%d: slices of no benchmark result", path, first+2),
		fmt.Sprintf("%s:%d: neither a result nor a configuration line", path, len(lines)-2),
		fmt.Sprintf("%s:%d: malformed line of slices", path, len(lines)-1),
		fmt.Sprintf("%s:%d: the line is torn", path, len(lines)),
	}
	for i, p := range c.Problems {
		if i >= len(want) || !strings.HasPrefix(p, want[i]) {
			t.Errorf("problem %q", p)
		}
	}
	if len(c.Problems) != len(want) {
		t.Errorf("%d problems, want %d", len(c.Problems), len(want))
	}
	if len(c.Holes) != 1 || c.Alarms.N != 2 {
		t.Errorf("holes %q, %d comparisons", c.Holes, c.Alarms.N)
	}
	for name, text := range map[string]string{
		"empty":            "",
		"other results":    "BenchmarkX 100 5 ns/op\n",
		"nothing in pairs": "trial: 1\nblock: 1\nslow: 0\nBenchmarkX 100 5 ns/op\n",
	} {
		if c, err := Read([]string{recordtest.Write(t, "x.bench", text)}, Options{}); err == nil {
			t.Errorf("%s: %+v", name, c)
		}
	}
}

// The latest calibration of a machine that lies beside the results is quoted, and
// what is different from then.
func TestCalibrationsBesideResults(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	put("calibration-1.json", `{"schema":"dyno-calibration/1","measured":"2026-11-20T10:00:00Z","circumstances":{"machine":"m","kernel":"linux 5"}}`)
	put("calibration-2.json", `{"schema":"dyno-calibration/1","measured":"2026-11-21T10:00:00Z","circumstances":{"machine":"m","kernel":"linux 6","cores":"2"}}`)
	put("calibration-2b-pooled.json", `{"schema":"dyno-calibration/1","measured":"2026-11-21T10:00:00Z","alarms":{"k":1,"n":9},"circumstances":{"machine":"m","kernel":"linux 6","cores":"2"}}`)
	put("calibration-3.json", `{"schema":"dyno-calibration/1","measured":"2026-11-22T10:00:00Z","circumstances":{"machine":"other"}}`)
	put("calibration-4.json", `{"schema":"dyno-calibration/9","measured":"2026-11-22T10:00:00Z","circumstances":{"machine":"m"}}`)
	put("calibration-5.json", `torn`)
	results := put("a.bench", "machine: m\nkernel: linux 6\ncores: 4\ndriven: loop\nBenchmarkX 100 5 ns/op\ndriven: process\nBenchmarkY 100 5 ns/op\n")
	more := put("b.bench", "machine: m\nkernel: linux 6\ncores: 4\ndriven: runN\nBenchmarkX 100 5 ns/op\ndriven: loop\nBenchmarkY 100 5 ns/op\n")
	c, err := compare.Compare([]string{results, more}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := Calibrations(c.Files)
	if len(q) != 1 || filepath.Base(q[0].Path) != "calibration-2b-pooled.json" || !slices.Equal(q[0].Stale, []string{"cores: 2 → 4"}) || !slices.Equal(q[0].Driven, []string{"loop", "runN"}) {
		t.Errorf("%+v", q)
	}
	if q := Calibrations([]compare.File{{Path: "-", Config: []record.Setting{{Key: "machine", Values: []string{"m"}}}}, {Path: results}}); len(q) != 0 {
		t.Errorf("of standard input, and of no machine: %+v", q)
	}
}

// Each habit takes the values that it says, and none of them twice.
func TestHabitsTakeTheirValues(t *testing.T) {
	// Value 1000·trial + 100·side + 10·block + slice, in nanoseconds an operation.
	pair := func(file string, trial int, layouts string) *trialPair {
		p := &trialPair{file: file}
		for block, layout := range layouts {
			for side, list := range []*[]trialProcess{&p.a, &p.b} {
				proc := trialProcess{layout: string(layout), n: 2, nsPerOp: float64(1000*trial + 100*side + 10*block)}
				for slice := range 7 {
					proc.slices = append(proc.slices, int64(2*(int(proc.nsPerOp)+slice)))
				}
				*list = append(*list, proc)
			}
		}
		return p
	}
	pairs := []*trialPair{pair("x", 1, "abaab"), pair("x", 2, "aab"), pair("x", 3, "a"), pair("y", 4, "aa"), pair("y", 5, "ab")}
	pairs[1].a[1].slices[0] = record.Lost // of seven there are six
	seven := func(first float64) []float64 {
		s := make([]float64, 7)
		for i := range s {
			s[i] = first + float64(i)
		}
		return s
	}
	for i, want := range [][][2][]float64{
		{
			{seven(1000), seven(1120)}, {seven(1010), seven(1140)}, // a in blocks 0 and 2, b in 1 and 4; block 3 waits
			{seven(1030), seven(2100)}, {seven(2010)[1:], seven(3100)}, // for trial 2, and that for trial 3
			{seven(4000), seven(4110)}, // another file: b of trial 2 waits in vain
		},
		{{{1000, 1010, 1020, 1030, 1040}, {2100, 2110, 2120}}, {{4000, 4010}, {5100, 5110}}},
		{
			{slices.Concat(seven(1000), seven(1010), seven(1020), seven(1030), seven(1040)), slices.Concat(seven(1100), seven(1110), seven(1120), seven(1130), seven(1140))},
			{slices.Concat(seven(2000), seven(2010)[1:], seven(2020)), slices.Concat(seven(2100), seven(2110), seven(2120))},
			{seven(3000), seven(3100)},
			{slices.Concat(seven(4000), seven(4010)), slices.Concat(seven(4100), seven(4110))},
			{slices.Concat(seven(5000), seven(5010)), slices.Concat(seven(5100), seven(5110))},
		},
		{
			{{1000, 1010, 1020, 1030, 1040}, {1100, 1110, 1120, 1130, 1140}},
			{{2000, 2010, 2020}, {2100, 2110, 2120}},
			{{3000}, {3100}},
			{{4000, 4010}, {4100, 4110}},
			{{5000, 5010}, {5100, 5110}},
		},
	} {
		a, b := habituals[i].take(pairs)
		var got [][2][]float64
		for j := range a {
			got = append(got, [2][]float64{a[j], b[j]})
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", habituals[i].name, got, want)
		}
	}
}

// Of files of benchrun ab each counts as one A/A comparison, with the verdict that
// the report has, and the control of the old version is no comparison of its own.
func TestCalibrationOfVersions(t *testing.T) {
	w := world{process: 0.01, slice: 0.05, drift: 0.01}
	var alike []string
	for seed := range uint64(8) {
		alike = append(alike, w.versionsText(seed, 1e-9))
	}
	c := ofTexts(t, Options{}, alike...)
	if c.Trials != 8 || c.Alarms.N != 8 || c.Wrong.N != 8 || c.Blocks != 10 || c.Rounds != 50 {
		t.Errorf("8 reports of 10 blocks of 50 rounds: %d trials of %d blocks of %d rounds, %d comparisons, %d verdicts", c.Trials, c.Blocks, c.Rounds, c.Alarms.N, c.Wrong.N)
	}
	if c.Wrong.K != 0 || len(c.Effects) != 0 || len(c.Problems) != 0 {
		t.Errorf("%d called different; effects %v; problems %q", c.Wrong.K, c.Effects, c.Problems)
	}
	if c.Ways[0].Driven != "session" || c.Benchmarks[0].Pkg != "example.com/m" {
		t.Errorf("driven by %q, of package %q", c.Ways[0].Driven, c.Benchmarks[0].Pkg)
	}
	c = ofTexts(t, Options{}, append(alike, w.versionsText(9, 0.3))...)
	if c.Wrong.K != 1 || c.Alarms.K == 0 {
		t.Errorf("of a report of a version that is 30 %% slower: %d called different, %d alarms", c.Wrong.K, c.Alarms.K)
	}
	path := recordtest.Write(t, "ab.bench", alike[0])
	if _, err := Read([]string{path}, Options{Rounds: 10}); err == nil || !strings.Contains(err.Error(), "benchrun ab") {
		t.Errorf("fewer rounds of a report: %v", err)
	}
}
