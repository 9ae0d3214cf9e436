package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/dynolab/dyno/internal/calibrate"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// progress tells what a run does: on a terminal in one line that is written
// again and again, elsewhere in a line a block.
type progress struct {
	w     io.Writer
	width int // of the terminal; 0 if it is none

	mu       sync.Mutex // an interrupt comes from another goroutine
	total    int
	forecast *session.Forecast
	measured int  // processes of this run
	holes    int  // of those
	turns    bool // processes take turns
	running  bool
	shown    bool

	row   calibrate.RowTime   // that is measured; without Took
	since time.Time           // when it, or what of it was not done, began
	times []calibrate.RowTime // of the rows, in order of appearance
}

func newProgress(w io.Writer, width int) *progress {
	return &progress{w: w, width: width}
}

// terminalWidth returns the width of w if it is a terminal that can write a line
// again, and 0 if not.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

// Start implements [session.Progress].
func (p *progress) Start(total int, f *session.Forecast) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total, p.forecast, p.running = total, f, true
	if done := total - f.Steps(); done > 0 {
		fmt.Fprintf(p.w, "%d of %d processes are done already\n", done, total)
	}
}

// Step implements [session.Progress].
func (p *progress) Step(block int, s record.Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turns = false
	p.row, p.since = calibrate.RowTime{Pkg: s.Case.Pkg, Row: strings.TrimPrefix(s.FullName(), "Benchmark")}, time.Now()
	p.now(block, strings.TrimPrefix(s.FullName(), "Benchmark"))
}

// Turns implements [session.Progress].
func (p *progress) Turns(block int, g record.Group) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turns = true
	p.row, p.since = calibrate.RowTime{Pkg: g.Pkg, Row: g.Name}, time.Now()
	p.now(block, fmt.Sprintf("%s, %d in turns", g.Name, len(g.Steps)))
}

// now shows what is measured, on a terminal.
func (p *progress) now(block int, what string) {
	if p.width == 0 {
		return
	}
	line := fmt.Sprintf("%d/%d%s  block %d  %s", p.total-p.forecast.Steps(), p.total, p.left(), block, what)
	if r := []rune(line); len(r) >= p.width {
		line = string(r[:p.width-1])
	}
	fmt.Fprintf(p.w, "\r\x1b[K%s", line)
	p.shown = true
}

// Note implements [session.Progress].
func (p *progress) Note(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.w, "benchrun: %s\n", text)
}

// Look implements [session.Progress].
func (p *progress) Look(block int, decided []record.Group, saved int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.w, "look after block %d: %s decided, which saves %s\n", block, counted(len(decided), "row"), counted(saved, "process"))
}

// Done implements [session.Progress].
func (p *progress) Done(block int, s record.Step, hole *record.Hole, output string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.measured++
	p.took()
	if hole == nil {
		return
	}
	p.holes++
	p.clear()
	fmt.Fprintf(p.w, "benchrun: %s: %s\n", s.FullName(), hole)
	if output != "" {
		fmt.Fprintln(p.w, indent(output))
	}
}

// took adds the time since the last call to that of the row that is measured.
func (p *progress) took() {
	i := slices.IndexFunc(p.times, func(t calibrate.RowTime) bool { return t.Pkg == p.row.Pkg && t.Row == p.row.Row })
	if i < 0 {
		i = len(p.times)
		p.times = append(p.times, p.row)
	}
	now := time.Now()
	p.times[i].Took += now.Sub(p.since)
	p.since = now
}

// Block implements [session.Progress].
func (p *progress) Block(n, of int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.width > 0 {
		return
	}
	fmt.Fprintf(p.w, "block %d of %d done%s\n", n, of, p.left())
}

// interrupted says what the first interrupt does. It may be called at any time,
// by any goroutine.
func (p *progress) interrupted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running {
		p.clear()
		what := "the process that runs"
		if p.turns {
			what = "the row that takes turns, if that is soon"
		}
		fmt.Fprintf(p.w, "finishing %s; interrupt again to end it at once\n", what)
	}
}

// end concludes: nothing is measured any more.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.running = false
	if p.holes > 0 {
		fmt.Fprintf(p.w, "%d of %s gave no result; the results say why\n", p.holes, counted(p.measured, "process"))
	}
}

// left says how long the rest will take, once something has been measured.
func (p *progress) left() string {
	if p.measured == 0 || p.forecast.Steps() == 0 {
		return ""
	}
	return fmt.Sprintf(", %v left", p.forecast.Left().Round(time.Second))
}

// clear takes the line off the terminal.
func (p *progress) clear() {
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
		p.shown = false
	}
}
