package serial

import (
	"github.com/dynolab/dyno/internal/invariants"
	"github.com/dynolab/dyno/task"
)

// coroutine is a goroutine that runs tasks. It does so only while it has the
// baton.
type coroutine struct {
	x     *Executor
	baton chan struct{} // capacity 1; a token is the baton
	j     *job          // the task in progress on it, or nil
	next  *coroutine    // in the list of idle ones
}

// pass hands the baton on from the coroutine of j, on which it is called, and
// returns when that has it again. mu is held, and released.
func (x *Executor) pass(j *job) {
	co := j.co
	to := x.hand()
	x.mu.Unlock()
	if to == co {
		return
	}
	to.run()
	<-co.baton
}

// run gives co the baton, or does nothing if it is nil. mu is not held.
func (co *coroutine) run() {
	if co != nil {
		co.baton <- struct{}{}
	}
}

// hand chooses the next task and returns the coroutine that is to have the baton,
// with the task in it; nil if there is none. mu is held.
func (x *Executor) hand() *coroutine {
	h := x.choose()
	if h == nil {
		return nil
	}
	j := x.job(h)
	if j.co == nil {
		co := x.idle
		if co == nil {
			co = &coroutine{x: x, baton: make(chan struct{}, 1)}
			go co.live()
		} else {
			x.idle, co.next = co.next, nil // or a long task keeps coroutines that have ended, each the next one
			x.idles--
		}
		co.j, j.co = j, co
	}
	return j.co
}

// choose takes the next task out of the queue. If there is none, or no caller demands
// it, it returns nil, and no goroutine has the baton any longer. mu is held.
func (x *Executor) choose() *task.Handle {
	x.turns++
	x.stalled = nil
	for _, w := range x.late {
		x.answer(w, nil)
	}
	clear(x.late)
	x.late = x.late[:0]
	x.poll()
	if len(x.patrons) == 0 || x.ready.Len() == 0 {
		x.rest()
		return nil
	}
	h := x.ready.Oldest()
	if x.sched != nil {
		for i := x.sched.choose((*readyTasks)(x)); i > 0; i-- {
			h = h.Room().Link
		}
	}
	x.ready.Remove(h)
	x.current = h
	x.watch()
	return h
}

// rest is what is done when no goroutine has the baton any longer. mu is held.
func (x *Executor) rest() {
	x.running, x.current = false, nil
	for len(x.patrons) > 0 { // nothing is ready
		if invariants.Enabled && x.patrons[0] != x.flush {
			invariants.Violated("serial", "if nothing is ready, nothing is waited for")
		}
		x.dispel(x.patrons[0], task.ErrDeadlock)
	}
	for co := x.idle; co != nil; co = x.idle {
		x.idle, co.next = co.next, nil
		co.run() // without a task: it ends
	}
	x.idles = 0
	if x.ready.Len() == 0 {
		x.watchdog.disarm() // there is nothing to be done
	}
}

// live is the life of the coroutine.
func (co *coroutine) live() {
	<-co.baton
	defer func() {
		if co.j != nil { // its task has called Goexit: it ends, and another one goes on
			co.x.mu.Lock()
			co.x.finish(co, task.Failed)
			to := co.x.hand()
			co.x.mu.Unlock()
			to.run()
		}
	}()
	for co.j != nil {
		s := co.j.h.Run()
		co.x.next(co, s)
	}
}

// finish books that the task on co has ended in state s, unless it was canceled
// before. mu is held.
func (x *Executor) finish(co *coroutine, s task.Status) {
	j := co.j
	co.j = nil
	if x.Status(j.h) == task.Pending {
		x.settle(j.h, s)
	}
	x.release(j)
	x.stepped()
}

// next finishes the task on co and hands the baton on: to co itself with another
// task, if that is one that has not begun. It returns when co has a task again, or
// is to end. mu is not held.
func (x *Executor) next(co *coroutine, s task.Status) {
	x.mu.Lock()
	x.finish(co, s)
	co.next = x.idle
	x.idle = co
	x.idles++
	to := x.hand()
	if to == co {
		x.mu.Unlock()
		return
	}
	keep := x.idles <= maxIdle
	if !keep {
		x.idle = co.next
		x.idles--
	}
	x.mu.Unlock()
	to.run()
	if keep {
		<-co.baton
	}
}
