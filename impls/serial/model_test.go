package serial_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/task"
)

// op is a step of a program: of what a task does, or of what is done outside.
type op struct {
	kind opKind
	n    int // whom it is done to: the one with the number n modulo the number there is; a limit; or which program
}

type opKind int

const (
	opYield  opKind = iota // outside: Flush(n)
	opStart                // program n
	opWait                 // with the task's own context
	opLeave                // wait with a context that opStop ends
	opStop                 // ends the context of that task
	opCancel               // another task
	opError                // return an error
	opPanic
	opGoexit
)

// program is an outside part and what each kind of task does. A program starts
// only programs with larger numbers, so that it ends.
type program struct {
	outside []op
	bodies  [][]op
}

func randomProgram(rng *rand.Rand) (p program) {
	p.bodies = make([][]op, 2+rng.IntN(4))
	for i := range p.bodies {
		for range rng.IntN(6) {
			k := []opKind{opYield, opYield, opStart, opStart, opWait, opWait, opWait, opLeave, opStop, opCancel}[rng.IntN(10)]
			if k == opStart && i == len(p.bodies)-1 {
				k = opYield
			}
			o := op{k, rng.IntN(100)}
			if k == opStart {
				o.n = i + 1 + rng.IntN(len(p.bodies)-i-1)
			}
			p.bodies[i] = append(p.bodies[i], o)
		}
		if rng.IntN(4) == 0 {
			p.bodies[i] = append(p.bodies[i], op{opError + opKind(rng.IntN(3)), 0})
		}
	}
	for range 2 + rng.IntN(10) {
		k := []opKind{opStart, opStart, opStart, opYield, opWait, opCancel}[rng.IntN(6)]
		o := op{k, rng.IntN(100)}
		switch k {
		case opStart:
			o.n = rng.IntN(len(p.bodies))
		case opYield:
			o.n = 1 + rng.IntN(8)
		}
		p.outside = append(p.outside, o)
	}
	return p
}

// execution is a program in progress on a real executor.
type execution struct {
	p     program
	x     *serial.Executor
	log   []string
	tasks int                     // that were started
	known []*task.Handle          // of whom there is a handle already, in that order
	stops map[*task.Handle]func() // the last context that the task has waited with
	ids   map[*task.Handle]int    // of all in known
}

func (y *execution) note(format string, args ...any) {
	y.log = append(y.log, fmt.Sprintf(format, args...))
}

func (y *execution) know(h *task.Handle, id int) {
	if y.ids[h] == 0 {
		y.ids[h] = id
		y.known = append(y.known, h)
	}
}

func (y *execution) start(ctx context.Context, body int) (id int) {
	y.tasks++
	id = y.tasks
	fn := func(ctx context.Context) (int, error) {
		y.know(task.Current(ctx), id)
		return id, y.run(ctx, id, body)
	}
	var f *task.Future[int]
	if task.Current(ctx) == nil {
		f = task.Go(y.x, fn)
	} else {
		f = task.Fork(ctx, fn)
	}
	y.know(f.Handle(), id)
	return id
}

func (y *execution) run(ctx context.Context, id, body int) error {
	y.note("%d: begins", id)
	for _, o := range y.p.bodies[body] {
		h := y.known[o.n%len(y.known)]
		switch o.kind {
		case opYield:
			_ = task.Yield(ctx)
			y.note("%d: has yielded", id)
		case opStart:
			y.note("%d: has started %d", id, y.start(ctx, o.n))
		case opWait:
			y.note("%d: waited for %d: %s", id, y.ids[h], outcome(h.Wait(ctx)))
		case opLeave:
			derived, stop := context.WithCancel(ctx)
			y.stops[task.Current(ctx)] = stop
			y.note("%d: waited for %d: %s", id, y.ids[h], outcome(h.Wait(derived)))
			stop()
		case opStop:
			if stop := y.stops[h]; stop != nil {
				stop()
			}
		case opCancel:
			if h != task.Current(ctx) { // then a waiter outside goes on at once
				y.note("%d: canceled %d: %v", id, y.ids[h], h.Cancel())
			}
		case opError:
			return errors.New("error")
		case opPanic:
			panic("panic")
		case opGoexit:
			runtime.Goexit()
		}
	}
	y.note("%d: ends", id)
	return nil
}

// outcome is an error as the model knows it.
func outcome(err error) string {
	var (
		cycle  *task.CycleError
		failed *task.Error
	)
	switch {
	case err == nil:
		return "resolved"
	case errors.As(err, &failed) && failed.Cause == context.Canceled:
		return "canceled"
	case errors.As(err, &failed):
		return "failed"
	case errors.As(err, &cycle):
		return fmt.Sprint("circle ", cycle.Tasks)
	}
	return err.Error()
}

// play runs p and returns what was seen, in order.
func (p program) play(s serial.Schedule) []string {
	y := &execution{
		p: p, x: serial.NewExecutorWith(serial.ExecutorConfig{Schedule: s}),
		stops: map[*task.Handle]func(){}, ids: map[*task.Handle]int{},
	}
	for _, o := range p.outside {
		var h *task.Handle
		if len(y.known) > 0 {
			h = y.known[o.n%len(y.known)]
		}
		switch {
		case o.kind == opStart:
			y.start(context.Background(), o.n)
		case o.kind == opYield:
			y.note("flushed %d", y.x.Flush(o.n))
		case h == nil:
		case o.kind == opWait:
			y.note("waited for %d: %s", y.ids[h], outcome(h.Wait(context.Background())))
		case o.kind == opCancel:
			y.note("canceled %d: %v", y.ids[h], h.Cancel())
		}
		y.note("%d pending", y.x.Pending())
	}
	y.note("flushed %d", y.x.Flush(1<<30))
	for _, h := range y.known {
		y.note("%d is %v", y.ids[h], h.Status())
	}
	return y.log
}

// model is a program in progress as the rules of the package comment say, without
// goroutines: what a task is doing is a counter.
type model struct {
	p       program
	fine    bool            // every order but FIFO
	choices []serial.Choice // what the real one has chosen
	log     []string
	tasks   []*modelTask // by number, less 1
	known   []*modelTask
	ready   []*modelTask
	polled  []*modelTask // who waits, in the order in which their contexts are looked at
	target  *modelTask   // of a Wait outside
	limit   int          // of a Flush
	steps   int
	wrong   string // the first choice that is not as recorded
}

type modelTask struct {
	id, body, pc int
	begun        bool
	status       task.Status
	resumed      bool   // it is in the middle of an op
	err          string // what the wait in the middle of which it is has returned
	child        *modelTask
	awaits       *modelTask
	waiters      []*modelTask
	stopped      bool // the context that it waits with was ended
	own          bool // it waits with its own
	isKnown      bool
}

func (m *model) note(format string, args ...any) { m.log = append(m.log, fmt.Sprintf(format, args...)) }

func (m *model) know(t *modelTask) {
	if !t.isKnown {
		t.isKnown = true
		m.known = append(m.known, t)
	}
}

func (m *model) start(body int) *modelTask {
	t := &modelTask{id: len(m.tasks) + 1, body: body}
	m.tasks = append(m.tasks, t)
	m.ready = append(m.ready, t)
	return t
}

func without(ts []*modelTask, t *modelTask) []*modelTask {
	return slices.DeleteFunc(ts, func(o *modelTask) bool { return o == t })
}

func (m *model) pending() (n int) {
	for _, t := range m.tasks {
		if t.status == task.Pending {
			n++
		}
	}
	return n
}

// drive takes turns until no task wants more.
func (m *model) drive() {
	for {
		for range min(2, len(m.polled)) {
			t := m.polled[0]
			m.polled = m.polled[1:]
			if t.stopped || t.status != task.Pending {
				t.awaits.waiters = without(t.awaits.waiters, t)
				t.awaits, t.err = nil, "context canceled"
				m.ready = append(m.ready, t)
				continue
			}
			m.polled = append(m.polled, t)
		}
		if len(m.ready) == 0 || m.target == nil && m.steps == m.limit || m.target != nil && m.target.status != task.Pending {
			return
		}
		i := 0
		if len(m.choices) > 0 {
			c := m.choices[0]
			m.choices = m.choices[1:]
			i = c.Index
			if c.Ready != len(m.ready) || c.Who != fmt.Sprint("task ", m.ready[i].id) {
				m.wrong = fmt.Sprintf("the choice was %v, of %d, number %d is %d", c, len(m.ready), i, m.ready[i].id)
				return
			}
		}
		t := m.ready[i]
		m.ready = slices.Delete(m.ready, i, i+1)
		m.turn(t)
		if m.wrong != "" {
			return
		}
	}
}

// settle gives t its final state.
func (m *model) settle(t *modelTask, s task.Status) {
	t.status = s
	for _, w := range t.waiters {
		w.awaits, w.err = nil, result(t)
		m.polled = without(m.polled, w)
	}
	m.ready = append(slices.Clone(t.waiters), m.ready...)
	t.waiters = nil
}

func result(t *modelTask) string { return t.status.String() }

func (m *model) cancel(t *modelTask) bool {
	if t.status != task.Pending {
		return false
	}
	m.settle(t, task.Cancelled)
	if !t.begun {
		m.ready = without(m.ready, t)
	}
	if t.awaits != nil {
		m.polled = append([]*modelTask{t}, without(m.polled, t)...)
	}
	return true
}

// turn runs t until it hands the baton on.
func (m *model) turn(t *modelTask) {
	if !t.begun {
		t.begun = true
		m.know(t)
		m.note("%d: begins", t.id)
	}
	end := func(s task.Status) {
		if t.status == task.Pending {
			m.settle(t, s)
		}
		m.steps++
	}
	for ; t.pc < len(m.p.bodies[t.body]); t.pc++ {
		o := m.p.bodies[t.body][t.pc]
		to := m.known[o.n%len(m.known)]
		resumed := t.resumed
		t.resumed = false
		switch o.kind {
		case opYield:
			if !resumed {
				t.resumed = true
				m.steps++
				m.ready = append(m.ready, t)
				return
			}
			m.note("%d: has yielded", t.id)
		case opStart:
			if !resumed {
				t.child = m.start(o.n)
				if m.fine {
					t.resumed = true
					m.ready = append([]*modelTask{t}, m.ready...)
					return
				}
			}
			m.know(t.child)
			m.note("%d: has started %d", t.id, t.child.id)
		case opWait, opLeave:
			if !resumed {
				t.child = to
				if !m.wait(t, to, o.kind == opWait) {
					t.resumed = true
					return
				}
			}
			m.note("%d: waited for %d: %s", t.id, t.child.id, t.err)
		case opStop:
			if to.awaits != nil && !to.own {
				to.stopped = true
			}
		case opCancel:
			if to != t {
				m.note("%d: canceled %d: %v", t.id, to.id, m.cancel(to))
			}
		default:
			end(task.Failed)
			return
		}
	}
	m.note("%d: ends", t.id)
	end(task.Resolved)
}

// wait is the beginning of a wait, and reports whether it is its end, too.
func (m *model) wait(t, to *modelTask, own bool) bool {
	circle := []int{t.id}
	for o := to; o != nil && o != t; o = o.awaits {
		circle = append(circle, o.id)
		if o.awaits == nil {
			circle = nil
		}
	}
	switch {
	case to.status != task.Pending:
		t.err = result(to)
	case t.status != task.Pending:
		t.err = "context canceled"
	case circle != nil:
		t.err = fmt.Sprint("circle ", circle)
	default:
		if !to.begun {
			m.ready = append([]*modelTask{to}, without(m.ready, to)...)
		}
		t.awaits, t.own, t.stopped = to, own, false
		to.waiters = append(to.waiters, t)
		m.polled = append(m.polled, t)
		return false
	}
	return true
}

// play returns what p does by the rules, and what is wrong with the choices.
func (m *model) play() {
	for _, o := range m.p.outside {
		var t *modelTask
		if len(m.known) > 0 {
			t = m.known[o.n%len(m.known)]
		}
		switch {
		case o.kind == opStart:
			m.know(m.start(o.n))
		case o.kind == opYield:
			m.flush(o.n)
		case t == nil:
		case o.kind == opWait:
			if t.status == task.Pending {
				m.target = t
				m.drive()
				m.target = nil
			}
			m.note("waited for %d: %s", t.id, result(t))
		case o.kind == opCancel:
			m.note("canceled %d: %v", t.id, m.cancel(t))
		}
		m.note("%d pending", m.pending())
	}
	m.flush(1 << 30)
	for _, t := range m.known {
		m.note("%d is %v", t.id, t.status)
	}
}

func (m *model) flush(limit int) {
	m.limit, m.steps = limit, 0
	m.drive()
	m.note("flushed %d", m.steps)
}

// What random programs do is what the rules say, whatever the order.
func TestModel(t *testing.T) {
	programs := 20_000
	if testing.Short() {
		programs = 2_000
	}
	longest := 0
	for seed := range uint64(programs) {
		rng := rand.New(rand.NewPCG(seed, 5))
		p := randomProgram(rng)
		s := serial.Schedule{Order: serial.Order(rng.IntN(3)), Seed: seed, Depth: 1 + rng.IntN(4), Steps: 40}
		m := &model{p: p, fine: s.Order != serial.FIFO}
		s.Record = func(c serial.Choice) { m.choices = append(m.choices, c) }
		got := p.play(s)
		longest = max(longest, len(m.choices))
		m.play()
		if m.wrong != "" || len(m.choices) > 0 || !slices.Equal(got, m.log) {
			i := 0
			for i < min(len(got), len(m.log)) && got[i] == m.log[i] {
				i++
			}
			t.Fatalf("seed %d, order %d: %s; %d choices were not expected\n%+v\nboth:\n\t%s\nreal:\n\t%s\nmodel:\n\t%s", seed, s.Order, m.wrong, len(m.choices), p,
				strings.Join(got[:i], "\n\t"), strings.Join(got[i:], "\n\t"), strings.Join(m.log[i:], "\n\t"))
		}
	}
	t.Logf("%d programs, of up to %d choices", programs, longest)
}
