package conformtest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/task"
)

// follow is what a package that explores writes once: the schedule in the
// scheduler's words.
func follow(s *Schedule) serial.Schedule {
	return serial.Schedule{
		Order:   map[Strategy]serial.Order{Replay: serial.Replay, Walk: serial.Seeded, PCT: serial.PCT}[s.Strategy],
		Seed:    s.Seed,
		Depth:   s.Depth,
		Steps:   s.Steps,
		Choices: s.Choices,
		Record:  func(c serial.Choice) { s.Record(c.Ready, c.Index, c.Who) },
	}
}

// computer is a memory and the processes that share it. Every access is a step:
// the process yields before it. So a concurrent program is modelled in as few
// lines as it is explained in, and the scheduler decides the rest.
type computer struct {
	ex        task.Executor
	note      func(string)
	processes []*process
	finally   func() error // is asked when all processes are over
	fault     error        // the first one
}

// process is a sequential program. Its code runs in a coroutine, since a process
// that is blocked must not be ready: its task ends, and who wakes it starts
// another one that goes on.
type process struct {
	m      *computer
	name   string
	resume func() (blocked, more bool)
	stop   func()
	yield  func(blocked bool) bool
	on     string // what it is blocked on
	over   bool
}

// errAbandoned ends a coroutine that is blocked for ever.
var errAbandoned = errors.New("abandoned")

// process adds a process.
func (m *computer) process(name string, body func(p *process)) {
	p := &process{m: m, name: name}
	p.resume, p.stop = iter.Pull(func(yield func(bool) bool) {
		defer func() {
			if v := recover(); v != nil && v != errAbandoned {
				m.fail("%s panicked: %v", name, v)
			}
		}()
		p.yield = yield
		body(p)
	})
	m.processes = append(m.processes, p)
	p.turn() // up to its first access
	if m.ex != nil {
		p.start()
	}
}

func (m *computer) fail(format string, args ...any) {
	if m.fault == nil {
		m.fault = fmt.Errorf(format, args...)
	}
}

// maxSteps bounds a run: what takes longer is a livelock.
const maxSteps = 5000

// run runs the processes on ex and returns what went wrong.
func (m *computer) run(ex task.Executor, note func(string)) error {
	m.ex, m.note = ex, note
	for _, p := range m.processes {
		p.start()
	}
	defer ex.Close()
	steps := ex.Flush(maxSteps)
	var hang []string
	for _, p := range m.processes {
		if !p.over {
			hang = append(hang, p.name+" is blocked on "+p.on)
		}
		p.stop()
	}
	switch {
	case m.fault != nil:
	case steps == maxSteps:
		m.fail("not over after %d steps", steps)
	case hang != nil:
		m.fail("hangs: %s", strings.Join(hang, ", "))
	case m.finally != nil:
		m.fault = m.finally()
	}
	return m.fault
}

// start makes the process ready.
func (p *process) start() {
	task.Start(p.m.ex, func(ctx context.Context) error {
		for p.turn() {
			if err := task.Yield(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// turn lets the process go on up to its next access, and reports whether it is
// ready to make that.
func (p *process) turn() bool {
	blocked, more := p.resume()
	p.over = !more
	return more && !blocked
}

func (p *process) give(blocked bool) {
	if !p.yield(blocked) {
		panic(errAbandoned)
	}
}

// step is to be called before an access to the memory, and note after it.
func (p *process) step() { p.give(false) }

func (p *process) note(format string, args ...any) {
	p.m.note(p.name + " " + fmt.Sprintf(format, args...))
}

// work takes n steps that have no effect.
func (p *process) work(n int) {
	for range n {
		p.step()
		p.note("works")
	}
}

// word is a word of the memory.
type word struct {
	name string
	v    int
}

func (p *process) load(w *word) int {
	p.step()
	p.note("loads %s: %d", w.name, w.v)
	return w.v
}

func (p *process) store(w *word, v int) {
	p.step()
	w.v = v
	p.note("stores %s: %d", w.name, v)
}

// add adds atomically, and returns the sum.
func (p *process) add(w *word, d int) int {
	p.step()
	w.v += d
	p.note("adds %d to %s: %d", d, w.name, w.v)
	return w.v
}

// cas stores v if the word is old, atomically.
func (p *process) cas(w *word, old, v int) bool {
	p.step()
	if w.v != old {
		p.note("finds %s not %d but %d", w.name, old, w.v)
		return false
	}
	w.v = v
	p.note("changes %s from %d to %d", w.name, old, v)
	return true
}

// queue is where processes are blocked, in the order in which they came.
type queue struct {
	name    string
	waiting []*process
}

// park blocks until there is a signal: a signal that came before is lost.
func (p *process) park(q *queue) {
	p.step()
	p.block(q)
}

func (p *process) block(q *queue) {
	p.note("blocks on %s", q.name)
	q.waiting = append(q.waiting, p)
	p.on = q.name
	p.give(true)
}

// signal wakes the one who has been blocked longest, if there is one.
func (p *process) signal(q *queue) {
	p.step()
	p.wake(q, 1)
}

func (p *process) wake(q *queue, n int) {
	for ; n > 0 && len(q.waiting) > 0; n-- {
		p.note("wakes %s", q.waiting[0].name)
		q.waiting[0].start()
		q.waiting = q.waiting[1:]
	}
}

// mutex is a lock. Who is woken has to try again.
type mutex struct {
	queue
	held bool
}

func (p *process) lock(mu *mutex) {
	p.step()
	p.acquire(mu)
}

func (p *process) acquire(mu *mutex) {
	for mu.held {
		p.block(&mu.queue)
	}
	mu.held = true
	p.note("locks %s", mu.name)
}

func (p *process) unlock(mu *mutex) {
	p.step()
	p.release(mu)
}

func (p *process) release(mu *mutex) {
	mu.held = false
	p.note("unlocks %s", mu.name)
	p.wake(&mu.queue, 1)
}

// wait unlocks the mutex and blocks, in one step, and locks it again afterwards,
// as sync.Cond does.
func (p *process) wait(q *queue, mu *mutex) {
	p.step()
	p.release(mu)
	p.block(q)
	p.acquire(mu)
}
