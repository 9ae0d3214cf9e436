package session

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

func TestForecast(t *testing.T) {
	p := recordtest.Plan(4, 5) // 8 rows of one step, so 40 processes
	p.Time = "100ms"
	if got, want := NewForecast(p, nil).Left(), 40*(60+175)*time.Millisecond; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	from := &record.Interrupted{Plan: p, Ended: 3, Done: map[record.StepKey]bool{{Index: 1, Copy: 1}: true, {Index: 2, Copy: 1}: true}, Stopped: map[int]int{3: 2, 8: 4}}
	f := NewForecast(p, from)
	if f.Steps() != 16-2-2-1 || f.Left() != 11*235*time.Millisecond {
		t.Errorf("partly done: %d steps, %v", f.Steps(), f.Left())
	}
	p.Time = "1x"
	if got, want := NewForecast(p, nil).Left(), 40*60*time.Millisecond; got != want {
		t.Errorf("by iterations: got %v, want %v", got, want)
	}

	// Warming up takes no less time for shorter slices.
	turns := func(slice time.Duration, rounds int) time.Duration {
		return NewForecast(turnsPlanOf(2, 10, rounds, slice), nil).Left()
	}
	short, long := turns(time.Millisecond, 100), turns(5*time.Millisecond, 20)
	if more := short - long; more != 30*80*sliceTime {
		t.Errorf("%v with slices of 1 ms, %v with slices of 5 ms: %v more", short, long, more)
	}

	// What has been measured counts for its row, and scales what has not, by as much as it
	// is of all rows.
	f = NewForecast(p, nil)
	steps := p.Steps()
	f.Took(120*time.Millisecond, steps[0])
	if got, want := f.Left(), 4*120*time.Millisecond+35*67500*time.Microsecond; got != want { // an eighth of ×2, and as it was expected
		t.Errorf("after one: %v, want %v", got, want)
	}
	f.Took(600*time.Millisecond, steps[1])
	if got, want := f.Left(), 4*120*time.Millisecond+4*600*time.Millisecond+30*135*time.Millisecond; got != want {
		t.Errorf("after two: %v, want %v", got, want)
	}
	f.decided(p.Groups()[1])
	if got, want := f.Left(), 4*120*time.Millisecond+30*135*time.Millisecond; got != want || f.Steps() != 34 {
		t.Errorf("without the second: %v, want %v; %d steps", got, want, f.Steps())
	}
}

func TestForecastOfARowThatIsAlone(t *testing.T) {
	p := recordtest.Turns(2, 3, 3)
	for alone, want := range map[string]time.Duration{"": 9 * (turnsTime + warmSlices*5*time.Millisecond + 3*(5*time.Millisecond+sliceTime)), "no room": 9 * startTime} {
		if got := NewForecast(p, &record.Interrupted{Alone: map[int]string{1: alone}}).Left(); got.Round(time.Microsecond) != want {
			t.Errorf("alone for %q it takes %v, want %v", alone, got, want)
		}
	}
}

// The first block of a row that takes turns also tries lengths of slices, which says nothing
// of the others.
func TestForecastAfterTheFirstBlock(t *testing.T) {
	p := turnsPlanOf(2, 10, 100, time.Millisecond)
	f := NewForecast(p, nil)
	g, began := p.Groups()[0], f.Left()
	block := began / 10
	f.Took(8*block, g.Steps...)
	if got, want := f.Left(), 9*block; got < want-time.Microsecond || got > want+time.Microsecond {
		t.Errorf("after the first block %v are left, want %v", got, want)
	}
	f.Took(2*block, g.Steps...)
	if got, want := f.Left(), 8*2*block; got < want-time.Microsecond || got > want+time.Microsecond {
		t.Errorf("after a block of twice the time %v are left, want %v", got, want)
	}
}

// At the start, with nothing measured yet, a forecast is about as long as what is kept took,
// in the median.
func TestForecastOfWhatIsKept(t *testing.T) {
	files, err := filepath.Glob("../../results/*/truth-*-ab.bench")
	more, _ := filepath.Glob("../../results/*/unchanged-*/*-loop-1.bench")
	if files = append(files, more...); err != nil || len(files) < 5 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	var ratios []float64
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		run, err := record.ReadInterrupted(path)
		if err != nil {
			t.Fatal(err)
		}
		var took time.Duration
		for _, r := range record.Read(path, data).Results {
			if r.Slices != nil {
				took += r.Slices.Took / 3 // the row's, of each of its three processes: old, new and control
			}
		}
		if took == 0 {
			continue // a file of before rows said so
		}
		ratios = append(ratios, NewForecast(run.Plan, nil).Left().Seconds()/took.Seconds())
	}
	slices.Sort(ratios) // some programs take many times as long as others
	if n := len(ratios); n < 5 || ratios[n/2] < 0.75 || ratios[n/2] > 1.25 {
		t.Errorf("forecasts are %.2f times what was taken", ratios)
	}
}
