package actor

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Config says what a system is made of. Guardian and Dispatcher are required.
type Config struct {
	// Name is the system's name, for people; the default is "dyno".
	Name string

	// Boot tells this system from others that have or had the same name: it is
	// part of its actors' addresses, so that those of a system that was restarted
	// are not taken for the old ones. 0, the default, means a random number; a
	// machine without a source of randomness brings its own.
	Boot uint64

	// Guardian makes the user guardian, the one actor that is there from the
	// start. Everything else is spawned by it and its descendants.
	Guardian Props

	// Dispatcher runs the actors. It serves this system alone.
	Dispatcher Dispatcher

	// Clock stamps dead letters and failures, and all waiting for a time is done
	// with its alarm; the default is package time's.
	Clock Clock

	// DeadLetters, if not nil, is called with every message that is not handled,
	// those that go back to their senders included, which DeadLetter.Returned
	// tells from the others. It is called on the goroutine that found it, by
	// several at once, possibly in an actor's turn: it must not block or panic.
	// If it sends, what becomes of that may be a dead letter again; only of a
	// DeadLetter that is sent and not handled neither it nor the event stream
	// is told, so that dead letters can be passed on to an actor.
	DeadLetters func(DeadLetter)

	// Middleware is called with every message of every actor but the guardians
	// above the user's, the first of it first: a place for tracing and metrics.
	// Empty costs nothing.
	Middleware []Middleware

	// KeepDeadLetters is how many dead letters System.DeadLetters keeps, the
	// newest: 0 means 64, and a negative number none, for small machines.
	KeepDeadLetters int

	// Events, if not nil, is the system's event stream, for those who want to
	// subscribe before the guardian starts. It serves this system alone, which ends it.
	Events *EventStream

	// Failures, if not nil, is called with every failure of an actor, in that
	// actor's turn. It must not block or panic.
	Failures func(Failure)
}

// Failure is an error that Receive or a hook returned, a panic (*PanicError),
// or ErrGoexit.
type Failure struct {
	Actor Ref
	Msg   any // the message it failed on; nil if it failed in a hook
	Err   error
	Time  time.Time

	early bool // the actor had not started
}

// System is a tree of actors with what they share. Make one with [NewSystem].
// All methods may be called by any number of goroutines at once.
//
//	root
//	├── system   reserved for what the runtime itself needs
//	└── user     Config.Guardian
type System struct {
	name       string
	boot       uint64
	dispatcher Dispatcher
	clock      Clock
	timers     timers
	futures    futures
	onLetter   func(DeadLetter)
	onFailure  func(Failure)
	events     *EventStream // apart from the System, which a Subscription must not keep
	box        letterBox

	root, user *Cell
	table      table
	remote     remote // ways to other systems

	mu    sync.Mutex // guards names
	names map[nameKey]*Cell

	middleware []Middleware

	letters, dropped, returned, failures counter
	failedActors                         counter // Stats.Failed
	restarts, suspends, resumes          counter
	resumeTotal                          counter      // nanoseconds
	resumeMax                            atomic.Int64 // nanoseconds

	err  error // why the user guardian failed; written in the root's turn, before done is closed
	done chan struct{}
}

// nameKey is a name among a parent's children. Names are kept in one map for
// the whole system: few actors have one, and a map for each parent would cost
// every actor a word.
type nameKey struct {
	parent *Cell
	name   string
}

// NewSystem makes a system and starts its guardians. It returns a
// [*PropsError] if c cannot be used, and the error of Dispatcher.Start.
func NewSystem(c Config) (*System, error) {
	if c.Dispatcher == nil {
		return nil, &PropsError{"Config.Dispatcher", "must not be nil"}
	}
	if err := c.Guardian.check(); err != nil {
		return nil, err
	}
	for _, m := range c.Middleware {
		if m == nil {
			return nil, &PropsError{"Config.Middleware", "must not contain nil"}
		}
	}
	guardian := c.Guardian.New()
	if guardian == nil {
		return nil, errNilActor
	}
	s := &System{
		name:       c.Name,
		boot:       c.Boot,
		dispatcher: c.Dispatcher,
		clock:      c.Clock,
		onLetter:   c.DeadLetters,
		onFailure:  c.Failures,
		events:     c.Events,
		done:       make(chan struct{}),
	}
	if s.box.keep = c.KeepDeadLetters; s.box.keep == 0 {
		s.box.keep = keepDeadLetters
	}
	if s.events == nil {
		s.events = new(EventStream)
	}
	if s.name == "" {
		s.name = "dyno"
	}
	for s.boot == 0 {
		s.boot = rand.Uint64()
	}
	if s.clock == nil {
		s.clock = wallClock{}
	}
	if err := s.dispatcher.Start(); err != nil {
		return nil, err
	}
	s.timers.init(s.clock)
	s.root = s.attach(nil, "", &Props{}, ReceiveFunc(ignore))
	s.attach(s.root, systemGuardian, &Props{}, ReceiveFunc(ignore))
	s.middleware = c.Middleware
	s.user = s.attach(s.root, "user", &c.Guardian, guardian)
	s.user.launch(nil)
	return s, nil
}

// systemGuardian is the name of the guardian beside the user's.
const systemGuardian = "system"

// ignore is the behaviour of the root and the system guardian, of which no Ref
// is given to anybody.
func ignore(*Context, any) error { return nil }

// Name returns the system's name.
func (s *System) Name() string { return s.name }

// Boot returns the system's boot id: [Config].Boot, or the random number it got.
func (s *System) Boot() uint64 { return s.boot }

// Clock returns the system's clock.
func (s *System) Clock() Clock { return s.clock }

// UserGuardian returns the Ref of the user guardian.
func (s *System) UserGuardian() Ref { return Ref{s.user} }

// Lookup returns the actor with that PID; false if it has stopped or never was.
func (s *System) Lookup(p PID) (Ref, bool) {
	c := s.table.find(p)
	if c == nil || c == s.root {
		return Ref{}, false
	}
	return Ref{c}, true
}

// Find returns the actor with that path, such as "/user/room/anon-12"; false if
// there is none that has not stopped.
func (s *System) Find(path string) (Ref, bool) {
	if path == "" || path[0] != '/' {
		return Ref{}, false
	}
	c := s.root
	for rest := path[1:]; ; {
		end := 0
		for end < len(rest) && rest[end] != '/' {
			end++
		}
		r, ok := s.child(c, rest[:end])
		if !ok || end == len(rest) {
			return r, ok
		}
		c, rest = r.cell, rest[end+1:]
	}
}

// Stop asks an actor to stop, as [Context.Stop] does.
func (s *System) Stop(r Ref) {
	if r.cell != nil {
		r.cell.post(&signal{kind: sigStop}, nil)
	}
}

// Shutdown stops all actors, children before parents, then the dispatcher, and
// waits for that; it returns nil when the system is done. If ctx ends first it
// returns a [*ShutdownError] that says who has not stopped. They go on stopping
// then, and Shutdown may be called again. A nil ctx means context.Background.
func (s *System) Shutdown(ctx context.Context) error {
	if ctx == nil {
		ctx = context.Background()
	}
	s.Stop(Ref{s.root})
	if d, ok := s.dispatcher.(Synchronous); ok {
		if ctx.Done() == nil {
			d.RunUntilIdle()
		} else {
			go d.RunUntilIdle() // an actor that does not return must not keep this call
		}
	}
	select {
	case <-s.done:
		return nil
	default:
	}
	select {
	case <-s.done:
		return nil
	case <-ctx.Done():
		return &ShutdownError{Running: s.stragglers(), Cause: ctx.Err()}
	}
}

// Done is closed when the system is over: every actor has stopped, and no
// goroutine of the dispatcher is left. That comes of Shutdown, or of the user
// guardian stopping or failing.
func (s *System) Done() <-chan struct{} { return s.done }

// Err returns the error that the user guardian failed with, if that is what
// ended the system, and nil otherwise or while Done is not closed.
func (s *System) Err() error {
	select {
	case <-s.done:
		return s.err
	default:
		return nil
	}
}

// Synchronous reports whether actors run only inside RunUntilIdle, and in sends
// that wait.
func (s *System) Synchronous() bool {
	_, ok := s.dispatcher.(Synchronous)
	return ok
}

// RunUntilIdle runs actors on the calling goroutine until none has anything to
// do. It panics if the dispatcher is not a [Synchronous] one: the others run
// actors by themselves, and are idle at times that are not known.
func (s *System) RunUntilIdle() {
	d, ok := s.dispatcher.(Synchronous)
	if !ok {
		panic("actor: RunUntilIdle on a dispatcher that is not Synchronous")
	}
	d.RunUntilIdle()
}

// Events returns the stream on which the system publishes what happens to its
// actors. When the system is over it ends all subscriptions.
func (s *System) Events() *EventStream { return s.events }

// DeadLetters returns the newest of the dead letters, the oldest of them first:
// as many as Config.KeepDeadLetters says. When the system is over it returns
// none, for who keeps a Ref would keep them: subscribe to DeadLetter to have
// them then.
func (s *System) DeadLetters() []DeadLetter { return s.box.all() }

// Stats returns what has been counted so far.
func (s *System) Stats() Stats {
	var st Stats
	s.dispatcher.AddStats(&st)
	st.Actors, st.Spawned = s.table.count()
	st.DeadLetters = s.letters.load()
	st.Dropped = s.dropped.load()
	st.Returned = s.returned.load()
	st.Failures = s.failures.load()
	st.Failed = s.failedActors.load()
	st.Restarts = s.restarts.load()
	st.Suspends, st.Resumes = s.suspends.load(), s.resumes.load()
	st.ResumeTotal = time.Duration(s.resumeTotal.load())
	st.ResumeMax = time.Duration(s.resumeMax.Load())
	return st
}

// resumed books the end of a suspension, and how long it took from being asked
// for to the actor going on.
func (s *System) resumed(took time.Duration) {
	s.resumes.add(1)
	s.resumeTotal.add(uint64(took))
	for {
		most := s.resumeMax.Load()
		if int64(took) <= most || s.resumeMax.CompareAndSwap(most, int64(took)) {
			return
		}
	}
}

// Tell sends msg to the actor with that PID, which the caller has from
// somewhere else. It is slower than [Ref.Tell] by a look into a table. If there is no
// such actor the error is a [*SendError] with ErrUnknown.
func (s *System) Tell(p PID, msg any) error {
	r, ok := s.Lookup(p)
	if !ok {
		return s.giveBack(Ref{}, msg, ErrUnknown)
	}
	return r.Tell(msg)
}

// attach makes an actor. The parent, if there is one, is in its turn, or not
// running yet.
func (s *System) attach(parent *Cell, name string, p *Props, a Actor) *Cell {
	box := &p.Mailbox
	if box.New != nil {
		box = &MailboxConfig{} // only its place in the schedule is used
	}
	port := s.dispatcher.Attach(*box)
	c := port.Cell()
	c.port = port
	c.system = s
	c.parent = parent
	if name != "" {
		given := name // only those that have one pay for it
		c.given = &given
	}
	c.urgency = p.Priority
	c.quantum = p.quantum()
	c.left = c.quantum
	c.actor = a
	if t, ok := a.(Taker); ok {
		c.intake = t.Intake()
	}
	_, prepares := a.(PreStarter)
	if !prepares {
		c.started = true
		c.state.Store(uint32(StateRunning))
	}
	c.equip(p, a)
	s.table.add(c)
	if parent != nil {
		parent.link(c)
	}
	if name != "" {
		s.mu.Lock()
		if s.names == nil {
			s.names = make(map[nameKey]*Cell)
		}
		s.names[nameKey{parent, name}] = c
		s.mu.Unlock()
	}
	if !prepares {
		c.announce()
	}
	return c
}

// ofProps is what the actor's Props ask for beyond the ordinary. It is set before its Ref
// exists, and constant.
type ofProps struct {
	fresh    func() Actor // Props.New, if a restart is possible
	super    *Supervisor  // of the children; nil: a failed child stops
	front    *front       // what stands before the behaviour; nil: nothing
	capacity int          // of a mailbox that can be full; 0: it cannot
	custom   *custom      // the mailbox that Props brought; nil: the dispatcher's
}

// equip gives a new actor what its props ask for beyond the ordinary.
func (c *Cell) equip(p *Props, a Actor) {
	box := &p.Mailbox
	if box.New != nil {
		w := &custom{Port: c.port, cell: c, box: box.New()}
		w.node.kind = sigNudge
		c.extra().custom = w
		c.port = w
	}
	if box.Watermark > 0 {
		c.port = &marked{Port: c.port, cell: c, mark: box.Watermark}
	}
	if box.Policy != Unbounded && box.Policy != Grow {
		c.extra().capacity = box.Capacity
	}
	if p.Supervisor != nil {
		c.extra().super = p.Supervisor
	}
	if up := c.parent; up != nil && up.more != nil && up.more.super != nil {
		c.extra().fresh = p.New
	}
	if p.Invoker != nil || len(c.system.middleware)+len(p.Middleware) > 0 {
		f := newFront(a, p.Invoker, c.system.middleware, p.Middleware)
		c.extra().front = f
		c.actor = f
	}
}

// launch has an actor with a PreStart run it. from is the worker of the turn it
// was spawned in.
func (c *Cell) launch(from Worker) {
	if State(c.state.Load()) == StateStarting {
		c.post(&signal{kind: sigStart}, from)
	}
}

// spawn makes a child.
func (c *Cell) spawn(name string, p *Props) (Ref, error) {
	if State(c.state.Load()) == StateStopping {
		return Ref{}, ErrStopping
	}
	if err := p.check(); err != nil {
		return Ref{}, err
	}
	if name != "" {
		if _, taken := c.system.child(c, name); taken {
			return Ref{}, ErrNameTaken
		}
	}
	a := p.New()
	if a == nil {
		return Ref{}, errNilActor
	}
	child := c.system.attach(c, name, p, a)
	child.launch(c.worker)
	return Ref{child}, nil
}

// child returns the child of that name, made ones included.
func (s *System) child(parent *Cell, name string) (Ref, bool) {
	if len(name) > len(anon) && name[:len(anon)] == anon {
		p, ok := ParsePID(name[len(anon):])
		if !ok {
			return Ref{}, false
		}
		c := s.table.find(p)
		if c == nil || c.parent != parent || c.name() != "" {
			return Ref{}, false
		}
		return Ref{c}, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.names[nameKey{parent, name}]
	return Ref{c}, c != nil
}

func validName(name string) bool {
	if name == "" || len(name) >= len(anon) && name[:len(anon)] == anon {
		return false
	}
	for i := range len(name) {
		if name[i] == '/' {
			return false
		}
	}
	return true
}

// remove forgets an actor that has stopped.
func (s *System) remove(c *Cell) {
	s.table.remove(c)
	if c.name() != "" {
		s.mu.Lock()
		delete(s.names, nameKey{c.parent, c.name()})
		s.mu.Unlock()
	}
}

// over is the end of the root's last turn.
func (s *System) over() {
	s.timers.close()
	s.table.clear()
	s.dispatcher.Stop(func() {
		s.events.close()
		s.box.close()
		s.futures.close()
		close(s.done)
	})
}

// stragglers lists who has not stopped.
func (s *System) stragglers() []Straggler {
	var list []Straggler
	for _, c := range s.table.all() {
		list = append(list, Straggler{PID: c.pid, Path: Ref{c}.Path(), State: State(c.state.Load())})
	}
	return list
}

// giveBack returns a message to its sender.
//
//go:noinline
func (s *System) giveBack(to Ref, msg any, reason error) error {
	s.deadLetter(DeadLetter{Msg: msg, To: to, Reason: reason, Returned: true})
	return &SendError{Msg: msg, To: to, Reason: reason}
}

// deadLetter books a message that will not be handled, or that its sender
// gets back. Every such message comes here, once.
func (s *System) deadLetter(l DeadLetter) {
	if l.Returned {
		s.returned.add(1)
	} else {
		s.letters.add(1)
		if l.Reason == ErrDropped {
			s.dropped.add(1)
		}
	}
	shown := s.box.keep > 0 || s.onLetter != nil || s.events.active()
	ends := !l.Returned && l.Reason != ErrLate // the Future that waits for a reply to it
	if !shown && !ends {
		return
	}
	if b, ok := l.Msg.(Boxed); ok {
		if !shown && l.Reason == ErrDropped {
			return // a mailbox may drop most of what comes, and a box is not opened for nothing
		}
		l.Msg = b.Unbox()
	}
	if r, ok := l.Msg.(Requester); ok {
		l.ReplyTo = r.ReplyAddress()
	}
	if shown {
		s.show(l)
	}
	if ends {
		l.ReplyTo.unanswered(l.Reason)
	}
}

// show records a dead letter, and tells those who listen.
func (s *System) show(l DeadLetter) {
	l.Time = s.clock.Now()
	s.box.add(l)
	if _, ok := l.Msg.(DeadLetter); ok {
		return // or who passes them on to a full mailbox would be told of that, and pass it on
	}
	if s.onLetter != nil {
		s.onLetter(l)
	}
	if s.events.active() {
		s.events.Publish(l)
	}
}

// failed books a failure.
func (s *System) failed(f *Failure) {
	s.failures.add(1)
	if s.onFailure != nil {
		s.onFailure(*f)
	}
	if s.events.active() {
		s.events.Publish(*f)
	}
}
