package calibrate

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// CalibrationPath returns the path of the calibration that is derived from
// results.
func CalibrationPath(results string) string {
	return strings.TrimSuffix(results, filepath.Ext(results)) + ".json"
}

// CalibrationPrefix begins the names of the files of calibrations.
const CalibrationPrefix = "calibration-"

// calibrated are the circumstances that a calibration holds for: one made in
// others says less.
var calibrated = []string{"cpu-model", "cores", "cpu-quota", "memory", "kernel", "virtual", "governor", "toolchain", "gogc", "gomemlimit", "godebug"}

// Calibrations returns, for each machine that the files are of, the latest
// calibration of it that lies beside one of them. A calibration that cannot be
// read is none.
func Calibrations(files []compare.File) []compare.CalibrationQuote {
	return CalibrationsIn(files, os.DirFS)
}

// CalibrationsIn is Calibrations in the folders that open returns, by the folder
// of a file's path.
func CalibrationsIn(files []compare.File, open func(folder string) fs.FS) []compare.CalibrationQuote {
	var quotes []compare.CalibrationQuote
	for _, f := range files {
		machine := f.Value("machine")
		if machine == "" || compare.ReadsStdin(f.Path) {
			continue
		}
		folder := filepath.Dir(f.Path)
		c, name := latestCalibration(open(folder), machine)
		if c == nil {
			continue
		}
		q := compare.CalibrationQuote{Machine: machine, Path: filepath.Join(folder, name), Calibration: c}
		for _, key := range calibrated {
			if then, now := c.Circumstances[key], f.Value(key); then != now {
				q.Stale = append(q.Stale, fmt.Sprintf("%s: %s → %s", key, compare.OrNone(then), compare.OrNone(now)))
			}
		}
		at := slices.IndexFunc(quotes, func(o compare.CalibrationQuote) bool { return o.Machine == machine })
		if at < 0 {
			at, quotes = len(quotes), append(quotes, q)
		}
		driven := quotes[at].Driven
		for _, d := range f.Values("driven") {
			if d != record.ModeProcess && !slices.Contains(driven, d) {
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
func latestCalibration(folder fs.FS, machine string) (latest *compare.Calibration, name string) {
	names, _ := fs.Glob(folder, CalibrationPrefix+"*.json") // the pattern is well-formed
	for _, n := range names {
		// Opening a pipe would wait for a writer.
		if info, err := fs.Stat(folder, n); err != nil || !info.Mode().IsRegular() {
			continue
		}
		data, err := fs.ReadFile(folder, n)
		c := new(compare.Calibration)
		if err != nil || json.Unmarshal(data, c) != nil || c.Schema != CalibrationSchema || c.Circumstances["machine"] != machine {
			continue
		}
		// One that pools the latest with earlier ones is as late, and says more.
		if latest == nil || c.Measured.After(latest.Measured) || c.Measured.Equal(latest.Measured) && c.Alarms.N > latest.Alarms.N {
			latest, name = c, n
		}
	}
	return latest, name
}
