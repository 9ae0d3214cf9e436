package session

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/record"
)

// aPlan is a plan of n benchmarks, each with one and with two processors.
func aPlan(n, blocks int) *record.Plan {
	p := &record.Plan{
		CPU: []int{1, 2}, Blocks: blocks, Time: "1x", Seed: 7, Timeout: time.Minute,
		Packages: []string{"./..."}, Bench: ".", Subjects: map[string]string{"example.com/a": "00", "example.com/b": "11"},
	}
	for i := range n {
		// The first two print the same name: B with -2 on two processors, and B-2
		// on one.
		p.Cases = append(p.Cases, record.Case{Pkg: "example.com/" + string(rune('a'+i%2)), Name: "BenchmarkB" + []string{"", "-2", "/x=1", "/y"}[i%4] + strings.Repeat("z", i/4)})
	}
	if n > 1 {
		p.Cases[1].Pkg = p.Cases[0].Pkg
	}
	return p
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// twoSides is a plan that compares two versions of a package: n benchmarks that
// both have.
func twoSides(n, blocks int) *record.Plan {
	p := &record.Plan{
		CPU: []int{2}, Blocks: blocks, Time: "1x", Seed: 7, Timeout: time.Minute,
		Packages: []string{"./..."}, Bench: ".", Subjects: map[string]string{"example.com/a old": "00", "example.com/a new": "11"},
	}
	for i := range n {
		for _, side := range []string{"old", "new"} {
			p.Cases = append(p.Cases, record.Case{Pkg: "example.com/a", Name: "BenchmarkB" + strings.Repeat("z", i), Side: side})
		}
	}
	return p
}
