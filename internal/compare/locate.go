package compare

import (
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/record"
)

// A Located is a step of a plan, and where its results stand in the tables of a
// comparison.
type Located struct {
	record.Step
	Row, Col string
}

// Locate says where the results of each step of p stand if col makes the
// columns, as [Comparison].Col has it. The rows are named without packages. A
// column key that is not in the name of a benchmark has the same value for all.
func Locate(p *record.Plan, col string) ([]Located, error) {
	at, err := project("*", col)
	if err != nil {
		return nil, err
	}
	steps := p.Steps()
	out := make([]Located, len(steps))
	for i, s := range steps {
		r := &benchfmt.Result{Name: benchfmt.Name(strings.TrimPrefix(s.FullName(), "Benchmark"))}
		r.SetConfig("pkg", s.Case.Pkg)
		r.SetConfig("side", s.Case.Side)
		out[i] = Located{Step: s, Row: at.byRow.Project(r).StringValues(), Col: columnName(at.byCol.Project(r))}
	}
	return out, nil
}
