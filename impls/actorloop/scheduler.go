package actorloop

import (
	"runtime"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/internal/invariants"
)

// period is how often the scheduler looks whether workers make progress, while
// there is something to do: long against a turn, short for a person. It is how
// long actors wait when all workers are blocked.
const period = time.Millisecond

// scheduler is who decides which actors run. All of it belongs to the one
// goroutine that runs loop; others send it events.
type scheduler struct {
	d *Dispatcher

	oldest, newest *node[event] // actors that are ready and not in the outbox, linked by next
	sent           uint64       // actors put into the outbox so far

	workers map[*worker]struct{}
	paused  int // workers that wait in SendWait
	guests  map[*guest]struct{}

	timer   *time.Timer
	ticking bool        // it is set, or its event is on the way
	tick    node[event] // the timer's
	seen    uint64      // actors that workers had taken when the timer was set

	stopping bool
	done     func()      // to be called at the end
	gone     actor.Stats // counted by workers that have left, and here
}

// loop is the scheduler's goroutine.
func (s *scheduler) loop() {
	in := &s.d.inbox
	for yielded := false; ; {
		e := in.receive()
		if e == nil {
			if !yielded {
				yielded = true
				runtime.Gosched() // those who run have more to say
			} else if in.sleep() {
				<-s.d.bell
			}
			continue
		}
		yielded = false
		for e != nil {
			following := e.next
			s.handle(e)
			e = following
		}
		s.deliver()
		if s.stopping && len(s.workers) == 0 && !s.ticking {
			break
		}
	}
	close(s.d.over)
	s.done()
}

// handle does what n asks for.
func (s *scheduler) handle(n *node[event]) {
	switch e := &n.msg; e.kind {
	case ready:
		s.push(n)
	case room:
		s.d.wantRoom.granted()
	case kept:
		s.d.wantKept.granted()
		s.watch()
	case tick:
		s.ticking = false
		if !s.stopping {
			s.watchdog()
		}
	case paused:
		s.paused++
	case resume:
		s.paused--
	case left:
		delete(s.workers, e.by)
		e.by.tally.AddTo(&s.gone)
	case came:
		if s.guests == nil {
			s.guests = make(map[*guest]struct{})
		}
		s.guests[e.of] = struct{}{}
	case went:
		delete(s.guests, e.of)
		e.of.tally.AddTo(&s.gone)
	case count:
		e.ask <- s.counted()
	case stop:
		if invariants.Enabled && (s.oldest != nil || len(s.d.outbox) > 0) {
			invariants.Violated("actorloop", "no actor is ready when every actor has stopped")
		}
		s.stopping = true
		s.done = e.done
		close(s.d.outbox)
		if s.ticking && s.timer.Stop() {
			s.ticking = false
		}
	}
}

// counted returns what workers and guests have counted.
func (s *scheduler) counted() actor.Stats {
	c := s.gone
	for w := range s.workers {
		w.tally.AddTo(&c)
	}
	for g := range s.guests {
		g.tally.AddTo(&c)
	}
	c.Workers = len(s.workers)
	return c
}

// push puts an actor behind all that are ready.
func (s *scheduler) push(e *node[event]) {
	e.next = nil
	if s.oldest == nil {
		s.oldest = e
	} else {
		s.newest.next = e
	}
	s.newest = e
}

// deliver puts ready actors into the outbox and sees to it that there are
// workers.
func (s *scheduler) deliver() {
	out := s.d.outbox
	for asked := false; s.oldest != nil; {
		e := s.oldest
		following := e.next // once the box is in the outbox, e may be sent again
		select {
		case out <- e.msg.box:
			s.oldest = following
			s.sent++
			continue
		default:
		}
		if asked {
			break
		}
		asked = true        // and tried once more: it may have been emptied meanwhile
		invariants.Window() // the last worker to make room may be gone before it is wanted
		s.d.wantRoom.want()
	}
	if waiting := len(out); waiting > 0 {
		for n := waiting; n > 0 && len(s.workers)-s.paused < s.d.target; n-- {
			s.startWorker()
		}
		s.watch()
	}
}

// startWorker starts a worker, if there may be one more.
func (s *scheduler) startWorker() {
	if len(s.workers) >= mostWorkers {
		return
	}
	w := new(worker)
	w.begin(s.d)
	w.leaving.msg = event{kind: left, by: w}
	s.workers[w] = struct{}{}
	s.gone.Wakes++
	go w.run()
}

// watch sets the timer.
func (s *scheduler) watch() {
	if s.ticking || s.stopping {
		return
	}
	s.d.wantKept.drop()
	s.ticking = true
	s.seen = s.taken()
	if s.timer == nil {
		s.timer = time.AfterFunc(period, func() { s.d.send(&s.tick) })
	} else {
		s.timer.Reset(period)
	}
}

// taken returns how many actors workers have taken from the outbox.
func (s *scheduler) taken() uint64 { return s.sent - uint64(len(s.d.outbox)) }

// watchdog looks whether workers make progress.
func (s *scheduler) watchdog() {
	// What a worker has kept and not reached since the last tick others may run.
	kept := false
	for w := range s.workers {
		b := w.next.Load()
		invariants.Window() // the worker may reach it now
		if b != nil && b == w.seen && w.next.CompareAndSwap(b, nil) {
			s.push(&b.event)
			b = nil
		}
		w.seen = b
		kept = kept || b != nil
	}
	waiting := len(s.d.outbox)
	if s.seen == s.taken() {
		// No goroutine has taken anything for a whole period: if any waits, all workers are busy
		// with long turns, or blocked.
		for range min(s.d.target, waiting) {
			s.startWorker()
		}
	}
	if kept || waiting > 0 || s.oldest != nil {
		s.watch()
		return
	}
	invariants.Window() // a worker may keep an actor before that is wanted to be known
	s.d.wantKept.want()
	for w := range s.workers {
		if w.next.Load() != nil { // it may not have seen that
			s.watch()
			return
		}
	}
}
