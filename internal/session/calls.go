package session

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/stats"
)

// What an operation costs may depend on how long a slice is: docs/driving.md says why, and
// what becomes of it. So in the first block of a row slices of several lengths are tried,
// and its slices get the shortest one that costs what long ones do. Slices of FigureSlice
// and more are long enough for all that but b.N.
//
//   - If the cost stays, a slice is as long as planned, with b.N leastCall at least.
//   - If it changes up to some length and stays from there, it is of the first length with
//     at most callsLeft of a change left, divided by the length.
//   - If it falls up to the longest, by at most callsApart there, it is the longest.
//   - If it still grows at the longest – by more than a tenth, or at the length before as
//     well –, or falls by more than callsApart, with b.N it is a whole call of a second,
//     after a collection; else the longest.
//   - If more than shared processors are in use, or collections of garbage take a part that
//     matters, it is at least sharedSlice.
//
// Longer slices are fewer, and see less. So lengths are tried once more if longer ones seem
// to be needed, and the shorter answer counts: what a noisy moment looks like is not seen
// twice. Every second try begins with the longest, so that a machine that gets slower, or
// faster, meanwhile speaks for short slices in one try and for long ones in the next.

// callLengths are the lengths that are tried, one after another, callTries times; the
// last one is tried lastTries times, as it takes longer than all the others together.
var callLengths = []time.Duration{time.Millisecond, 4 * time.Millisecond, 16 * time.Millisecond, 64 * time.Millisecond, 256 * time.Millisecond}

const (
	callTries, lastTries = 5, 3

	// callsAlike is the difference of costs, a logarithm of a ratio, up to which they
	// count as the same, and callsLeft what may be left of a larger one.
	callsAlike, callsLeft = 0.05, 0.015
	// callsApart is the difference that one side of a benchmark may show alone.
	callsApart = 0.2

	// shared is how many processors are in use, collections of garbage aside, from which
	// on they share work, and sharedSlice how long slices are then: a lock for which two
	// compete cost 1.4 times as much in the end, 1.14 times in slices of 1 ms, of which a
	// part had one processor only, 1.34 times in 16 ms and 1.39 times in 100 ms.
	shared      = 1.25
	sharedSlice = 64 * time.Millisecond

	// leastCall is how long calls of a benchmark function are at least. The last batch of
	// a call may be left out: of 64 operations of 2 µs that is up to an eighth of 1 ms.
	leastCall = 16 * time.Millisecond

	// wholeCall is how long go test's last call of a benchmark takes.
	wholeCall = time.Second
)

// calls is what is known of how long the slices of a row have to be.
type calls struct {
	length time.Duration
	whole  bool // as go test makes them

	ops map[string]int // of a slice, by Step.FullName

	depends   bool // the length is that because the cost depends on it
	ownFigure bool // or because the benchmark reports metrics of a slice as a whole
}

// knownCalls returns what earlier blocks have found of how long slices have to be, by
// Group.Index: those of the plan's own run, or of another one, whose finding is in the plan.
func knownCalls(plan *record.Plan, from *record.Interrupted) map[int]calls {
	known := make(map[int]calls)
	for _, g := range plan.Groups() {
		c := calls{whole: plan.WholeCalls, ops: make(map[string]int)}
		for _, s := range g.Steps {
			name, n := s.FullName(), plan.SliceOps
			if w, ok := from.Slices[s.Key()]; ok {
				n, c.whole = w.Ops, w.Whole
			}
			if c.ops[name] == 0 || n < c.ops[name] {
				c.ops[name] = n
			}
		}
		if slices.Max(slices.Collect(maps.Values(c.ops))) > 0 {
			known[g.Index] = c
		}
	}
	return known
}

// ownFigureSlice is how long slices are if a benchmark reports a metric of its own that is of
// a slice as a whole, such as a percentile: what comes first in a slice, after a pause, is slower, and in
// a short slice it is the whole tail. Where leastOperations do not fit into it, a slice is a
// whole call.
const (
	ownFigureSlice  = 250 * time.Millisecond
	leastOperations = 1000
)

// hasOwnFigure reports whether one of the metrics that a benchmark reports is neither of an
// operation nor a rate, which are sums over all slices.
func hasOwnFigure(extra map[string]float64) bool {
	for unit := range extra {
		if !strings.HasSuffix(unit, "/op") && !strings.HasSuffix(unit, "/s") {
			return true
		}
	}
	return false
}

// idle is how long a process is watched that waits, and busyIdle the part of that for
// which it may use a processor before that counts as work in the background.
const (
	idle     = 10 * time.Millisecond
	busyIdle = 0.2
)

// lookAround notes whether p works while it waits, the first time that it is warm.
// What has just begun, such as a collection, may end first.
func (r *runner) lookAround(p *side) error {
	key := p.step.Key()
	if r.watched[key] || p.step.Copy > 1 {
		return nil
	}
	r.watched[key] = true
	busy := math.Inf(1)
	for range 3 {
		before, err := p.live.Usage()
		if err != nil {
			return err
		}
		r.sleep(idle)
		after, err := p.live.Usage()
		if err != nil {
			return err
		}
		busy = min(busy, float64(after.CPU-before.CPU)/float64(idle))
	}
	if busy > busyIdle {
		r.say(rowOf(p.step), fmt.Sprintf("works in the background: it uses %.0f %% of a processor while it waits, which its own slices pay for", 100*busy))
	}
	return nil
}

// rowOf names a step as a row, for what is to be known of it alone.
func rowOf(s record.Step) record.Group {
	name := strings.TrimPrefix(s.FullName(), "Benchmark")
	if s.Case.Side != "" {
		name += ", " + s.Case.Side
	}
	return record.Group{Pkg: s.Case.Pkg, Name: name}
}

// say tells what a reader should know of a row, and notes it in the results.
func (r *runner) say(g record.Group, text string) {
	r.store.Note(g, text)
	r.p.Note(g.Name + ": " + text)
}

// measureCalls finds how long the slices of g's benchmarks are to be, and how many
// operations that is: it is the same for all sides of a benchmark, and in all blocks,
// since what is prepared weighs more in slices of fewer.
func (r *runner) measureCalls(g record.Group, sides []*side, stop func() error) error {
	called := slices.DeleteFunc(slices.Clone(sides), func(p *side) bool {
		p.warm.ownFigure = p.warm.ownFigure || r.ownFigures[g.Index]
		return p.err != nil || p.warm.perOp <= 0 || !p.callsFunction() && !p.warm.ownFigure && r.plan.Slice >= FigureSlice
	})
	if len(called) == 0 {
		return nil
	}
	c, known := r.calls[g.Index]
	if !known {
		var err error
		if c, err = r.findCalls(called, stop); err != nil {
			return err
		}
		r.calls[g.Index] = c
		if c.whole && !c.ownFigure { // of other lengths there is nothing that a reader could do
			r.say(g, fmt.Sprintf("an operation costs more, or less, the larger b.N is, so each slice is a whole call of about %v, as go test makes it: "+
				"there is one a block, which finds less", c.length))
		}
	}
	for _, p := range called {
		if n := c.ops[p.step.FullName()]; n > 0 {
			if c.length > 0 {
				p.warm.perOp = float64(c.length) / float64(n)
			}
			p.warm.n, p.warm.slice, p.warm.known = n, time.Duration(p.warm.perOp*float64(n)), true
		}
	}
	return nil
}

// findCalls tries how long the slices of sides have to be, a second time if that is
// longer than planned because the cost seems to depend on it.
func (r *runner) findCalls(sides []*side, stop func() error) (c calls, err error) {
	// The control is the base's program, which says the same.
	able := slices.DeleteFunc(slices.Clone(sides), func(p *side) bool { return p.warm.mostlyUntimed() || p.step.Copy > 1 })
	for again := range 2 {
		if err := r.tryLengths(able, stop); err != nil {
			return c, err
		}
		if one := chooseCalls(sides, r.plan.Slice); again == 0 || one.length < c.length {
			c = one
		}
		if !c.depends {
			break
		}
	}
	return c, nil
}

// callsFunction reports whether each slice is a call of the benchmark function.
func (p *side) callsFunction() bool { return p.live.Hello().Mode == program.ModeRunN }

// chooseCalls returns how long slices are to be by what sides have tried.
func chooseCalls(sides []*side, planned time.Duration) calls {
	c := calls{length: planned, ops: make(map[string]int)}
	byName := make(map[string][]*side) // of each benchmark
	for _, p := range sides {
		if p.step.Copy > 1 || p.err != nil {
			continue // the control is the base's program
		}
		if p.callsFunction() {
			c.length = max(c.length, leastCall)
		}
		c.length = max(c.length, p.warm.collectedSlice())
		if p.warm.ownFigure {
			c.length, c.ownFigure = max(c.length, ownFigureSlice), true
			if p.warm.perOp*leastOperations > float64(ownFigureSlice) {
				c.length, c.whole = wholeCall, true
			}
		}
		if p.tried == nil {
			continue // its slices are as long as they can be
		}
		byName[p.step.FullName()] = append(byName[p.step.FullName()], p)
		if p.tried.isShared() {
			c.length = max(c.length, sharedSlice)
		}
	}
	for _, same := range byName {
		var tries [][][]float64
		shortest, longest := 0, time.Duration(0)
		for _, p := range same {
			tries = append(tries, p.tried.logs())
			shortest = max(shortest, p.tried.shortest)
			if longest = callLengths[len(callLengths)-1]; p.callsFunction() {
				longest = wholeCall
			}
		}
		one := choose(tries, shortest)
		if length := min(one.length, longest); length > c.length {
			c.length, c.depends = length, true
		}
		c.whole = c.whole || one.whole && longest >= wholeCall
	}
	for _, p := range sides {
		if p.err != nil || p.step.Copy > 1 || c.length <= max(planned, p.warm.slice) {
			continue
		}
		unit := max(1, p.live.Hello().Unit)
		name, n := p.step.FullName(), multiple(float64(c.length)/p.costOf(c.length), unit)
		n = max(unit, min(n, p.warm.untimed.most(p.warm.perOp)/unit*unit))
		if least, ok := c.ops[name]; !ok || n < least {
			c.ops[name] = n
		}
	}
	return c
}

// A lengthTrial has what an operation of a process cost in slices of several lengths: the
// logarithms of nanoseconds, by try and length.
type lengthTrial struct {
	shortest       int // of the lengths, that has several operations
	byCPU, byClock [callTries][]float64
}

// logs returns the costs by the clock that says them best: processor time while others
// use the machine, but the time itself for work that waits, or shares processors. On a busy
// machine long slices wait for a processor as well, so work waits only if slices of all
// lengths do.
func (t *lengthTrial) logs() [][]float64 {
	most := 0.0
	for k := range callLengths {
		most = max(most, t.processors(k))
	}
	if most > 0.5 && !t.isShared() {
		return t.byCPU[:]
	}
	return t.byClock[:]
}

// isShared reports whether the longest slices used more than shared processors.
func (t *lengthTrial) isShared() bool {
	last := len(callLengths) - 1
	return max(t.processors(last-1), t.processors(last)) > shared
}

// processors returns how many processors slices of length k used, collections of garbage
// aside, by the median of the tries; 0 if none was tried.
func (t *lengthTrial) processors(k int) float64 {
	if k < t.shortest {
		return 0
	}
	var used []float64
	for i := range triesOfLength(k) {
		used = append(used, math.Exp(t.byCPU[i][k]-t.byClock[i][k]))
	}
	slices.Sort(used)
	return stats.Median(used)
}

// triesOfLength returns how many times slices of length k are tried.
func triesOfLength(k int) int {
	if k == len(callLengths)-1 {
		return lastTries
	}
	return callTries
}

// tryLengths has sides do slices of several lengths, in turn, as they do later: so each
// slice begins with what the others have left in the caches. What is a benchmark's own
// fault is its side's error.
func (r *runner) tryLengths(sides []*side, stop func() error) error {
	last := len(callLengths) - 1
	for _, p := range sides {
		p.tried, p.costs = new(lengthTrial), make([]float64, len(callLengths))
		for p.tried.shortest < last && callLengths[p.tried.shortest] < p.warm.slice/2 {
			p.tried.shortest++
		}
		for i := range callTries {
			p.tried.byCPU[i], p.tried.byClock[i] = make([]float64, len(callLengths)), make([]float64, len(callLengths))
		}
	}
	for i := range callTries {
		for k := range callLengths {
			if i%2 == 1 {
				k = last - k
			}
			for _, p := range sides {
				if p.err != nil || k < p.tried.shortest || i >= triesOfLength(k) {
					continue
				}
				if err := p.tryLength(i, k, stop); err != nil {
					return err
				}
			}
		}
	}
	for _, p := range sides {
		if p.err == nil {
			p.err = p.live.Reset() // nothing of this counts
			p.live.Freeze()
		}
	}
	return nil
}

// tryLength has p do a slice of length k for try i.
func (p *side) tryLength(i, k int, stop func() error) error {
	cost, s, err := tryFor(p.live, callLengths[k], cmp.Or(p.costs[k], p.costs[max(0, k-1)], p.warm.perOp), stop)
	p.live.Freeze()
	if err != nil {
		return p.blame(err)
	}
	p.costs[k] = float64(s.Elapsed) / float64(s.N)
	p.tried.byCPU[i][k], p.tried.byClock[i][k] = math.Log(cost), math.Log(max(p.costs[k], 1e-9))
	return nil
}

// tryFor does a slice that takes at least half of length, and about all of it as a
// rule. An operation seems to take perOp, which has a part in it of what a call
// prepares: where that is most of it, it takes several calls to find one of that length.
// stop is asked before each.
func tryFor(p Driver, length time.Duration, perOp float64, stop func() error) (cost float64, s program.Slice, err error) {
	unit := max(1, p.Hello().Unit)
	n := multiple(float64(length)/perOp, unit)
	for {
		if err := stop(); err != nil {
			return 0, s, err
		}
		if cost, s, err = try(p, n); err != nil || s.Elapsed >= length/2 || n >= mostOps {
			return cost, s, err
		}
		n = grown(n, unit, s.Elapsed, length)
	}
}

// try does a slice of n operations, and returns what one of them cost in processor time
// without collections of garbage, which come in some slices and in others not.
func try(p Driver, n int) (cost float64, s program.Slice, err error) {
	before, err := p.Usage()
	if err != nil {
		return 0, s, err
	}
	if s, err = p.Run(n); err != nil {
		return 0, s, err
	}
	after, err := p.Usage()
	if err != nil {
		return 0, s, err
	}
	took := s.CPU - (after.GCCPU - before.GCCPU)
	return float64(max(took, 1)) / float64(s.N), s, nil
}

// choose returns the shortest length of calls from which on the cost of an operation
// is the same, or none if it is the same in all, by what was tried of each side of a
// benchmark: logarithms of costs, by try and length. If the cost still falls a little with
// the longest ones, it is those: what is prepared then is a small part. If it still grows,
// or falls by much, only calls as long as go test's cost what those do.
func choose(sides [][][]float64, shortest int) calls {
	last := len(callLengths) - 1
	for k := last - 1; k >= shortest; k-- {
		step := stepAt(sides, k)
		if step == 0 {
			continue
		}
		grows := step > 2*callsAlike || step > 0 && k > shortest && stepAt(sides, k-1) > 0
		if k == last-1 && (grows || step < -callsApart) {
			return calls{length: wholeCall, whole: true}
		}
		// What falls with the length is as a rule divided by it: a third of the step is left.
		at := k + 1
		for left := math.Abs(step) / 3; left > callsLeft && at < last; left /= 4 {
			at++
		}
		return calls{length: callLengths[at]}
	}
	return calls{} // any length will do
}

// stepAt returns by how much calls of length k+1 cost more than those of length k, 0 if
// that is not sure: on a busy machine two tries differ by ten percent, whatever is
// tried. So all sides have to show it, or one of them by callsApart.
func stepAt(sides [][][]float64, k int) float64 {
	agreed, strongest := 0.0, 0.0
	for i, tries := range sides {
		step := stepOf(tries, k)
		if math.Abs(step) > math.Abs(strongest) {
			strongest = step
		}
		if i == 0 {
			agreed = step
		} else if step*agreed <= 0 {
			agreed = 0
		}
	}
	if math.Abs(strongest) > callsApart || agreed != 0 && len(sides) > 1 {
		return strongest
	}
	return 0
}

// stepOf is stepAt of one side: the median over all tries, if they agree which way it
// goes, and the cheapest tries do, which nothing has disturbed.
func stepOf(tries [][]float64, k int) float64 {
	n := triesOfLength(k + 1)
	var steps []float64
	short, long := math.Inf(1), math.Inf(1)
	for _, t := range tries[:n] {
		steps = append(steps, t[k+1]-t[k])
		short, long = min(short, t[k]), min(long, t[k+1])
	}
	slices.Sort(steps)
	step := stats.Median(steps)
	same := steps[0] > 0 && long-short > callsAlike || steps[n-1] < 0 && short-long > callsAlike
	if !same || math.Abs(step) <= callsAlike {
		return 0
	}
	return step
}

// costOf returns about how many nanoseconds an operation of p takes in a call of that
// length, of which some have been tried.
func (p *side) costOf(length time.Duration) float64 {
	cost := p.warm.perOp
	for i, c := range p.costs {
		if callLengths[i] <= length && c > 0 {
			cost = c
		}
	}
	return cost
}
