package conformtest

import (
	"os"
	"strings"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance"
)

// RunSeeds runs the stochastic clauses of package actor with n implementations,
// the first n seeds: for one whose dispatcher takes its order from a seed, such as
//
//	conformtest.RunSeeds(t, 1000, func(seed uint64) dyno.Impl { … })
//
// Clause and implementation have the same seed, and each is tried once. With
// -short or under -race, where everything takes ten times as long, it is a
// tenth of the seeds; with DYNO_SEED it is that seed alone.
func RunSeeds(t *testing.T, n int, impl func(seed uint64) dyno.Impl) {
	var stochastic []conformance.Clause
	for _, c := range conformance.Actor() {
		if c.Kind == conformance.Stochastic {
			stochastic = append(stochastic, c)
		}
	}
	runSeeds(t, n, impl, "actor/", stochastic)
}

// RunTaskSeeds does the same with all clauses of package task, for one whose
// executor takes its order from a seed: there every clause depends on it.
func RunTaskSeeds(t *testing.T, n int, impl func(seed uint64) dyno.Impl) {
	runSeeds(t, n, impl, "task/", conformance.Task())
}

func runSeeds(t *testing.T, n int, impl func(seed uint64) dyno.Impl, contract string, clauses []conformance.Clause) {
	set, err := readSettings(os.Getenv, testing.Short(), raceEnabled)
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv(loadEnv) != "" {
		beLoad()
	}
	if testing.Short() || raceEnabled {
		n = (n + 9) / 10
	}
	first := uint64(0)
	if os.Getenv("DYNO_SEED") != "" {
		first, n = set.seed, 1
	}
	set.rounds = 1
	pkg := callingPackage()
	for _, c := range clauses {
		t.Run(strings.TrimPrefix(c.Name, contract), func(t *testing.T) {
			for i := range uint64(n) {
				seed := first + i
				s := &suite{impl: impl(seed), set: set, limit: patience, pkg: pkg}
				if why := c.Skip(s.env(seed)); why != "" {
					s.report(t, c, outcome{skip: why})
					return
				}
				if err := s.try(t, c.Check, seed); err != nil {
					s.report(t, c, outcome{err: err, seed: seed})
					return
				}
			}
			(&suite{impl: impl(first)}).report(t, c, outcome{})
		})
	}
}
