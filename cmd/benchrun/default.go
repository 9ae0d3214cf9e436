package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/session"
)

// defaultConfig is what the default comparison measures: all task groups, and of
// actors and executors what tells most and takes turns in slices of milliseconds.
// With all of them it would take an hour. 14 blocks, because the least p that so
// many can have, 2/2^14, is still small enough after Holm's correction over some
// four hundred comparisons; each has a layout of its own.
var defaultConfig = runner.Config{
	Packages: []string{runner.DefaultPackages},
	Bench: "^BenchmarkGroup$" +
		"|^BenchmarkActor$/^workload=(pingpong|count|ring)$/^impl=" +
		"|^BenchmarkTask$/^workload=yield$/^impl=",
	Blocks:   14,
	Mode:     record.ModeAuto,
	Control:  true,
	Rounds:   4,
	Slice:    session.FigureSlice,
	Layouts:  14,
	Schedule: runner.ScheduleFixed,
	Time:     "100ms",
	Idle:     runner.IdleWarn,
}

// runDefault is benchrun without a command: the comparison of dyno's own
// implementations, sized to take eight to nine minutes on two cores.
func runDefault(cmd *cobra.Command, _ []string) error {
	if !runner.InDyno(cmd.Context()) {
		return errors.New("without a command benchrun compares dyno's implementations, and this folder is not in a checkout of dyno; " +
			"to measure a package here: benchrun run ./package (benchrun --help shows more)")
	}
	start := time.Now()
	path, err := runner.New(consoleOf(cmd), "benchrun run").Packages(cmd.Context(), defaultConfig, nil)
	if err != nil {
		return err
	}
	if err := present(cmd, path); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "took %v\n", time.Since(start).Round(time.Second))
	return nil
}

// present shows the results of the default comparison and writes their report.
func present(cmd *cobra.Command, path string) error {
	c, card, err := compareFiles(cmd, []string{path}, reportOptions())
	if err != nil {
		return err
	}
	doc := report.Path([]string{path}, "")
	if err := report.Write(c, card, doc); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	next := []string{"report:  " + report.HTMLPath(doc), "results: " + path}
	return comparison(c, report.Extra{Card: card, Next: next}).show(cmd.OutOrStdout(), "text", nil)
}
