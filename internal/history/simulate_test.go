package history

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/stats"
)

var update = flag.Bool("update", false, "rewrite the simulated tables of testdata/simulated.txt, which takes as long as at night; look at the difference before you commit it")

// The simulations here hold what docs/history.md promises; testdata/simulated.txt has their tables. Their
// noise is real: it is what programs showed against themselves on one machine. The points
// of a series are like the trials of a calibration, each of as many blocks as a run has.
const (
	// shapeFile has 120 trials of three programs: how points are distributed.
	shapeFile = "calibration-20261121-230607-e0059110.bench"
	// levelFile has eleven programs, as they are measured today: how much points scatter.
	levelFile    = "calibration-20261122-175114-4007e9c5.bench"
	noiseMachine = "amd-epyc-2c-linux-amd64"

	runBlocks = 12 // of a point
)

// A program is what it showed against itself: the logarithms of its blocks' ratios, by trial.
type program struct {
	name   string
	trials [][]float64
}

// against reads what programs showed against themselves.
func against(t *testing.T, file string) (programs []program) {
	t.Helper()
	path := filepath.Join("../../results", noiseMachine, file)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type at struct{ name, trial, block string }
	pairs := make(map[at]*[2]float64)
	var order []at
	for _, rec := range record.Read(path, data).Results {
		r := rec.Result
		if slow := r.GetConfig("slow"); slow != "" && slow != "0" {
			continue
		}
		k := at{string(r.Name), r.GetConfig("trial"), r.GetConfig("block")}
		if pairs[k] == nil {
			pairs[k], order = new([2]float64), append(order, k)
		}
		copied, _ := strconv.Atoi(r.GetConfig("copy"))
		pairs[k][copied-1], _ = r.Value("sec/op")
	}
	index, trials := make(map[string]int), make(map[[2]string]int)
	for _, k := range order {
		p := pairs[k]
		if p[0] <= 0 || p[1] <= 0 {
			continue
		}
		if _, ok := index[k.name]; !ok {
			index[k.name] = len(programs)
			programs = append(programs, program{name: k.name})
		}
		of := &programs[index[k.name]]
		if _, ok := trials[[2]string{k.name, k.trial}]; !ok {
			trials[[2]string{k.name, k.trial}] = len(of.trials)
			of.trials = append(of.trials, nil)
		}
		i := trials[[2]string{k.name, k.trial}]
		of.trials[i] = append(of.trials[i], math.Log(p[1]/p[0]))
	}
	return programs
}

// standardized are values less their mean, in units of their standard deviation.
func standardized(values []float64) (z []float64, sd float64) {
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		sd += (v - mean) * (v - mean) / float64(len(values)-1)
	}
	sd = math.Sqrt(sd)
	for _, v := range values {
		z = append(z, (v-mean)/sd)
	}
	return z, sd
}

// realNoise is what the simulations draw from: standardized points and blocks of programs
// against themselves, and how much a point of each of today's programs scatters.
type realNoise struct {
	points, blocks []float64
	levels         []level
}

type level struct {
	name string
	sd   float64 // of a point
}

func readNoise(t *testing.T) (n realNoise) {
	for _, p := range against(t, shapeFile) {
		var means, blocks []float64
		for _, trial := range p.trials {
			mean := 0.0
			for _, v := range trial {
				mean += v / float64(len(trial))
			}
			means, blocks = append(means, mean), append(blocks, trial...)
		}
		z, _ := standardized(means)
		n.points = append(n.points, z...)
		z, _ = standardized(blocks)
		n.blocks = append(n.blocks, z...)
	}
	for _, p := range against(t, levelFile) {
		_, sd := standardized(slices.Concat(p.trials...))
		n.levels = append(n.levels, level{p.name, sd / math.Sqrt(runBlocks)})
	}
	slices.SortFunc(n.levels, func(a, b level) int { return int(math.Copysign(1, a.sd-b.sd)) })
	return n
}

// A world makes the points of a series without a step, in units of their spread.
type world struct {
	name string
	draw func(n realNoise, r *rand.Rand, points int) []float64
}

// real draws points as programs showed them, each by itself.
func independent(n realNoise, r *rand.Rand, points int) []float64 {
	z := make([]float64, points)
	for i := range z {
		z[i] = n.points[r.IntN(len(n.points))]
	}
	return z
}

// alike draws points that resemble the one before.
func alike(rho float64) func(realNoise, *rand.Rand, int) []float64 {
	return func(n realNoise, r *rand.Rand, points int) []float64 {
		z := independent(n, r, points)
		for i := 1; i < points; i++ {
			z[i] = rho*z[i-1] + math.Sqrt(1-rho*rho)*z[i]
		}
		return z
	}
}

// drifting draws points of a machine that drifts by so many spreads from first to last.
func drifting(by float64) func(realNoise, *rand.Rand, int) []float64 {
	return func(n realNoise, r *rand.Rand, points int) []float64 {
		z := independent(n, r, points)
		for i := range z {
			z[i] += by * float64(i) / float64(points-1)
		}
		return z
	}
}

func worlds() []world {
	return []world{
		{"as measured", independent},
		{"heavy tails: *t* of two degrees of freedom", func(_ realNoise, r *rand.Rand, points int) []float64 {
			z := make([]float64, points)
			for i := range z {
				z[i] = r.NormFloat64() / math.Sqrt(r.ExpFloat64())
			}
			return z
		}},
		{"one point in 20 is 30 spreads off", func(n realNoise, r *rand.Rand, points int) []float64 {
			z := independent(n, r, points)
			for i := range z {
				if r.IntN(20) == 0 {
					z[i] += 30
				}
			}
			return z
		}},
		{"each point like the one before, ρ = 0.2", alike(0.2)},
		{"each point like the one before, ρ = 0.5", alike(0.5)},
		{"each point like the one before, ρ = 0.8", alike(0.8)},
		{"the machine drifts by 1 spread", drifting(1)},
		{"the machine drifts by 4 spreads", drifting(4)},
	}
}

// proof draws what a comparison says at level of two versions of which the new one takes
// size longer, as a logarithm, if blocks have this spread. It is the engine's own
// inference, of blocks as programs showed them.
func (n realNoise) proof(r *rand.Rand, size, spread, level float64) *Proof {
	d, layouts := make([]float64, ProofBlocks), make([]string, ProofBlocks)
	for i := range d {
		d[i], layouts[i] = size+spread*n.blocks[r.IntN(len(n.blocks))], strconv.Itoa(i%ProofLayouts+1)
	}
	s := stats.Mean(d, layouts, level)
	answer, _ := stats.Rule{Alpha: level, Margin: math.Log1p(compare.DefaultMargin)}.Decide(stats.Evidence{Lo: s.Lo, Hi: s.Hi, Est: s.Est, Adjusted: s.P})
	words := map[stats.Answer]compare.Verdict{stats.More: compare.Slower, stats.Less: compare.Faster, stats.Same: compare.Same}
	p := &Proof{Ratio: math.Exp(s.Est), Lo: math.Exp(s.Lo), Hi: math.Exp(s.Hi), Verdict: words[answer], Level: level}
	if p.Verdict == "" {
		p.Verdict = compare.Inconclusive
	}
	return p
}

// historyOf is a history of series with these points, one run and commit for each.
func historyOf(series ...[]float64) *History {
	h := &History{Alpha: compare.DefaultAlpha}
	for i := range series[0] {
		h.Runs = append(h.Runs, Run{Machine: "box", Commit: "c" + strconv.Itoa(i), Started: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i)})
	}
	for k, d := range series {
		s := Series{Machine: "box", Pkg: "m", Name: "X/n=" + strconv.Itoa(k), Reference: "ref", Pieces: []Piece{{End: len(d)}}}
		for i, v := range d {
			s.Points = append(s.Points, Point{Run: i, Log: v, SE: math.NaN()})
		}
		h.Series = append(h.Series, s)
	}
	return h
}

// scaled is z times sd.
func scaled(z []float64, sd float64) []float64 {
	for i := range z {
		z[i] *= sd
	}
	return z
}

// flat counts how many of so many histories of one series of 50 points, none of which has a
// step, are suspected of one, and of how many it is proven.
func (n realNoise) flat(w world, histories int) (suspected, proven int) {
	r := rand.New(rand.NewPCG(50, uint64(len(w.name))))
	sd := n.levels[len(n.levels)/2].sd
	for range histories {
		h := historyOf(scaled(w.draw(n, r, 50), sd))
		h.suspect()
		level, _ := h.ProofLevel("box", time.Time{})
		steps := h.Steps()
		suspected += min(1, len(steps))
		found := 0
		for _, s := range steps {
			s.Step.take(n.proof(r, 0, sd*math.Sqrt(runBlocks), level))
			if s.Step.State == Proven {
				found = 1
			}
		}
		proven += found
	}
	return suspected, proven
}

// stepsFound counts how many of so many steps of 2 % with ten points on either side are
// suspected in a history of one series, and in one of a hundred; and of the former how many
// are proven.
func (n realNoise) stepsFound(l level, histories int) (alone, among, proven int) {
	r := rand.New(rand.NewPCG(20, math.Float64bits(l.sd)))
	size := math.Log1p(0.02)
	for range histories {
		d := scaled(independent(n, r, 20), l.sd)
		for i := 10; i < 20; i++ {
			d[i] += size
		}
		h := historyOf(d)
		h.suspect()
		if steps := h.Steps(); len(steps) > 0 && steps[0].Step.Log > 0 {
			alone++
			if steps[0].Step.P <= h.Alpha/100 {
				among++
			}
			level, _ := h.ProofLevel("box", time.Time{})
			steps[0].Step.take(n.proof(r, size, l.sd*math.Sqrt(runBlocks), level))
			if steps[0].Step.State == Proven {
				proven++
			}
		}
	}
	return alone, among, proven
}

// watched counts the comparisons that years of so many commits and series without a step ask
// for, and the steps that they prove, if each commit is followed by a look. As in life, what a
// comparison has said of two commits is not asked again.
func (n realNoise) watched(w world, years, commits, series int) (asked, proven, full int) {
	r := rand.New(rand.NewPCG(uint64(years), uint64(len(w.name))))
	sd := n.levels[len(n.levels)/2].sd
	for range years {
		var all [][]float64
		for range series {
			all = append(all, scaled(w.draw(n, r, commits), sd))
		}
		a, p, f := n.year(r, all, sd)
		asked, proven, full = asked+a, proven+p, full+f
	}
	return asked, proven, full
}

// year looks after each commit of a year. full is 1 if all comparisons of the year were
// used.
func (n realNoise) year(r *rand.Rand, all [][]float64, sd float64) (asked, proven, full int) {
	type comparison struct {
		series   int
		old, now string
		proof    *Proof
	}
	var kept []comparison
	for looked := LeastPoints(compare.DefaultAlpha); looked <= len(all[0]); looked++ {
		var now [][]float64
		for _, d := range all {
			now = append(now, d[:looked])
		}
		h := historyOf(now...)
		h.suspect()
		for _, s := range h.Steps() {
			k := slices.IndexFunc(h.Series, func(o Series) bool { return o.Name == s.Series.Name })
			for _, c := range kept {
				if c.series == k && h.spans(s, c.old, c.now) {
					s.Step.take(c.proof)
				}
			}
			if s.Step.State != Suspected || s.Step.Unprovable != "" {
				continue
			}
			if asked == proofsPerYear {
				return asked, proven, 1
			}
			asked++
			proof := n.proof(r, 0, sd*math.Sqrt(runBlocks), h.Alpha/proofsPerYear)
			kept = append(kept, comparison{k, s.Step.Old, s.Step.New, proof})
			if s.Step.take(proof); s.Step.State == Proven {
				proven++
			}
		}
	}
	return asked, proven, 0
}

// simulatedTables make the tables of testdata/simulated.txt, by their marks.
var simulatedTables = map[string]func(realNoise) string{"flat": flatTable, "steps": stepTable, "watch": watchTable}

func flatTable(n realNoise) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| Series of 50 points without a step | how many | suspected | proven |\n|---|---|---|---|\n")
	for i, w := range worlds() {
		histories := 1000
		if i > 0 {
			histories = 200
		}
		suspected, proven := n.flat(w, histories)
		fmt.Fprintf(&b, "| %s | %d | %d | %d |\n", w.name, histories, suspected, proven)
	}
	return b.String()
}

func stepTable(n realNoise) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| Program | spread of a point, %% | suspected, %% | among 100 series, %% | suspected and proven, %% |\n|---|---|---|---|---|\n")
	for _, l := range n.levels {
		const histories = 200
		alone, among, proven := n.stepsFound(l, histories)
		part := func(k int) string { return strconv.FormatFloat(100*float64(k)/histories, 'f', 1, 64) }
		fmt.Fprintf(&b, "| `%s` | %.2f | %s | %s | %s |\n", l.name, 100*l.sd, part(alone), part(among), part(proven))
	}
	return b.String()
}

func watchTable(n realNoise) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| Years without a step | years | commits a year | series | comparisons asked for, a year | false proven alarms | years that used all %d |\n|---|---|---|---|---|---|---|\n", proofsPerYear)
	for i, w := range worlds() {
		years, commits, series := 5, 100, 3
		if i > 1 { // which take long, because much is suspected
			years, commits, series = 1, 60, 2
		}
		asked, proven, full := n.watched(w, years, commits, series)
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %.1f | %d | %d |\n", w.name, years, commits, series, float64(asked)/float64(years), proven, full)
	}
	return b.String()
}

const document = "testdata/simulated.txt"

// TestTables: the tables of the document are what the code does. It takes minutes, so it is
// for the night; TestPromises is the short form.
func TestTables(t *testing.T) {
	if os.Getenv("DYNO_NIGHTLY") == "" && !*update {
		t.Skip("the simulations in full are for the night: DYNO_NIGHTLY=1")
	}
	n := readNoise(t)
	for name, table := range simulatedTables {
		t.Run(name, func(t *testing.T) { checkTable(t, name, table(n)) })
	}
	t.Run("quarter", func(t *testing.T) { checkTable(t, "quarter", quarterTable(t, 20)) })
}

// checkTable holds a table of the document to what it should be, or writes it.
func checkTable(t *testing.T, name, table string) {
	data, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- simulated: begin "+name+" -->\n", "<!-- simulated: end "+name+" -->"
	before, rest, ok := strings.Cut(string(data), begin)
	was, after, ok2 := strings.Cut(rest, end)
	switch {
	case !ok || !ok2:
		t.Errorf("%s has no marks of the table %s", document, name)
	case was == table:
	case !*update:
		t.Errorf("the table %s is not what the code does; -update writes it again. Now it is\n%s", name, table)
	default:
		if err := os.WriteFile(document, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPromises is the short form of the simulations, each held to what is promised.
func TestPromises(t *testing.T) {
	n := readNoise(t)
	if len(n.points) != 360 || len(n.levels) != 11 {
		t.Fatalf("%d points of noise, %d levels", len(n.points), len(n.levels))
	}
	t.Run("flat", func(t *testing.T) {
		for i, w := range worlds() {
			histories := 4 // where most are suspected, which takes time
			if i < 2 {
				histories = 40
			}
			suspected, proven := n.flat(w, histories)
			t.Logf("%s: %d of %d suspected, %d proven", w.name, suspected, histories, proven)
			if proven > 0 {
				t.Errorf("%s: %d steps are proven that are not there", w.name, proven)
			}
			if independent := !strings.Contains(w.name, "before") && !strings.Contains(w.name, "drifts"); independent && suspected > 8 { // 2, and four standard deviations more
				t.Errorf("%s: %d of %d are suspected", w.name, suspected, histories)
			}
		}
	})
	t.Run("steps", func(t *testing.T) {
		const histories = 20
		enough := 0
		for _, l := range n.levels {
			alone, _, proven := n.stepsFound(l, histories)
			t.Logf("%s, spread %.2f %%: %d suspected, %d proven of %d", l.name, 100*l.sd, alone, proven, histories)
			if stats.DetectableStep(10, 10, l.sd, compare.DefaultAlpha, compare.DefaultAlpha) > math.Log1p(0.02) {
				continue
			}
			enough++
			if proven < histories*7/10 {
				t.Errorf("%s: a step of 2 %% with ten points a side is suspected in %d and proven in %d of %d", l.name, alone, proven, histories)
			}
		}
		if enough < 8 {
			t.Errorf("of %d programs a step of 2 %% is detectable in %d only", len(n.levels), enough)
		}
	})
	t.Run("watch", func(t *testing.T) {
		for _, w := range worlds()[:1] {
			asked, proven, full := n.watched(w, 2, 60, 4)
			t.Logf("%s: %d asked for, %d proven, %d of 2 years full", w.name, asked, proven, full)
			if proven > 0 || full > 0 || asked > 20 {
				t.Errorf("%s: %d asked for, %d proven, %d of 2 years full", w.name, asked, proven, full)
			}
		}
	})
}
