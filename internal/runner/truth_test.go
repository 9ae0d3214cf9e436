package runner

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// What is said of taking turns is for the part ab, whose other defaults stay; the time is
// that of plain processes.
func TestTruthPlans(t *testing.T) {
	c := &Truth{Config: turns(), Parts: calibrate.TruthParts, Pairs: 30}
	c.Time, c.Seed, c.CPU = "3s", 3, []int{2}
	c.Blocks, c.Rounds, c.Slice, c.Layouts = 8, 4, 2*time.Millisecond, 3
	c.Given = given("time", "seed", "blocks", "slice")
	run := &truthRun{c: c, plans: make(map[string]*record.Plan)}
	if err := run.check(); err != nil {
		t.Fatal(err)
	}
	pairs, ab := run.plans[calibrate.TruthPairs], run.plans[calibrate.TruthAB]
	usual := DefaultAB()
	want := &record.Plan{
		CPU: []int{2}, Blocks: 8, Time: usual.Time, Seed: 3, Benchmem: true, Bench: ".", Timeout: ab.Timeout,
		Mode: record.ModeAuto, Col: record.SideKey, Control: true, Rounds: usual.Rounds, Slice: 2 * time.Millisecond, Layouts: 8,
		Looks: []int{6, 8}, Alpha: compare.DefaultAlpha, Margin: compare.DefaultMargin,
	}
	if !reflect.DeepEqual(ab, want) {
		t.Errorf("ab: got\n%+v\nwant\n%+v", ab, want)
	}
	want = &record.Plan{CPU: []int{2}, Blocks: 1, Time: "3s", Seed: 3, Benchmem: true, Bench: ".", Timeout: pairs.Timeout}
	if !reflect.DeepEqual(pairs, want) {
		t.Errorf("pairs: got\n%+v\nwant\n%+v", pairs, want)
	}
}

// What tells nothing is refused before anything is built.
func TestTruthCheck(t *testing.T) {
	for want, c := range map[string]*Truth{
		"--pairs is 5; it must be at least 6":             {Config: turns(), Parts: calibrate.TruthParts, Pairs: 5},
		"--parts is empty; it lists pairs, ab, benchstat": {Config: turns(), Pairs: 30},
	} {
		r, _ := newRunner()
		if _, err := r.Truth(t.Context(), c); err == nil || err.Error() != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A calibration that can find nothing is refused before anything is built.
func TestCalibrationCheck(t *testing.T) {
	r, _ := newRunner()
	c := turns()
	if _, err := r.Packages(t.Context(), c, &Calibration{Slows: []float64{0.1}, Trials: 1}); err == nil || err.Error() != "--blocks is 4; a trial of fewer than 6 can find nothing" {
		t.Errorf("%v", err)
	}
}

func TestTruthResumed(t *testing.T) {
	r, _ := newRunner()
	path := filepath.Join(t.TempDir(), "none.bench")
	c := &Truth{Config: turns(), Parts: []string{calibrate.TruthPairs, calibrate.TruthAB}}
	c.Resume = path
	if _, err := r.Truth(t.Context(), c); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of no file: %v", err)
	}
	if want := "benchrun run --parts pairs,ab"; r.command != want {
		t.Errorf("it goes on by %q, want %q", r.command, want)
	}
	j, _ := newJob(t, 1)
	if err := r.run(t.Context(), IdleOff, prepared(j), nil); err != nil {
		t.Fatal(err)
	}
	c.Resume = j.path
	if _, err := r.Truth(t.Context(), c); err == nil || err.Error() != j.path+" is not of a truth suite: benchrun calibrate --truth makes them" {
		t.Errorf("of another run: %v", err)
	}
}
