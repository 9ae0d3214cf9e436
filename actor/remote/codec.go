package remote

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/dynolab/dyno/actor"
)

// Codec turns messages of one type into bytes and back. Its methods may be called
// by any number of goroutines at once.
type Codec interface {
	// Append appends the bytes of msg to dst.
	Append(dst []byte, msg any) ([]byte, error)

	// Decode returns the message with those bytes, which may be anything: they
	// come from outside. It must not keep src. reply is where the reply is to go,
	// zero if the message that was sent is no [actor.Requester].
	Decode(src []byte, reply actor.ReplyTo) (any, error)
}

// ReplySetter is a message that takes the ReplyTo which it had where it was sent:
// together with [actor.Requester] what a request has to be to cross a wire.
type ReplySetter interface {
	SetReplyAddress(to actor.ReplyTo)
}

// Codecs says which types of messages can be sent and received, and by which
// names the other end knows them. Errors need no entry: they arrive as an [*Error].
// Register everything before the first node is made of it.
type Codecs struct {
	byName map[string]Codec
	byType map[reflect.Type]named
}

type named struct {
	name  string
	codec Codec
}

// NewCodecs returns a Codecs without any.
func NewCodecs() *Codecs {
	return &Codecs{byName: map[string]Codec{}, byType: map[reflect.Type]named{}}
}

// maxName bounds the names of types and systems in bytes: they come from outside.
const maxName = 255

// Register has c carry messages of the type of sample, under a name that both
// ends agree on. It panics if the type or the name has a codec already, the
// name is empty or longer than 255 bytes, or the type is one that only
// the runtime sends.
func (r *Codecs) Register(name string, sample any, c Codec) {
	t := reflect.TypeOf(sample)
	switch sample.(type) {
	case nil, actor.Terminated, actor.ReceiveTimeout, actor.Forged, actor.Failed:
		panic(fmt.Sprintf("remote: Register of a %T, which is the runtime's to send", sample))
	}
	if name == "" || len(name) > maxName || name == errorName || c == nil {
		panic(fmt.Sprintf("remote: Register needs a codec and a name of 1 to %d bytes, not %q", maxName, name))
	}
	if _, ok := r.byName[name]; ok {
		panic(fmt.Sprintf("remote: the name %q is taken", name))
	}
	if n, ok := r.byType[t]; ok {
		panic(fmt.Sprintf("remote: %v is registered as %q", t, n.name))
	}
	r.byName[name] = c
	r.byType[t] = named{name, c}
}

// of returns the codec for a message.
func (r *Codecs) of(msg any) (named, error) {
	if n, ok := r.byType[reflect.TypeOf(msg)]; ok {
		return n, nil
	}
	if _, ok := msg.(error); ok {
		return named{errorName, errorCodec{}}, nil
	}
	return named{}, &UnregisteredError{Type: fmt.Sprintf("%T", msg)}
}

// named returns the codec of that name.
func (r *Codecs) named(name string) (Codec, bool) {
	if name == errorName {
		return errorCodec{}, true
	}
	c, ok := r.byName[name]
	return c, ok
}

// UnregisteredError is why a message cannot be sent: its type has no codec.
type UnregisteredError struct {
	Type string
}

// Error names the type.
func (e *UnregisteredError) Error() string { return "remote: no codec is registered for " + e.Type }

// binaryPointer is a pointer to an M that reads and writes itself.
type binaryPointer[M any] interface {
	*M
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// Binary registers M, whose pointer is an encoding.BinaryAppender and
// BinaryUnmarshaler, which does not keep it. Values are sent and arrive as values.
func Binary[M any, P binaryPointer[M]](r *Codecs, name string) {
	var zero M
	c := binaryValues[M, P]{}
	if plain(reflect.TypeFor[M]()) {
		c.spare = new(sync.Pool)
	}
	r.Register(name, zero, c)
}

// plain reports whether values of the type hold no pointers.
func plain(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.Array:
		return plain(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !plain(t.Field(i).Type) {
				return false
			}
		}
		return true
	default:
		return k <= reflect.Complex128
	}
}

// BinaryPointer is Binary for messages that are pointers: *M is sent and arrives
// as another *M.
func BinaryPointer[M any, P binaryPointer[M]](r *Codecs, name string) {
	r.Register(name, P(nil), binaryPointers[M, P]{})
}

// binaryValues reads values that hold no pointers into an M of spare, a *M, each after another: nothing
// in one refers to it. Others it reads into an M of their own, which one may point into.
type binaryValues[M any, P binaryPointer[M]] struct{ spare *sync.Pool }

func (binaryValues[M, P]) Append(dst []byte, msg any) ([]byte, error) {
	if a, ok := msg.(encoding.BinaryAppender); ok {
		return a.AppendBinary(dst) // the method is the value's: no copy
	}
	m := msg.(M)
	return P(&m).AppendBinary(dst)
}

func (c binaryValues[M, P]) Decode(src []byte, reply actor.ReplyTo) (any, error) {
	var p P
	if c.spare != nil {
		p, _ = c.spare.Get().(P)
	}
	if p == nil {
		p = new(M)
	}
	if err := decodeBinary(p, src, reply); err != nil {
		return nil, err
	}
	msg := any(*p)
	if c.spare != nil {
		*p = *new(M)
		c.spare.Put(p)
	}
	return msg, nil
}

type binaryPointers[M any, P binaryPointer[M]] struct{}

func (binaryPointers[M, P]) Append(dst []byte, msg any) ([]byte, error) {
	p := msg.(P)
	if p == nil {
		return dst, errors.New("remote: a nil pointer has no bytes")
	}
	return p.AppendBinary(dst)
}

func (binaryPointers[M, P]) Decode(src []byte, reply actor.ReplyTo) (any, error) {
	p := P(new(M))
	if err := decodeBinary[M](p, src, reply); err != nil {
		return nil, err
	}
	return p, nil
}

func decodeBinary[M any, P binaryPointer[M]](p P, src []byte, reply actor.ReplyTo) error {
	if err := p.UnmarshalBinary(src); err != nil {
		return err
	}
	if s, ok := any(p).(ReplySetter); ok {
		s.SetReplyAddress(reply)
	}
	return nil
}

// String registers M, a type whose values are text.
func String[M ~string](r *Codecs, name string) {
	r.Register(name, M(""), stringCodec[M]{})
}

type stringCodec[M ~string] struct{}

func (stringCodec[M]) Append(dst []byte, msg any) ([]byte, error) {
	return append(dst, msg.(M)...), nil
}

func (stringCodec[M]) Decode(src []byte, _ actor.ReplyTo) (any, error) { return M(src), nil }

// errorName is the name of what every node can carry.
const errorName = "error"

// errorCodec carries errors, by their text.
type errorCodec struct{}

func (errorCodec) Append(dst []byte, msg any) ([]byte, error) {
	return appendError(dst, msg.(error)), nil
}

func (errorCodec) Decode(src []byte, _ actor.ReplyTo) (any, error) {
	p := parser{rest: src}
	err := p.error()
	if p.bad || len(p.rest) != 0 {
		return nil, ErrProtocol
	}
	return err, nil
}

// Error is an error of another node: its text, and what it was as far as both
// ends know it.
type Error struct {
	Text string
	// Is is the error of package actor that it was or wrapped; nil if none.
	Is error
}

// Error returns the text.
func (e *Error) Error() string { return e.Text }

// Unwrap returns Is.
func (e *Error) Unwrap() error { return e.Is }

// known are the errors that arrive as what they were. Their places in the list
// are what is sent: add at the end only.
var known = []error{
	actor.ErrStopped, actor.ErrFull, actor.ErrDropped, actor.ErrDeadlock, actor.ErrFailed, actor.ErrUnknown, actor.ErrZeroRef,
	actor.ErrTimeout, actor.ErrLate, actor.ErrOver, actor.ErrNoLink, actor.ErrUnreachable, actor.ErrGoexit,
}

// maxError bounds the text of an error in bytes.
const maxError = 4096

// appendError appends nothing but a zero for nil, and else the place of a known
// error from 1, or one more than there are, and the text.
func appendError(b []byte, err error) []byte {
	if err == nil {
		return append(b, 0)
	}
	i := 0
	for i < len(known) && !errors.Is(err, known[i]) {
		i++
	}
	text := err.Error()
	return appendText(append(b, byte(i+1)), text[:min(len(text), maxError)])
}

// error takes an error off the front.
func (p *parser) error() error {
	i := int(p.byte())
	if i == 0 {
		return nil
	}
	e := &Error{Text: string(p.text(maxError))}
	if i <= len(known) {
		e.Is = known[i-1]
		if e.Text == e.Is.Error() {
			return e.Is
		}
	}
	return e
}
