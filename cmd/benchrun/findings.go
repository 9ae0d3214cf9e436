package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/report"
)

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
