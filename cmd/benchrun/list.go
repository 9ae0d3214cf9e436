package main

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
)

func newListCmd() *cobra.Command {
	var (
		bench  string
		asJSON bool
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
			folder, err := os.MkdirTemp("", "benchrun")
			if err != nil {
				return err
			}
			defer os.RemoveAll(folder)
			b, err := prepare(cmd.Context(), cmd.ErrOrStderr(), folder, packagesOr(cmd.Context(), args), bench, time.Minute)
			if err != nil {
				return err
			}
			out := cmd.OutOrStdout()
			if asJSON {
				return listJSON(out, b)
			}
			for _, c := range b.cases {
				fmt.Fprintln(out, c.Name)
			}
			for _, a := range b.absent {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s %s\n", a.hole.Case, a.hole)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&bench, "bench", ".", "list only benchmarks that match this `pattern`, as go test -bench has it")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON: an array of objects with pkg, name and, if it gave no figure, absent and skipped")
	return cmd
}

// listed is a benchmark in list's JSON.
type listed struct {
	Pkg     string `json:"pkg"`
	Name    string `json:"name"`
	Absent  string `json:"absent,omitempty"` // why it gives no figure
	Skipped bool   `json:"skipped,omitempty"`
}

func listJSON(w interface{ Write([]byte) (int, error) }, b *bench) error {
	all := []listed{}
	for _, c := range b.cases {
		all = append(all, listed{Pkg: c.Pkg, Name: c.Name})
	}
	for _, a := range b.absent {
		all = append(all, listed{Pkg: a.pkg, Name: a.hole.Case, Absent: a.hole.Reason, Skipped: a.hole.Skipped})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(all)
}
