package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dynolab/dyno/internal/console"
)

// flagGroups are the flags of cmd as its help has them.
func flagGroups(cmd *cobra.Command) string {
	const first = "Flags"
	titles := []string{first}
	groups := map[string]*pflag.FlagSet{first: newFlagGroup()}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		title := first
		if in := f.Annotations[groupKey]; len(in) > 0 {
			title = in[0]
		}
		if groups[title] == nil {
			titles, groups[title] = append(titles, title), newFlagGroup()
		}
		groups[title].AddFlag(f)
	})
	var b strings.Builder
	for i, title := range titles {
		if i > 0 {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "%s:\n%s", title, strings.TrimRight(groups[title].FlagUsages(), "\n"))
	}
	return b.String()
}

func newFlagGroup() *pflag.FlagSet {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.SortFlags = false
	return f
}

// helpInGroups makes the help of root and its commands tell flags in groups.
func helpInGroups(root *cobra.Command) {
	const flat = "Flags:\n{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}"
	cobra.AddTemplateFunc("flagGroups", flagGroups)
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), flat, "{{flagGroups .}}", 1))
	keepOrder(root)
}

// keepOrder keeps the flags of cmd and of its commands in the order of their
// definition. It has to come before cobra asks for any.
func keepOrder(cmd *cobra.Command) {
	cmd.Flags().SortFlags = false
	for _, c := range cmd.Commands() {
		keepOrder(c)
	}
}

// explainFlagError adds to the error of parsing flags what to do: the nearest flag, and
// where all of them are told.
func explainFlagError(cmd *cobra.Command, err error) error {
	help := fmt.Sprintf("; %s --help has all flags", cmd.CommandPath())
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return fmt.Errorf("%w%s", err, help)
	}
	name := unknown.GetSpecifiedName()
	if owners := ownersOf(cmd.Root(), name); len(owners) > 0 {
		return ofOthers("--"+name, owners)
	}
	if near := nearestFlag(cmd, name); near != "" {
		return fmt.Errorf("%w; did you mean --%s?", err, near)
	}
	return fmt.Errorf("%w%s", err, help)
}

// ofOthers is the error for a flag of other commands, those first that are mostly meant.
func ofOthers(flag string, owners []string) error {
	first := []string{"run", "ab", "compare"}
	rank := func(path string) int { return (slices.Index(first, path) + len(first) + 1) % (len(first) + 1) }
	slices.SortStableFunc(owners, func(a, b string) int { return rank(a) - rank(b) })
	return fmt.Errorf("unknown flag: %s; it is one of benchrun %s", flag, strings.Join(owners[:min(4, len(owners))], ", "))
}

// nearestFlag returns the flag of cmd whose name is nearest to name, "" if none is
// near.
func nearestFlag(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if i := slices.IndexFunc(names, func(n string) bool { return len(name) > 2 && strings.HasPrefix(n, name) }); i >= 0 {
		return names[i]
	}
	return console.Nearest(name, names)
}
