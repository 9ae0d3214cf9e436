package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/runner"
)

// show prints a comparison of versions and writes the comment. compared is nil if nothing
// was measured, because all packages are identical.
func (c *abFlags) show(cmd *cobra.Command, compared *compare.Comparison, v *runner.Versions) error {
	out := cmd.OutOrStdout()
	if compared != nil && c.comment != "-" {
		if err := comparison(compared, nil).show(out, "text", nil); err != nil {
			return err
		}
	}
	if c.comment == "" {
		return nil
	}
	comment := report.Comment(compared, report.Versions{Old: v.Old, New: v.New, Identical: v.Identical, Notes: v.Notes})
	if c.comment != "-" {
		return report.WriteMarkdown(c.comment, comment)
	}
	if compared != nil { // the comment may be too short for them
		for _, warning := range compared.Warnings {
			fmt.Fprintf(cmd.ErrOrStderr(), "warning: %s\n", warning)
		}
	}
	return comment.Markdown(out, report.MarkdownOptions{})
}
