package lab

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A CalibrationQuote is what a report says of how far its machine's verdicts can
// be trusted.
type CalibrationQuote struct {
	Machine     string
	Path        string // of the calibration
	Calibration *Calibration

	// Stale are the circumstances that were others when the machine was
	// calibrated, each as "key: then → now".
	Stale []string
}

// CalibrationPath returns the path of the calibration that is derived from
// results.
func CalibrationPath(results string) string {
	return strings.TrimSuffix(results, filepath.Ext(results)) + ".json"
}

// CalibrationPrefix begins the names of the files of calibrations.
const CalibrationPrefix = "calibration-"

// calibrated are the circumstances that a calibration holds for: one made in
// others says less.
var calibrated = []string{"cpu-model", "cores", "memory", "kernel", "virtual", "governor", "toolchain", "gogc", "gomemlimit", "godebug"}

// Calibrations returns, for each machine that the files are of, the latest
// calibration of it that lies beside one of them. A calibration that cannot be
// read is none.
func Calibrations(files []File) []CalibrationQuote {
	var quotes []CalibrationQuote
	for _, f := range files {
		machine := setting(f, "machine")
		if machine == "" || ReadsStdin(f.Path) {
			continue
		}
		c, path := latestCalibration(filepath.Dir(f.Path), machine)
		if c == nil {
			continue
		}
		q := CalibrationQuote{Machine: machine, Path: path, Calibration: c}
		for _, key := range calibrated {
			if then, now := c.Circumstances[key], setting(f, key); then != now {
				q.Stale = append(q.Stale, fmt.Sprintf("%s: %s → %s", key, orNone(then), orNone(now)))
			}
		}
		at := slices.IndexFunc(quotes, func(o CalibrationQuote) bool { return o.Machine == machine })
		switch {
		case at < 0:
			quotes = append(quotes, q)
		case c.Measured.After(quotes[at].Calibration.Measured):
			quotes[at] = q
		}
	}
	return quotes
}

// latestCalibration returns the calibration of a machine in folder that was
// measured last, and its path; nil if there is none.
func latestCalibration(folder, machine string) (latest *Calibration, path string) {
	paths, _ := filepath.Glob(filepath.Join(escapeGlob(folder), CalibrationPrefix+"*.json")) // the pattern is well-formed
	for _, p := range paths {
		data, err := os.ReadFile(p)
		if err != nil {
			continue
		}
		c := new(Calibration)
		if json.Unmarshal(data, c) != nil || c.Schema != CalibrationSchema || c.Circumstances["machine"] != machine {
			continue
		}
		if latest == nil || c.Measured.After(latest.Measured) {
			latest, path = c, p
		}
	}
	return latest, path
}

// escapeGlob keeps the characters of a folder's name from being a pattern.
func escapeGlob(s string) string {
	if filepath.Separator == '\\' {
		return s // where Glob knows no escapes
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// setting returns the values of a configuration key, joined as those of a
// calibration's circumstances are; "" if there is none.
func setting(f File, key string) string {
	for _, s := range f.Config {
		if s.Key == key {
			return strings.Join(s.Values, "; ")
		}
	}
	return ""
}
