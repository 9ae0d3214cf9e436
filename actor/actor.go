package actor

// Actor is what a user writes: private state, and a method that is called with
// one message at a time.
type Actor interface {
	// Receive handles a message. ctx is valid until Receive returns, in every
	// call the same. An error, like a panic, is a failure of the actor: it
	// handles no further message until its parent has decided what becomes of
	// it. Receive may block; others are run meanwhile.
	Receive(ctx *Context, msg any) error
}

// PreStarter is an Actor with something to do before its first message.
type PreStarter interface {
	// PreStart runs in the actor's first turn, and after a restart unless the
	// actor is a PostRestarter. If it fails, the actor has failed without
	// having been started: PostStop is not called when it is stopped for that.
	PreStart(ctx *Context) error
}

// PostStopper is an Actor with something to do after its last message.
type PostStopper interface {
	// PostStop runs once, when the actor has handled its last message and its
	// children have stopped; and before a restart, unless the actor is a
	// PreRestarter. An error is reported and changes nothing else. ctx may be
	// used to send.
	PostStop(ctx *Context) error
}

// PreRestarter is an Actor with something to do before a restart replaces it. An
// actor without it has its PostStop called instead, if it has one.
type PreRestarter interface {
	// PreRestart runs on the old value, when the actor's children have stopped
	// and before a backoff; children that it spawns are stopped, too. cause is
	// what the actor, or with AllForOne a sibling, has failed with. An error is
	// reported and changes nothing else. An actor that has not started, because
	// its PreStart failed, has nothing to undo: it is not called.
	PreRestart(ctx *Context, cause error) error
}

// PostRestarter is an Actor with something to do after a restart has made it. An
// actor without it has its PreStart called instead, if it has one.
type PostRestarter interface {
	// PostRestart runs on the new value, before its first message. If it fails,
	// the actor has failed once more.
	PostRestart(ctx *Context, cause error) error
}

// Taker is an Actor with something to tell those who send to it. It is for
// layers over this package, such as package typed, which has senders put
// messages into boxes if and only if the actor is one that takes them out.
type Taker interface {
	Actor
	// Intake is called once, when the actor is spawned. What it returns,
	// [Ref.Intake] returns to anybody; it must not change.
	Intake() *Intake
}

// Intake is what an actor tells those who send to it.
type Intake struct {
	// Of is for the layer that made the actor to recognise its own.
	Of any
}

// ReceiveFunc is an Actor, or the behaviour of one, that is only a function.
type ReceiveFunc func(ctx *Context, msg any) error

// Receive calls f.
func (f ReceiveFunc) Receive(ctx *Context, msg any) error { return f(ctx, msg) }

// Props says how to make an actor.
type Props struct {
	// New makes the actor's value. It is called by Spawn, in the parent's turn,
	// and must return a new value each time: two actors that share one share
	// its state. It is required and must not return nil. A panic in it is the
	// parent's. A restart calls it again, in the actor's own turn.
	New func() Actor

	// Mailbox says how user messages wait; the default is unbounded.
	Mailbox MailboxConfig

	// Throughput is the most user messages that the actor handles in one turn
	// before others get theirs; 0 means 300. A turn costs some ten nanoseconds
	// to begin and end, which 300 messages make disappear, while 300 short
	// messages, some ten microseconds, are not long to wait. It must not be
	// negative, nor more than 1<<30.
	Throughput int

	// Priority is how urgent the actor is among those that are ready to run, for
	// a dispatcher that goes by it; others ignore it. It says nothing about
	// the order of an actor's own messages: see MailboxConfig.Priority.
	Priority Priority

	// Supervisor says what becomes of the actor's children when they fail. Nil
	// stops them.
	Supervisor *Supervisor

	// Middleware is called with every message before the actor is, the first of
	// it first, and after that of Config.Middleware.
	Middleware []Middleware

	// Invoker, if not nil, calls the actor; without it, the actor's Receive is
	// called.
	Invoker Invoker
}

// Priority is how urgent an actor is among others. The zero value is Normal.
type Priority int8

// The priorities there are.
const (
	Low    Priority = -1
	Normal Priority = 0
	High   Priority = 1
)

// defaultThroughput is the number that protoactor-go and the source document
// on small machines use.
const defaultThroughput = 300

// check returns a *PropsError if p cannot be used, and nil otherwise. prefix
// begins the names of fields.
func (p *Props) check() error {
	switch {
	case p.New == nil:
		return &PropsError{"Props.New", "must not be nil"}
	case p.Throughput < 0 || p.Throughput > 1<<30:
		return &PropsError{"Props.Throughput", "must be from 0, which means 300, to 1<<30"}
	case p.Priority < Low || p.Priority > High:
		return &PropsError{"Props.Priority", "must be Low, Normal or High"}
	}
	for _, m := range p.Middleware {
		if m == nil {
			return &PropsError{"Props.Middleware", "must not contain nil"}
		}
	}
	if p.Supervisor != nil {
		if err := p.Supervisor.check(); err != nil {
			return err
		}
	}
	return p.Mailbox.check()
}

// quantum is the throughput with the default filled in.
func (p *Props) quantum() int32 {
	if p.Throughput == 0 {
		return defaultThroughput
	}
	return int32(p.Throughput)
}

// errNilActor: a factory has made nothing.
var errNilActor = &PropsError{"Props.New", "must not return nil"}
