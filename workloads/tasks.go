package workloads

import (
	"context"
	"errors"
	"strconv"

	"github.com/dynolab/dyno/task"
)

// A taskJob does k operations, at least one and at most n, and returns when all
// their results have been checked.
type taskJob func(n int) (k int, err error)

// A taskRun is a workload of executors in progress, or one of its references. It does its
// operations in jobs, one after the other.
type taskRun struct {
	job taskJob
	ex  task.Executor // nil in references
}

// onExecutor makes an executor and a run of the jobs that newJob makes for it.
func onExecutor(newJob func(ex task.Executor) taskJob) func(Setting) Run {
	return func(st Setting) Run {
		ex := st.Impl.NewExecutor()
		return &taskRun{job: newJob(ex), ex: ex}
	}
}

// taskRef is a reference that does the jobs of newJob.
func taskRef(name, doc string, newJob func() taskJob) Ref {
	return Ref{Name: name, Doc: doc, Prepare: func(Setting) Run { return &taskRun{job: newJob()} }}
}

// onTask is onExecutor for jobs that ask fn, each time as a task that is started from outside.
func onTask[A any, T number](newJob func(ask asking[A, T]) taskJob, fn func(context.Context, A) (T, error)) func(Setting) Run {
	return onExecutor(func(ex task.Executor) taskJob {
		return newJob(func(arg A, want T) error { return demand(ex, fn, arg, want) })
	})
}

// valueRef is taskRef for jobs that ask fn.
func valueRef[A any, T number](name, doc string, newJob func(ask asking[A, T]) taskJob, fn func(A) (T, error)) Ref {
	return taskRef(name, doc, func() taskJob { return newJob(by(fn)) })
}

// by has fn compute what is asked.
func by[A any, T number](fn func(A) (T, error)) asking[A, T] {
	return func(arg A, want T) error {
		got, err := fn(arg)
		return checkResult(got, want, err)
	}
}

// An asking has something computed of arg, and says what is wrong with the result.
type asking[A any, T number] func(arg A, want T) error

// A number is what is computed.
type number interface{ uint32 | uint64 | int }

// sure is fn, which cannot fail, as one that could.
func sure[A, T any](fn func(A) T) func(A) (T, error) {
	return func(arg A) (T, error) { return fn(arg), nil }
}

func (r *taskRun) Do(n int) error {
	if n < 1 {
		panic("workloads: Do of fewer than one operation")
	}
	for n > 0 {
		k, err := r.job(n)
		if err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// Check has little left to do: a job knows what its tasks are to find out.
func (r *taskRun) Check() error {
	if r.ex == nil {
		return nil
	}
	if n := r.ex.Pending(); n != 0 {
		return errors.New("workloads: all tasks are over, and the executor counts " + strconv.Itoa(n) + " that are not")
	}
	return nil
}

func (r *taskRun) Close() {
	r.job = nil
	if r.ex != nil {
		r.ex.Close()
	}
}

// atMost makes a job of do, which does k operations: any number up to most.
func atMost(most int, do func(k int) error) taskJob {
	return func(n int) (int, error) {
		k := min(n, most)
		return k, do(k)
	}
}

// largest makes a job of do for a workload whose problems have a number of
// operations each that is what it is: sizes[i], the first of them 1, and each
// as large as the one before or larger. It takes the largest problem that n
// operations are enough for. So nearly all operations are in problems of the
// last size, and any n is made up of whole ones.
func largest(sizes []int, do func(i int) error) taskJob {
	return func(n int) (int, error) {
		i := len(sizes) - 1
		for sizes[i] > n {
			i--
		}
		return sizes[i], do(i)
	}
}

// demand runs fn(ctx, arg) as a task that is started from outside, and says what
// is wrong with what it returns.
func demand[A any, T number](ex task.Executor, fn func(context.Context, A) (T, error), arg A, want T) error {
	got, err := task.Call(ex, fn, arg).Value(context.Background())
	return checkResult(got, want, err)
}

// checkResult says what is wrong with a result.
func checkResult[T number](got, want T, err error) error {
	if err != nil {
		return errors.New("workloads: a task ended with " + errText(err))
	}
	if got != want {
		return errors.New("workloads: the tasks found " + strconv.FormatUint(uint64(got), 10) +
			" instead of " + strconv.FormatUint(uint64(want), 10))
	}
	return nil
}
