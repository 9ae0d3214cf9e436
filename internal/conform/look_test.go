package conform

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLookFirst: the clause that is named is the right one for at least nine of ten planted bugs,
// also if a fifth of the failures is hidden and some others fail besides, as those of another
// implementation with the same bug would.
func TestLookFirst(t *testing.T) {
	faults := Faults()
	var all []string
	for _, f := range faults {
		all = append(all, append(f.Fails, f.First)...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(faults) < 90 {
		t.Fatalf("there are %d planted bugs", len(faults))
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, hidden := range []float64{0, 0.2} {
		right, tries := 0, 0
		for _, f := range faults {
			for range 10 {
				failed := []string{f.First}
				for _, name := range f.Fails {
					if rng.Float64() >= hidden {
						failed = append(failed, name)
					}
				}
				for range int(hidden * float64(len(f.Fails)) / 2) {
					failed = append(failed, all[rng.IntN(len(all))])
				}
				slices.Sort(failed)
				failed = slices.Compact(failed)
				tries++
				if LookFirst(failed) == f.First {
					right++
				}
			}
		}
		share := float64(right) / float64(tries)
		t.Logf("with %.0f %% of the failures hidden the named clause is right in %.1f %% of %d", 100*hidden, 100*share, tries)
		if share < 0.9 {
			t.Errorf("with %.0f %% of the failures hidden the named clause is right in %.1f %% only", 100*hidden, 100*share)
		}
	}
	if got := LookFirst([]string{"group/x", "group/y"}); got != "group/x" {
		t.Errorf("of failures that are like none, %s is named, want the first", got)
	}
	if got := LookFirst(nil); got != "" {
		t.Errorf("of no failure %s is named", got)
	}
}
