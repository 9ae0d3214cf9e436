package workstealing

import (
	"runtime"
	"strconv"
	"time"
)

// Strategy is how a dispatcher decides which actor runs next, and where.
type Strategy uint8

const (
	// Fair gives actors turns in the order in which they became ready, with one
	// exception: the actor that another one has just sent to runs next on the
	// same worker, up to 64 times in a row. Other workers are woken when what
	// waits here is estimated to take 50 µs or more, or has waited for a
	// millisecond.
	//
	// Bound: an actor that is in a worker's queue behind p others has its turn
	// after at most 65·(p+1) turns of that worker, and one told from outside,
	// with p others before it, after at most 61·(p+1) turns of any worker.
	Fair Strategy = iota

	// Priority gives a turn to the actor whose Props.Priority is highest, and
	// among equals to the one that became ready first. The order holds for the
	// whole dispatcher, and that is its price: all workers take from one queue
	// behind a lock, and no actor runs next where its sender ran.
	//
	// Bound: one of 32 turns of each worker is kept for the normal and one for the
	// low priority, so an actor with p others of its own before it has
	// its turn after at most 32·(p+1) turns of any worker, whatever is more
	// urgent.
	Priority

	// WorkConserving never leaves a worker without work while an actor is
	// ready: whenever an actor becomes ready another worker is woken, and may
	// take even the one that is to run next here. It is for handlers that take
	// long; with short ones a stream of messages took 1.6 times as long. Order and
	// bound are those of Fair.
	WorkConserving
)

// String returns the strategy's name in lower case, such as "work-conserving".
func (s Strategy) String() string {
	switch s {
	case Fair:
		return "fair"
	case Priority:
		return "priority"
	case WorkConserving:
		return "work-conserving"
	}
	return "Strategy(" + strconv.Itoa(int(s)) + ")"
}

// Config is what can be chosen about a [Pool]. The zero value is the
// default.
type Config struct {
	// Strategy is the order in which actors have their turns.
	Strategy Strategy

	// Parallelism is how many workers run jobs at the same time, as long as
	// none is stuck in one; 0, or what is not less than GOMAXPROCS when the pool is made,
	// means GOMAXPROCS.
	Parallelism int

	// MinWorkers is how many workers stay, parked, while there is no work for
	// them; 0 means as many as run at the same time, which costs no timer: while one is
	// set, Go's scheduler keeps a thread waiting for it, and a message that wakes an idle
	// program took 17 µs and not 7. Workers are started when there is first work for them,
	// these too.
	MinWorkers int

	// MaxWorkers is the most workers that have a goroutine at the same time, with those
	// that are stuck in a job or wait for room in a mailbox. 0 means 10,000, Go's own limit
	// for threads, or Parallelism if that is more. When so many are stuck, the
	// others' jobs wait until one is not.
	MaxWorkers int

	// KeepAlive is how long a worker stays parked without work before it is let go of,
	// unless it is one of the last MinWorkers; 0 means a minute. More than 64, or
	// MinWorkers, are never parked. A parked worker has no goroutine and costs its
	// queue, at most 8 KiB with the default QueueCapacity.
	KeepAlive time.Duration

	// QueueCapacity is how many jobs wait in one worker's own queue; when
	// it is full half of it goes to the queue that all share. It must be from 2 to
	// 8,192; 0 means 256, which takes 8 KiB once so many have waited. (The source
	// document has 1,000, with a queue that is all there from the beginning.)
	QueueCapacity int
}

// ConfigError says which field of a Config cannot be used, and why.
type ConfigError struct {
	Field, Why string
}

// Error implements error.
func (e *ConfigError) Error() string {
	return "workstealing: Config." + e.Field + " " + e.Why
}

// complete fills the defaults in, or returns a *ConfigError.
func (c *Config) complete() error {
	if c.MaxWorkers == 0 {
		c.MaxWorkers = max(10_000, c.Parallelism)
	}
	if c.KeepAlive == 0 {
		c.KeepAlive = time.Minute
	}
	if c.QueueCapacity == 0 {
		c.QueueCapacity = 256
	}
	switch {
	case c.Strategy > WorkConserving:
		return &ConfigError{"Strategy", "is not one of the constants"}
	case c.Parallelism < 0:
		return &ConfigError{"Parallelism", "must not be negative"}
	case c.MaxWorkers < c.Parallelism:
		return &ConfigError{"MaxWorkers", "must not be less than Parallelism, which is " + strconv.Itoa(c.Parallelism)}
	case c.MinWorkers < 0 || c.MinWorkers > c.MaxWorkers:
		return &ConfigError{"MinWorkers", "must be from 0 to MaxWorkers, which is " + strconv.Itoa(c.MaxWorkers)}
	case c.KeepAlive < 0:
		return &ConfigError{"KeepAlive", "must not be negative"}
	case c.QueueCapacity < 2 || c.QueueCapacity > maxQueue:
		return &ConfigError{"QueueCapacity", "must be from 2 to " + strconv.Itoa(maxQueue)}
	}
	if c.MinWorkers == 0 {
		c.MinWorkers = min(c.atATime(), c.MaxWorkers)
	}
	if c.Parallelism >= runtime.GOMAXPROCS(0) {
		c.Parallelism = 0 // no bound that Go's scheduler does not set itself
	}
	return nil
}

// atATime is how many workers run at the same time if none blocks.
func (c *Config) atATime() int {
	n := runtime.GOMAXPROCS(0)
	if c.Parallelism > 0 {
		n = min(n, c.Parallelism)
	}
	return n
}
