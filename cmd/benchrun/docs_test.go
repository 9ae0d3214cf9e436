package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// docs/benchrun.md and --help agree: every command and flag is in the document,
// and every flag in the document is one.
func TestDocumentHasEveryFlag(t *testing.T) {
	data, err := os.ReadFile("../../docs/benchrun.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	told := make(map[string]bool)
	for _, m := range regexp.MustCompile(`--([a-z][a-z-]*)`).FindAllStringSubmatch(text, -1) {
		told[m[1]] = true
	}
	flags := map[string]bool{"help": true, "version": true}
	var all []*cobra.Command
	for _, cmd := range newRootCmd().Commands() {
		all = append(append(all, cmd), cmd.Commands()...)
	}
	for _, cmd := range all {
		name := strings.TrimPrefix(cmd.CommandPath(), "benchrun ")
		if !regexp.MustCompile("(?m)(`|^)benchrun " + name + "([ `]|$)").MatchString(text) {
			t.Errorf("docs/benchrun.md does not tell of benchrun %s", name)
		}
		if cmd.Example == "" || cmd.Short == "" {
			t.Errorf("the help of benchrun %s has no example or no summary", name)
		}
		for _, m := range regexp.MustCompile(`(?m)^ +(?:-[a-z], )?--([a-z][a-z-]*)`).FindAllStringSubmatch(cmd.Flags().FlagUsages(), -1) {
			flags[m[1]] = true
			if !told[m[1]] {
				t.Errorf("docs/benchrun.md does not tell of --%s of benchrun %s", m[1], name)
			}
		}
	}
	for f := range told {
		if !flags[f] {
			t.Errorf("docs/benchrun.md has the flag --%s, which no command has", f)
		}
	}
}

// What the workflow types is what the commands take.
func TestWorkflowIsTyped(t *testing.T) {
	data, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	typed := regexp.MustCompile(`(?m)^ +benchrun ([^\n]*)$`).FindAllStringSubmatch(string(data), -1)
	for _, m := range typed {
		cmd, args, err := newRootCmd().Find(strings.Fields(m[1]))
		if err == nil {
			err = cmd.ParseFlags(args)
		}
		if err != nil || cmd.Name() == "benchrun" {
			t.Errorf("benchrun %s: %v", m[1], err)
		}
	}
	if len(typed) != 2 {
		t.Errorf("it types %d commands", len(typed))
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

// Defaults that the document names are those of the flags.
func TestDocumentHasTheDefaults(t *testing.T) {
	data, err := os.ReadFile("../../docs/benchrun.md")
	if err != nil {
		t.Fatal(err)
	}
	var cmd *cobra.Command
	for _, c := range newRootCmd().Commands() {
		if c.Name() == "run" {
			cmd = c
		}
	}
	for flag, sentence := range map[string]string{
		"blocks":  "| `--blocks n`, `-n` | DEFAULT by default. |",
		"plan":    "| `--plan fixed\\|sequential` | `DEFAULT` by default:",
		"mode":    "| `--mode auto\\|turns\\|process` | `DEFAULT` by default.",
		"rounds":  "| `--rounds n` | DEFAULT by default:",
		"slice":   "| `--slice duration` | DEFAULT by default.",
		"layouts": "| `--layouts n` | DEFAULT by default:",
		"time":    "how many iterations; DEFAULT by default.",
	} {
		want := strings.Replace(sentence, "DEFAULT", cmd.Flag(flag).DefValue, 1)
		if !strings.Contains(string(data), want) {
			t.Errorf("docs/benchrun.md lacks %q", want)
		}
	}
	if want := "14 blocks of 4 rounds"; defaultConfig.Blocks != 14 || defaultConfig.Rounds != 4 || !strings.Contains(string(data), want) {
		t.Errorf("the default is %+v, and docs/benchrun.md should have %q", defaultConfig, want)
	}
}
