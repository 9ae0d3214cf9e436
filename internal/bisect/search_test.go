package bisect

import (
	"math"
	"slices"
	"testing"
)

// even is the cost of any visit.
func even(int, int) float64 { return 1 }

// uniform returns the prior of n versions that are equally suspect.
func uniform(n int) []float64 {
	return slices.Repeat([]float64{1}, n)
}

// Unmistakable blocks: the candidate is at the good level or at the bad one.
func unmistakable(bad bool) []Block {
	b := Block{Candidate: 0.0005, Bad: 0.02}
	if bad {
		b.Candidate += 0.02
	}
	return []Block{b, {b.Candidate - 0.001, b.Bad}, {b.Candidate, b.Bad + 0.001}}
}

func TestDecides(t *testing.T) {
	s := New(uniform(8), []float64{0.019, 0.02, 0.021, 0.02})
	for range 20 {
		c, ok := s.Next([]int{3}, even)
		if !ok {
			break
		}
		s.Add(Visit{c.Position, unmistakable(c.Position >= 6)})
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
			c, _ := s.Next([]int{3}, even)
			s.Add(Visit{c.Position, unmistakable(c.Position >= 6)})
		}
		version, _ := s.Culprit()
		return version
	}
	s.Add(Visit{4, unmistakable(true)}) // wrong: the culprit is 6
	if got := find(); got != 4 {
		t.Fatalf("after a visit that was misled version %d, want 4", got)
	}
	s.Add(Visit{4, unmistakable(false)})
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
		c, ok := s.Next([]int{3}, even)
		if !ok {
			break
		}
		position := c.Position
		if position >= 4 && position <= 6 || position == 8 {
			t.Fatalf("visits %d, which cannot be measured", position)
		}
		s.Add(Visit{position, unmistakable(position >= 5)})
	}
	if got := s.Suspects(0.95); !slices.Equal(got, []int{4, 5, 6, 7}) {
		t.Errorf("suspects %v, want 4 to 7", got)
	}
}

func TestCheapFirst(t *testing.T) {
	s := New(uniform(100), []float64{0.019, 0.02, 0.021, 0.02})
	c, ok := s.Next([]int{2, 4}, func(position, blocks int) float64 {
		if position == 40 { // built already
			return float64(blocks)
		}
		return float64(blocks) + 100
	})
	if !ok || c.Position != 40 || c.Blocks != 2 {
		t.Errorf("visits %d with %d blocks, want what is built", c.Position, c.Blocks)
	}
}

func TestPriorMatters(t *testing.T) {
	prior := uniform(10)
	prior[2] = 50
	if version, p := New(prior, []float64{0.02, 0.021}).Culprit(); version != 3 || math.Abs(p-50.0/59) > 1e-9 {
		t.Errorf("version %d with probability %v", version, p)
	}
}

// A program that is the same at two positions has no culprit between them.
func TestSame(t *testing.T) {
	s := New(uniform(8), []float64{0.019, 0.02, 0.021, 0.02})
	s.Same(0, 3)
	s.Same(8, 5)
	if got := s.Suspects(0.95); !slices.Equal(got, []int{4, 5}) {
		t.Errorf("suspects %v, want 4 and 5", got)
	}
	s.Same(3, 5) // cannot be: the ends differ
	if got := s.Suspects(0.95); !slices.Equal(got, []int{4, 5}) {
		t.Errorf("suspects %v after a contradiction, want 4 and 5", got)
	}
}

// TestLeavesBroken proves that a long range that does not build is left behind in few
// tries.
func TestLeavesBroken(t *testing.T) {
	s := New(uniform(1000), []float64{0.019, 0.02, 0.021, 0.02})
	tries := 0
	for {
		c, ok := s.Next([]int{3}, even)
		if !ok {
			t.Fatal("no visit is left")
		}
		if c.Position < 350 || c.Position > 650 {
			break
		}
		s.Exclude(c.Position)
		if tries++; tries > 12 {
			t.Fatalf("after %d tries still at %d", tries, c.Position)
		}
	}
}
