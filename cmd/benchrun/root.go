// Benchrun measures Go benchmarks, compares the results and reports them. See
// docs/benchrun.md, or run it with --help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the command: it parses args and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	root := newRootCmd()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil && !said(err) {
		fmt.Fprintln(stderr, "benchrun:", err)
	}
	return exitStatus(err)
}

func newRootCmd() *cobra.Command {
	on := ""
	root := newCommand("benchrun", func(cmd *cobra.Command, _ []string) error { return runDefault(cmd, on) }, fields{"on": &on})
	root.Args = noCommand
	root.SilenceErrors, root.SilenceUsage = true, true // run prints them
	root.SuggestionsMinimumDistance = 2                // edits; noCommand asks
	root.Version = buildVersion()
	root.SetFlagErrorFunc(explainFlagError)
	root.AddCommand(
		newListCmd(),
		newRunCmd(),
		newABCmd(),
		newBisectCmd(),
		newCompareCmd(),
		newReportCmd(),
		newServeCmd(),
		newBoardCmd(),
		newPeersCmd(),
		newConformCmd(),
		newTargetsCmd(),
		newCalibrateCmd(),
		newHistoryCmd(),
		newWhyCmd(),
		newOverlayCmd(),
		newFleetCmd(),
		newCarryCmd(),
		newManCmd(root),
	)
	helpInGroups(root)
	return root
}

// noCommand refuses arguments of the bare command: a word there is a mistyped
// command, or a package without one.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	msg := fmt.Sprintf("unknown command %q", args[0])
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		msg += fmt.Sprintf("; did you mean %q?", near[0])
	} else {
		msg += fmt.Sprintf("; to measure a package, benchrun run %s", args[0])
	}
	return errors.New(msg)
}

// buildVersion says which benchrun this is: the version of the module or the commit that
// it was built from, as far as the toolchain noted them.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && version == "(devel)" {
			version = s.Value[:min(8, len(s.Value))]
		}
	}
	return version + " " + info.GoVersion
}
