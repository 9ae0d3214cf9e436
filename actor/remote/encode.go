package remote

import (
	"errors"
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
	name    string // of its type
	payload []byte
	address []byte // where the reply goes; nil: nowhere
	store   []byte // the memory of address
	reply   bool   // it is the reply to a Future
	fails   bool   // and an error
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

// free gives e back.
func (e *encoder) free() {
	if cap(e.payload) > 64<<10 {
		return
	}
	*e = encoder{payload: e.payload[:0], store: e.store[:0]}
	encoders.Put(e)
}

func (e *encoder) encode(a *association, to actor.Ref, msg any) (err error) {
	e.to = to.Address()
	e.reply = e.to.IsReply()
	if f, ok := msg.(actor.Failed); ok && e.reply {
		e.fails = true
		e.payload = appendError(e.payload[:0], f.Err)
		return nil
	}
	n, err := a.node.codecs.of(msg)
	if err != nil {
		return err
	}
	e.name = n.name
	if e.payload, err = n.codec.Append(e.payload[:0], msg); err != nil {
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
	return 64 + len(e.to.Path) + len(e.name) + len(e.payload) + len(e.address)
}
