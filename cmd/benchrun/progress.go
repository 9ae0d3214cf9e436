package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/dynolab/dyno/lab"
)

// progress tells what a run does: on a terminal in one line that is written
// again and again, elsewhere in a line a block.
type progress struct {
	w     io.Writer
	width int // of the terminal; 0 if it is none
	now   func() time.Time

	total, done int
	started     time.Time
	measured    int // processes since started
	shown       bool
}

func newProgress(w io.Writer) *progress {
	p := &progress{w: w, now: time.Now}
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb" {
		p.width = 80
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			p.width = width
		}
	}
	return p
}

// Start implements [lab.Progress].
func (p *progress) Start(total, done int) {
	p.total, p.done, p.started = total, done, p.now()
	if done > 0 {
		fmt.Fprintf(p.w, "%d of %d processes are done already\n", done, total)
	}
}

// Step implements [lab.Progress].
func (p *progress) Step(block int, s lab.Step) {
	if p.width == 0 {
		return
	}
	line := fmt.Sprintf("%d/%d%s  block %d  %s", p.done, p.total, p.left(), block, strings.TrimPrefix(s.FullName(), "Benchmark"))
	if len(line) >= p.width {
		line = line[:p.width-1]
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", line)
	p.shown = true
}

// Done implements [lab.Progress].
func (p *progress) Done(block int, s lab.Step, hole *lab.Hole, output string) {
	p.done++
	p.measured++
	if hole == nil {
		return
	}
	p.clear()
	fmt.Fprintf(p.w, "benchrun: %s: %s\n", s.FullName(), hole)
	if output != "" {
		fmt.Fprintln(p.w, indent(output))
	}
}

// Block implements [lab.Progress].
func (p *progress) Block(n, of int) {
	if p.width > 0 {
		if n == of {
			p.clear()
		}
		return
	}
	fmt.Fprintf(p.w, "block %d of %d done%s\n", n, of, p.left())
}

// left says how long the rest will take, as long as what was measured took.
func (p *progress) left() string {
	rest := p.total - p.done
	if p.measured == 0 || rest == 0 {
		return ""
	}
	each := p.now().Sub(p.started) / time.Duration(p.measured)
	return fmt.Sprintf(", %v left", (each * time.Duration(rest)).Round(time.Second))
}

// clear takes the line off the terminal.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
