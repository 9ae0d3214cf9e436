package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/session"
)

func newBoardFlashCmd() *cobra.Command {
	var c boardConfig
	cmd := &cobra.Command{
		Use:   "flash board",
		Short: "Build firmware and bring it to a board",
		Long: `Flash builds one image and brings it to the board: a microcontroller by TinyGo's own
flasher, after which it waits for its port to come back. The board is named by its ID
in the hardware map, or by its kind if there is only one.

benchrun board run flashes by itself.`,
		Example: `  benchrun board flash pico --impl serial
  benchrun board flash pico-left --parts bench`,
		Args: needBoard(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(); err != nil {
				return err
			}
			ctx, _, stop := session.Interruptible(cmd.Context(), func() {})
			defer stop()
			w := cmd.ErrOrStderr()
			devices, err := c.devices(args)
			if err == nil && devices[0].Board.Kit() != "serial" {
				return fmt.Errorf("%s has nothing to flash: benchrun board run %s brings the image there and runs it", args[0], args[0])
			}
			if err == nil {
				err = withImage(ctx, w, c, devices[0], func(t hw.Target, im *hw.Image) error {
					fmt.Fprintf(w, "flashing %s\n", devices[0].Entry.ID)
					if needs := devices[0].Board.FlashNeeds; needs != "" {
						fmt.Fprintf(w, "(if it is not found: %s)\n", needs)
					}
					return t.Flash(ctx, im)
				})
			}
			if ctx.Err() != nil {
				return exitError(exitInterrupted)
			}
			return exitTold(w, err)
		},
	}
	c.imageFlags(cmd, false)
	c.mapFlag(cmd)
	return cmd
}

// exitTold tells an error that is about a board, and returns what the command ends
// with.
func exitTold(w io.Writer, err error) error {
	if err == nil {
		return nil
	}
	o, err := tellBoard(w, err)
	if err != nil {
		return err
	}
	return exitOutcome(o)
}

// withImage builds one image for a device, and has do done while it is there.
func withImage(ctx context.Context, w io.Writer, c boardConfig, d hw.Device, do func(hw.Target, *hw.Image) error) (err error) {
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
	fmt.Fprintf(w, "building %s with %s\n", d.Board.Name, impl)
	im, err := hw.Build(ctx, d.Board, compiler, hw.BuildOptions{
		Checkout: checkout, Impl: impl, Parts: c.parts, Commit: commitOf(ctx, checkout), Dir: dir,
	})
	if err != nil {
		return err
	}
	return errors.Join(do(t, im), t.Close())
}

func newBoardMonitorCmd() *cobra.Command {
	var c boardConfig
	cmd := &cobra.Command{
		Use:   "monitor board",
		Short: "Show what a board says, and send it commands",
		Long: `Monitor shows the lines of a board as they come, and sends it the lines that are
typed: hello, list, run <case>, reset, quit. Ctrl-C ends it.

A line of the firmware's stands behind its number. What begins with | is noise,
such as a boot loader or a panic; what begins with ! was damaged or lost on the way.

A board with a serial port is listened to as it is. For others, emulated ones and
those behind ssh, an image is built and started, and ended with the input.`,
		Example: `  benchrun board monitor pico
  echo list | benchrun board monitor linux-arm64-qemu --impl serial`,
		Args: needBoard(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(); err != nil {
				return err
			}
			ctx, _, stop := session.Interruptible(cmd.Context(), func() {})
			defer stop()
			devices, err := c.devices(args)
			if err == nil {
				err = monitorDevice(ctx, cmd, c, devices[0])
			}
			if ctx.Err() != nil && err != nil {
				return exitError(exitInterrupted) // before it was there
			}
			return exitTold(cmd.ErrOrStderr(), err) // an interrupt is how one ends it
		},
	}
	c.imageFlags(cmd, false)
	c.mapFlag(cmd)
	return cmd
}

func monitorDevice(ctx context.Context, cmd *cobra.Command, c boardConfig, d hw.Device) error {
	if d.Board.Kit() == "serial" {
		t, err := hw.NewTarget(d, nil)
		if err != nil {
			return err
		}
		defer t.Close()
		console, err := t.Attach(ctx)
		if err != nil {
			return err
		}
		return monitor(ctx, cmd.InOrStdin(), cmd.OutOrStdout(), console, false)
	}
	return withImage(ctx, cmd.ErrOrStderr(), c, d, func(t hw.Target, im *hw.Image) error {
		if err := t.Flash(ctx, im); err != nil {
			return err
		}
		console, err := t.Start(ctx)
		if err != nil {
			return err
		}
		return monitor(ctx, cmd.InOrStdin(), cmd.OutOrStdout(), console, true)
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
	e.Text = hw.Printable(e.Text)
	switch e.Kind {
	case line.Noise:
		fmt.Fprintf(w, "| %s\n", e.Text)
		return
	case line.Corrupt:
		fmt.Fprintf(w, "! %s (%s)\n", e.Text, strings.TrimPrefix(e.Err.Error(), "line: "))
		return
	}
	switch {
	case e.Restart && e.Seq == 1:
		fmt.Fprintln(w, "--- the board has started")
	case e.Repeated:
		fmt.Fprintf(w, "! line %d once more:\n", e.Seq)
	case e.Lost > 0:
		fmt.Fprintf(w, "! %s lost\n", console.Count(int(e.Lost), "line"))
	}
	fmt.Fprintf(w, "%4d %s\n", e.Seq, e.Text)
}
