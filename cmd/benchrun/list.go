package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/scratch"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
)

func newListCmd() *cobra.Command {
	var (
		bench   string
		asJSON  bool
		timeout time.Duration
	)
	cmd := &cobra.Command{
		Use:   "list [packages]",
		Short: "List the benchmarks of packages",
		Long: `List prints the benchmarks that run would measure, a line each, by running each
of them once. Those that skip themselves or fail are told on standard error, or
with --json in the list, with their reason.`,
		Example: `  benchrun list
  benchrun list --bench '/workload=(short|stream)' ./impls
  benchrun list --json ./mypackage`,
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := scratch.New()
			if err != nil {
				return err
			}
			defer folder.Remove()
			ctx, _, stop := session.Interruptible(cmd.Context(), func() {})
			defer stop()
			plan := &record.Plan{Packages: packagesOr(ctx, args), Bench: bench, CPU: []int{runtime.GOMAXPROCS(0)}, Timeout: timeout}
			tests, err := runner.List(ctx, consoleOf(cmd), folder.Path, plan, testbin.BuildOptions{})
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON {
				return listJSON(out, tests)
			}
			for _, c := range tests.Cases {
				fmt.Fprintln(out, c.Name)
			}
			for _, h := range tests.Absent {
				if h.Skipped && h.Case != "" { // List has told the others
					fmt.Fprintf(cmd.ErrOrStderr(), "%s %s\n", h.Case, h)
				}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&bench, "bench", ".", "list only benchmarks that match this `pattern`, as go test -bench has it")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Minute, "end a benchmark that prints nothing for longer than this `duration`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: an array of objects with pkg, name (not if it is all of the package)\nand, for what gave no figure, absent (why) and skipped")
	return cmd
}

// listed is a benchmark in list's JSON.
type listed struct {
	Pkg     string `json:"pkg"`
	Name    string `json:"name,omitempty"`
	Absent  string `json:"absent,omitempty"` // why it gives no figure
	Skipped bool   `json:"skipped,omitempty"`
}

func listJSON(w io.Writer, tests *runner.Tests) error {
	all := []listed{}
	for _, c := range tests.Cases {
		all = append(all, listed{Pkg: c.Pkg, Name: c.Name})
	}
	for _, h := range tests.Absent {
		all = append(all, listed{Pkg: h.Pkg, Name: h.Case, Absent: h.Reason, Skipped: h.Skipped})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(all)
}
