package hw

import (
	"cmp"
	"os"
	"path"
	"strconv"
	"strings"

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
		k.add(c, OK, r.Hole.Reason, r.Hole.Skipped)
	}
	for _, r := range k.File.Results {
		if !strings.HasPrefix("Benchmark"+r.Result.Name.String(), imageCase) {
			k.add(benchmarkResult(r), OK, "", false)
		}
	}
	times := make(map[string]int)
	for _, c := range k.File.Clauses {
		name := conformPrefix + c.Name
		times[c.Impl+" "+name]++ // once in each block
		k.add(CaseResult{Impl: c.Impl, Case: name, Block: times[c.Impl+" "+name]}, outcomeNamed(c.Outcome), c.Why, c.Result == record.ClauseSkipped)
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

// add adds what came of a case. o is OK if why begins with the outcome, or if all is well.
func (k *Kept) add(c CaseResult, o Outcome, why string, skipped bool) {
	c.Block = max(1, c.Block)
	if c.Case == "" {
		c.Block = 0
	}
	if name, rest, _ := strings.Cut(why, ": "); o == OK && outcomeNamed(name) != OK {
		o, why = outcomeNamed(name), rest
	}
	if skipped {
		c.Skip = cmp.Or(why, "no reason given")
		if rest, ok := strings.CutPrefix(why, doesNotFit); ok && c.Case == "" {
			o, why = TooBig, rest
		}
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
