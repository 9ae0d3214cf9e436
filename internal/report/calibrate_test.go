package report

import (
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
)

// aCalibration is made up, and has every part.
func aCalibration() *compare.Calibration {
	few := compare.CalibratedEffect{
		Slow: 0.02, Found: compare.Rate{K: 38, N: 40, Lo: 0.831, Hi: 0.994}, Called: compare.Rate{K: 36, N: 40, Lo: 0.763, Hi: 0.972},
		Denied: compare.Rate{K: 0, N: 40, Hi: 0.088}, Covered: compare.Rate{K: 39, N: 40, Lo: 0.868, Hi: 0.999}, Ratio: 1.0203, Seconds: 1.02,
	}
	many := few
	many.Slow, many.Ratio = 0.05, 1.0498
	return &compare.Calibration{
		Findings: compare.Findings{
			Schema: calibrate.CalibrationSchema, Files: []string{"calibration-1.bench"}, Measured: time.Date(2026, 11, 21, 22, 0, 0, 0, time.UTC),
			Circumstances: map[string]string{"machine": "some-cpu-2c", "toolchain": "go version go1.26", "kernel": "linux 6"},
			Alpha:         0.05, Margin: 0.02,
		},
		Trials: 40, Blocks: 10, Rounds: 10, Layouts: 8,
		CalibratedRates: compare.CalibratedRates{
			Alarms: compare.Rate{K: 4, N: 80, Lo: 0.014, Hi: 0.123}, Wrong: compare.Rate{K: 0, N: 80, Hi: 0.045}, Covered: compare.Rate{K: 78, N: 80, Lo: 0.913, Hi: 0.997},
		},
		Ways: []compare.CalibratedWay{
			{
				Driven: "session", CalibratedRates: compare.CalibratedRates{Alarms: compare.Rate{K: 1, N: 40, Lo: 0.001, Hi: 0.132}, Wrong: compare.Rate{N: 40, Hi: 0.088}, Covered: compare.Rate{K: 39, N: 40, Lo: 0.868, Hi: 0.999}},
				Effects: []compare.CalibratedEffect{few, many},
			},
			{
				Driven: "runN", CalibratedRates: compare.CalibratedRates{Alarms: compare.Rate{K: 3, N: 40, Lo: 0.016, Hi: 0.204}, Wrong: compare.Rate{N: 40, Hi: 0.088}, Covered: compare.Rate{K: 38, N: 40, Lo: 0.831, Hi: 0.994}},
				Effects: []compare.CalibratedEffect{few},
			},
		},
		Benchmarks: []compare.CalibratedBenchmark{
			{
				Name: "Actor/workload=pingpong/impl=a_b-2", CalibratedWay: compare.CalibratedWay{Driven: "session", CalibratedRates: compare.CalibratedRates{Alarms: compare.Rate{K: 1, N: 40, Lo: 0.001, Hi: 0.132}, Wrong: compare.Rate{N: 40, Hi: 0.088}}, Effects: []compare.CalibratedEffect{few, many}},
				Spread: 0.0061, Detectable: 0.0112, Seconds: 1.02,
			},
			{
				Name: "HashN-2", CalibratedWay: compare.CalibratedWay{Driven: "runN", CalibratedRates: compare.CalibratedRates{Alarms: compare.Rate{K: 3, N: 40, Lo: 0.016, Hi: 0.204}, Wrong: compare.Rate{N: 40, Hi: 0.088}}, Effects: []compare.CalibratedEffect{few}},
				Spread: 0.0161, Seconds: 1.1,
			},
		},
		Effects: []compare.CalibratedEffect{few, many},
		Habits: []compare.Habit{
			{
				Name: "all of A first", Says: "one value from each process", Alarms: compare.Rate{K: 12, N: 40, Lo: 0.166, Hi: 0.465},
				Effects: []compare.HabitEffect{{Slow: 0.02, Found: compare.Rate{K: 20, N: 40}}},
			},
		},
		Faults: compare.Faults{Problems: []string{"c.bench:7: torn"}, Holes: []string{"X: missing in block 3: crashed"}},
	}
}

func TestGoldenCalibration(t *testing.T) {
	c := aCalibration()
	golden(t, "calibration.txt", plainText(t, Calibration(c)))
	text := render(t, func(w io.Writer) error { return WriteJSON(w, c) })
	back := new(compare.Calibration)
	if err := json.Unmarshal(text, back); err != nil || !reflect.DeepEqual(back, c) {
		t.Errorf("%v: read back: %+v", err, back)
	}
	// One without anything in it has no figure, and no NaN either.
	empty := plainText(t, Calibration(new(compare.Calibration)))
	if strings.Contains(empty, "NaN") || strings.Contains(empty, "0.0%") {
		t.Error(empty)
	}
}

// Benchmarks of one name in two packages are told apart, others need no package.
func TestCalibrationNamesPackagesWhereItMust(t *testing.T) {
	c := aCalibration()
	for i := range c.Benchmarks {
		c.Benchmarks[i].Pkg = "example.com/m"
	}
	other := c.Benchmarks[1]
	other.Pkg = "example.com/n"
	c.Benchmarks = append(c.Benchmarks, other)
	text := plainText(t, Calibration(c))
	mentions(t, text, "example.com/m HashN-2", "example.com/n HashN-2")
	if strings.Contains(text, "example.com/m Actor") {
		t.Errorf("a package where none is needed:\n%s", text)
	}
}

// Every report of a machine that was calibrated quotes it, and says what was
// different then.
func TestReportsQuoteTheCalibration(t *testing.T) {
	c := interleaved(t)
	c.Calibrations = []compare.CalibrationQuote{{Machine: "some-cpu-2c", Path: "x/calibration-1.json", Calibration: aCalibration()}}
	const (
		want  = "calibrated 2026-11-21): of 80 comparisons of a program with itself 5.0% had p ≤ 0.05 (1.4 to 12.3%)"
		stale = "kernel: linux 5 → linux 6"
	)
	for name, got := range formsOf(t, c) {
		if !strings.Contains(got, want) || strings.Contains(got, "other circumstances") {
			t.Errorf("%s: no %q, or stale, in\n%s", name, want, got)
		}
	}
	c.Calibrations[0].Stale = []string{stale}
	for name, got := range formsOf(t, c) {
		if !strings.Contains(got, stale) {
			t.Errorf("%s: no %q in\n%s", name, stale, got)
		}
	}
	var doc struct {
		Calibrations []struct {
			File   string
			Alarms compare.Rate
			Stale  []string
			Ways   []compare.CalibratedWay
		}
	}
	if err := json.Unmarshal([]byte(jsonOf(t, c, nil)), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Calibrations) != 1 || doc.Calibrations[0].File != "calibration-1.json" || doc.Calibrations[0].Alarms.K != 4 || len(doc.Calibrations[0].Stale) != 1 || len(doc.Calibrations[0].Ways) != 2 {
		t.Errorf("JSON: %+v", doc)
	}
}

// What is quoted is what was shown of benchmarks that are driven as those of the
// report are; that nothing was is said.
func TestReportsQuoteTheirWayOfDriving(t *testing.T) {
	const (
		session = "of 40 comparisons of a program with itself 2.5% had"
		runN    = "driven by b.N, of 40 comparisons of a program with itself 7.5% had"
		all     = "of 80 comparisons of a program with itself 5.0% had"
		none    = "None of that was driven by "
	)
	only := aCalibration()
	only.Ways = only.Ways[:1]
	for _, c := range []struct {
		calibration *compare.Calibration
		driven      []string
		has, lacks  []string
	}{
		{aCalibration(), nil, []string{all}, []string{session, runN, none}},
		{aCalibration(), []string{"runN"}, []string{runN, "in 95.0% of 40."}, []string{session, all, none}},
		{aCalibration(), []string{"session", "runN"}, []string{"driven by session, " + session, runN}, []string{all, none}},
		{aCalibration(), []string{"loop", "runN"}, []string{runN, none + "b.Loop, "}, []string{session, all}},
		{aCalibration(), []string{"loop"}, []string{all, none + "b.Loop, "}, []string{session, runN}},
		{only, []string{"session"}, []string{all}, []string{"driven by"}},
		{only, []string{"loop", "runN"}, []string{all, none + "b.Loop or b.N, "}, []string{session}},
		{&compare.Calibration{CalibratedRates: compare.CalibratedRates{Alarms: compare.Rate{N: 80, K: 4}}}, []string{"loop"}, []string{all}, []string{none}}, // of an earlier version
	} {
		got := quoteCalibration(compare.CalibrationQuote{Machine: "m", Calibration: c.calibration, Driven: c.driven})
		mentions(t, got, c.has...)
		for _, not := range c.lacks {
			if strings.Contains(got, not) {
				t.Errorf("driven by %v: %q in %q", c.driven, not, got)
			}
		}
	}
}
