// Package lockbased is the readable baseline: shared state behind one mutex,
// and queues of those who wait for it to change.
//
// # Idea
//
// Every call locks the mutex, looks at the state, and either is done or puts
// itself into a FIFO wait queue with a place for its answer. Whoever changes
// the state so that a waiter's wish comes true fills in the answer, takes the
// waiter out of the queue and wakes it: hand-over instead of wake-and-retry,
// so that nobody wakes for nothing and nobody is overtaken.
//
// A task costs a goroutine, unless the group is full: then the goroutine whose
// task ends takes the oldest blocked submission with its slot and runs that
// one too.
//
// # Invariants (checked under -race and the build tag dynocheck)
//
//  1. 0 ≤ inflight, and inflight ≤ MaxConcurrency where there is one.
//  2. A submission waits only if the group is open and full.
//  3. A consumer waits only if no result is queued and the group is not drained.
//  4. A Wait waits only if a task is in flight.
//  5. firstErr, once set, never changes.
//  6. settled implies closed and no task in flight.
//
// # Shutdown
//
// There is nothing to shut down: a group owns no goroutine but those that run
// tasks. The last completion after Close (or Close itself, if nothing is in
// flight) settles the group under the mutex: it fixes the answer of Wait,
// releases the context, and answers every waiting consumer. A Go that races
// with it either got its slot before, and then it is not the last one, or
// finds closed set. A consumer that gives up races with the one who answers
// it; the mutex decides, and a consumer that was answered first keeps the
// result although its context ended.
//
// # Rejected
//
//   - One sync.Cond for everything: a completion then wakes all consumers for
//     one result, a wait cannot end with a context, and sync.Cond allocates a
//     waiter per Wait on TinyGo.
//   - Two mutexes, for state and for results: a completion needs both, and on
//     the measured workloads the second lock costs more than it frees.
//   - A fixed set of workers: that is workstealing's idea, and a blocked task
//     would stop the others.
package lockbased
