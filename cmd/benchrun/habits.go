package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/versions"
)

// A habit is a flag of go test, benchstat or hyperfine that is typed here. One that a
// command has under the same name is that command's.
type habit struct {
	name string
	in   []string // the commands that it is of

	is      string // the flag of ours that it is
	number  bool   // it is one if its value is a number; else it is the command's own flag of this name
	goFlag  bool   // it is the go command's when it builds, and goes into GOFLAGS
	noValue bool   // it stands alone, as a flag that is true or false does

	// say is the sentence for it: with is or goFlag a note, and an error without. A flag with
	// nothing but ignored is left out, with say as a note.
	say     string
	ignored bool
}

var (
	measuring = []string{"run", "ab", "list", "bisect", "calibrate"}
	building  = []string{"list", "bisect", "calibrate"} // which have no flags for how tests are built
	comparing = []string{"compare", "report"}
)

// habits are all that are known. TestHabits tries each of them.
var habits = []habit{
	// go test
	{name: "benchtime", in: measuring, is: "time", say: "it is how long a process measures that takes no turns; --rounds and --slice are for those that do"},
	{name: "count", in: measuring, is: "blocks", number: true, say: "each block has fresh processes; --count alone counts instructions"},
	{name: "run", in: measuring, ignored: true, say: "only benchmarks are run here, and --bench chooses them"},
	{name: "benchmem", in: []string{"bisect", "calibrate", "list"}, noValue: true, ignored: true, say: "it is a flag of run and ab"},
	{name: "v", in: measuring, noValue: true, ignored: true, say: "progress is on standard error"},
	{name: "short", in: measuring, noValue: true, say: "benchmarks run as go test -bench runs them without it; --bench leaves out those that take long"},
	{name: "failfast", in: measuring, noValue: true, ignored: true, say: "a benchmark that fails is reported, and the others go on"},
	{name: "parallel", in: measuring, say: "one process measures at a time; --cpu is GOMAXPROCS"},
	{name: "p", in: measuring, say: "one process measures at a time; --cpu is GOMAXPROCS"},
	{name: "skip", in: measuring, say: "--bench chooses benchmarks"},
	{name: "c", in: measuring, noValue: true, say: "go test -c builds, and benchrun run --binary measures what it has built"},
	{name: "exec", in: measuring, say: "benchrun board measures on emulators, and run --program other programs"},
	{name: "json", in: []string{"run", "ab"}, noValue: true, say: "the results are kept: benchrun compare --format json prints them"},
	{name: "cpuprofile", in: measuring, say: "benchrun why takes profiles of what differs"},
	{name: "memprofile", in: measuring, say: "benchrun why takes profiles of what differs"},
	{name: "blockprofile", in: measuring, say: "benchrun why takes profiles of what differs"},
	{name: "mutexprofile", in: measuring, say: "benchrun why takes profiles of what differs"},
	{name: "cover", in: measuring, noValue: true, say: "counting statements takes time that would be measured"},
	{name: "tags", in: building, goFlag: true},
	{name: "race", in: measuring, goFlag: true, noValue: true, say: "it is measured with the race detector, which takes most of the time"},
	{name: "gcflags", in: measuring, goFlag: true},
	{name: "ldflags", in: measuring, goFlag: true},
	{name: "pgo", in: building, goFlag: true},
	{name: "mod", in: measuring, goFlag: true},
	{name: "modfile", in: measuring, goFlag: true},

	// benchstat
	{name: "row", in: comparing, say: "a row is a benchmark; --filter chooses rows, and --col says what becomes columns"},
	{name: "table", in: comparing, say: "there is a table for each unit; --filter '.unit:ns/op' chooses one"},
	{name: "ignore", in: comparing, ignored: true, say: "nothing needs it: benchmarks are paired by package and name, whatever else the files say"},
	{name: "confidence", in: comparing, say: "intervals have confidence 1 - alpha: --alpha 0.05 is benchstat's 0.95"},

	// hyperfine
	{name: "runs", in: measuring, is: "blocks", say: "each block has fresh processes"},
	{name: "r", in: []string{"ab", "run"}, is: "blocks", say: "each block has fresh processes"},
	{name: "warmup", in: measuring, ignored: true, say: "processes are warmed up until they are steady"},
	{name: "w", in: measuring, ignored: true, say: "processes are warmed up until they are steady"},
	{name: "N", in: []string{"ab"}, noValue: true, ignored: true, say: "commands are started without a shell, unless --shell says so"},
	{name: "export-json", in: []string{"run", "ab"}, say: "the results are kept: benchrun compare --format json prints them"},
	{name: "export-csv", in: []string{"run", "ab"}, say: "the results are kept: benchrun compare --format csv prints them"},
	{name: "export-markdown", in: []string{"run", "ab"}, say: "the results are kept: benchrun compare --format md prints them"},
	{name: "prepare", in: []string{"run", "ab"}, say: "what a command needs goes into the command itself: --shell, and 'prepare && ./command'"},
	{name: "show-output", in: []string{"run", "ab"}, noValue: true, ignored: true, say: "the output of what fails is shown"},
}

// longFlag is how flags of several letters are typed, with one dash or two. A single letter
// and its value, such as -n6, is not one.
var longFlag = regexp.MustCompile(`^--?([A-Za-z]|(?:test\.)?[a-z][a-z-]*[a-z])(=.*)?$`)

// habitual returns args as root's commands parse them: flags with one dash or two, as
// package flag has them, and for habits what is theirs. notes says what has been made of
// some. goFlags are for the go command.
func habitual(root *cobra.Command, args []string) (out, notes, goFlags []string, err error) {
	cmd := root
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(out, args[i:]...), notes, goFlags, nil
		}
		m := longFlag.FindStringSubmatch(arg)
		if m == nil {
			if sub := subcommand(cmd, arg); sub != nil {
				cmd = sub
			} else if cmd == root {
				if slices.Contains([]string{"help", "completion", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd}, arg) {
					return append(out, args[i:]...), notes, goFlags, nil // cobra's own, which it adds later
				}
				return nil, nil, nil, noCommand(root, positional(args[i:]))
			}
			out = append(out, arg)
			continue
		}
		name, value, hasValue := strings.TrimPrefix(m[1], "test."), strings.TrimPrefix(m[2], "="), m[2] != ""
		f := flagOf(cmd, name)
		h := habitOf(cmd, name)
		if f != nil && h != nil && h.number {
			next := value
			if !hasValue && i+1 < len(args) {
				next = args[i+1]
			}
			if _, err := strconv.Atoi(next); err == nil {
				f = nil
			}
		}
		if cmd == root && f == nil && len(name) > 1 {
			if owners := ownersOf(root, name); len(owners) > 0 {
				return nil, nil, nil, ofOthers(arg, owners)
			}
		}
		if f != nil || h == nil {
			switch {
			case len(name) > 1:
				arg = "--" + name + m[2]
			case f == nil && cmd.Flags().ShorthandLookup(name) != nil:
				f = cmd.Flags().ShorthandLookup(name)
			}
			if f != nil && !hasValue && i+1 < len(args) {
				i++
				switch next := args[i]; {
				case f.NoOptDefVal == "":
					out = append(out, arg, next) // its value, whatever that looks like
					continue
				case slices.Contains(f.Annotations[wordsKey], next):
					arg += "=" + next // --gate strict
				default:
					i--
				}
			}
			out = append(out, arg)
			continue
		}
		if !h.noValue && !hasValue {
			if i++; i == len(args) {
				return nil, nil, nil, fmt.Errorf("flag needs an argument: %s", arg)
			}
			value = args[i]
		}
		typed := strings.TrimSuffix(strings.TrimSuffix(arg, m[2])+" "+value, " ")
		switch {
		case h.goFlag && h.noValue:
			goFlags = append(goFlags, "-"+name)
		case h.goFlag:
			goFlags = append(goFlags, versions.GoFlag("-"+name+"="+value))
		case h.is != "":
			if flagOf(cmd, h.is) == nil {
				notes = append(notes, fmt.Sprintf("%s is left out: %s has no --%s", typed, cmd.CommandPath(), h.is))
				continue
			}
			out = append(out, "--"+h.is+"="+value)
			notes = append(notes, fmt.Sprintf("%s is --%s %s here: %s", typed, h.is, value, h.say))
			continue
		case !h.ignored:
			return nil, nil, nil, fmt.Errorf("%s: %s", typed, h.say)
		}
		if h.say != "" {
			notes = append(notes, typed+": "+h.say)
		}
	}
	return out, notes, goFlags, nil
}

// positional returns the arguments up to the first flag.
func positional(args []string) []string {
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") }); i >= 0 {
		return args[:i]
	}
	return args
}

// subcommand returns cmd's command of that name, nil if there is none.
func subcommand(cmd *cobra.Command, name string) *cobra.Command {
	for _, c := range cmd.Commands() {
		if c.Name() == name {
			return c
		}
	}
	return nil
}

// flagOf returns cmd's flag of that name, those that cobra adds included; nil if it has none.
func flagOf(cmd *cobra.Command, name string) *pflag.Flag {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	return cmd.Flags().Lookup(name)
}

// habitOf returns the habit of that name for cmd, nil if there is none, or if the name is
// the letter of one of cmd's flags.
func habitOf(cmd *cobra.Command, name string) *habit {
	i := slices.IndexFunc(habits, func(h habit) bool { return h.name == name && slices.Contains(h.in, pathOf(cmd)) })
	if i < 0 || len(name) == 1 && cmd.Flags().ShorthandLookup(name) != nil {
		return nil
	}
	return &habits[i]
}

// pathOf is what is typed behind benchrun for cmd; "" for benchrun alone.
func pathOf(cmd *cobra.Command) string {
	_, path, _ := strings.Cut(cmd.CommandPath(), " ")
	return path
}

// ownersOf returns the commands below cmd that take a flag of that name.
func ownersOf(cmd *cobra.Command, name string) (paths []string) {
	for _, c := range cmd.Commands() {
		if flagOf(c, name) != nil || habitOf(c, name) != nil {
			paths = append(paths, pathOf(c))
		}
		paths = append(paths, ownersOf(c, name)...)
	}
	return paths
}

// addGoFlags adds flags to the GOFLAGS of this process and of all that it starts.
func addGoFlags(ctx context.Context, flags []string) error {
	if len(flags) == 0 {
		return nil
	}
	before, err := child.GoEnv(ctx, ".", nil, "go") // those of go env -w too
	if err != nil {
		return err
	}
	return os.Setenv("GOFLAGS", strings.TrimSpace(before["GOFLAGS"]+" "+strings.Join(flags, " ")))
}
