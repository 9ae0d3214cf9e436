package boardrun

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/console"
)

// A progress tells what a run does: a line for each figure and for what fails or is
// skipped; clauses that pass are counted. On a terminal it says also what runs.
type progress struct {
	con *console.Console

	cases  int // in all
	named  string
	passed int // clauses that were not yet told of

	// of is how far each image has got; now is that of the one that runs.
	of  map[*hw.Image]*imageProgress
	now *imageProgress
}

// An imageProgress is how far an image has got with its cases, which is told anew each
// time that all of them are run.
type imageProgress struct {
	block, begun, cases int
}

func (p *imageProgress) String() string { return fmt.Sprintf("%d of %d", p.begun, p.cases) }

// mostUntold is how many clauses pass before that is told, where there is no terminal
// that says what runs.
const mostUntold = 25

// none reports whether boards have said what they can run, and none of it was wanted.
func (p *progress) none(worst hw.Outcome) bool {
	return (worst == hw.OK || worst == hw.TooBig) && len(p.of) > 0 && p.cases == 0
}

// say prints a line, after what was not yet told of.
func (p *progress) say(format string, args ...any) {
	p.flush()
	fmt.Fprintf(p.con, format+"\n", args...)
}

// flush tells of the clauses that have passed, and clears the line of a terminal.
func (p *progress) flush() {
	p.con.Clear()
	if p.passed > 0 {
		fmt.Fprintf(p.con, "  %s passed (at case %s)\n", console.Count(p.passed, "clause"), p.now)
	}
	p.passed = 0
}

func (p *progress) Build(d hw.Device, impl string, parts []string) {
	p.say("building %s with %s, %s", d.Board.Name, impl, hw.NameParts(parts))
}

func (p *progress) Split(_ hw.Device, _ string, _ []string, err error) {
	p.say("  %v\n  so each part is an image of its own", err)
}

func (p *progress) Built(_ hw.Device, _ string, im *hw.Image, err error) {
	if err == nil && im.Sizes != nil {
		p.say("  flash: %s\n  RAM:   %s", room(im.Sizes.Flash(), im.Board.Flash), room(im.Sizes.RAM(), im.Board.RAM))
	}
}

func (p *progress) Flash(d hw.Device, im *hw.Image) {
	p.say("flashing %s with %s", d.Entry.ID, im.Impl)
	if needs := d.Board.FlashNeeds; needs != "" {
		p.say("  (if it is not found: %s)", needs)
	}
}

func (p *progress) Cases(d hw.Device, im *hw.Image, hello line.Hello, n int) {
	p.cases += n
	if p.of == nil {
		p.of = make(map[*hw.Image]*imageProgress)
	}
	p.of[im] = &imageProgress{block: 1, cases: n}
	p.say("%s with %s, %s, says hello: %s, a clock of %s %s a second, %d bytes of heap free; %s to run",
		d.Entry.ID, im.Impl, hw.NameParts(im.Parts), hello.Chip, strconv.FormatFloat(hello.Clock, 'f', -1, 64), hello.Unit, hello.RAMFree, console.Count(n, "case"))
}

// Case says which case runs, on a terminal.
func (p *progress) Case(_ hw.Device, im *hw.Image, name string, block int) {
	at := p.next(im, block)
	p.named = title(name, im.Impl, block)
	p.con.Status("  " + at.String() + ": " + p.named)
}

// title names a case for people.
func title(name, impl string, block int) string {
	if block > 1 {
		name += fmt.Sprintf(" (time %d)", block)
	}
	if !strings.Contains(name, "/impl=") {
		name += " with " + impl
	}
	return name
}

// Had counts a case that was there before.
func (p *progress) Had(im *hw.Image, block int) { p.next(im, block) }

// next counts the next case of an image.
func (p *progress) next(im *hw.Image, block int) *imageProgress {
	at := p.of[im]
	if at != p.now || block > at.block {
		p.flush()
	}
	if block > at.block {
		*at = imageProgress{block: block, cases: at.cases}
	}
	at.begun++
	p.now = at
	return at
}

func (p *progress) Done(r hw.CaseResult) {
	if r.Case == "" && r.Skip != "" {
		p.say("  skipped: %s", console.Printable(r.Skip))
		return
	}
	if r.Case == "" {
		p.flush()
		_, _ = Tell(p.con, r.Err) // it is one about a board
		return
	}
	switch {
	case r.Err != nil:
		p.say("  %s: %s", p.named, console.Printable(r.Err.Error()))
		writeOutput(p.con, r.Err)
	case r.Skip != "":
		p.say("  %s: skipped: %s", title(r.Case, r.Impl, r.Block), r.Skip)
	case r.Answer != nil && len(r.Answer.Results) > 0:
		for _, text := range r.Answer.Results {
			p.say("  %s: %s", p.named, figuresOf(text))
		}
	default:
		p.passed++
		if !p.con.Terminal() && p.passed >= mostUntold {
			p.flush()
		}
	}
}

// figuresOf is a benchmark line without its name and number of iterations.
func figuresOf(text string) string {
	fields := strings.Fields(text)
	var figures []string
	for i := 2; i+1 < len(fields); i += 2 {
		figures = append(figures, fields[i]+" "+fields[i+1])
	}
	return strings.Join(figures, ", ")
}
