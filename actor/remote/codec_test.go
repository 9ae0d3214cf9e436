package remote

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/dynolab/dyno/actor"
)

// pointing is a message that points into itself when it has been read.
type pointing struct {
	room [1]byte
	text []byte
}

func (m *pointing) AppendBinary(b []byte) ([]byte, error) { return append(b, m.text...), nil }

func (m *pointing) UnmarshalBinary(b []byte) error {
	m.text = m.room[:copy(m.room[:], b)]
	return nil
}

// adding is one that adds what is read to what it is.
type adding [2]uint8

func (m *adding) AppendBinary(b []byte) ([]byte, error) { return append(b, m[0]), nil }

func (m *adding) UnmarshalBinary(b []byte) error {
	m[0] += b[0]
	return nil
}

// What is read for a message is that message's alone.
func TestValuesAreReadApart(t *testing.T) {
	r := NewCodecs()
	Binary[pointing](r, "pointing")
	Binary[adding](r, "adding")
	read := func(name, text string) any {
		msg, err := r.byName[name].Decode([]byte(text), actor.ReplyTo{})
		if err != nil {
			t.Fatal(err)
		}
		return msg
	}
	for range 100 { // a sync.Pool may lose one
		a, b := read("pointing", "a").(pointing), read("pointing", "b").(pointing)
		if string(a.text) != "a" || string(b.text) != "b" {
			t.Fatalf("read %q and %q", a.text, b.text)
		}
		if a, b := read("adding", "a").(adding), read("adding", "b").(adding); a[0] != 'a' || b[0] != 'b' {
			t.Fatalf("read %v and %v", a, b)
		}
	}
}

// TestPlain: values are read into memory that is used again if none points anywhere.
func TestPlain(t *testing.T) {
	for v, want := range map[any]bool{
		1.5: true, uintptr(1): true, complex64(1): true, complex128(1): true, [2]bool{}: true,
		struct{ a, b int8 }{}: true, struct{ a [1]struct{ b bool } }{}: true, struct{}{}: true,
		"": false, [2]string{}: false, struct {
			a int
			b *int
		}{}: false, struct{ a [1]struct{ b any } }{}: false, (*int)(nil): false, make(chan int): false,
	} {
		if plain(reflect.TypeOf(v)) != want {
			t.Errorf("%T is plain: %t", v, !want)
		}
	}
}

// TestCodecs: what has no codec, and what a codec of pointers cannot carry.
func TestCodecs(t *testing.T) {
	c := NewCodecs()
	String[word](c, strings.Repeat("w", maxName))
	var unregistered *UnregisteredError
	if _, err := c.of(adding{}); !errors.As(err, &unregistered) || unregistered.Type != "remote.adding" {
		t.Errorf("a type without a codec: %v", err)
	}
	BinaryPointer[refusing](c, "refusing")
	p := c.byName["refusing"]
	if b, err := p.Append([]byte("x"), (*refusing)(nil)); err == nil || string(b) != "x" {
		t.Errorf("a nil pointer is %q, %v", b, err)
	}
	if msg, err := p.Decode(nil, actor.ReplyTo{}); err == nil || msg != nil {
		t.Errorf("what is refused is read as %v", msg)
	}
}

// refusing is a message that cannot be read.
type refusing struct{ adding }

func (*refusing) UnmarshalBinary([]byte) error { return errors.New("refused") }

// TestEncoder: an encoder goes from message to message, node to node and back to the pool with
// nothing of the one before.
func TestEncoder(t *testing.T) {
	v, w := newVictim(t, still()), newVictim(t, still())
	w.a.node.codecs = NewCodecs()
	String[word](w.a.node.codecs, "other")
	e := &encoder{}
	long := func(n int) actor.Address {
		return actor.Address{System: "there", Boot: 9, Path: "/" + strings.Repeat("x", n-1), PID: pid("5")}
	}
	away := func(at actor.Address) actor.Ref {
		r, err := v.sys.ResolveAddress(at)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	to, reply := v.away(t, 1), away(actor.Address{System: "there", Boot: 9, Path: "/reply", PID: pid("12.13")})
	for i, c := range []struct {
		v    *victim
		to   actor.Ref
		msg  any
		name string
		size int
		err  error
	}{
		{v, to, word("x"), "w", 1, nil},
		{w, to, word("xy"), "other", 2, nil},
		{v, to, question{}, "q", 0, nil},
		{v, to, word(strings.Repeat("x", MaxMessage)), "w", MaxMessage, nil},
		{v, to, word(strings.Repeat("x", MaxMessage+1)), "", 0, ErrTooLarge},
		{v, away(long(maxPath)), word(""), "w", 0, nil},
		{v, away(long(maxPath + 1)), word(""), "", 0, ErrTooLarge},
		{v, to, question{to.ReplyTo()}, "q", 0, nil},
		{v, to, question{away(long(2 * maxPath)).ReplyTo()}, "", 0, ErrTooLarge},
		{v, to, actor.Failed{}, "", 0, &UnregisteredError{"actor.Failed"}},
		{v, reply, actor.Failed{}, "", 1, nil},
	} {
		err := e.encode(c.v.a, c.to, c.msg)
		if !reflect.DeepEqual(err, c.err) {
			t.Errorf("message %d: %v", i, err)
		}
		if err == nil && (c.name != "" && e.named.name != c.name || len(e.payload) != c.size || e.to.Path != c.to.Address().Path || e.fails != (c.name == "")) {
			t.Errorf("message %d has %d bytes for %q, as %q, and fails %t", i, len(e.payload), e.to.Path, e.named.name, e.fails)
		}
		e.fails = false
	}
	for _, c := range []struct {
		bytes int
		kept  bool
	}{{64 << 10, true}, {64<<10 + 1, false}} {
		e := &encoder{payload: make([]byte, 0, c.bytes), address: []byte{1}, reply: true, fails: true}
		if e.free(); c.kept != (e.address == nil && !e.reply && !e.fails) || !c.kept && !e.reply {
			t.Errorf("one of %d bytes is used again with %+v", c.bytes, e)
		}
	}
}

// TestEncodeWaits: a request that is sent before the association has its line waits for that.
func TestEncodeWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVictim(t, still())
		a := newAssociation(v.a.node, &blind{}, true)
		a.alarm.Stop()
		encoded := make(chan error)
		e := &encoder{}
		go func() { encoded <- e.encode(a, v.away(t, 1), question{v.sys.NewFuture(0).ReplyTo()}) }()
		synctest.Wait()
		a.line.Store(v.a.line.Load())
		close(a.up)
		if err := <-encoded; err != nil || len(e.address) == 0 {
			t.Errorf("a reply address of %d bytes: %v", len(e.address), err)
		}
	})
}

// TestSize: an encoder says no less than its record takes, whatever of it is large.
func TestSize(t *testing.T) {
	v := newVictim(t, still())
	name := strings.Repeat("n", maxName)
	v.a.node.codecs.Register(name, adding{}, questions{})
	large, err := v.sys.ResolveAddress(actor.Address{System: "there", Boot: 9, Path: "/" + strings.Repeat("x", 4000), PID: pid("4294967295.4294967295")})
	if err != nil {
		t.Fatal(err)
	}
	v.a.busy = true
	for what, m := range map[string]struct {
		to  actor.Ref
		msg any
	}{
		"message": {v.away(t, 1), word(strings.Repeat("x", 4000))}, "path": {large, word("")},
		"reply": {v.away(t, 1), question{large.ReplyTo()}}, "name": {v.away(t, 1), adding{}},
	} {
		clear(v.a.actors)
		clear(v.a.types)
		v.a.lastActor, v.a.lastType, v.a.filling = 0, 0, nil
		e := &encoder{}
		if err := e.encode(v.a, m.to, m.msg); err != nil {
			t.Fatal(err)
		}
		v.a.put(e, m.to, m.msg)
		if took := len(v.a.filling.buf) - headerSize; took > e.size() || took < e.size()-64 {
			t.Errorf("a large %s: %d bytes are said, and %d written", what, e.size(), took)
		}
	}
	v.a.busy = false
}

// TestParser: what is cut off, longer than it may be, or of another kind is refused.
func TestParser(t *testing.T) {
	read := func(b []byte, actors, types int) bool {
		p := parser{rest: b}
		var r record
		p.record(&r, actors, types)
		return !p.bad
	}
	for i, b := range seeds() {
		if i == 2 { // two of them
			continue
		}
		if !read(b, 0, 0) {
			t.Errorf("record %d is refused", i)
		}
		for n := range len(b) {
			if read(b[:n:n], 0, 0) {
				t.Errorf("%d bytes of %d of record %d are taken for one", n, len(b), i)
			}
		}
	}
	place := func(kind byte, path int) []byte {
		return appendText(appendText([]byte{kind}, strings.Repeat("x", path)), "5")
	}
	message := func(payload, reply int) []byte {
		b := appendText([]byte{recordMessage, 1, 1, flagReply}, strings.Repeat("x", payload))
		return appendText(b, strings.Repeat("x", reply))
	}
	name := func(n int) []byte {
		return append(appendText([]byte{recordMessage, 1, 2}, strings.Repeat("n", n)), 0, 0)
	}
	number := func(actor, typ uint64) []byte {
		b := appendFind(actor)
		b[0] = recordMessage
		b = append(b, appendFind(typ)[1:]...)
		if typ > maxTypes || actor > maxActors {
			b = append(b, 0)
		}
		return append(b, 0, 0, 0)
	}
	for what, c := range map[string]struct {
		b             []byte
		actors, types int
		ok            bool
	}{
		"the longest path":       {place(recordWatch, maxPath), 0, 0, true},
		"a longer path":          {place(recordWatch, maxPath+1), 0, 0, false},
		"no actor's number":      {appendText(appendText([]byte{recordWatch}, "/user"), "x"), 0, 0, false},
		"the longest message":    {message(MaxMessage, 2*maxPath), 1, 1, true},
		"a longer one":           {message(MaxMessage+1, 1), 1, 1, false},
		"a longer reply address": {message(1, 2*maxPath+1), 1, 1, false},
		"the longest name":       {name(maxName), 1, 1, true},
		"a longer name":          {name(maxName + 1), 1, 1, false},
		"an actor that is none":  {number(0, 1), 1, 1, false},
		"the last actor":         {number(3, 1), 3, 1, true},
		"the next actor":         {append(appendText(appendText([]byte{recordMessage, 4}, "/x"), "5"), 1, 0, 0), 3, 1, true},
		"one behind it":          {append(appendText(appendText([]byte{recordMessage, 5}, "/x"), "5"), 1, 0, 0), 3, 1, false},
		"a type that is none":    {number(1, 0), 1, 1, false},
		"the last type":          {number(1, 3), 1, 3, true},
		"the next type":          {[]byte{recordMessage, 1, 4, 1, 'n', 0, 0}, 1, 3, true},
		"one behind that":        {[]byte{recordMessage, 1, 5, 1, 'n', 0, 0}, 1, 3, false},
		"one type more than fit": {number(1, maxTypes+1), 1, maxTypes, false},
		"as many as fit":         {number(1, maxTypes), 1, maxTypes - 1, true},
		"a flag that is none":    {[]byte{recordMessage, 1, 1, 2, 0}, 1, 1, false},
		"found, and not one":     {[]byte{recordFound, 1, 2}, 0, 0, true},
	} {
		if got := read(c.b, c.actors, c.types); got != c.ok {
			t.Errorf("%s: taken %t", what, got)
		}
	}
	data := frameOf(frameData, header{tag: 1, number: 1}, nil)
	hi := hello{tag: 2, boot: 9, msgs: 1, bytes: 1, name: "there"}
	of := func(change func(h *hello)) []byte {
		h := hi
		change(&h)
		return h.append(nil)
	}
	with := func(b []byte, at int, to byte) []byte {
		b = slices.Clone(b)
		b[at] = to
		return b
	}
	for what, c := range map[string]struct {
		b  []byte
		ok bool
	}{
		"data":             {data, true},
		"the longest":      {frameOf(frameData, header{tag: 1}, make([]byte, MaxFrame-headerSize)), true},
		"a longer one":     {frameOf(frameData, header{tag: 1}, make([]byte, MaxFrame-headerSize+1)), false},
		"more is said":     {with(data, 3, data[3]+1), false},
		"less is said":     {with(data, 3, data[3]-1), false},
		"no kind":          {with(data, lengthSize, 0), false},
		"an unknown kind":  {with(data, lengthSize, frameBye+1), false},
		"hello":            {of(func(*hello) {}), true},
		"the longest name": {of(func(h *hello) { h.name = strings.Repeat("x", maxName) }), true},
		"a longer name":    {of(func(h *hello) { h.name = strings.Repeat("x", maxName+1) }), false},
		"no name":          {of(func(h *hello) { h.name = "" }), false},
		"no tag":           {of(func(h *hello) { h.tag = 0 }), false},
		"no boot":          {of(func(h *hello) { h.boot = 0 }), false},
		"no messages":      {of(func(h *hello) { h.msgs = 0 }), false},
		"no bytes":         {of(func(h *hello) { h.bytes = 0 }), false},
		"another version":  {with(hi.append(nil), lengthSize+1+len(magic)-1, 2), false},
	} {
		kind, p, err := parseFrame(c.b)
		if err == nil && kind == frameHello {
			_, err = p.hello()
		} else if err == nil {
			_, err = p.header(kind)
		}
		if (err == nil) != c.ok || err != nil && !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, b := range map[string][]byte{"a hello with more behind it": append(hi.append(nil), 0), "an ack with more behind it": append(frameOf(frameAck, header{}, nil), 0), "half a header": data[:headerSize-1]} {
		b[3] = byte(len(b) - lengthSize)
		kind, p, err := parseFrame(b)
		if err != nil {
			t.Fatal(err)
		}
		if kind == frameHello {
			_, err = p.hello()
		} else {
			_, err = p.header(kind)
		}
		if !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
