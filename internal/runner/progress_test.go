package runner

import (
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// walk tells p of a run: two blocks of two processes, each a second long, of
// which the third fails.
func walk(p *progress) {
	plan := &record.Plan{Blocks: 3, CPU: []int{2}, Time: "1x", Cases: []record.Case{
		{Name: "BenchmarkGroup/workload=short"}, {Name: "BenchmarkÄ/workload=ßtream"},
	}}
	f := session.NewForecast(plan, &record.Interrupted{Plan: plan, Ended: 1})
	p.Start(6, f)
	for block := 2; block <= 3; block++ {
		for _, s := range plan.Steps() {
			p.Step(block, s)
			f.Took(time.Second, s)
			if block == 3 && s.Index == 1 {
				p.Done(block, s, &record.Hole{Case: s.FullName(), Block: "3", Reason: "crashed: panic: oh"}, "line 1\nline 2")
				continue
			}
			p.Done(block, s, nil, "")
		}
		p.Block(block, 3)
	}
	p.Look(2, nil, 0) // of which nothing is to be said
	p.Look(3, plan.Groups()[:1], 5)
	p.end()
}

func TestProgressPlain(t *testing.T) {
	var b strings.Builder
	walk(&progress{con: console.New(&b, 0)})
	want := `2 of 6 processes are done already
block 2 of 3 done, 2s left
benchrun: BenchmarkGroup/workload=short-2: missing in block 3: crashed: panic: oh
    line 1
    line 2
block 3 of 3 done
interim look after block 3: 1 row decided, which saves 5 processes
1 of 4 processes gave no result; the results say why
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestProgressOnATerminal(t *testing.T) {
	var b strings.Builder
	walk(&progress{con: console.New(&b, 30)})
	const again = "\r\x1b[K"
	want := "2 of 6 processes are done already\n" +
		again + "2/6  block 2  Group/workload=" + // one short of the width: the cursor needs a place
		again + "3/6, 2s left  block 2  Ä/work" +
		again + "4/6, 2s left  block 3  Group/" +
		again + "benchrun: BenchmarkGroup/workload=short-2: missing in block 3: crashed: panic: oh\n" +
		"    line 1\n    line 2\n" +
		again + "5/6, 1s left  block 3  Ä/work" +
		again + "interim look after block 3: 1 row decided, which saves 5 processes\n" +
		"1 of 4 processes gave no result; the results say why\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// A second session is counted anew.
func TestProgressOfTwoSessions(t *testing.T) {
	var b strings.Builder
	p := &progress{con: console.New(&b, 0)}
	walk(p)
	first := b.String()
	b.Reset()
	walk(p)
	if got := b.String(); got != first {
		t.Errorf("the second time\n%s\nwant\n%s", got, first)
	}
}

func TestProgressInterrupted(t *testing.T) {
	var b strings.Builder
	p := &progress{con: console.New(&b, 30)}
	p.interrupted() // before anything runs there is nothing to finish
	if b.Len() > 0 {
		t.Errorf("said %q before the start", b.String())
	}
	plan := &record.Plan{Blocks: 2, CPU: []int{1}, Time: "1x", Cases: []record.Case{{Name: "BenchmarkX"}}}
	p.Start(2, session.NewForecast(plan, nil))
	p.Step(1, plan.Steps()[0])
	p.interrupted()
	p.end()
	want := "\r\x1b[K0/2  block 1  X\r\x1b[Kfinishing the process that runs; interrupt again to end it at once\n"
	if got := b.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
