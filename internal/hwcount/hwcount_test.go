package hwcount

import (
	"testing"
	"time"
)

// TestSince: what was counted is the difference, and it is not known if a counter
// did not count all the time.
func TestSince(t *testing.T) {
	const ms = time.Millisecond
	before := Reading{Count{1000, 10 * ms, 10 * ms}, Count{3000, 10 * ms, 5 * ms}}
	after := func(n uint64, enabled, running time.Duration) Reading {
		r := before
		r.Instructions.N += 500
		r.Instructions.Enabled += 2 * ms
		r.Instructions.Running += 2 * ms
		r.Cycles.N += n
		r.Cycles.Enabled += enabled
		r.Cycles.Running += running
		return r
	}
	for _, c := range []struct {
		name string
		now  Reading
		want string // the error
	}{
		{name: "all the time", now: after(700, 2*ms, 2*ms)},
		{name: "all but a thousandth", now: after(700, 2*ms, 2*ms-2*time.Microsecond)},
		{
			"all but a hundredth", after(700, 2*ms, 1980*time.Microsecond),
			"they counted 99.0 % of the time only: something else uses them, or the machine has processors of several kinds",
		},
		{"nothing", after(0, 2*ms, 2*ms), "they counted nothing"},
		{"never", after(700, 2*ms, 0), "they counted nothing"},
	} {
		// The two are judged alike.
		swap := func(r Reading) Reading { return Reading{r.Cycles, r.Instructions} }
		for _, swapped := range []bool{false, true} {
			was, now, want := before, c.now, Counts{Instructions: 500, Cycles: 700}
			if swapped {
				was, now, want = swap(was), swap(now), Counts{Instructions: 700, Cycles: 500}
			}
			got, err := now.Since(was)
			switch {
			case c.want == "" && (err != nil || got != want):
				t.Errorf("%s: %v, %v, want %v", c.name, got, err, want)
			case c.want != "" && (err == nil || err.Error() != c.want):
				t.Errorf("%s: %v, %v, want the error %q", c.name, got, err, c.want)
			}
		}
	}
}
