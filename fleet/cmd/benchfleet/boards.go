package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dynolab/dyno/fleet"
)

// listed is what benchrun board list says of a kind of board.
type listed struct {
	Name       string   `json:"name"`
	Chip       string   `json:"chip"`
	Emulated   bool     `json:"emulated"`
	Connected  []string `json:"connected"`
	Runner     string   `json:"runner"`
	Unrunnable string   `json:"unrunnable"`
	Sent       bool     `json:"sent"`
}

// agents are what joins: this machine, and the boards that are asked for, each as a machine of
// its own.
func (f *joinFlags) agents(ctx context.Context, benchrun string) ([]fleet.AgentOptions, error) {
	all := []fleet.AgentOptions{f.AgentOptions}
	if len(f.boards) == 0 {
		return all, nil
	}
	kinds, err := f.listBoards(ctx, benchrun)
	if err != nil {
		return nil, err
	}
	ids := f.boards
	if slices.Equal(ids, []string{"all"}) {
		ids = f.usable(kinds)
	}
	for _, id := range ids {
		i := slices.IndexFunc(kinds, func(k listed) bool { return k.Name == id || slices.Contains(k.Connected, id) })
		if i < 0 {
			return nil, fmt.Errorf("--board %s: there is no such board; benchrun board list has them", id)
		}
		kind := kinds[i]
		if err := f.refuses(kind); err != nil {
			return nil, fmt.Errorf("--board %s: %w", id, err)
		}
		one := f.AgentOptions
		one.Machine = fleet.MachineName(f.Machine + "-" + strings.ReplaceAll(id, ".", "-"))
		one.Board = &fleet.Board{Host: f.Machine, Kind: kind.Name, Chip: kind.Chip, Runs: kind.Runner}
		one.Carry = append(slices.Clone(one.Carry), "--board", id)
		if !kind.Emulated && f.hwmap != "" {
			one.Carry = append(one.Carry, "--map", f.hwmap)
		}
		all = append(all, one)
	}
	return all, nil
}

// listBoards asks benchrun which boards there are.
func (f *joinFlags) listBoards(ctx context.Context, benchrun string) (kinds []listed, err error) {
	args := []string{"board", "list", "--format", "json"}
	if f.hwmap != "" {
		if f.hwmap, err = filepath.Abs(f.hwmap); err != nil {
			return nil, err
		}
		args = append(args, "--map", f.hwmap)
	}
	out, err := exec.CommandContext(ctx, benchrun, args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("%s does not list its boards: %s", benchrun, exit.Stderr)
	}
	if err != nil {
		return nil, err
	}
	return kinds, json.Unmarshal(out, &kinds)
}

// usable are the boards that can take part.
func (f *joinFlags) usable(kinds []listed) (ids []string) {
	for _, k := range kinds {
		switch {
		case f.refuses(k) != nil:
		case k.Emulated:
			ids = append(ids, k.Name)
		default:
			ids = append(ids, k.Connected...)
		}
	}
	return ids
}

// refuses says why boards of a kind cannot take part.
func (f *joinFlags) refuses(k listed) error {
	switch {
	case !k.Sent:
		return errors.New("it is flashed from sources, and what is sent are images: run it with benchrun board run, here")
	case k.Unrunnable != "":
		return errors.New(k.Unrunnable)
	case !k.Emulated && !f.Sandbox.Off:
		return errors.New("it is reached by ssh, and jobs in a sandbox have no network: join with --sandbox=false, if all jobs are yours")
	}
	return nil
}
