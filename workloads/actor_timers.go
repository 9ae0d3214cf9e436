package workloads

import (
	"container/heap"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/dynolab/dyno/actor"
)

const (
	timerOwners = 1000
	timerEach   = 100 // at once: 100,000 in all

	timerSpan = 1000 // milliseconds until the last one is due
	timerHalf = timerSpan / 2
)

// actorTimers is most systems' timeouts: half of them are stopped before they are due, by halves
// at once and later.
//
// They are started in rounds of 100,000, which live all at once; a smaller round is one at the
// end of a Do. Time is the workload's: it moves the system's clock on, by half of the longest
// timer's time and, when those actors that are to have stopped some of theirs, by the other half.
func actorTimers() []Workload {
	return []Workload{{
		Name:    "timers",
		Doc:     "1,000 actors start 100 timers each and stop half of them; the clock is moved on until the others are due: what a timer costs",
		Op:      "a timer, from its start to its end, with its message if it is due",
		Checked: "exactly those come that were not stopped, once, to their actor, and not early; a timer that is stopped says that it ran",
		TooBig:  "100,000 timers at a time",
		Slicing: Slicing{Unit: timerOwners * timerEach},
		Prepare: timersOnActors,
		Refs: []Ref{
			{
				Name:    refBuffered,
				Doc:     "a goroutine and a channel each, and one heap of timers behind a mutex, with a clock that is moved on",
				Prepare: func(Setting) Run { return timersOnHeap() },
			},
			{
				Name:    refAfterFunc,
				Doc:     "a goroutine and a channel each, and time.AfterFunc, for an hour; those that are due are reset to now, for that clock cannot be moved on",
				Prepare: func(Setting) Run { return timersOnAfterFunc() },
			},
		},
	}}
}

// tickState is where a tick is in its life.
type tickState uint8

const (
	tickNew     tickState = iota
	tickArmed             // its timer runs
	tickStopped           // it is not to come any more
	tickFired             // it has come
)

// A tick is the message of a timer.
type tick struct {
	owner *timerOwner
	timer interface{ Stop() bool }
	at    int64 // when it is due, in milliseconds of the run's time
	state tickState
	soon  bool // it is to be stopped at once
	later bool // it is to be stopped halfway, if it is not due before that

	pos int // of timersOnHeap: where it is in the heap
}

// What owners are told. There is one message of each for an owner.
type (
	armNote    struct{ from *timerOwner } // start your timers
	disarmNote struct{ from *timerOwner } // stop those that are to be stopped later
	sweepNote  struct{ from *timerOwner } // nothing; what is before it has been handled
)

// A timerOwner is who has timers. It belongs to its actor's turn and, between the
// parts of a round, to the Do.
type timerOwner struct {
	board *timerBoard
	index int
	ref   actor.Ref
	ticks []tick
	seed  uint32

	quota    int      // timers of this round
	due      [2]int   // of these, how many are to come in the first half, and in the second
	armed    int      // the last round that it started timers in
	disarmed int      // the last round that it stopped some in
	swept    bool     // nothing is to come any more
	_        [64]byte // the next one is another processor's

	arm    armNote
	disarm disarmNote
	sweep  sweepNote

	started, stopped, fired int64
}

// timerBoard is what runs in all ways have in common.
type timerBoard struct {
	*progress
	owners []timerOwner
	round  int
	now    int64 // in milliseconds: where the time is, or goes
	half   int   // of the round, 0 or 1
	asked  int64

	// How things are done: tell sends each owner that has timers in this round the
	// message that note picks, and waits for the end of what was begun; advance
	// moves the time on; wait waits.
	tell    func(note func(o *timerOwner) any) error
	advance func(ms int64)
	wait    func() error
}

func newTimerBoard(s *progress) *timerBoard {
	b := &timerBoard{progress: s, owners: make([]timerOwner, timerOwners)}
	ticks := make([]tick, timerOwners*timerEach)
	for i := range b.owners {
		o := &b.owners[i]
		o.board, o.index, o.seed = b, i, uint32(i)
		o.arm, o.disarm, o.sweep = armNote{o}, disarmNote{o}, sweepNote{o}
		o.ticks, ticks = ticks[:timerEach:timerEach], ticks[timerEach:]
		for j := range o.ticks {
			o.ticks[j].owner = o
		}
	}
	return b
}

// do starts n timers, and sees to their end.
func (b *timerBoard) do(n int) error {
	return inRounds(n, timerOwners*timerEach, b.turn)
}

// turn is a round of k timers.
func (b *timerBoard) turn(k int) error {
	b.round++
	b.asked += int64(k)
	for i := range b.owners {
		b.owners[i].quota = share(k, i, timerOwners)
	}
	busy := min(k, timerOwners)
	b.begin(k, busy)
	if err := b.tell(func(o *timerOwner) any { return &o.arm }); err != nil {
		return err
	}
	if err := b.pass(0); err != nil {
		return err
	}
	b.begin(k, busy)
	if err := b.tell(func(o *timerOwner) any { return &o.disarm }); err != nil {
		return err
	}
	return b.pass(1)
}

// pass lets half of the time pass, and waits for what is due in it.
func (b *timerBoard) pass(half int) error {
	parts := 0
	for i := range b.owners {
		if b.owners[i].due[half] > 0 {
			parts++
		}
	}
	b.half = half
	b.now += timerHalf
	if parts > 0 {
		b.begin(1, parts)
	}
	b.advance(timerHalf)
	if parts == 0 {
		return b.err()
	}
	return b.wait()
}

// finish looks whether anything comes that is not to come any more, and whether
// everything else has come.
func (b *timerBoard) finish() error {
	if b.round > 0 {
		for i := range b.owners {
			b.owners[i].quota, b.owners[i].swept = 1, true
		}
		b.advance(time.Hour.Milliseconds())
		b.begin(1, timerOwners)
		if err := b.tell(func(o *timerOwner) any { return &o.sweep }); err != nil {
			return err
		}
	}
	var started, over int64
	for i := range b.owners {
		o := &b.owners[i]
		started += o.started
		over += o.stopped + o.fired
	}
	if err := countCheck(b.asked, started); err != nil {
		return err
	}
	return countCheck(b.asked, over)
}

// handle handles a message to an owner, who starts timers with start.
func (o *timerOwner) handle(msg any, start func(t *tick, d time.Duration)) error {
	switch m := msg.(type) {
	case *tick:
		return o.take(m)
	case *armNote:
		return o.begin(m, start)
	case *disarmNote:
		return o.halt(m)
	case *sweepNote:
		if m.from != o || !o.swept {
			return errors.New("workloads: an owner of timers was told of the end before it")
		}
		o.swept = false
		o.board.part()
		return nil
	}
	return errStray()
}

// begin starts the timers of a round.
func (o *timerOwner) begin(m *armNote, start func(t *tick, d time.Duration)) error {
	b := o.board
	if m.from != o || o.armed == b.round {
		return errors.New("workloads: an owner was told twice to start its timers, or another one was told")
	}
	o.armed = b.round
	for i := range o.ticks[:o.quota] {
		t := &o.ticks[i]
		o.seed = o.seed*1664525 + 1013904223
		wait := 1 + int64(o.seed>>16)%timerSpan
		t.at = b.now + wait
		t.soon, t.later = i%4 == 1, i%4 == 2 && wait > timerHalf
		if !t.soon && !t.later {
			o.due[(wait-1)/timerHalf]++
		}
		t.state = tickArmed
		start(t, time.Duration(wait)*time.Millisecond)
	}
	o.started += int64(o.quota)
	for i := range o.ticks[:o.quota] {
		if o.ticks[i].soon {
			if err := o.end(&o.ticks[i]); err != nil {
				return err
			}
		}
	}
	b.part()
	return nil
}

// halt stops those timers that are to be stopped later.
func (o *timerOwner) halt(m *disarmNote) error {
	if m.from != o || o.armed != o.board.round || o.disarmed == o.board.round {
		return errors.New("workloads: an owner was told twice to stop its timers, or another one was told")
	}
	o.disarmed = o.board.round
	for i := range o.ticks[:o.quota] {
		if o.ticks[i].later {
			if err := o.end(&o.ticks[i]); err != nil {
				return err
			}
		}
	}
	o.board.part()
	return nil
}

// end stops a timer.
func (o *timerOwner) end(t *tick) error {
	if !t.timer.Stop() {
		return errors.New("workloads: a timer that is due in " + strconv.FormatInt(t.at-o.board.now, 10) + " ms was stopped, and said that there was nothing to stop")
	}
	t.state = tickStopped
	o.stopped++
	return nil
}

// take books a tick.
func (o *timerOwner) take(t *tick) error {
	b := o.board
	switch {
	case t.owner != o:
		return errors.New("workloads: the message of a timer went to another actor")
	case t.state == tickStopped:
		return errors.New("workloads: the message of a timer came that had been stopped")
	case t.state == tickFired:
		return errors.New("workloads: the message of a timer came twice")
	case t.state != tickArmed:
		return errors.New("workloads: the message of a timer came that was not started")
	case t.at > b.now:
		return errors.New("workloads: the message of a timer came " + strconv.FormatInt(t.at-b.now, 10) + " ms before it was due")
	}
	t.state = tickFired
	o.fired++
	if o.due[b.half]--; o.due[b.half] == 0 {
		b.part()
	}
	return nil
}

// timersRun is Timers run in any way.
type timersRun struct {
	timersSide
	board *timerBoard
}

// timersSide is who has the owners: they are stopped when the board is finished.
type timersSide interface {
	side
	stop() error
}

// Do implements [Run].
func (r timersRun) Do(n int) error {
	if err := r.err(); err != nil {
		return err
	}
	return r.board.do(n)
}

// Check implements [Run].
func (r timersRun) Check() error {
	if err := r.err(); err != nil {
		return err
	}
	if err := r.board.finish(); err != nil {
		return err
	}
	return r.stop()
}

func timersOnActors(st Setting) Run {
	clock := actor.NewManualClock(time.Unix(0, 0))
	s := &system{clock: clock}
	b := newTimerBoard(&s.progress)
	b.tell = func(note func(o *timerOwner) any) error {
		return s.play(func(ctx *actor.Context) error {
			for i := range b.owners {
				if o := &b.owners[i]; o.quota > 0 {
					if err := ctx.Tell(o.ref, note(o)); err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	b.advance = func(ms int64) { clock.Advance(time.Duration(ms) * time.Millisecond) }
	b.wait = s.wait
	s.raise(st, func(s *system, ctx *actor.Context) (err error) {
		for i := range b.owners {
			if b.owners[i].ref, err = s.spawn(ctx, &b.owners[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return timersRun{s, b}
}

func (o *timerOwner) Receive(ctx *actor.Context, msg any) error {
	return o.handle(msg, func(t *tick, d time.Duration) { t.timer = ctx.StartTimer(d, t) })
}

// timersByHand is Timers run by a reference.
type timersByHand struct {
	timersRun
	in []chan any // an owner's
}

// newTimersByHand makes the owners, who start timers with start.
func newTimersByHand(start func(r *timersByHand, t *tick, d time.Duration), advance func(r *timersByHand, ms int64)) *timersByHand {
	g := newGoroutines()
	b := newTimerBoard(&g.progress)
	r := &timersByHand{timersRun: timersRun{g, b}, in: make([]chan any, timerOwners)}
	for i := range r.in {
		r.in[i] = make(chan any, timerEach+1) // a timer does not wait for its owner
		g.launch(func() {
			o := &b.owners[i]
			for msg := range r.in[i] {
				if err := o.handle(msg, func(t *tick, d time.Duration) { start(r, t, d) }); err != nil {
					g.fail(err)
				}
			}
		})
	}
	b.tell = func(note func(o *timerOwner) any) error {
		for i := range b.owners {
			if o := &b.owners[i]; o.quota > 0 {
				r.in[i] <- note(o)
			}
		}
		return g.wait()
	}
	b.advance = func(ms int64) { advance(r, ms) }
	b.wait = g.wait
	g.let = func() {
		for _, in := range r.in {
			close(in)
		}
	}
	return r
}

// timersOnAfterFunc uses package time.
func timersOnAfterFunc() Run {
	return newTimersByHand(
		func(r *timersByHand, t *tick, _ time.Duration) {
			in := r.in[t.owner.index]
			t.timer = time.AfterFunc(time.Hour, func() { in <- t })
		},
		func(r *timersByHand, _ int64) {
			for i := range r.board.owners {
				o := &r.board.owners[i]
				for j := range o.ticks {
					if t := &o.ticks[j]; t.state == tickArmed && t.at <= r.board.now {
						t.timer.(*time.Timer).Reset(0)
					}
				}
			}
		})
}

// timerHeap is timers as one writes them: a [heap.Interface] behind a mutex.
type timerHeap struct {
	mu    sync.Mutex
	ticks []*tick
}

func (h *timerHeap) Len() int           { return len(h.ticks) }
func (h *timerHeap) Less(i, j int) bool { return h.ticks[i].at < h.ticks[j].at }
func (h *timerHeap) Swap(i, j int) {
	h.ticks[i], h.ticks[j] = h.ticks[j], h.ticks[i]
	h.ticks[i].pos, h.ticks[j].pos = i+1, j+1
}

func (h *timerHeap) Push(x any) {
	t := x.(*tick)
	h.ticks = append(h.ticks, t)
	t.pos = len(h.ticks)
}

func (h *timerHeap) Pop() any {
	last := len(h.ticks) - 1
	t := h.ticks[last]
	h.ticks[last] = nil
	h.ticks = h.ticks[:last]
	t.pos = 0
	return t
}

// heapTimer is what stops a timer of a heap.
type heapTimer struct {
	heap *timerHeap
	tick *tick
}

// Stop takes the timer out of the heap, and reports whether it was there.
func (t *heapTimer) Stop() bool {
	t.heap.mu.Lock()
	defer t.heap.mu.Unlock()
	if t.tick.pos == 0 {
		return false
	}
	heap.Remove(t.heap, t.tick.pos-1)
	return true
}

// timersOnHeap has a heap for all.
func timersOnHeap() Run {
	h := new(timerHeap)
	return newTimersByHand(
		func(_ *timersByHand, t *tick, _ time.Duration) {
			h.mu.Lock()
			heap.Push(h, t)
			h.mu.Unlock()
			t.timer = &heapTimer{h, t}
		},
		func(r *timersByHand, _ int64) {
			for {
				h.mu.Lock()
				if len(h.ticks) == 0 || h.ticks[0].at > r.board.now {
					h.mu.Unlock()
					return
				}
				t := heap.Pop(h).(*tick)
				h.mu.Unlock()
				r.in[t.owner.index] <- t
			}
		})
}
