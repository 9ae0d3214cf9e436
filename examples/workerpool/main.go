// Workerpool shows what becomes of work when things go wrong: a pool of workers
// that ask a service which is busy at times and refuses some jobs for good.
//
//		/user (pool)            hands out the jobs, and supervises the workers
//		├── /user/worker-1      has room for a few jobs
//		└── …
//
//	  - The service is busy: the worker fails, is restarted after a delay, and
//	    does the job again (Backoff, Retry).
//	  - That happens too often: the worker is stopped (MaxRestarts). The pool
//	    watches its workers and spawns another one; what the old one had not
//	    done is a dead letter, and the pool hands it out again.
//	  - The service will never do a job: the worker is stopped, and its job given
//	    up.
//	  - All workers have as many jobs as they have room for: the pool is suspended
//	    until one has room (Capacity).
//
// So every job is done once or given up, whatever happens to the workers.
//
//	go run ./examples/workerpool
//	go run ./examples/workerpool -impl channel -jobs 20000 -bad 1000
//	go run ./examples/workerpool -log info
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/actorslog"
	"github.com/dynolab/dyno/examples/internal/cli"
)

// config is what the flags say.
type config struct {
	jobs, workers int
	room          int // for jobs, in a worker's mailbox
	flaky, bad    int // every Nth job fails once, or permanently; 0: none
	log           io.Writer
	level         slog.Level
	service       *service
}

// service is what the workers need and cannot rely on. It stands for something
// far away, and is no actor.
type service struct {
	flaky, bad int
	onCall     func(calls int) // for tests

	mu    sync.Mutex // guards what follows
	calls int
	seen  map[job]bool
}

var (
	errBusy  = errors.New("the service is busy")
	errNever = errors.New("the service will never do this")
)

// do does a job: it returns the number of divisors of the job's number.
func (s *service) do(j job) (int, error) {
	s.mu.Lock()
	s.calls++
	calls, again := s.calls, s.seen[j]
	s.seen[j] = true
	s.mu.Unlock()
	if s.onCall != nil {
		s.onCall(calls)
	}
	switch n := int(j); {
	case s.bad > 0 && n%s.bad == 0:
		return 0, errNever
	case s.flaky > 0 && n%s.flaky == 0 && !again:
		panic(errBusy) // as good as an error: the actor has failed
	default:
		return divisors(n), nil
	}
}

func divisors(n int) (count int) {
	for d := 1; d <= n; d++ {
		if n%d == 0 {
			count++
		}
	}
	return count
}

// called returns how often the service was called.
func (s *service) called() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls
}

// Messages.
type (
	// job is work for a worker. Its number is 1 or more.
	job int
	// done tells the pool that a job is done.
	done struct{ result int }
	// feed has the pool hand out jobs, as many as there is room for.
	feed struct{}
	// ask has the pool begin, and asks for its summary, which comes when nothing is
	// left to do.
	ask struct{ replyTo actor.ReplyTo }
)

// summary is the pool's reply to ask.
type summary struct {
	done, sum int
	givenUp   []job
	replaced  int // workers that were stopped
}

// worker is as short as an actor should be: what is done about failures is its
// supervisor's to know.
type worker struct{ service *service }

func (w worker) Receive(ctx *actor.Context, msg any) error {
	n, err := w.service.do(msg.(job))
	if err != nil {
		return err
	}
	return ctx.Tell(ctx.Parent(), done{n})
}

// supervisor is that of the workers.
var supervisor = &actor.Supervisor{
	Decide: func(f actor.Failure) actor.Directive {
		if errors.Is(f.Err, errBusy) { // it sees through the panic
			return actor.Restart
		}
		return actor.Stop
	},
	Retry:       true, // the job, when the worker is restarted
	MaxRestarts: 5,
	Window:      time.Minute,
	Backoff:     actor.Backoff{Min: time.Millisecond, Max: 20 * time.Millisecond, Jitter: 0.2, Seed: 1},
}

// pool is the guardian: if it fails the system ends, and the program says why.
type pool struct {
	cfg     config
	queue   []job
	workers []actor.Ref
	next    int  // the worker to try first
	feeding bool // a feed is on its way
	sum     summary
	asked   []actor.ReplyTo
}

func (p *pool) PreStart(ctx *actor.Context) error {
	// A job that a worker has not done is a dead letter. The pool's mailbox is
	// unbounded, so none is lost.
	actor.SubscribeActor[actor.DeadLetter](ctx.System().Events(), ctx.Self(), 1<<30)
	for n := range p.cfg.jobs {
		p.queue = append(p.queue, job(n+1))
	}
	for n := range p.cfg.workers {
		if err := p.spawn(ctx, "worker-"+strconv.Itoa(n+1)); err != nil {
			return err
		}
	}
	return nil
}

func (p *pool) Receive(ctx *actor.Context, msg any) error {
	switch msg := msg.(type) {
	case feed:
		p.feeding = false
		return p.handOut(ctx)
	case done:
		p.sum.done++
		p.sum.sum += msg.result
	case actor.DeadLetter:
		j, ok := msg.Msg.(job)
		switch {
		case !ok || msg.Returned: // handOut has that one back
		case errors.Is(msg.Cause, errNever):
			p.sum.givenUp = append(p.sum.givenUp, j)
		default: // it was waiting for, or failed in, a worker that was stopped
			p.queue = append(p.queue, j)
			return p.feed(ctx)
		}
	case actor.Terminated:
		p.sum.replaced++
		p.workers = slices.DeleteFunc(p.workers, func(r actor.Ref) bool { return r == msg.Actor })
		ctx.Log(actor.LevelInfo, msg.Actor.Name()+" is replaced: "+msg.Err.Error())
		if err := p.spawn(ctx, msg.Actor.Name()); err != nil { // the name is free now
			return err
		}
		return p.feed(ctx)
	case ask:
		p.asked = append(p.asked, msg.replyTo)
		if err := p.feed(ctx); err != nil {
			return err
		}
	default:
		return fmt.Errorf("pool: unexpected message %T", msg)
	}
	return p.answer(ctx)
}

// spawn makes a worker.
func (p *pool) spawn(ctx *actor.Context, name string) error {
	r, err := ctx.SpawnNamed(name, actor.Props{
		New: func() actor.Actor { return worker{p.cfg.service} },
		// Not Block: a pool that waits in its turn can do nothing else. Jobs
		// that find no room come back, and the pool is suspended.
		Mailbox: actor.MailboxConfig{Capacity: p.cfg.room, Policy: actor.DropNewest},
	})
	if err != nil {
		return err
	}
	ctx.Watch(r)
	p.workers = append(p.workers, r)
	return nil
}

// feed has the pool hand out jobs in a turn to come.
func (p *pool) feed(ctx *actor.Context) error {
	if p.feeding {
		return nil
	}
	p.feeding = true
	return ctx.Tell(ctx.Self(), feed{})
}

// handOut gives jobs to workers until there are no more, or no worker has room.
func (p *pool) handOut(ctx *actor.Context) error {
	for len(p.queue) > 0 {
		var full actor.Ref
		given := false
		for range p.workers {
			p.next = (p.next + 1) % len(p.workers)
			w := p.workers[p.next]
			err := ctx.Tell(w, p.queue[0])
			if given = err == nil; given {
				break
			}
			if errors.Is(err, actor.ErrFull) {
				full = w
			} // else it is stopping, and Terminated on the way
		}
		switch {
		case given:
			p.queue = p.queue[1:]
		case full.IsZero():
			return nil // until there is a worker again
		default:
			// Others may have room before this one has, so it does not wait
			// for long. The feed waits in the pool's mailbox meanwhile.
			ctx.Suspend(actor.Suspension{Reason: "all workers are busy", Capacity: full, After: 10 * time.Millisecond})
			return p.feed(ctx)
		}
	}
	return nil
}

// answer replies to the waiting askers, if every job is done or given up.
func (p *pool) answer(ctx *actor.Context) error {
	if p.sum.done+len(p.sum.givenUp) < p.cfg.jobs {
		return nil
	}
	slices.Sort(p.sum.givenUp)
	for _, to := range p.asked {
		// Who has given up waiting need not have the reply: it is a dead letter.
		_ = ctx.Reply(to, p.sum)
	}
	p.asked = nil
	return nil
}

func main() {
	cfg := config{jobs: 1000, workers: 4, room: 8, flaky: 10, bad: 100}
	cli.Main(
		func(w io.Writer, d actor.Dispatcher) error {
			// The first Ctrl-C ends the program in good order, the second one at once.
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			context.AfterFunc(ctx, stop)
			return run(ctx, cfg, w, d)
		},
		func(flags *flag.FlagSet) {
			flags.Var(cli.AtLeast(1, &cfg.jobs), "jobs", "how many `jobs` there are")
			flags.Var(cli.AtLeast(1, &cfg.workers), "workers", "how many `workers` there are")
			flags.Var(cli.AtLeast(1, &cfg.room), "room", "how many `jobs` a worker has room for")
			flags.Var(cli.AtLeast(0, &cfg.flaky), "flaky", "every `nth` job finds the service busy once; 0 means none")
			flags.Var(cli.AtLeast(0, &cfg.bad), "bad", "every `nth` job is refused for good; 0 means none")
			flags.Func("log", "write events of this `level` and above, such as debug or warn, to standard error", func(s string) error {
				cfg.log = os.Stderr
				return cfg.level.UnmarshalText([]byte(s))
			})
		},
	)
}

// patience is how long the actors have to stop.
const patience = 10 * time.Second

// run is the program, with the actors run by d.
func run(ctx context.Context, cfg config, w io.Writer, d actor.Dispatcher) (err error) {
	if cfg.service == nil {
		cfg.service = &service{}
	}
	cfg.service.flaky, cfg.service.bad, cfg.service.seen = cfg.flaky, cfg.bad, map[job]bool{}
	sys, err := actor.NewSystem(actor.Config{
		Name:       "workerpool",
		Dispatcher: d,
		Guardian:   actor.Props{New: func() actor.Actor { return &pool{cfg: cfg} }, Supervisor: supervisor},
	})
	if err != nil {
		return err
	}
	if cfg.log != nil {
		log := actorslog.New(sys.Events(), actorslog.Config{
			Logger: slog.New(slog.NewTextHandler(cfg.log, &slog.HandlerOptions{Level: cfg.level})),
		})
		defer log.Close()
	}
	defer func() {
		limit, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		err = errors.Join(err, sys.Shutdown(limit))
	}()
	if sys.Synchronous() {
		go drive(sys)
	}
	// All listeners have subscribed by now: the pool begins when it is asked.
	future := sys.Ask(sys.UserGuardian(), 0, func(to actor.ReplyTo) any { return ask{to} })
	defer future.Discard()
	reply, err := future.Wait(ctx)
	switch {
	case ctx.Err() != nil && err != nil:
		return fmt.Errorf("interrupted after %d calls of the service", cfg.service.called())
	case err != nil:
		return errors.Join(sys.Err(), err) // the pool has failed, and the system is over
	}
	sum := reply.(summary)
	if _, err := fmt.Fprintf(w, "%d jobs done, %d given up: %v\nthe results add up to %d\n", sum.done, len(sum.givenUp), abridged(sum.givenUp), sum.sum); err != nil {
		return err
	}
	st := sys.Stats()
	_, err = fmt.Fprintf(
		w, "on the way there (this differs from run to run): %d failures, %d restarts, %d workers replaced, the pool suspended %d times, at most %v late to go on\n",
		st.Failures, st.Restarts, sum.replaced, st.Suspends, st.ResumeMax.Round(time.Microsecond),
	)
	return err
}

// abridged is the first and the last of many jobs.
func abridged(jobs []job) []any {
	var list []any
	for i, j := range jobs {
		switch most := 10; {
		case len(jobs) <= most || i < most-1 || i == len(jobs)-1:
			list = append(list, j)
		case i == most-1:
			list = append(list, "…")
		}
	}
	return list
}

// drive runs actors of serial, which has no goroutine of its own: not even for
// those that a timer wakes.
func drive(sys *actor.System) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		sys.RunUntilIdle()
		select {
		case <-tick.C:
		case <-sys.Done():
			return
		}
	}
}
