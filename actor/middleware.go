package actor

// Middleware wraps what is called with an actor's messages: it returns a
// function that does something before or after it calls next, or instead. The
// messages of timers, Terminated and ReceiveTimeout pass it too; hooks do not. It is
// called once for each actor, when that is spawned, and the same chain serves
// after Become and after a restart. An actor without any pays nothing.
type Middleware func(next ReceiveFunc) ReceiveFunc

// Invoker calls an actor with a message. One of its own, in Props, can decide
// whether, how often and with what the actor is called, and what is an error.
type Invoker interface {
	// Invoke has a, the behaviour in force, handle msg in ctx's turn, and returns
	// what is to be taken for the error of Receive.
	Invoke(ctx *Context, a Actor, msg any) error
}

// front stands before an actor's behaviour if there is middleware or an invoker.
type front struct {
	chain     ReceiveFunc
	behaviour Actor
}

// Receive implements Actor.
func (f *front) Receive(ctx *Context, msg any) error { return f.chain(ctx, msg) }

// newFront returns a front of a. The outer middleware is called first.
func newFront(a Actor, inv Invoker, outer, inner []Middleware) *front {
	f := &front{behaviour: a}
	f.chain = func(ctx *Context, msg any) error { return f.behaviour.Receive(ctx, msg) }
	if inv != nil {
		f.chain = func(ctx *Context, msg any) error { return inv.Invoke(ctx, f.behaviour, msg) }
	}
	for _, part := range [2][]Middleware{inner, outer} {
		for i := len(part) - 1; i >= 0; i-- {
			f.chain = part[i](f.chain)
		}
	}
	return f
}

// behaviour returns where the behaviour in force is kept.
func (c *Cell) behaviour() *Actor {
	if c.more != nil && c.more.front != nil {
		return &c.more.front.behaviour
	}
	return &c.actor
}

// uncover undoes every Become: hooks are those of the actor, not of a behaviour.
func (c *Cell) uncover() {
	if c.more != nil && len(c.more.below) > 0 {
		*c.behaviour() = c.more.below[0]
		c.more.below = nil
	}
}

// self returns the actor's value. Nothing covers it.
func (c *Cell) self() Actor { return *c.behaviour() }
