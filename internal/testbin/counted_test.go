package testbin

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/counter"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
)

// TestCountedProcesses: an operation that is much shorter or longer than its time says has the longer
// processes counted again, of all sides, and no shorter one; the next block has only longer ones.
func TestCountedProcesses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("instructions are counted on Linux")
	}
	dir := t.TempDir()
	subject, lengths := filepath.Join(dir, "subject"), filepath.Join(dir, "lengths")
	must(t, os.WriteFile(subject, []byte("#!/bin/sh\necho \"BenchmarkX $ITERATIONS 1000 ns/op\"\n"), 0o755))
	must(t, os.WriteFile(filepath.Join(dir, "valgrind"), []byte(`#!/bin/sh
[ "$1" = --version ] && echo valgrind-9 && exit
for flag; do
	case "$flag" in
	--cachegrind-out-file=*) out=${flag#*=} ;;
	-test.benchtime=*x) n=${flag#*=}; n=${n%x} ;;
	esac
done
[ "$n" = "$FAILS" ] && exit 1
echo "BenchmarkX $n 1000 ns/op"
echo $n >> "$LENGTHS"
printf 'events: Ir\nfl=/x.go\nfn=m.x\n1 %d\nsummary: %d\n' $((n * 1000 + 20)) $((n * 1000 + 20)) > "$out"
`), 0o755))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("LENGTHS", lengths)
	tool, err := counter.Find(t.Context())
	must(t, err)
	t.Setenv("FAILS", "none")
	plan := &record.Plan{Timeout: time.Minute, Blocks: 2, Layouts: 1, CPU: []int{1}}
	var all []Binary
	for _, side := range []string{"old", "new"} {
		plan.Cases = append(plan.Cases, record.Case{Pkg: "m", Name: "BenchmarkX", Side: side})
		all = append(all, Binary{Pkg: "m", Side: side, Path: subject, Dir: dir, Undrivable: program.ErrUnsupported})
	}
	for iterations, want := range map[string]string{
		"100":     "30000 30000 40 40 400 400 40000 40000",
		"1000000": "400000 400000 4000000 4000000 600000 600000 800000 800000",
	} {
		t.Setenv("ITERATIONS", iterations)
		must(t, os.WriteFile(lengths, nil, 0o644))
		c := NewCounted(t.Context(), plan, all, tool)
		for block := 1; block <= 2; block++ {
			for _, one := range plan.Cases {
				r, err := c.Measure(t.Context(), block, record.Step{Case: one, CPU: 1, Copy: 1})
				must(t, err)
				if !strings.Contains(r.Printed, " 1000.000 instrs/op") {
					t.Errorf("block %d: %s %v", block, r.Printed, r.Hole)
				}
			}
		}
		got := strings.Fields(string(readFile(t, lengths)))
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("processes of %s operations, want %s", got, want)
		}
	}
	// One side fails to start: nothing is counted of it.
	t.Setenv("ITERATIONS", "100")
	all[1].Env = []string{"FAILS=40"}
	c := NewCounted(t.Context(), plan, all, tool)
	for i, one := range plan.Cases {
		r, err := c.Measure(t.Context(), 1, record.Step{Case: one, CPU: 1, Copy: 1})
		must(t, err)
		if (r.Hole != nil) != (i == 1) {
			t.Errorf("%s: %s %v", one.Side, r.Printed, r.Hole)
		}
	}
}
