package typed

import (
	"errors"
	"sync"
	"unsafe"

	"github.com/dynolab/dyno/actor"
)

// box carries a message that would have to be allocated to become an any.
type box[M any] struct {
	msg  M
	pool *pool[M] // nil while the box is in the pool
}

// Unbox returns the message. The core calls it for readers of the
// message.
func (b *box[M]) Unbox() any { return b.msg }

// pool is where boxes of one type wait to be used again. There is one for each
// type. It is a sync.Pool, which lets the collector have what is not needed: a
// list of our own would hold for ever as many boxes as ever waited in mailboxes.
// For 32 bytes on two processors an actor
// that takes back its own boxes, as those that answer each other do, pays 7 ns with
// a sync.Pool, 12 with a list behind one lock and 16 for allocating; boxes that
// always go from one processor to the other cost 30, 15 and 30.
type pool[M any] struct {
	boxes  sync.Pool
	intake actor.Intake // what senders find at the Refs of the actors that handle M
}

// pools has the pool of M as the value of (*M)(nil).
var pools sync.Map

// poolOf returns the pool of M; nil if M needs no boxes.
func poolOf[M any]() *pool[M] {
	key := any((*M)(nil))
	if p, ok := pools.Load(key); ok {
		return p.(*pool[M])
	}
	var p *pool[M]
	if !bare[M]() {
		p = &pool[M]{}
		p.intake.Of = p
	}
	q, _ := pools.LoadOrStore(key, p)
	return q.(*pool[M])
}

// isInterface reports whether M is an interface type: the zero value of any
// other is something even as an any.
func isInterface[M any]() bool {
	var zero M
	return any(zero) == nil
}

// bare reports whether a value of type M becomes an any without being
// allocated. That is so for interfaces, for what has no size, and for what the
// second word of an interface holds itself instead of pointing to it: pointers
// and types made of one, on some compilers also small numbers. Then the word is
// zero for the zero value. Nothing but speed depends on the answer.
func bare[M any]() bool {
	var zero M
	if unsafe.Sizeof(zero) == 0 || isInterface[M]() {
		return true
	}
	x := any(zero)
	return unsafe.Sizeof(zero) <= unsafe.Sizeof(uintptr(0)) &&
		(*[2]uintptr)(unsafe.Pointer(&x))[1] == 0
}

// boxed returns msg in a box if the actor takes it in one, and nil if not.
func (r Ref[M]) boxed(msg M) *box[M] {
	in := r.ref.Intake()
	if in == nil {
		return nil
	}
	p, ok := in.Of.(*pool[M])
	if !ok {
		return nil // an actor of another type: it is going to fail with ErrType
	}
	b, ok := p.boxes.Get().(*box[M])
	if !ok {
		b = new(box[M])
	}
	b.msg, b.pool = msg, p
	return b
}

// free gives the box back. Only its owner calls it.
func (b *box[M]) free() {
	p := b.pool
	if p == nil {
		panic("typed: a message's box was given back twice")
	}
	var zero M
	b.msg, b.pool = zero, nil // what the message points to must not live on here
	p.boxes.Put(b)
}

// sent is what is left to do when b has been sent with the result err: the
// mailbox has it now, or, if err is not nil, none has, and the sender gets
// the message back without it.
func (b *box[M]) sent(err error) error {
	if err == nil {
		return nil // b is not ours any more
	}
	var e *actor.SendError
	if errors.As(err, &e) {
		e.Msg = b.msg
		b.free()
	}
	return err
}

// receive has f handle msg, boxed or not.
func receive[M any](ctx *actor.Context, msg any, f Actor[M]) error {
	if b, ok := msg.(*box[M]); ok {
		if err := f.Receive((*Context[M])(ctx), b.msg); err != nil {
			return err
		}
		b.free()
		return nil
	}
	m, ok := msg.(M)
	if !ok && (msg != nil || !isInterface[M]()) {
		return ErrType
	}
	return f.Receive((*Context[M])(ctx), m)
}
