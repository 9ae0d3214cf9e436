package main

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/why"
)

// explainCounts says of each benchmark whose instructions differ in which functions they do, in a
// line, and by which command the lines of the first are looked at. It says nothing of a run that
// was timed.
func explainCounts(c *compare.Comparison, run *runner.ABRun) (lines []string, more string, err error) {
	if c == nil || run.Counted == nil {
		return nil, "", nil
	}
	cells, err := why.ExplainCounts(c, run.Plan, run.Counted.Sides)
	for _, e := range cells {
		if e.Explained {
			lines = append(lines, console.Printable(e.Row+": "+e.Sentence))
		}
		if p := e.Profiles[0]; more == "" {
			path := func(p string) string {
				return console.ShellWord(filepath.Join(why.Folder(run.Path), filepath.FromSlash(p)))
			}
			more = strings.Join([]string{"by line: go tool pprof -http : -diff_base", path(p.Base.Path), path(p.This.Path)}, " ")
		}
	}
	if err != nil {
		err = fmt.Errorf("why instructions differ: %w", err)
	}
	return lines, more, err
}
