package conformance

import (
	"context"
	"errors"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/actor/scenario"
)

// Actor returns the clauses of package actor that an implementation has to face, in the
// order of the rules: about turns and their order, wake-ups, blocking, mailboxes,
// shutting down, and what is left. [Core] returns the others.
func Actor() []Clause { return core(false) }

// Core returns the clauses of package actor that only the actor core can break, which
// is the same for all implementations: those that package actor/scenario tells, and
// those that have to be written in Go. The core's own tests run them, on a synchronous
// dispatcher and on a concurrent one.
func Core() []Clause { return core(true) }

// core returns those of the clauses about actors that only the core can break, or the
// others.
func core(is bool) (all []Clause) {
	for c := range everyActorClause {
		if c.Core == is {
			all = append(all, *c)
		}
	}
	return all
}

// ActorClauses returns the clauses of package actor as [Clauses] does: none for an
// implementation without actors.
func ActorClauses(impl dyno.Impl) iter.Seq[*Clause] {
	if impl.NewDispatcher == nil {
		return func(func(*Clause) bool) {}
	}
	return everyActorClause
}

// everyActorClause yields those that are written in Go, and then those that are scripts.
func everyActorClause(yield func(*Clause) bool) {
	for c := range each(actorParts()) {
		if !yield(c) {
			return
		}
	}
	for s := range scenario.Core {
		if !yield(scenarioClause(s, true)) {
			return
		}
	}
	for s := range scenario.Turns {
		if !yield(scenarioClause(s, false)) {
			return
		}
	}
}

func actorParts() [][]Clause {
	return [][]Clause{
		systemClauses, spawnClauses, nameClauses, refClauses,
		messageClauses, stopClauses, shutdownClauses,
		failureClauses, superviseClauses, restartClauses, watchClauses,
		turnClauses, blockingClauses, mailboxClauses, priorityClauses, blockClauses,
		accountClauses, synchronousClauses, actorLeftoverClauses, suspendClauses,
		letterClauses, eventClauses, askClauses, timerClauses, wrapClauses,
	}
}

// The vocabulary in which checks of actors are written, on top of that for
// groups. A check has a world: a system whose guardian does what it is told,
// and a book of what went wrong. Checks know two ways to say what an actor is
// to do: a function as its behaviour, and an order, a message that is a
// function. Both may call e.fail and e.require: the failure of an actor that
// panicked with one is the check's.

// actors turns the body of a check of actors into one that returns what it
// found. The world is shut down at the end, and must then have nothing in its
// book that the check has not asked for.
//
//go:noinline
func actors(body func(w *world)) func(e *Env) error {
	return check(func(e *Env) {
		w := e.world(actor.Config{})
		defer w.abandon()
		body(w)
		e.hasChecked() // before end does
		w.end()
	})
}

// world is a system under test.
type world struct {
	*actortest.System
	e    *Env
	over bool // the system is done; of the check's goroutine

	mu            sync.Mutex // guards the book
	letters       []actor.DeadLetter
	failedLetters []actor.DeadLetter // those on which their receiver failed
	failures      []actor.Failure
	verdict       error // of a check that failed inside an actor
}

// world starts a system with an implementation's dispatcher, where c does not
// say something else.
func (e *Env) world(c actor.Config) *world {
	w := &world{e: e}
	if c.Dispatcher == nil {
		c.Dispatcher = e.Impl.NewDispatcher()
	}
	c.DeadLetters, c.Failures = w.letter, w.failure
	w.System = actortest.New(c, func(err error) { e.fail(err) })
	w.Idle = w.idle
	w.Wait = func(what string, cond func() bool) { w.until(what, cond) }
	return w
}

func (w *world) letter(l actor.DeadLetter) {
	if l.Returned {
		return // it is the sender's, who has an error to show for it
	}
	if l.Reason == actor.ErrFailed {
		w.mu.Lock()
		w.failedLetters = append(w.failedLetters, l)
		w.mu.Unlock()
		return
	}
	if p, ok := l.Msg.(*parcel); ok {
		if l.Reason != actor.ErrStopped && l.Reason != actor.ErrDropped && l.Reason != actor.ErrFull && l.Reason != actor.ErrLate {
			p.wrong.Store(true)
		}
		p.undelivered.Add(1)
		return
	}
	w.mu.Lock()
	w.letters = append(w.letters, l)
	w.mu.Unlock()
}

func (w *world) failure(f actor.Failure) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var p *actor.PanicError
	if errors.As(f.Err, &p) {
		if v, ok := p.Value.(failure); ok {
			if w.verdict == nil {
				w.verdict = v.err
			}
			return
		}
	}
	w.failures = append(w.failures, f)
}

// order is a message that its receiver carries out.
type order = actortest.Order

// hearing makes an actor that writes down what it is told, and carries out
// orders.
func hearing(d *eventLog) func() actor.Actor {
	return func() actor.Actor { return actor.ReceiveFunc(d.hear) }
}

func (d *eventLog) hear(ctx *actor.Context, msg any) error {
	if o, ok := msg.(*order); ok {
		return o.Do(ctx)
	}
	d.note(msg)
	return nil
}

// staged is an actor with hooks; those that are nil do nothing.
type staged struct {
	start, stop func(ctx *actor.Context) error
	receive     actor.ReceiveFunc
}

func (a *staged) PreStart(ctx *actor.Context) error {
	if a.start == nil {
		return nil
	}
	return a.start(ctx)
}

func (a *staged) PostStop(ctx *actor.Context) error {
	if a.stop == nil {
		return nil
	}
	return a.stop(ctx)
}

func (a *staged) Receive(ctx *actor.Context, msg any) error { return a.receive(ctx, msg) }

// making returns a factory that makes a, once.
func making(a actor.Actor) func() actor.Actor { return func() actor.Actor { return a } }

// eventLog is what actors have done, in order. Any goroutine may write it.
type eventLog struct {
	mu      sync.Mutex
	entries []string
	seen    int // that next has returned
}

// unread returns how many entries next would return.
func (d *eventLog) unread() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.entries) - d.seen
}

// next returns the entries since it was called last.
func (d *eventLog) next() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh := append([]string(nil), d.entries[d.seen:]...)
	d.seen = len(d.entries)
	return fresh
}

func (d *eventLog) note(parts ...any) {
	d.mu.Lock()
	d.entries = append(d.entries, text(parts...))
	d.mu.Unlock()
}

func (d *eventLog) read() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]string(nil), d.entries...)
}

// wantLog demands that d comes to say exactly that and nothing more happens.
func (w *world) wantLog(d *eventLog, want ...string) {
	w.until("“"+quote(want)+"” to be in the log", func() bool { return len(d.read()) >= len(want) },
		func() string {
			return "the log says only “" + quote(d.read()) + "”, want “" + quote(want) + "”"
		})
	w.idle()
	got := d.read()
	w.e.require(slices.Equal(got, want), "the log says “", quote(got), "”, want “", quote(want), "”")
}

// quote joins entries, or the first few of many.
func quote(entries []string) string {
	const most = 24
	s := ""
	for i, entry := range entries {
		switch {
		case i == most:
			return s + " … (" + text(len(entries)) + ")"
		case i > 0:
			s += " "
		}
		s += entry
	}
	return s
}

// numbers returns the numbers from first to last as a eventLog has them.
func numbers(first, last int) []string {
	var s []string
	for i := first; i <= last; i++ {
		s = append(s, text(i))
	}
	return s
}

// idle lets everything run that can.
func (w *world) idle() {
	w.Drive()
	w.e.Settle()
}

// until waits until cond, which it calls now and then. seen, which may be missing,
// says what is the case instead.
func (w *world) until(what string, cond func() bool, seen ...func() string) {
	for wait := w.e.wait(what); ; {
		if w.e.Exact {
			w.idle()
		} else {
			w.Drive()
		}
		w.mu.Lock()
		v := w.verdict
		w.mu.Unlock()
		if v != nil {
			panic(failure{v})
		}
		if cond() {
			break
		}
		if !wait.again() {
			is := "waited in vain for " + what
			if len(seen) > 0 {
				is = seen[0]()
			}
			w.e.hangs(is, ", and nothing more happens", w.states())
		}
	}
	w.e.waitFor("")
}

// states says how the actors are that have not stopped, and how many messages wait for
// each. It is for a check that fails: the system begins to stop.
func (w *world) states() string {
	var s *actor.ShutdownError
	if !errors.As(w.Shutdown(ended(errStop)), &s) {
		return "; the system is done"
	}
	const most = 16
	is := ""
	for i, a := range s.Running {
		if i == most {
			return is + text("; and ", len(s.Running)-most, " more")
		}
		is += text("; ", a.Path, " is ", a.State.String())
		if r, ok := w.Lookup(a.PID); ok && r.Backlog() > 0 {
			is += text(", ", r.Backlog(), " messages wait")
		}
	}
	return is
}

// finished returns what a call returned that may need actors to run.
func finished[R any](w *world, c *call[R]) R {
	w.until(c.what+" to return", func() bool { return came(c.over) })
	return c.await()
}

// tell sends from outside, and demands that the message is accepted.
func (w *world) tell(to actor.Ref, msgs ...any) {
	w.e.waitFor("Tell to return")
	for _, msg := range msgs {
		if err := to.Tell(msg); err != nil {
			w.e.fail("Tell returned ", err, ", want nil")
		}
	}
	w.e.waitFor("")
}

// tells sends from inside a turn, and demands that the message is accepted.
func (w *world) tells(ctx *actor.Context, to actor.Ref, msgs ...any) {
	for _, msg := range msgs {
		if err := ctx.Tell(to, msg); err != nil {
			w.e.fail("Context.Tell returned ", err, ", want nil")
		}
	}
}

// ask has an actor that carries out orders call f in a turn. It does not wait.
func (w *world) ask(r actor.Ref, f func(ctx *actor.Context)) {
	w.tell(r, &order{Do: func(ctx *actor.Context) error {
		f(ctx)
		return nil
	}})
}

// born demands that a Spawn has succeeded.
func (w *world) born(r actor.Ref, err error) actor.Ref {
	if err != nil {
		w.e.fail("Spawn returned ", err, ", want nil")
	}
	w.e.require(!r.IsZero(), "Spawn returned the zero Ref and no error")
	return r
}

// hold spawns an actor that carries out orders, and keeps it in a turn until
// the gate is opened: what it is sent meanwhile waits. It needs Overlap and
// Eager.
func (w *world) hold(p actor.Props) (r actor.Ref, g *gate) {
	r, g = w.Spawn(p), w.e.gate()
	w.ask(r, func(*actor.Context) { g.pass() })
	w.reached(g, 1)
	return r, g
}

// reached waits until n have reached g since it was called last.
func (w *world) reached(g *gate, n int) {
	for i := range n {
		w.until("actors to reach a gate", func() bool { return came(g.arrived) }, func() string { return text("only ", i, " of ", n, " actors have reached the gate") })
	}
}

// takeAll waits until n entries are in a list of w's and no more are to come, and takes them;
// what is their name. It demands that there are no others.
func takeAll[T any](w *world, list *[]T, n int, what string) []T {
	count := func() int {
		w.mu.Lock()
		defer w.mu.Unlock()
		return len(*list)
	}
	w.until(text(n, " ", what), func() bool { return count() >= n },
		func() string { return text("there are ", count(), " ", what, ", want ", n) })
	w.idle()
	w.mu.Lock()
	all := *list
	*list = nil
	w.mu.Unlock()
	w.e.require(len(all) == n, "there are ", len(all), " ", what, ", want ", n)
	return all
}

// undelivered demands that these messages, in that order, and no others, are
// dead letters; and forgets them.
func (w *world) undelivered(to actor.Ref, reason error, msgs ...any) {
	for i, l := range takeAll(w, &w.letters, len(msgs), "dead letters") {
		w.e.require(l.Msg == msgs[i], "dead letter ", i+1, " is ", l.Msg, ", want ", msgs[i])
		w.e.require(l.To == to, "dead letter ", l.Msg, " is said to be for ", l.To.String(), ", want ", to.String())
		w.e.same(text("the reason of dead letter ", l.Msg), l.Reason, reason)
		w.e.require(!l.Time.IsZero(), "dead letter ", l.Msg, " has no time")
	}
}

// takeFailure waits for a failure of who, demands that no other has failed, and
// forgets it.
func (w *world) takeFailure(who actor.Ref) actor.Failure {
	var all []actor.Failure
	w.until("a failure of "+who.Path()+" to be reported", func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		all = w.failures
		return len(all) > 0
	})
	w.mu.Lock()
	w.failures = nil
	w.mu.Unlock()
	w.e.require(len(all) == 1, "there are ", len(all), " failures, want one")
	f := all[0]
	w.e.require(f.Actor == who, "the failure of ", who.String(), " is reported of ", f.Actor.String())
	w.e.require(!f.Time.IsZero(), "the failure of ", who.String(), " has no time")
	return f
}

// returned demands that err gives msg back.
func (w *world) returned(err error, to actor.Ref, msg any, reason error) {
	var s *actor.SendError
	w.e.require(errors.As(err, &s), "sending returned ", err, ", want a *SendError")
	w.e.require(s.Msg == msg, "the SendError gives back ", s.Msg, ", want ", msg)
	w.e.require(s.To == to, "the SendError says that the message was for ", s.To.String(), ", want ", to.String())
	w.e.same("the reason of the SendError", s.Reason, reason)
	w.e.require(errors.Is(err, reason), "errors.Is does not find ", reason, " in ", err)
}

// repeats has an actor that carries out orders call f, each time in a turn of its own, until
// it reports that there is no more.
func (w *world) repeats(r actor.Ref, f func(ctx *actor.Context) (more bool)) {
	var again *order
	again = &order{Do: func(ctx *actor.Context) error {
		if f(ctx) {
			w.tells(ctx, ctx.Self(), again)
		}
		return nil
	}}
	w.tell(r, again)
}

// races makes a check of an experiment at random, which has a world of its own each time.
func races(experiment func(e *Env, w *world, rng *rand.Rand)) func(e *Env) error {
	return atRandom(func(e *Env, rng *rand.Rand) {
		w := e.world(actor.Config{})
		defer w.abandon()
		experiment(e, w, rng)
		w.end()
	})
}

// callers has so many goroutines call f, each with its number and its own random numbers.
func (w *world) callers(n int, rng *rand.Rand, f func(caller int, rng *rand.Rand)) []*call[error] {
	return several(n, func(i int) *call[error] {
		rng := sub(rng)
		return start(w.e, "a loop of calls", func() error {
			f(i, rng)
			return nil
		})
	})
}

// succeed demands that these calls, which may need actors to run, return no error.
func (w *world) succeed(calls []*call[error]) {
	for _, c := range calls {
		w.e.same("what "+c.what+" returned", finished(w, c), nil)
	}
}

// spawns makes n actors that carry out orders.
func (w *world) spawns(n int) []actor.Ref {
	return several(n, func(int) actor.Ref { return w.Spawn(actortest.Scripted()) })
}

// shutdown ends the system. Its context could end, so that where Shutdown runs
// actors they are not run on the goroutine that calls it: an actor that calls
// Goexit would end that.
func (w *world) shutdown() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := start(w.e, "Shutdown", func() error { return w.Shutdown(ctx) })
	w.e.same("what Shutdown returned", finished(w, c), nil)
	w.done()
}

// done demands that the system is done, now or soon, without an error.
func (w *world) done() {
	w.until("Done to be closed", func() bool { return came(w.Done()) })
	w.over = true
	w.e.same("what System.Err returned", w.Err(), nil)
}

// end ends the system, unless the check has, and looks through the book. What waits in
// mailboxes is handled before.
func (w *world) end() {
	if !w.over {
		w.idle()
		w.shutdown()
	}
	w.idle()
	st := w.Stats()
	w.e.require(st.Actors == 0, st.Actors, " actors are left of a system that is done")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.verdict != nil {
		panic(failure{w.verdict})
	}
	for _, f := range w.failures {
		w.e.fail(f.Actor.String(), " failed with ", f.Err, ", which it should not")
	}
	for _, l := range w.letters {
		w.e.fail("message ", l.Msg, " for ", l.To.String(), " became a dead letter, which it should not: ", l.Reason)
	}
}

// abandon ends what can be ended of a system whose check has failed.
func (w *world) abandon() {
	if w.over {
		return
	}
	w.e.release()
	go func() {
		defer func() { _ = recover() }() // what is broken has been found already
		_ = w.Shutdown(ended(errStop))
	}()
}

// parcel is a message of whom the book is kept: in the end one of the counters
// must be 1.
type parcel struct {
	id                             int
	to                             int // of the actors that follow each other, which; or 0
	handled, returned, undelivered atomic.Int32
	wrong                          atomic.Bool // an error that makes no sense came with it
}

// parcels makes n of them.
func parcels(n int) []parcel {
	all := make([]parcel, n)
	for i := range all {
		all[i].id = i
	}
	return all
}

// sent takes what sending p has returned.
func (p *parcel) sent(err error) {
	if err == nil {
		return
	}
	var s *actor.SendError
	if !errors.As(err, &s) || s.Msg != p {
		p.wrong.Store(true)
	}
	p.returned.Add(1)
}

// book is the sum over parcels.
type book struct{ handled, returned, undelivered int }

// accounted demands that every parcel was handled, returned to its sender or
// found undelivered, and only one of that; it needs the system to be done.
func (w *world) accounted(all []parcel) (b book) {
	for i := range all {
		p := &all[i]
		h, r, u := int(p.handled.Load()), int(p.returned.Load()), int(p.undelivered.Load())
		w.e.require(h+r+u == 1, "message ", p.id, " of ", len(all), " was handled ", h, " times, returned ", r,
			" times and found undelivered ", u, " times; want one of that, once")
		w.e.require(!p.wrong.Load(), "message ", p.id, " came back with an error that makes no sense")
		b.handled += h
		b.returned += r
		b.undelivered += u
	}
	return b
}

// bookFailed books the parcels on which their receivers failed as undelivered, and forgets
// all failures. It returns the dead letters.
func (w *world) bookFailed() []actor.DeadLetter {
	w.mu.Lock()
	defer w.mu.Unlock()
	failed := w.failedLetters
	w.failedLetters, w.failures = nil, nil
	for _, l := range failed {
		l.Msg.(*parcel).undelivered.Add(1)
	}
	return failed
}

// counted demands that the system has counted what b says and nothing else.
func (w *world) counted(b book) {
	st := w.Stats()
	w.e.require(st.Returned == uint64(b.returned), "Stats.Returned is ", st.Returned, ", want ", b.returned)
	w.mu.Lock()
	failedLetters := len(w.failedLetters)
	w.mu.Unlock()
	w.e.require(st.DeadLetters == uint64(b.undelivered+failedLetters), "Stats.DeadLetters is ", st.DeadLetters, ", want ", b.undelivered+failedLetters)
}

// oneProcessor makes what is started while f runs believe that there is one
// processor, so that there is one worker, and who comes first is not left to
// the operating system.
func oneProcessor(f func()) { processors(1, f) }

// processors makes it believe that there are n.
func processors(n int, f func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	f()
}

// sub returns a source of random numbers for one of several goroutines.
func sub(rng *rand.Rand) *rand.Rand { return rand.New(rand.NewPCG(rng.Uint64(), 1)) }
