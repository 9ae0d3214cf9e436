// Pipeline shows back-pressure: a source, parallel workers and a sink that puts
// the results in order, none of them further ahead of the next than its mailbox
// allows.
//
//	          ┌─► worker 0 ─┐
//	source ───┼─► worker 1 ─┼──► sink
//	          └─► … ────────┘
//	     Block, 4       Block, 8
//
// For each number the workers count the steps that the rule "halve it if it is
// even, else triple it and add one" takes to 1. The sink prints the records. It
// would print other ones if it did not see the numbers in order.
//
//	go run ./examples/pipeline
//	go run ./examples/pipeline -impl channel
package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/examples/internal/cli"
)

const (
	numbers = 10_000
	workers = 4

	// What the pipeline holds is bounded by its mailboxes, whatever the number
	// of jobs: who finds no room waits until there is some.
	workerRoom = 4
	sinkRoom   = 8
)

type (
	// job is a number to work on, and result what came of it.
	job    struct{ n int }
	result struct{ n, steps int }
	// begin sets the source off.
	begin struct{}
	// finished tells the guardian that the sink has seen everything.
	finished struct{}
)

// source makes the jobs, all in one turn, most of which it spends waiting for
// room. It needs no other way to be stopped than a send that fails: when the
// system stops so do the workers.
//
// (Sending itself a message for each job instead looks politer and is not: on
// serial, where who waits runs others meanwhile, a worker that waits for the sink
// would run the source, which would wait for that worker: ErrDeadlock.)
type source struct{ workers []actor.Ref }

func (s *source) Receive(ctx *actor.Context, msg any) error {
	for n := 1; n <= numbers; n++ {
		// To take turns is fair as long as the jobs are alike. If the worker's
		// mailbox is full Tell waits, and other actors run meanwhile.
		if err := ctx.Tell(s.workers[n%len(s.workers)], job{n}); err != nil {
			return err
		}
	}
	return nil
}

// newWorker makes an actor without state, for which a function is enough.
func newWorker(sink actor.Ref) actor.Actor {
	return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error {
		j := msg.(job) // should it be anything else: a panic is a failure like an error
		return ctx.Tell(sink, result{j.n, steps(j.n)})
	})
}

// steps is the work.
func steps(n int) (steps int) {
	for ; n != 1; steps++ {
		if n%2 == 0 {
			n /= 2
		} else {
			n = 3*n + 1
		}
	}
	return steps
}

// sink puts the results in order. Each worker's are in order already, but one
// worker may be ahead of another.
type sink struct {
	w       io.Writer
	early   map[int]int // number → steps, of those that came before their time
	next    int         // the number that is to come
	longest int
}

func (s *sink) Receive(ctx *actor.Context, msg any) error {
	r := msg.(result)
	if _, twice := s.early[r.n]; twice || r.n < s.next {
		return fmt.Errorf("sink: number %d has come twice", r.n)
	}
	s.early[r.n] = r.steps
	for {
		steps, ok := s.early[s.next]
		if !ok {
			return nil
		}
		delete(s.early, s.next)
		if steps > s.longest {
			s.longest = steps
			if _, err := fmt.Fprintf(s.w, "%5d takes %3d steps\n", s.next, steps); err != nil {
				return err
			}
		}
		if s.next++; s.next > numbers {
			return ctx.Tell(ctx.Parent(), finished{})
		}
	}
}

// guardian builds the pipeline from its end to its beginning, since each stage
// must know the next, and stops when the sink has seen everything.
type guardian struct{ w io.Writer }

func (g *guardian) PreStart(ctx *actor.Context) error {
	end, err := ctx.SpawnNamed("sink", actor.Props{
		New:     func() actor.Actor { return &sink{w: g.w, early: map[int]int{}, next: 1} },
		Mailbox: actor.MailboxConfig{Capacity: sinkRoom, Policy: actor.Block},
	})
	if err != nil {
		return err
	}
	var stage []actor.Ref
	for range workers {
		r, err := ctx.Spawn(actor.Props{
			New:     func() actor.Actor { return newWorker(end) },
			Mailbox: actor.MailboxConfig{Capacity: workerRoom, Policy: actor.Block},
		})
		if err != nil {
			return err
		}
		stage = append(stage, r)
	}
	start, err := ctx.SpawnNamed("source", actor.Props{New: func() actor.Actor { return &source{workers: stage} }})
	if err != nil {
		return err
	}
	return ctx.Tell(start, begin{})
}

func (g *guardian) Receive(ctx *actor.Context, msg any) error {
	if _, ok := msg.(finished); ok {
		ctx.StopSelf() // its children stop first, and the system ends with it
	}
	return nil
}

func main() { cli.Main(run) }

// run is the program, with the actors run by d.
func run(w io.Writer, d actor.Dispatcher) error {
	failed := make(chan error, 1)
	sys, err := actor.NewSystem(actor.Config{
		Name:       "pipeline",
		Dispatcher: d,
		Guardian:   actor.Props{New: func() actor.Actor { return &guardian{w} }},
		Failures: func(f actor.Failure) {
			// A stage that has failed is stopped, and the others find no room
			// any more: their sends end with an error, and they fail as well.
			// The first failure is the cause.
			select {
			case failed <- fmt.Errorf("%s: %w", f.Actor.Path(), f.Err):
			default:
			}
		},
	})
	if err != nil {
		return err
	}
	if sys.Synchronous() {
		sys.RunUntilIdle() // serial has no goroutine of its own; this one runs its actors
	}
	select {
	case <-sys.Done():
		return sys.Err() // nil, unless it was the guardian that failed
	case err := <-failed:
		return errors.Join(err, sys.Shutdown(context.Background()))
	}
}
