package hw

import (
	"cmp"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/failure"
	"github.com/dynolab/dyno/internal/record"
)

// A Kept is what a results file of a board says of what came of its cases.
type Kept struct {
	File    *record.File
	Results []CaseResult // without devices and answers
}

// ReadKept reads a results file of a board. What it cannot read it leaves out.
func ReadKept(name string) (*Kept, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	k := &Kept{File: record.Read(name, record.Whole(data))}
	for _, r := range k.File.Holes {
		c := CaseResult{Impl: path.Base(r.Hole.Pkg)}
		if r.Hole.Case != "" {
			c = benchmarkResult(r)
		}
		o, why := outcomeOf(r.Hole)
		if r.Hole.Skipped {
			c.Skip = cmp.Or(r.Hole.Reason, "no reason given")
		}
		k.add(c, o, why)
	}
	for _, r := range k.File.Results {
		if !strings.HasPrefix("Benchmark"+r.Result.Name.String(), imageCase) {
			k.add(benchmarkResult(r), OK, "")
		}
	}
	times := make(map[string]int)
	for _, c := range k.File.Clauses {
		name := conformPrefix + c.Name
		times[c.Impl+" "+name]++ // once in each block
		res := CaseResult{Impl: c.Impl, Case: name, Block: times[c.Impl+" "+name]}
		if c.Result == record.ClauseSkipped {
			res.Skip = cmp.Or(c.Why, "no reason given")
		}
		k.add(res, outcomeNamed(c.Outcome), c.Why)
	}
	return k, nil
}

// benchmarkResult names the benchmark that r is of.
func benchmarkResult(r record.Record) CaseResult {
	name := r.Result.Name.String()
	_, impl, _ := strings.Cut(name, "/impl=")
	block, _ := strconv.Atoi(r.Result.GetConfig("block"))
	return CaseResult{Impl: impl, Case: benchPrefix + name, Block: block}
}

// Cases is how many cases came to an end, those that were skipped included.
func (k *Kept) Cases() (n int) {
	for _, c := range k.Results {
		if c.Case != "" {
			n++
		}
	}
	return n
}

// outcomeOf returns the outcome of a hole, OK if it is a skip, and why without its name.
func outcomeOf(h *record.Hole) (o Outcome, why string) {
	name, why, _ := strings.Cut(h.Reason, ": ")
	switch {
	case h.Kind == failure.Skip && h.Case == "" && strings.HasPrefix(h.Reason, doesNotFit):
		return TooBig, why // a file from before holes had kinds
	case h.Kind == failure.Skip:
		return OK, ""
	case h.Kind == "":
		return outcomeNamed(name), why // likewise
	}
	for _, o := range Outcomes() {
		if failed(o, "", nil).FailureKind() == h.Kind {
			return o, why
		}
	}
	return OK, ""
}

// add adds what came of a case.
func (k *Kept) add(c CaseResult, o Outcome, why string) {
	c.Block = max(1, c.Block)
	if c.Case == "" {
		c.Block = 0
	}
	if o != OK {
		c.Outcome, c.Err = o, failed(o, why, nil)
	}
	k.Results = append(k.Results, c)
}

// restore takes what came of the cases before the run was interrupted into the summary.
func (r *deviceRun) restore(from *record.Interrupted) error {
	r.s.Files = append(r.s.Files, from.Path)
	kept, err := ReadKept(from.Path)
	if err != nil {
		return err
	}
	for _, c := range kept.Results {
		r.add(c)
	}
	return nil
}

// tellHad tells of the cases of an image that an interrupted run has had.
func (r *deviceRun) tellHad(im *boardImage) {
	from := r.o.Resume
	for _, s := range from.Plan.Steps() {
		if r.images[r.imageAt(s)] != im || strings.HasPrefix(s.Case.Name, imageCase) {
			continue
		}
		for block := 1; block <= from.Ended; block++ {
			r.o.Progress.Had(im.Image, block)
		}
		if from.Done[s.Key()] {
			r.o.Progress.Had(im.Image, from.Ended+1)
		}
	}
}
