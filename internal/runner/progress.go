package runner

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// A progress says what a session does: on a terminal in its status line, elsewhere in a
// line a block. It may be used for several sessions, one after another.
type progress struct {
	con *console.Console

	mu       sync.Mutex // an interrupt comes from another goroutine
	total    int
	forecast *session.Forecast
	measured int  // processes of this session
	holes    int  // of those
	turns    bool // processes take turns
	running  bool
	quiet    bool // blocks are not told

	report func(CarryReport) // is called with how far it is; nil for none
	after  func(block int)   // is called after each block but the last; nil for none

	began  time.Time   // when the session began
	blocks []time.Time // when its blocks ended
}

// firstBlock returns how long the first block of the latest session took, and how many it
// did.
func (p *progress) firstBlock() (took time.Duration, blocks int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.blocks) == 0 {
		return 0, 0
	}
	return p.blocks[0].Sub(p.began), len(p.blocks)
}

// Start implements [session.Progress].
func (p *progress) Start(total int, f *session.Forecast) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total, p.forecast, p.measured, p.holes, p.running = total, f, 0, 0, true
	p.began, p.blocks = time.Now(), nil
	p.tell(0, 0)
	if done := total - f.Steps(); done > 0 && !p.quiet {
		fmt.Fprintf(p.con, "%d of %d processes are done already\n", done, total)
	}
}

// Step implements [session.Progress].
func (p *progress) Step(block int, s record.Step) {
	p.now(block, strings.TrimPrefix(s.FullName(), "Benchmark"), false)
}

// Turns implements [session.Progress].
func (p *progress) Turns(block int, g record.Group) {
	p.now(block, fmt.Sprintf("%s, %d alternating", g.Name, len(g.Steps)), true)
}

// now shows what is measured.
func (p *progress) now(block int, what string, turns bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.turns = turns
	p.con.Status(fmt.Sprintf("%d/%d%s  block %d  %s", p.total-p.forecast.Steps(), p.total, p.left(), block, what))
}

// Note implements [session.Progress].
func (p *progress) Note(text string) { fmt.Fprintf(p.con, "benchrun: %s\n", text) }

// Look implements [session.Progress].
func (p *progress) Look(block int, decided []record.Group, saved int) {
	if len(decided) > 0 {
		fmt.Fprintf(p.con, "interim look after block %d: %s decided, which saves %s\n", block, console.Count(len(decided), "row"), console.Count(saved, "process"))
	}
}

// Done implements [session.Progress].
func (p *progress) Done(_ int, s record.Step, hole *record.Hole, output string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.measured++
	if hole == nil {
		return
	}
	p.holes++
	fmt.Fprintf(p.con, "benchrun: %s: %s\n", s.FullName(), hole)
	if output != "" {
		fmt.Fprintln(p.con, console.Indent(output))
	}
}

// Block implements [session.Progress].
func (p *progress) Block(n, of int) {
	if p.after != nil && n < of {
		defer p.after(n)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocks = append(p.blocks, time.Now())
	p.tell(n, of)
	if !p.con.Terminal() && !p.quiet {
		fmt.Fprintf(p.con, "block %d of %d done%s\n", n, of, p.left())
	}
}

// tell reports that n blocks are done; of is 0 if it is not known yet how many there are.
func (p *progress) tell(n, of int) {
	if p.report != nil {
		p.report(CarryReport{Block: n, Of: of, Left: p.forecast.Left().Seconds()})
	}
}

// interrupted says what the first interrupt does. It may be called at any time,
// by any goroutine.
func (p *progress) interrupted() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running {
		what := "the process that runs"
		if p.turns {
			what = "the row that is measured, if that is soon"
		}
		fmt.Fprintf(p.con, "finishing %s; interrupt again to end it at once\n", what)
	}
}

// end concludes a session: nothing is measured any more.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.con.Clear()
	p.running = false
	if p.holes > 0 {
		fmt.Fprintf(p.con, "%d of %s gave no result; the results say why\n", p.holes, console.Count(p.measured, "process"))
	}
}

// left says how long the rest will take, once something has been measured.
func (p *progress) left() string {
	if p.measured == 0 || p.forecast.Steps() == 0 {
		return ""
	}
	return fmt.Sprintf(", %v left", p.forecast.Left().Round(time.Second))
}
