package benchtest

import (
	"os"
	"sync"
	"testing"

	"github.com/dynolab/dyno/internal/measure"
)

// printed are the Unit lines that this process has printed.
var printed struct {
	sync.Mutex
	lines map[string]bool
}

// printUnits prints on standard output which way metrics that b may report are better: a
// Unit line of Go's benchmark format for each unit, once in a process. It does so only in
// the first call of a benchmark function: before a later one testing has printed the name
// of the benchmark, and continues that line with the result.
func printUnits(b *testing.B, metrics []measure.Metric) {
	if b.N != 1 {
		return
	}
	printed.Lock()
	defer printed.Unlock()
	for _, m := range metrics {
		unit := m.AppendUnit(nil)
		if len(unit) == 0 || printed.lines[string(unit)] {
			continue
		}
		if printed.lines == nil {
			printed.lines = make(map[string]bool)
		}
		printed.lines[string(unit)] = true
		_, _ = os.Stdout.WriteString("Unit " + string(unit) + "\n")
	}
}
