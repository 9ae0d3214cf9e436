package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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
func runDefault(cmd *cobra.Command, on string) error {
	if !runner.InDyno(cmd.Context()) {
		return errors.New(welcome("."))
	}
	start := time.Now()
	err := elsewhere(cmd, "benchrun run", on, func(r *runner.Runner, m runner.Machine) error {
		c := defaultConfig
		measuredOn(&c, m)
		r.AfterBlock = func(path string, block int) { soFar(cmd, path, block) }
		path, err := r.Packages(cmd.Context(), c, nil)
		if err != nil {
			if errors.Is(err, session.ErrInterrupted) && path != "" {
				_ = present(cmd, path) // there may be nothing yet
			}
			return err
		}
		for _, file := range r.Results(path) {
			if err := present(cmd, file); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "took %v\n", time.Since(start).Round(time.Second))
	return nil
}

// welcome says what benchrun is for where it is typed alone, and if there is no benchmark
// below folder, what one looks like.
func welcome(folder string) string {
	const text = `nothing to do yet. It says which benchmarks of a Go module got slower, by how much, and how surely:
  benchrun ab main      compares the working directory with main, in a minute or two
  benchrun run .        measures the benchmarks of a package, and keeps the results
  benchrun --help       has the rest (in a checkout of dyno, benchrun alone compares its implementations)`
	if hasBenchmark(folder) {
		return text
	}
	return text + "\nThere is no benchmark below this folder yet. " + runner.Example
}

// hasBenchmark reports whether a test file below folder has a benchmark.
func hasBenchmark(folder string) (found bool) {
	_ = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil // what cannot be read has none to see
		case entry.IsDir() && path != folder && (entry.Name() == "vendor" || entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".")):
			return filepath.SkipDir
		case strings.HasSuffix(path, "_test.go"):
			data, _ := os.ReadFile(path)
			if found = bytes.Contains(data, []byte("\nfunc Benchmark")); found {
				return filepath.SkipAll
			}
		}
		return nil
	})
	return found
}

// soFar writes the report of a comparison that goes on. After the first block it shows that as well:
// which way the figures point is seen in a minute, and how surely in the end.
func soFar(cmd *cobra.Command, path string, block int) {
	c, card, err := compareFiles(cmd, []string{path}, reportOptions())
	doc := report.Path([]string{path}, "")
	if err == nil {
		err = report.Write(c, card, doc)
	}
	if err == nil && block == 1 {
		next := []string{"so far:  " + report.HTMLPath(doc) + ", written again after each block; Ctrl-C leaves what there is"}
		err = comparison(cmd.OutOrStdout(), c, report.Extra{Card: card, Next: next}).show(cmd.OutOrStdout(), "text", nil)
	}
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "benchrun: there is no report of the blocks so far: %v\n", err)
	}
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
	return comparison(cmd.OutOrStdout(), c, report.Extra{Card: card, Next: next}).show(cmd.OutOrStdout(), "text", nil)
}
