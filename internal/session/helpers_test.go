package session

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/record"
)

// nightly is whether to try everything, which takes a minute.
var nightly = os.Getenv("DYNO_NIGHTLY") != ""

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

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// create begins a results file.
func create(t testing.TB, path string, plan *record.Plan) *record.Store {
	t.Helper()
	s, err := record.Create(path, plan, someCircumstances, nil, time.Unix(1e9, 0))
	must(t, err)
	return s
}

// interrupted reads what a file of results has.
func interrupted(t testing.TB, path string) *record.Interrupted {
	t.Helper()
	r, err := record.ReadInterrupted(path)
	must(t, err)
	return r
}

// resume opens a file of results again.
func resume(t testing.TB, r *record.Interrupted) *record.Store {
	t.Helper()
	s, err := r.Resume(time.Unix(1e9, 0))
	must(t, err)
	return s
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return data
}
