package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/fleet"
	"github.com/dynolab/dyno/internal/session"
)

// joinFlags are the flags of join.
type joinFlags struct {
	*common
	fleet.AgentOptions
	benchrun string
	boards   []string
	hwmap    string
	memory   int64
	sandbox  bool
}

func newJoin(c *common) *cobra.Command {
	host, _ := os.Hostname() // without one there is a name all the same
	f := &joinFlags{common: c, AgentOptions: fleet.AgentOptions{Machine: fleet.MachineName(host), Longest: 6 * time.Hour}}
	f.Sandbox.UID, f.Sandbox.Procs, f.memory = 64750, 4096, 4
	cmd := &cobra.Command{
		Use: "join", Short: "Have this machine measure for the fleet", Args: cobra.NoArgs,
		Long: `Join has this machine carry out what it is sent, one job at a time, and only while
no other benchrun measures on it: jobs wait for local runs, and local runs for jobs.

To join means to run programs of others. Orders are signed, and only those of this
user's key are carried out, and of keys that --allow names. As root on Linux jobs get
a user of their own, no network, an empty /tmp, a file system that they can only read,
processes that see no other ones, and limits; they end with the agent. Where that is
not to be had, jobs of others are refused, unless you say --unsafe.

A board, or an emulator, takes part as a machine of its own (--board): benchrun board
run --on sends it images.

The first interrupt finishes the job that runs; the second leaves at once, and the job
goes on when the machine joins again.`,
		Example: `  benchfleet join
  benchfleet join --board cortex-m3-qemu,linux-arm64-qemu
  benchfleet join --server tls://lab:4750 --ca server.crt --name epyc-1 --allow UABC… --label room=lab`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.Machine, "name", f.Machine, "the `name` of this machine")
	fl.StringSliceVar(&f.Allow, "allow", nil, "also carry out what this `key` has signed; may be given several times")
	fl.StringToStringVar(&f.Labels, "label", nil, "a `key=value` that selectors can ask for")
	fl.StringSliceVar(&f.boards, "board", nil, "also have these boards take part, by `name` as benchrun board list has it, or all that can; each is the machine NAME-BOARD")
	fl.StringVar(&f.hwmap, "map", "", "the hardware map of the boards, a `file`")
	fl.StringVar(&f.benchrun, "benchrun", "", "the `program` that measures (default: benchrun beside this one, else in the PATH)")
	fl.BoolVar(&f.sandbox, "sandbox", fleet.CanConfine(), "run jobs in a sandbox")
	fl.BoolVar(&f.Sandbox.Unsafe, "unsafe", false, "run programs of others without a sandbox, and without encryption, if need be")
	fl.IntVar(&f.Sandbox.UID, "uid", f.Sandbox.UID, "the `number` of the user that jobs are; it must own nothing")
	fl.Int64Var(&f.memory, "memory", f.memory, "`GiB` that a process of a job may write to")
	fl.IntVar(&f.Sandbox.Procs, "processes", f.Sandbox.Procs, "`n` processes and threads that a job may have")
	fl.DurationVar(&f.Longest, "longest", f.Longest, "end a job that takes longer than this `duration`")
	return cmd
}

func (f *joinFlags) run(cmd *cobra.Command) error {
	path, err := findBenchrun(f.benchrun)
	if err != nil {
		return err
	}
	if f.sandbox && !fleet.CanConfine() {
		return errors.New("--sandbox needs Linux and root")
	}
	f.AgentOptions.Options = f.common.Options
	f.AgentOptions.Patient = true
	f.Carry = []string{path, "carry"}
	f.Sandbox.Off, f.Sandbox.Memory = !f.sandbox, f.memory<<30
	f.Log = cmd.ErrOrStderr()
	agents, err := f.agents(cmd.Context(), path)
	if err != nil {
		return err
	}
	ctx, processes, stop := session.Interruptible(cmd.Context(), func() {
		fmt.Fprintln(cmd.ErrOrStderr(), "leaving; a job that runs is finished first, and a second interrupt leaves at once")
	})
	defer stop()
	err = joinAll(ctx, processes, agents)
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Cause(ctx))) {
		return nil
	}
	return err
}

// joinAll has all agents join. If one cannot, the others leave.
func joinAll(ctx, processes context.Context, agents []fleet.AgentOptions) error {
	errs := make([]error, len(agents))
	leaving, leave := context.WithCancel(ctx)
	defer leave()
	var all sync.WaitGroup
	for i, o := range agents {
		all.Go(func() {
			if errs[i] = fleet.Join(leaving, processes, o); errs[i] != nil {
				leave()
			}
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// findBenchrun returns the path of benchrun.
func findBenchrun(given string) (string, error) {
	if given != "" {
		return exec.LookPath(given)
	}
	if own, err := os.Executable(); err == nil {
		if path, err := exec.LookPath(filepath.Join(filepath.Dir(own), "benchrun")); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath("benchrun")
	if err != nil {
		return "", fmt.Errorf("there is no benchrun beside this program and none in the PATH: --benchrun names it (%w)", err)
	}
	return filepath.Abs(path)
}
