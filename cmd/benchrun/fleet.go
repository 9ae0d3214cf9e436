package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/session"
)

// newFleetCmd runs benchfleet, which is a program of its own: it has a server that measuring on
// this machine does not need.
func newFleetCmd() *cobra.Command {
	cmd := newCommand("fleet", func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 || slices.Contains([]string{"-h", "--help", "help"}, args[0]) && len(args) == 1 {
			return cmd.Help()
		}
		path, err := benchfleet()
		if err != nil {
			return err
		}
		return become(cmd, path, args)
	})
	cmd.DisableFlagParsing = true
	return cmd
}

// benchfleet returns the path of the program.
func benchfleet() (string, error) {
	if own, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(own), "benchfleet")); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath("benchfleet")
	if err != nil {
		return "", errors.New("a fleet needs the program benchfleet, which is neither beside benchrun nor in the PATH: in a checkout of dyno, make fleet builds it into bin/")
	}
	return filepath.Abs(path)
}

// machinesOf returns the machines that a selector names. board is the kind of board that they
// are; "" is none: machines that run programs.
func machinesOf(ctx context.Context, selector, board string) (machines []runner.Machine, err error) {
	path, err := benchfleet()
	if err != nil {
		return nil, err
	}
	text, err := child.Says(ctx, ".", nil, path, "machines", "--json", "--on", selector, "--board", board)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(child.Said(err), "benchfleet: "))
	}
	if err := json.Unmarshal([]byte(text), &machines); err != nil {
		return nil, fmt.Errorf("%s does not say which machines there are: %w", path, err)
	}
	return machines, nil
}

// machinesOn returns the machines that a selector names, by their platform and number of
// processors: what is sent to machines that differ in these is built and planned apart.
func machinesOn(ctx context.Context, selector string) (alike [][]runner.Machine, err error) {
	machines, err := machinesOf(ctx, selector, "")
	if err != nil {
		return nil, err
	}
	for _, m := range machines {
		at := slices.IndexFunc(alike, func(o []runner.Machine) bool { return o[0].Platform == m.Platform && o[0].Cores == m.Cores })
		if at < 0 {
			at, alike = len(alike), append(alike, nil)
		}
		alike[at] = append(alike[at], m)
	}
	return alike, nil
}

// sender has benchfleet send jobs; what it says goes to con.
func sender(con *console.Console) runner.Send {
	return func(ctx context.Context, folder string, to runner.Machine, path string) error {
		program, err := benchfleet()
		if err != nil {
			return err
		}
		cmd := child.Command(ctx, ".", nil, program, "submit", "--on", to.Name, "--out", path, folder)
		cmd.Stderr = con
		err = cmd.Run()
		var exit *exec.ExitError
		switch {
		case ctx.Err() != nil:
			return session.ErrInterrupted
		case errors.As(err, &exit):
			return fmt.Errorf("%s has sent no results; why stands above", to.Name)
		}
		return err
	}
}

// elsewhere calls measure once for this machine, or if on names others, once for each kind of
// them. measure is given a Runner, and what is known of the machine it is for: the zero Machine is
// this one.
func elsewhere(cmd *cobra.Command, command, on string, measure func(r *runner.Runner, m runner.Machine) error) error {
	con := consoleOf(cmd)
	if on == "" {
		return measure(runner.New(con, command), runner.Machine{})
	}
	alike, err := machinesOn(cmd.Context(), on)
	if err != nil {
		return err
	}
	for _, machines := range alike {
		r := runner.New(con, command)
		r.SendTo(machines, sender(con))
		if err := measure(r, machines[0]); err != nil {
			return err
		}
	}
	return nil
}

// measuredOn makes c that of a machine that is not this one: with its name, and if nothing else
// is asked for with as many processors as it has.
func measuredOn(c *runner.Config, m runner.Machine) {
	if m.Name == "" {
		return
	}
	c.Machine = m.Name
	if len(c.CPU) == 0 {
		c.CPU = []int{m.Cores}
	}
}
