package session

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/stats"
)

// ThreeLooks returns the looks of a sequential plan of so many blocks: after about
// a half of them, after three quarters, and at the end; fewer of a plan so short that
// an early look could prove nothing.
func ThreeLooks(blocks int) []int { return stats.ThreeLooks(blocks).At }

// CountLooks is ThreeLooks of a plan that counts instructions.
func CountLooks(blocks int) []int { return stats.CountLooks(blocks).At }

// How long slices are, if it is not told otherwise. In the same time of measuring
// more and shorter ones see smaller differences; but each slice begins with waking
// up, so figures of short ones are higher. docs/method.md has both in numbers.
const (
	// FigureSlice is for figures.
	FigureSlice = 5 * time.Millisecond
	// SharpSlice is for small differences, between what is woken up alike.
	SharpSlice = time.Millisecond
	// SharpRounds are how many of SharpSlice it takes to find two percent in a dozen
	// blocks on a machine that others use too.
	SharpRounds = 250
)

// A Sizing says how large a comparison of two versions is to be: what a person
// has said of it.
type Sizing struct {
	Alpha, Margin float64 // of the decisions of a sequential plan; Alpha is also that of the proofs there must be room for

	// Looks are those of a sequential plan of so many blocks; nil asks for a fixed one.
	Looks func(blocks int) []int

	// Within is about how long measuring may take; 0 means as long as it takes.
	Within time.Duration

	// BlocksGiven and RoundsGiven say that Plan.Blocks and Plan.Rounds are to stay.
	BlocksGiven, RoundsGiven bool

	// Layouts is how many layouts each test binary has; 0 means as many as blocks.
	Layouts int
}

// Size chooses how much of p, a plan that compares two sides of its cases, is
// measured, as far as that is not given: at least so many blocks that a claim about
// each benchmark can be proven. If that does not fit into s.Within, only the first benchmarks
// for which it does stay in p, and one at least: what Size returns says so, and is else "".
func Size(p *record.Plan, s Sizing) (less string) {
	if !s.BlocksGiven {
		p.Blocks = max(p.Blocks, record.LeastBlocks)
	}
	p.Layouts = record.LayoutsFor(s.Layouts, p.Blocks)
	if s.Within > 0 {
		less = fitSome(p, s)
	}
	p.Looks, p.Alpha, p.Margin = nil, 0, 0
	if s.Looks == nil {
		return less
	}
	if looks := s.Looks(p.Blocks); len(looks) > 1 {
		p.Looks, p.Alpha, p.Margin = looks, s.Alpha, s.Margin
	}
	return less
}

// fitSome is fit for as many of p's benchmarks as there is time for, and says which those are, unless all
// are.
func fitSome(p *record.Plan, s Sizing) (less string) {
	all := p.Cases // both sides of a benchmark one after the other
	shortest, fits := fit(p, s)
	if fits {
		return ""
	}
	less = fmt.Sprintf("--within %v is too short for %s, of which the least that can prove something takes about %v",
		s.Within, countBenchmarks(len(all)/2*len(p.CPU)), shortest.Round(time.Second))
	first := func(n int) bool { // whether the first n benchmarks fit
		p.Cases = all[:2*n]
		_, fits := fit(p, s)
		return fits
	}
	n := max(1, sort.Search(len(all)/2-1, func(n int) bool { return !first(n + 1) }))
	switch fits = first(n); {
	case n == len(all)/2:
		return less + "; it is measured all the same"
	case !fits:
		less += fmt.Sprintf("; only the first is measured, and takes longer: %s", strings.TrimPrefix(all[0].Name, "Benchmark"))
	default:
		less += fmt.Sprintf("; only the first %d are measured, to %s", n, strings.TrimPrefix(all[2*n-1].Name, "Benchmark"))
	}
	return less + ": choose with --bench, or name packages"
}

func countBenchmarks(n int) string {
	if n == 1 {
		return "1 benchmark"
	}
	return strconv.Itoa(n) + " benchmarks"
}

// measuredTimes are how long a process is to measure in a block, by how much time
// there is. Less is hardly worth starting a process for.
var measuredTimes = []time.Duration{
	400 * time.Millisecond, 300 * time.Millisecond, 200 * time.Millisecond, 150 * time.Millisecond,
	100 * time.Millisecond, 75 * time.Millisecond, 50 * time.Millisecond, 35 * time.Millisecond, 25 * time.Millisecond,
}

// fewestRounds is how many rounds are planned at least, however long slices are.
const fewestRounds = 5

// fit chooses the number of rounds and blocks so that measuring p takes no longer
// than s.Within. With fewer blocks than least nothing can be proven: if it does not fit, p has
// the least that can, which takes shortest.
func fit(p *record.Plan, s Sizing) (shortest time.Duration, fits bool) {
	// Blocks are what a claim rests on: more of them say more than more rounds, so
	// it is rounds that go first.
	for blocks := max(record.LeastBlocks, p.Blocks); blocks >= record.LeastBlocks; blocks-- {
		for _, measured := range measuredTimes {
			if !s.BlocksGiven {
				p.Blocks = blocks
			}
			if !s.RoundsGiven {
				p.Rounds = max(fewestRounds, int(measured/p.Slice))
			}
			p.Layouts = record.LayoutsFor(s.Layouts, p.Blocks)
			if shortest = NewForecast(p, nil).Left(); shortest <= s.Within {
				return shortest, true
			}
		}
	}
	return shortest, false
}

// TooFew says that p has too few blocks to prove a difference, and what would do: the
// least, and usual blocks, unless that is 0, which mostly find two percent. It is empty if
// p has enough of them, or compares nothing.
func TooFew(p *record.Plan, usual int) string {
	compares := slices.ContainsFunc(p.Groups(), func(g record.Group) bool { return len(g.Steps) > 1 })
	if !compares || p.Blocks >= record.LeastBlocks {
		return ""
	}
	blocks := func(n int) string {
		q := *p
		q.Blocks = n
		return fmt.Sprintf("%d (about %v)", n, NewForecast(&q, nil).Left().Round(time.Second))
	}
	text := fmt.Sprintf("--blocks %d can prove no difference, however large; --blocks %s can", p.Blocks, blocks(record.LeastBlocks))
	if usual > 0 {
		text += fmt.Sprintf(", and %s mostly find one of 2 %%", blocks(usual))
	}
	return text
}
