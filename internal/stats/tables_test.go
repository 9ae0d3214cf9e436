package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/quotetest"
)

// The simulations here decide what this package does, and testdata/simulated.txt has their
// tables. They draw from fixed seeds, so the tables are the code's own: a change of
// the code that changes them fails TestTables until -update writes them again; as long as no
// file of the package changes they are made by night only. Each
// figure that is promised is held to its bound as well, plus four standard
// deviations of what is counted.

const (
	small   = 0.05 / 20 // the level of one of twenty comparisons by Holm's correction
	members = 20        // comparisons of a report
)

// A noise draws the n blocks of a comparison; mean is their true mean.
type noise struct {
	name string
	mean float64
	draw func(rng *rand.Rand, n int) []float64
}

// each makes a noise of independent blocks.
func each(name string, mean float64, draw func(rng *rand.Rand) float64) noise {
	return noise{name, mean, func(rng *rand.Rand, n int) []float64 {
		d := make([]float64, n)
		for i := range d {
			d[i] = draw(rng)
		}
		return d
	}}
}

// chained is normal noise of which each block resembles the one before.
func chained(corr float64) noise {
	return noise{fmt.Sprintf("each block like the one before, ρ = %v", corr), 0, func(rng *rand.Rand, n int) []float64 {
		d := make([]float64, n)
		for i := range d {
			d[i] = rng.NormFloat64()
			if i > 0 {
				d[i] = corr*d[i-1] + math.Sqrt(1-corr*corr)*d[i]
			}
		}
		return d
	}}
}

// slicesHit is the logarithm of the mean of a hundred slices, each with 5 % noise,
// of which this part takes 40 % longer.
func slicesHit(rng *rand.Rand, part float64) float64 {
	hit := 0
	for range 100 {
		hit += count(rng.Float64() < part)
	}
	return math.Log(1 + 0.4*float64(hit)/100 + 0.005*rng.NormFloat64())
}

// studentT2 draws from Student's distribution of two degrees of freedom.
func studentT2(rng *rand.Rand) float64 { return rng.NormFloat64() / math.Sqrt(rng.ExpFloat64()) }

// rare is blocks of which one in so many takes 40 % longer, and the rest 0.5 % less.
func rare(in int) noise {
	part := 1 / float64(in)
	return each(fmt.Sprintf("one block in %d takes 40 %% longer, the rest 0.5 %% less", in), part*math.Log(1.4)-0.005*(1-part), func(rng *rand.Rand) float64 {
		d := 0.01 * rng.NormFloat64()
		if rng.Float64() < part {
			return d + math.Log(1.4)
		}
		return d - 0.005
	})
}

func noises() []noise {
	normal := each("normal", 0, func(rng *rand.Rand) float64 { return rng.NormFloat64() })
	side := func(rng *rand.Rand) float64 { return 0.05*float64(rng.IntN(2)) + 0.004*rng.NormFloat64() }
	return []noise{
		normal,
		each("*t*₂", 0, studentT2),
		each("Cauchy", 0, func(rng *rand.Rand) float64 { return rng.NormFloat64() / rng.NormFloat64() }),
		each("processes slow or fast by 5 %", 0, func(rng *rand.Rand) float64 { return side(rng) - side(rng) }),
		{"drift that both sides have", 0, func(rng *rand.Rand, n int) []float64 {
			d := make([]float64, n)
			for i := range d {
				drift := 5 * float64(i)
				d[i] = (drift + rng.NormFloat64()) - (drift + rng.NormFloat64())
			}
			return d
		}},
		{"drift of the difference, ±1.5 spreads", 0, func(rng *rand.Rand, n int) []float64 {
			d := normal.draw(rng, n)
			for i := range d {
				d[i] += 3 * (float64(i)/float64(n-1) - 0.5)
			}
			return d
		}},
		chained(0.1), chained(0.2), chained(0.3), chained(0.5),
		each("5 % of slices take 40 % longer, both sides", 0, func(rng *rand.Rand) float64 { return slicesHit(rng, 0.05) - slicesHit(rng, 0.05) }),
		each("5 % of slices take 40 % longer, one side", hitMean, func(rng *rand.Rand) float64 { return slicesHit(rng, 0.05) - slicesHit(rng, 0) }),
		rare(8), rare(12),
	}
}

// hitMean is the mean of slicesHit(0.05): the logarithm's expectation over the
// binomial number of slices that are hit.
var hitMean = func() float64 {
	mean, p := 0.0, math.Pow(0.95, 100)
	for k := range 101 {
		mean += p * math.Log(1+0.4*float64(k)/100)
		p *= 0.05 / 0.95 * float64(100-k) / float64(k+1)
	}
	return mean
}()

// A candidate is a test of whether the mean of blocks is zero.
type candidate struct {
	name string
	p    func(d []float64) float64
}

// candidates are the tests that were considered. The last is the one chosen.
func candidates() []candidate {
	plain := func(d []float64) float64 {
		mean, sd := moments(d)
		return studentTail(math.Abs(mean)/sd*math.Sqrt(float64(len(d))), len(d)-1)
	}
	rank := func(d []float64) float64 { return SignedRank(d, 0.05).P }
	return []candidate{
		{"signed rank", rank},
		{"signs of the mean", signFlip},
		{"*t*", plain},
		{"*t* and signed rank", func(d []float64) float64 { return max(plain(d), rank(d)) }},
		{"*t* of pairs", func(d []float64) float64 {
			var pairs []float64
			for pair := range slices.Chunk(d, 2) {
				pairs = append(pairs, (pair[0]+pair[1])/2)
			}
			return plain(pairs)
		}},
		{"cosines", cosines},
		{"*s*²(1 + 2ρ̂)", func(d []float64) float64 {
			var l lag
			l.add(d)
			mean, sd := moments(d)
			corr := min(max(0, l.sum/(l.weight+1)), mostCorr)
			return studentTail(math.Abs(mean)/sd*math.Sqrt(float64(len(d))/(1+2*corr)), len(d)-1)
		}},
		{"ours", func(d []float64) float64 { return Mean(d, nil, 0.05).P }},
	}
}

// signFlip is the permutation test of the mean: of all signs that the values may
// have, the part whose sum is at least as far from zero.
func signFlip(d []float64) float64 {
	sum := 0.0
	for _, v := range d {
		sum += v
	}
	far, extreme := math.Abs(sum)*(1-1e-12), 0
	flipped := slices.Clone(d)
	for i := 1; i <= 1<<(len(d)-1); i++ { // Gray code, the last sign stays
		extreme += count(math.Abs(sum) >= far)
		bit := 0
		for i>>bit&1 == 0 {
			bit++
		}
		if bit < len(d)-1 {
			sum -= 2 * flipped[bit]
			flipped[bit] = -flipped[bit]
		}
	}
	return float64(extreme) / math.Ldexp(1, len(d)-1)
}

// cosines is the test whose variance is that of the slowest half of the frequencies:
// exact for independent normal values. E. Lazarus, D. J. Lewis, J. H. Stock, M. W.
// Watson, HAR inference: recommendations for practice, JBES 36 (2018).
func cosines(d []float64) float64 {
	n, power := float64(len(d)), 0.0
	for k := 1; k <= len(d)/2; k++ {
		c := 0.0
		for i, v := range d {
			c += v * math.Cos(math.Pi*float64(k)*(float64(i)+0.5)/n)
		}
		power += 2 / n * c * c
	}
	df := len(d) / 2
	mean, _ := moments(d)
	return studentTail(math.Abs(mean)*math.Sqrt(n*float64(df)/power), df)
}

// A markdown table.
type grid struct {
	name string
	rows [][]string
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

func (g *grid) String() string {
	var b strings.Builder
	for i, r := range g.rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
		if i == 0 {
			b.WriteString(strings.Repeat("|---", len(r)) + "|\n")
		}
	}
	return b.String()
}

// percent writes hits of rounds as a percentage.
func percent(hits, rounds int) string { return fmt.Sprintf("%.1f", 100*float64(hits)/float64(rounds)) }

// fine is percent with the digits that small levels need.
func fine(hits, rounds int) string { return fmt.Sprintf("%.2f", 100*float64(hits)/float64(rounds)) }

// atMost fails the test if a rate that is promised is exceeded.
func atMost(t *testing.T, what string, hits, rounds int, level float64) {
	t.Helper()
	if rate := float64(hits) / float64(rounds); rate > bound(level, rounds) {
		t.Errorf("%s: %.4f, promised is at most %v", what, rate, level)
	}
}

// atLeast fails the test if a simulation does not show what it is there to show.
func atLeast(t *testing.T, what string, hits, rounds int, level float64) {
	t.Helper()
	if rate := float64(hits) / float64(rounds); rate < level {
		t.Errorf("%s: %.4f, less than %v: this is no trial", what, rate, level)
	}
}

// report draws a report of comparisons of this noise, shifted so that their true
// mean is effect.
func (s noise) report(rng *rand.Rand, n, size int, effect float64) Family {
	f := make(Family, size)
	for i := range f {
		f[i].D = s.draw(rng, n)
		for k := range f[i].D {
			f[i].D[k] += effect - s.mean
		}
	}
	return f
}

// byNoise is how often each candidate calls twelve blocks different from their own
// true mean.
func byNoise(t *testing.T) grid {
	const n, reports = 12, 500
	tests := candidates()
	g := grid{name: "noise"}
	head := []string{"Noise of twelve blocks"}
	for _, c := range tests {
		head = append(head, c.name)
	}
	g.add(append(head, "ours, report of 20")...)
	for i, s := range noises() {
		rng := rand.New(rand.NewPCG(31, uint64(i)))
		hits, pooled := make([]int, len(tests)), 0
		for range reports {
			f := s.report(rng, n, members, 0)
			for k, b := range f {
				for c, test := range tests {
					hits[c] += count(test.p(b.D) <= 0.05)
				}
				pooled += count(f.Mean(k, Looks{}, 0.05).P <= 0.05)
			}
		}
		const rounds = reports * members
		row := []string{s.name}
		for _, h := range hits {
			row = append(row, percent(h, rounds))
		}
		g.add(append(row, percent(pooled, rounds))...)

		alone, plain := hits[len(hits)-1], hits[2]
		switch {
		case strings.Contains(s.name, "one block in"), strings.HasSuffix(s.name, "ρ = 0.3"), strings.HasSuffix(s.name, "ρ = 0.5"):
			// no promise: see method.md
		case strings.HasSuffix(s.name, "ρ = 0.2"):
			atMost(t, s.name, alone, rounds, 0.055)
			atMost(t, s.name+", report", pooled, rounds, 0.055)
			atLeast(t, s.name+", t", plain, rounds, 0.08)
		default:
			atMost(t, s.name, alone, rounds, 0.05)
			atMost(t, s.name+", report", pooled, rounds, 0.05)
		}
	}
	return g
}

// byPower is how often each candidate finds shifts of twelve blocks, and how often the
// best test that holds 5.5 % at a correlation of 0.2 does.
func byPower(t *testing.T) grid {
	const n, reports = 12, 250
	const rounds = reports * members
	tests := candidates()
	g := grid{name: "power"}
	head := []string{"Shift of twelve blocks"}
	for _, c := range tests {
		head = append(head, c.name)
	}
	g.add(append(head, "ours, report of 20", "at most")...)
	for i, c := range []struct {
		name   string
		of     noise
		effect float64
	}{
		{"normal, 0.75 spreads", chained(0), 0.75},
		{"normal, 1 spread", chained(0), 1},
		{"normal, 1.25 spreads", chained(0), 1.25},
		{"*t*₂, twice its scale", each("", 0, studentT2), 2},
	} {
		rng := rand.New(rand.NewPCG(35, uint64(i)))
		hits, pooled := make([]int, len(tests)), 0
		for range reports {
			f := c.of.report(rng, n, members, c.effect)
			for k, b := range f {
				for m, test := range tests {
					hits[m] += count(test.p(b.D) <= 0.05)
				}
				pooled += count(f.Mean(k, Looks{}, 0.05).P <= 0.05)
			}
		}
		row := []string{c.name}
		for _, h := range hits {
			row = append(row, percent(h, rounds))
		}
		most := "–" // of normal noise only
		if alone, plain := hits[len(hits)-1], hits[2]; i < 3 {
			bound := best(rng, n, c.effect, 0.2, 0.055)
			most = percent(bound, bestRounds)
			atLeast(t, c.name+": part of the best test's power", alone, rounds, 0.95*float64(bound)/bestRounds)
			atLeast(t, c.name+": part of Student's power in a report", pooled, plain, 0.92)
		}
		g.add(append(row, percent(pooled, rounds), most)...)
	}
	return g
}

const bestRounds = 20000

// best returns how many of bestRounds shifts are found by the best test of a report's
// one comparison, which has n normal blocks: of all that find something at this level
// if there is nothing but a correlation corr, the one that finds most if there is no
// correlation and this effect, to either side, whatever the spread. It is Neyman and
// Pearson's: the likelihood ratio of what does not depend on spread and sign.
func best(rng *rand.Rand, n int, effect, corr, level float64) int {
	ratio := func(d []float64) float64 {
		sum, squares, inner, products := 0.0, 0.0, 0.0, 0.0
		for i, v := range d {
			sum += v
			squares += v * v
			if i > 0 {
				products += v * d[i-1]
			}
			if i > 0 && i < len(d)-1 {
				inner += v * v
			}
		}
		chained := (squares + corr*corr*inner - 2*corr*products) / (1 - corr*corr)
		// The chance of this direction, over all lengths that the values may have.
		along, all := effect*sum/math.Sqrt(squares), 0.0
		for r := 0.05; r < 14; r += 0.1 {
			all += math.Exp(float64(n-1)*math.Log(r)-r*r/2) * math.Cosh(along*r)
		}
		return math.Log(all) + float64(n)/2*math.Log(chained/squares)
	}
	draw := func(corr, effect float64) []float64 {
		out := make([]float64, bestRounds)
		for i := range out {
			out[i] = ratio(chained(corr).report(rng, n, 1, effect)[0].D)
		}
		slices.Sort(out)
		return out
	}
	null, found := draw(corr, 0), draw(0, effect)
	above, _ := slices.BinarySearch(found, null[int((1-level)*bestRounds)])
	return bestRounds - above
}

// bySize is what Student's test and ours do with few and many blocks.
func bySize(t *testing.T) grid {
	g := grid{name: "size"}
	g.add("Blocks", "ρ = 0: *t*", "alone", "report of 20", "ρ = 0.2: *t*", "alone", "report of 20",
		"α/20, ρ = 0.2: *t*", "alone", "report of 20", "power: *t*", "alone", "report of 20", "power, α/20: *t*", "alone", "report of 20")
	for _, n := range []int{6, 8, 10, 12, 16, 20, 24, 48} {
		rng := rand.New(rand.NewPCG(32, uint64(n)))
		row := []string{fmt.Sprint(n)}
		// Where is the shift that Student's test finds with Power?
		at := func(level float64) float64 { return Shift{Spread: 1}.Detectable(n, level) }
		for _, c := range []struct {
			corr, level, effect float64
		}{{0, 0.05, 0}, {0.2, 0.05, 0}, {0.2, small, 0}, {0, 0.05, at(0.05)}, {0, small, at(small)}} {
			reports := 600
			if c.effect > 0 {
				reports = 250
			}
			rounds := reports * members
			plain, alone, pooled := 0, 0, 0
			for range reports {
				f := chained(c.corr).report(rng, n, members, c.effect)
				for k, b := range f {
					mean, sd := moments(b.D)
					plain += count(studentTail(math.Abs(mean)/sd*math.Sqrt(float64(n)), n-1) <= c.level)
					alone += count(Mean(b.D, nil, c.level).P <= c.level)
					pooled += count(f.Mean(k, Looks{}, c.level).P <= c.level)
				}
			}
			write := percent
			if c.level == small && c.effect == 0 {
				write = fine
			}
			row = append(row, write(plain, rounds), write(alone, rounds), write(pooled, rounds))
			what := fmt.Sprintf("%d blocks, correlation %v, level %v", n, c.corr, c.level)
			switch {
			case c.effect > 0:
				atLeast(t, what+": power", alone, rounds, 0.7)
				atLeast(t, what+": power in a report", pooled, rounds, 0.8)
			case c.corr == 0:
				atMost(t, what, alone, rounds, 0.05)
				atMost(t, what+", report", pooled, rounds, 0.05)
			case c.level == small: // twice the level at most, where Student's has up to five times
				atMost(t, what, alone, rounds, 2*small)
				atMost(t, what+", report", pooled, rounds, 2*small)
			default:
				atMost(t, what, alone, rounds, 0.055)
				atMost(t, what+", report", pooled, rounds, 0.055)
				atLeast(t, what+", t", plain, rounds, 0.08)
			}
		}
		g.add(row...)
	}
	return g
}

// byLayouts is how often blocks of twelve layouts are called different, if each
// layout shifts all of its blocks.
func byLayouts(t *testing.T) grid {
	const rounds, layouts = 8000, 12
	g := grid{name: "layouts"}
	g.add("Blocks of 12 layouts", "blocks as units", "layouts as units", "as many layouts as blocks")
	for _, n := range []int{12, 16, 24, 48, 96} {
		rng := rand.New(rand.NewPCG(33, uint64(n)))
		blocks, units, many := 0, 0, 0
		for range rounds {
			b := Blocks{D: make([]float64, n), Layout: make([]string, n)}
			fresh := make([]float64, n)
			var effect [layouts]float64
			for i := range effect {
				effect[i] = 0.55 * rng.NormFloat64()
			}
			for i := range b.D {
				b.Layout[i] = fmt.Sprint(i % layouts)
				process := 0.5 * rng.NormFloat64()
				b.D[i] = effect[i%layouts] + process
				fresh[i] = 0.55*rng.NormFloat64() + process
			}
			blocks += count(Mean(b.D, nil, 0.05).P <= 0.05)
			units += count(Mean(b.D, b.Layout, 0.05).P <= 0.05)
			many += count(Mean(fresh, nil, 0.05).P <= 0.05)
		}
		atMost(t, fmt.Sprintf("%d blocks, layouts as units", n), units, rounds, 0.05)
		atMost(t, fmt.Sprintf("%d blocks of as many layouts", n), many, rounds, 0.05)
		if n == 96 {
			atLeast(t, "96 blocks, blocks as units", blocks, rounds, 0.2)
		}
		g.add(fmt.Sprint(n), percent(blocks, rounds), percent(units, rounds), percent(many, rounds))
	}
	return g
}

// A looked is what came of comparisons: how many blocks they took, how many were claimed to differ or
// to be the same, and how many intervals have the truth.
type looked struct{ blocks, claimed, same, covered int }

// look measures the first comparison of f until a look has its answer, as compare.Decided has it: its
// interval lies within the margin, or it is proven to differ, and looks as if that matters.
func (l *looked) look(f Family, looks Looks, margin, truth float64) {
	for _, at := range looks.At {
		part := f.first(at)
		s := part.Mean(0, looks, 0.05)
		same := s.Lo > -margin && s.Hi < margin
		claimed := !same && part.holm(looks)[0] <= 0.05
		if at < looks.At[len(looks.At)-1] && !same && (!claimed || math.Abs(s.Est) < margin) {
			continue
		}
		l.blocks += at
		l.claimed += count(claimed)
		l.same += count(same)
		l.covered += count(s.Lo <= truth && truth <= s.Hi)
		return
	}
}

// byLooks is what looking early costs and saves, in reports of which the first comparison may differ:
// by what is mostly found in all blocks, or twice that, where all that is proven matters; and where the
// margin is two spreads, by nothing, and by a half, the whole and one and a half of that.
func byLooks(t *testing.T) grid {
	const n, reports = 12, 1000
	g := grid{name: "looks"}
	g.add("Comparisons", "false claims: once", "three looks", "effect found: once", "three looks", "blocks", "twice the effect: blocks",
		"nothing, *same*: once", "three looks", "blocks", "half the margin, claimed: once", "three looks", "the margin, *same*: three looks",
		"1.5 margins, found: once", "three looks", "blocks", "intervals that have it, at least")
	looks, once := ThreeLooks(n), Looks{At: []int{n}}
	for _, size := range []int{1, 4, 20} {
		rng := rand.New(rand.NewPCG(34, uint64(size)))
		effect := Shift{Spread: 1, Corr: 0.1}.Detectable(n, 0.05/float64(size))
		kinds := []struct{ by, margin float64 }{{effect, 0}, {2 * effect, 0}, {0, 2}, {1, 2}, {2, 2}, {3, 2}}
		var wrong [2]int
		early, last := make([]looked, len(kinds)), make([]looked, len(kinds))
		for range reports {
			f := chained(0).report(rng, n, size, 0)
			wrong[0] += count(slices.ContainsFunc(f.holm(once), func(p float64) bool { return p <= 0.05 }))
			wrong[1] += count(slices.ContainsFunc(f.holm(looks), func(p float64) bool { return p <= 0.05 }))
			none := f[0].D
			for k, kind := range kinds {
				f[0].D = slices.Clone(none)
				for i := range f[0].D {
					f[0].D[i] += kind.by
				}
				early[k].look(f, looks, kind.margin, kind.by)
				last[k].look(f, once, kind.margin, kind.by)
			}
		}
		what := fmt.Sprintf("%d comparisons", size)
		atMost(t, what, wrong[0], reports, 0.05)
		atMost(t, what+" in looks", wrong[1], reports, 0.05)
		atMost(t, what+", the margin taken for nothing", early[4].same, reports, 0.025)
		covered := reports
		for k, l := range early {
			atMost(t, fmt.Sprintf("%s, %v: intervals without it", what, kinds[k]), reports-l.covered, reports, 0.05)
			covered = min(covered, l.covered)
		}
		for k, lost := range map[int]int{0: last[0].claimed - early[0].claimed, 2: last[2].same - early[2].same, 5: last[5].claimed - early[5].claimed} {
			if lost > reports*6/100 {
				t.Errorf("%s, %v: looking early loses %d of %d", what, kinds[k], lost, reports)
			}
		}
		atLeast(t, what+": a large effect found in looks", early[1].claimed, reports, 0.99)
		if mean := float64(early[1].blocks) / reports; mean > 10 {
			t.Errorf("%s: a large effect is found after %.1f blocks", what, mean)
		}
		part := func(n int) string { return percent(n, reports) }
		mean := func(k int) string { return fmt.Sprintf("%.1f", float64(early[k].blocks)/reports) }
		g.add(fmt.Sprint(size), part(wrong[0]), part(wrong[1]), part(last[0].claimed), part(early[0].claimed), mean(0), mean(1),
			part(last[2].same), part(early[2].same), mean(2), part(last[3].claimed), part(early[3].claimed), part(early[4].same),
			part(last[5].claimed), part(early[5].claimed), mean(5), part(covered))
	}
	return g
}

// holm returns the corrected p-values of a report.
func (f Family) holm(looks Looks) []float64 {
	p := make([]float64, len(f))
	for i := range f {
		p[i] = f.Mean(i, looks, 0.05).P
	}
	return Holm(p)
}

// first returns the first blocks of each comparison.
func (f Family) first(n int) Family {
	out := slices.Clone(f)
	for i := range out {
		out[i] = out[i].until(n)
	}
	return out
}

// The tables of testdata/simulated.txt are what the code does.
func TestTables(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates a hundred thousand reports")
	}
	const path = "testdata/simulated.txt"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !*quotetest.Update && quotetest.Unchanged(t, data, "*.go") {
		return
	}
	doc := string(data)
	for _, g := range []grid{byNoise(t), byPower(t), bySize(t), byLayouts(t), byLooks(t)} {
		begin, end := "<!-- simulated: begin "+g.name+" -->\n", "<!-- simulated: end "+g.name+" -->"
		before, rest, ok1 := strings.Cut(doc, begin)
		had, after, ok2 := strings.Cut(rest, end)
		if !ok1 || !ok2 {
			t.Fatalf("%s has no table between %q and %q", path, begin, end)
		}
		switch want := g.String(); {
		case had == want:
		case *quotetest.Update:
			doc = before + begin + want + end + after
		case runtime.GOARCH != "amd64":
			t.Logf("%s: not compared on %s, whose sums may round in another way", g.name, runtime.GOARCH)
		default:
			t.Errorf("%s differs from the table %s; go test ./internal/stats -run TestTables -update writes\n%s", path, g.name, want)
		}
	}
	if *quotetest.Update && !t.Failed() {
		if err := os.WriteFile(path, quotetest.Stamp(t, []byte(doc), "*.go"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
