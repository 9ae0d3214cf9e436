package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/report"
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
		listText(out, tests)
		for _, h := range tests.Absent {
			if h.Skipped && h.Case != "" { // List has told the others
				fmt.Fprintf(cmd.ErrOrStderr(), "%s %s\n", h.Case, h)
			}
		}
		return nil
	}, fields{"bench": &plan.Bench, "timeout": &plan.Timeout, "json": &asJSON})
}

// listText writes the names of benchmarks, with the sentence that they say of themselves.
// Those of one workload share it, and stand together: impl= is what they differ in.
func listText(w io.Writer, tests *runner.Tests) {
	first := tests.Cases[0]
	manyPackages := slices.ContainsFunc(tests.Cases, func(c record.Case) bool { return c.Pkg != first.Pkg })
	pkg := ""
	for i := 0; i < len(tests.Cases); {
		c := tests.Cases[i]
		if manyPackages && c.Pkg != pkg {
			fmt.Fprintf(w, "pkg: %s\n", c.Pkg)
		}
		pkg = c.Pkg
		workload, _, _ := strings.Cut(c.Name, implKey)
		var impls []string
		for ; i < len(tests.Cases); i++ {
			name, impl, ok := strings.Cut(tests.Cases[i].Name, implKey)
			if !ok || name != workload || tests.Cases[i].Pkg != pkg {
				break
			}
			impls = append(impls, impl)
		}
		var about []string
		if says := tests.Says[c]; says != "" {
			about = append(about, says)
		}
		if len(impls) > 0 {
			about = append(about, "impl="+strings.Join(impls, ", "))
		} else {
			i++
		}
		fmt.Fprintln(w, workload)
		for _, line := range report.Wrap(report.SummaryColumns-len(indent), about...) {
			fmt.Fprintln(w, indent+line)
		}
	}
}

const (
	implKey = "/impl=" // in front of the design in a benchmark's name
	indent  = "    "   // of what a benchmark says of itself
)

// listed is a benchmark in list's JSON.
type listed struct {
	Pkg     string `json:"pkg"`
	Name    string `json:"name,omitempty"`
	Says    string `json:"says,omitempty"`   // of itself
	Absent  string `json:"absent,omitempty"` // why it gives no figure
	Skipped bool   `json:"skipped,omitempty"`
}

func listJSON(w io.Writer, tests *runner.Tests) error {
	all := []listed{}
	for _, c := range tests.Cases {
		all = append(all, listed{Pkg: c.Pkg, Name: c.Name, Says: tests.Says[c]})
	}
	for _, h := range tests.Absent {
		all = append(all, listed{Pkg: h.Pkg, Name: h.Case, Absent: h.Reason, Skipped: h.Skipped})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(all)
}
