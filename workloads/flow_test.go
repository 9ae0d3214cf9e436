package workloads

import (
	"runtime"
	"testing"
)

// That there are as many results as tasks does not make them the right ones:
// Check compares how often each was seen.
func TestFlowCheckComparesCounts(t *testing.T) {
	for _, c := range []struct {
		name   string
		tamper func(counts *[flowValues]uint32)
		wrong  bool
	}{
		{"not at all", func(*[flowValues]uint32) {}, false},
		{"one for another", func(c *[flowValues]uint32) { c[3]--; c[4]++ }, true},
		{"first for last", func(c *[flowValues]uint32) { c[0]--; c[flowValues-1]++ }, true},
	} {
		run := newFlow(1000).onFloor().(*flowRun)
		for _, n := range []int{1, 999, 1000, 1021, 4000} {
			if err := run.Do(n); err != nil {
				t.Fatal(err)
			}
		}
		c.tamper(&run.tallies[0].counts)
		if err := run.Check(); (err != nil) != c.wrong {
			t.Errorf("%s: Check returned %v", c.name, err)
		}
	}
}

func TestFloorUsesEveryProcessor(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(5))
	if got := len(newFlow(10).onFloor().(*flowRun).tallies); got != 5 {
		t.Errorf("%d workers with GOMAXPROCS=5", got)
	}
}
