package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/process"
	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
)

// Turns are taken like this, for each row in each block:
//
//  1. A process of each step is started, in random order, each with padding of
//     random length in its environment. Those that cannot be driven, or do not
//     fit into memory together, are measured in fresh processes instead.
//  2. Each is warmed up alone (warmup.go); on the way it is found how many operations
//     make a slice. Then it is stopped, until its slice comes.
//  3. In the first block it is found whether slices have to be longer (calls.go).
//  4. In each round each does one slice; all others stand still. Every second round
//     has a random order, and the one after it the same backwards: what drifts
//     meanwhile weighs on all alike.
//  5. Each finishes. One that finds its results to be wrong has no figure.
//
// So the slices of a process are one continuous run of it, cut into pieces, and
// their sum has all that it costs.

// A Driver is a live process that takes turns: a *program.Process, or a test's.
type Driver interface {
	Hello() program.Hello
	Run(n int) (program.Slice, error)
	Call(n int) (program.Slice, error)
	Usage() (program.Usage, error)
	Freeze() bool
	CountHardware() error
	StopCounting() error
	Reset() error
	Finish() (program.Result, error)
	Close() error
}

// An unfitError says why the steps of a group cannot take turns.
type unfitError struct{ reason string }

func (e *unfitError) Error() string { return e.reason }

// A side is a step that alternates with others in a block.
type side struct {
	step   record.Step
	pad    int
	live   Driver
	memory uint64 // bytes it held when it was warm; 0 if that is not known
	warm   warmth
	took   time.Duration // its row, with everything
	frozen bool          // it stood still between its slices
	costs  []float64     // nanoseconds of an operation, by callLengths; nil if that was not tried

	tried   *lengthTrial    // nil if that was not
	counted []program.Slice // before the others, which are timed
	slices  []program.Slice
	result  program.Result
	err     error // why it has no figure
}

const (
	// maxPad bounds the padding of an environment: a page, so that where the
	// process's stack begins takes every place in one.
	maxPad = 4096
	// padStep is a multiple of what a stack is aligned to anyway.
	padStep = 16
	// leastRounds is how many rounds there are at least, or Plan.Rounds if that is
	// less, however long the slices are: one, and the same backwards. Of whole calls,
	// of which each is what go test would report, one is enough.
	leastRounds = 2
	// stretch is how many times as long as planned the rounds of a row may take
	// before there are fewer of them.
	stretch = 2
)

// takeTurns measures the steps of g in block. Its error is an *unfitError,
// program.ErrKilled or ErrInterrupted; then nothing was measured.
func (r *runner) takeTurns(ctx context.Context, block int, g record.Group) ([]record.Record, error) {
	began := r.now()
	chance := r.plan.Chance(block, g)
	order := chance.Perm(len(g.Steps))
	sides := make([]*side, len(g.Steps))
	for i, s := range g.Steps {
		sides[i] = &side{step: s, pad: padStep * chance.IntN(maxPad/padStep)}
	}
	defer func() {
		for _, p := range sides {
			if p.live != nil {
				_ = p.live.Close() // what it could lose is taken
			}
		}
	}()
	stop := r.stopper(ctx)
	for _, i := range order {
		if err := r.begin(block, sides[i], stop); err != nil {
			return nil, err
		}
		if err := r.fit(sides); err != nil {
			return nil, err
		}
	}
	if err := r.measureCalls(g, sides, stop); err != nil {
		return nil, err
	}
	alike(sides)
	sameWork(sides)
	if err := r.countHardware(g, sides, stop); err != nil {
		return nil, err
	}
	if err := r.rounds(g, sides, chance, stop); err != nil {
		return nil, err
	}
	for _, i := range order {
		p := sides[i]
		if p.err == nil {
			p.result, p.err = p.live.Finish()
		}
		if errors.Is(p.err, program.ErrKilled) {
			return nil, program.ErrKilled
		}
	}
	if r.longer(g, sides) {
		return r.takeTurns(ctx, block, g)
	}
	if len(r.firstUses[g.Index]) == 0 { // this is the first block of this run
		r.sayUntimed(sides)
	}
	r.sayFirstUse(g, sides)
	for _, p := range sides {
		p.took = r.now().Sub(began)
	}
	entries := make([]record.Record, len(sides))
	for i, p := range sides {
		entries[i] = r.entry(block, p)
	}
	return entries, nil
}

// longer reports whether the slices of g have to be longer than those that sides did: with
// b.Loop a benchmark reports its metrics in the end, so it is then seen that they are of its
// slices as a whole.
func (r *runner) longer(g record.Group, sides []*side) bool {
	seen := slices.ContainsFunc(sides, func(p *side) bool {
		return p.err == nil && p.live.Hello().Mode == program.ModeLoop && hasOwnFigure(p.result.Extra) && p.warm.slice < ownFigureSlice/2 && !p.warm.mostlyUntimed()
	})
	if !seen || r.ownFigures[g.Index] {
		return false
	}
	r.ownFigures[g.Index] = true
	delete(r.calls, g.Index)
	return true
}

// stopper returns a function that returns ErrInterrupted when ctx has ended and
// the time since then is more than a row may still take.
func (r *runner) stopper(ctx context.Context) func() error {
	var since time.Time
	return func() error {
		switch {
		case ctx.Err() == nil:
		case since.IsZero():
			since = r.now()
		case r.now().Sub(since) > grace:
			return ErrInterrupted
		}
		return nil
	}
}

// begin starts p's process and warms it up. What is the benchmark's own fault is
// p's error.
func (r *runner) begin(block int, p *side, stop func() error) (err error) {
	if p.err = r.tried(p.step); p.err != nil {
		return nil
	}
	p.live, err = r.Start(block, p.step, []string{padVariable + "=" + strings.Repeat("x", p.pad)})
	if err == nil {
		p.warm, err = warmUp(p.live, r.plan.Slice, stop)
	}
	if err == nil {
		err = r.lookAround(p)
	}
	if err == nil {
		err = p.live.Reset()
	}
	if err == nil {
		p.frozen = p.live.Freeze()
	}
	var refusal *program.Refusal
	if (errors.As(err, &refusal) || errors.Is(err, program.ErrUnsupported)) && r.plan.Mode != record.ModeTurns {
		return &unfitError{strings.TrimPrefix(p.step.Case.Name, "Benchmark") + ": " + err.Error()}
	}
	return p.blame(err)
}

// blame makes err, if there is one, the reason why p has no figure, unless it ends the whole
// row: then it is returned.
func (p *side) blame(err error) error {
	if endsRow(err) {
		return err
	}
	p.err = err
	return nil
}

// padVariable is the variable that pads environments. It is never read.
const padVariable = "DYNO_PADDING"

// fit returns an error if the processes hold more memory than those of a row may.
func (r *runner) fit(sides []*side) error {
	if r.room == 0 || r.plan.Mode == record.ModeTurns {
		return nil
	}
	var sum uint64
	for _, p := range sides {
		if p.live == nil || p.err != nil {
			continue
		}
		if p.memory == 0 { // while it waits it takes no more
			p.memory = r.rss(p.live.Hello().Pid)
		}
		sum += p.memory
	}
	if sum > r.room {
		return &unfitError{fmt.Sprintf("its processes together hold more than %d MiB of memory, a quarter of what there is", r.room>>20)}
	}
	return nil
}

// alike gives the sides that are well slices of one length, as far as leastWarm: a
// shorter slice has a larger part of waking up in it. Beyond that the part is small, and
// those that need no long slices would have few rounds for nothing. What is known to have as
// many operations on all sides keeps them, whatever it took to warm up: where a call prepares
// something, what an operation allocates depends on how many there are.
func alike(sides []*side) {
	var longest time.Duration
	for _, p := range sides {
		if p.err == nil {
			longest = max(longest, min(p.warm.slice, leastWarm))
		}
	}
	for _, p := range sides {
		if p.err == nil && p.warm.perOp > 0 && p.warm.slice < longest && !p.warm.known {
			unit := max(1, p.live.Hello().Unit)
			p.warm.resize(max(p.warm.n, multiple(float64(longest)/p.warm.perOp, unit)), unit)
		}
	}
}

// sameWork gives the sides of one benchmark that are well – its control, its other
// sides, slowed copies – as many operations in a slice, unless one is more than twice as fast as
// another. What a slice costs besides is then the same for each. It were not if each had what
// itself took for so long: that has the noise of its warming up in it, and a slower copy
// would get a slice of fewer operations, which makes it slower still. How far copies of one
// program are apart is noise, and on a busy machine can be more than twice.
func sameWork(sides []*side) {
	for _, all := range groups(sides, func(p *side) string { return fmt.Sprint(p.step.Case.Name, " ", p.step.CPU) }) {
		copies, noise := groups(all, func(p *side) string { return p.step.Case.Side }), 1.0
		for _, same := range copies {
			noise = max(noise, apart(same))
		}
		if apart(all) <= 2*noise {
			copies = [][]*side{all}
		}
		for _, same := range copies {
			level(same)
		}
	}
}

// groups returns the sides that are well, those with the same key together.
func groups(sides []*side, key func(*side) string) (all [][]*side) {
	at := make(map[string]int)
	for _, p := range sides {
		if p.err != nil || p.warm.perOp <= 0 {
			continue
		}
		i, ok := at[key(p)]
		if !ok {
			i = len(all)
			at[key(p)], all = i, append(all, nil)
		}
		all[i] = append(all[i], p)
	}
	return all
}

// apart is how many times as many operations the longest slice of sides has as the shortest.
func apart(sides []*side) float64 {
	ns := operations(sides)
	return float64(ns[len(ns)-1]) / float64(ns[0])
}

// level gives sides slices of as many operations: the median; where they are far apart, the
// most: what else the machine does makes a process seem slow, and none fast.
func level(sides []*side) {
	ns := operations(sides)
	n := ns[len(ns)/2]
	if apart(sides) > 2 {
		n = ns[len(ns)-1]
	}
	for _, p := range sides {
		p.warm.n = n
		p.warm.slice = time.Duration(p.warm.perOp * float64(n))
	}
}

// operations are how many the sides' slices have, ascending.
func operations(sides []*side) (ns []int) {
	for _, p := range sides {
		ns = append(ns, p.warm.n)
	}
	slices.Sort(ns)
	return ns
}

// countedPart is the part of the rounds that there are before them, for processors to
// count in: instructions scatter less than times, and being counted changes these.
const countedPart = 10

// countHardware has the sides of g that are well do some slices while processors count
// what they do. Where slices are so long that there are but a few rounds there are none,
// nor where nothing counts, which is said once.
func (r *runner) countHardware(g record.Group, sides []*side, stop func() error) error {
	rounds := r.roundsOf(sides, r.calls[g.Index].whole)
	if rounds = (rounds + countedPart/2) / countedPart; rounds == 0 {
		return nil
	}
	for _, p := range sides {
		if p.err != nil {
			continue
		}
		if err := p.live.CountHardware(); err != nil {
			if !r.toldHardware {
				r.toldHardware = true
				r.p.Note("no hardware counters: " + err.Error())
			}
			return nil // of this row; that a process has none need not be the machine's fault
		}
		for range rounds {
			if err := stop(); err != nil {
				return err
			}
			s, err := p.run()
			p.counted = append(p.counted, s)
			if p.blame(err) != nil {
				return err
			}
			if err != nil {
				break
			}
		}
		if err := errors.Join(p.err, p.live.StopCounting()); err != nil {
			p.err = err
			continue
		}
		if p.err = p.live.Reset(); p.err == nil { // what was counted is not measured
			p.live.Freeze()
		}
	}
	return nil
}

// rounds has the sides of g that are well take turns.
func (r *runner) rounds(g record.Group, sides []*side, chance *rand.Rand, stop func() error) error {
	run := (*side).run
	if r.calls[g.Index].whole {
		run = (*side).call
	}
	var order []int
	for round := range r.roundsOf(sides, r.calls[g.Index].whole) {
		if round%2 == 0 {
			order = chance.Perm(len(sides))
		} else {
			slices.Reverse(order)
		}
		for _, i := range order {
			p := sides[i]
			if p.err != nil {
				continue
			}
			if err := stop(); err != nil {
				return err
			}
			s, err := run(p)
			p.slices = append(p.slices, s)
			if p.blame(err) != nil {
				return err
			}
		}
	}
	return nil
}

// run does one slice of p, which stands still afterwards.
func (p *side) run() (program.Slice, error) {
	s, err := p.live.Run(p.warm.n)
	p.live.Freeze()
	return s, err
}

// call is run for a whole call of a benchmark function, as go test makes it.
func (p *side) call() (program.Slice, error) {
	s, err := p.live.Call(p.warm.n)
	p.live.Freeze()
	return s, err
}

// roundsOf returns in how many rounds sides do a slice each: as many as planned,
// fewer of slices that take much longer, and more where collections of garbage are far
// apart.
func (r *runner) roundsOf(sides []*side, whole bool) int {
	if whole {
		return 1
	}
	var longest, least, wall time.Duration
	for _, p := range sides {
		if p.err == nil {
			longest, least = max(longest, p.warm.slice), max(least, p.warm.leastRun())
			wall = max(wall, p.warm.slice+p.warm.besides())
		}
	}
	rounds := r.plan.Rounds
	if longest <= 0 {
		return rounds
	}
	planned := r.plan.Slice * time.Duration(rounds)
	if longest*time.Duration(rounds) > stretch*planned {
		rounds = max(int(stretch*planned/longest), min(rounds, leastRounds))
	}
	if least > planned {
		rounds = max(rounds, int(least/longest))
	}
	if most := stretchWall * max(stretch*planned, least); wall*time.Duration(rounds) > most {
		rounds = max(int(most/wall), min(rounds, leastRounds))
	}
	return min(rounds, record.MostRounds)
}

// entry makes what p leaves in the results.
func (r *runner) entry(block int, p *side) record.Record {
	e := record.Record{Step: p.step, Pad: p.pad, Driven: record.ModeTurns, Units: p.result.Units}
	if p.live != nil {
		e.Driven = p.live.Hello().Mode
	}
	if p.err == nil {
		e.Result, e.Slices, p.err = p.figures(r.plan.Benchmem)
	}
	if p.err != nil {
		e.Hole, e.Output = record.NewHole(p.step, block, p.err), program.Output(p.err)
	}
	return e
}

// figures returns the result of p, and its slices. The result is what testing would
// have printed of all slices together, with more digits: the time of an operation is
// the time of all slices divided by their operations. Behind it stands what the process
// has used. A benchmark that reports a time of its own, or none, has no slices: theirs
// are of something else.
func (p *side) figures(benchmem bool) (res *benchfmt.Result, times *record.Slices, err error) {
	res, ok := record.ParseResult(p.step.FullName() + " " + p.result.Line)
	if !ok {
		return nil, nil, &program.Failure{Reason: fmt.Sprintf("ended with %q, which is no result", p.result.Line)}
	}
	s := &record.Slices{N: p.warm.n, Warmup: p.warm.slices, Steady: p.warm.steady, Took: p.took, Whole: p.frozen}
	var sum program.Slice
	for _, slice := range p.slices {
		s.Ns = append(s.Ns, slice.Elapsed.Nanoseconds())
		if slice.CPU > 0 {
			s.CPU = append(s.CPU, slice.CPU)
		}
		s.GCs += int(slice.GCs)
		sum.N += slice.N
		sum.Elapsed += slice.Elapsed
		sum.CPU += slice.CPU
		sum.Allocs += slice.Allocs
		sum.Bytes += slice.Bytes
		sum.NoMemory = sum.NoMemory || slice.NoMemory
	}
	if len(s.CPU) < len(s.Ns) {
		s.CPU = nil
	}
	if p.warm.cycle > sum.Elapsed {
		s.Rare = float64(p.warm.collection) / float64(p.warm.cycle)
	}
	printed := res.Values
	res.Iters, res.Values = sum.N, nil
	value := func(v float64, unit string) { res.Values = append(res.Values, benchfmt.Value{Value: v, Unit: unit}) }
	ops := float64(sum.N)
	ours := map[string]float64{"B/op": float64(sum.Bytes) / ops, "allocs/op": float64(sum.Allocs) / ops}
	memory := false
	for _, v := range printed {
		v.Value, v.Unit = record.InUnit(v, record.Written(v)), record.Written(v)
		reported, own := p.result.Extra[v.Unit]
		if own {
			v.Value = reported // testing prints seven decimals: 4.2e-8 would be 0
		}
		if exact, ok := ours[v.Unit]; ok && !own && !sum.NoMemory {
			v.Value, memory = exact, true
		}
		if v.Unit == "ns/op" && !own {
			v.Value, times = float64(sum.Elapsed)/ops, s
		}
		value(v.Value, v.Unit)
	}
	for _, unit := range []string{"B/op", "allocs/op"} {
		if benchmem && !memory && !sum.NoMemory {
			value(ours[unit], unit)
		}
	}
	if times != nil {
		p.resources(sum, value)
		p.hardware(value)
	}
	return res, times, nil
}

// hardware adds what processors counted of p. Slices that were not counted wholly are
// left out with their operations.
func (p *side) hardware(value func(v float64, unit string)) {
	var sum program.Hardware
	ops := 0.0
	for _, s := range p.counted {
		if s.Hardware != nil {
			ops += float64(s.N)
			sum.Instructions += s.Hardware.Instructions
			sum.Cycles += s.Hardware.Cycles
		}
	}
	if ops > 0 {
		value(float64(sum.Instructions)/ops, record.UnitInstructions)
		value(float64(sum.Cycles)/ops, record.UnitCycles)
	}
}

// resources adds what p has used: processor time, collections and memory.
func (p *side) resources(sum program.Slice, value func(v float64, unit string)) {
	ops := float64(sum.N)
	if sum.CPU > 0 {
		value(float64(sum.CPU)/ops, record.UnitCPU)
	}
	for _, r := range []struct {
		name  string
		scale float64
		unit  string
	}{
		{program.ResourceGCCPU, 1 / ops, record.UnitGCCPU},
		{program.ResourceGCs, 1e6 / ops, record.UnitGCs},
		{program.ResourceLiveHeap, 1, record.UnitLiveHeap},
		{program.ResourcePeakRSS, 1, record.UnitPeakRSS},
	} {
		if v, ok := p.result.Resources[r.name]; ok {
			value(v*r.scale, r.unit)
		}
	}
}

// residentSize returns how many bytes a process holds in memory, 0 if the system
// does not tell.
func residentSize(pid int) uint64 {
	p, err := process.NewProcess(int32(pid))
	if err != nil {
		return 0
	}
	m, err := p.MemoryInfo()
	if err != nil {
		return 0
	}
	return m.RSS
}

// memoryForTurns returns how many bytes the processes of a row may hold together,
// 0 if the system does not tell: a quarter, because a machine that swaps measures
// its disk. It is of what control groups, in the files of root, allow: a container that
// takes more is killed.
func memoryForTurns(ctx context.Context, root fs.FS) uint64 {
	v, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return 0
	}
	return min(v.Total, memoryLimit(root)) / 4
}
