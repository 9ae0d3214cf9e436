package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// fields are what flags fill, by their names: pointers to what is their default.
type fields map[string]any

// paths are what a flag names that may be given several times.
type paths []string

// addFlag adds a flag to cmd, and what helps a shell to complete it.
func addFlag(cmd *cobra.Command, name, short, text string, all []fields) {
	i := slices.IndexFunc(all, func(f fields) bool { return f[name] != nil })
	if i < 0 {
		panic("benchrun: the flag " + name + " of " + cmd.Name() + " fills nothing")
	}
	usage := someWords.ReplaceAllString(text, "$1")
	f := cmd.Flags()
	switch v := all[i][name].(type) {
	case *string:
		f.StringVarP(v, name, short, *v, usage)
	case *int:
		f.IntVarP(v, name, short, *v, usage)
	case *bool:
		f.BoolVarP(v, name, short, *v, usage)
	case *uint64:
		f.Uint64VarP(v, name, short, *v, usage)
	case *float64:
		f.Float64VarP(v, name, short, *v, usage)
	case *time.Duration:
		f.DurationVarP(v, name, short, *v, usage)
	case *[]int:
		f.IntSliceVarP(v, name, short, *v, usage)
	case *[]float64:
		f.Float64SliceVarP(v, name, short, *v, usage)
	case *[]string:
		f.StringSliceVarP(v, name, short, *v, usage)
	case *paths:
		f.StringArrayVarP((*[]string)(v), name, short, *v, usage)
	default:
		panic(fmt.Sprintf("benchrun: the flag %s fills a %T", name, v))
	}
	if m := someWords.FindStringSubmatch(text); m != nil {
		words := regexp.MustCompile(`\W+`).Split(m[1], -1)
		annotate(cmd, name, wordsKey, words...)
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
	switch extensions := map[string][]string{"out": {"bench"}, "resume": {"bench"}, "comment": {"md"}, "map": {"yaml", "yml"}}[name]; {
	case strings.Contains(text, "`folder`"):
		_ = cmd.MarkFlagDirname(name)
	case extensions != nil:
		_ = cmd.MarkFlagFilename(name, extensions...)
	}
}

// someWords are the words in a flag's text that it takes, in braces.
var someWords = regexp.MustCompile(`\{([a-z]+(?:(?:, |\|)[a-z]+)+)\}`)

// The annotations of a flag: in which group of the help it is, and which words it takes.
const (
	groupKey = "benchrun_group"
	wordsKey = "benchrun_words"
)

func annotate(cmd *cobra.Command, flag, key string, values ...string) {
	if err := cmd.Flags().SetAnnotation(flag, key, values); err != nil {
		panic(err) // there is no such flag
	}
}

// checkWords returns an error for a flag that was given another word than it takes.
func checkWords(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if words := f.Annotations[wordsKey]; err == nil && words != nil && !slices.Contains(words, f.Value.String()) {
			err = fmt.Errorf("--%s is %q; it must be one of %s", f.Name, f.Value, strings.Join(words, ", "))
		}
	})
	return err
}
