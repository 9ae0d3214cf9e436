package main

import (
	"embed"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/internal/report"
)

// helpFiles are the texts of the commands: help/ab.txt has the usage line and the summary of
// benchrun ab, then what its help says, its examples, and its flags in their groups. A flag
// whose text is not there has that of flags.txt. Words in braces are all that a flag
// takes.
//
//go:embed help flags.txt
var helpFiles embed.FS

// computed stands in texts for what the packages know.
var computed = strings.NewReplacer(
	"HARDWARE_MAP", hw.DefaultMap, "OUTCOMES\n", outcomeTable("  "), "STATUSES\n", statusTable(), "PARTS", strings.Join(hw.Parts(), ", "), "QUICK", quickCalibration,
	"SERVICES", strings.Join(slices.Sorted(maps.Keys(report.Services)), ", "),
)

// newCommand returns the command that help/name.txt tells of, which does run. Each of its
// flags fills what one of all has under its name.
func newCommand(name string, run func(cmd *cobra.Command, args []string) error, all ...fields) *cobra.Command {
	head, flags, _ := strings.Cut("\n"+helpText("help/"+name+".txt"), "\nFlags:\n")
	use, text, _ := strings.Cut(strings.TrimPrefix(head, "\n"), "\n")
	short, text, _ := strings.Cut(text, "\n")
	long, examples, _ := strings.Cut(text, "Examples:\n")
	cmd := &cobra.Command{
		Use: use, Short: short, Long: strings.Trim(long, "\n"), Example: strings.TrimRight(examples, "\n"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkWords(cmd); err != nil {
				return err
			}
			return run(cmd, args)
		},
	}
	shared := make(map[string]string)
	for name, text := range entries(helpText("flags.txt")) {
		shared[name] = text
	}
	group := ""
	for name, text := range entries(flags) {
		if title, ok := strings.CutSuffix(name, ":"); ok {
			group = title
			continue
		}
		name, short, _ := strings.Cut(name, ",")
		if text == "" {
			text = shared[name]
		}
		addFlag(cmd, name, short, text, all)
		if group != "" {
			annotate(cmd, name, groupKey, group)
		}
	}
	return cmd
}

func helpText(name string) string {
	text, err := helpFiles.ReadFile(name)
	if err != nil {
		panic(err) // the command has no text
	}
	return computed.Replace(string(text))
}

// entries returns the flags of a text with what is said of them, if anything is, and titles
// of groups with their colon. A line that begins with a tab goes on with the one before.
func entries(text string) func(yield func(name, text string) bool) {
	return func(yield func(name, text string) bool) {
		for entry := range strings.SplitSeq(strings.ReplaceAll(text, "\n\t", "\t"), "\n") {
			name, text, _ := strings.Cut(entry, ": ")
			if name != "" && !yield(name, strings.ReplaceAll(text, "\t", "\n")) {
				return
			}
		}
	}
}
