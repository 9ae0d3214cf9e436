package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/targets"
)

// boardRunConfig is what the flags of board run say.
type boardRunConfig struct {
	boardConfig
	match            string
	count            int
	timeout, silence time.Duration
	out              string
	resume           string
}

func newBoardRunCmd() *cobra.Command {
	var c boardRunConfig
	cmd := &cobra.Command{
		Use:   "run board...",
		Short: "Run workloads and clauses on boards, and keep the results",
		Long: `Run builds the firmware for each board and implementation, flashes it where that is
needed, and runs its cases, each after a reset: workloads, which give figures, and
clauses of the conformance suite. A board is named by its ID in the hardware map, or
by its kind if there is only one.

If a board has no room for all --parts of the firmware together, each is an image of
its own, and they are run one after the other.

The results of a board are appended to a new file in the Go benchmark format,
results/<board>/<time>-<commit>.bench in the checkout, or --out; it is synced case
by case. A case that fails is a hole there, with its reason, and does not stop the
others; an image that cannot be built or flashed does not stop the other images.
Without --impl all implementations are run. Then one that is too big for the board is
skipped, and that, or cases that run out of memory, is a finding and no failure, as
long as something has passed; of an implementation that is named it is one.
Ctrl-C ends the run, and says how to go on; what was measured until then is kept.

--resume goes on with a run that was interrupted or killed: it runs the cases that
its file does not have yet, and adds them to it. A case that has failed stays
failed. The other flags are what they were, and need not be given again.

The exit status is that of the greatest outcome that is a failure; benchrun board
--help has them.`,
		Example: `  benchrun board run linux-arm64-qemu
  benchrun board run cortex-m3-qemu rv32-qemu --impl serial --parts bench
  benchrun board run cortex-m3-qemu --impl serial --parts conform/group,conform/task
  benchrun board run pico --parts bench --case 'workload=(pingpong|ring)'
  benchrun board run pico-left --count 10 --map lab.yaml --out pico.bench
  benchrun board run cortex-m3-qemu --resume results/cortex-m3-qemu/run.bench`,
		Args: needBoard(0),
		RunE: func(cmd *cobra.Command, args []string) error { return runBoards(cmd, c, args) },
	}
	c.imageFlags(cmd, true)
	c.mapFlag(cmd)
	f := cmd.Flags()
	f.StringVar(&c.match, "case", "", "only cases whose names match this `pattern`, a regular expression")
	f.IntVar(&c.count, "count", 1, "run each case `n` times, each after a reset; a time is a block")
	f.DurationVar(&c.timeout, "timeout", 5*time.Minute, "how long a case may take: a `duration`")
	f.DurationVar(&c.silence, "silence", time.Minute, "how long a board may say nothing in the middle of a case: a `duration`")
	f.StringVar(&c.out, "out", "", "write the results into this new `file`, of one board (default: results/<board>/<time>-<commit>.bench)")
	f.StringVar(&c.resume, "resume", "", "go on with the run whose results are in this `file`")
	_ = cmd.MarkFlagFilename("out", "bench")
	_ = cmd.MarkFlagFilename("resume", "bench")
	return cmd
}

// keep sets the flags that were not given to what they were in the run that is resumed.
func (c *boardRunConfig) keep(plan *record.Plan, p hw.Plan, changed func(flag string) bool) {
	for flag, keep := range map[string]func(){
		"parts":   func() { c.parts = p.Parts },
		"case":    func() { c.match = p.Case },
		"count":   func() { c.count = plan.Blocks },
		"timeout": func() { c.timeout = plan.Timeout },
		"silence": func() { c.silence = p.Silence },
	} {
		if !changed(flag) {
			keep()
		}
	}
}

func runBoards(cmd *cobra.Command, c boardRunConfig, names []string) error {
	var from *record.Interrupted
	var then hw.Plan
	if c.resume != "" {
		if c.out != "" || len(names) > 1 {
			return errors.New("--resume goes on in its own file, which is of one board: leave out --out and other boards")
		}
		var err error
		if from, err = record.ReadInterruptedBoard(c.resume); err != nil {
			return err
		}
		if then, err = hw.PlanOf(from.Plan); err != nil {
			return fmt.Errorf("%s cannot be resumed: %w", c.resume, err)
		}
		c.keep(from.Plan, then, cmd.Flags().Changed)
	}
	pattern, err := regexp.Compile(c.match)
	switch {
	case err != nil:
		return fmt.Errorf("--case: %w", err)
	case c.count < 1:
		return fmt.Errorf("--count is %d; each case is run at least once", c.count)
	case c.timeout <= 0 || c.silence <= 0:
		return errors.New("--timeout and --silence are longer than nothing")
	case c.out != "" && len(names) > 1:
		return errors.New("--out is one file, and each board has its own: leave it out, or run the boards one by one")
	}
	if err := runner.CheckOut(c.out); err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	w := consoleOf(cmd)
	ctx, _, stop := session.Interruptible(cmd.Context(), func() { fmt.Fprintln(w, "interrupted: the case that runs is given up") })
	defer stop()
	devices, err := c.devices(names)
	if err != nil {
		return exitTold(w, err)
	}
	checkout, err := hw.FindCheckout(ctx, "")
	if err != nil {
		return err
	}
	o := hw.RunOptions{
		Checkout: checkout, Devices: devices, Parts: c.parts, Case: pattern, Count: c.count, Out: c.out, Resume: from,
		Limits: hw.Limits{Silence: c.silence, Case: c.timeout},
	}
	switch {
	case len(c.impls) > 0:
		if o.Impls, err = c.implementations(checkout); err != nil {
			return err
		}
	case from != nil && !then.All:
		o.Impls = then.Impls
	}
	p := &boardProgress{con: w}
	o.Progress = p
	if from != nil {
		tellResumed(w, from)
	}
	s, err := hw.Run(ctx, o)
	p.flush()
	if s != nil {
		if err := presentBoards(cmd, s); err != nil {
			return err
		}
	}
	switch {
	case errors.Is(err, session.ErrInterrupted):
		tellInterrupted(w, c, names, s)
		return exitError(exitInterrupted)
	case err != nil:
		return exitTold(w, err)
	case (s.Worst == hw.OK || s.Worst == hw.TooBig) && len(p.of) > 0 && p.cases == 0 && from == nil:
		return fmt.Errorf("no case of the firmware matches %q; to see them: echo list | benchrun board monitor %s", c.match, names[0])
	}
	return exitOutcome(s.Worst)
}

// tellResumed says what is left of a run.
func tellResumed(w io.Writer, from *record.Interrupted) {
	if from.Finished() {
		fmt.Fprintf(w, "%s is complete: all of its cases are there\n", from.Path)
		return
	}
	kept, err := hw.ReadKept(from.Path)
	if err != nil {
		return // which is said when it is to be gone on with
	}
	fmt.Fprintf(w, "%s has %s already\n", from.Path, console.Count(kept.Cases(), "case"))
	if from.Torn != "" {
		fmt.Fprintf(w, "%s ends in the middle of a case; that one is run again\n", from.Path)
	}
}

// tellInterrupted says how to go on with a run that was interrupted. names are those of
// the boards, as they were given, in the order in which they are run.
func tellInterrupted(w io.Writer, c boardRunConfig, names []string, s *hw.Summary) {
	begun := len(names) - len(s.NotBegun)
	if s.Unfinished != "" {
		again := "benchrun board run " + console.ShellWord(names[begun-1])
		if c.hwmap != "" {
			again += " --map " + console.ShellWord(c.hwmap)
		}
		fmt.Fprintf(w, "interrupted; what was measured is kept. To go on:\n  %s --resume %s\n", again, console.ShellWord(near(s.Unfinished)))
	}
	switch left := names[begun:]; {
	case begun == 0:
		fmt.Fprintln(w, "interrupted before anything was measured")
	case len(left) > 0:
		fmt.Fprintf(w, "not begun: %s\n", strings.Join(left, ", "))
	}
}

// boardProgress tells what a run does: a line for each figure and for what fails or is
// skipped; clauses that pass are counted. On a terminal it says also what runs.
type boardProgress struct {
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

// say prints a line, after what was not yet told of.
func (p *boardProgress) say(format string, args ...any) {
	p.flush()
	fmt.Fprintf(p.con, format+"\n", args...)
}

// flush tells of the clauses that have passed, and clears the line of a terminal.
func (p *boardProgress) flush() {
	p.con.Clear()
	if p.passed > 0 {
		fmt.Fprintf(p.con, "  %s passed (at case %s)\n", console.Count(p.passed, "clause"), p.now)
	}
	p.passed = 0
}

func (p *boardProgress) Build(d hw.Device, impl string, parts []string) {
	p.say("building %s with %s, %s", d.Board.Name, impl, hw.NameParts(parts))
}

func (p *boardProgress) Split(_ hw.Device, _ string, _ []string, err error) {
	p.say("  %v\n  so each part is an image of its own", err)
}

func (p *boardProgress) Built(_ hw.Device, _ string, im *hw.Image, err error) {
	if err == nil && im.Sizes != nil {
		p.say("  flash: %s\n  RAM:   %s", room(im.Sizes.Flash(), im.Board.Flash), room(im.Sizes.RAM(), im.Board.RAM))
	}
}

func (p *boardProgress) Flash(d hw.Device, im *hw.Image) {
	p.say("flashing %s with %s", d.Entry.ID, im.Impl)
	if needs := d.Board.FlashNeeds; needs != "" {
		p.say("  (if it is not found: %s)", needs)
	}
}

func (p *boardProgress) Cases(d hw.Device, im *hw.Image, hello line.Hello, n int) {
	p.cases += n
	if p.of == nil {
		p.of = make(map[*hw.Image]*imageProgress)
	}
	p.of[im] = &imageProgress{block: 1, cases: n}
	p.say("%s with %s, %s, says hello: %s, a clock of %s %s a second, %d bytes of heap free; %s to run",
		d.Entry.ID, im.Impl, hw.NameParts(im.Parts), hello.Chip, strconv.FormatFloat(hello.Clock, 'f', -1, 64), hello.Unit, hello.RAMFree, console.Count(n, "case"))
}

// Case says which case runs, on a terminal.
func (p *boardProgress) Case(_ hw.Device, im *hw.Image, name string, block int) {
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
func (p *boardProgress) Had(im *hw.Image, block int) { p.next(im, block) }

// next counts the next case of an image.
func (p *boardProgress) next(im *hw.Image, block int) *imageProgress {
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

func (p *boardProgress) Done(r hw.CaseResult) {
	if r.Case == "" && r.Skip != "" {
		p.say("  skipped: %s", hw.Printable(r.Skip))
		return
	}
	if r.Case == "" {
		p.flush()
		_, _ = tellBoard(p.con, r.Err) // it is one about a board
		return
	}
	switch {
	case r.Err != nil:
		p.say("  %s: %s", p.named, hw.Printable(r.Err.Error()))
		if r.Err.Output != "" {
			fmt.Fprintln(p.con, console.Indent(beginning(hw.Printable(r.Err.Output))))
		}
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

// presentBoards prints what came of a run: a line for each implementation, the sum of its
// clauses, the targets that are decided, what to do about what went wrong, and where the results are.
func presentBoards(cmd *cobra.Command, s *hw.Summary) error {
	out := cmd.OutOrStdout()
	if err := boardTable(out, s.Results); err != nil {
		return err
	}
	var hinted []hw.Outcome
	for _, r := range s.Results {
		if r.Err != nil && r.Case != "" && !slices.Contains(hinted, r.Outcome) {
			hinted = append(hinted, r.Outcome)
			fmt.Fprintf(cmd.ErrOrStderr(), "hint: %s: %s\n", r.Outcome, r.Err.Hint())
		}
	}
	for _, file := range s.Files {
		if err := boardTargets(out, file); err != nil {
			return err
		}
	}
	var shown []string
	for _, file := range s.Files {
		shown = append(shown, console.ShellWord(near(file)))
		fmt.Fprintf(out, "results: %s\n", near(file))
	}
	if len(shown) > 0 {
		fmt.Fprintf(out, "to report them, alone or beside a host's: benchrun report %s\n", strings.Join(shown, " "))
	}
	return nil
}

// near is a path as one would type it here.
func near(path string) string {
	wd, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	rel, err := filepath.Rel(wd, path)
	if err != nil || strings.HasPrefix(rel, ".."+string(filepath.Separator)+"..") {
		return path
	}
	return rel
}

// boardTable prints a line for each board and implementation, and then the sum of the
// clauses of each that ran some.
func boardTable(w io.Writer, results []hw.CaseResult) error {
	type key struct{ device, impl string }
	type count struct {
		figures, clauses, skipped, failed int

		clausesSkipped int
		clausesFailed  [hw.WrongResult + 1]int // by outcome
	}
	var order []key
	counts := make(map[key]*count)
	worst := make(map[key]hw.Outcome)
	for _, r := range results {
		k := key{r.Device.Entry.ID, cmp.Or(r.Impl, "-")}
		n := counts[k]
		if n == nil {
			n = new(count)
			order, counts[k] = append(order, k), n
		}
		worst[k] = max(worst[k], r.Outcome)
		clause := strings.HasPrefix(r.Case, "conform/")
		switch {
		case r.Skip != "":
			n.skipped++
			if clause {
				n.clausesSkipped++
			}
		case r.Outcome != hw.OK:
			n.failed++
			if clause {
				n.clausesFailed[r.Outcome]++
			}
		case clause:
			n.clauses++
		default:
			n.figures++
		}
	}
	if len(order) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "board\timplementation\tfigures\tclauses passed\tskipped\tfailed\t")
	for _, k := range order {
		n := counts[k]
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\t%d\t%d\t%s\n", k.device, k.impl, n.figures, n.clauses, n.skipped, n.failed, worst[k])
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var sums strings.Builder
	for _, k := range order {
		n := counts[k]
		failed, ways := 0, []string(nil)
		for o, times := range n.clausesFailed {
			if failed += times; times > 0 {
				ways = append(ways, fmt.Sprintf("%d %s", times, hw.Outcome(o)))
			}
		}
		if n.clauses+n.clausesSkipped+failed == 0 {
			continue
		}
		fmt.Fprintf(&sums, "clauses of %s with %s: %d passed, %d skipped, %d failed", k.device, k.impl, n.clauses, n.clausesSkipped, failed)
		if failed > 0 {
			fmt.Fprintf(&sums, " (%s)", strings.Join(ways, ", "))
		}
		sums.WriteString("\n")
	}
	if sums.Len() > 0 {
		sums.WriteString("\n")
	}
	_, err := io.WriteString(w, "\n"+sums.String())
	return err
}

// boardTargets prints the targets that a results file decides. A file without any
// figure decides none.
func boardTargets(w io.Writer, file string) error {
	d, err := compare.Read([]string{file}, nil)
	if err != nil {
		return nil
	}
	card, err := targets.Judge(targets.All(), d, targets.JudgeOptions{})
	if err != nil {
		return nil // which says that there is nothing in it
	}
	if card = card.Only(targets.Score.Measured); len(card.Scores) == 0 {
		return nil
	}
	if err := report.Scorecard(card).Text(w, report.TextOptions{Color: wantsColor(w)}); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w)
	return err
}
