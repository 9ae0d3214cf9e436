package session

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

// aPlanOfSides compares n benchmarks of two versions.
func aPlanOfSides(n int) *record.Plan {
	p := &record.Plan{
		CPU: []int{2}, Blocks: 12, Rounds: SharpRounds, Slice: SharpSlice, Layouts: 12, Time: "200ms",
		Mode: record.ModeAuto, Control: true, Col: record.SideKey,
	}
	for i := range n {
		for _, side := range []string{record.SideOld, record.SideNew} {
			p.Cases = append(p.Cases, record.Case{Pkg: "example.com/m", Name: fmt.Sprintf("Benchmark%d", i), Side: side})
		}
	}
	return p
}

// More time is more rounds, less is fewer, and then fewer blocks; it is kept to,
// and what was given by a flag stays.
func TestSizeFits(t *testing.T) {
	var blocks, rounds []int
	for _, within := range []time.Duration{time.Hour, 4 * time.Minute, 140 * time.Second, 2 * time.Minute, 70 * time.Second} {
		p := aPlanOfSides(10)
		if _, fits := fit(p, Sizing{Within: within}); !fits {
			t.Fatalf("%v does not do", within)
		}
		if left := NewForecast(p, nil).Left(); left > within {
			t.Errorf("%v: %d blocks of %d rounds take %v", within, p.Blocks, p.Rounds, left)
		}
		if p.Layouts > p.Blocks {
			t.Errorf("%d layouts for %d blocks", p.Layouts, p.Blocks)
		}
		if n := len(blocks); n > 0 && (p.Blocks > blocks[n-1] || p.Blocks == blocks[n-1] && p.Rounds > rounds[n-1]) {
			t.Errorf("%v: %d blocks of %d rounds, after %d of %d for more time", within, p.Blocks, p.Rounds, blocks[n-1], rounds[n-1])
		}
		blocks, rounds = append(blocks, p.Blocks), append(rounds, p.Rounds)
	}
	if blocks[0] != 12 || rounds[0] != 400 || blocks[4] == 12 {
		t.Errorf("blocks %v, rounds %v", blocks, rounds)
	}

	p := aPlanOfSides(10)
	p.Blocks, p.Rounds = 30, 2
	if _, fits := fit(p, Sizing{Within: 6 * time.Minute, BlocksGiven: true}); !fits || p.Blocks != 30 {
		t.Errorf("given 30 blocks: %d, %v", p.Blocks, fits)
	}
	p = aPlanOfSides(10)
	p.Rounds = 3
	if _, fits := fit(p, Sizing{Within: time.Hour, RoundsGiven: true}); !fits || p.Rounds != 3 {
		t.Errorf("given 3 rounds: %d, %v", p.Rounds, fits)
	}
}

// Too little time is no refusal: the first benchmarks are measured with the least that can
// prove something, as many as fit, and one at least; and it is said.
func TestTooLittleTime(t *testing.T) {
	for _, c := range []struct {
		benchmarks  int
		within      time.Duration
		left        int
		says, tells string
	}{
		{10, 70 * time.Second, 10, "", ""},
		{10, 45 * time.Second, 7, "--within 45s is too short for 10 benchmarks, of which the least that can prove something takes about ", "; only the first 7 are measured, to 6: choose"},
		{10, time.Second, 1, "--within 1s is too short for 10 benchmarks", "; only the first is measured, and takes longer: 0: choose"},
		{1, time.Second, 1, "--within 1s is too short for 1 benchmark, ", "; it is measured all the same"},
	} {
		p := aPlanOfSides(c.benchmarks)
		less := Size(p, Sizing{Within: c.within})
		if len(p.Cases) != 2*c.left || p.Blocks < record.LeastBlocks || (c.says == "") != (less == "") || !strings.Contains(less, c.says) || !strings.Contains(less, c.tells) {
			t.Errorf("%v for %d: %d are left, in %d blocks of %d rounds: %q", c.within, c.benchmarks, len(p.Cases)/2, p.Blocks, p.Rounds, less)
		}
		if took := NewForecast(p, nil).Left(); took > c.within && c.left > 1 {
			t.Errorf("%v for %d: it takes %v", c.within, c.benchmarks, took)
		}
	}
}

func TestSize(t *testing.T) {
	for blocks, want := range map[int]int{2: record.LeastBlocks, record.LeastBlocks: record.LeastBlocks, 12: 12, 90: 90, 300: 300} {
		p := aPlanOfSides(200)
		p.Blocks = blocks
		if less := Size(p, Sizing{Alpha: 0.05}); less != "" || p.Blocks != want || p.Layouts != min(want, record.MaxLayouts) {
			t.Errorf("%d blocks: %d of %d layouts, want %d: %v", blocks, p.Blocks, p.Layouts, want, less)
		}
	}
	p := aPlanOfSides(200)
	if less := Size(p, Sizing{Alpha: 0.01, Margin: 0.05, Looks: ThreeLooks}); less != "" || len(p.Looks) != 3 || p.Looks[2] != p.Blocks || p.Alpha != 0.01 || p.Margin != 0.05 {
		t.Errorf("in sequence: %d blocks, looks %v at %v and %v: %v", p.Blocks, p.Looks, p.Alpha, p.Margin, less)
	}
	p = aPlanOfSides(200)
	p.Blocks = 3
	if less := Size(p, Sizing{Alpha: 0.05, BlocksGiven: true}); less != "" || p.Blocks != 3 || p.Layouts != 3 {
		t.Errorf("given 3: %d blocks of %d layouts, %v", p.Blocks, p.Layouts, less)
	}
}

func TestBounds(t *testing.T) {
	if busyPercent != 5 || fewestRounds != 5 || FigureSlice != 5*time.Millisecond || SharpSlice != time.Millisecond || SharpRounds != 250 || matteringPart != 0.01 || leastBytes != 0.0625 || largeFirstUse != 10*time.Millisecond || countTime != 700*time.Millisecond ||
		stretchWall != 2 || mostlyUntimed != 4 {
		t.Error("a bound is another one")
	}
}

// A plan of one look is none of a sequence.
func TestOneLook(t *testing.T) {
	for n, want := range map[int]int{0: 0, 1: 0, 2: 2} {
		p := recordtest.Sides(1, 6)
		Size(p, Sizing{Alpha: 0.05, Margin: 0.02, BlocksGiven: true, Looks: func(int) []int { return make([]int, n) }})
		if len(p.Looks) != want || (p.Alpha > 0) != (want > 0) {
			t.Errorf("of %d looks %d, at %v", n, len(p.Looks), p.Alpha)
		}
	}
}

// Each block has a layout of its own, unless fewer are asked for; and a plan that
// gets fewer blocks for want of time has no more layouts than those.
func TestLayoutsAreAsManyAsBlocks(t *testing.T) {
	for _, c := range []struct{ given, blocks, want int }{
		{0, 6, 6}, {0, 48, 48}, {0, 1000, record.MaxLayouts}, {1, 48, 1}, {12, 48, 12}, {48, 12, 12},
	} {
		if got := record.LayoutsFor(c.given, c.blocks); got != c.want {
			t.Errorf("%d of %d blocks: %d layouts, want %d", c.given, c.blocks, got, c.want)
		}
		p := aPlanOfSides(1)
		p.Blocks = c.blocks
		if less := Size(p, Sizing{Layouts: c.given}); less != "" || p.Layouts != c.want {
			t.Errorf("%d of %d blocks: a plan of %d layouts, want %d: %v", c.given, c.blocks, p.Layouts, c.want, less)
		}
	}
	p := aPlanOfSides(10)
	if less := Size(p, Sizing{Within: 70 * time.Second}); less != "" || p.Blocks >= 12 || p.Layouts != p.Blocks {
		t.Errorf("in 70 s: %d blocks of %d layouts, %v", p.Blocks, p.Layouts, less)
	}
}

// Too few blocks are known before they take time, and what would do.
func TestTooFew(t *testing.T) {
	p := aPlanOfSides(1)
	for _, c := range []struct {
		blocks, usual int
		want          string
	}{
		{record.LeastBlocks - 1, 12, "--blocks 5 can prove no difference, however large; --blocks 6 (about 11s) can, and 12 (about 22s) mostly find one of 2 %"},
		{1, 0, "--blocks 1 can prove no difference, however large; --blocks 6 (about 11s) can"},
		{record.LeastBlocks, 12, ""},
	} {
		p.Blocks = c.blocks
		if got := TooFew(p, c.usual); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	p.Blocks, p.Cases = 1, p.Cases[:1]
	if got := TooFew(p, 12); got != "" {
		t.Errorf("of what is compared with nothing: %q", got)
	}
}
