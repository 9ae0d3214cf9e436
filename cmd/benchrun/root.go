// Benchrun measures Go benchmarks, compares the results and reports them. See
// docs/benchrun.md, or run it with --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the command: it parses args and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRootCmd()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	// An exitError has said everything already.
	if err != nil && !errors.As(err, new(exitError)) {
		fmt.Fprintln(stderr, "benchrun:", err)
	}
	return exitStatus(err)
}

func newRootCmd() *cobra.Command {
	root := &cobra.Command{
		Use:           "benchrun",
		Short:         "Measure, compare and report Go benchmarks",
		SilenceErrors: true, // run prints them
		SilenceUsage:  true,
	}
	root.AddCommand(
		newCompareCmd(),
		newReportCmd(),
		newConformCmd(),
	)
	return root
}
