package record

import (
	"slices"
	"strings"
	"time"
)

// decode is decodePlan of lines that stand in a file.
func decode(lines []string) (*Plan, error) {
	return decodePlan(slices.Collect(Lines(strings.Join(lines, "\n"))))
}

// sequentialPlan is a plan of three rows with looks after 2, 4 and 6 blocks, and
// one of one step.
func sequentialPlan() *Plan {
	p := turnsPlan(2, 6, 3)
	for _, name := range []string{"BenchmarkH/impl=a", "BenchmarkH/impl=b", "BenchmarkI/impl=a", "BenchmarkI/impl=b", "BenchmarkAlone"} {
		p.Cases = append(p.Cases, Case{Pkg: "example.com/a", Name: name})
	}
	p.Looks, p.Alpha, p.Margin = []int{2, 4, 6}, 0.05, 0.02
	return p
}

// turnsPlan is a plan of one row of n columns.
func turnsPlan(n, blocks, rounds int) *Plan {
	p := &Plan{
		Mode: ModeAuto, Control: true, Rounds: rounds, Slice: 5 * time.Millisecond, Layouts: 3,
		CPU: []int{2}, Blocks: blocks, Time: "1x", Seed: 7, Timeout: time.Minute,
		Packages: []string{"./..."}, Bench: ".", Subjects: map[string]string{"example.com/a": "00"},
	}
	for i := range n {
		p.Cases = append(p.Cases, Case{Pkg: "example.com/a", Name: "BenchmarkG/workload=w/impl=" + string(rune('a'+i)) + "/x=1"})
	}
	return p
}
