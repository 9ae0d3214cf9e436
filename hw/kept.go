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
	Config  map[string]string // of the header
	Results []CaseResult      // in their order, without devices and answers
}

// ReadKept reads a results file of a board. What it cannot read it leaves out.
func ReadKept(name string) (*Kept, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	k := &Kept{Config: make(map[string]string)}
	block := 0
	for l := range record.Lines(name, data) {
		clause, isClause, err := record.ParseClauseLine(l.Text)
		hole, isHole, bad := record.ParseHoleLine(l.Text)
		switch {
		case l.Err != nil || err != nil || bad != nil:
		case l.Key == "block":
			block, _ = strconv.Atoi(l.Value)
		case l.Key != "" && block == 0:
			k.Config[l.Key] = l.Value
		case isClause:
			k.add(CaseResult{Impl: clause.Impl, Case: conformPrefix + clause.Name, Block: block}, clause.Outcome, clause.Why, clause.Result == record.ClauseSkipped)
		case isHole && hole.Case == "":
			k.add(CaseResult{Impl: path.Base(hole.Pkg)}, "", hole.Reason, hole.Skipped)
		case isHole:
			k.add(CaseResult{Impl: implOf(hole.Case), Case: firmwareName(hole.Case, ""), Block: block}, "", hole.Reason, hole.Skipped)
		case l.Result != nil:
			if name := "Benchmark" + string(l.Result.Name); !strings.HasPrefix(name, imageCase) {
				k.add(CaseResult{Impl: implOf(name), Case: firmwareName(name, ""), Block: block}, OK.String(), "", false)
			}
		}
	}
	return k, nil
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

// implOf is the implementation that the name of a benchmark ends with.
func implOf(name string) string {
	_, impl, _ := strings.Cut(name, "/impl=")
	return impl
}

// add adds what came of a case. outcome is "" if why begins with it, or if all is well.
func (k *Kept) add(c CaseResult, outcome, why string, skipped bool) {
	c.Block = max(1, c.Block)
	if c.Case == "" {
		c.Block = 0
	}
	for _, o := range Outcomes() {
		if rest, ok := strings.CutPrefix(why, o.String()+": "); ok && outcome == "" {
			outcome, why = o.String(), rest
		}
	}
	if skipped {
		c.Skip = cmp.Or(why, "no reason given")
		if rest, ok := strings.CutPrefix(why, doesNotFit); ok && c.Case == "" {
			outcome, why = TooBig.String(), rest
		}
	}
	for _, o := range Outcomes() {
		if o.String() == outcome && o != OK {
			c.Outcome, c.Err = o, failed(o, why, nil)
		}
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
