package boardrun

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/console"
)

// Monitor shows what a board says, and sends it the lines of in. A board with a serial
// port is listened to as it is; for others an image is built and started, and ended with
// in.
func (c *Command) Monitor(ctx context.Context, in io.Reader) error {
	return c.withDevice(ctx, func(ctx context.Context, d hw.Device) error {
		if d.Board.Kit() != "serial" {
			return c.withImage(ctx, d, func(t hw.Target, im *hw.Image) error {
				if err := t.Flash(ctx, im); err != nil {
					return err
				}
				console, err := t.Start(ctx)
				if err != nil {
					return err
				}
				return monitor(ctx, in, c.Out, console, true)
			})
		}
		t, err := hw.NewTarget(d, nil)
		if err != nil {
			return err
		}
		defer t.Close()
		console, err := t.Attach(ctx)
		if err != nil {
			return err
		}
		return monitor(ctx, in, c.Out, console, false)
	})
}

// monitor shows the lines of a console on out, and sends it those of in, until the
// console ends or ctx does. If quits, the board is told to end when in has ended. It
// closes the console.
func monitor(ctx context.Context, in io.Reader, out io.Writer, console io.ReadWriteCloser, quits bool) error {
	read := make(chan error, 1)
	go func() {
		var d line.Decoder
		buf := make([]byte, 4096)
		for {
			n, err := console.Read(buf)
			d.Feed(buf[:n], func(e line.Event) { printEvent(out, e) })
			if err != nil {
				d.Flush(func(e line.Event) { printEvent(out, e) })
				read <- err
				return
			}
		}
	}()
	wrote := make(chan error, 1)
	go func() {
		// This goroutine may stay: nothing ends a read of a terminal but its user.
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			if _, err := io.WriteString(console, lines.Text()+"\n"); err != nil {
				wrote <- err
				return
			}
		}
		if quits {
			_, err := io.WriteString(console, "quit\n")
			wrote <- errors.Join(lines.Err(), err)
		}
	}()
	for {
		select {
		case err := <-read:
			console.Close()
			// However a process ends, its console ends so.
			if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
				return nil
			}
			return &hw.Error{Outcome: hw.NoConsole, What: "the console has gone", Err: err}
		case err := <-wrote:
			// If the board has ended, reading says so too, and what it said last.
			wrote = nil
			if err != nil && !quits {
				console.Close()
				<-read
				return &hw.Error{Outcome: hw.NoConsole, What: "the board takes nothing any more", Err: err}
			}
		case <-ctx.Done():
			console.Close()
			<-read
			return nil
		}
	}
}

// printEvent prints what came from a board.
func printEvent(w io.Writer, e line.Event) {
	e.Text = console.Printable(e.Text)
	switch e.Kind {
	case line.Noise:
		fmt.Fprintf(w, "| %s\n", e.Text)
		return
	case line.Corrupt:
		fmt.Fprintf(w, "! %s (%s)\n", e.Text, strings.TrimPrefix(e.Err.Error(), "line: "))
		return
	}
	switch {
	case e.Restart:
		fmt.Fprintln(w, "--- the board has started")
	case e.Repeated:
		fmt.Fprintf(w, "! line %d once more:\n", e.Seq)
	case e.Lost > 0:
		fmt.Fprintf(w, "! %s lost\n", console.Count(int(e.Lost), "line"))
	}
	fmt.Fprintf(w, "%4d %s\n", e.Seq, e.Text)
}
