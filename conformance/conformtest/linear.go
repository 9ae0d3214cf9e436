package conformtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/group"
)

// The linearizability check: a few goroutines make a few calls each, without
// any order among them, and a history records when each call began and
// returned and with what. The history is right if there is an order of the
// calls, in which each takes effect at one moment between its beginning and
// its return, that the contract allows. porcupine looks for that order.
//
// That a task completes is an operation, too, without a caller: it begins with the
// last act of the task and has no end but that of the call that took the
// result. So the model need not guess.
//
// Wait that returns a cause is two operations: it finds no task in flight, and
// it finds the cause. The contract does not say that both are one moment, and
// an implementation whose context is cancelled past its other state keeps it.

// linOp is what an operation of a history does.
type linOp int

const (
	linGo     linOp = iota // id is accepted, or refused
	linEnd                 // the task id completes, with an error if fails
	linNext                // a result, the drain, or the end of the caller's context
	linWait                // finds no task in flight; returns nil, the error of a task, or a cause
	linCause               // the cause that a Wait returns is set
	linCancel              // with cause id
	linClose
)

type linInput struct {
	op    linOp
	id    int // task or, for linCancel, cause
	fails bool

	// before holds, for linEnd, the tasks whose results were taken before
	// this one's: see bound.
	before uint32
}

// linOutput is what a call returned. Results, errors and causes are numbers;
// 0 is none.
type linOutput struct {
	refused bool // Go returned ErrGroupClosed
	kind    int  // of Next: 0 the drain, 1 a result, 2 its context's end
	id      int  // the result's task
	err     int  // of Wait: 0 nil, n>0 the error of task n, n<0 cause -n
}

// linState is the state of the contract: sets as bits, so that it can be
// compared.
type linState struct {
	inflight uint32
	ended    uint32 // completed, whether or not taken
	queue    [maxLinTasks]int8
	queued   int
	closed   bool
	settled  bool
	first    int // error of which task; 0 none
	cause    int // 0 none
	limit    int
	count    int // in flight
}

const maxLinTasks = 16

func (s linState) settle() linState {
	if s.closed && s.inflight == 0 {
		s.settled = true
	}
	return s
}

// linStep says whether the contract allows that in returned out in state s,
// and what the state is then.
func linStep(s linState, in linInput, out linOutput) (bool, linState) {
	switch in.op {
	case linGo:
		if out.refused {
			return s.closed, s
		}
		if s.closed || s.limit > 0 && s.count >= s.limit {
			return false, s
		}
		s.inflight |= 1 << in.id
		s.count++
	case linEnd:
		if s.inflight&(1<<in.id) == 0 || in.before&^s.ended != 0 {
			return false, s
		}
		s.inflight &^= 1 << in.id
		s.ended |= 1 << in.id
		s.count--
		s.queue[s.queued] = int8(in.id)
		s.queued++
		if in.fails && s.first == 0 {
			s.first = in.id
		}
		s = s.settle()
	case linNext:
		switch {
		case out.kind == 1:
			if s.queued == 0 || int(s.queue[0]) != out.id {
				return false, s
			}
			copy(s.queue[:], s.queue[1:])
			s.queue[maxLinTasks-1] = 0
			s.queued--
		case out.kind == 0:
			return s.settled && s.queued == 0, s
		default:
			return s.queued == 0 && !s.settled, s
		}
	case linWait:
		want := s.first
		if want == 0 {
			want = -s.cause
			if out.err < 0 {
				want = out.err // linCause looks at it
			}
		}
		return s.count == 0 && out.err == want, s
	case linCause:
		return s.cause == -out.err, s
	case linCancel:
		if s.cause == 0 && !s.settled {
			s.cause = in.id
		}
	case linClose:
		s.closed = true
		s = s.settle()
	}
	return true, s
}

func linModel(limit int) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return linState{limit: limit} },
		Step: func(state, in, out any) (bool, any) {
			return linStep(state.(linState), in.(linInput), out.(linOutput))
		},
		Equal: func(a, b any) bool { return a.(linState) == b.(linState) },
	}
}

// describe renders a history for a failure, in the order of the beginnings.
func describe(history []porcupine.Operation) string {
	names := [...]string{"Go", "task ends", "Next", "Wait", "the cause of that", "Cancel", "Close"}
	ops := slices.Clone(history)
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b strings.Builder
	for _, o := range ops {
		in, out := o.Input.(linInput), o.Output.(linOutput)
		fmt.Fprintf(&b, "\n  goroutine %d, %d–%d: %s", o.ClientId, o.Call, o.Return, names[in.op])
		switch in.op {
		case linGo:
			fmt.Fprintf(&b, " task %d, refused: %v", in.id, out.refused)
		case linEnd:
			fmt.Fprintf(&b, ": %d, with an error: %v", in.id, in.fails)
		case linNext:
			b.WriteString([]string{": the drain", fmt.Sprintf(": result of %d", out.id), ": its context ended"}[out.kind])
		case linWait, linCause:
			fmt.Fprintf(&b, ": %d (0 nil, n error of task n, -n cause n)", out.err)
		case linCancel:
			fmt.Fprintf(&b, " with cause %d", in.id)
		}
	}
	return b.String()
}

// recording is a history while it is made.
type recording struct {
	clock atomic.Int64
	mu    sync.Mutex
	ops   []porcupine.Operation
	err   error // a call that returned what no call may
}

// do makes a call and records it.
func (r *recording) do(client int, in linInput, f func() (linOutput, error)) (begun, ended int64, out linOutput) {
	begun = r.clock.Add(1)
	out, err := f()
	ended = r.clock.Add(1)
	r.add(porcupine.Operation{ClientId: client, Input: in, Output: out, Call: begun, Return: ended}, err)
	return begun, ended, out
}

func (r *recording) add(o porcupine.Operation, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = errors.Join(r.err, err)
	r.ops = append(r.ops, o)
}

// causeError is the cause of a Cancel, by its number.
type causeError struct{ n int }

func (e *causeError) Error() string { return fmt.Sprintf("cause %d", e.n) }

// record makes a history: clients goroutines, each calls times.
func record(e *conformance.Env, seed uint64) (history []porcupine.Operation, limit int, err error) {
	const clients, calls = 3, 4
	rng := rand.New(rand.NewPCG(seed, 2))
	limit = rng.IntN(3)
	g := e.Impl.NewGroup(context.Background(), group.WithMaxConcurrency(limit), group.WithFailFast(false))
	if !e.Impl.Promises.Eager {
		limit = 0 // Go never blocks there
	}
	rec := &recording{}
	tasks := 0
	var clientsDone sync.WaitGroup
	start := make(chan struct{})
	for c := range clients {
		var todo []func()
		for range calls {
			switch rng.IntN(10) {
			case 0, 1, 2, 3:
				tasks++
				todo = append(todo, rec.goTask(g, c, tasks, rng.IntN(3) == 0))
			case 4, 5:
				todo = append(todo, rec.next(g, c, false))
			case 6, 7:
				todo = append(todo, rec.next(g, c, true))
			case 8:
				todo = append(todo, rec.wait(g, c))
			case 9:
				if rng.IntN(2) == 0 {
					todo = append(todo, rec.cancel(g, c, 1+c))
				} else {
					todo = append(todo, rec.close(g, c))
				}
			}
		}
		clientsDone.Add(1)
		go func() {
			defer clientsDone.Done()
			<-start
			for _, f := range todo {
				f()
			}
		}()
	}
	close(start)
	// Some may wait for what will not be done any more: closing lets all go. A
	// blocked Go on a group that runs on demand waits for a consumer: there is
	// none left but this one.
	e.Settle()
	rec.close(g, clients)()
	clientsDone.Wait()
	for drained := false; !drained; {
		rec.do(clients, linInput{op: linNext}, func() (linOutput, error) {
			out, err := next(g, context.Background())
			drained = out.kind == 0 || err != nil
			return out, err
		})
	}
	rec.wait(g, clients)()
	rec.mu.Lock()
	defer rec.mu.Unlock()
	bound(rec.ops, rec.clock.Add(1))
	return rec.ops, limit, rec.err
}

// bound gives completions what is known about them, so that the search need not
// try what must fail later; without it some histories take seconds. A
// completion comes before the return of the call that took the result, at the
// latest at end. And as results are taken in the order of completion, it comes
// after those whose results were taken by calls that had returned when the one
// that took this result began.
func bound(history []porcupine.Operation, end int64) {
	takes := map[int]porcupine.Operation{} // the first call that took the result of a task
	for _, o := range history {
		out := o.Output.(linOutput)
		if o.Input.(linInput).op != linNext || out.kind != 1 {
			continue
		}
		if first, ok := takes[out.id]; !ok || o.Return < first.Return {
			takes[out.id] = o
		}
	}
	for i, o := range history {
		in := o.Input.(linInput)
		if in.op != linEnd {
			continue
		}
		history[i].Return = end
		take, ok := takes[in.id]
		if !ok {
			continue
		}
		if take.Return > o.Call { // or it was taken before its task ended, which is for the check to find
			history[i].Return = take.Return
		}
		for id, earlier := range takes {
			if earlier.Return < take.Call {
				in.before |= 1 << id
			}
		}
		history[i].Input = in
	}
}

func (r *recording) goTask(g group.Group[int], client, id int, fails bool) func() {
	task := func(context.Context) (int, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ops = append(r.ops, porcupine.Operation{
			ClientId: -1, Input: linInput{op: linEnd, id: id, fails: fails}, Output: linOutput{}, Call: r.clock.Add(1),
		})
		if fails {
			return id, &taskError{id}
		}
		return id, nil
	}
	return func() {
		r.do(client, linInput{op: linGo, id: id}, func() (linOutput, error) {
			switch err := g.Go(task); err {
			case nil:
				return linOutput{}, nil
			case group.ErrGroupClosed:
				return linOutput{refused: true}, nil
			default:
				return linOutput{}, fmt.Errorf("Go returned %w", err)
			}
		})
	}
}

func (r *recording) next(g group.Group[int], client int, try bool) func() {
	return func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		if try {
			cancel()
		}
		r.do(client, linInput{op: linNext}, func() (linOutput, error) { return next(g, ctx) })
	}
}

func next(g group.Group[int], ctx context.Context) (linOutput, error) {
	switch res, ok, err := g.Next(ctx); {
	case ok && err == nil:
		id, err := identify(res)
		return linOutput{kind: 1, id: id}, err
	case !ok && err == nil:
		return linOutput{}, nil
	case !ok && err == context.Canceled && ctx.Err() != nil:
		return linOutput{kind: 2}, nil
	default:
		return linOutput{}, fmt.Errorf("Next returned (%v, %v, %v)", res, ok, err)
	}
}

func (r *recording) wait(g group.Group[int], client int) func() {
	return func() {
		begun, ended, out := r.do(client, linInput{op: linWait}, func() (linOutput, error) {
			err := g.Wait()
			var te *taskError
			var ce *causeError
			switch {
			case err == nil:
				return linOutput{}, nil
			case errors.As(err, &te):
				return linOutput{err: te.task}, nil
			case errors.As(err, &ce):
				return linOutput{err: -ce.n}, nil
			default:
				return linOutput{}, fmt.Errorf("Wait returned %w", err)
			}
		})
		if out.err < 0 {
			r.add(porcupine.Operation{ClientId: client, Input: linInput{op: linCause}, Output: out, Call: begun, Return: ended}, nil)
		}
	}
}

func (r *recording) cancel(g group.Group[int], client, cause int) func() {
	return func() {
		r.do(client, linInput{op: linCancel, id: cause}, func() (linOutput, error) {
			g.Cancel(&causeError{cause})
			return linOutput{}, nil
		})
	}
}

func (r *recording) close(g group.Group[int], client int) func() {
	return func() {
		r.do(client, linInput{op: linClose}, func() (linOutput, error) {
			g.Close()
			return linOutput{}, nil
		})
	}
}

// checkLinearizable looks at histories of groups.
func checkLinearizable(t *testing.T, s *suite) outcome {
	return s.linearizable(t, "group", func(e *conformance.Env, seed uint64) (recorded, error) {
		history, limit, err := record(e, seed)
		return recorded{history, linModel(limit), func(history []porcupine.Operation) string {
			return fmt.Sprintf(" (limit %d)%s", limit, describe(history))
		}}, err
	})
}

// recorded is a history, with what decides it and shows it.
type recorded struct {
	history  []porcupine.Operation
	model    porcupine.Model
	describe func(history []porcupine.Operation) string // for a failure
}

// linearizable records and decides as many histories as the settings say.
func (s *suite) linearizable(t *testing.T, contract string, record func(e *conformance.Env, seed uint64) (recorded, error)) outcome {
	undecided := 0
	for i := range s.set.hists {
		seed := s.set.seedOf(i)
		var r recorded
		err := s.try(t, func(e *conformance.Env) (err error) {
			r, err = record(e, seed)
			return err
		}, seed)
		if err != nil {
			return outcome{err: err, seed: seed}
		}
		switch porcupine.CheckOperationsTimeout(r.model, r.history, 5*time.Second) {
		case porcupine.Illegal:
			return outcome{err: fmt.Errorf("no order of these calls is allowed:%s", r.describe(r.history)), seed: seed}
		case porcupine.Unknown:
			undecided++
		}
	}
	return linOutcome(contract, s.set.hists, undecided)
}

// linOutcome is the outcome of n histories of which none was illegal.
func linOutcome(contract string, n, undecided int) outcome {
	notes := []string{fmt.Sprintf("conform-metric: clause=%s/linearizable histories=%d decided=%d undecided=%d", contract, n, n-undecided, undecided)}
	if undecided > 0 {
		return outcome{skip: fmt.Sprintf("unknown: %d of %d histories were not decided in time", undecided, n), notes: notes, undecided: undecided}
	}
	return outcome{notes: notes}
}

// taskError is the error of a task, by its number.
type taskError struct{ task int }

func (e *taskError) Error() string { return "error of task " + strconv.Itoa(e.task) }

// identify tells whose result r is.
func identify(r group.Result[int]) (int, error) {
	var te *taskError
	if r.Err == nil {
		return r.Value, nil
	}
	if errors.As(r.Err, &te) {
		return te.task, nil
	}
	return 0, fmt.Errorf("a result has error %v", r.Err)
}
