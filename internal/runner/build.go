package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/versions"
)

// A Build says how the go command builds tests and in what they run, as far as that was asked
// for: values by flag, which is also the key under which results have them. What is not in it is
// as the environment has it. A side of a comparison is a version and a Build.
type Build map[string]string

// BuildFlags are the flags of a Build, in the order in which they are said.
var BuildFlags = []string{"go", "goexperiment", "gogc", "gomemlimit", "tags", "pgo"}

// ParseBuild returns the Build of one side: each flag may have one word.
func ParseBuild(words map[string][]string) (Build, error) {
	b := make(Build)
	for flag, all := range words {
		if len(all) > 1 {
			return nil, fmt.Errorf("--%s is given twice; one build is measured here, and benchrun ab compares two", flag)
		}
		for _, word := range all {
			b[flag] = word
		}
	}
	return b, b.check("; benchrun ab compares two of them")
}

// lists are the flags whose value itself is a list with commas, as the go command has it.
var lists = []string{"goexperiment", "tags"}

// ParseBuilds returns the Builds of two sides. A flag has one word, which is for both, or two,
// the old one first; "old,new" is two words, but of lists. An empty value is what the
// environment has.
func ParseBuilds(words map[string][]string) (both [2]Build, err error) {
	both = [2]Build{{}, {}}
	for flag, all := range words {
		if len(all) == 1 && !slices.Contains(lists, flag) {
			all = strings.Split(all[0], ",")
		}
		if len(all) > 2 {
			return both, fmt.Errorf("--%s has %d values, and there are two sides", flag, len(all))
		}
		for i := range both {
			if len(all) > 0 {
				both[i][flag] = all[min(i, len(all)-1)]
			}
		}
	}
	// What the processes of one side run in is said of the other as well: elsewhere it would be
	// what that machine's agent was started with.
	for flag, variable := range runVariables {
		if both[0][flag] != both[1][flag] {
			for _, b := range both {
				if b[flag] == "" {
					b[flag] = os.Getenv(variable)
				}
			}
		}
	}
	return both, errors.Join(both[0].check(""), both[1].check(""))
}

var (
	release  = regexp.MustCompile(`^(go)?1\.\d+(\.\d+|rc\d+|beta\d+)?$`)
	bytesOf  = regexp.MustCompile(`^(off|\d+(([KMGT]i)?B)?)$`)
	tagList  = regexp.MustCompile(`^[\pL\pN_.]+(,[\pL\pN_.]+)*$`)
	wordList = regexp.MustCompile(`^\w+(,\w+)*$`)
)

// check makes the values of b what the go command takes, and returns an error for those that
// are none. more goes on behind it where there is a comma.
func (b Build) check(more string) error {
	maps.DeleteFunc(b, func(_, value string) bool { return value == "" })
	for _, flag := range slices.Sorted(maps.Keys(b)) {
		value, want := b[flag], ""
		switch flag {
		case "go":
			if value == "local" {
				break
			}
			if !release.MatchString(value) {
				want = "a release of Go, such as go1.27.4, or local"
				break
			}
			b[flag] = "go" + strings.TrimPrefix(value, "go")
			if minor, _ := strconv.Atoi(strings.TrimPrefix(b[flag], "go1.")); minor >= 21 {
				want = "a release of Go: since 1.21 the first of each is called " + b[flag] + ".0"
			}
		case "goexperiment":
			if !wordList.MatchString(value) {
				want = "names of experiments with commas between"
			}
		case "gogc":
			if n, err := strconv.Atoi(value); value != "off" && (err != nil || n < 0 || n > math.MaxInt32) {
				want = "a percentage, or off"
			}
		case "gomemlimit":
			if !bytesOf.MatchString(value) {
				want = "a number of bytes such as 512MiB, or off"
			}
		case "tags":
			if !tagList.MatchString(value) {
				want = "build tags with commas between"
			}
		case "pgo":
			if info, err := os.Stat(value); value != "off" && value != "auto" && (err != nil || !info.Mode().IsRegular()) {
				want = "the file of a CPU profile, off, or auto"
			}
		}
		if want != "" {
			if !strings.Contains(value, ",") || slices.Contains(lists, flag) {
				more = ""
			}
			return fmt.Errorf("--%s is %q; it must be %s%s", flag, value, want, more)
		}
	}
	return nil
}

// runVariables are the variables of processes that are measured. The go command does not get
// them: a compiler that may use little memory takes long.
var runVariables = map[string]string{"gogc": "GOGC", "gomemlimit": "GOMEMLIMIT"}

// runEnv is what processes get that are measured, as "KEY=value".
func (b Build) runEnv() (env []string) {
	for _, flag := range slices.Sorted(maps.Keys(runVariables)) {
		if v := b[flag]; v != "" {
			env = append(env, runVariables[flag]+"="+v)
		}
	}
	return env
}

// variables are what the go command gets, as "KEY=value", without its flags.
func (b Build) variables() (env []string) {
	for flag, variable := range map[string]string{"go": "GOTOOLCHAIN", "goexperiment": "GOEXPERIMENT"} {
		if v := b[flag]; v != "" {
			env = append(env, variable+"="+v)
		}
	}
	return env
}

// goEnv returns env, which is added to the environment of the go command in dir, with what b
// adds to it.
func (b Build) goEnv(ctx context.Context, dir string, env []string) ([]string, error) {
	var flags []string
	if tags := b["tags"]; tags != "" {
		flags = append(flags, "-tags="+tags)
	}
	switch profile := b["pgo"]; profile {
	case "":
	case "off", "auto":
		flags = append(flags, "-pgo="+profile)
	default: // the go command runs elsewhere
		path, err := filepath.Abs(profile)
		if err != nil {
			return nil, err
		}
		flags = append(flags, "-pgo="+path)
	}
	return versions.WithGoFlags(ctx, dir, append(slices.Clip(env), b.variables()...), flags...)
}

// describe notes what the module in dir is built with and its programs run in, by b and the
// environment.
func (b Build) describe(ctx context.Context, dir string) []record.Setting {
	all := session.DescribeBuild(ctx, dir, append(b.variables(), b.runEnv()...)...)
	for _, flag := range BuildFlags {
		if v := b[flag]; v != "" && !slices.ContainsFunc(all, func(s record.Setting) bool { return s.Key == flag }) {
			all = append(all, fixed(flag, v))
		}
	}
	return all
}

// flags are what asks for b, to be typed.
func (b Build) flags() (s string) {
	for _, flag := range BuildFlags {
		if v := b[flag]; v != "" {
			s += " --" + flag + " " + console.ShellWord(v)
		}
	}
	return s
}

// String is what a side's name is followed by, such as ", go1.27.4, GOGC=50"; "" for a Build of
// which nothing is asked.
func (b Build) String() (s string) {
	for _, flag := range BuildFlags {
		switch v := b[flag]; {
		case v == "":
		case flag == "go":
			s += ", " + v
		case flag == "tags", flag == "pgo":
			s += ", -" + flag + "=" + v
		default:
			s += ", " + strings.ToUpper(flag) + "=" + v
		}
	}
	return s
}

// buildOf returns how a run built the side, "" if it has one, so that it is built so again.
func buildOf(from *record.Interrupted, side string) Build {
	b := make(Build)
	for _, flag := range BuildFlags {
		v := from.Config[flag]
		if side != "" && v == "" {
			v = from.Config[record.OfSide(side, flag)]
		}
		if v != "" {
			b[flag] = v
		}
	}
	return b
}

// buildsOf is buildOf of both sides of a run that compares two versions.
func buildsOf(from *record.Interrupted) (both [2]Build) {
	for i, side := range sides {
		both[i] = buildOf(from, side)
	}
	return both
}

// withBuild returns settings with built in place of what they say of how something is built.
func withBuild(settings, built []record.Setting) []record.Setting {
	keys := record.Built()
	isBuilt := func(s record.Setting) bool { return slices.Contains(keys, s.Key) }
	at := max(0, slices.IndexFunc(settings, isBuilt))
	return slices.Insert(slices.DeleteFunc(settings, isBuilt), at, built...)
}
