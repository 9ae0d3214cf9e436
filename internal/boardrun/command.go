package boardrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/scratch"
	"github.com/dynolab/dyno/internal/session"
)

// A Command is what the commands about boards have in common: what their flags and
// arguments say, and where they print.
type Command struct {
	Boards []string // names
	Impls  []string // names of implementations; empty means all, or serial where one is needed
	Parts  []string // of the firmware, as hw.SelectParts takes them
	Map    string   // path of the hardware map, as hw.ReadMap takes it

	Con  *console.Console // what is done, and what goes wrong
	Out  io.Writer        // what comes of it
	Text report.TextOptions
}

// check returns an error for what makes no sense, before anything takes time.
func (c *Command) check() error {
	if _, err := hw.SelectParts(c.Parts); err != nil {
		return fmt.Errorf("--parts: %w", err)
	}
	return nil
}

// devices finds the boards that are named.
func (c *Command) devices() ([]hw.Device, error) {
	boards, err := hw.Boards()
	if err != nil {
		return nil, err
	}
	m, err := hw.ReadMap(c.Map, boards)
	if err != nil {
		return nil, err
	}
	var found []hw.Device
	for _, name := range c.Boards {
		d, err := boards.Device(name, m)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(found, func(o hw.Device) bool { return o.Entry.ID == d.Entry.ID }) {
			return nil, fmt.Errorf("%s is named twice", name)
		}
		found = append(found, d)
	}
	return found, nil
}

// implementations are those that are asked for by name, each once, or else all.
func (c *Command) implementations(checkout hw.Checkout) ([]string, error) {
	known, err := checkout.Implementations()
	if err != nil || len(c.Impls) == 0 {
		return known, err
	}
	var named []string
	for _, name := range c.Impls {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("--impl is %q; it must be one of %s", name, strings.Join(known, ", "))
		}
		if !slices.Contains(named, name) { // as --parts: two would be the same twice in a block
			named = append(named, name)
		}
	}
	return named, nil
}

// one is the implementation for commands that take a single one.
func (c *Command) one(checkout hw.Checkout) (string, error) {
	if len(c.Impls) > 1 {
		return "", fmt.Errorf("--impl has %d names, and a board runs one firmware at a time", len(c.Impls))
	}
	impls, err := c.implementations(checkout)
	if err != nil {
		return "", err
	}
	if slices.Contains(impls, "serial") {
		return "serial", nil
	}
	return impls[0], nil
}

// Flash builds an image and brings it to the board.
func (c *Command) Flash(ctx context.Context) error {
	return c.withDevice(ctx, func(ctx context.Context, d hw.Device) error {
		if d.Board.Kit() != "serial" {
			return fmt.Errorf("%s has nothing to flash: benchrun board run %[1]s brings the image there and runs it", c.Boards[0])
		}
		return c.withImage(ctx, d, func(t hw.Target, im *hw.Image) error {
			fmt.Fprintf(c.Con, "flashing %s\n", d.Entry.ID)
			if needs := d.Board.FlashNeeds; needs != "" {
				fmt.Fprintf(c.Con, "(if it is not found: %s)\n", needs)
			}
			return t.Flash(ctx, im)
		})
	})
}

// withDevice has do done with the one board that is named. Its error is
// session.ErrInterrupted if do returned one when it was interrupted.
func (c *Command) withDevice(ctx context.Context, do func(context.Context, hw.Device) error) error {
	if err := c.check(); err != nil {
		return err
	}
	ctx, _, stop := session.Interruptible(ctx, func() {})
	defer stop()
	devices, err := c.devices()
	if err == nil {
		err = do(ctx, devices[0])
	}
	if ctx.Err() != nil && err != nil {
		return session.ErrInterrupted
	}
	return err
}

// withImage builds one image for a device, and has do done while it is there.
func (c *Command) withImage(ctx context.Context, d hw.Device, do func(hw.Target, *hw.Image) error) (err error) {
	checkout, err := hw.FindCheckout(ctx, "")
	if err != nil {
		return err
	}
	impl, err := c.one(checkout)
	if err != nil {
		return err
	}
	compiler, err := hw.FindCompiler(ctx, d.Board)
	if err != nil {
		return err
	}
	t, err := hw.NewTarget(d, nil)
	if err != nil {
		return err
	}
	dir, remove, err := imageFolder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	fmt.Fprintf(c.Con, "building %s with %s\n", d.Board.Name, impl)
	im, err := hw.Build(ctx, d.Board, compiler, hw.BuildOptions{
		Checkout: checkout, Impl: impl, Parts: c.Parts, Commit: commitOf(ctx, checkout), Dir: dir,
	})
	if err != nil {
		return err
	}
	return errors.Join(do(t, im), t.Close())
}

// imageFolder makes an empty folder for an image. It is one that the next benchrun
// clears away if this one is killed.
func imageFolder() (dir string, remove func() error, err error) {
	folder, err := scratch.New()
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(folder.Path, "image")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", nil, errors.Join(err, folder.Remove())
	}
	return dir, folder.Remove, nil
}

// commitOf is what the firmware says of its sources.
func commitOf(ctx context.Context, checkout hw.Checkout) string {
	return hw.FirmwareCommit(session.Commit(ctx, checkout.Dir, ""))
}

// Ended is the error of a command that has said what went wrong with boards: the outcome
// that it ends with, which is not OK.
type Ended hw.Outcome

func (e Ended) Error() string { return hw.Outcome(e).String() }

// ended is the error of a command that ends with an outcome.
func ended(o hw.Outcome) error {
	if o == hw.OK {
		return nil
	}
	return Ended(o)
}

// Tell says what went wrong with a board, unless that was said, and returns its outcome.
// Errors that are not about boards are returned as they are.
func Tell(w io.Writer, err error) (hw.Outcome, error) {
	if was, ok := err.(Ended); ok {
		return hw.Outcome(was), nil
	}
	var e *hw.Error
	if !errors.As(err, &e) {
		return hw.OK, err
	}
	fmt.Fprintf(w, "benchrun: %s\n", console.Printable(e.Error()))
	writeOutput(w, e)
	if hint := e.Hint(); hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
	return e.Outcome, nil
}

// writeOutput writes as much of what a program has printed as one reads: a compiler that
// crashes prints its whole stack.
func writeOutput(w io.Writer, e *hw.Error) {
	const most = 40 // lines; a board's transcript has fewer
	if e.Output == "" {
		return
	}
	lines := strings.Split(strings.TrimRight(console.Printable(e.Output), "\n"), "\n")
	if len(lines) > most {
		lines = append(lines[:most-1:most-1], fmt.Sprintf("… (%d more lines)", len(lines)-most+1))
	}
	fmt.Fprintln(w, console.Indent(strings.Join(lines, "\n")))
}
