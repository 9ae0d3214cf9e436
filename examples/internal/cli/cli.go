// Package cli makes commands of the examples: it reads the flag that says which
// implementation runs the actors, so that the examples are about actors only.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls"
)

// A Program runs actors on d and writes what it has to say to w.
type Program func(w io.Writer, d actor.Dispatcher) error

// Main runs p as a command and ends the process. Flags of the program's own are
// defined by the functions it passes.
func Main(p Program, define ...func(*flag.FlagSet)) {
	os.Exit(run(p, os.Args, os.Stdout, os.Stderr, define...))
}

// run is Main without the process. It returns the exit status: 0, or 1 if the
// program failed, or 2 if the command line cannot be used.
func run(p Program, args []string, stdout, stderr io.Writer, define ...func(*flag.FlagSet)) int {
	dispatchers := map[string]func() actor.Dispatcher{}
	var names []string
	for _, impl := range impls.All() {
		if impl.NewDispatcher != nil { // an implementation need not run actors
			dispatchers[impl.Name] = impl.NewDispatcher
			names = append(names, impl.Name)
		}
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(stderr)
	name := flags.String("impl", "workstealing", "who runs the actors: "+strings.Join(names, ", "))
	for _, f := range define {
		f(flags)
	}
	if err := flags.Parse(args[1:]); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2 // flags has said why
	}
	newDispatcher := dispatchers[*name]
	switch {
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "%s: unexpected argument %q\n", args[0], flags.Arg(0))
		return 2
	case newDispatcher == nil:
		fmt.Fprintf(stderr, "%s: no implementation %q: there are %s\n", args[0], *name, strings.Join(names, ", "))
		return 2
	}
	if err := p(stdout, newDispatcher()); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", args[0], err)
		return 1
	}
	return 0
}

// AtLeast returns the value of a flag that sets n, which holds the default, to a
// number that is not below least.
func AtLeast(least int, n *int) flag.Value { return &atLeast{least, n} }

type atLeast struct {
	least int
	n     *int
}

// String implements [flag.Value]. Package flag calls it of a zero value, too.
func (a *atLeast) String() string {
	if a.n == nil {
		return ""
	}
	return strconv.Itoa(*a.n)
}

// Set implements [flag.Value].
func (a *atLeast) Set(s string) error {
	n, err := strconv.Atoi(s)
	if err != nil || n < a.least {
		return fmt.Errorf("want a number from %d", a.least)
	}
	*a.n = n
	return nil
}
