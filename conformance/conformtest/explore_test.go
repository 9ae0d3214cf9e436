package conformtest

import (
	"testing"

	"github.com/dynolab/dyno/impls/serial"
)

// scenario returns the planted program as a scenario.
func (b *planted) scenario(wrong bool) func(*Schedule) error {
	return func(s *Schedule) error {
		m := new(computer)
		b.build(m, wrong)
		return m.run(serial.NewExecutorWith(serial.ExecutorConfig{Schedule: follow(s)}), s.Note)
	}
}

func noEnv(string) string { return "" }

func TestExploreX(t *testing.T) {
	for i := range plantedBugs {
		b := &plantedBugs[i]
		x := &explorer{run: b.scenario(true)}
		f, err := x.explore(2000, noEnv)
		if f == nil {
			t.Errorf("%s: %v", b.name, err)
			continue
		}
		t.Logf("%s: %v seed %d %s %d -> %s runs %d", b.name, f.err, f.seed, f.strategy, f.before, formatChoices(f.schedule.choices()), f.runs)
		x = &explorer{run: b.scenario(false)}
		if f, _ := x.explore(500, noEnv); f != nil {
			t.Errorf("%s right: %v\n%s", b.name, f.err, f.schedule)
		}
	}
}
