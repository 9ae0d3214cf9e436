package group

// Config is what a group's options add up to. Users give options;
// implementations call [Resolve].
type Config struct {
	// FailFast: the first task that ends with an error cancels the group, with
	// that error as the cause.
	FailFast bool
	// PanicToError: a task's panic becomes its result's error, a *PanicError.
	// Otherwise it ends the process, as a panic in any goroutine does.
	PanicToError bool
	// AllErrors: Wait returns the errors of all tasks, and not only the first.
	AllErrors bool
	// MaxConcurrency is the largest number of accepted and unfinished tasks;
	// 0 means no limit.
	MaxConcurrency int
	// ResultBuffer is the number of results to make room for when the group is
	// made. It is a hint for speed, not a bound: results beyond it are queued
	// as well.
	ResultBuffer int
}

// Option changes one setting of a group.
type Option func(*Config)

// Resolve returns the defaults (fail-fast on, panics become errors, no limit,
// no reserved room) changed by opts in their order. Nil options are ignored.
func Resolve(opts ...Option) Config {
	c := Config{FailFast: true, PanicToError: true}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	return c
}

// WithFailFast says whether the first task error cancels the group. The
// default is true. Errors are reported by Next and Wait either way.
func WithFailFast(on bool) Option {
	return func(c *Config) { c.FailFast = on }
}

// WithAllErrors says whether Wait returns the errors of all tasks that are over, joined
// ([errors.Join]) in the order in which they completed. The default is false: the first one,
// as later ones are often only its consequences.
func WithAllErrors(on bool) Option {
	return func(c *Config) { c.AllErrors = on }
}

// WithPanicToError says whether a panic in a task becomes the error of its
// result. The default is true; false lets the panic end the process.
func WithPanicToError(on bool) Option {
	return func(c *Config) { c.PanicToError = on }
}

// WithMaxConcurrency bounds the number of accepted tasks that are unfinished,
// and with it the number that run at once. The default, 0, is no bound.
// It panics if n is negative.
func WithMaxConcurrency(n int) Option {
	if n < 0 {
		panic("group: negative concurrency limit")
	}
	return func(c *Config) { c.MaxConcurrency = n }
}

// WithResultBuffer makes room for n results when the group is made. It is a
// hint that saves growing the queue, not a bound. The default is 0.
// It panics if n is negative.
func WithResultBuffer(n int) Option {
	if n < 0 {
		panic("group: negative result buffer")
	}
	return func(c *Config) { c.ResultBuffer = n }
}
