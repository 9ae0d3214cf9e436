package remote

import (
	"errors"
	"reflect"
	"sync"

	"github.com/dynolab/dyno/actor"
)

// ErrTooLarge: the message has more than [MaxMessage] bytes, or its receiver a
// path of more than 4 KiB.
var ErrTooLarge = errors.New("remote: the message is too large")

// encoder is a message on its way into a frame. It is encoded before the
// association's lock is taken: codecs are users' code.
type encoder struct {
	to      actor.Address
	payload []byte
	address []byte // where the reply goes; nil: nowhere
	store   []byte // the memory of address
	reply   bool   // it is the reply to a Future
	fails   bool   // and an error

	// What the last message was sent to, which is to's, and its type's codec: those of the next
	// one are the same as a rule.
	ref    actor.Ref
	codecs *Codecs
	typ    reflect.Type
	named  named
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

// free gives e back.
func (e *encoder) free() {
	if cap(e.payload) > 64<<10 {
		return
	}
	e.address, e.reply, e.fails = nil, false, false
	encoders.Put(e)
}

func (e *encoder) encode(a *association, to actor.Ref, msg any) (err error) {
	if e.ref != to {
		e.ref, e.to = to, to.Address()
	}
	e.reply = e.to.IsReply()
	if f, ok := msg.(actor.Failed); ok && e.reply {
		e.fails = true
		e.payload = appendError(e.payload[:0], f.Err)
		return nil
	}
	if r, t := a.node.codecs, reflect.TypeOf(msg); e.codecs != r || e.typ != t {
		n, err := r.of(msg)
		if err != nil {
			return err
		}
		e.codecs, e.typ, e.named = r, t, n
	}
	if e.payload, err = e.named.codec.Append(e.payload[:0], msg); err != nil {
		return err
	}
	if len(e.payload) > MaxMessage || len(e.to.Path) > maxPath {
		return ErrTooLarge
	}
	if q, ok := msg.(actor.Requester); ok {
		if r := q.ReplyAddress(); !r.IsZero() {
			line := a.line.Load()
			if line == nil {
				<-a.up // the system has the link a moment before the link has the line
				line = a.line.Load()
			}
			e.store, err = line.ReplyAddress(r).AppendBinary(e.store[:0])
			if err != nil || len(e.store) > 2*maxPath {
				return ErrTooLarge
			}
			e.address = e.store
		}
	}
	return nil
}

// size bounds what the record takes.
func (e *encoder) size() int {
	return 64 + len(e.to.Path) + len(e.named.name) + len(e.payload) + len(e.address)
}
