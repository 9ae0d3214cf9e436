package report

import (
	"fmt"
	"strings"

	"github.com/dynolab/dyno/internal/bisect"
	"github.com/dynolab/dyno/internal/compare"
)

// Bisection returns what a search for a commit has found as a document.
func Bisection(r *bisect.Result) Doc {
	var blocks []Block
	say := func(format string, args ...any) {
		blocks = append(blocks, Paragraph{Text: fmt.Sprintf(format, args...)})
	}
	for _, c := range r.Culprits {
		say("%s %s makes %s %s; that is proven against its parent, %s", c.Hash, quoted(c.Subject), r.Benchmark, changed(r, c.Change), shortHash(c.Parent))
		details := []string{"by " + c.Author + ", " + c.Date.Format("2006-01-02")}
		if c.Merge {
			details = append(details, fmt.Sprintf("it is a merge: benchrun bisect %s %s^2 searches what came with it", shortHash(c.Parent), shortHash(c.Hash)))
		}
		blocks = append(blocks, listOf(append(details, "results: "+r.Folder+"/"+c.Change.File)...))
	}
	for _, s := range r.Suspects {
		blocks = append(blocks, suspected(r, s)...)
	}
	if r.Outcome == bisect.NoStep && len(r.Culprits) == 0 {
		say("%s is the same at both ends: there is no step of more than the margin of %s to look for", nameOf(r), percent(r.Margin))
		say("A slow-down that was made good again between them is not seen: name a commit between them as the bad end.")
	}
	if r.Outcome == bisect.Unsure && len(r.Suspects) == 0 && len(r.Culprits) == 0 {
		say("It is not proven that %s differs between the ends%s", nameOf(r), detected(r.Ends))
	}
	summary := []string{
		fmt.Sprintf("%s (%s) to %s (%s): %s", r.Good.Name, shortHash(r.Good.Commit), r.Bad.Name, shortHash(r.Bad.Commit), endsOf(r)),
	}
	if r.Comparisons > 0 {
		summary = append(summary, fmt.Sprintf("%s between them, of which %d can change %s; %s built; %s of %s in all; %s",
			counted(r.Commits, "commit"), r.Candidates, r.Benchmark, counted(r.Builds, "commit"), counted(r.Comparisons, "comparison"), counted(r.Blocks, "block"), took(r.Seconds)))
	}
	for _, b := range r.Broken {
		line, _, _ := strings.Cut(b.Reason, "\n")
		summary = append(summary, fmt.Sprintf("not measured: %s %s: %s", shortHash(b.Hash), quoted(b.Subject), line))
	}
	blocks = append(blocks, listOf(append(summary, r.Notes...)...))
	return Doc{Title: "Bisection of " + nameOf(r), Blocks: blocks}
}

// suspected are the commits of a range in which none is proven.
func suspected(r *bisect.Result, s bisect.Suspected) (blocks []Block) {
	if s.Narrowed && len(s.Commits) == 1 && s.Change == nil {
		c := s.Commits[0]
		return []Block{Paragraph{Text: fmt.Sprintf("%s %s is likely to be it, with a probability of 95 %%, and that is not proven: %s.", c.Hash, quoted(c.Subject), s.Why)}}
	}
	text := fmt.Sprintf("One of %s, with a probability of 95 %%, and none of them is proven: %s.", counted(len(s.Commits), "commit"), s.Why)
	switch {
	case !s.Narrowed && len(r.Culprits) > 0:
		text = fmt.Sprintf("More differs than is proven, and it may be any of %s: %s.", counted(len(s.Commits), "commit"), s.Why)
	case !s.Narrowed:
		text = fmt.Sprintf("No commit is ruled out, it may be any of %d: %s.", len(s.Commits), s.Why)
	case s.Change != nil:
		text = fmt.Sprintf("One of %s makes %s %s, which is proven of all together: %s.", counted(len(s.Commits), "commit"), r.Benchmark, changed(r, *s.Change), s.Why)
	}
	var lines []string
	for i, c := range s.Commits {
		if i == mostSuspects {
			lines = append(lines, fmt.Sprintf("… and %d more", len(s.Commits)-i))
			break
		}
		lines = append(lines, shortHash(c.Hash)+" "+quoted(c.Subject))
	}
	return []Block{Paragraph{Text: text}, listOf(lines...)}
}

// mostSuspects bounds how many are listed.
const mostSuspects = 20

// changed says by how much something changed: "2.0 % slower (1.4 to 2.6 %)".
func changed(r *bisect.Result, c bisect.Change) string {
	if c.Ratio == nil || r.Unit == "allocs/op" || r.Unit == "B/op" {
		return fmt.Sprintf("%s: %.5g to %.5g %s", c.Verdict, c.Base, c.Value, r.Unit)
	}
	text := fmt.Sprintf("%.2f %% %s", 100*sizeOf(*c.Ratio), c.Verdict)
	if c.Lo != nil && c.Hi != nil {
		lo, hi := sizeOf(*c.Lo), sizeOf(*c.Hi)
		if *c.Ratio < 1 {
			lo, hi = hi, lo
		}
		text += fmt.Sprintf(" (%.2f to %.2f %%)", 100*lo, 100*hi)
	}
	return text
}

// size is how far a ratio lies above 1, or below it.
func sizeOf(ratio float64) float64 {
	if ratio < 1 {
		return 1 - ratio
	}
	return ratio - 1
}

func endsOf(r *bisect.Result) string {
	switch {
	case r.Ends.Verdict == "":
		return "not measured"
	case compare.Verdict(r.Ends.Verdict).Bad(), compare.Verdict(r.Ends.Verdict).Good():
		return changed(r, r.Ends)
	}
	return r.Ends.Verdict + detected(r.Ends)
}

// detected says what would have been seen.
func detected(c bisect.Change) string {
	if c.Detectable == nil {
		return ""
	}
	return fmt.Sprintf("; a change of %.1f %% would have been found nine times out of ten", 100*(*c.Detectable-1))
}

func nameOf(r *bisect.Result) string {
	if r.Benchmark == "" {
		return r.Package
	}
	return r.Benchmark
}

func quoted(s string) string { return "\"" + s + "\"" }

func shortHash(hash string) string { return hash[:min(8, len(hash))] }

func took(seconds float64) string {
	if seconds < 120 {
		return fmt.Sprintf("%.0f s", seconds)
	}
	return fmt.Sprintf("%.1f minutes", seconds/60)
}
