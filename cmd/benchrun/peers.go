package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/peers"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/runner"
)

func newPeersCmd() *cobra.Command {
	cmd := newCommand("peers", func(cmd *cobra.Command, _ []string) error { return cmd.Help() })
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("unknown command %q of peers; benchrun peers --help has the list", args[0])
		}
		return nil
	}
	cmd.AddCommand(newPeersListCmd(), newPeersBuildCmd(), newPeersRunCmd())
	return cmd
}

// programs returns the named programs of the checkout that the working directory is in.
func programs(ctx context.Context, names []string) ([]peers.Peer, error) {
	root, err := runner.Checkout(ctx)
	if err != nil {
		return nil, err
	}
	all, err := peers.All(root)
	if err != nil {
		return nil, err
	}
	return peers.Named(all, names)
}

// listedPeer is a program in list's JSON.
type listedPeer struct {
	Column   string `json:"column"`
	Title    string `json:"title"`
	Language string `json:"language"`
	Built    bool   `json:"built"`
	Install  string `json:"install,omitempty"` // the command that installs what is missing
}

func (p listedPeer) state() string {
	switch {
	case p.Install != "":
		return "missing: " + p.Install
	case p.Built:
		return "built"
	}
	return "can be built"
}

func newPeersListCmd() *cobra.Command {
	format := "text"
	return newCommand("peers_list", func(cmd *cobra.Command, args []string) error {
		some, err := programs(cmd.Context(), args)
		if err != nil {
			return err
		}
		var list []listedPeer
		for _, p := range some {
			list = append(list, listedPeer{p.Column(), p.Title, p.Language, p.Built(), p.Install()})
		}
		if format == "json" {
			return report.WriteJSON(cmd.OutOrStdout(), list)
		}
		w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
		for _, p := range list {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Column, p.Language, p.state(), p.Title)
		}
		return w.Flush()
	}, fields{"format": &format})
}

func newPeersBuildCmd() *cobra.Command {
	return newCommand("peers_build", func(cmd *cobra.Command, args []string) error {
		some, err := programs(cmd.Context(), args)
		if err != nil {
			return err
		}
		_, err = buildPeers(cmd.Context(), cmd.ErrOrStderr(), some, true)
		return err
	})
}

// buildPeers builds the programs of those that can be built, or with anew of all those, and
// returns where they lie. It goes on behind one that does not build.
func buildPeers(ctx context.Context, w io.Writer, some []peers.Peer, anew bool) (paths []string, err error) {
	for _, p := range some {
		if install := p.Install(); install != "" {
			fmt.Fprintf(w, "%s is skipped: %s\n", p.Column(), install)
			continue
		}
		if anew || !p.Built() {
			fmt.Fprintf(w, "building %s\n", p.Column())
			if one := p.MakeProgram(ctx); one != nil {
				if ctx.Err() != nil {
					return paths, one
				}
				err = errors.Join(err, one)
				continue
			}
		}
		paths = append(paths, p.Program())
	}
	return paths, err
}

func newPeersRunCmd() *cobra.Command {
	c := defaultRun()
	return newCommand("peers_run", func(cmd *cobra.Command, args []string) error {
		if c.Resume == "" {
			some, err := programs(cmd.Context(), args)
			if err != nil {
				return err
			}
			files, err := buildPeers(cmd.Context(), cmd.ErrOrStderr(), some, false)
			if err != nil {
				return err
			}
			for i, file := range files {
				files[i] = fromHere(file)
			}
			c.Packages = append([]string{fromHere(some[0].Folder())}, record.Files{Programs: files}.Marked()...)
		}
		return measureRun(cmd, "benchrun peers run", c, "", false)
	}, configFields(&c))
}

// fromHere is a path as one types it in the working directory, as results are to have it: it
// means the same in every checkout.
func fromHere(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	rel, err := filepath.Rel(wd, path)
	if err != nil {
		return path
	}
	return "." + string(filepath.Separator) + rel
}
