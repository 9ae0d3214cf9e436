package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Plan says what is measured, how often, and in which order. It is written
// into the results, so that a run can be repeated, and resumed.
type Plan struct {
	Cases  []Case `json:"cases,omitempty"`
	CPU    []int  `json:"cpu"`    // values of GOMAXPROCS
	Blocks int    `json:"blocks"` // each case runs once in each
	Time   string `json:"time"`   // -test.benchtime: a duration, or a number of iterations such as "100x"
	Seed   uint64 `json:"seed"`   // of the orders

	// Benchmem asks testing for bytes and allocations per operation, which
	// benchmarks that report their own do not need.
	Benchmem bool `json:"benchmem"`

	// Timeout is how long one process may take, in nanoseconds.
	Timeout time.Duration `json:"timeout"`

	// Packages and Bench are what the cases were chosen by, and Subjects the
	// hash of each test binary, by the subject's ID.
	Packages []string          `json:"packages"`
	Bench    string            `json:"bench"`
	Subjects map[string]string `json:"subjects"`
}

// A Step is one process of a plan: a case with a GOMAXPROCS.
type Step struct {
	Index int // place in the plan's list of cases × CPU, counted from 1
	Case  Case
	CPU   int
}

// FullName returns the name under which the step's result is printed: with the
// suffix that tells GOMAXPROCS, which package testing leaves out for 1.
func (s Step) FullName() string {
	if s.CPU == 1 {
		return s.Case.Name
	}
	return s.Case.Name + "-" + strconv.Itoa(s.CPU)
}

// Check returns an error if the plan cannot be carried out.
func (p *Plan) Check() error {
	if len(p.Cases) == 0 {
		return errors.New("the plan has no benchmarks")
	}
	return p.CheckSettings()
}

// CheckSettings is Check for a plan whose cases are not known yet.
func (p *Plan) CheckSettings() error {
	switch {
	case p.Blocks < 1:
		return fmt.Errorf("--blocks is %d; it must be at least 1 (6 is the least that can prove a difference)", p.Blocks)
	case len(p.CPU) == 0:
		return errors.New("--cpu is empty")
	case p.Timeout <= 0:
		return fmt.Errorf("--timeout is %v; it must be positive", p.Timeout)
	}
	for _, n := range p.CPU {
		if n < 1 {
			return fmt.Errorf("--cpu %d: GOMAXPROCS is at least 1", n)
		}
	}
	if err := checkTime(p.Time); err != nil {
		return err
	}
	return CheckPattern(p.Bench)
}

// checkTime returns an error if s is no -test.benchtime.
func checkTime(s string) error {
	if n, ok := strings.CutSuffix(s, "x"); ok {
		if v, err := strconv.Atoi(n); err == nil && v > 0 {
			return nil
		}
	} else if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return nil
	}
	return fmt.Errorf(`--time is %q; it must be a duration such as "100ms" or a number of iterations such as "1000x"`, s)
}

// Steps returns the processes of a block in plan order.
func (p *Plan) Steps() []Step {
	steps := make([]Step, 0, len(p.Cases)*len(p.CPU))
	for _, c := range p.Cases {
		for _, n := range p.CPU {
			steps = append(steps, Step{Index: len(steps) + 1, Case: c, CPU: n})
		}
	}
	return steps
}

// Order returns the steps of a block, counted from 1, in the order in which they
// run: shuffled, the same for the same seed and block.
func (p *Plan) Order(block int) []Step {
	steps := p.Steps()
	r := rand.New(rand.NewPCG(p.Seed, uint64(block)))
	r.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	return steps
}

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
		panic("lab: a plan cannot be encoded: " + err.Error()) // it holds nothing that could not
	}
	lines := []string{planMark + string(b)}
	for _, c := range p.Cases {
		line := caseMark + c.Pkg + " " + c.Name
		if c.Side != "" {
			line += sideMark + c.Side
		}
		lines = append(lines, line)
	}
	return lines
}

const (
	planMark = "# plan: "
	caseMark = "# case: "
	sideMark = " side=" // after the name, which has no space
)

// decodePlan reads the lines that encode wrote; other lines are ignored.
func decodePlan(lines []string) (*Plan, error) {
	var p *Plan
	for i, line := range lines {
		if text, ok := strings.CutPrefix(line, planMark); ok && p == nil {
			p = new(Plan)
			if err := json.Unmarshal([]byte(text), p); err != nil {
				return nil, fmt.Errorf("line %d: the plan cannot be read: %w", i+1, err)
			}
		}
		if text, ok := strings.CutPrefix(line, caseMark); ok && p != nil {
			pkg, name, ok := strings.Cut(text, " ")
			if !ok {
				return nil, fmt.Errorf("line %d: %q is not a package and a benchmark", i+1, text)
			}
			name, side, _ := strings.Cut(name, sideMark)
			p.Cases = append(p.Cases, Case{Pkg: pkg, Name: name, Side: side})
		}
	}
	if p == nil {
		return nil, errors.New("there is no plan in it: it was not written by benchrun run")
	}
	return p, p.Check()
}

// Differences says in which respects the subjects and settings of now differ
// from those of p, one line each, as "what: then → now".
func (p *Plan) Differences(now *Plan) []string {
	var diffs []string
	say := func(what, then, now string) {
		if then != now {
			diffs = append(diffs, fmt.Sprintf("%s: %s → %s", what, then, now))
		}
	}
	say("packages", strings.Join(p.Packages, " "), strings.Join(now.Packages, " "))
	say("bench", p.Bench, now.Bench)
	say("blocks", strconv.Itoa(p.Blocks), strconv.Itoa(now.Blocks))
	say("time", p.Time, now.Time)
	say("cpu", fmt.Sprint(p.CPU), fmt.Sprint(now.CPU))
	say("seed", strconv.FormatUint(p.Seed, 10), strconv.FormatUint(now.Seed, 10))
	say("benchmem", strconv.FormatBool(p.Benchmem), strconv.FormatBool(now.Benchmem))
	say("timeout", p.Timeout.String(), now.Timeout.String())
	for _, c := range p.Cases {
		if !slices.Contains(now.Cases, c) {
			say("benchmark "+c.Name+" of "+subjectID(c.Pkg, c.Side), "there", "gone")
		}
	}
	for _, c := range now.Cases {
		if !slices.Contains(p.Cases, c) {
			say("benchmark "+c.Name+" of "+subjectID(c.Pkg, c.Side), "absent", "there")
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(p.Subjects)) {
		say("test binary of "+pkg, short(p.Subjects[pkg]), short(now.Subjects[pkg]))
	}
	return diffs
}

func short(hash string) string {
	if hash == "" {
		return "none"
	}
	return hash[:min(12, len(hash))]
}
