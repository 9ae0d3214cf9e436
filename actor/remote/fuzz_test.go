package remote

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls/serial"
)

// blind is a wire of which nothing comes and into which anything goes.
type blind struct {
	closed chan struct{}
	reads  func() // if not nil: called when it is read
}

func (b *blind) WriteFrame([]byte) error { return nil }
func (b *blind) Close() error            { return nil }

func (b *blind) ReadFrame() ([]byte, error) {
	if b.reads != nil {
		b.reads()
	}
	<-b.closed
	return nil, io.EOF
}

// victim is an association whose reader is the test.
type victim struct {
	sys      *actor.System
	a        *association
	target   actor.Ref
	received []any
	handles  func(ctx *actor.Context, msg any) // if not nil: called for what was received
}

// word is a message that is text.
type word string

// question is a request.
type question struct{ reply actor.ReplyTo }

func (q question) ReplyAddress() actor.ReplyTo { return q.reply }

// questions reads a question that keeps its reply address or loses it, or none.
type questions struct{}

func (questions) Append(dst []byte, _ any) ([]byte, error) { return dst, nil }

func (questions) Decode(src []byte, reply actor.ReplyTo) (any, error) {
	switch string(src) {
	case "keep":
		return question{reply}, nil
	case "lose":
		return question{}, nil
	}
	return nil, errors.New("a bad question")
}

func newVictim(tb testing.TB, clock actor.Clock) *victim { return newVictimOf(tb, clock, Config{}) }

func newVictimOf(tb testing.TB, clock actor.Clock, c Config) *victim {
	v := &victim{}
	var err error
	v.sys, err = actor.NewSystem(actor.Config{
		Name: "here", Boot: 7, Clock: clock, Dispatcher: serial.Impl.NewDispatcher(),
		Guardian: actor.Props{New: func() actor.Actor {
			return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
				if f, ok := msg.(func(*actor.Context)); ok {
					f(ctx)
				}
				return nil
			})
		}},
	})
	if err != nil {
		tb.Fatal(err)
	}
	c.Codecs = NewCodecs()
	String[word](c.Codecs, "w")
	c.Codecs.Register("q", question{}, questions{})
	n, err := NewNode(v.sys, c)
	if err != nil {
		tb.Fatal(err)
	}
	v.a = newAssociation(n, &blind{}, false)
	v.a.tag = 1
	n.all[v.a] = struct{}{}
	if err := v.a.hello(&hello{tag: 2, yours: 1, boot: 9, msgs: 100, bytes: 10_000, name: "there", answer: true}); err != nil {
		tb.Fatal(err)
	}
	v.target = v.another(tb, "t", actor.MailboxConfig{})
	tb.Cleanup(func() {
		v.a.mu.Lock()
		v.a.alarm.Stop()
		v.a.state = lost
		v.a.mu.Unlock()
		if err := v.sys.Shutdown(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return v
}

// another is an actor with that name that receives.
func (v *victim) another(tb testing.TB, name string, mailbox actor.MailboxConfig) (r actor.Ref) {
	var err error
	v.in(func(ctx *actor.Context) {
		r, err = ctx.SpawnNamed(name, actor.Props{Mailbox: mailbox, New: func() actor.Actor {
			return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
				if f, ok := msg.(func(*actor.Context)); ok {
					f(ctx)
					return nil
				}
				v.received = append(v.received, msg)
				if v.handles != nil {
					v.handles(ctx, msg)
				}
				return nil
			})
		}})
	})
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func (v *victim) in(f func(ctx *actor.Context)) {
	_ = v.sys.UserGuardian().Tell(f)
	v.sys.RunUntilIdle()
}

// frame returns a frame for the victim's association.
func frameOf(kind byte, h header, records []byte) []byte {
	h.kind = kind
	b := append(make([]byte, headerSize), records...)
	h.put(b)
	return b
}

// seeds are records as a node sends them.
func seeds() [][]byte {
	at := func(kind byte, path, pid string) []byte { return appendText(appendText([]byte{kind}, path), pid) }
	message := append(appendText(appendText([]byte{recordMessage, 1}, "/user/t"), "5"), 1)
	message = append(appendText(message, "w"), 0)
	message = appendText(message, "hello")
	asked := append([]byte{}, message...)
	asked[len(asked)-7] = flagReply
	addr, _ := actor.Address{System: "there", Boot: 9, Path: "/reply", PID: pid("12.13")}.MarshalBinary()
	asked = appendBytes(asked, addr)
	return [][]byte{
		message, asked, append(append([]byte{}, message...), recordMessage, 1, 1, 0, 1, 'x'),
		{recordForget},
		append(at(recordReply, "/reply", "1.2"), appendText(append([]byte{1}, appendText(nil, "w")...), "yes")...),
		appendError(at(recordFail, "/reply", "1.2"), actor.ErrFull), appendError(at(recordFail, "/reply", "1.2"), nil),
		at(recordStop, "/user/t", "5"), at(recordStop, "/user", "3"), at(recordStop, "/system", "2"),
		at(recordWatch, "/user/t", "5"), at(recordUnwatch, "/user/t", "5"), at(recordWatch, "/user/none", "55"),
		appendError(at(recordEnded, "/user/x", "8"), errors.New("x")),
		appendText(appendFind(3), "/user/t"),
		{recordFound, 3, 0},
		append([]byte{recordFound, 3}, at(1, "/user/x", "8")...),
	}
}

func pid(s string) actor.PID {
	p, ok := actor.ParsePID(s)
	if !ok {
		panic(s)
	}
	return p
}

// Whatever comes from outside: nothing panics, no memory is set aside for what is
// only announced, guardians live, and no actor is given a message of the
// runtime's, but that an actor of the peer has ended which it watches.
func FuzzRecords(f *testing.F) {
	for _, b := range seeds() {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, records []byte) {
		if len(records) > MaxMessage {
			return
		}
		v := newVictim(t, nil)
		for i := range uint64(2) { // the second time with the tables of the first
			if err := v.a.in.frame(frameOf(frameData, header{tag: 1, number: i + 1}, records)); err != nil && !errors.Is(err, ErrProtocol) {
				t.Errorf("the frame is answered %v", err)
			}
			v.sys.RunUntilIdle()
		}
		if _, ok := v.sys.Find("/user"); !ok {
			t.Error("the user guardian was stopped")
		}
		for _, m := range v.received {
			switch m.(type) {
			case word, *Error, error:
			default:
				t.Errorf("the actor was given %#v", m)
			}
		}
	})
}

// The same for whole frames: lengths, types, headers, hellos.
func FuzzFrames(f *testing.F) {
	h := hello{tag: 2, yours: 1, boot: 9, msgs: 100, bytes: 10_000, name: "there"}
	f.Add(h.append(nil))
	for _, b := range seeds() {
		f.Add(frameOf(frameData, header{tag: 1, number: 1}, b))
	}
	f.Add(frameOf(frameAck, header{tag: 1, received: 1, msgs: 1, bytes: 1}, nil))
	f.Add(frameOf(frameBye, header{tag: 1}, nil))
	f.Add(frameOf(frameData, header{tag: 1, number: 3}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		v := newVictim(t, nil)
		err := v.a.in.frame(b)
		if err != nil && !errors.Is(err, ErrProtocol) && !errors.Is(err, ErrLeft) && !errors.Is(err, ErrSelf) {
			t.Errorf("the frame is answered %v", err)
		}
		if kind, p, err := parseFrame(b); err == nil && kind == frameHello {
			if h, err := p.hello(); err == nil && !bytes.Equal(h.append(nil), b) && h.answer == (b[lengthSize+1+len(magic)+24] == 1) {
				// A number or a length in more bytes than it takes, or a third
				// answer, is read and not written.
				t.Logf("%x is read as %x", b, h.append(nil))
			}
		}
		v.sys.RunUntilIdle()
		if _, ok := v.sys.Find("/user/t"); !ok && !bytes.Contains(b, []byte("/user/t")) {
			t.Error("an actor was stopped that was not named")
		}
	})
}

// Bytes off a connection: frames come out whole, or an error.
func FuzzTCP(f *testing.F) {
	h := hello{tag: 2, boot: 9, msgs: 1, bytes: 1, name: "there"}
	f.Add(h.append(h.append(nil)))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 1})
	f.Add(make([]byte, lengthSize))
	f.Add(append(binary.BigEndian.AppendUint32(nil, 100_000), make([]byte, 100_000)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		w := TCP(bytesConn{bytes.NewReader(b)})
		total := 0
		for {
			frame, err := w.ReadFrame()
			if err != nil {
				break
			}
			if !bytes.Equal(frame, b[total:total+len(frame)]) || len(frame) > MaxFrame || len(frame) < lengthSize {
				t.Fatalf("frame %x at %d of %x", frame, total, b)
			}
			total += len(frame)
		}
		if rest := len(b) - total; rest >= lengthSize {
			if n := int64(binary.BigEndian.Uint32(b[total:])) + lengthSize; n <= int64(rest) && n <= MaxFrame {
				t.Errorf("a whole frame of %d bytes was not read", n)
			}
		}
	})
}

// bytesConn is a connection off which b can be read.
type bytesConn struct{ *bytes.Reader }

func (bytesConn) Write(b []byte) (int, error)      { return len(b), nil }
func (bytesConn) Close() error                     { return nil }
func (bytesConn) LocalAddr() net.Addr              { return nil }
func (bytesConn) RemoteAddr() net.Addr             { return nil }
func (bytesConn) SetDeadline(time.Time) error      { return nil }
func (bytesConn) SetReadDeadline(time.Time) error  { return nil }
func (bytesConn) SetWriteDeadline(time.Time) error { return nil }

func FuzzErrors(f *testing.F) {
	for _, err := range append(known, nil, errors.New("x")) {
		f.Add(appendError(nil, err))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p := parser{rest: b}
		err := p.error()
		if p.bad {
			return
		}
		again := parser{rest: appendError(nil, err)}
		back := again.error()
		if (err == nil) != (back == nil) || err != nil && err.Error() != back.Error() || again.bad {
			t.Errorf("%x is %v, which comes back as %v", b, err, back)
		}
	})
}

// What a peer says it has got and was not sent is the end of it, as is a flood of
// what is not in order; frames of other associations are nothing.
func TestHostile(t *testing.T) {
	// A message for an actor, number n of the table, and of the type "w", number 1.
	define := func(n uint64, flags byte) []byte {
		m := binary.AppendUvarint([]byte{recordMessage}, n)
		m = append(appendText(appendText(m, "/user/absent"), "55"), 1)
		if n == 1 {
			m = appendText(m, "w")
		}
		return append(m, flags, 0)
	}
	for name, x := range map[string]struct {
		b    []byte
		want error
	}{
		"ack of nothing":      {frameOf(frameAck, header{tag: 1, received: 1}, nil), ErrProtocol},
		"credit for nothing":  {frameOf(frameAck, header{tag: 1, msgs: 1}, nil), ErrProtocol},
		"bytes for nothing":   {frameOf(frameAck, header{tag: 1, bytes: 1}, nil), ErrProtocol},
		"ack with records":    {frameOf(frameAck, header{tag: 1}, []byte{1}), ErrProtocol},
		"bye":                 {frameOf(frameBye, header{tag: 1}, nil), ErrLeft},
		"another association": {frameOf(frameBye, header{tag: 3}, nil), nil},
		"unknown record":      {frameOf(frameData, header{tag: 1, number: 1}, []byte{99}), ErrProtocol},
		"actor not in table":  {frameOf(frameData, header{tag: 1, number: 1}, []byte{recordMessage, 7}), ErrProtocol},
		"unknown flag":        {frameOf(frameData, header{tag: 1, number: 1}, define(1, 2)), ErrProtocol},
		"too long":            {make([]byte, MaxFrame+1), ErrProtocol},
		"empty":               {nil, ErrProtocol},
		"stops the guardian":  {frameOf(frameData, header{tag: 1, number: 1}, seeds()[8]), nil},
		"of the past":         {frameOf(frameData, header{tag: 1, number: 0}, []byte{99}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVictim(t, nil)
			if err := v.a.in.frame(x.b); !errors.Is(err, x.want) {
				t.Errorf("got %v, want %v", err, x.want)
			}
			v.sys.RunUntilIdle()
			if _, ok := v.sys.Find("/user/t"); !ok {
				t.Error("the guardian is gone")
			}
		})
	}
	v := newVictim(t, nil)
	for i := range uint64(10_000) {
		if err := v.a.in.frame(frameOf(frameData, header{tag: 1, number: i + 2}, make([]byte, 10_000))); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(v.a.in.stash); n > mostStash || v.a.in.stashBytes > 2*v.a.node.config.WindowBytes {
		t.Errorf("%d frames of %d bytes are kept for one that never comes", n, v.a.in.stashBytes)
	}
	// Nor is what a peer sends beyond its window.
	v = newVictim(t, nil)
	held := v.target.Address()
	v.sys.Suspend(v.target, actor.Suspension{})
	v.sys.RunUntilIdle()
	message := appendText(appendText([]byte{recordMessage, 1}, held.Path), held.PID.String())
	message = append(appendText(append(message, 1), "w"), 0, 0)
	var err error
	n := uint64(0)
	for ; err == nil && n < 100_000; n++ {
		err = v.a.in.frame(frameOf(frameData, header{tag: 1, number: n + 1}, message))
		message = []byte{recordMessage, 1, 1, 0, 0}
	}
	if c := v.a.node.config; err == nil || n > uint64(c.Window+c.Backlog+2*lookEvery) {
		t.Errorf("after %d messages for an actor that handles none: %v", n, err)
	}
	// Nor are more actors than the table has room for.
	v, err = newVictim(t, nil), nil
	for n = 1; err == nil && n <= 2*maxActors; n++ {
		err = v.a.in.frame(frameOf(frameData, header{tag: 1, number: n}, define(n, 0)))
	}
	if len(v.a.in.actors) != maxActors || !errors.Is(err, ErrProtocol) {
		t.Errorf("the table has %d actors, and the last frame is answered %v", len(v.a.in.actors), err)
	}
	// A peer that confirms nothing is not kept waiting for without end.
	for range 2*maxSystem + 1 {
		v.a.say([]byte{recordForget})
	}
	if v.a.reason == nil {
		t.Error("a peer that confirms nothing is still there")
	}
}

// What a peer calls a reply reaches Futures only: an actor, whose mailbox it might have
// this node wait for, is not given it.
func TestHostileReply(t *testing.T) {
	v := newVictim(t, nil)
	at := v.target.Address()
	r := appendPlace([]byte{recordReply}, at)
	r = appendText(appendText(append(r, 1), "w"), "forged")
	if err := v.a.in.frame(frameOf(frameData, header{tag: 1, number: 1}, r)); err != nil {
		t.Fatal(err)
	}
	v.sys.RunUntilIdle()
	if n := v.sys.Stats().DeadLetters; len(v.received) > 0 || n != 1 {
		t.Errorf("the actor is given %v, and there are %d dead letters", v.received, n)
	}
}

// A hello without credit is none: nothing could ever be sent.
func TestHostileHello(t *testing.T) {
	for want, h := range map[error]hello{
		nil:         {tag: 1, boot: 1, msgs: 1, bytes: 1, name: "x"},
		ErrProtocol: {tag: 1, boot: 1, msgs: 0, bytes: 1, name: "x"},
	} {
		_, p, err := parseFrame(h.append(nil))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.hello(); !errors.Is(err, want) {
			t.Errorf("credit of %d messages: %v, want %v", h.msgs, err, want)
		}
	}
}

// pending returns an association of n with the system name that has been introduced
// and is not open.
func pending(n *Node, name string, boot uint64, dialed bool) *association {
	a := newAssociation(n, &blind{}, dialed)
	a.peer = hello{tag: 2, boot: boot, msgs: 1, bytes: 1, name: name}
	n.all[a] = struct{}{}
	return a
}

// Of two associations that both ends begin at the same time both keep the same one,
// in whichever order each of them gets to know the two; and of two that one end has
// begun the newer one.
func TestTwins(t *testing.T) {
	v, w := newVictim(t, nil), newVictim(t, nil)
	open := func(v *victim, name string, list ...*association) *association {
		for _, a := range list {
			_ = v.a.node.open(a)
		}
		v.a.node.mu.Lock()
		defer v.a.node.mu.Unlock()
		return v.a.node.peers[name]
	}
	// Both systems are called "here": for the one "a" is the other, for the other "z".
	for range 2 {
		mine, yours := pending(v.a.node, "z", 5, true), pending(v.a.node, "z", 5, false)
		theirs, ours := pending(w.a.node, "a", 5, false), pending(w.a.node, "a", 5, true)
		if got := open(v, "z", mine, yours); got != mine {
			t.Error("the end with the smaller name gives up what it has dialed")
		}
		if got := open(w, "a", ours, theirs); got != theirs {
			t.Error("the end with the larger name keeps what it has dialed")
		}
		delete(v.a.node.peers, "z")
		delete(w.a.node.peers, "a")
		mine, yours = pending(v.a.node, "z", 5, true), pending(v.a.node, "z", 5, false)
		theirs, ours = pending(w.a.node, "a", 5, false), pending(w.a.node, "a", 5, true)
		if got := open(v, "z", yours, mine); got != mine {
			t.Error("the end with the smaller name gives up what it has dialed, when it comes second")
		}
		if got := open(w, "a", theirs, ours); got != theirs {
			t.Error("the end with the larger name keeps what it has dialed, when it comes second")
		}
	}
	again := pending(v.a.node, "z", 5, true)
	if got := open(v, "z", again); got != again {
		t.Error("a node that dials again does not get its new association")
	}
}

// Who has ceased to watch costs nothing any more.
func TestUnwatchIsHeard(t *testing.T) {
	v := newVictim(t, nil)
	at := v.target.Address()
	for i, kind := range []byte{recordWatch, recordUnwatch} {
		if err := v.a.in.frame(frameOf(frameData, header{tag: 1, number: uint64(i + 1)}, appendPlace([]byte{kind}, at))); err != nil {
			t.Fatal(err)
		}
		if got := len(v.a.in.watched); got != 1-i {
			t.Errorf("after record %d of 2, %d actors are watched", i+1, got)
		}
	}
	v.sys.Stop(v.target)
	v.sys.RunUntilIdle()
	if v.a.filling != nil {
		t.Errorf("the peer is told %q of an actor that it does not watch", v.a.filling.buf[headerSize:])
	}
}

// A codec that panics makes a dead letter, and nothing else.
func TestDecodePanics(t *testing.T) {
	b := []byte("b")
	msg, err := decode(&typed{"x", panicking{}}, b, actor.ReplyTo{})
	b[0] = 'c' // the frame is the wire's
	if u, ok := msg.(*Undecoded); !ok || u.Err == nil || !errors.Is(err, ErrUndecoded) || string(u.Bytes) != "b" {
		t.Errorf("got %v, %v", msg, err)
	}
	msg, err = decode(&typed{"q", questions{}}, []byte("bad"), actor.ReplyTo{})
	if u, ok := msg.(*Undecoded); !ok || u.Err == nil || u.Type != "q" || !errors.Is(err, ErrUndecoded) {
		t.Errorf("a codec that refuses: %v, %v", msg, err)
	}
}

type panicking struct{}

func (panicking) Append(dst []byte, _ any) ([]byte, error) { return dst, nil }

func (panicking) Decode([]byte, actor.ReplyTo) (any, error) { panic(errors.New("x")) }

func TestRegisterMisuse(t *testing.T) {
	for name, f := range map[string]func(*Codecs){
		"the runtime's": func(c *Codecs) { c.Register("x", actor.Terminated{}, panicking{}) },
		"a timeout":     func(c *Codecs) { c.Register("x", actor.ReceiveTimeout{}, panicking{}) },
		"a forged one":  func(c *Codecs) { c.Register("x", actor.Forged{}, panicking{}) },
		"a failure":     func(c *Codecs) { c.Register("x", actor.Failed{}, panicking{}) },
		"a long name":   func(c *Codecs) { c.Register(strings.Repeat("x", maxName+1), 1, panicking{}) },
		"nil":           func(c *Codecs) { c.Register("x", nil, panicking{}) },
		"no codec":      func(c *Codecs) { c.Register("x", 1, nil) },
		"no name":       func(c *Codecs) { c.Register("", 1, panicking{}) },
		"error":         func(c *Codecs) { c.Register("error", 1, panicking{}) },
		"name twice":    func(c *Codecs) { c.Register("x", 1, panicking{}); c.Register("x", 1.5, panicking{}) },
		"type twice":    func(c *Codecs) { c.Register("x", 1, panicking{}); c.Register("y", 1, panicking{}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f(NewCodecs())
		})
	}
}

// kept is how many bytes of frames an association keeps.
func (v *victim) kept() (n int) {
	v.a.mu.Lock()
	defer v.a.mu.Unlock()
	for _, f := range append(v.a.sent, v.a.filling) {
		if f != nil {
			n += cap(f.buf)
		}
	}
	return n
}

// A peer that confirms nothing has this node keep no more for it than maxSystemBytes
// allows, by whatever it asks for without credit: fifty frames, each full of what is
// answered with as much.
func TestHostileAnswers(t *testing.T) {
	v := newVictim(t, nil)
	var records []byte
	for len(records) < MaxFrame-10_000 {
		records = appendText(appendText(append(records, recordWatch), "/user/"+strings.Repeat("x", 4000)), "55")
	}
	var err error
	for n := uint64(1); n <= 50 && err == nil; n++ {
		if err = v.a.in.frame(frameOf(frameData, header{tag: 1, number: n}, records)); err == nil {
			v.a.mu.Lock()
			err = v.a.reason
			v.a.mu.Unlock()
		}
	}
	if n := v.kept(); err == nil || n > 4*maxSystemBytes {
		t.Errorf("the peer has had %d bytes made, and the association ends with %v", n, err)
	}
}

// Replies take no credit. Those that are not confirmed are bounded all the same.
func TestHostileQuestions(t *testing.T) {
	v := newVictim(t, nil)
	to, err := v.sys.ResolveAddress(actor.Address{System: "there", Boot: 9, Path: "/reply", PID: pid("12.13")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(context.Background())
	end()
	reply := word(strings.Repeat("x", 1_000_000))
	for range 50 {
		if err = v.a.Send(ctx, to, reply); err != nil {
			break
		}
	}
	if n := v.kept(); !errors.Is(err, context.Canceled) || n > 4*maxSystemBytes {
		t.Errorf("replies to a peer that confirms none end with %v, after %d bytes", err, n)
	}
	// When some are confirmed there is room again, and who waits for it is woken.
	waiting := make(chan error)
	go func() { waiting <- v.a.Send(context.Background(), to, reply) }()
	waits := func() bool {
		v.a.mu.Lock()
		defer v.a.mu.Unlock()
		return v.a.room != nil
	}
	for !waits() {
		runtime.Gosched()
	}
	v.a.mu.Lock()
	v.a.written = len(v.a.sent)
	received := v.a.numbered
	v.a.mu.Unlock()
	if err := v.a.in.frame(frameOf(frameAck, header{tag: 1, received: received}, nil)); err != nil {
		t.Fatal(err)
	}
	if waits() {
		t.Fatal("a reply goes on waiting for room that there is")
	}
	if err := <-waiting; err != nil {
		t.Errorf("a reply that has waited for room: %v", err)
	}
	if err := v.a.Send(ctx, to, reply); err != nil {
		t.Errorf("a reply after the others were confirmed: %v", err)
	}
}

// The paths in the table of actors are bounded together, at both ends alike.
func TestHostilePaths(t *testing.T) {
	v := newVictim(t, nil)
	var err error
	for n := uint64(1); n <= maxActors && err == nil; n++ {
		m := binary.AppendUvarint([]byte{recordMessage}, n)
		m = appendText(appendText(m, "/user/"+strings.Repeat("x", 4000)), "55")
		if m = append(m, 1); n == 1 {
			m = appendText(m, "w")
		}
		err = v.a.in.frame(frameOf(frameData, header{tag: 1, number: n}, append(m, 0, 0)))
	}
	n := 0
	for _, x := range v.a.in.actors {
		n += len(x.at.path)
	}
	if !errors.Is(err, ErrProtocol) || n > maxPaths+maxPath {
		t.Errorf("the table has paths of %d bytes, and the last frame is answered %v", n, err)
	}
}

// No memory is set aside for what is only announced.
func TestHostileLength(t *testing.T) {
	w := TCP(bytesConn{bytes.NewReader(append(binary.BigEndian.AppendUint32(nil, MaxFrame-lengthSize), make([]byte, 100_000)...))})
	if _, err := w.ReadFrame(); err == nil {
		t.Error("a frame of which most is missing was read")
	}
	if n := cap(w.(*tcp).buf); n > 400_000 {
		t.Errorf("%d bytes were set aside for 100,000", n)
	}
	for size, want := range map[int]error{MaxFrame: io.EOF, MaxFrame + 1: ErrProtocol} {
		whole := append(binary.BigEndian.AppendUint32(nil, uint32(size-lengthSize)), make([]byte, size-lengthSize)...)
		w, n := TCP(bytesConn{bytes.NewReader(whole)}), 0
		b, err := w.ReadFrame()
		if n = len(b); err == nil {
			_, err = w.ReadFrame()
		}
		if !errors.Is(err, want) || n != size && want == io.EOF {
			t.Errorf("a frame of %d bytes comes out as %d: %v", size, n, err)
		}
	}
	// A wire over which much comes reads much at a time, and not without end.
	for frames, want := range map[int]int{10: leastRead, 100_000: mostRead} {
		w := TCP(bytesConn{bytes.NewReader(bytes.Repeat(append(binary.BigEndian.AppendUint32(nil, 6), "abcdef"...), frames))})
		for range frames {
			if b, err := w.ReadFrame(); err != nil || len(b) != 10 {
				t.Fatal(b, err)
			}
		}
		if n := len(w.(*tcp).buf); n != want {
			t.Errorf("after %d frames it reads %d bytes at a time, want %d", frames, n, want)
		}
	}
	conn := &stuck{}
	w = TCP(conn)
	if _, err := w.ReadFrame(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("a connection that reads nothing: %v", err)
	}
	if first, second := w.Close(), w.Close(); first == nil || second != first || conn.closed != 1 {
		t.Errorf("it is closed %d times: %v, %v", conn.closed, first, second)
	}
}

// stuck is a connection that reads nothing and closes badly.
type stuck struct {
	bytesConn
	closed int
}

func (*stuck) Read([]byte) (int, error) { return 0, nil }

func (s *stuck) Close() error {
	s.closed++
	return fmt.Errorf("close %d", s.closed)
}
