package serial

import (
	"fmt"
	"slices"
	"testing"
)

// ready is a line of numbers.
type ready []uint64

func (r ready) len() int { return len(r) }

func (r ready) numbers(each func(int, uint64)) {
	for i, n := range r {
		each(i, n)
	}
}

func (r ready) who(i int) string { return fmt.Sprint("task ", r[i]) }

// drain runs n tasks of k steps each, all ready at first, each of which goes to
// the end of the line after a step, and returns the order.
func drain(s Schedule, n, k int) (order []uint64) {
	var r ready
	for i := range n {
		r = append(r, uint64(i+1))
	}
	left := make([]int, n+1)
	c := newScheduler(s)
	for len(r) > 0 {
		i := 0
		if c != nil {
			i = c.choose(r)
		}
		next := r[i]
		order = append(order, next)
		r = slices.Delete(r, i, i+1)
		if left[next]++; left[next] < k {
			r = append(r, next)
		}
	}
	return order
}

func TestFIFO(t *testing.T) {
	if newScheduler(Schedule{}) != nil {
		t.Error("first in, first out costs a scheduler")
	}
	var trace []Choice
	s := Schedule{Record: func(c Choice) { trace = append(trace, c) }}
	if got, want := drain(s, 3, 2), []uint64{1, 2, 3, 1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := fmt.Sprint(trace), "[0 3 0 task 1 1 3 0 task 2 2 3 0 task 3 3 3 0 task 1 4 2 0 task 2 5 1 0 task 3]"; got != want {
		t.Errorf("recorded %v, want %v", got, want)
	}
}

// Every order is repeatable, and what was recorded of it can be replayed.
func TestReplay(t *testing.T) {
	for _, order := range []Order{FIFO, Seeded, PCT} {
		seen := map[string]bool{}
		for seed := range uint64(200) {
			var choices []int
			s := Schedule{Order: order, Seed: seed, Depth: 3, Steps: 15}
			s.Record = func(c Choice) { choices = append(choices, c.Index) }
			first := drain(s, 5, 4)
			s.Record = nil
			if second := drain(s, 5, 4); !slices.Equal(first, second) {
				t.Fatalf("order %d, seed %d: %v and %v", order, seed, first, second)
			}
			if again := drain(Schedule{Order: Replay, Choices: choices}, 5, 4); !slices.Equal(first, again) {
				t.Fatalf("order %d, seed %d: %v, replayed %v", order, seed, first, again)
			}
			seen[fmt.Sprint(first)] = true
		}
		if order != FIFO && len(seen) < 150 {
			t.Errorf("order %d: 200 seeds gave %d interleavings", order, len(seen))
		}
	}
	// What is missing or wrong in a list of choices is first in, first out.
	if got, want := drain(Schedule{Order: Replay, Choices: []int{2, -1, 3, 1}}, 3, 2), []uint64{3, 1, 2, 1, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// With PCT of depth d at most d-1 tasks are interrupted, and each of the orders of
// priorities is as likely as any other.
func TestPCT(t *testing.T) {
	switches := func(order []uint64) (n int) {
		for i := 1; i < len(order); i++ {
			if order[i] != order[i-1] {
				n++
			}
		}
		return n
	}
	const seeds = 6000
	for depth := 1; depth <= 4; depth++ {
		starts := map[string]int{}
		most := 0
		for seed := range uint64(seeds) {
			order := drain(Schedule{Order: PCT, Seed: seed, Depth: depth, Steps: 30}, 3, 10)
			most = max(most, switches(order)-2)
			if depth == 1 {
				starts[fmt.Sprint(slices.Compact(order))]++
			}
		}
		if most != depth-1 {
			t.Errorf("depth %d: up to %d interruptions", depth, most)
		}
		for o, n := range starts {
			if len(starts) != 6 || n < seeds/6*8/10 || n > seeds/6*12/10 {
				t.Errorf("priorities %s: %d times in %d", o, n, seeds)
			}
		}
	}
}

// A bug that takes d events in one order is found as often as the paper says, and
// where a random walk hardly finds it.
func TestPCTFinds(t *testing.T) {
	// Task 1 has to be through before task 2 has begun.
	first := func(order []uint64) bool { return slices.Index(order, 2) > 19 }
	found := map[Order]int{}
	for seed := range uint64(2000) {
		for _, o := range []Order{Seeded, PCT} {
			if first(drain(Schedule{Order: o, Seed: seed, Depth: 1, Steps: 40}, 2, 20)) {
				found[o]++
			}
		}
	}
	if found[PCT] < 900 || found[PCT] > 1100 || found[Seeded] > 5 {
		t.Errorf("found in %v of 2,000 schedules", found)
	}
}

// After the steps that PCT was told of, no actor is left behind for ever.
func TestPCTEnds(t *testing.T) {
	for seed := range uint64(100) {
		c := newScheduler(Schedule{Order: PCT, Seed: seed, Steps: 10})
		r := ready{1, 2}
		seen := [2]bool{}
		for range 1000 {
			seen[c.choose(r)] = true
		}
		if !seen[0] || !seen[1] {
			t.Errorf("seed %d: one of two never had a turn", seed)
		}
	}
}

// One that has fallen as deep as can be is the highest if it is alone.
func TestLowestAlone(t *testing.T) {
	c := newScheduler(Schedule{Order: PCT})
	c.fallen = []fall{{number: 7}}
	if i, n := c.highest(ready{7}); i != 0 || n != 7 {
		t.Errorf("the highest of 7 alone is %d at %d", n, i)
	}
}

func TestPCTHasDefaults(t *testing.T) {
	for _, c := range [][2]Schedule{{{}, {Depth: 3, Steps: 100}}, {{Depth: 1, Steps: 1}, {Depth: 1, Steps: 1}}} {
		given, want := c[0], c[1]
		given.Order = PCT
		if c := newScheduler(given); c.Depth != want.Depth || c.Steps != want.Steps || len(c.changes) != want.Depth-1 {
			t.Errorf("%d steps and %d changes of priority, want %d and %d", c.Steps, len(c.changes), want.Steps, want.Depth-1)
		}
	}
}

func TestUnknownOrder(t *testing.T) {
	defer func() {
		if v := recover(); v != "serial: unknown Schedule.Order 9" {
			t.Errorf("panic: %v", v)
		}
	}()
	newScheduler(Schedule{Order: 9})
}
