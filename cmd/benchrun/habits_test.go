package main

import (
	"slices"
	"strings"
	"testing"
)

// What people type who know go test, benchstat or hyperfine is what they mean, with one dash
// or two, with = or a space.
func TestHabitual(t *testing.T) {
	for _, c := range []struct{ typed, want string }{
		{"run -bench X ./p", "run --bench X ./p"},
		{"run -bench=X -benchmem ./p", "run --bench=X --benchmem ./p"},
		{"run --bench X", "run --bench X"},
		{"run -b X -n 6 -n6 -bDecode", "run -b X -n 6 -n6 -bDecode"},
		{"run -test.bench=. -test.benchtime=10x", "run --bench=. --time=10x"},
		{"run -benchtime 1s ./p", "run --time=1s ./p"},
		{"run -benchtime=100x", "run --time=100x"},
		{"run -count 10 -cpu 1,2 -timeout 5m", "run --blocks=10 --cpu 1,2 --timeout 5m"},
		{"ab main -run ^$ -bench . -count=1", "ab main --bench . --blocks=1"},
		{"ab -runs 20 -warmup 3 -N main", "ab --blocks=20 main"},
		{"ab -r 20 -w 3 main", "ab --blocks=20 main"},
		{"ab main -v -- -bench", "ab main -- -bench"},
		{"ab main --gate strict", "ab main --gate=strict"},
		{"ab --gate main -o f", "ab --gate main -o f"},
		{"list -benchtime 1s -count 3", "list"},
		{"compare -filter -x -col /impl a b", "compare --filter -x --col /impl a b"},
		{"compare -alpha 0.01 -format csv -ignore pkg a", "compare --alpha 0.01 --format csv a"},
		{"board run -impl x y", "board run --impl x y"},
		{"-version", "--version"},
		{"-h", "-h"},
	} {
		out, _, _, err := habitual(newRootCmd(), strings.Fields(c.typed))
		if got := strings.Join(out, " "); err != nil || got != c.want {
			t.Errorf("%s: %q, %v, want %q", c.typed, got, err, c.want)
		}
	}
}

// Flags of the go command that builds go into GOFLAGS, and those that mean nothing here say
// what to type.
func TestHabitsThatAreNoFlags(t *testing.T) {
	_, _, flags, err := habitual(newRootCmd(), []string{"list", "-tags", "a,b", "-race", "-ldflags=-s -w", "--gcflags", "-N 'x'", "."})
	if want := []string{"-tags=a,b", "-race", "'-ldflags=-s -w'", `"-gcflags=-N 'x'"`}; err != nil || !slices.Equal(flags, want) {
		t.Errorf("flags %q, %v, want %q", flags, err, want)
	}
	for typed, want := range map[string]string{
		"list -count":               "flag needs an argument: -count",
		"compare -row .name a":      "-row .name: a row is a benchmark",
		"ab --export-json x.json m": "benchrun compare --format json",
		"run -cpuprofile x":         "benchrun why",
		"bnech x":                   "unknown command",
		"test -bench .":             "benchrun run",
	} {
		if _, _, _, err := habitual(newRootCmd(), strings.Fields(typed)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", typed, err, want)
		}
	}
}

// Each habit is reached by its commands, stands in for no flag of theirs, and names flags
// that there are.
func TestHabits(t *testing.T) {
	root := newRootCmd()
	for _, h := range habits {
		for _, path := range h.in {
			cmd, _, err := root.Find(strings.Fields(path))
			if err != nil || cmd == root {
				t.Errorf("%s is of %s, which is no command", h.name, path)
				continue
			}
			if f := flagOf(cmd, h.name); f == nil && habitOf(cmd, h.name) == nil {
				t.Errorf("%s has a letter that is -%s", path, h.name)
			}
			if (h.is != "" || h.ignored || !h.goFlag) && h.say == "" {
				t.Errorf("nothing is said of %s", h.name)
			}
		}
		if h.is != "" && flagOf(subcommand(root, "run"), h.is) == nil {
			t.Errorf("%s is --%s, which there is not", h.name, h.is)
		}
	}
}
