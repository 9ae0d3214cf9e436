package actor

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Config says what a system is made of. Guardian and Dispatcher are required.
type Config struct {
	// Name is the system's name, for people; the default is "dyno".
	Name string

	// Guardian makes the user guardian, the one actor that is there from the
	// start. Everything else is spawned by it and its descendants.
	Guardian Props

	// Dispatcher runs the actors. It serves this system alone.
	Dispatcher Dispatcher

	// Clock stamps dead letters and failures; the default is package time's.
	Clock Clock

	// DeadLetters, if not nil, is called with every message that was accepted
	// and then not handled. It is called on the goroutine that found it, by
	// several at once, possibly in an actor's turn: it must not block or panic.
	DeadLetters func(DeadLetter)

	// Failures, if not nil, is called with every failure of an actor, in that
	// actor's turn. It must not block or panic.
	Failures func(Failure)
}

// DeadLetter is a message that was accepted and not handled.
type DeadLetter struct {
	Msg    any
	To     Ref
	Reason error // ErrStopped or ErrDropped; after Forward, any reason of a SendError
	Time   time.Time
}

// Failure is an error that Receive or a hook returned, a panic (*PanicError),
// or ErrGoexit.
type Failure struct {
	Actor Ref
	Msg   any // the message it failed on; nil if it failed in a hook
	Err   error
	Time  time.Time
}

// System is a tree of actors with what they share. Make one with [NewSystem].
// All methods may be called by any number of goroutines at once.
//
//	root
//	├── system   reserved for what the runtime itself needs
//	└── user     Config.Guardian
type System struct {
	name       string
	dispatcher Dispatcher
	clock      Clock
	onLetter   func(DeadLetter)
	onFailure  func(Failure)

	root, user *Cell
	table      table
	remote     remote // ways to other systems

	mu    sync.Mutex // guards names
	names map[nameKey]*Cell

	letters, dropped, returned, failures atomic.Uint64

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
	guardian := c.Guardian.New()
	if guardian == nil {
		return nil, errNilActor
	}
	s := &System{
		name:       c.Name,
		dispatcher: c.Dispatcher,
		clock:      c.Clock,
		onLetter:   c.DeadLetters,
		onFailure:  c.Failures,
		done:       make(chan struct{}),
	}
	if s.name == "" {
		s.name = "dyno"
	}
	if s.clock == nil {
		s.clock = wallClock{}
	}
	if err := s.dispatcher.Start(); err != nil {
		return nil, err
	}
	s.root = s.attach(nil, "", &Props{}, ReceiveFunc(ignore))
	s.attach(s.root, "system", &Props{}, ReceiveFunc(ignore))
	s.user = s.attach(s.root, "user", &c.Guardian, guardian)
	s.user.launch(nil)
	return s, nil
}

// ignore is the behaviour of the root and the system guardian, of which no Ref
// is given to anybody.
func ignore(*Context, any) error { return nil }

// Name returns the system's name.
func (s *System) Name() string { return s.name }

// UserGuardian returns the Ref of the user guardian.
func (s *System) UserGuardian() Ref { return Ref{s.user} }

// Lookup returns the actor with that PID; false if it has stopped or never was.
func (s *System) Lookup(p PID) (Ref, bool) {
	c := s.table.find(p)
	return Ref{c}, c != nil
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
	if r.cell != nil && r.cell.signals.push(&signal{kind: sigStop}) {
		r.cell.port.Wake(nil)
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
// actors by themselves, and are idle when nobody knows.
func (s *System) RunUntilIdle() {
	d, ok := s.dispatcher.(Synchronous)
	if !ok {
		panic("actor: RunUntilIdle on a dispatcher that is not Synchronous")
	}
	d.RunUntilIdle()
}

// Stats returns what has been counted so far.
func (s *System) Stats() Stats {
	var st Stats
	s.dispatcher.AddStats(&st)
	st.Actors, st.Spawned = s.table.count()
	st.DeadLetters = s.letters.Load()
	st.Dropped = s.dropped.Load()
	st.Returned = s.returned.Load()
	st.Failures = s.failures.Load()
	return st
}

// attach makes an actor. The parent, if there is one, is in its turn, or not
// running yet.
func (s *System) attach(parent *Cell, name string, p *Props, a Actor) *Cell {
	port := s.dispatcher.Attach(p.Mailbox)
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
	if _, ok := a.(PreStarter); !ok {
		c.started = true
		c.state.Store(uint32(StateRunning))
	}
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
	return c
}

// launch has an actor with a PreStart run it. from is the worker of the turn it
// was spawned in.
func (c *Cell) launch(from Worker) {
	if State(c.state.Load()) == StateStarting {
		c.signals.push(&signal{kind: sigStart})
		c.port.Wake(from)
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
	s.table.clear()
	s.dispatcher.Stop(func() { close(s.done) })
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
	s.returned.Add(1)
	return &SendError{Msg: msg, To: to, Reason: reason}
}

// deadLetter books a message that nobody is going to handle.
func (s *System) deadLetter(l DeadLetter) {
	s.letters.Add(1)
	if l.Reason == ErrDropped {
		s.dropped.Add(1)
	}
	if s.onLetter != nil {
		l.Time = s.clock.Now()
		s.onLetter(l)
	}
}

// failed books a failure.
func (s *System) failed(f *Failure) {
	s.failures.Add(1)
	if s.onFailure != nil {
		s.onFailure(*f)
	}
}
