package conformtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/task"
)

// The linearizability check of a task: a few goroutines look at one task, wait for
// it and cancel it, without any order among them, while it runs; and a history
// records when each call began and returned and with what. There must be one
// moment for each in which it takes effect.
//
// That the task begins and that it ends are operations, too. It begins between its
// start and its first act, and ends some time after its last one: an end that
// not needed has no limit.

// taskOp is what an operation of a history of a task does.
type taskOp int

const (
	taskBegins taskOp = iota
	taskEnds
	taskStatus
	taskCancel
	taskWait
)

type taskInput struct {
	op      taskOp
	outcome task.Status // of taskEnds
}

// taskOutput is what a call returned.
type taskOutput struct {
	state task.Status // that was seen; for taskCancel Cancelled if it returned true
	gone  bool        // the context of Wait has ended
}

// taskState is the state of the contract.
type taskState struct {
	begun, returned bool
	state           task.Status
}

// taskStep says whether the contract allows that in returned out in state s, and
// what the state is then.
func taskStep(s taskState, in taskInput, out taskOutput) (bool, taskState) {
	switch in.op {
	case taskBegins:
		ok := !s.begun && s.state == task.Pending
		s.begun = true
		return ok, s
	case taskEnds:
		ok := s.begun && !s.returned
		s.returned = true
		if s.state == task.Pending {
			s.state = in.outcome
		}
		return ok, s
	case taskStatus:
		return out.state == s.state, s
	case taskCancel:
		if out.state != task.Cancelled {
			return s.state != task.Pending, s
		}
		ok := s.state == task.Pending
		s.state = task.Cancelled
		return ok, s
	case taskWait:
		if out.gone {
			return s.state == task.Pending, s
		}
		return s.state != task.Pending && out.state == s.state, s
	}
	panic("no such operation")
}

var taskModel = porcupine.Model{
	Init: func() any { return taskState{} },
	Step: func(state, in, out any) (bool, any) {
		return taskStep(state.(taskState), in.(taskInput), out.(taskOutput))
	},
	Equal: func(a, b any) bool { return a == b },
}

// recordTask makes a history of one task.
func recordTask(e *conformance.Env, seed uint64) ([]porcupine.Operation, error) {
	const clients, calls = 3, 4
	rng := rand.New(rand.NewPCG(seed, 3))
	x := e.Impl.NewExecutor()
	rec := &recording{}
	outcome := []task.Status{task.Resolved, task.Failed}[rng.IntN(2)]
	turns, yields := rng.IntN(6), rng.IntN(3)
	started := rec.clock.Add(1)
	f := task.Go(x, func(ctx context.Context) (int, error) {
		rec.add(porcupine.Operation{ClientId: -1, Input: taskInput{op: taskBegins}, Output: taskOutput{}, Call: started, Return: rec.clock.Add(1)}, nil)
		for range turns {
			runtime.Gosched()
		}
		for range yields {
			_ = task.Yield(ctx)
		}
		rec.add(porcupine.Operation{ClientId: -2, Input: taskInput{op: taskEnds, outcome: outcome}, Output: taskOutput{}, Call: rec.clock.Add(1), Return: never}, nil)
		if outcome == task.Failed {
			return 0, errTask
		}
		return 1, nil
	})
	wait := func(client int, ctx context.Context) {
		rec.doTask(client, taskWait, func() (taskOutput, error) {
			v, err := f.Value(ctx)
			var te *task.Error
			switch {
			case err == nil && v == 1:
				return taskOutput{state: task.Resolved}, nil
			case errors.As(err, &te) && te != nil && te.Cause == errTask:
				return taskOutput{state: task.Failed}, nil
			case errors.As(err, &te) && te != nil && te.Cause == context.Canceled:
				return taskOutput{state: task.Cancelled}, nil
			case err == context.Canceled && ctx.Err() != nil:
				return taskOutput{gone: true}, nil
			}
			return taskOutput{}, fmt.Errorf("Value returned (%d, %v)", v, err)
		})
	}
	cancel := func(client int) {
		rec.doTask(client, taskCancel, func() (taskOutput, error) {
			if f.Cancel() {
				return taskOutput{state: task.Cancelled}, nil
			}
			return taskOutput{}, nil
		})
	}
	var all sync.WaitGroup
	begin := make(chan struct{})
	for c := range clients {
		var todo []func()
		for range calls {
			pause := rng.IntN(4)
			todo = append(todo, func() {
				for range pause {
					runtime.Gosched()
				}
			})
			switch rng.IntN(9) {
			case 0, 1, 2:
				todo = append(todo, func() {
					rec.doTask(c, taskStatus, func() (taskOutput, error) { return taskOutput{state: f.Status()}, nil })
				})
			case 3:
				todo = append(todo, func() { cancel(c) })
			case 4:
				todo = append(todo, func() { wait(c, context.Background()) })
			case 5, 6:
				todo = append(todo, func() {
					ctx, cancel := context.WithCancel(context.Background())
					cancel()
					wait(c, ctx)
				})
			case 7, 8:
				todo = append(todo, func() {
					ctx, cancel := context.WithCancel(context.Background())
					defer cancel()
					go func() {
						runtime.Gosched()
						cancel()
					}()
					wait(c, ctx)
				})
			}
		}
		all.Go(func() {
			<-begin
			for _, f := range todo {
				f()
			}
		})
	}
	close(begin)
	if rng.IntN(4) == 0 {
		cancel(clients)
	}
	all.Wait()
	wait(clients, context.Background())
	x.Close()
	for x.Pending() > 0 {
		x.Flush(0)
		e.Settle()
	}
	e.Settle() // a task that was canceled in progress may be on its way still
	x.Flush(0)
	e.Settle()
	rec.mu.Lock()
	defer rec.mu.Unlock()
	return slices.Clone(rec.ops), rec.err
}

// never is after all that happens.
const never = 1 << 40

// doTask makes a call and records it.
func (r *recording) doTask(client int, op taskOp, f func() (taskOutput, error)) {
	begun := r.clock.Add(1)
	out, err := f()
	r.add(porcupine.Operation{ClientId: client, Input: taskInput{op: op}, Output: out, Call: begun, Return: r.clock.Add(1)}, err)
}

// describeTask renders a history for a failure, in the order of the beginnings.
func describeTask(history []porcupine.Operation) string {
	names := [...]string{"the task begins", "the task ends", "Status", "Cancel", "Value"}
	ops := slices.Clone(history)
	slices.SortFunc(ops, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b strings.Builder
	for _, o := range ops {
		in, out := o.Input.(taskInput), o.Output.(taskOutput)
		fmt.Fprintf(&b, "\n  goroutine %d, %d–%d: %s", o.ClientId, o.Call, o.Return, names[in.op])
		switch {
		case in.op == taskEnds:
			fmt.Fprintf(&b, ", %v", in.outcome)
		case in.op == taskBegins:
		case in.op == taskCancel:
			fmt.Fprintf(&b, ": %v", out.state == task.Cancelled)
		case out.gone:
			b.WriteString(": its context ended")
		default:
			fmt.Fprintf(&b, ": %v", out.state)
		}
	}
	return b.String()
}

// checkTaskLinearizable looks at histories of tasks.
func checkTaskLinearizable(t *testing.T, s *suite) outcome {
	return s.linearizable(t, "task", func(e *conformance.Env, seed uint64) (recorded, error) {
		history, err := recordTask(e, seed)
		return recorded{history, taskModel, describeTask}, err
	})
}
