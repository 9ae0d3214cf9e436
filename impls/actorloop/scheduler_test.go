package actorloop

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actortest"
	"github.com/dynolab/dyno/actor/mailbox"
)

// stopped returns the scheduler of a dispatcher, which no goroutine runs. Workers that it starts
// find a nil in the outbox, or nothing, and end, or wait until the test is over.
func stopped(t *testing.T, target int) *scheduler {
	t.Helper()
	d := NewDispatcher()
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	d.Stop(func() { close(ended) })
	<-ended
	<-d.over
	d.inbox.receive()
	d.target = target
	d.outbox = make(chan *box, outboxActors)
	d.wantKept.state.Store(quiet)
	s := &scheduler{d: d, workers: map[*worker]struct{}{}}
	s.tick.msg.kind = tick
	t.Cleanup(func() {
		if s.timer != nil {
			s.timer.Stop()
		}
		close(d.outbox)
	})
	return s
}

// told returns what the scheduler has been told and not handled.
func (s *scheduler) told() (kinds []eventKind) {
	for n := s.d.inbox.receive(); n != nil; n = n.next {
		kinds = append(kinds, n.msg.kind)
	}
	return kinds
}

// TestWatchdog: what the scheduler does at a tick depends on what workers keep, and on what waits.
func TestWatchdog(t *testing.T) {
	const target = 2
	b := newBox(nil, actor.MailboxConfig{})
	for name, c := range map[string]struct {
		keeps, seen *box // of one of the workers
		waiting     int  // actors in the outbox
		taken       bool // a worker has taken one since the last tick

		started int  // workers
		pushed  bool // what was kept others may run
		watches bool // and will look again
	}{
		"nothing":            {},
		"kept":               {keeps: b, watches: true},
		"kept for long":      {keeps: b, seen: b, pushed: true, watches: true},
		"no progress":        {waiting: 1, started: 1, watches: true},
		"no progress, many":  {waiting: 3, started: target, watches: true},
		"progress":           {waiting: 1, taken: true, watches: true},
		"progress, and kept": {keeps: b, waiting: 1, taken: true, watches: true},
	} {
		s := stopped(t, target)
		var w *worker
		for range 64 { // they come in any order
			w = &worker{d: s.d}
			s.workers[w] = struct{}{}
		}
		w.next.Store(c.keeps)
		w.seen = c.seen
		for range c.waiting {
			s.d.outbox <- nil
		}
		s.sent = uint64(c.waiting)
		if c.taken {
			s.sent++
		}
		s.d.wantKept.want()
		s.watchdog()
		if n := len(s.workers) - 64; n != c.started || s.gone.Wakes != uint64(n) {
			t.Errorf("%s: %d workers started, and %d counted, want %d", name, n, s.gone.Wakes, c.started)
		}
		left := c.keeps
		if c.pushed {
			left = nil
		}
		if pushed := s.oldest == &b.event; pushed != c.pushed || w.next.Load() != left || w.seen != left {
			t.Errorf("%s: given to others %v, want %v; the worker keeps %p and the scheduler has seen %p, want %p", name, pushed, c.pushed, w.next.Load(), w.seen, left)
		}
		if wanted := s.d.wantKept.state.Load() == wanted; s.ticking != c.watches || wanted == c.watches {
			t.Errorf("%s: looks again %v, want %v; wants to be told what is kept: %v", name, s.ticking, c.watches, wanted)
		}
	}
}

// TestDeliver: actors go into the outbox in their order, as many as there is room for, and as
// many workers start as are needed.
func TestDeliver(t *testing.T) {
	const target = 3
	for name, c := range map[string]struct {
		ready, workers, paused int
		started                int
		left                   bool // some, for which there is no room
	}{
		"nothing":           {},
		"one":               {ready: 1, started: 1},
		"many":              {ready: 5, started: target},
		"enough workers":    {ready: 5, workers: target},
		"one of them waits": {ready: 5, workers: target, paused: 1, started: 1},
		"a full outbox":     {ready: outboxActors + 1, workers: target, left: true},
	} {
		s := stopped(t, target)
		for range c.workers {
			s.workers[&worker{d: s.d}] = struct{}{}
		}
		for range c.paused {
			s.handle(newEvent(event{kind: paused}))
		}
		for range c.ready {
			s.handle(&node[event]{next: newEvent(event{})}) // the inbox has linked it to another one
		}
		s.deliver()
		if want := min(c.ready, outboxActors); s.sent != uint64(want) || s.oldest != nil != c.left {
			t.Errorf("%s: %d actors were put into the outbox, want %d; some are left: %v", name, s.sent, want, s.oldest != nil)
		}
		if wanted := s.d.wantRoom.state.Load() == wanted; wanted != c.left {
			t.Errorf("%s: wants to be told of room %v, want %v", name, wanted, c.left)
		}
		if n := len(s.workers) - c.workers; n != c.started || s.ticking != (c.ready > 0) {
			t.Errorf("%s: %d workers started, want %d; looks again: %v", name, n, c.started, s.ticking)
		}
	}
}

// TestStopAwaitsTheTick: a tick that is on its way when the system ends is waited for, and one
// that has not begun is not.
func TestStopAwaitsTheTick(t *testing.T) {
	for _, onItsWay := range []bool{false, true} {
		s := stopped(t, 0)
		s.handle(newEvent(event{kind: stop})) // before there was any timer
		s.d.outbox = make(chan *box)
		s.stopping = false
		s.watch()
		if onItsWay {
			s.timer.Reset(0)
			for s.d.inbox.empty() {
				runtime.Gosched()
			}
		} else {
			s.timer.Reset(time.Hour)
		}
		if s.handle(newEvent(event{kind: stop})); s.ticking != onItsWay {
			t.Errorf("waits for a tick %v, want %v", s.ticking, onItsWay)
		}
		s.d.outbox = make(chan *box)
	}
}

// TestRequest: a wish is granted once, and its event sent again only after it was received.
func TestRequest(t *testing.T) {
	type step = func(*request, *Dispatcher)
	for name, c := range map[string]struct {
		do   step
		then [3]uint32 // the state after do, if it was quiet, wanted, told before
	}{
		"want":    {func(r *request, _ *Dispatcher) { r.want() }, [...]uint32{wanted, wanted, told}},
		"drop":    {func(r *request, _ *Dispatcher) { r.drop() }, [...]uint32{quiet, quiet, told}},
		"tell":    {func(r *request, d *Dispatcher) { r.tell(d) }, [...]uint32{quiet, told, told}},
		"granted": {func(r *request, _ *Dispatcher) { r.granted() }, [...]uint32{quiet, quiet, quiet}},
	} {
		for before, want := range c.then {
			d, r := &Dispatcher{}, &request{}
			r.state.Store(uint32(before))
			c.do(r, d)
			if got := r.state.Load(); got != want || d.inbox.empty() == (name == "tell" && before == int(wanted)) {
				t.Errorf("%s in state %d: then %d, want %d; an event was sent: %v", name, before, got, want, !d.inbox.empty())
			}
		}
	}
}

// TestLease: a worker runs what it keeps, but not for ever while others wait.
func TestLease(t *testing.T) {
	for _, others := range []string{"none", "in the outbox", "in the inbox"} {
		s := stopped(t, 1)
		w, b, other := &worker{d: s.d}, newBox(s.d, actor.MailboxConfig{}), newBox(s.d, actor.MailboxConfig{})
		for range 2 {
			switch others {
			case "in the outbox":
				s.d.outbox <- other
			case "in the inbox":
				s.d.send(&other.event)
			}
			for i := range lease - 1 {
				w.next.Store(b)
				if w.choose() != b {
					t.Fatalf("others %s: after %d turns the worker does not go on with what it keeps", others, i)
				}
			}
			w.next.Store(b)
			if others == "none" {
				if w.choose() != b {
					t.Error("a worker that keeps an actor goes on with another one, and none waits")
				}
				break
			}
			if others == "in the inbox" {
				s.d.outbox <- other // as the scheduler does
			}
			if w.choose() != other || w.next.Load() != nil {
				t.Errorf("others %s: after %d turns the worker goes on with what it keeps", others, lease)
			}
			var sent []*box
			for n := s.d.inbox.receive(); n != nil; n = n.next {
				sent = append(sent, n.msg.box)
			}
			if !slices.Contains(sent, b) {
				t.Errorf("others %s: what the worker kept is lost", others)
			}
		}
	}
}

// TestYieldsBehindOthers: an actor that has more to do goes on at once if no other one waits, and
// else behind those.
func TestYieldsBehindOthers(t *testing.T) {
	for _, others := range []bool{false, true} {
		s := stopped(t, 1)
		s.d.wantKept.want()
		w, b := &worker{d: s.d}, newBox(s.d, actor.MailboxConfig{})
		b.in.wake()
		want := []eventKind{kept}
		if others {
			s.d.outbox <- nil
			want = []eventKind{ready}
		}
		w.settle(b, actor.Yield)
		if got := s.told(); !slices.Equal(got, want) || others != (w.next.Load() == nil) {
			t.Errorf("others wait %v: the scheduler is told %v, want %v, and the worker keeps %p", others, got, want, w.next.Load())
		}
	}
}

// TestWorkerWaits: a worker waits for the outbox unless enough others do, and has published what it
// has counted whenever it does or ends.
func TestWorkerWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stopped(t, 1)
		published := func(w *worker) (st actor.Stats) { w.tally.AddTo(&st); return st }
		w := &worker{d: s.d}
		w.tally.Turns = 1
		chosen := make(chan *box)
		go func() { chosen <- w.choose() }()
		synctest.Wait()
		if got, want := published(w), (actor.Stats{Turns: 1, Parks: 1}); got != want {
			t.Errorf("asleep: published %+v, want %+v", got, want)
		}
		second := &worker{d: s.d}
		second.tally.Turns = 1
		if b := second.choose(); b != nil || published(second).Turns != 1 || s.d.idle.Load() != 1 {
			t.Errorf("a second one goes on with %p and has published %+v; %d wait, want 1", b, published(second), s.d.idle.Load())
		}
		b := newBox(s.d, actor.MailboxConfig{})
		s.d.outbox <- b
		if got := <-chosen; got != b || w.tally.Wakes != 1 || s.d.idle.Load() != 0 {
			t.Errorf("woken it goes on with %p, want %p; %d wake-ups and %d that wait, want 1 and 0", got, b, w.tally.Wakes, s.d.idle.Load())
		}
		for range outboxLow + 2 {
			s.d.outbox <- b
		}
		s.d.wantRoom.want()
		for i, want := range []uint32{wanted, told} { // with outboxLow+1 left, and with outboxLow
			if w.choose(); s.d.wantRoom.state.Load() != want {
				t.Errorf("room after %d more: state %d, want %d", i+1, s.d.wantRoom.state.Load(), want)
			}
		}
		for len(s.d.outbox) > 0 {
			<-s.d.outbox
		}
		s.d.outbox <- nil // as if it were closed
		w.tally.Turns = 2
		if b := w.choose(); b != nil || published(w).Turns != 2 {
			t.Errorf("at the end it goes on with %p and has published %+v", b, published(w))
		}
	})
}

// TestSendWaitOfAWorker: while a worker waits for room another one may take its place and what it
// keeps; and a mailbox that has got room, or has closed, since it was full answers at once.
func TestSendWaitOfAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := stopped(t, 0)
		w, keeps := &worker{d: s.d}, newBox(s.d, actor.MailboxConfig{})
		w.next.Store(keeps)
		b := newBox(s.d, actor.MailboxConfig{Policy: actor.Block, Capacity: 1})
		if err := b.SendWait(t.Context(), 1, nil); err != nil || b.Len() != 1 || !slices.Equal(s.told(), []eventKind{ready}) {
			t.Errorf("a mailbox that has room: %v, and %d messages wait, want 1, of an actor that is ready", err, b.Len())
		}
		b.bounded.pop()
		if err := b.SendWait(t.Context(), 1, nil); err != nil || len(s.told()) != 0 {
			t.Errorf("an actor that is awake: %v, and the scheduler is told of it", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan error, 1)
		wait := func() { answer <- b.SendWait(ctx, 2, w) }
		go wait()
		synctest.Wait()
		if got := s.told(); !slices.Equal(got, []eventKind{ready, paused}) || w.next.Load() != nil {
			t.Errorf("a worker waits: the scheduler is told %v, want that %v is ready, and that it waits", got, keeps)
		}
		cancel()
		if err := <-answer; !errors.Is(err, context.Canceled) {
			t.Errorf("its context ends: %v, want %v", err, context.Canceled)
		}
		synctest.Wait()
		if got := s.told(); !slices.Equal(got, []eventKind{resume}) {
			t.Errorf("it goes on: the scheduler is told %v, want that", got)
		}
		b.bounded.close()
		if wait(); !errors.Is(<-answer, actor.ErrStopped) {
			t.Error("a mailbox that is closed takes a message")
		}
		s.handle(newEvent(event{kind: paused}))
		if s.handle(newEvent(event{kind: resume})); s.paused != 0 {
			t.Errorf("%d workers wait", s.paused)
		}
	})
}

// TestStart: a dispatcher has a worker for each processor, takes none away, and may be asked what
// it has counted before there is anything.
func TestStart(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	d := NewDispatcher()
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	if n := runtime.GOMAXPROCS(0); d.target != 3 || n != 3 {
		t.Errorf("%d workers, and %d processors, want 3", d.target, n)
	}
	for range 2 {
		var st actor.Stats
		if d.AddStats(&st); st != (actor.Stats{}) {
			t.Errorf("%+v was counted before there was anything", st)
		}
	}
	ended := make(chan struct{})
	d.Stop(func() { close(ended) })
	<-ended
}

// TestBetweenTurns: what a turn has taken counts until it is over, but for what is being handled;
// what has come meanwhile is not left; and an actor that sleeps keeps no memory for a burst.
func TestBetweenTurns(t *testing.T) {
	const burst = 3 * mailbox.Keep
	for name, cfg := range map[string]actor.MailboxConfig{"plain": {}, "bounded": {Policy: actor.DropNewest, Capacity: burst + 2}} {
		s := stopped(t, 0)
		w, b := &worker{d: s.d, nodes: new(nodes)}, newBox(s.d, cfg)
		wantLen := func(when string, want int) {
			t.Helper()
			if n := b.Len(); n != want {
				t.Errorf("%s, %s: %d messages wait, want %d", name, when, n, want)
			}
		}
		handle := func(most int) (handled int) { // as a turn does
			for handled < most {
				if b.bounded != nil {
					if _, ok := b.bounded.pop(); !ok {
						break
					}
				} else if b.left > 0 || b.refill() {
					w.nodes.took(clearNode(b.next()))
				} else {
					break
				}
				handled++
			}
			return handled
		}
		for n := range 4 {
			b.Send(n, nil)
		}
		wantLen("before the turn", 4)
		handle(1)
		wantLen("as the first is handled", 3)
		b.Send(4, nil)
		wantLen("and another one has come", 4)
		b.rest(actor.Suspended)
		wantLen("suspended", 4)
		if b.Send(5, nil); !b.suspended.Load() || b.in.isAsleep() {
			t.Errorf("%s: a message wakes an actor that is suspended", name)
		}
		b.resume()
		if n := handle(3); n != 3 || !b.rest(actor.Continue) {
			t.Errorf("%s: an actor goes to sleep after %d messages, and two wait", name, n)
		}
		for range burst {
			b.Send(nil, nil)
		}
		if n := handle(burst + 3); n != burst+2 {
			t.Errorf("%s: %d messages were handled, want %d", name, n, burst+2)
		}
		if b.rest(actor.Continue) || !b.in.isAsleep() {
			t.Errorf("%s: an actor without messages is not asleep", name)
		}
		wantLen("asleep", 0)
		if b.out != nil {
			t.Errorf("%s: an actor that sleeps keeps memory for messages", name)
		}
		s.told() // that it was ready
		for n := range 2 {
			b.Send(n, nil)
		}
		handle(1)
		b.rest(actor.Yield)
		wantLen("one left", 1)
		handle(1)
		b.rest(actor.Continue)
		wantLen("asleep again", 0)
	}
}

// TestStoppedWithMessages: what a turn has taken and not handled when its actor stops is given back.
func TestStoppedWithMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := actortest.New(actor.Config{Dispatcher: NewDispatcher()}, func(err error) { t.Error(err) })
		r := s.Spawn(actortest.Func(func(ctx *actor.Context, msg any) error {
			if msg == 0 {
				time.Sleep(time.Second) // until all have come
			} else {
				ctx.StopSelf()
			}
			return nil
		}))
		s.Send(r, 0, 1, 2, 3)
		time.Sleep(2 * time.Second)
		if n := len(s.Letters()); n != 2 || r.Backlog() != 0 {
			t.Errorf("%d messages are undelivered and %d wait, want 2 and none", n, r.Backlog())
		}
		if err := s.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
