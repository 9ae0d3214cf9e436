package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/history"
	"github.com/dynolab/dyno/internal/report"
)

// writeSite writes the pages about the results files below folders into dir, and prints where
// they begin. What cannot be compared is said on standard error, and left out.
func writeSite(cmd *cobra.Command, folders []string, dir string, o compare.Options) error {
	files, err := resultsBelow(folders)
	if err != nil {
		return err
	}
	con := consoleOf(cmd)
	var runs []report.SiteRun
	for i, f := range files {
		con.Status(fmt.Sprintf("%d/%d  %s", i+1, len(files), f.path))
		run, err := siteRun(f, o)
		if err != nil {
			fmt.Fprintf(con, "benchrun: %s is left out: %v\n", f.path, err)
			continue
		}
		runs = append(runs, run)
	}
	con.Clear()
	if len(runs) == 0 {
		return fmt.Errorf("there are no results below %s that can be reported: benchrun run makes some", strings.Join(folders, ", "))
	}
	h, err := history.Read(folders, history.Options{Order: history.CommitOrder(cmd.Context(), folders[0])})
	if err != nil {
		return err
	}
	over := report.SitePage{Path: "history.html", Doc: report.History(h, report.Page)}
	for _, page := range report.Site(runs, over) {
		var b bytes.Buffer
		if err := page.Doc.HTML(&b); err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(page.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), filepath.Join(dir, "index.html"))
	return err
}

// A resultsFile is a file below a folder: its path, and its name below that.
type resultsFile struct{ path, name string }

// resultsBelow are the results files below folders, sorted. Measurements of the engine itself,
// which compare nothing that anybody would look up, are not among them.
func resultsBelow(folders []string) (files []resultsFile, err error) {
	for _, folder := range folders {
		if !isFolder(folder) {
			return nil, fmt.Errorf("--site is made of folders with results, and %s is none", folder)
		}
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(path) != ".bench" || isOfEngine(entry.Name()) {
				return err
			}
			name, err := filepath.Rel(folder, path)
			files = append(files, resultsFile{path, filepath.ToSlash(name)})
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(files, func(a, b resultsFile) int { return strings.Compare(a.name, b.name) })
	for i, f := range files {
		if i > 0 && f.name == files[i-1].name {
			return nil, fmt.Errorf("%s and %s would be one page", files[i-1].path, f.path)
		}
	}
	return files, nil
}

// isOfEngine reports whether a results file is of a calibration.
func isOfEngine(name string) bool {
	return strings.HasPrefix(name, calibrate.CalibrationPrefix) || strings.HasPrefix(name, calibrate.TruthPrefix)
}

// siteRun compares a results file.
func siteRun(f resultsFile, o compare.Options) (report.SiteRun, error) {
	c, err := compare.Compare([]string{f.path}, o)
	if err != nil {
		return report.SiteRun{}, err
	}
	if len(c.Tables) == 0 {
		return report.SiteRun{}, errors.New("it has no figures")
	}
	c.Calibrations = calibrate.Calibrations(c.Files)
	return report.SiteRun{Path: f.name, Comparison: c}, nil
}
