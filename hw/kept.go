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
	for l := range record.Lines(string(data)) {
		switch {
		case l.Torn:
		case l.Key == "block":
			block, _ = strconv.Atoi(l.Value)
		case l.Key != "" && block == 0:
			k.Config[l.Key] = l.Value
		case l.Mark == record.ClauseMark:
			if c, _, err := record.ParseClauseLine(l.Text); err == nil {
				k.add(CaseResult{Impl: c.Impl, Case: conformPrefix + c.Name, Block: block}, outcomeNamed(c.Outcome), c.Why, c.Result == record.ClauseSkipped)
			}
		case l.Mark == record.HoleMark, l.Mark == record.SkipMark:
			if h, _, err := record.ParseHoleLine(l.Text); err == nil && h.Case == "" {
				k.add(CaseResult{Impl: path.Base(h.Pkg)}, OK, h.Reason, h.Skipped)
			} else if err == nil {
				k.add(CaseResult{Impl: implOf(h.Case), Case: firmwareName(h.Case, ""), Block: block}, OK, h.Reason, h.Skipped)
			}
		case l.Mark == record.ResultMark && !strings.HasPrefix(l.Text, imageCase):
			benchmark, _, _ := strings.Cut(l.Text, " ")
			k.add(CaseResult{Impl: implOf(benchmark), Case: firmwareName(benchmark, ""), Block: block}, OK, "", false)
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
