package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/runner"
)

// measure calibrates, or goes on with it, and shows what came of it.
func (c *calibrateFlags) measure(cmd *cobra.Command, packages []string) error {
	if c.quick {
		c.For, _ = time.ParseDuration(quickCalibration)
	}
	c.copies.For, c.Packages = c.For, packages
	return elsewhere(cmd, "benchrun calibrate", c.on, func(r *runner.Runner, m runner.Machine) error {
		one := c.Config
		measuredOn(&one, m)
		path, err := r.Packages(cmd.Context(), one, &c.copies)
		for _, path := range r.Results(path) {
			if shown := showCalibration(cmd, []string{path}, calibrate.Options{}, c.format, calibrate.CalibrationPath(path)); err == nil {
				err = shown
			}
		}
		return err
	})
}

// measureTruth measures a truth suite, or goes on with it, and shows what came of it.
func (c *calibrateFlags) measureTruth(cmd *cobra.Command, args []string) error {
	c.Time = c.plainTime
	if !c.Given("for") {
		c.For = 0
	}
	c.Args, c.Packages = versionsAndPackages(cmd, args)
	files, err := runner.New(consoleOf(cmd), "benchrun calibrate --truth").Truth(cmd.Context(), &c.Truth)
	if len(files) == 0 {
		return err
	}
	if !slices.Contains(c.Parts, calibrate.TruthPairs) && c.Resume == "" {
		fmt.Fprintf(cmd.ErrOrStderr(), "results: %s\nthe truth is in other files: benchrun calibrate --truth --from FILES shows them together\n", strings.Join(files, " "))
		return err
	}
	if shown := showTruth(cmd, files, c.format, calibrate.CalibrationPath(calibrate.TruthPath(files[0], calibrate.TruthPairs))); err == nil {
		err = shown
	}
	return err
}

// showCalibration computes what the files show and prints it, and writes it as
// JSON to path, if that is not empty.
func showCalibration(cmd *cobra.Command, files []string, o calibrate.Options, format, path string) error {
	c, err := calibrate.Read(files, o)
	if err != nil {
		return err
	}
	return showFindings(cmd, "calibration", files, format, path, report.Calibration(c), func(w io.Writer) error { return report.WriteJSON(w, c) })
}

// showTruth computes what the files show and prints it, and writes it as JSON to path,
// if that is not empty.
func showTruth(cmd *cobra.Command, files []string, format, path string) error {
	t, err := calibrate.ReadTruth(files)
	if err != nil {
		return err
	}
	return showFindings(cmd, "truth suite", files, format, path, report.Truth(t), func(w io.Writer) error { return report.WriteJSON(w, t) })
}

// showFindings prints what was found in files, and writes it as JSON to path, if that is not
// empty. what says what it is.
func showFindings(cmd *cobra.Command, what string, files []string, format, path string, doc report.Doc, writeJSON func(io.Writer) error) (err error) {
	document := documentOf(func(report.Form) report.Doc { return doc })
	err = document.show(cmd.OutOrStdout(), format, map[string]func(io.Writer) error{"json": writeJSON})
	if err != nil || path == "" {
		return err
	}
	var b bytes.Buffer
	if err := writeJSON(&b); err != nil {
		return err
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the %s: %w", what, err)
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "%s: %s\nresults: %s\n", what, path, strings.Join(files, " "))
	return nil
}
