// Package recordtest has what tests of several packages record: plans, and results files
// made of them. No program imports it.
package recordtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/record"
)

// Plan is a plan of n benchmarks, each with one and with two processors.
func Plan(n, blocks int) *record.Plan {
	p := plan(blocks, []int{1, 2}, "example.com/a", "example.com/b")
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

// plan is a plan without cases, of subjects with the hashes 00, 11 and so on.
func plan(blocks int, cpu []int, subjects ...string) *record.Plan {
	p := &record.Plan{
		CPU: cpu, Blocks: blocks, Time: "1x", Seed: 7, Timeout: time.Minute,
		Packages: []string{"./..."}, Bench: ".", Subjects: make(map[string]string),
	}
	for i, s := range subjects {
		p.Subjects[s] = strings.Repeat(string(rune('0'+i)), 2)
	}
	return p
}

// Sides is a plan that compares two versions of a package: n benchmarks that both have.
func Sides(n, blocks int) *record.Plan {
	p := plan(blocks, []int{2}, "example.com/a old", "example.com/a new")
	for i := range n {
		for _, side := range []string{"old", "new"} {
			p.Cases = append(p.Cases, record.Case{Pkg: "example.com/a", Name: "BenchmarkB" + strings.Repeat("z", i), Side: side})
		}
	}
	return p
}

// Turns is a plan of one row of n columns, which take turns.
func Turns(n, blocks, rounds int) *record.Plan {
	p := plan(blocks, []int{2}, "example.com/a")
	p.Mode, p.Control, p.Rounds, p.Slice, p.Layouts = record.ModeAuto, true, rounds, 5*time.Millisecond, 3
	for i := range n {
		p.Cases = append(p.Cases, record.Case{Pkg: "example.com/a", Name: "BenchmarkG/workload=w/impl=" + string(rune('a'+i)) + "/x=1"})
	}
	return p
}

// Sequential is a plan of three rows with looks after 2, 4 and 6 blocks, and one of one
// step.
func Sequential() *record.Plan {
	p := Turns(2, 6, 3)
	for _, name := range []string{"BenchmarkH/impl=a", "BenchmarkH/impl=b", "BenchmarkI/impl=a", "BenchmarkI/impl=b", "BenchmarkAlone"} {
		p.Cases = append(p.Cases, record.Case{Pkg: "example.com/a", Name: name})
	}
	p.Looks, p.Alpha, p.Margin = []int{2, 4, 6}, 0.05, 0.02
	return p
}

// Dir is a temporary folder for files that are synced again and again: in memory where the
// system has a place for that, since a disk takes milliseconds each time.
func Dir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "dyno-test-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Write puts text into a file of a temporary folder, and returns its path.
func Write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}
