package lab

import (
	"encoding/json"
	"fmt"
	"io/fs"
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

	// Driven says how the benchmarks of the files are driven, each way once: what the
	// calibration shows of other ways need not hold for them. Benchmarks that took no
	// turns are not in it.
	Driven []string

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
func Calibrations(files []File) []CalibrationQuote { return CalibrationsIn(files, os.DirFS) }

// CalibrationsIn is Calibrations in the folders that open returns, by the folder
// of a file's path.
func CalibrationsIn(files []File, open func(folder string) fs.FS) []CalibrationQuote {
	var quotes []CalibrationQuote
	for _, f := range files {
		machine := setting(f, "machine")
		if machine == "" || ReadsStdin(f.Path) {
			continue
		}
		folder := filepath.Dir(f.Path)
		c, name := latestCalibration(open(folder), machine)
		if c == nil {
			continue
		}
		q := CalibrationQuote{Machine: machine, Path: filepath.Join(folder, name), Calibration: c}
		for _, key := range calibrated {
			if then, now := c.Circumstances[key], setting(f, key); then != now {
				q.Stale = append(q.Stale, fmt.Sprintf("%s: %s → %s", key, orNone(then), orNone(now)))
			}
		}
		for _, s := range f.Config {
			if s.Key == "driven" {
				q.Driven = slices.DeleteFunc(slices.Clone(s.Values), func(v string) bool { return v == ModeProcess })
			}
		}
		at := slices.IndexFunc(quotes, func(o CalibrationQuote) bool { return o.Machine == machine })
		if at < 0 {
			quotes = append(quotes, q)
			continue
		}
		driven := quotes[at].Driven
		for _, d := range q.Driven {
			if !slices.Contains(driven, d) {
				driven = append(driven, d)
			}
		}
		if c.Measured.After(quotes[at].Calibration.Measured) {
			quotes[at] = q
		}
		quotes[at].Driven = driven
	}
	return quotes
}

// latestCalibration returns the calibration of a machine in folder that was
// measured last, and its name; nil if there is none.
func latestCalibration(folder fs.FS, machine string) (latest *Calibration, name string) {
	names, _ := fs.Glob(folder, CalibrationPrefix+"*.json") // the pattern is well-formed
	for _, n := range names {
		// Opening a pipe would wait for somebody to write to it.
		if info, err := fs.Stat(folder, n); err != nil || !info.Mode().IsRegular() {
			continue
		}
		data, err := fs.ReadFile(folder, n)
		if err != nil {
			continue
		}
		c := new(Calibration)
		if json.Unmarshal(data, c) != nil || c.Schema != CalibrationSchema || c.Circumstances["machine"] != machine {
			continue
		}
		// One that pools the latest with earlier ones is as late, and says more.
		if latest == nil || c.Measured.After(latest.Measured) || c.Measured.Equal(latest.Measured) && c.Alarms.N > latest.Alarms.N {
			latest, name = c, n
		}
	}
	return latest, name
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
