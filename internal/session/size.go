package session

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/stats"
)

// ThreeLooks returns the looks of a sequential plan of so many blocks: after about
// a half of them, after three quarters, and at the end; fewer of a plan so short that
// an early look could prove nothing.
func ThreeLooks(blocks int) []int { return stats.ThreeLooks(blocks).At }

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

	// Sequential asks for a look after a half and three quarters of the blocks.
	Sequential bool

	// Within is about how long measuring may take; 0 means as long as it takes.
	Within time.Duration

	// BlocksGiven and RoundsGiven say that Plan.Blocks and Plan.Rounds are to stay.
	BlocksGiven, RoundsGiven bool

	// Layouts is how many layouts each test binary has; 0 means as many as blocks.
	Layouts int
}

// Size chooses how much of p, a plan that compares two sides of its cases, is
// measured, as far as that is not given: at least so many blocks that a claim about
// each benchmark can be proven. It is an error if that does not fit into s.Within.
func Size(p *record.Plan, s Sizing) error {
	if !s.BlocksGiven {
		p.Blocks = max(p.Blocks, record.LeastBlocks)
	}
	p.Layouts = record.LayoutsFor(s.Layouts, p.Blocks)
	if s.Within > 0 {
		if err := fit(p, s); err != nil {
			return err
		}
	}
	if s.Sequential {
		p.Looks, p.Alpha, p.Margin = ThreeLooks(p.Blocks), s.Alpha, s.Margin
	}
	return nil
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
// than s.Within. With fewer blocks than least nothing can be proven.
func fit(p *record.Plan, s Sizing) error {
	// Blocks are what a claim rests on: more of them say more than more rounds, so
	// it is rounds that go first.
	shortest := time.Duration(0)
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
				return nil
			}
		}
	}
	what := "1 benchmark"
	if n := len(p.Cases) / 2 * len(p.CPU); n != 1 { // two sides of each
		what = strconv.Itoa(n) + " benchmarks"
	}
	return fmt.Errorf("--within %v is too short for %s: the least that can prove something takes about %v; choose fewer with --bench, or packages",
		s.Within, what, shortest.Round(time.Second))
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
