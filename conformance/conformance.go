package conformance

import (
	"iter"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno"
)

// Kind says of a clause who must keep it and how it finds out.
type Kind int

const (
	// Required: every implementation keeps it, and one run decides.
	Required Kind = iota
	// Promised: only an implementation that makes the promise in Needs keeps
	// it; one run decides.
	Promised
	// Stochastic: every implementation keeps it. The check drives many
	// goroutines in an order derived from Env.Seed and repeats that Env.Rounds
	// times: a pass is evidence, a failure is proof.
	Stochastic
)

// String returns the kind in lower case, as reports print it.
func (k Kind) String() string {
	switch k {
	case Required:
		return "required"
	case Promised:
		return "promised"
	case Stochastic:
		return "stochastic"
	}
	return "Kind(" + strconv.Itoa(int(k)) + ")"
}

// Clause is one sentence of a contract, with a check.
type Clause struct {
	// Name is contract/short-name, such as "group/next-completion-order". It
	// is stable: people put it into -run patterns.
	Name string
	// Rule is the line of the requirements that the clause belongs to: "G4".
	Rule string
	// Why is one sentence: what the rule is and why it matters. A failure
	// prints it.
	Why string
	// Kind says who must keep the clause.
	Kind Kind
	// Needs holds what an implementation must promise for the check to make
	// sense. It is skipped for the others; see Skip.
	Needs dyno.Promises
	// Either holds promises of which an implementation must make one, if there are
	// any, for the check to make sense.
	Either dyno.Promises
	// Lacks holds what an implementation must not promise for the check to make
	// sense: it is about executors that run tasks on demand, say.
	Lacks dyno.Promises
	// On holds what the machine must be able to do for the check to make
	// sense.
	On Platform
	// Exact: the check makes sense only where Env.Exact is set.
	Exact bool
	// Core: only the actor core can break it, on any implementation. [Core] lists
	// it, and [Actor] does not.
	Core bool
	// Script is the scenario that Check plays; "" if the check is written in Go.
	Script string
	// Check returns nil if e.Impl keeps the clause and otherwise an error that
	// says what was seen. It does not return if the implementation hangs:
	// its runner bounds the time, and finds in e.Doing what it waits for.
	Check func(e *Env) error
}

// Skip says why c cannot be run in e, such as "needs Overlap, which serial
// does not promise". It returns "" if c can be run.
func (c Clause) Skip(e *Env) string {
	if lacks := e.Impl.Promises.Lacks(c.Needs); len(lacks) > 0 {
		return "needs " + join(lacks) + ", which " + e.Impl.Name + " does not promise"
	}
	if either := (dyno.Promises{}).Lacks(c.Either); len(either) > 0 && len(e.Impl.Promises.Lacks(c.Either)) == len(either) {
		return "needs one of " + join(either) + ", of which " + e.Impl.Name + " promises none"
	}
	unmade := e.Impl.Promises.Lacks(c.Lacks)
	for _, name := range (dyno.Promises{}).Lacks(c.Lacks) {
		if !slices.Contains(unmade, name) {
			return "is for implementations without " + name + ", which " + e.Impl.Name + " promises"
		}
	}
	if c.Exact && !e.Exact {
		return "needs to know when nothing more happens, which is not known here"
	}
	if lacks := e.Platform.lacks(c.On); len(lacks) > 0 {
		return "needs " + join(lacks) + ", which this platform does not have"
	}
	return ""
}

// Platform is what a machine can do. Some clauses need more than every machine
// has: on small boards the runtime is not Go's own.
type Platform struct {
	// Goexit: runtime.Goexit runs the deferred functions of its goroutine.
	Goexit bool
	// RuntimePanics: run-time errors, such as a nil dereference, can be recovered.
	RuntimePanics bool
	// Stacks: runtime.Stack tells the stack.
	Stacks bool
	// Goroutines: runtime.NumGoroutine counts those of the process.
	Goroutines bool
	// Heap: there are megabytes of heap, and runtime.ReadMemStats after
	// runtime.GC tells what is reachable.
	Heap bool
}

func (p Platform) lacks(need Platform) []string {
	var lacks []string
	for _, f := range []struct {
		name       string
		need, have bool
	}{
		{"Goexit", need.Goexit, p.Goexit},
		{"RuntimePanics", need.RuntimePanics, p.RuntimePanics},
		{"Stacks", need.Stacks, p.Stacks},
		{"Goroutines", need.Goroutines, p.Goroutines},
		{"Heap", need.Heap, p.Heap},
	} {
		if f.need && !f.have {
			lacks = append(lacks, f.name)
		}
	}
	return lacks
}

// Env is what a check runs in. The runner of clauses makes a new one for every
// run of a check; its exported fields do not change afterwards.
type Env struct {
	// Impl is the implementation to check.
	Impl dyno.Impl
	// Seed is where every random choice of the check comes from.
	Seed uint64
	// Rounds is how often a stochastic check repeats its experiment; less than
	// one means once.
	Rounds int
	// Settle returns when everything that can run has run and waits:
	// synctest.Wait on a host, elsewhere what asks the scheduler, or on one
	// processor a bounded loop of yields. Only the goroutine of the check calls it.
	Settle func()
	// Exact: what has not happened when Settle returns will not happen unless
	// the check does something. True under testing/synctest.
	Exact bool
	// Patience is how long a check waits for something that must happen, where Exact
	// is not set; 0 means that the check's runner bounds the time.
	Patience time.Duration
	// AtRest, if not nil, reports whether nothing runs or could run at this moment but the
	// caller: what a check waits for will not come if that stays so. Any goroutine may call it.
	AtRest func() bool
	// Spins, if not nil, reports whether the program works and works and the check sees
	// nothing of it: what it waits for will not come. Any goroutine may call it.
	Spins func() bool
	// Stacks, if not nil, returns the stacks of the check's goroutines, for the
	// error of a check that has waited in vain.
	Stacks func() []byte
	// Platform is what the machine can do.
	Platform Platform
	// Measured takes a figure that a check has found, such as the bound that an
	// implementation keeps where the contract leaves it some room. Nil where
	// it is not asked for.
	Measured func(value int, unit string)

	checked atomic.Int64 // demands that the check has made of what it has seen

	mu    sync.Mutex
	doing string
	gates []*gate
}

// Doing says what the check waits for, in words such as "Next to return". It
// may be called at any time by any goroutine; it is meant for a runner that finds
// that the check hangs.
func (e *Env) Doing() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.doing
}

// Checked returns how many demands the check has made so far of what it has seen: while that
// grows it goes on. It may be called at any time by any goroutine.
func (e *Env) Checked() int64 { return e.checked.Load() }

// Met notes that a demand was met which the check makes by itself: it has waited for something,
// and that has come. Any goroutine may call it.
func (e *Env) Met() { e.checked.Add(1) }

func (e *Env) waitFor(what string) {
	e.mu.Lock()
	e.doing = what
	e.mu.Unlock()
}

// release opens every gate, so that no task of a check that is over waits for
// something that will not come.
func (e *Env) release() {
	e.mu.Lock()
	gates := e.gates
	e.gates = nil
	e.mu.Unlock()
	for _, g := range gates {
		g.open()
	}
}

// measured reports a figure.
func (e *Env) measured(value int, unit string) {
	if e.Measured != nil {
		e.Measured(value, unit)
	}
}

// rounds returns how often a stochastic check repeats its experiment.
func (e *Env) rounds() int { return max(1, e.Rounds) }

// Clauses returns the clauses of those contracts that impl implements, one after the
// other: group's, actor's, task's. Unlike the lists it copies nothing, which on a board
// would take more memory than there is. They must not be changed.
//
// Who has not even the room for all checks asks for some of them: by [GroupClauses],
// [ActorClauses] and [TaskClauses]. A linker leaves out what is not asked for.
func Clauses(impl dyno.Impl) iter.Seq[*Clause] {
	return func(yield func(*Clause) bool) {
		for _, clauses := range [...]func(dyno.Impl) iter.Seq[*Clause]{GroupClauses, ActorClauses, TaskClauses} {
			for c := range clauses(impl) {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// each returns the clauses of some lists.
func each(lists [][]Clause) iter.Seq[*Clause] {
	return func(yield func(*Clause) bool) {
		for _, list := range lists {
			for i := range list {
				if !yield(&list[i]) {
					return
				}
			}
		}
	}
}

// GroupClauses returns the clauses of package group as [Clauses] does: none for an
// implementation without groups.
func GroupClauses(impl dyno.Impl) iter.Seq[*Clause] {
	if impl.NewGroup == nil {
		return func(func(*Clause) bool) {}
	}
	return each(groupParts())
}

// Group returns the clauses of package group, in the order of the rules.
func Group() []Clause { return slices.Concat(groupParts()...) }

func groupParts() [][]Clause {
	return [][]Clause{
		makeClauses, goClauses, limitClauses, allClauses, closeClauses, nextClauses, consumerClauses,
		waitClauses, cancelClauses, failFastClauses, panicClauses, goexitClauses, leftoverClauses,
		promiseClauses, stormClauses,
	}
}

func join(names []string) string {
	s := ""
	for i, n := range names {
		switch {
		case i == 0:
		case i == len(names)-1:
			s += " and "
		default:
			s += ", "
		}
		s += n
	}
	return s
}
