package workloads

import (
	"errors"
	"slices"
	"strconv"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/workloads/internal/condbox"
)

const (
	priorityLevels = 8
	priorityDepth  = 256 // jobs that wait at first
)

// actorPriority is an actor with an agenda. It files its jobs in one turn, so all of them wait
// before the first is handled, and their order is known: the most urgent first and, within a
// priority, in the order of filing.
func actorPriority() []Workload {
	return []Workload{{
		Name:    "priority",
		Doc:     "an actor files 256 jobs of 8 priorities with itself and handles them by priority: what an ordered mailbox costs",
		Checked: "each job in exactly the one right place",
		TooBig:  "256 jobs and their mailbox fit, but a board's report has no use for it yet",
		Prepare: priorityOnActor,
		// An unbuffered channel cannot hold what its own receiver sends.
		Refs: []Ref{
			{refBuffered, "a goroutine and a buffered channel for each priority, tried in turn", func(Setting) Run { return priorityOnChannels() }},
			{refMutexCond, "a goroutine and a queue for each priority behind one mutex and condition variable", func(Setting) Run { return priorityOnLevels() }},
		},
	}}
}

// A job is never written to.
type job struct {
	index int
	level int
}

// agenda is what runs in all ways have in common.
type agenda struct {
	*progress
	jobs  []job
	order []*job // as they are to be handled

	quota int // jobs of this Do
	left  int // jobs of this Do that have not been filed
	filed int // jobs of this round
	taken int // jobs of this round that have been handled
	pos   int // in order

	asked, handled int64
	sum, want      int64 // of the jobs' indexes
}

func newAgenda(s *progress) *agenda {
	a := &agenda{progress: s, jobs: make([]job, priorityDepth), order: make([]*job, priorityDepth)}
	for i := range a.jobs {
		a.jobs[i] = job{i, int(fill(uint32(i), 3) % priorityLevels)}
		a.order[i] = &a.jobs[i]
	}
	slices.SortStableFunc(a.order, func(x, y *job) int { return x.level - y.level })
	return a
}

// deal prepares n jobs.
func (a *agenda) deal(n int) {
	a.begin(n, 1)
	a.quota = n
	a.asked += int64(n)
}

// round returns the jobs to file next.
func (a *agenda) round() []job {
	k := min(a.left, priorityDepth)
	a.left -= k
	a.filed, a.taken, a.pos = k, 0, 0
	a.want += int64(k) * int64(k-1) / 2
	return a.jobs[:k]
}

// take books a job and reports whether it was the last one of its round.
func (a *agenda) take(j *job) (last bool, err error) {
	for a.pos < priorityDepth && a.order[a.pos].index >= a.filed {
		a.pos++ // not in this round
	}
	if a.taken == a.filed || a.order[a.pos] != j {
		return false, errors.New("workloads: job " + strconv.Itoa(j.index) + " of level " + strconv.Itoa(j.level) + " came out of turn")
	}
	a.pos++
	a.taken++
	a.handled++
	a.sum += int64(j.index)
	return a.taken == a.filed, nil
}

func (a *agenda) check() error {
	if err := countCheck(a.asked, a.handled); err != nil {
		return err
	}
	if a.sum != a.want {
		return errors.New("workloads: the jobs were not those that were filed")
	}
	return nil
}

func (a *agenda) Receive(ctx *actor.Context, msg any) error {
	if msg == nil {
		a.left = a.quota
	} else {
		j, ok := msg.(*job)
		if !ok {
			return errStray()
		}
		last, err := a.take(j)
		if err != nil || !last {
			return err
		}
		if a.left == 0 {
			a.part()
			return nil
		}
	}
	jobs, self := a.round(), ctx.Self()
	for i := range jobs {
		if err := ctx.Tell(self, &jobs[i]); err != nil {
			return err
		}
	}
	return nil
}

// priorityOf is the mailbox's function.
func priorityOf(msg any) int {
	if j, ok := msg.(*job); ok {
		return j.level
	}
	return 0
}

func priorityOnActor(st Setting) Run {
	r := newActorsRun()
	a := newAgenda(&r.progress)
	r.protocol = a
	var self actor.Ref
	r.begun = func(ctx *actor.Context) error { return ctx.Tell(self, nil) }
	r.raise(st, func(_ *system, ctx *actor.Context) (err error) {
		self, err = ctx.Spawn(actor.Props{
			New:     func() actor.Actor { return a },
			Mailbox: actor.MailboxConfig{Priority: priorityOf},
		})
		return err
	})
	return r
}

// priorityByHand is a goroutine that files jobs with put and gets them with take.
func priorityByHand(put func(j *job), take func() *job) Run {
	r := newHandRun()
	a := newAgenda(&r.progress)
	r.protocol = a
	r.worker(func() error {
		if err := a.perform(put, take); err != nil {
			return err
		}
		a.part()
		return nil
	})
	return r
}

// perform does a Do's jobs.
func (a *agenda) perform(put func(j *job), take func() *job) error {
	a.left = a.quota
	for a.left > 0 {
		jobs := a.round()
		for i := range jobs {
			put(&jobs[i])
		}
		for last := false; !last; {
			var err error
			if last, err = a.take(take()); err != nil {
				return err
			}
		}
	}
	return nil
}

func priorityOnChannels() Run {
	var levels [priorityLevels]chan *job
	for i := range levels {
		levels[i] = make(chan *job, priorityDepth)
	}
	return priorityByHand(
		func(j *job) { levels[j.level] <- j },
		func() *job {
			for _, ch := range levels {
				select {
				case j := <-ch:
					return j
				default:
				}
			}
			panic("workloads: a job is missing from the channels")
		})
}

func priorityOnLevels() Run {
	box := condbox.NewLevels[*job](priorityLevels)
	return priorityByHand(func(j *job) { box.Put(j.level, j) }, box.Take)
}
