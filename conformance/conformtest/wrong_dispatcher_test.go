package conformtest

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
)

// wrongDispatcher runs actors with one mutex, a slice and a goroutine for every
// time that an actor becomes ready, with at most one bug.
type wrongDispatcher struct {
	bug  bug
	most int // goroutines, 0: any number
	self actor.Dispatcher

	// lone is the one who runs actors, if they run on the callers' goroutines.
	lone    *wrongWorker
	driving bool

	mu       sync.Mutex // guards what follows, driving, and all boxes
	ready    []*wrongBox
	running  int // goroutines
	started  bool
	stopping bool
	done     func()
	gone     actor.Stats   // of goroutines that have ended
	kept     []any         // what should have been let go
	bytes    []*[1024]byte // for one bug only
	chunk    int           // how many bytes that should be
	taken    int           // actors out of ready
	waits    *wrongSender  // who drives, and only as long as it has to wait; for some bugs only
	free     []*wrongBox   // of actors that have stopped, for some bugs only
	ended    chan struct{}
}

// wrongSynchronous is a wrongDispatcher without goroutines.
type wrongSynchronous struct{ *wrongDispatcher }

// wrongLeft holds what dispatchers should not leave anywhere.
var wrongLeft []*wrongBox

func newWrongDispatcher(b bug, synchronous bool) actor.Dispatcher {
	d := &wrongDispatcher{bug: b, ended: make(chan struct{})}
	d.self = d
	switch {
	case b.is("one worker", "yield to the front", "newest ready actor first", "newest ready actor first, but for every thousandth"):
		d.most = 1
	case b.is("worker lost with Goexit"):
		d.most = 4 * runtime.GOMAXPROCS(0)
	}
	if synchronous {
		d.self = wrongSynchronous{d}
		d.lone = &wrongWorker{d: d}
	}
	return d.self
}

// wrongWorker is a goroutine that runs actors.
type wrongWorker struct {
	d     *wrongDispatcher
	tally actor.Tally
}

func (w *wrongWorker) Dispatcher() actor.Dispatcher { return w.d.self }

func (d *wrongDispatcher) Start() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.started && !d.bug.is("second start accepted") {
		return errors.New("wrong: started before")
	}
	d.started = true
	return nil
}

func (d *wrongDispatcher) Attach(cfg actor.MailboxConfig) actor.Port {
	if d.bug.is("goroutine until the system ends") {
		go func() { <-d.ended }()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bug.is("port used again") && len(d.free) > 0 {
		b := d.free[0]
		d.free = d.free[1:]
		*b = wrongBox{d: d, cfg: cfg}
		return b
	}
	b := &wrongBox{d: d, cfg: cfg}
	if d.bug.is("system kept for ever") {
		wrongLeft = append(wrongLeft, b)
	}
	return b
}

func (d *wrongDispatcher) Stop(done func()) {
	d.mu.Lock()
	d.stopping = true
	d.done = done
	close(d.ended)
	d.mu.Unlock()
	if d.bug.is("done called with a worker left") {
		d.done = nil // in the root's turn, so on a worker
		done()
		time.Sleep(time.Millisecond) // who waits comes first
	}
	if d.bug.is("goroutine left by Stop") {
		go func() { <-make(chan int) }()
	}
}

func (d *wrongDispatcher) AddStats(s *actor.Stats) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.bug.is("not counted before the start") && !d.started {
		panic("wrong: not started")
	}
	if d.bug.is("workers counted wrongly") {
		s.Workers++
	}
	s.Workers += d.running
	if d.bug.is("turns not counted") || d.bug.is("counted at the end only") && !d.stopping {
		return
	}
	s.Turns += d.gone.Turns
	if d.bug.is("messages not counted") {
		return
	}
	s.Messages += d.gone.Messages
}

// schedule makes b ready. mu is held.
func (d *wrongDispatcher) schedule(b *wrongBox) {
	d.ready = append(d.ready, b)
	if d.lone != nil && !d.bug.is("actors run in the background") || d.most > 0 && d.running >= d.most {
		return
	}
	d.running++
	go func() {
		w := &wrongWorker{d: d}
		d.mu.Lock()
		defer d.leave(w)
		d.drive(w)
	}()
}

// leave ends what drives actors. mu is held at the call and not afterwards.
func (d *wrongDispatcher) leave(w *wrongWorker) {
	w.tally.Publish()
	w.tally.AddTo(&d.gone)
	d.running--
	var done func()
	if d.stopping && d.running == 0 && !d.bug.is("done never called") {
		done, d.done = d.done, nil
	}
	d.mu.Unlock()
	if done != nil {
		done()
	}
}

// drive runs actors until none is ready. mu is held, but not during turns.
func (d *wrongDispatcher) drive(w *wrongWorker) {
	returned := false
	defer func() {
		if returned {
			return
		}
		// An actor has called Goexit.
		if d.bug.is("worker lost with Goexit") {
			d.running++
			return
		}
		d.drive(w)
	}()
	for len(d.ready) > 0 {
		i := 0
		d.taken++
		switch {
		case d.bug.is("newest ready actor first"), d.bug.is("newest ready actor first, but for every thousandth") && d.taken%1000 != 0:
			i = len(d.ready) - 1
		case d.bug.is("ready actors in random order"):
			i = rand.IntN(len(d.ready))
		}
		b := d.ready[i]
		d.ready = slices.Delete(d.ready, i, i+1)
		var kept *wrongBox
		if d.bug.is("two ready actors taken at once") && len(d.ready) > 0 {
			kept = d.ready[0]
			d.ready = slices.Delete(d.ready, 0, 1)
		}
		d.mu.Unlock()
		b.turn(w)
		if kept != nil {
			d.mu.Unlock()
			kept.turn(w)
		}
		if d.bug.is("RunUntilIdle ends early") || d.waits != nil && len(d.waits.answer) > 0 {
			break
		}
	}
	returned = true
}

// RunUntilIdle implements [actor.Synchronous].
func (d wrongSynchronous) RunUntilIdle() {
	d.mu.Lock()
	w := d.lone
	if d.bug.is("RunUntilIdle runs actors in a turn", "two callers run actors") {
		w = &wrongWorker{d: d.wrongDispatcher}
	} else if d.driving {
		d.mu.Unlock()
		return
	}
	d.driving = true
	d.running++
	defer func() {
		d.driving = false
		d.lone = &wrongWorker{d: d.wrongDispatcher} // what w has counted is counted
		d.leave(w)
	}()
	d.drive(w)
}

// phases of an actor.
const (
	wrongAsleep = iota
	wrongReady  // or in a turn
	wrongSuspended
	wrongFinished
)

type wrongItem struct {
	msg  any
	prio int
}

type wrongSender struct {
	wrongItem
	answer chan error // capacity 1
}

// wrongBox is an actor with its mailbox.
type wrongBox struct {
	cell actor.Cell
	d    *wrongDispatcher
	cfg  actor.MailboxConfig

	phase   int
	inTurn  bool
	shut    bool
	items   []wrongItem
	senders []*wrongSender
	sends   int // accepted so far
	batch   int // for some bugs only: how many items there were when the turn began, less those taken
}

func (b *wrongBox) Cell() *actor.Cell { return &b.cell }

func (b *wrongBox) Len() int {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	return len(b.items)
}

func (b *wrongBox) item(msg any) wrongItem {
	it := wrongItem{msg: msg}
	if b.cfg.Priority != nil {
		if b.d.bug.is("priority asked under the lock") {
			b.d.mu.Lock()
			defer b.d.mu.Unlock()
		}
		it.prio = b.cfg.Priority(msg)
	}
	return it
}

// full reports whether the mailbox has no room. mu is held.
func (b *wrongBox) full() bool {
	bound := b.cfg.Capacity
	if bound == 0 || b.cfg.Policy == actor.Grow && !b.d.bug.is("Grow is a bound") {
		return false
	}
	used := len(b.items)
	switch {
	case b.d.bug.is("bound one too high"):
		bound++
	case b.d.bug.is("bound one too low") && bound > 1:
		bound--
	case b.d.bug.is("message in hand counts") && b.inTurn:
		used++
	case b.d.bug.is("room not given back"):
		used = min(b.sends, max(len(b.items), b.sends-1)) // one slot is
	}
	return used >= bound
}

// push queues an item. mu is held.
func (b *wrongBox) push(it wrongItem) {
	b.sends++
	bug := b.d.bug
	if bug.is("every seventh message lost") && b.sends%7 == 0 {
		return
	}
	if bug.is("message lost when 10,000 wait") && len(b.items) >= 10_000 {
		return
	}
	b.items = append(b.items, it)
	if n := len(b.items); n > 1 && bug.is("every seventh message overtakes one") && b.sends%7 == 0 {
		b.items[n-1], b.items[n-2] = b.items[n-2], b.items[n-1]
	}
	if bug.is("every seventh message doubled") && b.sends%7 == 0 {
		b.items = append(b.items, it)
	}
	if bug.is("messages kept") {
		b.d.kept = append(b.d.kept, it.msg)
	}
	if bug.is("a byte of each message kept") {
		if b.d.chunk++; b.d.chunk%1024 == 0 { // no more and no less: a slice would grow in leaps
			b.d.bytes = append(b.d.bytes, new([1024]byte))
		}
	}
}

// first returns the index of the item that is next. There is one.
func (b *wrongBox) first() int {
	bug := b.d.bug
	if bug.is("newest message first") {
		return len(b.items) - 1
	}
	if b.cfg.Priority == nil || bug.is("priority ignored") {
		return 0
	}
	items := b.items
	if bug.is("priority looked at once in a while") {
		if b.batch <= 0 {
			b.batch = len(items)
		}
		items = items[:b.batch]
	}
	best := 0
	largest, unstable := bug.is("largest priority first"), bug.is("priority unstable")
	for i, it := range items { // long, in a flood
		p := items[best].prio
		switch {
		case largest:
			if it.prio > p {
				best = i
			}
		case it.prio < p || it.prio == p && unstable:
			best = i
		}
	}
	return best
}

// take removes an item. mu is held.
func (b *wrongBox) take(i int) any {
	msg := b.items[i].msg
	if i == 0 {
		b.items[0] = wrongItem{}
		b.items = b.items[1:]
	} else {
		b.items = slices.Delete(b.items, i, i+1)
	}
	return msg
}

func (b *wrongBox) Send(msg any, from actor.Worker) actor.SendResult {
	bug := b.d.bug
	it := b.item(msg)
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	if b.shut {
		if bug.is("messages accepted after Close") {
			return actor.Sent
		}
		return actor.Closed
	}
	if b.full() {
		switch b.cfg.Policy {
		case actor.DropOldest:
			b.dropOldest(it)
			return actor.Sent
		case actor.Block:
			if !bug.is("Full instead of waiting") {
				return actor.MustWait
			}
		case actor.Grow: // of the bug that makes it a bound
		case actor.DropNewest:
			if bug.is("DropNewest silent") {
				return actor.Sent
			}
		default:
			panic("no rule for " + b.cfg.Policy.String())
		}
		return actor.Full
	}
	if bug.is("stream to a suspended actor lost") && from != nil && b.phase == wrongSuspended && len(b.items) >= 64 {
		return actor.Sent
	}
	b.push(it)
	if _, number := msg.(int); number && len(b.items) < 12 && bug.is("idle actor not woken until twelve numbers wait") {
		return actor.Sent
	}
	b.wake(wrongAsleep)
	return actor.Sent
}

// dropOldest makes room and queues it. mu is held.
func (b *wrongBox) dropOldest(it wrongItem) {
	bug := b.d.bug
	out := 0
	if b.cfg.Priority != nil && !bug.is("oldest dropped whatever its priority") {
		for i, x := range b.items {
			if p := b.items[out].prio; x.prio > p || x.prio == p && bug.is("newest of the lowest dropped") {
				out = i
			}
		}
	}
	var dropped any
	switch {
	case bug.is("DropOldest drops the newest"):
		dropped = it.msg
	case b.cfg.Priority != nil && b.items[out].prio < it.prio && !bug.is("oldest dropped whatever its priority"):
		dropped = it.msg
	default:
		dropped = b.take(out)
		b.push(it)
	}
	if !bug.is("DropOldest silent") {
		b.cell.Undelivered(dropped, actor.ErrDropped)
	}
	b.wake(wrongAsleep)
}

// wake schedules the actor if its phase is not beyond most. mu is held.
func (b *wrongBox) wake(most int) {
	bug := b.d.bug
	if bug.is("message handled by its sender") && b.phase == wrongAsleep && most == wrongAsleep {
		b.phase = wrongReady
		b.d.running++
		b.d.mu.Unlock()
		b.turn(&wrongWorker{d: b.d})
		b.d.running--
		return
	}
	if bug.is("two turns at once") && b.inTurn {
		b.d.schedule(b)
		return
	}
	if b.phase == wrongAsleep ||
		b.phase == wrongSuspended && (most == wrongSuspended || bug.is("suspended actor woken by messages")) {
		b.phase = wrongReady
		b.d.schedule(b)
	}
}

func (b *wrongBox) Wake(from actor.Worker) {
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	switch bug := b.d.bug; {
	case bug.is("system message of an actor wakes no worker") && from != nil:
	case bug.is("idle actor not woken by system messages") && b.phase == wrongAsleep && b.sends > 0:
	case bug.is("suspended actor not woken"):
		b.wake(wrongAsleep)
	default:
		b.wake(wrongSuspended)
	}
}

func (b *wrongBox) SendWait(ctx context.Context, msg any, from actor.Worker) error {
	bug := b.d.bug
	it := b.item(msg)
	d := b.d
	d.mu.Lock()
	defer d.mu.Unlock()
	if b.shut {
		return actor.ErrStopped
	}
	if !b.full() {
		b.push(it)
		b.wake(wrongAsleep)
		return nil
	}
	if err := ctx.Err(); err != nil && !bug.is("waiting sender ignores its context") {
		return err
	}
	s := &wrongSender{it, make(chan error, 1)}
	b.senders = append(b.senders, s)
	if d.lone != nil && !bug.is("deadlock not noticed", "actors run in the background") {
		if from != nil || !d.driving {
			return b.runAndWait(ctx, s, from)
		}
	}
	ended := ctx.Done()
	if bug.is("waiting sender ignores its context") {
		ended = nil
	}
	d.mu.Unlock()
	for bug.is("waiting sender spins") && !spinOver.Load() && len(s.answer) == 0 && ctx.Err() == nil {
		runtime.Gosched()
	}
	select {
	case err := <-s.answer:
		d.mu.Lock()
		return err
	case <-ended:
	}
	d.mu.Lock()
	return b.giveUp(s, ctx.Err())
}

// runAndWait has the waiting sender run actors, since no other goroutine does. mu is
// held.
func (b *wrongBox) runAndWait(ctx context.Context, s *wrongSender, from actor.Worker) error {
	d := b.d
	if from == nil {
		d.driving = true
		d.running++
		if d.bug.is("waiting sender runs no more than it must") {
			d.waits = s
		}
		d.drive(d.lone)
		d.waits = nil
		d.driving = false
		w := d.lone
		d.lone = &wrongWorker{d: d}
		d.leave(w) // the root's last turn may have been among these
		d.mu.Lock()
	} else {
		d.drive(d.lone)
	}
	if err := ctx.Err(); err != nil {
		return b.giveUp(s, err)
	}
	return b.giveUp(s, actor.ErrDeadlock)
}

// giveUp ends the wait of s with err, unless it has been answered. mu is held.
func (b *wrongBox) giveUp(s *wrongSender, err error) error {
	select {
	case err := <-s.answer:
		return err
	default:
	}
	if !b.d.bug.is("given-up message handled") {
		b.senders = slices.DeleteFunc(b.senders, func(x *wrongSender) bool { return x == s })
	}
	return err
}

// admit lets waiting senders in. mu is held.
func (b *wrongBox) admit() {
	bug := b.d.bug
	for n := 0; len(b.senders) > 0 && (!b.full() || bug.is("two senders for one slot") && n < 2); n++ {
		if bug.is("waiting sender not let in") {
			return
		}
		s := b.senders[0]
		b.senders = b.senders[1:]
		if n := len(b.senders); n > 0 && bug.is("last sender served first") {
			s, b.senders[n-1] = b.senders[n-1], s
		}
		b.push(s.wrongItem)
		s.answer <- nil
	}
}

func (b *wrongBox) Close() {
	bug := b.d.bug
	if bug.is("message lost that comes during Close") {
		b.d.mu.Lock()
		items := b.items
		b.items = nil
		b.d.mu.Unlock()
		for _, it := range items {
			b.cell.Undelivered(it.msg, actor.ErrStopped)
		}
		time.Sleep(time.Millisecond) // the moment in which it matters
		b.d.mu.Lock()
		b.items = nil
		b.d.mu.Unlock()
	}
	b.d.mu.Lock()
	b.shut = true
	items, senders := b.items, b.senders
	b.senders = nil
	if !bug.is("mailbox of a stopped actor kept") {
		b.items = nil
	}
	switch {
	case bug.is("waiting senders not released by Close"):
		b.d.kept = append(b.d.kept, senders)
		senders = nil
	}
	for _, s := range senders {
		if bug.is("waiting senders let in by Close") {
			s.answer <- nil
			continue
		}
		s.answer <- actor.ErrStopped
		if bug.is("waiting senders' messages undelivered too") {
			items = append(items, s.wrongItem)
		}
	}
	b.d.mu.Unlock()
	if b.cfg.Priority != nil {
		slices.SortStableFunc(items, func(a, b wrongItem) int { return a.prio - b.prio })
	}
	switch {
	case bug.is("mailbox thrown away by Close"):
		items = nil
	case bug.is("mailbox handed over newest first"):
		slices.Reverse(items)
	case bug.is("mailbox handed over twice"):
		items = append(items, items...)
	case bug.is("first message lost by Close") && len(items) > 0:
		items = items[1:]
	}
	for _, it := range items {
		reason := actor.ErrStopped
		if bug.is("mailbox handed over for a wrong reason") {
			reason = actor.ErrDropped
		}
		b.cell.Undelivered(it.msg, reason)
	}
}

// pop returns the next message.
func (b *wrongBox) pop() (msg any, ok bool) {
	bug := b.d.bug
	b.d.mu.Lock()
	defer b.d.mu.Unlock()
	if len(b.items) == 0 || b.batch == 0 && b.d.bug.is("what comes in a turn overlooked", "late message overlooked") {
		return nil, false
	}
	msg = b.take(b.first())
	b.batch--
	b.admit()
	switch {
	case bug.is("nil taken for nothing") && msg == nil:
		return nil, false
	case bug.is("user message taken for a system message") && msg == any(actor.StateStopping):
		b.cell.Undelivered(msg, actor.ErrStopped)
		return nil, false
	}
	return msg, true
}

// turn runs a turn. mu is not held at the call, and held afterwards, also if
// the actor calls Goexit.
func (b *wrongBox) turn(w *wrongWorker) {
	var (
		msg      any
		v        actor.Verdict
		returned bool
	)
	bug := b.d.bug
	defer func() {
		if !returned {
			p := recover()
			switch {
			case p == nil && bug.is("actor stuck after Goexit"):
				b.d.mu.Lock()
				return
			case p != nil && bug.is("panic overlooked"):
				v = b.cell.EndTurn(&w.tally)
			case bug.is("failed message forgotten"):
				v = b.cell.Caught(&w.tally, nil, p)
			case p != nil && bug.is("panic's value lost"):
				v = b.cell.Caught(&w.tally, msg, "a panic")
			default:
				v = b.cell.Caught(&w.tally, msg, p)
			}
		}
		b.rest(v)
	}()
	b.d.mu.Lock()
	b.inTurn = true
	b.batch = len(b.items)
	b.d.mu.Unlock()
	more := b.cell.BeginTurn(w) || bug.is("BeginTurn's answer ignored")
	for more {
		if msg, more = b.pop(); more {
			more = b.cell.Invoke(msg) || bug.is("Invoke's answer ignored")
		}
	}
	v = b.cell.EndTurn(&w.tally)
	returned = true
}

// rest acts on a verdict. mu is not held at the call, and held afterwards.
func (b *wrongBox) rest(v actor.Verdict) {
	bug := b.d.bug
	if v == actor.Continue && bug.is("late message overlooked", "late system message overlooked") {
		// The moment in which it matters lasts as long as a bubble can tell.
		time.Sleep(time.Millisecond)
	}
	b.d.mu.Lock()
	b.inTurn = false
	again := b.cell.Pending() && !bug.is("late system message overlooked")
	switch v {
	case actor.Continue:
		if bug.is("actor not woken again") {
			return
		}
		again = again || len(b.items) > 0 && !bug.is("what comes in a turn overlooked", "late message overlooked")
		b.phase = wrongAsleep
	case actor.Yield:
		if bug.is("yield to the front") {
			b.d.ready = slices.Insert(b.d.ready, 0, b)
			return
		}
		again = true
	case actor.Suspended:
		b.phase = wrongSuspended
		again = again || bug.is("BeginTurn's answer ignored") && len(b.items) > 0
	case actor.Stopped:
		b.phase = wrongFinished
		if b.d.bug.is("port used again") {
			b.d.free = append(b.d.free, b)
		}
		return
	}
	if again {
		b.phase = wrongReady
		b.d.ready = append(b.d.ready, b)
	}
}

// wrongDispatcherImpl is the implementation with the given bug.
func wrongDispatcherImpl(b bug, synchronous bool) dyno.Impl {
	impl := dyno.Impl{
		Name:          "wrong",
		Idea:          string(b),
		Promises:      dyno.Promises{Overlap: true, Eager: true, Fair: true, Parks: true},
		NewDispatcher: func() actor.Dispatcher { return newWrongDispatcher(b, synchronous) },
	}
	if synchronous {
		impl.Promises = dyno.Promises{Fair: true, Deterministic: true, Parks: true}
	}
	return impl
}

// wrongDispatchers says of every bug of a dispatcher which clauses must notice it.
var wrongDispatchers = []wrong{
	// From Send to Invoke.
	{"every seventh message lost", "tell-in-order mailbox-unbounded"},
	{"every seventh message doubled", "tell-in-order mailbox-unbounded tell-many-to-one account-one-caller"},
	{"every seventh message overtakes one", "tell-in-order mailbox-unbounded account-one-caller"},
	{"newest message first", "tell-in-order mailbox-unbounded"},
	{"nil taken for nothing", "tell-identity tell-forged"},
	{"user message taken for a system message", "tell-forged"},
	{"message handled by its sender", "tell-only-queues"},
	{"messages not counted", "stats"},
	{"turns not counted", "stats turn-bound"},
	{"counted at the end only", "stats-idle"},
	{"not counted before the start", "stats"},

	// Turns.
	{"two turns at once", "one-at-a-time"},
	{"actor not woken again", "tell-wakes"},
	{"what comes in a turn overlooked", "tell-self mailbox-unbounded"},
	{"late message overlooked", "tell-wakes"},
	{"idle actor not woken until twelve numbers wait", "steady-rate"},
	{"late system message overlooked", "stop-idle stop-idle-soon"},
	{"idle actor not woken by system messages", "stop-idle"},
	{"system message of an actor wakes no worker", "stop-idle poststop-after-children"},
	{"suspended actor not woken", "failure-stops prestart-fails stop-family suspend-self suspend-after"},
	{"stream to a suspended actor lost", "suspend-stream"},
	{"suspended actor woken by messages", "suspend-unregistered"},
	{"BeginTurn's answer ignored", "prestart-fails"},
	{"Invoke's answer ignored", "stop-overtakes stop-last-message turn-bound failure-stops"},
	{"yield to the front", "turn-others"},
	{"newest ready actor first", "turn-others turn-others-at-all"},
	{"newest ready actor first, but for every thousandth", "turn-others"},
	{"one worker", "blocked-handlers overlap-together block-within-a-turn"},
	{"two ready actors taken at once", "overlap-together"},

	// Failures.
	{"panic overlooked", "failure-stops"},
	{"panic's value lost", "failure-stops"},
	{"failed message forgotten", "failure-stops"},
	{"actor stuck after Goexit", "failure-stops failure-many"},
	{"worker lost with Goexit", "failure-many"},

	// Close.
	{"message lost that comes during Close", "account-stop account-one-caller"},
	{"port used again", "ref-namesake"},
	{"mailbox thrown away by Close", "stop-waiting-letters stop-overtakes failure-stops"},
	{"first message lost by Close", "stop-waiting-letters stop-overtakes"},
	{"mailbox handed over newest first", "stop-waiting-letters stop-overtakes"},
	{"mailbox handed over twice", "stop-waiting-letters"},
	{"mailbox handed over for a wrong reason", "stop-waiting-letters"},
	{"messages accepted after Close", "stop-refuses ref-namesake stop-family"},

	// Mailboxes.
	{"message lost when 10,000 wait", "mailbox-unbounded"},
	{"bound one too high", "mailbox-drop-newest mailbox-drop-oldest mailbox-room-again block-self"},
	{"bound one too low", "mailbox-drop-newest mailbox-drop-oldest mailbox-room-again"},
	{"message in hand counts", "mailbox-drop-newest mailbox-drop-oldest block-self"},
	{"room not given back", "mailbox-room-again"},
	{"DropNewest silent", "mailbox-drop-newest"},
	{"DropOldest drops the newest", "mailbox-drop-oldest"},
	{"DropOldest silent", "mailbox-drop-oldest priority-drop-oldest"},
	{"Grow is a bound", "mailbox-grow"},
	{"priority ignored", "priority-order priority-overtakes"},
	{"largest priority first", "priority-order"},
	{"priority asked under the lock", "priority-asks"},
	{"priority unstable", "priority-stable priority-order tell-in-order"},
	{"priority looked at once in a while", "priority-overtakes"},
	{"oldest dropped whatever its priority", "priority-drop-oldest"},
	{"newest of the lowest dropped", "priority-drop-oldest"},

	// The policy Block.
	{"Full instead of waiting", "block-waits"},
	{"waiting sender not let in", "block-waits block-within-a-turn"},
	{"two senders for one slot", "block-one-for-one"},
	{"last sender served first", "block-first-served"},
	{"waiting sender ignores its context", "block-context"},
	{"given-up message handled", "block-context"},
	{"waiting senders not released by Close", "block-stop"},
	{"waiting senders let in by Close", "block-stop"},
	{"waiting senders' messages undelivered too", "block-stop"},

	// The end.
	{"done never called", "stop-family guardian-stops-system guardian-fails-system"},
	{"goroutine left by Stop", "leaves-no-goroutine"},
	{"goroutine until the system ends", "stops-leave-no-goroutine"},
	{"workers counted wrongly", "stats"},
	{"done called with a worker left", "stats"},
	{"second start accepted", "dispatcher-serves-one"},
}

// wrongSynchronousDispatchers is the same for dispatchers without goroutines.
var wrongSynchronousDispatchers = []wrong{
	{"message handled by its sender", "tell-only-queues run-until-idle"},
	{"actors run in the background", "run-until-idle"},
	{"RunUntilIdle ends early", "run-until-idle"},
	{"RunUntilIdle runs actors in a turn", "run-until-idle"},
	{"two callers run actors", "run-many-callers"},
	{"waiting sender runs no more than it must", "run-asked-meanwhile"},
	{"ready actors in random order", "deterministic"},
	{"deadlock not noticed", "block-deadlock"},
}

// wrongDispatchersOnHost is the same for clauses that need a host.
var wrongDispatchersOnHost = []wrong{
	{"messages kept", "messages-collected cycles-leak-nothing"},
	{"a byte of each message kept", "cycles-leak-nothing"},
	{"mailbox of a stopped actor kept", "stopped-collected"},
	{"system kept for ever", "system-collected"},
	{"one worker", "blocked-for-real overlap-for-real"},
	{"waiting sender spins", "waits-are-idle"},
	{"every seventh message lost", "flood-of-a-million"},
}
