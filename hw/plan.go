package hw

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/record"
)

// A Plan is what a plan for a board has beside its cases: record.Plan.Own.
type Plan struct {
	Impls []string `json:"impls"`
	// All: none of Impls was asked for by name, they are all that there are. Then one
	// whose image is too big for the board is skipped, and that, or a case that ran out
	// of memory, is no failure of the run as long as something has passed.
	All   bool     `json:"all,omitempty"`
	Parts []string `json:"parts"` // of the firmware, as SelectParts returns them
	// Case is the regular expression that the names of the cases match; "" for all.
	Case string `json:"case,omitempty"`
	// Silence is how long a board may say nothing, in nanoseconds.
	Silence time.Duration `json:"silence"`
	// Images are what was built, in the order of the implementations.
	Images []PlannedImage `json:"images"`
}

// A PlannedImage is an image of a plan.
type PlannedImage struct {
	Impl  string   `json:"impl"`
	Parts []string `json:"parts"`
	Hash  string   `json:"image,omitempty"` // Image.Hash; "" if there is none
	// Cases is how many of the plan's are the image's; they follow one another.
	Cases int `json:"cases,omitempty"`
}

// PlanOf returns what the plan of a run on a board has beside its cases.
func PlanOf(plan *record.Plan) (p Plan, err error) {
	if len(plan.Own) == 0 {
		return p, errors.New("its plan is not one of a board")
	}
	if err := json.Unmarshal(plan.Own, &p); err != nil {
		return p, fmt.Errorf("the plan of the board cannot be read: %w", err)
	}
	n := 0
	for _, im := range p.Images {
		if im.Cases < 0 {
			return p, fmt.Errorf("an image has %d cases", im.Cases)
		}
		n += im.Cases
	}
	if n != len(plan.Cases) {
		return p, fmt.Errorf("its images have %d cases, and the plan has %d", n, len(plan.Cases))
	}
	return p, nil
}

// asked is the plan that the options ask for, without images.
func (r *deviceRun) asked() (Plan, error) {
	parts, err := SelectParts(r.o.Parts)
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Impls: r.o.Impls, Parts: parts, Silence: r.o.Limits.Silence}
	if r.o.Case != nil {
		p.Case = r.o.Case.String()
	}
	switch from := r.o.Prebuilt; {
	case from != nil:
		p.Impls, p.All = from.Impls, from.All
	case len(p.Impls) == 0:
		p.All = true
		p.Impls, err = r.o.Checkout.Implementations()
	}
	return p, err
}

// imageAt returns the index of the image that has the case of s.
func (r *deviceRun) imageAt(s record.Step) int {
	end := 0
	for i, im := range r.plan.Images {
		if end += im.Cases; s.Index <= end {
			return i
		}
	}
	panic("hw: step " + strconv.Itoa(s.Index) + " is of no image") // PlanOf has counted them
}

// differences says what is different now that would make the two halves of a run two runs,
// one line each.
func (r *deviceRun) differences(from *record.Interrupted, asked Plan) []string {
	var diffs differences
	keys := []string{"commit", "dirty", "board", "device", "title", "chip", "emulated", "emulator"}
	if r.compiler != nil {
		keys = append(keys, "toolchain")
	}
	if r.d.Board.Emulated { // to a real board it makes no difference
		keys = append(keys, "host")
	}
	for _, key := range keys {
		diffs.say(key, from.Config[key], r.here.Value(key))
	}
	diffs.say("impl", r.plan.names(), asked.names())
	diffs.say("parts", strings.Join(r.plan.Parts, ","), strings.Join(asked.Parts, ","))
	diffs.say("case", r.plan.Case, asked.Case)
	diffs.say("count", strconv.Itoa(from.Plan.Blocks), strconv.Itoa(r.o.Count))
	diffs.say("silence", r.plan.Silence.String(), asked.Silence.String())
	diffs.say("timeout", from.Plan.Timeout.String(), r.o.Limits.Case.String())
	return diffs
}

// names names the implementations, and whether they were asked for.
func (p *Plan) names() string {
	names := strings.Join(p.Impls, ",")
	if p.All {
		return "all (" + names + ")"
	}
	return names
}

// differences are what is not as it was, a line each.
type differences []string

// say adds what if it is different.
func (d *differences) say(what, then, now string) {
	if then != now {
		*d = append(*d, what+": "+cmp.Or(then, "none")+" → "+cmp.Or(now, "none"))
	}
}
