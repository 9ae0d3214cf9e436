package actor

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"
	"weak"
)

// newAsking returns as much of a system as promises need.
func newAsking(c Clock) (*System, *[]DeadLetter) {
	letters := new([]DeadLetter)
	s := &System{events: new(EventStream), clock: c, onLetter: func(l DeadLetter) { *letters = append(*letters, l) }}
	s.timers.init(c)
	return s, letters
}

// TestPromiseModel takes random steps with a few promises that are used over
// and over, and compares every answer with that of a model that has never heard
// of reuse, tickets or waiters. What other tests leave to the scheduler is a step
// here: a completer is stopped half-way, waiters sleep until there is a token for
// them, and old tickets, those of the deadlines included, are used at any time.
func TestPromiseModel(t *testing.T) {
	for range 300 {
		seed := rand.Uint64()
		if !t.Run("seed="+strconv.FormatUint(seed, 10), func(t *testing.T) { walkPromises(t, seed, 2000) }) {
			return
		}
	}
}

// useModel is the model of one use of a promise.
type useModel struct {
	f      Future
	phase  string // "pending", "writing", "abandoned", "done" or "gone"
	msg    any    // what it was, or is being, completed with
	err    error
	sent   bool
	timed  bool
	asleep int // waiters
}

// A promiseWalk is a random walk of promises beside their model.
type promiseWalk struct {
	t       *testing.T
	rng     *rand.Rand
	clock   *ManualClock
	s       *System
	letters *[]DeadLetter
	uses    []*useModel
	lost    int // dead letters that there must be
	replies int
	failed  bool
}

func (w *promiseWalk) check(step string, u *useModel, ok bool) {
	if !ok && !w.failed {
		w.failed = true
		w.t.Errorf("%s: wrong in phase %s with %d asleep, state %x", step, u.phase, u.asleep, u.f.promise.state.Load())
	}
}

func (w *promiseWalk) fresh() any { w.replies++; return w.replies }

// woken is what becomes of a waiter that has a token.
func (w *promiseWalk) woken(u *useModel) {
	msg, ok, err := u.f.promise.take(u.f.ticket, oneWaiter)
	switch u.phase {
	case "pending", "writing":
		w.check("wake", u, !ok)
		return
	case "done":
		w.check("wake", u, ok && msg == u.msg && err == u.err)
		w.check("kept", u, u.f.promise.msg == nil && u.f.promise.err == nil) // the others may stay for long
		u.phase = "gone"
	default:
		w.check("wake", u, ok && err == ErrTaken)
	}
	u.asleep--
}

// wakeOne gives the token of u's promise, if there is one, to a waiter.
func (w *promiseWalk) wakeOne(u *useModel) bool {
	if u.asleep == 0 {
		return false
	}
	select {
	case <-u.f.promise.wake:
		w.woken(u)
		return true
	default:
		return false
	}
}

// settle ends a reply that has begun.
func (w *promiseWalk) settle(u *useModel) {
	switch u.phase {
	case "writing":
		w.check("settle", u, u.f.promise.settle(u.msg, u.err, u.sent))
		u.phase = "done"
	case "abandoned":
		w.check("settle", u, !u.f.promise.settle(u.msg, u.err, u.sent))
		u.phase = "gone"
	}
}

// promiseSteps are what a walk does to a use of a promise.
var promiseSteps = []func(w *promiseWalk, u *useModel){
	(*promiseWalk).claim, (*promiseWalk).settle, (*promiseWalk).reply, (*promiseWalk).poll, (*promiseWalk).discard,
	(*promiseWalk).enter, (*promiseWalk).leave, func(w *promiseWalk, u *useModel) { w.wakeOne(u) }, (*promiseWalk).deadline,
}

// claim begins a reply.
func (w *promiseWalk) claim(u *useModel) {
	if u.phase == "writing" {
		return // claim would wait for settle
	}
	won := u.f.promise.claim(u.f.ticket)
	w.check("claim", u, won == (u.phase == "pending"))
	if won {
		u.phase, u.msg, u.sent = "writing", w.fresh(), true
	}
}

// reply begins a reply and ends it.
func (w *promiseWalk) reply(u *useModel) {
	if u.phase == "writing" {
		return
	}
	msg := w.fresh()
	var err error
	if w.rng.IntN(2) == 0 {
		err = u.f.ReplyTo().Tell(msg)
	} else {
		e := errors.New("no")
		msg, err = e, u.f.ReplyTo().Fail(e)
	}
	if u.phase == "pending" {
		w.check("reply", u, err == nil)
		u.phase, u.sent = "done", true
		if u.err, _ = msg.(error); u.err == nil {
			u.msg = msg
		}
		return
	}
	var e *SendError
	w.check("reply", u, errors.As(err, &e) && e.Reason == ErrLate && e.Msg == msg)
	w.lost++
	w.check("the letter of a late reply", u, len(*w.letters) == w.lost && (*w.letters)[w.lost-1].Msg == msg)
}

func (w *promiseWalk) poll(u *useModel) {
	msg, ok, err := u.f.Poll()
	switch u.phase {
	case "pending", "writing":
		w.check("Poll", u, !ok)
	case "done":
		w.check("Poll", u, ok && msg == u.msg && err == u.err)
		u.phase = "gone"
	default:
		w.check("Poll", u, ok && msg == nil && err == ErrTaken)
	}
}

func (w *promiseWalk) discard(u *useModel) {
	if w.rng.IntN(3) > 0 {
		return
	}
	u.f.Discard()
	switch u.phase {
	case "pending":
		u.phase = "gone"
	case "writing":
		u.phase = "abandoned"
	case "done":
		u.phase = "gone"
		if u.sent {
			w.lost++
		}
	}
	w.check("Discard", u, len(*w.letters) == w.lost)
}

// enter has a waiter enter and, finding nothing, go to sleep.
func (w *promiseWalk) enter(u *useModel) {
	inside := u.f.promise.enter(u.f.ticket) != 0
	w.check("enter", u, inside == (u.phase == "pending" || u.phase == "writing"))
	if inside {
		u.asleep++
	}
}

// leave ends a waiter's context.
func (w *promiseWalk) leave(u *useModel) {
	switch {
	case u.asleep == 0:
	case u.f.promise.leave():
		w.check("leave", u, u.phase == "pending" || u.phase == "writing")
		u.asleep--
	default:
		w.woken(u)
	}
}

// deadline is that of an earlier use, which was on its way, and now and then all deadlines.
func (w *promiseWalk) deadline(u *useModel) {
	if u.phase != "writing" && u.phase != "pending" {
		u.f.promise.due(u.f.ticket)
	}
	if w.rng.IntN(8) > 0 {
		return
	}
	for _, u := range w.uses { // as the deadline's own goroutine would wait for what is being written
		w.settle(u)
	}
	w.clock.Advance(30 * time.Second)
	for _, u := range w.uses {
		if u.timed && u.phase == "pending" {
			u.phase, u.err = "done", ErrTimeout
		}
	}
}

// use begins a use of a promise.
func (w *promiseWalk) use() {
	u := &useModel{phase: "pending", timed: w.rng.IntN(2) == 0}
	timeout := time.Duration(0)
	if u.timed {
		timeout = time.Duration(1+w.rng.IntN(20)) * time.Second
	}
	u.f = w.s.NewFuture(timeout)
	for _, o := range w.uses {
		w.check("NewFuture, with a promise that is not free", o, o.f != u.f && (o.f.promise != u.f.promise || o.phase == "gone" && o.asleep == 0))
	}
	w.uses = append(w.uses, u)
}

func walkPromises(t *testing.T, seed uint64, steps int) {
	clock := NewManualClock(time.Unix(0, 0))
	s, letters := newAsking(clock)
	w := &promiseWalk{t: t, rng: rand.New(rand.NewPCG(seed, 0)), clock: clock, s: s, letters: letters}
	for range steps {
		if w.failed {
			return
		}
		if len(w.uses) == 0 || w.rng.IntN(8) == 0 {
			w.use()
		}
		// The last ones are looked at most, the first ones all the time.
		u := w.uses[max(0, len(w.uses)-1-int(w.rng.ExpFloat64()*4))]
		if w.rng.IntN(4) == 0 {
			u = w.uses[w.rng.IntN(len(w.uses))]
		}
		promiseSteps[w.rng.IntN(len(promiseSteps))](w, u)
	}
	// All tokens have been sent: a waiter that sleeps now where there is a result, or
	// has been, would sleep for ever.
	for _, u := range w.uses {
		w.settle(u)
	}
	for more := true; more; {
		more = false
		for _, u := range w.uses {
			more = w.wakeOne(u) || more
		}
	}
	promises := map[*promise]bool{}
	for _, u := range w.uses {
		w.check("the end", u, u.asleep == 0 || u.phase == "pending")
		promises[u.f.promise] = true
	}
	if len(promises) == len(w.uses) {
		t.Error("no promise was used again: this has tested nothing")
	}
	if n := len(s.timers.heap); n > len(w.uses) {
		t.Errorf("%d timers are left", n)
	}
	for _, u := range w.uses {
		u.f.Discard()
	}
	if n := len(s.timers.heap); n != 0 {
		t.Errorf("%d timers are left though nothing waits for anything", n)
	}
}

// TestNoTicketIsIssuedTwice: when a promise has had its last ticket it is not
// used again, and old values go on finding nothing.
func TestNoTicketIsIssuedTwice(t *testing.T) {
	s, letters := newAsking(wallClock{})
	old := s.NewFuture(0)
	p := old.promise
	old.Discard()
	p.state.Store(useTickets) // the last one
	last := Future{p, useTickets}
	if err := last.ReplyTo().Tell(1); err != nil {
		t.Error(err)
	}
	if msg, ok, err := last.Poll(); msg != 1 || !ok || err != nil {
		t.Errorf("the last use: %v, %v, %v", msg, ok, err)
	}
	for range 1000 {
		f := s.NewFuture(0)
		if f.promise == p && f.ticket <= last.ticket && f != old {
			t.Fatalf("the promise was used again with the ticket %x", f.ticket)
		}
		f.Discard()
	}
	for _, f := range []Future{old, last} {
		if _, ok, err := f.Poll(); !ok || err != ErrTaken {
			t.Errorf("Poll: %v, %v", ok, err)
		}
		if err := f.ReplyTo().Tell(2); !errors.Is(err, ErrLate) {
			t.Errorf("Tell: %v", err)
		}
	}
	if len(*letters) != 2 {
		t.Errorf("%d dead letters, want 2", len(*letters))
	}
}

// TestNoReplyIsLateForAnUnfinishedOne: a reply that loses against another one
// learns that when the other one can be seen. Before, Poll could say "nothing
// yet" after a reply was refused as too late.
func TestNoReplyIsLateForAnUnfinishedOne(t *testing.T) {
	letters := make(chan DeadLetter, 1)
	s := &System{events: new(EventStream), clock: wallClock{}, onLetter: func(l DeadLetter) { letters <- l }}
	f := s.NewFuture(0)
	if !f.promise.claim(f.ticket) {
		t.Fatal("a new promise is not pending")
	}
	late := make(chan error)
	go func() { late <- f.ReplyTo().Tell(2) }()
	for range 10_000 {
		runtime.Gosched()
		select {
		case <-late:
			t.Fatal("the second reply was refused before the first could be seen")
		default:
		}
	}
	f.promise.settle(1, nil, true)
	if err := <-late; !errors.Is(err, ErrLate) {
		t.Errorf("the second reply: %v", err)
	}
	if msg, ok, _ := f.Poll(); !ok || msg != 1 {
		t.Errorf("Poll: %v, %v", msg, ok)
	}
	<-letters
}

// TestWaitersAreCountedExactly: one more than can be counted is refused, before
// it could be taken for a ticket.
func TestWaitersAreCountedExactly(t *testing.T) {
	s, _ := newAsking(wallClock{})
	f := s.NewFuture(0)
	p := f.promise
	p.state.Add(useWaiters - 2*oneWaiter)
	if p.enter(f.ticket) != oneWaiter {
		t.Error("the last waiter was not counted")
	}
	full := p.state.Load()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("one waiter too many does not panic")
			}
		}()
		p.enter(f.ticket)
	}()
	if p.state.Load() != full {
		t.Error("the waiter that was refused was counted")
	}
	f.Discard() // which counts for one in passing
	if w := p.state.Load(); w != full+useTaken {
		t.Errorf("state %x after Discard, want %x", w, full+useTaken)
	}
}

// TestPatienceIsAContext: an implementation may derive others from it.
func TestPatienceIsAContext(t *testing.T) {
	clock := NewManualClock(time.Unix(0, 0))
	s, _ := newAsking(clock)
	p, end := s.patience(time.Minute, MustWait)
	ctx, cancel := context.WithTimeout(context.WithValue(p, s, 1), time.Hour)
	defer cancel()
	if ctx.Err() != nil || ctx.Value(s) != 1 || ctx.Value(p) != nil {
		t.Errorf("before: %v, %v", ctx.Err(), ctx.Value(s))
	}
	if d, ok := p.Deadline(); ok {
		t.Errorf("it has the deadline %v, by an unknown clock", d)
	}
	clock.Advance(time.Minute)
	<-ctx.Done()
	if ctx.Err() != ErrTimeout || p.Err() != ErrTimeout {
		t.Errorf("after: %v, %v", ctx.Err(), p.Err())
	}
	end()

	p, end = s.patience(time.Minute, MustWait)
	end()
	clock.Advance(time.Hour)
	if p.Err() != nil {
		t.Error("it ended though no goroutine waited any longer")
	}
}

// TestFuturesAreCollected: what no goroutine can ask for the result any more is
// garbage, and no table, pool or timer keeps it, nor the reply in it.
func TestFuturesAreCollected(t *testing.T) {
	type reply struct{ _ [100]byte }
	clock := NewManualClock(time.Unix(0, 0))
	s, _ := newAsking(clock)
	gone := map[string]func() bool{}
	left := func(what string, f Future) {
		p := weak.Make(f.promise)
		gone[what] = func() bool { return p.Value() == nil }
	}
	left("a future without a deadline", s.NewFuture(0))
	f := s.NewFuture(time.Hour)
	r := new(reply)
	if err := f.ReplyTo().Tell(r); err != nil {
		t.Error(err)
	}
	left("a future whose reply came before its deadline", f)
	w := weak.Make(r)
	gone["its reply"] = func() bool { return w.Value() == nil }
	f, r = Future{}, nil
	left("a future whose time is up", s.NewFuture(time.Minute))
	clock.Advance(time.Minute)

	// Two that are taken: their promises may be kept, their replies may not.
	for _, what := range []string{"a reply that was taken", "a reply that was discarded"} {
		f := s.NewFuture(0)
		r := new(reply)
		w := weak.Make(r)
		gone[what] = func() bool { return w.Value() == nil }
		if err := f.ReplyTo().Tell(r); err != nil {
			t.Error(err)
		}
		if what == "a reply that was taken" {
			_, _ = f.Wait(context.Background())
		} else {
			f.Discard()
		}
		defer runtime.KeepAlive(f)
	}
	s.onLetter = nil

	kept := s.NewFuture(time.Hour)
	keptWeak := weak.Make(kept.promise)
	kept = Future{}
	for range 100 {
		runtime.GC()
		for what, f := range gone {
			if f() {
				delete(gone, what)
			}
		}
		if len(gone) == 0 {
			break
		}
		time.Sleep(time.Millisecond) // the collector's own goroutines clear weak pointers
	}
	for what := range gone {
		t.Errorf("%s is not collected", what)
	}
	if keptWeak.Value() == nil {
		t.Error("a future that has a deadline to meet was collected: this test cannot tell")
	}
	_ = kept
	runtime.KeepAlive(s)
}

// TestEndOfTheSystemReachesAllWaiters: those with a context that can end and those without, of one
// Future and of several, also where one has given up before, and one that comes later.
func TestEndOfTheSystemReachesAllWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := newAsking(wallClock{})
		canceled, cancel := context.WithCancel(context.Background())
		open, end := context.WithCancel(context.Background())
		defer end()
		results := make(chan error, 20)
		var all []Future
		for range 5 {
			f := s.NewFuture(0)
			all = append(all, f)
			for _, ctx := range []context.Context{canceled, open, nil, context.Background()} {
				go func() {
					_, err := f.Wait(ctx)
					results <- err
				}()
			}
		}
		synctest.Wait()
		cancel()
		synctest.Wait()
		s.futures.close()
		synctest.Wait()
		seen := map[error]int{}
		for len(results) > 0 {
			seen[<-results]++
		}
		if want := map[error]int{context.Canceled: 5, ErrOver: 5, ErrTaken: 10}; !maps.Equal(seen, want) {
			t.Errorf("the waiters were told %v, want %v", seen, want)
		}
		for _, f := range all {
			if f.promise.list.first != nil || f.promise.inWait != 0 {
				t.Error("a promise is left in the list, and no goroutine waits for it")
			}
		}
		var never context.Context
		if _, err := s.NewFuture(0).Wait(never); err != ErrOver {
			t.Errorf("who comes later is told %v", err)
		}
	})
}

// TestSystemsLeaveProcsAlone: a system asks how many processors there are, and changes nothing.
func TestSystemsLeaveProcsAlone(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	s, _ := newAsking(wallClock{})
	if s.NewFuture(0); runtime.GOMAXPROCS(0) != 3 || len(s.futures.lists) != 3 {
		t.Errorf("of 3 processors %d are left, and %d are known", runtime.GOMAXPROCS(0), len(s.futures.lists))
	}
}
