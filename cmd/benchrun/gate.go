package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/runner"
)

// The values of --gate; "" is none.
const (
	gateSlower = "slower"
	gateStrict = "strict"
)

// gateFlags are those of ab and compare that make verdicts an exit status.
type gateFlags struct {
	gate       string
	allowEmpty bool
}

func (f *gateFlags) fields() fields { return fields{"gate": &f.gate, "allow-empty": &f.allowEmpty} }

// check returns an error if the flags make no sense without one another. A run has nothing
// to do with --gate where it measures nothing.
func (f *gateFlags) check(measures bool) error {
	if f.allowEmpty && f.gate == "" && !measures {
		return errors.New("--allow-empty is for --gate")
	}
	return nil
}

// report says on w what the gate found in c, and returns its exit status as an error.
func (f *gateFlags) report(w io.Writer, c *compare.Comparison) error {
	g := c.Gate()
	if f.gate == "" {
		return nil
	}
	for _, s := range slices.Concat(g.Broken, g.Slower, g.Inconclusive) {
		fmt.Fprintf(w, "gate: %s\n", s)
	}
	switch {
	case g.Bad():
		return exitError(exitSlower)
	case g.Empty && !f.allowEmpty:
		fmt.Fprintf(w, "gate: nothing was compared, which is status %d; if that is meant: --allow-empty\n", exitEmpty)
		return exitError(exitEmpty)
	case f.gate == gateStrict && len(g.Inconclusive) > 0:
		return exitError(exitInconclusive)
	case g.Blind && !f.allowEmpty:
		fmt.Fprintf(w, "gate: however slow, nothing here could be proven to be slower, which is status %d: too few blocks, or not measured alternately, as benchrun ab does; if that is meant: --allow-empty\n", exitEmpty)
		return exitError(exitEmpty)
	}
	return nil
}

// nothing is the error of a comparison without a gate of which nothing could be measured.
func (f *gateFlags) nothing() error {
	if f.allowEmpty {
		return nil
	}
	return emptyError{runner.ErrNothing}
}
