package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/runner"
)

// truthPairs is how many pairs calibrate --truth measures by default: enough for an
// interval of about a third of what processes differ by.
const truthPairs = 30

// checkTruth returns an error for flags that make no sense with --truth, or without.
func (c *calibrateFlags) checkTruth(cmd *cobra.Command) error {
	if !c.truth {
		if flag := firstChanged(cmd, "pairs", "parts", "time"); flag != "" {
			return fmt.Errorf("--%s is for --truth", flag)
		}
		return nil
	}
	if flag := firstChanged(cmd, "quick", "slow", "trials"); flag != "" {
		return fmt.Errorf("--%s is for copies that are slowed on purpose, and with --truth there are none", flag)
	}
	if c.Given("for") && c.Given("pairs") {
		return errors.New("--pairs and --for both say how many pairs are measured")
	}
	for _, part := range c.suite.Parts {
		if err := oneOf("--parts", part, calibrate.TruthParts); err != nil {
			return err
		}
	}
	return nil
}

// measureTruth measures a truth suite, or goes on with it, and shows what came of it.
func (c *calibrateFlags) measureTruth(cmd *cobra.Command, args []string) error {
	t := c.suite
	t.Config, t.Time = c.Config, c.suite.Time
	if t.Bench == "" {
		t.Bench = "."
	}
	if c.Given("for") {
		t.For = c.copies.For
	}
	t.Args, t.Packages = versionsAndPackages(cmd, args)
	files, err := runner.New(consoleOf(cmd), "benchrun calibrate --truth").Truth(cmd.Context(), &t)
	if len(files) == 0 {
		return err
	}
	if !slices.Contains(t.Parts, calibrate.TruthPairs) && t.Resume == "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "results: %s\nthe truth is in other files: benchrun calibrate --truth --from FILES shows them together\n", strings.Join(files, " "))
		return err
	}
	if shown := showTruth(cmd, files, c.format, calibrate.CalibrationPath(calibrate.TruthPath(files[0], calibrate.TruthPairs))); err == nil {
		err = shown
	}
	return err
}
