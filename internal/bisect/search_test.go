package bisect

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// full is the blocks of a comparison that sees the step with a power of 90 % at a
// two-sided level of 0.5 %.
const full = 12

// A world is a simulated history.
type world struct {
	versions, culprit int
	step              float64
	second, height    float64 // a second step at this version, so high
	noise             func() float64
	broken            float64 // the part of versions that do not build
	build             float64 // its cost, in full comparisons
	drift             float64 // of a version against the one before, standard deviation
}

// A walk is what a search did in it.
type walk struct {
	right       bool
	comparisons float64 // full ones
	builds      int
	sure        float64
}

func (w world) search(t *testing.T, r *rand.Rand) walk {
	level := make([]float64, w.versions+1)
	broken := make([]bool, w.versions+1)
	for i := 1; i <= w.versions; i++ {
		level[i] = level[i-1] + w.drift*r.NormFloat64()
		if i == w.culprit {
			level[i] += w.step
		}
		if w.second > 0 && float64(i) == w.second {
			level[i] += w.height
		}
		broken[i] = i < w.versions && i != w.culprit && i != w.culprit-1 && r.Float64() < w.broken
	}
	// A full comparison of two sides has the step's power if a block's side scatters so.
	sigma := 0.02 / (2.807 + 1.2816) * math.Sqrt(full/2.0)
	measure := func(position, blocks int) []Block {
		b := make([]Block, blocks)
		for i := range b {
			good := sigma * w.noise()
			b[i] = Block{level[position] + sigma*w.noise() - good, level[w.versions] + sigma*w.noise() - good}
		}
		return b
	}
	var ends []float64
	for _, b := range measure(0, full) {
		ends = append(ends, b.Bad)
	}
	prior := make([]float64, w.versions)
	for i := range prior {
		prior[i] = 1
	}
	s := New(prior, ends)
	built := map[int]bool{}
	var made walk
	for {
		if _, made.sure = s.Culprit(); made.sure >= 0.95 {
			break
		}
		position, blocks, ok := s.Next([]int{full / 4, full / 2, full}, func(position, blocks int) float64 {
			cost := float64(blocks) / full
			if !built[position] {
				cost += w.build
			}
			return cost
		})
		if !ok {
			break
		}
		built[position] = true
		if broken[position] {
			s.Exclude(position)
			continue
		}
		s.Add(Visit{position, measure(position, blocks)})
		if made.comparisons += float64(blocks) / full; made.comparisons > 100 {
			break
		}
	}
	made.builds = len(built)
	found, _ := s.Culprit()
	made.right = found == w.culprit
	return made
}

// TestSimulated shows how often a search is right, in histories of 1,000 versions with a
// step of 2 %.
func TestSimulated(t *testing.T) {
	runs := 300
	if testing.Short() {
		runs = 40
	}
	r := rand.New(rand.NewPCG(1, 2))
	normal := r.NormFloat64
	student := func() float64 { // 3 degrees of freedom, variance 1
		var c float64
		for range 3 {
			z := r.NormFloat64()
			c += z * z
		}
		return r.NormFloat64() / math.Sqrt(c)
	}
	for _, c := range []struct {
		name        string
		world       world
		right, most float64 // the share of searches that are right, and the comparisons of a search
	}{
		{"builds cost half a comparison", world{build: 0.5, noise: normal}, 0.99, 8},
		{"builds cost two", world{build: 2, noise: normal}, 0.99, 11},
		{"builds are there", world{build: 0.01, noise: normal}, 0.98, 6},
		{"heavy tails", world{build: 0.5, noise: student}, 0.98, 8},
		{"one of ten does not build", world{build: 0.5, noise: normal, broken: 0.1}, 0.99, 8},
		{"versions drift", world{build: 0.5, noise: normal, drift: 0.00005}, 0.99, 8},
		{"half a step before or after", world{build: 0.5, noise: normal, second: 300, height: 0.01}, 0.8, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			right, builds, comparisons := 0, 0, 0.0
			for range runs {
				w := c.world
				w.versions, w.step = 1000, 0.02
				w.culprit = 1 + r.IntN(w.versions)
				m := w.search(t, r)
				if m.right {
					right++
				}
				comparisons += m.comparisons / float64(runs)
				builds += m.builds
			}
			t.Logf("right %d of %d, comparisons %.1f, builds %.1f", right, runs, comparisons, float64(builds)/float64(runs))
			if n := float64(runs); float64(right) < n*c.right-4*math.Sqrt(n*c.right*(1-c.right)) {
				t.Errorf("right in %d of %d, want %.0f %%", right, runs, 100*c.right)
			}
			if comparisons > c.most {
				t.Errorf("%.1f comparisons, want at most %.0f", comparisons, c.most)
			}
		})
	}
}

// uniform returns the prior of n versions that are equally suspect.
func uniform(n int) []float64 {
	return slices.Repeat([]float64{1}, n)
}

// A clear world's blocks: the candidate is at the good level or at the bad one.
func clear(bad bool) []Block {
	b := Block{Candidate: 0.0005, Bad: 0.02}
	if bad {
		b.Candidate += 0.02
	}
	return []Block{b, {b.Candidate - 0.001, b.Bad}, {b.Candidate, b.Bad + 0.001}}
}

func TestDecides(t *testing.T) {
	s := New(uniform(8), []float64{0.019, 0.02, 0.021, 0.02})
	for range 20 {
		position, _, ok := s.Next([]int{3}, func(int, int) float64 { return 1 })
		if !ok {
			break
		}
		s.Add(Visit{position, clear(position >= 6)})
	}
	if version, p := s.Culprit(); version != 6 || p < 0.95 {
		t.Errorf("version %d with probability %.3f, want 6", version, p)
	}
}

// TestUndo proves that a visit that was misled is undone by one more, such as the proof
// that fails of the version that was suspected.
func TestUndo(t *testing.T) {
	s := New(uniform(8), []float64{0.019, 0.02, 0.021, 0.02})
	find := func() int {
		for range 40 {
			if _, p := s.Culprit(); p >= 0.95 {
				break
			}
			position, _, _ := s.Next([]int{3}, func(int, int) float64 { return 1 })
			s.Add(Visit{position, clear(position >= 6)})
		}
		version, _ := s.Culprit()
		return version
	}
	s.Add(Visit{4, clear(true)}) // wrong: the culprit is 6
	if got := find(); got != 4 {
		t.Fatalf("after a visit that was misled version %d, want 4", got)
	}
	s.Add(Visit{4, clear(false)})
	if got := find(); got != 6 {
		t.Errorf("after the proof failed version %d, want 6", got)
	}
}

func TestSuspectsOfWhatCannotBeBuilt(t *testing.T) {
	s := New(uniform(8), []float64{0.019, 0.02, 0.021, 0.02})
	for _, broken := range []int{4, 5, 6} {
		s.Exclude(broken)
	}
	for range 40 {
		position, _, ok := s.Next([]int{3}, func(int, int) float64 { return 1 })
		if !ok {
			break
		}
		if position >= 4 && position <= 6 || position == 8 {
			t.Fatalf("visits %d, which cannot be measured", position)
		}
		s.Add(Visit{position, clear(position >= 5)})
	}
	if got := s.Suspects(0.95); !slices.Equal(got, []int{4, 5, 6, 7}) {
		t.Errorf("suspects %v, want 4 to 7", got)
	}
}

func TestCheapFirst(t *testing.T) {
	s := New(uniform(100), []float64{0.019, 0.02, 0.021, 0.02})
	position, blocks, ok := s.Next([]int{2, 4}, func(position, blocks int) float64 {
		if position == 40 { // built already
			return float64(blocks)
		}
		return float64(blocks) + 100
	})
	if !ok || position != 40 || blocks != 2 {
		t.Errorf("visits %d with %d blocks, want what is built", position, blocks)
	}
}

func TestPriorMatters(t *testing.T) {
	prior := uniform(10)
	prior[2] = 50
	if version, p := New(prior, []float64{0.02, 0.021}).Culprit(); version != 3 || math.Abs(p-50.0/59) > 1e-9 {
		t.Errorf("version %d with probability %v", version, p)
	}
}
