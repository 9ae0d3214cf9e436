package targets

import (
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
)

// Measured is the scorecard of those of All that d has a figure for; nil if that is none.
func Measured(d *compare.Data, o compare.Options) (*Scorecard, error) {
	card, err := Evaluate(All(), d, EvaluateOptions{Filter: o.Filter, Alpha: o.Alpha})
	if err != nil {
		return nil, err
	}
	if card = card.Only(Score.Measured); len(card.Scores) == 0 {
		return nil, nil
	}
	return card, nil
}

// Unmet says which required targets are not passed, a line each. What several
// implementations share is said once.
func (c *Scorecard) Unmet() (lines []string) {
	impls := make(map[string][]string) // by line
	for _, s := range c.Scores {
		if !s.Target.Required || s.Outcome != Miss && s.Outcome != NotMeasured {
			continue
		}
		line := s.Target.Says + " (" + s.Target.ID + "): "
		if s.Outcome == NotMeasured {
			line += "not measured: " + s.Why
		} else {
			line += "missed"
		}
		impl := s.Impl
		if s.Board != "" {
			impl = s.Subject()
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
		impls[line] = append(impls[line], impl)
	}
	for i, line := range lines {
		if impls[line][0] != "" {
			lines[i] += " (" + strings.Join(impls[line], ", ") + ")"
		}
	}
	return lines
}
