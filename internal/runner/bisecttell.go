package runner

import (
	"fmt"
	"math"
	"time"

	"github.com/dynolab/dyno/internal/bisect"
	"github.com/dynolab/dyno/internal/console"
)

// change is a comparison for people, of the results in a file.
func (b *bisectRun) change(j bisect.Comparison, file string) bisect.Change {
	known := func(v float64) *float64 {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return &v
	}
	c := bisect.Change{Verdict: j.Word, Ratio: known(j.Ratio), Lo: known(j.Lo), Hi: known(j.Hi), P: known(j.P), Detectable: known(j.Detectable), File: file}
	if v := known(j.Base); v != nil {
		c.Base = *v
	}
	if v := known(j.X); v != nil {
		c.Value = *v
	}
	return c
}

// complete makes a result of an answer.
func (b *bisectRun) complete(r *bisect.Result, a *bisect.Answer) {
	commit := func(position int) bisect.Commit {
		c := b.at[position]
		return bisect.Commit{Hash: c.Hash, Parent: c.Parent, Merge: c.Merge, Author: c.Author, Date: c.Date, Subject: c.Subject}
	}
	last := len(b.at) - 1
	r.Ends = b.change(a.Ends, endsFile)
	for _, s := range a.Steps {
		r.Culprits = append(r.Culprits, bisect.Culprit{Commit: commit(s.Position), Change: b.change(s.Compared, b.files[(s.Position-1)*(last+1)+s.Position])})
	}
	for _, o := range a.Open {
		s := bisect.Suspected{Narrowed: o.Narrowed, Why: o.Why}
		for _, p := range o.Suspects {
			s.Commits = append(s.Commits, commit(p))
		}
		if o.Compared != nil && o.Compared.Proven {
			change := b.change(*o.Compared, b.files[o.First*(last+1)+o.Last])
			s.Change = &change
		}
		r.Suspects = append(r.Suspects, s)
	}
	for p := 1; p < last; p++ {
		if why, ok := a.Broken[p]; ok {
			r.Broken = append(r.Broken, bisect.Broken{Commit: commit(p), Reason: why})
		}
	}
	switch {
	case len(a.Open) > 0 || !a.Ends.Proven && !a.Ends.Same || a.Ends.Proven && len(a.Steps) == 0:
		r.Outcome = bisect.Unsure
	case len(a.Steps) > 0:
		r.Outcome = bisect.Found
	default:
		r.Outcome = bisect.NoStep
	}
	r.Comparisons, r.Blocks, r.Builds, r.Seconds = a.Comparisons+1, a.Blocks+b.plan.Blocks, len(b.built), b.log.seconds
	if n := a.Ends.Need; n > 0 && !a.Ends.Proven {
		b.note("about %d blocks would tell whether the ends differ: --blocks %d", n, n)
	}
	if a.TimeUp {
		folder := console.ShellWord(b.log.folder)
		b.note("the time of --within is used up. %[1]s --resume %[2]s goes on without a limit, and with --within 5m for so long", b.command, folder)
	}
	r.Notes = b.notes
}

// tell says what the search does.
func (b *bisectRun) tell(e bisect.Event) {
	if b.log.left > 0 { // it was told when it was done
		return
	}
	b.con.Clear()
	say := func(format string, args ...any) { fmt.Fprintf(b.con, format+"\n", args...) }
	percent := func(level float64) string {
		if b.row.exact {
			return fmt.Sprintf("%+.4g %s", level, b.row.unit)
		}
		return fmt.Sprintf("%+.2f %%", 100*math.Expm1(level))
	}
	compared := func(j bisect.Comparison) string {
		if b.row.exact {
			return fmt.Sprintf("%s, %.4g to %.4g %s", j.Word, j.Base, j.X, b.row.unit)
		}
		return fmt.Sprintf("%s, %+.2f %% (%+.2f to %+.2f)", j.Word, 100*(j.Ratio-1), 100*(j.Lo-1), 100*(j.Hi-1))
	}
	switch e.Kind {
	case bisect.EventEnds:
		say("%s to %s: %s", b.called(e.Position), b.called(e.Last), compared(e.Compared))
	case bisect.EventVisit:
		left := ""
		if !math.IsInf(e.Left, 0) && !math.IsNaN(e.Left) && e.Left > 0 {
			left = fmt.Sprintf("; about %v left", time.Duration(e.Left*float64(time.Second)).Round(time.Second))
		}
		say("visiting %s in %s%s", b.called(e.Position), console.Count(e.Blocks, "block"), left)
	case bisect.EventSeen:
		say("  %s above the good end, the bad one %s; %s left", percent(e.Level), percent(e.Step), console.Count(len(e.Suspects), "suspect"))
	case bisect.EventBroken:
		say("  %s cannot be measured: %s", short(b.at[e.Position].Hash), firstLineOf(e.Problem))
	case bisect.EventSame:
		say("  the same program as %s", b.called(e.Last))
	case bisect.EventSplit:
		say("  at the level of neither end: there is more than one step")
	case bisect.EventProof:
		say("proving %s against %s in %s", b.called(e.Position), "its parent", console.Count(e.Blocks, "block"))
	case bisect.EventProved:
		say("  %s", compared(e.Compared))
	case bisect.EventRest:
		say("%s to %s still differ: %s", b.called(e.Position), b.called(e.Last), compared(e.Compared))
	case bisect.EventCompare:
		say("comparing %s with %s%s", b.called(e.Last), b.called(e.Position), inBlocks(e.Blocks))
	}
}

func inBlocks(n int) string {
	if n == 0 {
		return ""
	}
	return " in " + console.Count(n, "block")
}
