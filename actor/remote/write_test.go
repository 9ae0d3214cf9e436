package remote

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
)

// noting is a wire that notes what kinds of frames are written, and fails at one.
type noting struct {
	blind
	kinds string
	fails int // this one, from 1
}

var errWire = errors.New("the wire is broken")

func (w *noting) WriteFrame(b []byte) error {
	if w.kinds += string("?hdab"[b[lengthSize]]); len(w.kinds) == w.fails {
		return errWire
	}
	return nil
}

// TestFlush: what is written in which order, until when, and what is left to the writer.
func TestFlush(t *testing.T) {
	for name, c := range map[string]struct {
		is      func(v *victim)
		most    int
		fails   int
		kinds   string
		pending bool // before
		woken   bool // after
		reason  error
	}{
		"nothing":               {is: func(*victim) {}, most: -1},
		"three":                 {is: func(v *victim) { v.a.sent = v.frames(3) }, most: -1, kinds: "ddd", pending: true},
		"two of three":          {is: func(v *victim) { v.a.sent = v.frames(3) }, most: 2, kinds: "dd", pending: true, woken: true},
		"two of two":            {is: func(v *victim) { v.a.sent = v.frames(2) }, most: 2, kinds: "dd", pending: true},
		"what is being filled":  {is: func(v *victim) { v.a.filling = v.frames(1)[0] }, most: -1, kinds: "d", pending: true},
		"behind what is sent":   {is: func(v *victim) { v.a.sent = v.frames(1); v.a.filling = v.frames(1)[0] }, most: 1, kinds: "d", pending: true, woken: true},
		"an acknowledgement":    {is: func(v *victim) { v.a.ackDue = true }, most: -1, kinds: "a", pending: true},
		"which data has":        {is: func(v *victim) { v.a.ackDue, v.a.sent = true, v.frames(1) }, most: -1, kinds: "d", pending: true},
		"which is for later":    {is: func(v *victim) { v.a.ackLater = true }, most: -1},
		"a greeting first":      {is: func(v *victim) { v.a.greet, v.a.sent = true, v.frames(1) }, most: -1, kinds: "hd", pending: true},
		"a greeting only":       {is: func(v *victim) { v.a.state, v.a.greet, v.a.ackDue, v.a.sent = greeting, true, true, v.frames(1) }, most: -1, kinds: "h", pending: true},
		"nothing without one":   {is: func(v *victim) { v.a.state, v.a.ackDue, v.a.leaving = greeting, true, true }, most: -1},
		"again before the rest": {is: func(v *victim) { v.a.sent, v.a.written, v.a.until = v.frames(3), 2, 2 }, most: 2, kinds: "dd", pending: true, woken: true},
		"again only":            {is: func(v *victim) { v.a.sent, v.a.written, v.a.again, v.a.until = v.frames(2), 2, 1, 2 }, most: -1, kinds: "d", pending: true},
		"a bye":                 {is: func(v *victim) { v.a.leaving = true }, most: -1, kinds: "b", pending: true, reason: ErrClosed},
		"none before the rest":  {is: func(v *victim) { v.a.leaving, v.a.sent = true, v.frames(1) }, most: -1, kinds: "d", pending: true},
		"none before it is":     {is: func(v *victim) { v.a.leaving, v.a.filling = true, v.frames(1)[0] }, most: -1, kinds: "d", pending: true},
		"one, out of patience":  {is: func(v *victim) { v.a.leaving, v.a.departs, v.a.sent, v.a.written = true, patience, v.frames(1), 1 }, most: -1, kinds: "b", pending: true, reason: ErrClosed},
		"none, with patience":   {is: func(v *victim) { v.a.leaving, v.a.departs, v.a.sent, v.a.written = true, patience-1, v.frames(1), 1 }, most: -1},
		"a broken wire":         {is: func(v *victim) { v.a.sent = v.frames(3) }, most: -1, fails: 2, kinds: "dd", pending: true, reason: errWire},
		"an early answer":       {is: func(v *victim) { v.a.sent = v.frames(1); v.a.sent[0].confirmed = true }, most: -1, kinds: "d", pending: true},
	} {
		v := newVictim(t, still())
		v.flush() // what there is to say at first
		w := &noting{fails: c.fails}
		v.a.wire, v.a.writes = w, false
		v.a.mu.Lock()
		v.a.kicked, v.a.kick = false, make(chan struct{}, 1)
		c.is(v)
		if got := v.a.pending(); got != c.pending {
			t.Errorf("%s: something is to be written: %t", name, got)
		}
		spare := len(v.a.spare)
		v.a.busy = true
		v.a.flush(c.most)
		if w.kinds != c.kinds || v.a.busy || len(v.a.kick) > 0 != c.woken || v.a.writes != (c.kinds != "") || v.a.writing != nil || !errors.Is(v.a.reason, c.reason) || v.a.reason != nil && c.reason == nil {
			t.Errorf("%s: %q is written, busy %t, %d times woken, lost for %v", name, w.kinds, v.a.busy, len(v.a.kick), v.a.reason)
		}
		if early := name == "an early answer"; len(v.a.spare)-spare > 0 != early {
			t.Errorf("%s: %d frames are used again", name, len(v.a.spare)-spare)
		}
		v.a.sent, v.a.filling, v.a.written, v.a.again, v.a.until = nil, nil, 0, 0, 0
	}
}

// frames are some without records.
func (v *victim) frames(n int) (all []*frame) {
	for range n {
		v.a.numbered++
		all = append(all, &frame{buf: make([]byte, headerSize), number: v.a.numbered, at: v.a.now})
	}
	return all
}

// TestWriter: it is woken once, if no goroutine writes; it writes if none does, and ends with the
// association.
func TestWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVictim(t, still())
		v.flush()
		w := &noting{}
		v.a.mu.Lock()
		v.a.wire, v.a.kicked, v.a.kick = w, false, make(chan struct{}, 1)
		for _, c := range []struct {
			busy, lost bool
			woken      int
		}{{true, false, 0}, {false, true, 0}, {false, false, 1}, {false, false, 1}} {
			if v.a.busy = c.busy; c.lost {
				v.a.state = lost
			}
			if v.a.wake(); len(v.a.kick) != c.woken {
				t.Errorf("%+v: woken %d times", c, len(v.a.kick))
			}
			v.a.state = open
		}
		v.a.busy, v.a.sent = true, v.frames(1)
		v.a.mu.Unlock()
		v.a.ended.Add(1)
		go v.a.write()
		synctest.Wait()
		v.a.mu.Lock()
		if w.kinds != "" || v.a.kicked || !v.a.busy {
			t.Errorf("beside another goroutine it writes %q", w.kinds)
		}
		v.a.busy = false
		v.a.wake()
		v.a.mu.Unlock()
		synctest.Wait()
		v.a.mu.Lock()
		if w.kinds != "d" || v.a.busy {
			t.Errorf("it writes %q", w.kinds)
		}
		v.a.sent, v.a.written = nil, 0
		v.a.wake()
		v.a.state = lost
		v.a.mu.Unlock()
		v.a.ended.Wait()
	})
}

// TestSends: who sends writes it, if nothing is under way and the peer is known; else the writer
// does.
func TestSends(t *testing.T) {
	for name, c := range map[string]struct {
		is    func(a *association)
		kinds string
		woken int
	}{
		"alone":             {func(*association) {}, "d", 0},
		"another one does":  {func(a *association) { a.busy = true }, "", 0},
		"behind another":    {func(a *association) { a.sent, a.written = []*frame{{number: 1}}, 1 }, "", 1},
		"no peer is known":  {func(a *association) { a.state = greeting }, "", 1},
		"of the runtime":    {nil, "", 1},
		"an answer is late": {func(a *association) { a.ackDue = true }, "d", 0},
	} {
		clock := still()
		v := newVictim(t, clock)
		v.flush()
		clock.Advance(time.Second) // ticks are slow
		v.flush()
		w := &noting{}
		v.a.wire, v.a.kicked, v.a.kick = w, false, make(chan struct{}, 1)
		if c.is == nil {
			v.a.Watch(v.away(t, 0))
		} else {
			c.is(v.a)
			if err := v.a.Send(context.Background(), v.away(t, 0), word("x")); err != nil {
				t.Fatal(err)
			}
		}
		if w.kinds != c.kinds || len(v.a.kick) != c.woken || v.a.quick != (c.kinds != "") {
			t.Errorf("%s: the sender writes %q, wakes the writer %d times, and ticks are quick: %t", name, w.kinds, len(v.a.kick), v.a.quick)
		}
		if len(v.a.sent) > 0 && c.kinds != "" && !v.a.sent[0].at.Equal(clock.Now()) {
			t.Errorf("%s: it is sent at %v", name, v.a.sent[0].at)
		}
		v.a.busy, v.a.sent, v.a.filling, v.a.written = false, nil, nil, 0
	}
	// That a Future fails is refused where a reply would wait.
	v := newVictim(t, still())
	reply, err := v.sys.ResolveAddress(actor.Address{System: "there", Boot: 9, Path: "/reply", PID: pid("12.13")})
	if err != nil {
		t.Fatal(err)
	}
	v.a.system.records = maxSystem
	if err := v.a.Send(context.Background(), reply, actor.Failed{Err: actor.ErrFull}); !errors.Is(err, actor.ErrFull) {
		t.Errorf("it fails with %v", err)
	}
	// And a reply that waits takes no credit.
	ctx, end := context.WithCancel(context.Background())
	end()
	if err := v.a.Send(ctx, reply, word("x")); !errors.Is(err, context.Canceled) || v.a.sentMsgs != 0 {
		t.Errorf("a reply without room takes credit for %d messages: %v", v.a.sentMsgs, err)
	}
	v.a.system.records = 0
	// A path that no peer would take ends what watches it, and stops nothing.
	synctest.Test(t, func(t *testing.T) {
		v := newVictim(t, still())
		for n, ends := range map[int]bool{maxPath: false, maxPath + 1: true} {
			v.received = nil
			said := v.a.system.records
			long, err := v.sys.ResolveAddress(actor.Address{System: "there", Boot: 9, Path: "/" + strings.Repeat("x", n-1), PID: pid("5")})
			if err != nil {
				t.Fatal(err)
			}
			_ = v.target.Tell(func(ctx *actor.Context) { ctx.Watch(long) })
			v.sys.RunUntilIdle()
			synctest.Wait()
			v.sys.RunUntilIdle()
			if v.sys.Stop(long); len(v.received) > 0 != ends || ends && !errors.Is(v.received[0].(actor.Terminated).Err, ErrTooLarge) || v.a.system.records > said == ends {
				t.Errorf("a path of %d bytes: the watcher is told %v, and %d records are sent", n, v.received, v.a.system.records-said)
			}
		}
	})
}

// TestHeaders: what a frame says of what came in is not said again.
func TestHeaders(t *testing.T) {
	v := newVictim(t, still())
	v.flush()
	read := func(b []byte) header {
		kind, p, err := parseFrame(b)
		if err != nil {
			t.Fatal(err)
		}
		h, err := p.header(kind)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	for _, c := range []struct {
		gap    bool
		sent   int
		number uint64
	}{{false, 0, 0}, {true, 0, 1}, {false, 1, 77}} {
		v.a.received, v.a.inMsgs, v.a.inBytes, v.a.saidMsgs, v.a.saidBytes = 5, 6, 7, 0, 0
		v.a.ackDue, v.a.ackLater, v.a.gap = true, true, c.gap
		if v.a.numbered = 76; c.sent > 0 {
			v.a.sent = v.frames(c.sent)
		}
		h := read(v.a.next())
		v.a.writing = nil
		if h.tag != 2 || h.received != 5 || h.msgs != 6 || h.bytes != 7 || h.number != c.number || v.a.saidMsgs != 6 || v.a.saidBytes != 7 || v.a.ackDue || v.a.ackLater {
			t.Errorf("%+v: %+v, said are %d and %d, due %t, %t", c, h, v.a.saidMsgs, v.a.saidBytes, v.a.ackDue, v.a.ackLater)
		}
		v.a.sent, v.a.written = nil, 0
	}
	v.a.greet, v.a.answer, v.a.gap = true, true, false
	for i, answers := range []bool{true, false} {
		_, p, err := parseFrame(v.a.next())
		if err != nil {
			t.Fatal(err)
		}
		h, err := p.hello()
		if want := (hello{tag: 1, yours: 2, boot: 7, answer: answers, msgs: 1024, bytes: 1 << 20, name: "here"}); err != nil || h != want {
			t.Errorf("hello %d is %+v, %v", i, h, err)
		}
		if v.a.greet {
			t.Error("it greets for ever")
		}
		v.a.greet = true
	}
	v.a.greet = false
}

// TestAcknowledged: what the peer may say it has got, and what that changes.
func TestAcknowledged(t *testing.T) {
	for name, c := range map[string]struct {
		h       header
		err     error
		sent    int // frames that are kept
		written int
		again   [2]int
		freed   uncredited
		room    bool
		woken   bool
	}{
		"nothing":                  {header{}, nil, 4, 3, [2]int{1, 3}, uncredited{}, false, false},
		"one":                      {header{received: 11}, nil, 3, 2, [2]int{0, 2}, uncredited{1, 10}, true, false},
		"all that was written":     {header{received: 13}, nil, 1, 0, [2]int{0, 0}, uncredited{1, 10}, true, false},
		"what was not":             {header{received: 14}, ErrProtocol, 0, 0, [2]int{}, uncredited{}, false, false},
		"what is not there":        {header{received: 15}, ErrProtocol, 0, 0, [2]int{}, uncredited{}, false, false},
		"messages":                 {header{msgs: 6}, nil, 4, 3, [2]int{1, 3}, uncredited{}, true, false},
		"no more than before":      {header{msgs: 5, bytes: 500}, nil, 4, 3, [2]int{1, 3}, uncredited{}, false, false},
		"bytes":                    {header{msgs: 5, bytes: 501}, nil, 4, 3, [2]int{1, 3}, uncredited{}, true, false},
		"all messages":             {header{msgs: 100, bytes: 9_000}, nil, 4, 3, [2]int{1, 3}, uncredited{}, true, false},
		"more messages":            {header{msgs: 101}, ErrProtocol, 0, 0, [2]int{}, uncredited{}, false, false},
		"more bytes":               {header{bytes: 9_001}, ErrProtocol, 0, 0, [2]int{}, uncredited{}, false, false},
		"a gap":                    {header{kind: frameAck, number: 1}, nil, 4, 3, [2]int{0, 3}, uncredited{}, false, true},
		"a gap behind one":         {header{kind: frameAck, number: 1, received: 11}, nil, 3, 2, [2]int{0, 2}, uncredited{1, 10}, true, true},
		"no gap":                   {header{kind: frameAck}, nil, 4, 3, [2]int{1, 3}, uncredited{}, false, false},
		"data is no gap":           {header{kind: frameData, number: 1}, nil, 4, 3, [2]int{1, 3}, uncredited{}, false, false},
		"a gap behind all of them": {header{kind: frameAck, number: 1, received: 13}, nil, 1, 0, [2]int{0, 0}, uncredited{1, 10}, true, false},
	} {
		v := newVictim(t, still())
		v.flush()
		a := v.a
		a.kicked, a.kick = false, make(chan struct{}, 1)
		a.numbered = 10
		a.sent, a.written, a.again, a.until = v.frames(4), 3, 1, 3
		a.sent[0].system, a.system = uncredited{1, 10}, uncredited{3, 30}
		a.sentMsgs, a.sentBytes, a.takenMsgs, a.takenBytes = 100, 9_000, 5, 500
		first := a.sent[0]
		a.mu.Lock()
		a.room = make(chan struct{})
		kept := a.sent
		called, err := a.acknowledged(&c.h)
		if !errors.Is(err, c.err) || err != nil && c.err == nil || len(called) > 0 {
			t.Errorf("%s: %v", name, err)
		}
		if now := [2]int{a.again, a.until}; err == nil && (len(a.sent) != c.sent || a.written != c.written || now != c.again || a.room == nil != c.room || len(a.kick) > 0 != c.woken) {
			t.Errorf("%s: %d frames are kept, %d are written, %v are to be again, there is room %t, the writer is woken %d times", name, len(a.sent), a.written, now, a.room == nil, len(a.kick))
		}
		if left := (uncredited{3 - c.freed.records, 30 - c.freed.bytes}); err == nil && a.system != left {
			t.Errorf("%s: %+v is under way", name, a.system)
		}
		if err == nil && (a.takenMsgs != max(5, c.h.msgs) || a.takenBytes != max(500, c.h.bytes)) {
			t.Errorf("%s: %d messages and %d bytes are taken", name, a.takenMsgs, a.takenBytes)
		}
		if c.sent < 4 && err == nil && (kept[3] != nil || len(first.items) > 0) {
			t.Errorf("%s: what is acknowledged is kept", name)
		}
		a.sent, a.written, a.again, a.until = nil, 0, 0, 0
		a.mu.Unlock()
	}
	// Who waits for room is called when there is, and the last acknowledgement has a bye sent.
	v := newVictim(t, still())
	v.flush()
	v.a.sentMsgs = 100
	called := 0
	v.a.Room(func() { called++ })
	for _, c := range []struct{ msgs, called int }{{0, 0}, {1, 1}, {2, 1}} {
		if v.gets(t, frameAck, header{msgs: uint64(c.msgs)}, nil); called != c.called {
			t.Errorf("%d are taken, and room was said %d times", c.msgs, called)
		}
	}
	v.a.sent, v.a.written, v.a.leaving, v.a.kicked, v.a.kick = v.frames(1), 1, true, false, make(chan struct{}, 1)
	if v.gets(t, frameAck, header{received: v.a.numbered}, nil); len(v.a.kick) != 1 {
		t.Error("the last acknowledgement does not wake the writer for the bye")
	}
}

// TestRecycled: a frame is used again with nothing in it.
func TestRecycled(t *testing.T) {
	v := newVictimOf(t, still(), Config{Batch: 1000})
	to := v.away(t, 0)
	for range 3 {
		v.send(t, to, word("x"))
	}
	f := v.a.sent[0]
	f.confirmed, f.system = true, uncredited{1, 1}
	items := f.items
	v.gets(t, frameAck, header{received: 3, msgs: 3}, nil)
	if f.number != 0 || f.records != 0 || f.confirmed || f.system != (uncredited{}) || len(f.items) != 0 || items[0].msg != nil {
		t.Errorf("%+v is used again", f)
	}
	bytes := func() (n int) {
		for _, f := range v.a.spare {
			n += cap(f.buf)
		}
		return n
	}
	for range 3 {
		if v.a.spareBytes != bytes() {
			t.Errorf("frames of %d bytes are spare, and it says %d", bytes(), v.a.spareBytes)
		}
		v.send(t, to, word("x"))
	}
	if len(v.a.spare) != 0 || v.a.spareBytes != 0 {
		t.Errorf("%d frames are spare, and %d bytes", len(v.a.spare), v.a.spareBytes)
	}
}
