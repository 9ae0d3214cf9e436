package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/mem"
	"github.com/shirou/gopsutil/v4/process"

	"github.com/dynolab/dyno/lab/driven"
)

// Turns are taken like this, for each row in each block:
//
//  1. A process of each step is started, in random order, each with padding of
//     random length in its environment. Those that cannot be driven, or do not
//     fit into memory together, are measured in fresh processes instead.
//  2. Each is warmed up alone, until it is steady or that has taken long enough
//     (warmup.go); on the way it is found how many operations make a slice.
//  3. In each round each does one slice, in random order; all others are blocked
//     on their pipes. Copies of one benchmark do as many operations in it.
//  4. Each finishes. One that finds its results to be wrong has no figure.
//
// A row's slices are longer than Plan.Slice where a single operation takes longer,
// where a slice is a call of the benchmark function, or where garbage is collected so
// often that a slice should have several whole cycles. Then there are fewer rounds.

// A driver is a live process that takes turns: a *driven.Process, or a test's.
type driver interface {
	Hello() driven.Hello
	Run(n int) (driven.Slice, error)
	Reset() error
	Finish() (driven.Result, error)
	Close() error
}

// An unfitError says why the steps of a group cannot take turns.
type unfitError struct{ reason string }

func (e *unfitError) Error() string { return e.reason }

// A player is a step that takes turns in a block.
type player struct {
	step   Step
	pad    int
	live   driver
	memory uint64 // bytes it held when it was warm; 0 if that is not known
	warm   warmth
	slices []driven.Slice
	result driven.Result
	err    error // why it has no figure
}

const (
	// maxPad bounds the padding of an environment: a page, so that where the
	// process's stack begins takes every place in one.
	maxPad = 4096
	// padStep is a multiple of what a stack is aligned to anyway.
	padStep = 16
	// leastRounds is how many rounds there are at least, or Plan.Rounds if that is
	// less, however long the slices are: their median is the block's value.
	leastRounds = 4
	// stretch is how many times as long as planned the rounds of a row may take
	// before there are fewer of them.
	stretch = 2
)

// takeTurns measures the steps of g in block. Its error is an *unfitError,
// errKilled or ErrInterrupted; then nothing was measured.
func (r *run) takeTurns(ctx context.Context, block int, g Group) ([]entry, error) {
	chance := r.plan.chance(block, g)
	order := chance.Perm(len(g.Steps))
	players := make([]*player, len(g.Steps))
	for i, s := range g.Steps {
		players[i] = &player{step: s, pad: padStep * chance.IntN(maxPad/padStep)}
	}
	defer func() {
		for _, p := range players {
			if p.live != nil {
				_ = p.live.Close() // what it could lose is taken
			}
		}
	}()
	stop := r.stopper(ctx)
	for _, i := range order {
		if err := r.begin(block, players[i], stop); err != nil {
			return nil, err
		}
		if err := r.fit(players); err != nil {
			return nil, err
		}
	}
	if err := r.rounds(players, chance, stop); err != nil {
		return nil, err
	}
	for _, i := range order {
		p := players[i]
		if p.err == nil {
			p.result, p.err = p.live.Finish()
		}
		if errors.Is(p.err, driven.ErrKilled) {
			return nil, errKilled
		}
	}
	entries := make([]entry, len(players))
	for i, p := range players {
		entries[i] = r.entry(block, p)
	}
	return entries, nil
}

// stopper returns a function that returns ErrInterrupted when ctx has ended and
// the time since then is more than a row may still take.
func (r *run) stopper(ctx context.Context) func() error {
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
func (r *run) begin(block int, p *player, stop func() error) (err error) {
	if p.err = r.tried(p.step); p.err != nil {
		return nil
	}
	p.live, err = r.start(block, p.step, []string{padVariable + "=" + strings.Repeat("x", p.pad)})
	if err == nil {
		p.warm, err = warmUp(p.live, r.plan.Slice, stop)
	}
	if err == nil {
		err = p.live.Reset()
	}
	var refusal *driven.Refusal
	switch {
	case errors.Is(err, driven.ErrKilled):
		return errKilled
	case errors.Is(err, ErrInterrupted):
		return err
	case errors.As(err, &refusal), errors.Is(err, driven.ErrUnsupported):
		if r.plan.Mode != ModeTurns {
			return &unfitError{strings.TrimPrefix(p.step.Case.Name, "Benchmark") + ": " + err.Error()}
		}
	}
	p.err = err
	return nil
}

// padVariable is the variable that pads environments. Nobody reads it.
const padVariable = "DYNO_PADDING"

// fit returns an error if the processes hold more memory than those of a row may.
func (r *run) fit(players []*player) error {
	if r.room == 0 || r.plan.Mode == ModeTurns {
		return nil
	}
	var sum uint64
	for _, p := range players {
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

// alike gives the players that are well slices of one length, as far as leastWarm:
// a shorter slice has a larger part of waking up in it, so two that differ much in
// length would differ in time, too. Beyond that the part is small, and those that
// need no long slices would have few rounds for nothing.
func alike(players []*player) {
	var longest time.Duration
	for _, p := range players {
		if p.err == nil {
			longest = max(longest, min(p.warm.slice, leastWarm))
		}
	}
	for _, p := range players {
		if p.err == nil && p.warm.perOp > 0 && p.warm.slice < longest {
			p.warm.n = max(p.warm.n, multiple(float64(longest)/p.warm.perOp, max(1, p.live.Hello().Unit)))
			p.warm.slice = time.Duration(p.warm.perOp * float64(p.warm.n))
		}
	}
}

// sameWork gives the players of one benchmark that are well – its control, its other
// sides, slowed copies – as many operations in a slice, unless one needs more than
// twice as many as another: all of them the median. What a slice costs besides, such
// as waking up, is then the same for each. It were not if each had what itself took
// for so long, since that has the noise of its warming up in it; and of a copy that
// is slower, a slice of fewer operations would make it slower still.
func sameWork(players []*player) {
	for i, p := range players {
		var ns []int
		var same []*player
		first := true
		for j, q := range players {
			if q.step.Case.Name != p.step.Case.Name || q.step.CPU != p.step.CPU {
				continue
			}
			first = first && j >= i
			if q.err == nil && q.warm.perOp > 0 {
				ns, same = append(ns, q.warm.n), append(same, q)
			}
		}
		if !first || len(same) < 2 {
			continue
		}
		slices.Sort(ns)
		if ns[len(ns)-1] > 2*ns[0] {
			continue
		}
		for _, q := range same {
			q.warm.n = ns[len(ns)/2]
			q.warm.slice = time.Duration(q.warm.perOp * float64(q.warm.n))
		}
	}
}

// rounds has the players that are well take turns.
func (r *run) rounds(players []*player, chance *rand.Rand, stop func() error) error {
	alike(players)
	sameWork(players)
	var sum time.Duration // of a round
	well := 0
	called := false // slices are calls of a function, and longer for that alone
	for _, p := range players {
		if p.err == nil {
			sum += p.warm.slice
			well++
			called = called || p.live.Hello().Mode == driven.ModeRunN
		}
	}
	rounds := r.plan.Rounds
	planned := r.plan.Slice * time.Duration(well*rounds)
	if !called || r.plan.Slice >= leastRunN {
		planned *= stretch
	}
	if sum > 0 && sum*time.Duration(rounds) > planned {
		rounds = max(int(planned/sum), min(rounds, leastRounds))
	}
	for range rounds {
		for _, i := range chance.Perm(len(players)) {
			p := players[i]
			if p.err != nil {
				continue
			}
			if err := stop(); err != nil {
				return err
			}
			s, err := p.live.Run(p.warm.n)
			if errors.Is(err, driven.ErrKilled) {
				return errKilled
			}
			p.err = err
			p.slices = append(p.slices, s)
		}
	}
	return nil
}

// entry makes what p leaves in the results.
func (r *run) entry(block int, p *player) entry {
	e := entry{step: p.step, pad: p.pad, driven: ModeTurns}
	if p.live != nil {
		e.driven = p.live.Hello().Mode
	}
	if p.err == nil {
		e.line, e.slices, p.err = p.figures(r.plan.Benchmem)
	}
	if p.err != nil {
		e.hole, e.output, e.slices = r.hole(block, p.step, p.err), FailureOutput(p.err), nil
	}
	return e
}

// figures returns the benchmark line of p, and its slices. The line is what
// testing would have printed, but for the time of an operation, which is the
// median of the slices' instead of their mean: a mean has in it whatever
// disturbed one of them. A benchmark that reports a time of its own, or none, has
// no slices: theirs are of something else.
func (p *player) figures(benchmem bool) (line string, times *Slices, err error) {
	res, ok := parseResult(p.step.FullName() + " " + p.result.Line)
	if !ok {
		return "", nil, &failure{reason: fmt.Sprintf("ended with %q, which is no result", p.result.Line)}
	}
	s := &Slices{N: p.warm.n, Warmup: p.warm.slices, Steady: p.warm.steady}
	var sum driven.Slice
	for _, slice := range p.slices {
		s.Ns = append(s.Ns, slice.Elapsed.Nanoseconds())
		s.GCs += int(slice.GCs)
		sum.N += slice.N
		sum.Allocs += slice.Allocs
		sum.Bytes += slice.Bytes
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s \t%8d", p.step.FullName(), sum.N)
	value := func(v float64, unit string) {
		b.WriteString("\t " + figure(v) + " " + unit)
	}
	_, own := p.result.Extra["ns/op"]
	memory := false
	for _, v := range res.Values {
		v.Value, v.Unit = inUnit(v, written(v)), written(v)
		if v.Unit == "ns/op" && !own {
			sorted := slices.Sorted(slices.Values(s.Ns))
			v.Value = (float64(sorted[(len(sorted)-1)/2]) + float64(sorted[len(sorted)/2])) / 2 / float64(s.N)
			times = s
		}
		memory = memory || v.Unit == "B/op" || v.Unit == "allocs/op"
		value(v.Value, v.Unit)
	}
	if benchmem && !memory {
		value(float64(sum.Bytes/uint64(sum.N)), "B/op")
		value(float64(sum.Allocs/uint64(sum.N)), "allocs/op")
	}
	return b.String(), times, nil
}

// figure writes a value with six significant digits, or all of a whole number.
func figure(v float64) string {
	if v == float64(int64(v)) {
		return strconv.FormatInt(int64(v), 10)
	}
	text := strconv.FormatFloat(v, 'g', 6, 64)
	if strings.ContainsAny(text, "e") {
		text = strconv.FormatFloat(v, 'f', -1, 64)
	}
	return text
}

// shuffled returns the steps of g in the order in which they are measured in
// block if they cannot take turns.
func (p *Plan) shuffled(block int, g Group) []Step {
	steps := slices.Clone(g.Steps)
	p.chance(block, g).Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	return steps
}

// startDriven starts a step that is to take turns.
func startDriven(ctx context.Context, plan *Plan, s Subject, step Step, env []string, kill <-chan struct{}) (driver, error) {
	if s.Undrivable != nil {
		return nil, s.Undrivable
	}
	p, err := driven.Start(ctx, driven.Config{
		Binary:    s.Binary,
		Dir:       s.Dir,
		Benchmark: step.Case.Name,
		CPU:       step.CPU,
		Env:       env,
		Slow:      step.Case.Slow,
		Timeout:   plan.Timeout,
		Kill:      kill,
	})
	if err != nil {
		return nil, err // and no driver, which a nil *Process would be
	}
	return p, nil
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
// its disk.
func memoryForTurns(ctx context.Context) uint64 {
	v, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return 0
	}
	return v.Total / 4
}
