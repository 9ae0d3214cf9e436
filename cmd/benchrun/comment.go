package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/runner"
)

// show prints a comparison of versions and writes the comment. compared is nil if nothing
// was measured, because all packages are identical.
func (c *abFlags) show(cmd *cobra.Command, compared *compare.Comparison, run *runner.ABRun) error {
	out, v := cmd.OutOrStdout(), run.Versions
	reasons, more, err := explainCounts(compared, run)
	if err != nil {
		return err
	}
	if compared != nil && c.comment != "-" {
		var x report.Extra
		if run.Path != "" {
			x.Again = again(cmd, run.Path)
		}
		if err := comparison(out, compared, x).show(out, "text", nil); err != nil {
			return err
		}
		if len(reasons) > 0 {
			fmt.Fprintf(out, "\n%s\n", strings.Join(append(reasons, more), "\n"))
		}
		if run.Unmeasured == nil {
			fmt.Fprintf(out, "\n%s\n", report.Sentence(compared)) // where the eye is when the command ends
		}
		for _, h := range run.Skipping() {
			fmt.Fprintf(out, "%s skips itself in %s: %s\n", strings.TrimPrefix(h.Case, record.ResultMark), h.Side, h.Reason)
		}
	}
	return c.writeComment(cmd, compared, report.Versions{Old: v.Old, New: v.New, Identical: v.Identical, Why: reasons, Notes: v.Notes})
}

// writeComment writes the comment to where --comment says, if it says so.
func (c *abFlags) writeComment(cmd *cobra.Command, compared *compare.Comparison, v report.Versions) error {
	if c.comment == "" {
		return nil
	}
	comment := report.Comment(compared, v)
	if c.comment != "-" {
		return report.WriteMarkdown(c.comment, comment)
	}
	if compared != nil { // the comment may be too short for them
		for _, warning := range compared.Warnings {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", warning)
		}
	}
	return comment.Markdown(cmd.OutOrStdout(), report.MarkdownOptions{})
}
