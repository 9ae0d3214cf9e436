package group

import "context"

// Ledger is the state of a group as its contract tells it: open or closed, how
// many tasks are in flight, which results have not been taken, and the Outcome.
// It is for implementations that keep all of that behind one lock; what waits,
// and what runs tasks, is theirs. It is sequential: the lock guards every method
// but Context and Cancel. Make one with NewLedger.
type Ledger[T any] struct {
	Outcome
	limit    int
	closed   bool
	inFlight int
	results  []Result[T] // in completion order
}

// NewLedger returns the ledger of an open group, made with ctx and cfg as
// NewOutcome is.
func NewLedger[T any](ctx context.Context, cfg Config) Ledger[T] {
	return Ledger[T]{
		Outcome: NewOutcome(ctx, cfg),
		limit:   cfg.MaxConcurrency,
		results: make([]Result[T], 0, cfg.ResultBuffer),
	}
}

// Full reports whether Go has to wait: the group is open and has no free slot.
func (l *Ledger[T]) Full() bool { return !l.closed && l.limit > 0 && l.inFlight >= l.limit }

// Accept counts a task as in flight, or returns ErrGroupClosed. The group must
// not be full.
func (l *Ledger[T]) Accept() error {
	if l.closed {
		return ErrGroupClosed
	}
	l.inFlight++
	return nil
}

// Finish queues the result of a task in flight, which gives up its slot. It does
// what [Outcome.Complete] does, and settles a closed group whose last task it is.
func (l *Ledger[T]) Finish(r Result[T]) {
	l.Complete(r.Err)
	l.results = append(l.results, r)
	l.inFlight--
	l.settle()
}

// Close closes the group, and settles it if no task is in flight.
func (l *Ledger[T]) Close() {
	l.closed = true
	l.settle()
}

func (l *Ledger[T]) settle() {
	if l.closed && l.inFlight == 0 {
		l.Settle()
	}
}

// Idle reports whether no task is in flight, so that Err is what Wait returns.
func (l *Ledger[T]) Idle() bool { return l.inFlight == 0 }

// Ready reports whether Take has an answer: a result is queued, or the group is
// drained.
func (l *Ledger[T]) Ready() bool { return len(l.results) > 0 || l.Settled() }

// Take takes the result that has been queued longest. It returns false if none is
// queued: then the group is drained if it is Ready.
func (l *Ledger[T]) Take() (r Result[T], ok bool) {
	if len(l.results) == 0 {
		return r, false
	}
	r, l.results[0] = l.results[0], r // what was taken is the caller's to keep alive
	l.results = l.results[1:]
	return r, true
}
