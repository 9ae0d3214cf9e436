package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/impls/workstealing"
)

func TestRun(t *testing.T) {
	show := func(w io.Writer, d actor.Dispatcher) error {
		switch d.(type) {
		case *workstealing.Dispatcher:
			fmt.Fprint(w, "workstealing")
		case *lockbased.Dispatcher:
			fmt.Fprint(w, "lockbased")
		default:
			fmt.Fprintf(w, "%T", d)
		}
		return nil
	}
	n := 0
	number := func(flags *flag.FlagSet) {
		n = 3
		flags.Var(AtLeast(2, &n), "n", "a `number`")
	}
	tellN := func(w io.Writer, _ actor.Dispatcher) error {
		fmt.Fprint(w, n)
		return nil
	}
	fail := func(io.Writer, actor.Dispatcher) error { return errors.New("broken") }
	var dispatchers []string
	for _, impl := range impls.All() {
		if impl.NewDispatcher != nil {
			dispatchers = append(dispatchers, impl.Name)
		}
	}
	all := strings.Join(dispatchers, ", ")
	for _, c := range []struct {
		name   string
		p      Program
		args   string
		status int
		stdout string
		stderr string // what it contains
	}{
		{"default", show, "x", 0, "workstealing", ""},
		{"chosen", show, "x -impl lockbased", 0, "lockbased", ""},
		{"failure", fail, "x", 1, "", "x: broken\n"},
		{"unknown implementation", fail, "x -impl none", 2, "", `x: no implementation "none": there are ` + all + "\n"},
		{"unknown flag", fail, "x -imp serial", 2, "", "flag provided but not defined: -imp\n"},
		{"argument", fail, "x serial", 2, "", `x: unexpected argument "serial"` + "\n"},
		{"own flag's default", tellN, "x", 0, "3", ""},
		{"own flag", tellN, "x -n 2 -impl serial", 0, "2", ""},
		{"own flag below its least", tellN, "x -n 1", 2, "", `invalid value "1" for flag -n: want a number from 2`},
		{"own flag without a number", tellN, "x -n many", 2, "", `invalid value "many" for flag -n: want a number from 2`},
		{"help with own flag", fail, "x --help", 0, "", "-n number\n    \ta number (default 3)\n"},
		{"help", fail, "x -h", 0, "", "who runs the actors: " + all},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			status := run(c.p, strings.Fields(c.args), &stdout, &stderr, number)
			if status != c.status || stdout.String() != c.stdout || !strings.Contains(stderr.String(), c.stderr) || c.stderr == "" && stderr.Len() > 0 {
				t.Errorf("status %d, stdout %q, stderr %q;\nwant   %d, stdout %q, stderr with %q", status, &stdout, &stderr, c.status, c.stdout, c.stderr)
			}
		})
	}
}
