package remote

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls/serial"
)

// still is a clock that its test advances.
func still() *actor.ManualClock { return actor.NewManualClock(time.Unix(1_000_000_000, 0)) }

// away is an actor of the victim's peer, a new one for each number.
func (v *victim) away(t *testing.T, n int) actor.Ref {
	t.Helper()
	ref, err := v.sys.ResolveAddress(actor.Address{System: "there", Boot: 9, Path: fmt.Sprintf("/user/%d", n), PID: pid(fmt.Sprint(n + 1))})
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// send sends a message and writes all that there is to write. Nothing else writes.
func (v *victim) send(t *testing.T, to actor.Ref, msg any) {
	t.Helper()
	if err := v.a.Send(context.Background(), to, msg); err != nil {
		t.Fatal(err)
	}
	v.flush()
}

// flush writes what there is to write, and returns what kinds of frames these were.
func (v *victim) flush() (kinds string) {
	v.a.mu.Lock()
	defer v.a.mu.Unlock()
	for b := v.a.next(); b != nil; b = v.a.next() {
		kinds += string("?hdab"[b[lengthSize]])
		v.a.writing = nil
		v.a.writes = true
		if b[lengthSize] == frameBye {
			break // the writer would end with it
		}
	}
	return kinds
}

// gets has the victim read a frame.
func (v *victim) gets(t *testing.T, kind byte, h header, records []byte) {
	t.Helper()
	h.tag = 1
	if err := v.a.in.frame(frameOf(kind, h, records)); err != nil {
		t.Fatal(err)
	}
	v.sys.RunUntilIdle()
}

// told is a record of a message for the victim's target, of that many bytes; first writes out the
// names of both.
func (v *victim) told(first bool, n int) []byte {
	b := []byte{recordMessage, 1, 1, 0}
	if first {
		at := v.target.Address()
		b = appendText(appendText([]byte{recordMessage, 1}, at.Path), at.PID.String())
		b = append(appendText(append(b, 1), "w"), 0)
	}
	return appendText(b, strings.Repeat("x", n))
}

func TestDocumentedBounds(t *testing.T) {
	got := []any{tickQuick, resendOf, mostAgain, patience, mostStash, lookEvery, overhead, maxSystem, maxSystemBytes, maxActors, maxTypes, maxPaths, maxPath, MaxFrame, MaxFrame - MaxMessage, maxName, maxError, mostGreeting, leastRead, mostRead, lendPause, tooLong, measured, guardPeriod, guardDoubt}
	want := []any{20 * time.Millisecond, 200 * time.Millisecond, 64, 10, 256, 32, 32, 20_000, 4 << 20, 4096, 1024, 1 << 20, 4096, 1 << 20, 16 << 10, 255, 4096, 256, 1 << 10, 64 << 10, 1000, 50 * time.Microsecond, 16, 20 * time.Millisecond, time.Millisecond}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("bounds are %v, want %v", got, want)
	}
	if k := []int{frameHello, frameData, frameAck, frameBye, recordMessage, recordForget, recordReply, recordFail, recordStop, recordWatch, recordUnwatch, recordEnded, recordFind, recordFound}; fmt.Sprint(k) != "[1 2 3 4 1 2 3 4 5 6 7 8 9 10]" {
		t.Errorf("what is on the wire is another protocol: %v", k)
	}
	v := newVictim(t, still())
	c := v.a.node.config
	c.Codecs = nil
	if preset := (Config{Policy: actor.Block, Window: 1024, WindowBytes: 1 << 20, Backlog: 4096, Batch: 64 << 10, Heartbeat: time.Second, Timeout: 5 * time.Second, MaxPeers: 1024}); c != preset {
		t.Errorf("by default %+v", c)
	}
	for _, x := range []struct {
		c  Config
		ok bool
	}{
		{Config{Window: 1 << 20, WindowBytes: 1 << 30, Backlog: 1 << 30, Batch: MaxFrame, MaxPeers: 1 << 20}, true},
		{Config{Window: 1<<20 + 1}, false},
		{Config{WindowBytes: 1<<30 + 1}, false},
		{Config{Batch: MaxFrame + 1}, false},
		{Config{MaxPeers: 1<<20 + 1}, false},
		{Config{Window: -1}, false},
		{Config{Heartbeat: 5 * time.Second}, false},
		{Config{Heartbeat: 4999 * time.Millisecond}, true},
		{Config{Timeout: time.Second}, false},
		{Config{Heartbeat: -1}, false},
	} {
		x.c.Codecs = NewCodecs()
		n, err := NewNode(v.sys, x.c)
		if (err == nil) != x.ok {
			t.Errorf("%+v: %v", x.c, err)
		}
		if n != nil {
			n.Close()
		}
	}
	for size, ok := range map[int]bool{maxName: true, maxName + 1: false} {
		sys, err := actor.NewSystem(actor.Config{Name: strings.Repeat("x", size), Dispatcher: serial.Impl.NewDispatcher(), Guardian: actor.Props{New: func() actor.Actor { return actor.ReceiveFunc(func(*actor.Context, any) error { return nil }) }}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewNode(sys, Config{Codecs: NewCodecs()}); (err == nil) != ok {
			t.Errorf("a system whose name has %d bytes: %v", size, err)
		}
		_ = sys.Shutdown(t.Context())
	}
}

// TestErrors: an error of package actor arrives as what it was, and any other as its text.
func TestErrors(t *testing.T) {
	own := errors.New("own")
	for i, err := range append([]error{nil, own}, known...) {
		b := appendError(nil, err)
		wrapped, wrapping := appendError(nil, fmt.Errorf("of one: %w", err)), &Error{Text: "of one: " + fmt.Sprint(err)}
		switch {
		case err == nil:
			wrapped, wrapping = appendError(nil, nil), nil
		case i > 1:
			wrapping.Is = err
			if b[0] != byte(i-1) {
				t.Errorf("%v is number %d, want %d", err, b[0], i-1)
			}
		}
		p := parser{rest: b}
		if got := p.error(); p.bad || len(p.rest) > 0 || got != err && (err != own || got.Error() != "own" || errors.Unwrap(got) != nil) {
			t.Errorf("%v arrives as %v", err, got)
		}
		p = parser{rest: wrapped}
		if got, _ := p.error().(*Error); p.bad || got != nil && got.Is != nil && !errors.Is(got, err) || (got == nil) != (wrapping == nil) || got != nil && *got != *wrapping {
			t.Errorf("%v, wrapped, arrives as %+v, want %+v", err, got, wrapping)
		}
	}
	long := errors.New(strings.Repeat("x", maxError+1))
	if got, err := (errorCodec{}).Decode(appendError(nil, long), actor.ReplyTo{}); err != nil || got.(error).Error() != long.Error()[:maxError] {
		t.Errorf("a long error: %v", err)
	}
	for name, bad := range map[string][]byte{"nothing": nil, "more behind it": append(appendError(nil, own), 0), "no text": {200}} {
		if got, err := (errorCodec{}).Decode(bad, actor.ReplyTo{}); !errors.Is(err, ErrProtocol) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestCredit: who may send how much more, to a message and to a byte.
func TestCredit(t *testing.T) {
	v := newVictim(t, still()) // whose peer gives 100 messages and 10,000 bytes
	for _, c := range []struct {
		sentMsgs, sentBytes, takenMsgs, takenBytes, size uint64
		room                                             bool
	}{
		{0, 0, 0, 0, 10_000, true},
		{0, 0, 0, 0, 1_000_000, true}, // alone
		{1, 1, 0, 0, 9_999, true},
		{1, 1, 0, 0, 10_000, false},
		{1, 9_999, 0, 0, 1, true},
		{99, 99, 0, 0, 1, true},
		{100, 100, 0, 0, 1, false},
		{200, 20_000, 101, 19_000, 9_000, true},
		{200, 20_000, 100, 20_000, 1, false},
	} {
		v.a.sentMsgs, v.a.sentBytes, v.a.takenMsgs, v.a.takenBytes = c.sentMsgs, c.sentBytes, c.takenMsgs, c.takenBytes
		if got := v.a.hasRoom(c.size); got != c.room {
			t.Errorf("%+v: room %t", c, got)
		}
		if got := v.a.Backlog(); got != int(c.sentMsgs-c.takenMsgs) {
			t.Errorf("%+v: a backlog of %d", c, got)
		}
	}
	for _, c := range []struct {
		records, bytes, size int
		room                 bool
	}{{0, 0, maxSystemBytes, true}, {0, 1, maxSystemBytes, false}, {maxSystem - 1, 0, 1, true}, {maxSystem, 0, 1, false}} {
		v.a.system = uncredited{c.records, c.bytes}
		if got := v.a.hasSystemRoom(c.size); got != c.room {
			t.Errorf("%+v: room %t", c, got)
		}
	}
	for _, c := range []struct {
		system uncredited
		lost   bool
	}{{uncredited{2*maxSystem - 1, 2*maxSystemBytes - 1}, false}, {uncredited{2 * maxSystem, 0}, true}, {uncredited{0, 2 * maxSystemBytes}, true}} {
		v.a.system, v.a.reason = c.system, nil
		if v.a.say([]byte{recordForget}); (v.a.reason != nil) != c.lost || (v.a.system == c.system) != c.lost {
			t.Errorf("%+v: lost for %v", c.system, v.a.reason)
		}
	}
}

// TestSpent: a message takes its bytes, its reply's address and 32 from the credit; what the peer
// says it has taken gives credit back, and wakes who waits for room as soon as there is some.
func TestSpent(t *testing.T) {
	v := newVictim(t, still())
	to := v.away(t, 0)
	v.send(t, to, word("12345"))
	if v.a.sentMsgs != 1 || v.a.sentBytes != 5+overhead {
		t.Errorf("a message of 5 bytes takes %d messages and %d bytes", v.a.sentMsgs, v.a.sentBytes)
	}
	if v.send(t, to, question{to.ReplyTo()}); v.a.sentMsgs != 2 {
		t.Fatal("a request is no message")
	}
	if addr, err := to.Address().MarshalBinary(); err != nil || v.a.sentBytes != 5+2*overhead+uint64(len(addr)) {
		t.Errorf("a request takes %d bytes, and %d are its address, %v", v.a.sentBytes-5-overhead, len(addr), err)
	}
	for range 98 {
		v.send(t, to, word(""))
	}
	v.a.node.config.Policy = actor.DropNewest
	if err := v.a.Send(context.Background(), to, word("")); !errors.Is(err, actor.ErrFull) {
		t.Errorf("one more than the window: %v", err)
	}
	called := 0
	v.a.Room(func() { called++ })
	v.gets(t, frameAck, header{received: 50}, nil) // received, and not taken
	if called > 0 {
		t.Error("there is room for what is not taken")
	}
	v.gets(t, frameAck, header{received: 50, msgs: 1, bytes: 5 + overhead}, nil)
	if called != 1 || v.a.Backlog() != 99 || len(v.a.sent) != 50 {
		t.Errorf("room was said %d times, %d are under way, %d frames are kept", called, v.a.Backlog(), len(v.a.sent))
	}
	v.gets(t, frameAck, header{received: 40}, nil) // an older one, that was overtaken
	if v.a.Backlog() != 99 || len(v.a.sent) != 50 {
		t.Errorf("after an old acknowledgement %d are under way, %d frames are kept", v.a.Backlog(), len(v.a.sent))
	}
	v.a.Room(func() { called++ })
	if called != 2 {
		t.Error("who asks for room that there is, is not told at once")
	}
}

// TestResends: what is not acknowledged in 200 ms is written again, 64 frames at most, and once
// more 200 ms later; of a gap the first missing frame at once, but once between two ticks.
func TestResends(t *testing.T) {
	clock := still()
	v := newVictim(t, clock)
	to := v.away(t, 0)
	for range 70 {
		v.send(t, to, word("x"))
	}
	begun := clock.Now()
	for _, want := range []int{64, 64} {
		n := 0
		for n == 0 {
			clock.Advance(tickQuick)
			n = strings.Count(v.flush(), "d")
		}
		if took := clock.Now().Sub(begun); n != want || took != resendOf {
			t.Errorf("%d frames are written again after %v", n, took)
		}
		begun = clock.Now()
	}
	v.gets(t, frameAck, header{received: 3, msgs: 3, number: 1}, nil)
	if got := v.flush(); got != "d" || v.a.resent != 4 {
		t.Errorf("of a gap %q are written again, from %d", got, v.a.resent)
	}
	v.gets(t, frameAck, header{received: 3, msgs: 3, number: 1}, nil)
	if got := v.flush(); got != "" {
		t.Errorf("of the same gap %q are written once more", got)
	}
	clock.Advance(tickQuick)
	v.flush()
	v.gets(t, frameAck, header{received: 3, msgs: 3, number: 1}, nil)
	if got := v.flush(); got != "d" {
		t.Errorf("of a gap after a tick %q are written again", got)
	}
	v.gets(t, frameAck, header{received: 3, msgs: 3}, nil)
	if got := v.flush(); got != "" {
		t.Errorf("of no gap %q are written again", got)
	}
	// What is acknowledged while it is to be written again is not.
	clock.Advance(resendOf)
	if v.a.again != 0 || v.a.until != 64 {
		t.Fatalf("%d to %d are to be written again", v.a.again, v.a.until)
	}
	v.gets(t, frameAck, header{received: 13, msgs: 13}, nil)
	if got := strings.Count(v.flush(), "d"); got != 54 {
		t.Errorf("%d frames are written again, want 54", got)
	}
	// What was not written yet is not written again.
	v.gets(t, frameAck, header{received: 67, msgs: 67}, nil)
	v.a.busy = true
	for range 2 {
		if err := v.a.Send(context.Background(), to, word("x")); err != nil {
			t.Fatal(err)
		}
	}
	v.a.seal()
	if clock.Advance(resendOf); v.a.until != 3 || len(v.a.sent) != 4 {
		t.Errorf("%d of %d frames are to be written again, of 3 that were written", v.a.until, len(v.a.sent))
	}
	v.a.busy = false
	if err := v.a.in.frame(frameOf(frameAck, header{tag: 1, received: 72}, nil)); !errors.Is(err, ErrProtocol) {
		t.Errorf("what was never sent is acknowledged: %v", err)
	}
}

// TestSpare: frames are used again, of four batches at most, and not while they are written.
func TestSpare(t *testing.T) {
	v := newVictimOf(t, still(), Config{Batch: 1000})
	to := v.away(t, 0)
	for range 30 {
		v.send(t, to, word(strings.Repeat("x", 200)))
	}
	v.gets(t, frameAck, header{received: 30, msgs: 30}, nil)
	if n := v.a.spareBytes; len(v.a.spare) == 0 || n > 4000 || n+512 <= 4000-512 {
		t.Errorf("%d frames of %d bytes are kept for later", len(v.a.spare), n)
	}
	n := len(v.a.spare)
	v.send(t, to, word("x"))
	if len(v.a.spare) != n-1 {
		t.Error("a frame is not used again")
	}
	v.a.writing = v.a.sent[0]
	v.gets(t, frameAck, header{received: 31, msgs: 31}, nil)
	if len(v.a.spare) != n-1 || !v.a.writing.confirmed {
		t.Error("a frame that is being written is used again")
	}
	v.a.writing = nil
}

// TestBatches: messages that wait for the wire share a frame of a batch's bytes.
func TestBatches(t *testing.T) {
	v := newVictimOf(t, still(), Config{Batch: 500})
	to := v.away(t, 0)
	v.a.busy = true // another goroutine writes
	for range 20 {
		if err := v.a.Send(context.Background(), to, word(strings.Repeat("x", 100))); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range v.a.sent {
		if n := len(f.buf); n > 500 || n <= 500-2*104 || f.records != len(f.items) {
			t.Errorf("a frame has %d bytes of 500, %d records of %d messages", n, f.records, len(f.items))
		}
	}
	if n := len(v.a.sent); n != 6 { // three of 105 bytes each, since room is made for names that are in the table
		t.Errorf("%d frames are full", n)
	}
	v.a.busy = false
}

// TestForget: when a table is full both ends begin anew.
func TestForget(t *testing.T) {
	v, peer := newVictim(t, still()), newVictim(t, still())
	peer.a.tag = v.a.peer.tag
	v.a.peer.msgs, v.a.peer.bytes = 1<<30, 1<<30
	send := func(n int, msg any) {
		v.send(t, v.away(t, n), msg)
		last := v.a.sent[len(v.a.sent)-1]
		if err := peer.a.in.frame(last.buf); err != nil {
			t.Fatalf("message %d, to the peer: %v", n, err)
		}
		if v.a.lastActor != v.a.actors[v.away(t, n)] || v.a.lastActor != uint64(len(peer.a.in.actors)) || len(v.a.types) != len(peer.a.in.types) {
			t.Fatalf("message %d: the ends have %d and %d actors, %d and %d types", n, v.a.lastActor, len(peer.a.in.actors), len(v.a.types), len(peer.a.in.types))
		}
	}
	for n := range maxActors + 1 {
		send(n, word(""))
		if want := n%maxActors + 1; len(v.a.actors) != want {
			t.Fatalf("after %d actors the table has %d", n+1, len(v.a.actors))
		}
	}
	if len(v.a.types) != 1 || v.a.paths != len("/user/4096") {
		t.Errorf("the new tables have %d types and %d bytes of paths", len(v.a.types), v.a.paths)
	}
	v.a.paths = maxPaths - len("/user/4097")
	v.send(t, v.away(t, 4097), word(""))
	if len(v.a.actors) != 2 || v.a.paths != maxPaths {
		t.Errorf("paths of %d bytes are too many", v.a.paths)
	}
	v.send(t, v.away(t, 4098), word(""))
	if len(v.a.actors) != 1 || v.a.paths != len("/user/4098") {
		t.Errorf("after too many bytes of paths: %d actors, %d bytes", len(v.a.actors), v.a.paths)
	}
	for n := range maxTypes - 1 {
		v.a.types[fmt.Sprint(n)] = 1
	}
	v.send(t, v.away(t, 4098), word("")) // the actor of the last message
	if len(v.a.actors) != 1 || len(v.a.types) != 1 || v.a.paths != len("/user/4098") {
		t.Errorf("after too many types: %d actors, %d types, %d bytes", len(v.a.actors), len(v.a.types), v.a.paths)
	}
}

// TestBeats: an idle end says something each heartbeat, no sooner; a peer that says nothing for
// Timeout is lost, no sooner, and one that says anything is not.
func TestBeats(t *testing.T) {
	clock := still()
	v := newVictim(t, clock)
	c := v.a.node.config
	clock.Advance(2 * tickQuick) // the first ones are quick
	v.flush()
	clock.Advance(c.Heartbeat / 4) // between two ticks
	v.a.mu.Lock()
	if v.a.hurry(); !v.a.now.Equal(clock.Now()) || v.a.due.Sub(v.a.now) != tickQuick {
		t.Errorf("it hurries %v late, and ticks in %v", clock.Now().Sub(v.a.now), v.a.due.Sub(v.a.now))
	}
	v.a.mu.Unlock()
	wrote, heard := clock.Now(), clock.Now()
	for beats := 0; beats < 3; {
		clock.Advance(tickQuick)
		if clock.Now().Sub(heard) >= c.Heartbeat {
			v.gets(t, frameAck, header{}, nil)
			heard = clock.Now()
		}
		if v.flush() == "" {
			if since := clock.Now().Sub(wrote); since > 2*c.Heartbeat {
				t.Fatalf("nothing is said for %v", since)
			}
			continue
		}
		if since := clock.Now().Sub(wrote); beats > 0 && since < c.Heartbeat {
			t.Errorf("something is said after %v", since)
		}
		wrote, beats = clock.Now(), beats+1
	}
	if v.a.reason != nil {
		t.Fatalf("a peer that is heard each heartbeat is lost: %v", v.a.reason)
	}
	clock.Advance(c.Heartbeat) // a tick sees that it was heard
	heard = v.a.heard
	for v.a.reason == nil {
		clock.Advance(tickQuick)
	}
	if since := clock.Now().Sub(heard); !errors.Is(v.a.reason, ErrSilent) || since != c.Timeout || v.a.due.After(v.a.now) {
		t.Errorf("lost after %v: %v, and ticks in %v", since, v.a.reason, v.a.due.Sub(v.a.now))
	}
}

// TestTicks: what is under way has ticks be quick, and what is due to be acknowledged or has been
// silent for a heartbeat is acknowledged with one.
func TestTicks(t *testing.T) {
	for name, c := range map[string]struct {
		is          func(a *association)
		quick, acks bool
	}{
		"idle":              {func(*association) {}, false, false},
		"what came":         {func(a *association) { a.ackLater = true }, true, true},
		"a gap":             {func(a *association) { a.gap = true }, true, true},
		"a heartbeat":       {func(a *association) { a.wrote = a.now.Add(-a.node.config.Heartbeat) }, false, true},
		"less than one":     {func(a *association) { a.wrote = a.now.Add(1 - a.node.config.Heartbeat) }, false, false},
		"sent":              {func(a *association) { a.sent = []*frame{{at: a.now}} }, true, false},
		"being filled":      {func(a *association) { a.filling = &frame{} }, true, false},
		"leaving":           {func(a *association) { a.leaving = true }, true, false},
		"knows no peer":     {func(a *association) { a.state = greeting }, true, false},
		"and greeted early": {func(a *association) { a.state, a.greeted = greeting, a.now.Add(-resendOf) }, true, false},
	} {
		clock := still()
		v := newVictim(t, clock)
		v.flush()
		clock.Advance(time.Second)
		v.flush()
		v.a.now, v.a.ackLater, v.a.ackDue = clock.Now(), false, false
		v.a.wrote, v.a.heard, v.a.greeted = v.a.now, v.a.now, v.a.now
		c.is(v.a)
		v.a.tick()
		next := v.a.node.config.Heartbeat / 2
		if c.quick {
			next = tickQuick
		}
		if due := v.a.due.Sub(clock.Now()); v.a.quick != c.quick || v.a.ackDue != c.acks || due != next || v.a.greet != (name == "and greeted early") || v.a.departs > 0 != v.a.leaving {
			t.Errorf("%s: quick %t, an acknowledgement is due %t, a greeting %t, the next tick in %v", name, v.a.quick, v.a.ackDue, v.a.greet, due)
		}
		v.a.sent, v.a.filling = nil, nil
	}
}

// TestGreets: a hello that is not answered is said again each 200 ms.
func TestGreets(t *testing.T) {
	clock := still()
	v := newVictim(t, clock)
	v.a.state, v.a.greet = greeting, false
	v.a.hurry()
	v.a.greeted = clock.Now()
	for range 3 {
		last := clock.Now()
		got := ""
		for got == "" && clock.Now().Sub(last) < time.Second {
			clock.Advance(tickQuick)
			got = v.flush()
		}
		if since := clock.Now().Sub(last); got != "h" || since != resendOf {
			t.Errorf("%q is said after %v", got, since)
		}
	}
}

// TestLeaves: who leaves says so when all is acknowledged, or after ten ticks, and is gone after
// two more.
func TestLeaves(t *testing.T) {
	for _, acknowledged := range []bool{true, false} {
		clock := still()
		v := newVictim(t, clock)
		v.send(t, v.away(t, 0), word("x"))
		v.a.leave()
		if got := v.flush(); got != "" {
			t.Errorf("%q is said before what was sent is acknowledged", got)
		}
		ticks := 0
		if acknowledged {
			v.gets(t, frameAck, header{received: 1, msgs: 1}, nil)
		}
		for !strings.HasSuffix(v.flush(), "b") {
			clock.Advance(tickQuick)
			if ticks++; ticks > 20 {
				t.Fatal("no bye")
			}
		}
		if want := map[bool]int{true: 0, false: patience}[acknowledged]; ticks != want {
			t.Errorf("acknowledged %t: bye after %d ticks, want %d", acknowledged, ticks, want)
		}
		for v.a.reason == nil {
			clock.Advance(tickQuick)
			ticks++
		}
		if ticks != patience+3 || !errors.Is(v.a.reason, ErrClosed) || v.a.due.After(v.a.now) {
			t.Errorf("acknowledged %t: gone after %d ticks: %v", acknowledged, ticks, v.a.reason)
		}
	}
	// Who has sent nothing says it at once, and who knows no peer is gone at once.
	clock := still()
	v := newVictim(t, clock)
	v.flush()
	clock.Advance(2 * tickQuick) // the first ones are quick
	v.a.kicked, v.a.kick = false, make(chan struct{}, 1)
	if v.a.leave(); !v.a.quick || len(v.a.kick) != 1 || v.flush() != "b" {
		t.Errorf("who leaves does not say so at once: quick %t, woken %d", v.a.quick, len(v.a.kick))
	}
	v = newVictim(t, still())
	v.a.state = greeting
	if v.a.leave(); !errors.Is(v.a.reason, ErrClosed) || v.a.leaving {
		t.Errorf("who knows no peer is gone for %v, and leaves %t", v.a.reason, v.a.leaving)
	}
}

// TestLost: with an association all is lost that was not confirmed, who waits is let go, and nothing
// is sent any more.
func TestLost(t *testing.T) {
	own, broken := errors.New("own"), errors.New("broken")
	for name, c := range map[string]struct {
		before func(a *association)
		want   error
		told   int
	}{
		"broken":                    {func(*association) {}, broken, 1},
		"it was broken for a cause": {func(a *association) { a.fail(own) }, own, 1},
		"for the first of two":      {func(a *association) { a.fail(own); a.fail(ErrSilent) }, own, 1},
		"it was leaving":            {func(a *association) { a.leaving = true }, ErrClosed, 1},
		"it was never there":        {func(a *association) { a.state = greeting }, broken, 0},
	} {
		clock := still()
		v := newVictimOf(t, clock, Config{Batch: 200})
		to := v.away(t, 0)
		var lost []Lost
		defer actor.SubscribeFunc(v.sys.Events(), func(l Lost) { lost = append(lost, l) }).Unsubscribe()
		v.send(t, to, word("written"))
		v.a.busy = true // another goroutine writes
		for range 99 {  // all that there is credit for, in many frames
			if err := v.a.Send(context.Background(), to, word("a word that takes forty bytes or so")); err != nil {
				t.Fatal(err)
			}
		}
		v.a.busy = false
		called := 0
		v.a.Room(func() { called++ })
		v.a.mu.Lock()
		v.a.room = make(chan struct{})
		room := v.a.room
		c.before(v.a)
		v.a.mu.Unlock()
		v.a.lose(broken)
		select {
		case <-room:
		default:
			t.Errorf("%s: who waits for room waits", name)
		}
		if len(lost) != c.told || c.told > 0 && (lost[0].Unconfirmed != 100 || lost[0].Err != c.want || lost[0].System != "there" || lost[0].Boot != 9 || !lost[0].Time.Equal(clock.Now())) {
			t.Errorf("%s: lost %+v", name, lost)
		}
		letters := v.sys.Stats().DeadLetters
		if err := (&Peer{v.a}).Err(); err != c.want || called != 1 || letters != 100 || !errors.Is(v.sys.DeadLetters()[0].Reason, actor.ErrUnreachable) {
			t.Errorf("%s: it is lost for %v, room was said %d times, and there are %d dead letters", name, err, called, letters)
		}
		if err := v.a.Send(context.Background(), to, word("x")); !errors.Is(err, actor.ErrUnreachable) {
			t.Errorf("%s: what is sent after that: %v", name, err)
		}
		v.a.Watch(to)
		v.a.Room(func() { called++ })
		v.a.mu.Lock()
		v.a.quick = false
		v.a.hurry()
		v.a.wake()
		if v.a.filling != nil || v.a.next() != nil || called != 2 || v.a.quick {
			t.Errorf("%s: what is lost goes on: %+v, quick %t, room was said %d times", name, v.a.filling, v.a.quick, called)
		}
		v.a.reason = nil
		v.a.mu.Unlock()
		if clock.Advance(time.Hour); v.a.reason != nil {
			t.Errorf("%s: what is lost is lost again, for %v", name, v.a.reason)
		}
	}
}

// TestAcknowledges: a quarter of the window is acknowledged at once, less with the next tick; what
// has come before is again, and what comes too early is said to have a gap before it.
func TestAcknowledges(t *testing.T) {
	for _, c := range []struct {
		config   Config
		messages int
		now      bool
	}{
		{Config{Window: 40}, 9, false},
		{Config{Window: 40}, 10, true},
		{Config{WindowBytes: 4000}, 7, false}, // of 100 and 32 bytes
		{Config{WindowBytes: 4000}, 8, true},
	} {
		v := newVictimOf(t, still(), c.config)
		v.flush()
		for n := range c.messages {
			v.gets(t, frameData, header{number: uint64(n + 1)}, v.told(n == 0, 100))
			if now := c.now && n == c.messages-1; v.a.ackDue != now || !v.a.ackLater {
				t.Errorf("%+v: after %d messages it is due now %t, later %t", c, n+1, v.a.ackDue, v.a.ackLater)
			}
		}
		if want := uint64(c.messages); v.a.received != want || v.a.inMsgs != want || v.a.inBytes != 132*want {
			t.Errorf("%d frames, %d messages and %d bytes came in", v.a.received, v.a.inMsgs, v.a.inBytes)
		}
		v.flush()
		if v.a.saidMsgs != v.a.inMsgs && c.now || v.a.ackDue {
			t.Errorf("%d messages of %d are acknowledged", v.a.saidMsgs, v.a.inMsgs)
		}
	}
	v := newVictim(t, still())
	v.flush()
	v.gets(t, frameData, header{number: 2}, v.told(false, 20))
	for range 2 {
		v.gets(t, frameData, header{number: 4}, v.told(false, 40))
	}
	if !v.a.gap || !v.a.ackDue || v.a.received != 0 || len(v.received) > 0 || len(v.a.in.stash) != 2 {
		t.Errorf("what came too early: gap %t, acknowledged %t, %d received", v.a.gap, v.a.ackDue, v.a.received)
	}
	v.flush()
	v.gets(t, frameData, header{number: 1}, v.told(true, 10))
	if !v.a.gap || !v.a.ackDue || v.a.received != 2 || len(v.received) != 2 {
		t.Errorf("with another one missing: gap %t, acknowledged %t, %d received", v.a.gap, v.a.ackDue, v.a.received)
	}
	v.gets(t, frameData, header{number: 3}, v.told(false, 30))
	if v.a.gap || v.a.received != 4 || len(v.a.in.stash) > 0 || v.a.in.stashBytes != 0 {
		t.Errorf("with none missing: gap %t, %d received, %d bytes kept", v.a.gap, v.a.received, v.a.in.stashBytes)
	}
	for i, m := range v.received {
		if len(m.(word)) != 10*(i+1) {
			t.Errorf("message %d has %d bytes", i+1, len(m.(word)))
		}
	}
	v.flush()
	v.gets(t, frameData, header{number: 4}, v.told(false, 40))
	if !v.a.ackDue || len(v.received) != 4 {
		t.Errorf("what came twice: acknowledged %t, %d messages", v.a.ackDue, len(v.received))
	}
	for n := range uint64(mostStash + 5) {
		v.gets(t, frameData, header{number: n + 6}, []byte{recordForget})
	}
	if len(v.a.in.stash) != mostStash {
		t.Errorf("%d frames are kept", len(v.a.in.stash))
	}
	clock := still()
	v = newVictim(t, clock)
	v.flush()
	clock.Advance(2 * tickQuick) // the first ones are quick
	if v.gets(t, frameData, header{number: 1}, v.told(true, 1)); !v.a.quick {
		t.Error("what comes is not acknowledged soon")
	}
	v = newVictimOf(t, still(), Config{WindowBytes: 1000})
	for n, size := range []int{1000, 1000, 1} {
		v.gets(t, frameData, header{number: uint64(n) + 2}, make([]byte, size))
	}
	if v.a.in.stashBytes != 2000 || len(v.a.in.stash) != 2 {
		t.Errorf("%d bytes are kept of a window of 1,000", v.a.in.stashBytes)
	}
}

// TestBeforeItIsOpen: what comes before this end knows its peer is not taken in, since it comes again.
func TestBeforeItIsOpen(t *testing.T) {
	v := newVictim(t, still())
	v.a.state, v.a.hears = greeting, false
	v.gets(t, frameData, header{number: 1}, v.told(true, 1))
	if v.a.received != 0 || len(v.received) > 0 || v.a.hears {
		t.Errorf("%d frames and %d messages are received", v.a.received, len(v.received))
	}
	v.a.state = open
	v.gets(t, frameData, header{number: 1}, v.told(true, 1))
	if v.a.received != 1 || len(v.received) != 1 || !v.a.hears {
		t.Errorf("when it is open, %d frames and %d messages are received", v.a.received, len(v.received))
	}
}

// TestAlone: the reader may run the turn of a message that has no reply address and is alone in its
// frame.
func TestAlone(t *testing.T) {
	v := newVictim(t, still())
	first, next := v.told(true, 1), v.told(false, 1)
	asks := slices.Clone(next)
	asks[3] = flagReply
	addr, err := actor.Address{System: "there", Boot: 9, Path: "/reply", PID: pid("12.13")}.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	asks = appendBytes(asks, addr)
	for i, c := range []struct {
		name    string
		records []byte
		alone   int
	}{
		{"one message", first, 1},
		{"another one", next, 1},
		{"two", append(slices.Clone(next), next...), 0},
		{"one, and what is none", append(slices.Clone(next), appendText(appendFind(1), "/user")...), 0},
		{"what is none, and one", append(appendText(appendFind(1), "/user"), next...), 0},
		{"what is none", appendText(appendFind(1), "/user"), 0},
		{"a request", asks, 0},
	} {
		v.a.in.pause = 100 // counts them
		v.gets(t, frameData, header{number: uint64(i + 1)}, c.records)
		if got := 100 - v.a.in.pause; got != c.alone {
			t.Errorf("%s: %d are alone", c.name, got)
		}
	}
	if len(v.received) != 7 {
		t.Errorf("%d messages are received", len(v.received))
	}
}

// visitor is a guest whose turns a test makes.
type visitor struct {
	actor.Guest
	run  func()
	left int
}

func (g *visitor) Run()   { g.run() }
func (g *visitor) Leave() { g.left++ }

// TestGuard: the duty to read is taken from a turn that the guard sees twice, a millisecond apart;
// it looks each 20 ms while there are turns. Of sixteen turns one is measured.
func TestGuard(t *testing.T) {
	type turn struct{ after, takes time.Duration }
	const ms, long = time.Millisecond, time.Second
	for name, c := range map[string]struct {
		turns []turn
		taken time.Duration // from the beginning of the last one
	}{
		"at once":               {[]turn{{0, long}}, 21 * ms},
		"behind a short one":    {[]turn{{0, 0}, {15 * ms, long}}, 6 * ms},
		"in the next period":    {[]turn{{0, 0}, {30 * ms, long}}, 11 * ms},
		"after a rest":          {[]turn{{0, 0}, {100 * ms, long}}, 21 * ms},
		"two in doubt":          {[]turn{{0, 20*ms + ms/2}, {0, long}}, ms + ms/2},
		"none is long":          {[]turn{{0, ms}, {3 * ms, 16*ms + ms/2}}, 0},
		"none is, after a rest": {[]turn{{0, 20*ms + ms/2}, {100 * ms, ms}}, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := newVictim(t, still())
			var begun time.Time
			taken := time.Duration(0)
			wire := &blind{closed: make(chan struct{}), reads: func() { taken = time.Since(begun) }}
			v.a.wire = wire
			g := &visitor{}
			v.a.in.guest = g
			for i, x := range c.turns {
				time.Sleep(x.after)
				g.run = func() { time.Sleep(x.takes) }
				begun, v.a.in.lends = time.Now(), true
				last := i == len(c.turns)-1 && c.taken > 0
				if last {
					v.a.ended.Add(1) // the next one that reads
				}
				if reader := v.a.lend(); reader == last || (g.left == 1) != last || v.a.in.lends {
					t.Errorf("%s: turn %d leaves the duty to read with it: %t, and has left %d times", name, i, reader, g.left)
				}
			}
			time.Sleep(long)
			synctest.Wait()
			if taken != c.taken || v.a.lent.guarded.Load() {
				t.Errorf("%s: it is taken after %v, and is guarded still: %t", name, taken, v.a.lent.guarded.Load())
			}
			if close(wire.closed); taken > 0 {
				<-v.a.done
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		v := newVictim(t, still())
		var long []int
		for n := range 40 {
			v.a.in.guest, v.a.in.lends, v.a.in.pause = &visitor{run: func() { time.Sleep(tooLong + time.Duration(n%3)) }}, true, 0
			if v.a.lend(); v.a.in.pause > 0 {
				long = append(long, n, v.a.in.pause)
			}
		}
		if want := []int{16, lendPause, 32, lendPause}; !slices.Equal(long, want) {
			t.Errorf("turns that are long, and how many are left to workers behind each: %v, want %v", long, want)
		}
		time.Sleep(time.Second)
	})
	// Where a turn ends the goroutine that reads, the next one is the same guest.
	synctest.Test(t, func(t *testing.T) {
		v, g := newVictim(t, still()), &visitor{run: runtime.Goexit}
		next := make(chan actor.Guest, 1)
		wire := &blind{closed: make(chan struct{}), reads: func() { next <- v.a.in.guest }}
		v.a.wire, v.a.in.guest, v.a.in.lends = wire, g, true
		v.a.ended.Add(1)
		go v.a.lend()
		if got := <-next; got != g || g.left != 0 {
			t.Errorf("the next one that reads is the guest %v, and the one before has left %d times", got, g.left)
		}
		close(wire.closed)
		<-v.a.done
		time.Sleep(time.Second)
	})
}

// TestDeadLetters: whatever becomes of a message, its sender has its credit back, and who waits for
// the reply is told, once.
func TestDeadLetters(t *testing.T) {
	addr, err := actor.Address{System: "there", Boot: 9, Path: "/reply", PID: pid("12.13")}.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	message := func(path, id, codec, text string, asks bool) []byte {
		b := append(appendText(appendText([]byte{recordMessage, 1}, path), id), 1)
		b = appendText(b, codec)
		if !asks {
			return appendText(append(b, 0), text)
		}
		return appendBytes(appendText(append(b, flagReply), text), addr)
	}
	at := newVictim(t, still()).target.Address() // of all of them
	full := actor.MailboxConfig{Policy: actor.DropNewest, Capacity: 1}
	held := func(v *victim) {
		v.sys.Suspend(v.target, actor.Suspension{})
		v.sys.RunUntilIdle()
		_ = v.target.Tell(word("first"))
	}
	ends := actor.MailboxConfig{Priority: func(any) int { runtime.Goexit(); return 0 }}
	panics := actor.MailboxConfig{Priority: func(any) int { panic("for a test") }}
	for name, c := range map[string]struct {
		path, id, codec, text string
		asks                  bool
		before                func(v *victim)
		mailbox               *actor.MailboxConfig
		reason                error
		says                  string
	}{
		"taken":                        {path: at.Path, id: at.PID.String(), codec: "w"},
		"a request is taken":           {path: at.Path, id: at.PID.String(), codec: "q", text: "keep", asks: true},
		"no codec":                     {path: at.Path, id: at.PID.String(), codec: "none", reason: ErrNoCodec},
		"not readable":                 {path: at.Path, id: at.PID.String(), codec: "q", text: "bad", asks: true, reason: ErrUndecoded},
		"absent":                       {path: "/user/absent", id: "55", codec: "w", reason: actor.ErrUnknown},
		"absent and no codec":          {path: "/user/absent", id: "55", codec: "none", reason: ErrNoCodec},
		"absent is asked":              {path: "/user/absent", id: "55", codec: "q", text: "keep", asks: true, reason: actor.ErrUnknown},
		"absent is asked, in words":    {path: "/user/absent", id: "55", codec: "w", asks: true, reason: actor.ErrUnknown},
		"absent is asked, for another": {path: "/user/absent", id: "55", codec: "q", text: "lose", asks: true, reason: actor.ErrUnknown},
		"has stopped":                  {path: at.Path, id: at.PID.String(), codec: "w", before: func(v *victim) { v.sys.Stop(v.target); v.sys.RunUntilIdle() }, reason: actor.ErrUnknown},
		"full":                         {codec: "w", mailbox: &full, before: held, reason: actor.ErrFull},
		"ends the goroutine":           {codec: "w", mailbox: &ends, reason: ErrMailbox, says: errGoexit.Error()},
		"panics":                       {codec: "w", mailbox: &panics, reason: ErrMailbox, says: "for a test"},
	} {
		v := newVictim(t, still())
		if c.mailbox != nil {
			v.target = v.another(t, "another", *c.mailbox)
			c.path, c.id = "/user/another", v.target.PID().String()
		}
		if c.before != nil {
			c.before(v)
		}
		records := message(c.path, c.id, c.codec, c.text, c.asks)
		read := make(chan error, 1)
		go func() {
			defer close(read)
			read <- v.a.in.frame(frameOf(frameData, header{tag: 1, number: 1}, records))
		}()
		if err := <-read; err != nil {
			t.Errorf("%s: %v", name, err)
		}
		v.sys.RunUntilIdle()
		size := uint64(len(c.text) + overhead)
		if c.asks {
			size += uint64(len(addr))
		}
		letters := v.sys.DeadLetters()
		if v.a.inMsgs != 1 || v.a.inBytes != size || (len(letters) == 1) != (c.reason != nil) {
			t.Errorf("%s: %d messages and %d bytes of %d have credit, %d dead letters", name, v.a.inMsgs, v.a.inBytes, size, len(letters))
		}
		for _, l := range letters {
			if to := l.To.Address(); !errors.Is(l.Reason, c.reason) || !strings.Contains(l.Reason.Error(), c.says) || to.Path != c.path || to.PID.String() != c.id {
				t.Errorf("%s: the dead letter is for %v of %v: %v", name, to.PID, to.Path, l.Reason)
			}
		}
		fails := 0
		for _, f := range append(v.a.sent, v.a.filling) {
			if f != nil {
				fails += strings.Count(string(f.buf), string(appendPlace([]byte{recordFail}, actor.Address{Path: "/reply", PID: pid("12.13")})))
			}
		}
		if want := min(1, len(letters)); c.asks && fails != want {
			t.Errorf("%s: who asks is told %d times", name, fails)
		}
	}
}

// TestLanes: messages for an actor that handles none wait from its backlog on, and their credit
// with them; it comes back as they are handed over, in their order, and a peer that sends more than
// its window is lost.
func TestLanes(t *testing.T) {
	v := newVictimOf(t, still(), Config{Backlog: 64, Window: 20})
	v.sys.Suspend(v.target, actor.Suspension{})
	v.sys.RunUntilIdle()
	var err error
	n := 0
	for ; err == nil && n < 1000; n++ {
		err = v.a.in.frame(frameOf(frameData, header{tag: 1, number: uint64(n + 1)}, v.told(n == 0, n)))
	}
	// 64 are in the mailbox, of which it is first seen at the 96th, which waits.
	if n != 95+21 || !errors.Is(err, ErrProtocol) || v.a.inMsgs != 95 || v.a.in.waits != 21 || v.target.Backlog() != 95 {
		t.Errorf("%d messages, %d waiting, %d in the mailbox, %d with credit: %v", n, v.a.in.waits, v.target.Backlog(), v.a.inMsgs, err)
	}
	if len(v.a.in.lanes) != 1 {
		t.Fatalf("%d lanes", len(v.a.in.lanes))
	}
	v.sys.Resume(v.target)
	v.sys.RunUntilIdle()
	if len(v.received) != n || v.a.inMsgs != uint64(n) || v.a.in.waits != 0 || v.a.in.waitsOf != 0 || len(v.a.in.lanes) != 0 {
		t.Errorf("%d were handled, %d have credit, %d wait with %d bytes", len(v.received), v.a.inMsgs, v.a.in.waits, v.a.in.waitsOf)
	}
	for i, m := range v.received {
		if len(m.(word)) != i {
			t.Fatalf("message %d is number %d", i, len(m.(word)))
		}
	}
}

// TestReceiverIsBehind: of an actor's mailbox each 32nd message looks whether it is as long as
// Backlog. From there on they wait in a lane, which goes on when fewer than half of that wait in the
// mailbox, or one fewer than is possible in it, and fills it as far.
func TestReceiverIsBehind(t *testing.T) {
	bounded := actor.MailboxConfig{Policy: actor.Block, Capacity: 2}
	for _, c := range []struct {
		mailbox                   actor.MailboxConfig
		backlog, waits, on, again int
	}{
		{actor.MailboxConfig{}, 31, 69, 14, 45}, // seen by the 32nd
		{actor.MailboxConfig{}, 32, 37, 15, 46}, // not by that one, which is the last that fits, but by the 64th
		{actor.MailboxConfig{}, 60, 37, 29, 60},
		{actor.MailboxConfig{}, 63, 37, 30, 67},
		{actor.MailboxConfig{}, 64, 5, 31, 36},
		{actor.MailboxConfig{}, 1, 69, 0, 31},
		{actor.MailboxConfig{}, 4096, 0, 0, 0},
		{bounded, 4096, 98, 1, 2},
		{bounded, 2, 98, 0, 2},
	} {
		v := newVictimOf(t, still(), Config{Backlog: c.backlog})
		v.target = v.another(t, "another", c.mailbox)
		v.sys.Suspend(v.target, actor.Suspension{})
		v.sys.RunUntilIdle()
		bytes := uint64(0)
		for n := range 100 {
			v.gets(t, frameData, header{number: uint64(n + 1)}, v.told(n == 0, n))
			if n >= 100-c.waits {
				bytes += uint64(n + overhead)
			}
		}
		in := &v.a.in
		if in.waits != c.waits || in.waitsOf != bytes {
			t.Errorf("%+v: of 100 messages %d with %d bytes wait in a lane, want %d with %d", c, in.waits, in.waitsOf, c.waits, bytes)
		}
		v.handles = func(ctx *actor.Context, _ any) { ctx.Suspend(actor.Suspension{}) }
		waits := in.waits
		for n := range 100 {
			before := v.target.Backlog() - 1
			v.sys.Resume(v.target)
			v.sys.RunUntilIdle()
			if len(v.received) != n+1 {
				t.Fatalf("%+v: %d messages are handled, want %d", c, len(v.received), n+1)
			}
			if now := v.target.Backlog(); in.waits != waits && (before != c.on || now != c.again) {
				t.Errorf("%+v: the lane goes on when %d wait in the mailbox, until %d do", c, before, now)
			}
			if in.waits == waits {
				continue
			}
			if l := in.lanes[v.target]; l != nil && slices.ContainsFunc(l.queue[len(l.queue):cap(l.queue)], func(p parcel) bool { return p.msg != nil }) {
				t.Errorf("%+v: a lane keeps messages that it has handed over", c)
			}
			break
		}
		v.handles = nil
		v.sys.Resume(v.target)
		v.sys.RunUntilIdle()
		if v.a.inMsgs != 100 || v.a.inBytes != 100*99/2+100*overhead || in.waits != 0 || in.waitsOf != 0 || len(in.lanes) != 0 {
			t.Errorf("%+v: %d messages of %d bytes have credit, %d of %d wait in %d lanes", c, v.a.inMsgs, v.a.inBytes, in.waits, in.waitsOf, len(in.lanes))
		}
		for i, m := range v.received {
			if len(m.(word)) != i {
				t.Fatalf("%+v: message %d is number %d", c, i, len(m.(word)))
			}
		}
	}
	// The actor has stopped when a lane begins.
	v := newVictim(t, still())
	v.sys.Stop(v.target)
	v.sys.RunUntilIdle()
	v.a.in.mu.Lock()
	v.a.in.park(v.target, parcel{msg: word("x"), size: 1})
	v.a.in.settle()
	if v.a.inMsgs != 1 || len(v.a.in.lanes) != 0 || v.sys.Stats().DeadLetters != 1 {
		t.Errorf("an actor that has stopped: %d messages have credit, %d lanes, %d dead letters", v.a.inMsgs, len(v.a.in.lanes), v.sys.Stats().DeadLetters)
	}
}

// TestWaitsBounds: what waits may be a window, and in bytes one message more.
func TestWaitsBounds(t *testing.T) {
	for _, c := range []struct {
		waits, bytes, paths int
		want                error
	}{
		{20, 1000 + MaxFrame, maxPaths - len("/user/t"), nil},
		{21, 0, 0, ErrProtocol},
		{0, 1000 + MaxFrame + 1, 0, ErrProtocol},
		{0, 0, maxPaths + 1, ErrProtocol},
	} {
		v := newVictimOf(t, still(), Config{Window: 20, WindowBytes: 1000})
		in := &v.a.in
		in.waits, in.waitsOf, in.paths = c.waits, uint64(c.bytes), c.paths
		if err := in.frame(frameOf(frameData, header{tag: 1, number: 1}, v.told(true, 1))); !errors.Is(err, c.want) || err == nil && c.want != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if handled := c.paths <= maxPaths; handled != (len(in.actors) == 1) {
			t.Errorf("%+v: %d actors are in the table", c, len(in.actors))
		}
	}
	// What begins anew has no paths.
	v := newVictim(t, still())
	v.gets(t, frameData, header{number: 1}, append(v.told(true, 1), recordForget))
	if in := &v.a.in; in.paths != 0 || len(in.actors) != 0 || len(in.types) != 0 {
		t.Errorf("the new tables have %d actors, %d types and paths of %d bytes", len(in.actors), len(in.types), in.paths)
	}
	v.gets(t, frameData, header{number: 2}, v.told(true, 2))
	if in := &v.a.in; in.paths != len("/user/t") || len(v.received) != 2 {
		t.Errorf("after that there are paths of %d bytes, and %d messages are received", in.paths, len(v.received))
	}
}

// TestAnswers: what the peer says of a Future that waits for it ends that, and of an actor nothing.
func TestAnswers(t *testing.T) {
	reply := func(kind byte) func(at actor.Address) []byte {
		return func(at actor.Address) []byte { return appendPlace([]byte{kind}, at) }
	}
	for name, c := range map[string]struct {
		record  func(at actor.Address) []byte
		done    bool
		want    any
		err     error
		letters uint64
	}{
		"a reply": {func(at actor.Address) []byte {
			return appendText(appendText(append(reply(recordReply)(at), 1), "w"), "yes")
		}, true, word("yes"), nil, 0},
		"a failure":  {func(at actor.Address) []byte { return appendError(reply(recordFail)(at), actor.ErrFull) }, true, nil, actor.ErrFull, 0},
		"no failure": {func(at actor.Address) []byte { return appendError(reply(recordFail)(at), nil) }, false, nil, nil, 0},
		"not readable": {func(at actor.Address) []byte {
			return appendText(appendText(append(reply(recordReply)(at), 1), "none"), "yes")
		}, false, nil, nil, 1},
	} {
		v := newVictim(t, still())
		var at actor.Address
		f := v.sys.Ask(v.away(t, 1), 0, func(to actor.ReplyTo) any {
			at = v.a.line.Load().ReplyAddress(to)
			return word("?")
		})
		v.gets(t, frameData, header{number: 1}, c.record(at))
		msg, done, err := f.Poll()
		if done != c.done || msg != c.want || !errors.Is(err, c.err) || err == nil && c.err != nil || v.sys.Stats().DeadLetters != c.letters {
			t.Errorf("%s: the Future has %v, %t, %v, and there are %d dead letters", name, msg, done, err, v.sys.Stats().DeadLetters)
		}
		v = newVictim(t, still())
		v.gets(t, frameData, header{number: 1}, c.record(v.target.Address()))
		if len(v.received) > 0 {
			t.Errorf("%s, to an actor: it receives %v", name, v.received)
		}
	}
}

// TestEnded: the end of what is watched is told once, of what was never there at once, and of what
// was let go at the end of the association not at all.
func TestEnded(t *testing.T) {
	for _, c := range []struct {
		name  string
		ended bool
		told  int
	}{{"watched", false, 1}, {"let go", true, 0}} {
		v := newVictim(t, still())
		v.gets(t, frameData, header{number: 1}, appendPlace([]byte{recordWatch}, v.target.Address()))
		if c.ended {
			v.a.in.end()
		}
		said := v.a.system.records
		v.sys.Stop(v.target)
		v.sys.RunUntilIdle()
		if got := v.a.system.records - said; got != c.told || len(v.a.in.watched) != 0 {
			t.Errorf("%s: its end is told %d times, and %d are watched", c.name, got, len(v.a.in.watched))
		}
	}
	v := newVictim(t, still())
	v.gets(t, frameData, header{number: 1}, appendPlace([]byte{recordWatch}, actor.Address{Path: "/user/absent", PID: pid("55")}))
	if v.a.system.records != 1 || v.a.filling == nil || v.a.filling.buf[headerSize] != recordEnded {
		t.Error("the end of what was never there is not told")
	}
	// A peer stops what is below a guardian.
	v.gets(t, frameData, header{number: 2}, appendPlace([]byte{recordStop}, v.target.Address()))
	if _, ok := v.sys.Find("/user/t"); ok {
		t.Error("an actor that the peer stops is there")
	}
	// What the peer has confirmed takes no room any more.
	v.flush()
	v.gets(t, frameAck, header{received: v.a.numbered}, nil)
	if v.a.system != (uncredited{}) {
		t.Errorf("%+v is under way", v.a.system)
	}
}
