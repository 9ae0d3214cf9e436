package benchtest

import (
	"os"
	"sync"
	"testing"

	"github.com/dynolab/dyno/measure"
)

// told are the Unit lines that this process has printed.
var told struct {
	sync.Mutex
	lines map[string]bool
}

// tellUnits prints on standard output which way metrics that b may report are better: a
// Unit line of Go's benchmark format for each unit, once in a process, for whoever reads
// the results. Only in the first call of a benchmark function: before a later one testing
// has printed the name of the benchmark, and wants to go on in that line.
func tellUnits(b *testing.B, metrics []measure.Metric) {
	if b.N != 1 {
		return
	}
	told.Lock()
	defer told.Unlock()
	for _, m := range metrics {
		unit := m.AppendUnit(nil)
		if len(unit) == 0 || told.lines[string(unit)] {
			continue
		}
		if told.lines == nil {
			told.lines = make(map[string]bool)
		}
		told.lines[string(unit)] = true
		_, _ = os.Stdout.WriteString("Unit " + string(unit) + "\n")
	}
}
