package workstealing

import (
	"math/bits"
	"sync/atomic"

	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/task"
)

const (
	// glance is how many tasks a processor takes from its own forks before it
	// looks elsewhere: without it one that always finds some of its own would keep
	// those that have arrived waiting for ever. A prime, as in Go's scheduler.
	glance = 61

	// bottom is the number of the turn among those at which it takes the oldest
	// of its forks and not the newest, for the same reason.
	bottom = 31
)

// processor is a slot for a goroutine that runs tasks. The slot outlives the
// goroutine. All methods are for the goroutine that has it.
type processor struct {
	forks forks

	x   *Executor
	row *row   // where it is
	bit uint64 // and its bit there

	rng   uint64        // xorshift state
	round uint32        // the last round in which it counted itself,
	among *atomic.Int32 // and where; nil if it took that back
	turn  uint32        // tasks taken between two tasks
	depth int           // tasks in progress on its goroutine

	over atomic.Uint32 // tasks that ended here; written by the owner
	_    [64]byte      // the next processor's owner must not share the line
}

// work is the life of a processor's goroutine, which counts as a looker from the
// moment it was started.
func (x *Executor) work() {
	x.await()
	p := x.unpark()
	if h := p.look(); h != nil {
		p.run(h)
		return
	}
	x.park(p)
}

// revive goes on with a slot whose goroutine a task has ended.
func (p *processor) revive() { p.run(p.next()) }

// run runs h, which may be nil, and others until there are none, then parks the
// slot. The processor is not a looker.
func (p *processor) run(h *task.Handle) {
	returned := false
	defer func() {
		if !returned {
			go p.revive()
		}
	}()
	x := p.x
	for {
		for h != nil {
			p.perform(h)
			h = p.next()
		}
		if h = p.take(batch); h != nil {
			continue
		}
		if lookers(x.watch.Load()) > 0 {
			break // somebody looks already; two would only be in each other's way
		}
		x.watch.Add(1)
		if h = p.look(); h == nil {
			break
		}
	}
	returned = true
	x.park(p)
}

// perform runs h, which this processor has claimed.
func (p *processor) perform(h *task.Handle) {
	if v := p.x.watch.Load(); p.round != round(v) {
		p.move(round(v))
	}
	r := h.Room()
	if invariants.Enabled && (r.Word.Load()&claimed == 0 || r.Place != nil) {
		invariants.Violated("workstealing", "a task runs once, by who has claimed it")
	}
	s := task.Failed // unless Run returns
	p.depth++
	r.Place = p
	defer func() {
		p.depth--
		r.Place = nil
		p.x.end(h, s, &p.over)
	}()
	s = h.Run()
}

// move counts the processor among those that have begun a task in this round.
func (p *processor) move(round uint32) {
	p.round, p.among = round, &p.x.loops
	if p.depth > 0 {
		p.among = &p.x.joins
	}
	p.among.Add(1)
}

// still takes it back: the processor is about to block.
func (p *processor) still() {
	if p.among != nil && p.round == round(p.x.watch.Load()) {
		p.among.Add(-1)
		p.among = nil
		p.round--
	}
}

// show makes the processor's tasks visible for others, after the first was added.
func (p *processor) show() {
	if p.row.shown.Load()&p.bit == 0 {
		p.row.show(p.bit)
	}
}

// next claims a task of the processor's own: the newest, whose data is in the
// cache, but for one of each glance.
func (p *processor) next() *task.Handle {
	p.turn++
	switch p.turn % glance {
	case 0:
		if h := p.take(1); h != nil {
			return h
		}
	case bottom:
		if h := p.forks.steal(); h != nil && claim(h) {
			return h
		}
	}
	for {
		h := p.forks.pop()
		if h == nil || claim(h) {
			return h
		}
	}
}

// look looks for a task for a while and claims it. The processor counts as a
// looker before the call and not after it.
func (p *processor) look() *task.Handle {
	x := p.x
	for {
		for range looks {
			if h := p.grab(batch); h != nil {
				// What others have left is this looker's business as well.
				if lookers(x.watch.Add(^uint64(0))) == 0 && x.visible() {
					x.wake()
				}
				return h
			}
		}
		if x.resign() {
			return nil
		}
	}
}

// resign makes a looker none, unless there is a task now that it has not found: who
// has made that visible may have relied on it.
func (x *Executor) resign() bool {
	x.watch.Add(^uint64(0))
	if !x.visible() {
		return true
	}
	x.watch.Add(1)
	return false
}

// take is grab for a processor that is not a looker.
func (p *processor) take(limit int) *task.Handle {
	h := p.grab(limit)
	// What has arrived is out of sight while grab has it in its hands, and a
	// looker may have given up meanwhile.
	if x := p.x; h != nil && lookers(x.watch.Load()) == 0 && (p.forks.len() > 0 || !x.arrivals.empty()) {
		x.wake()
	}
	return h
}

// grab claims a task that has arrived, or one of another processor's, and puts up
// to limit-1 more that have arrived into the own forks.
func (p *processor) grab(limit int) *task.Handle {
	x := p.x
	if !x.arrivals.empty() {
		if h := p.receive(limit); h != nil {
			return h
		}
	}
	p.rng ^= p.rng << 13
	p.rng ^= p.rng >> 7
	p.rng ^= p.rng << 17
	rows := *x.rows.Load()
	start := int(p.rng >> 6 % uint64(len(rows)))
	for _, part := range [2][]*row{rows[start:], rows[:start]} {
		for _, r := range part {
			if h := p.search(r, int(p.rng%64)); h != nil {
				return h
			}
		}
	}
	return nil
}

// receive is grab of what has arrived.
func (p *processor) receive(limit int) *task.Handle {
	x := p.x
	if x.active.Load() > crowd {
		limit = 1
	}
	var some [batch]*task.Handle
	for n := x.arrivals.take(some[:limit]); n > 0; n = x.arrivals.take(some[:limit]) {
		for i, h := range some[:n] {
			if claim(h) {
				if i+1 < n {
					p.forks.fill(some[i+1 : n])
					p.show()
				}
				return h
			}
		}
	}
	return nil
}

// search claims a task of a processor in r, the first one to be asked being the
// one at start or after it.
func (p *processor) search(r *row, start int) *task.Handle {
	for shown := bits.RotateLeft64(r.shown.Load(), -start); shown != 0; shown &= shown - 1 {
		v := r.slots[(bits.TrailingZeros64(shown)+start)%64].Load()
		if v == p {
			continue
		}
		if h := p.rob(v); h != nil {
			return h
		}
	}
	return nil
}

// rob claims the oldest task of another processor: of tasks that divide a problem
// it is the one with the largest part.
func (p *processor) rob(v *processor) *task.Handle {
	for {
		h := v.forks.steal()
		if h == nil || claim(h) {
			return h
		}
	}
}
