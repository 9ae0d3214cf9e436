package record

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// formatSlow writes a Case.Slow.
func formatSlow(slow float64) string { return strconv.FormatFloat(slow, 'g', -1, 64) }

// ID identifies the plan: 12 hexadecimal digits that depend on all of it.
func (p *Plan) ID() string {
	sum := sha256.Sum256([]byte(strings.Join(p.encode(), "\n")))
	return hex.EncodeToString(sum[:6])
}

// encode returns the plan as the lines that a results file keeps it in: the
// settings as JSON, then a line a case. Many short lines, because readers of the
// format take no line of more than 64 KiB.
func (p *Plan) encode() []string {
	settings := *p
	settings.Cases = nil
	b, err := json.Marshal(settings)
	if err != nil {
		panic("record: a plan cannot be encoded: " + err.Error()) // it holds nothing that could not
	}
	lines := []string{PlanMark + string(b)}
	for _, c := range p.Cases {
		slow := ""
		if c.Slow != 0 {
			slow = formatSlow(c.Slow)
		}
		lines = append(lines, strings.TrimSuffix(caseMark+c.Pkg+" "+c.Name+" "+formatFields(SideKey, c.Side, "slow", slow), " "))
	}
	return lines
}

// Encode returns the plan as text, which [DecodePlan] reads.
func (p *Plan) Encode() string { return strings.Join(p.encode(), "\n") + "\n" }

// DecodePlan reads what [Plan.Encode] has written, or anybody else. Its error says what is
// wrong, or why the plan cannot be carried out.
func DecodePlan(text string) (*Plan, error) {
	var p *Plan
	for l := range Lines(text) {
		if l.Mark != PlanMark && l.Mark != caseMark || l.Mark == PlanMark && p != nil || l.Mark == caseMark && p == nil {
			return nil, fmt.Errorf("line %d is not of a plan", l.Number)
		}
		var err error
		if p, err = p.decode(l); err != nil {
			return nil, fmt.Errorf("line %d: %w", l.Number, err)
		}
	}
	if p == nil {
		return nil, errors.New("there is no plan")
	}
	return p, p.Check()
}

// decode takes in a line, if it is one of those that encode wrote; nil is a plan of which
// there is no line yet.
func (p *Plan) decode(l Line) (*Plan, error) {
	switch {
	case l.Mark == PlanMark && p == nil:
		p = new(Plan)
		if err := json.Unmarshal([]byte(l.Rest), p); err != nil {
			return nil, fmt.Errorf("the plan cannot be read: %w", err)
		}
	case l.Mark == caseMark && p != nil:
		c, err := decodeCase(l.Rest)
		if err != nil {
			return nil, err
		}
		p.Cases = append(p.Cases, c)
	}
	return p, nil
}

// decodeCase reads what follows caseMark.
func decodeCase(text string) (Case, error) {
	pkg, rest, ok := strings.Cut(text, " ")
	if !ok {
		return Case{}, fmt.Errorf("%q is not a package and a benchmark", text)
	}
	name, rest, _ := strings.Cut(rest, " ")
	fields, err := ParseFields(rest)
	if err != nil {
		return Case{}, err
	}
	c := Case{Pkg: pkg, Name: name, Side: fields[SideKey]}
	if slow := fields["slow"]; slow != "" {
		if c.Slow, err = strconv.ParseFloat(slow, 64); err != nil || !(c.Slow >= 0) {
			return Case{}, fmt.Errorf("slow=%s is no number of times", slow)
		}
	}
	return c, nil
}

// Differences says in which respects the subjects and settings of now differ
// from those of p, one line each, as "what: then → now".
func (p *Plan) Differences(now *Plan) []string {
	var diffs []string
	say := func(what, then, now string) {
		if then != now {
			diffs = append(diffs, what+": "+then+" → "+now)
		}
	}
	was, is := p.settings(), now.settings()
	for i, s := range was {
		say(s.name, fmt.Sprint(s.value), fmt.Sprint(is[i].value))
	}
	missing := func(from, in []Case, then, now string) {
		for _, c := range from {
			if !slices.Contains(in, c) {
				say("benchmark "+c.Name+" of "+SubjectID(c.Pkg, c.Side), then, now)
			}
		}
	}
	missing(p.Cases, now.Cases, "there", "gone")
	missing(now.Cases, p.Cases, "absent", "there")
	short := func(hash string) string { return cmp.Or(hash[:min(12, len(hash))], "none") }
	for _, id := range slices.Sorted(maps.Keys(p.Subjects)) {
		say("test binary of "+id, short(p.Subjects[id]), short(now.Subjects[id]))
	}
	return diffs
}

// A setting of a plan, as people are told of it.
type setting struct {
	name  string
	value any
}

// settings returns what has to be the same when a run is resumed, but for cases and
// subjects.
func (p *Plan) settings() []setting {
	return []setting{
		{"packages", strings.Join(p.Packages, " ")},
		{"bench", p.Bench},
		{"blocks", p.Blocks},
		{"time", p.Time},
		{"cpu", p.CPU},
		{"seed", p.Seed},
		{"benchmem", p.Benchmem},
		{"timeout", p.Timeout},
		{"count", max(1, p.Count)},
		{"mode", cmp.Or(p.Mode, ModeProcess)},
		{"col", cmp.Or(p.Col, implKey)},
		{"control", p.Control},
		{"rounds", p.Rounds},
		{"slice", p.Slice},
		{"layouts", max(1, p.Layouts)},
		{"looks", p.Looks},
		{"counter", p.Counter},
		{"alpha", p.Alpha},
		{"margin", p.Margin},
	}
}
