// Benchrun measures Go benchmarks, compares the results and reports them. See
// docs/benchrun.md, or run it with --help.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/console"
)

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the command: it parses args and returns the exit status.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	stdout, stderr = console.NewScreen(stdout), console.NewScreen(stderr)
	root := newRootCmd()
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := execute(ctx, root, args)
	if err != nil && !said(err) {
		fmt.Fprintln(stderr, "benchrun:", err)
	}
	return exitStatus(err)
}

// execute carries out what args say, as people type them.
func execute(ctx context.Context, root *cobra.Command, args []string) error {
	args, notes, goFlags, err := habitual(root, args)
	if err != nil {
		return err
	}
	for _, text := range notes {
		fmt.Fprintf(root.ErrOrStderr(), "note: %s\n", text)
	}
	if err := addGoFlags(ctx, goFlags); err != nil {
		return err
	}
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
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
		newBaselineCmd(),
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
		newVersionCmd(),
	)
	helpInGroups(root)
	return root
}

// noCommand refuses arguments of the bare command: a word there is a mistyped
// command, or what one is to be about.
func noCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	instead := "to measure a package, benchrun run " + args[0]
	all := make([]string, len(args))
	for i, arg := range args {
		all[i] = console.ShellWord(arg)
	}
	info, err := os.Stat(args[0])
	program, _, _ := strings.Cut(args[0], " ")
	_, notFound := exec.LookPath(program)
	switch near := cmd.SuggestionsFor(args[0]); {
	case args[0] == "test":
		instead = "to measure as go test -bench does, benchrun run"
	case len(near) > 0:
		instead = fmt.Sprintf("did you mean %q?", near[0])
	case err == nil && !info.IsDir() && info.Mode()&0o111 == 0:
		instead = "to compare results, benchrun compare " + strings.Join(all, " ")
	case notFound == nil && len(args) == 2:
		instead = "to compare two commands, benchrun ab --command " + strings.Join(all, " ")
	}
	return fmt.Errorf("unknown command %q; %s", args[0], instead)
}

func newVersionCmd() *cobra.Command {
	cmd := newCommand("version", func(cmd *cobra.Command, _ []string) error {
		_, err := fmt.Fprintf(cmd.OutOrStdout(), "benchrun version %s\n", cmd.Root().Version)
		return err
	})
	cmd.Args = cobra.NoArgs
	return cmd
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
