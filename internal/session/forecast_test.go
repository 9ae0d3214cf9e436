package session

import (
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

	// What has been measured counts for its row, and scales what has not.
	f = NewForecast(p, nil)
	steps := p.Steps()
	f.Took(120*time.Millisecond, steps[0])
	if got, want := f.Left(), 39*120*time.Millisecond; got != want {
		t.Errorf("after one: %v, want %v", got, want)
	}
	f.Took(600*time.Millisecond, steps[1])
	if got, want := f.Left(), 4*120*time.Millisecond+4*600*time.Millisecond+30*360*time.Millisecond; got != want {
		t.Errorf("after two: %v, want %v", got, want)
	}
	f.decided(p.Groups()[1])
	if got, want := f.Left(), 4*120*time.Millisecond+30*360*time.Millisecond; got != want || f.Steps() != 34 {
		t.Errorf("without the second: %v, want %v; %d steps", got, want, f.Steps())
	}
}
