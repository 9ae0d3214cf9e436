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
)

func newListCmd() *cobra.Command {
	plan, asJSON := &record.Plan{Bench: ".", CPU: []int{runtime.GOMAXPROCS(0)}, Timeout: time.Minute}, false
	return newCommand("list", func(cmd *cobra.Command, args []string) error {
		plan.Packages = args
		tests, err := runner.New(consoleOf(cmd), "").List(cmd.Context(), plan)
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
	}, fields{"bench": &plan.Bench, "timeout": &plan.Timeout, "json": &asJSON})
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
