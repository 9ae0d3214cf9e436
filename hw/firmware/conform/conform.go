// Package conform makes cases of a board's firmware of the clauses of the contracts.
//
// The clauses are those of the host. What is different is how a check learns that
// nothing more happens: there is no synctest on a board, so it asks the board's
// Settle, or goroutines are let run some times; what must not happen and does so later
// goes unseen. What must happen is waited for, and the host bounds the
// time.
//
// Clauses that need promises which an implementation does not make, or a platform
// which the board is not, are skipped with that reason; the list says so as well. None
// is skipped by its name.
//
// All clauses together need more flash than the smallest boards have. The packages below
// this one have those of a contract each, and an image names those that it has room for.
package conform

import (
	"iter"
	"runtime"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/hw/firmware"
)

// Cases returns the clauses of the contracts that impl implements.
func Cases(impl dyno.Impl) firmware.Cases { return Of(impl, conformance.Clauses(impl)) }

// Of returns some clauses of the contracts that impl implements.
func Of(impl dyno.Impl, clauses iter.Seq[*conformance.Clause]) firmware.Cases {
	return func(yield func(firmware.Case) bool) {
		for c := range clauses {
			if !yield(of(impl, c)) {
				return
			}
		}
	}
}

// seed is where random choices come from. It is always the same: a board that fails
// does so again.
const seed = 1

// rounds is how often a stochastic clause repeats its experiment.
const rounds = 1

// of makes a case of a clause.
func of(impl dyno.Impl, c *conformance.Clause) firmware.Case {
	env := func(b *firmware.Board) *conformance.Env {
		e := &conformance.Env{Impl: impl, Seed: seed, Rounds: rounds, Settle: b.Settle, Platform: b.Platform}
		if e.Settle == nil {
			e.Settle = settle
		}
		return e
	}
	return firmware.Case{
		Part: "conform", Name: c.Name,
		Skip: func(b *firmware.Board) string { return c.Skip(env(b)) },
		Run: func(r *firmware.Report) error {
			e := env(r.Board)
			e.Measured = func(value int, unit string) { r.Note(c.Name, " ", value, " ", unit) }
			if err := c.Check(e); err != nil {
				return &broken{c, err}
			}
			return nil
		},
	}
}

// broken says what was seen, and which rule that breaks.
type broken struct {
	clause *conformance.Clause
	seen   error
}

// Error implements error.
func (b *broken) Error() string {
	return b.seen.Error() + " – rule " + b.clause.Rule + ": " + b.clause.Why
}

// turns is how often others are let run before a check takes it that nothing more
// happens. A message that is passed on takes one for each goroutine on its way;
// checks have some ten in a row.
const turns = 100

// settle lets run what can run, where one goroutine runs at a time and until it waits.
func settle() {
	for range turns {
		runtime.Gosched()
	}
}
