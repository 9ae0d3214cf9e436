package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Every command is in docs/benchrun.md and has an example; every flag of it says in --help
// what it does. What the default comparison measures is what the document says.
func TestDocumentHasEveryCommand(t *testing.T) {
	data, err := os.ReadFile("../../docs/benchrun.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for _, cmd := range allCommands() {
		name := strings.TrimPrefix(cmd.CommandPath(), "benchrun ")
		if !regexp.MustCompile("(?m)(`|^)benchrun " + name + "([ `]|$)").MatchString(text) {
			t.Errorf("docs/benchrun.md does not have benchrun %s", name)
		}
		if cmd.Example == "" || cmd.Short == "" {
			t.Errorf("the help of benchrun %s has no example or no summary", name)
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if f.Usage == "" && !f.Hidden {
				t.Errorf("the help of benchrun %s does not say what --%s does", name, f.Name)
			}
		})
	}
	if want := "14 blocks of 4 rounds"; defaultConfig.Blocks != 14 || defaultConfig.Rounds != 4 || !strings.Contains(text, want) {
		t.Errorf("the default is %+v, and docs/benchrun.md should have %q", defaultConfig, want)
	}
}

func allCommands() (all []*cobra.Command) {
	for _, cmd := range newRootCmd().Commands() {
		all = append(append(all, cmd), cmd.Commands()...)
	}
	return all
}

// A flag that the text of a page names is one of some command.
func TestPagesNameFlags(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	flags := map[string]bool{"version": true}
	for _, cmd := range allCommands() {
		cmd.InitDefaultHelpFlag()
		cmd.Flags().VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
	}
	for _, page := range append(pages, "../../README.md", "../../CONTRIBUTING.md") {
		text := readPage(t, page)
		for _, m := range regexp.MustCompile("`--([a-z][a-z-]*)").FindAllStringSubmatch(text, -1) {
			if !flags[m[1]] && !slices.ContainsFunc(habits, func(h habit) bool { return h.name == m[1] }) {
				t.Errorf("%s has the flag --%s, which no command has", page, m[1])
			}
		}
	}
}

// Each text is one of a command.
func TestHelpIsOfCommands(t *testing.T) {
	files, err := helpFiles.ReadDir("help")
	if err != nil {
		t.Fatal(err)
	}
	root := newRootCmd()
	for _, f := range files {
		path := strings.Split(strings.TrimSuffix(f.Name(), ".txt"), "_")
		if path[0] == root.Name() {
			path = nil
		}
		if cmd, rest, err := root.Find(path); err != nil || len(rest) > 0 {
			t.Errorf("help/%s is of no command: %v, %v", f.Name(), cmd.Name(), err)
		}
	}
}
