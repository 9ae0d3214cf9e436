package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/fleet"
)

func newKey(c *common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "key", Short: "Show this user's public key, and let others in", Args: cobra.NoArgs,
		Long: `Each user has a key, which is made when it is first needed. Its public part, which begins
with U, is how a server lets a user in (key allow, there), and how a machine knows whose
orders to carry out (join --allow).`,
		Example: "  benchfleet key\n  benchfleet key allow agent UABC… epyc-1\n  benchfleet key allow sender UDEF…\n  benchfleet key tls lab.example 192.0.2.7",
		RunE: func(cmd *cobra.Command, _ []string) error {
			key, err := fleet.OwnKey(c.Home)
			if err == nil {
				fmt.Fprintln(cmd.OutOrStdout(), key.Public)
			}
			return err
		},
	}
	cmd.AddCommand(&cobra.Command{
		Use: "allow <agent|sender|owner> <key> [machine]", Short: "Let a key in to the server of this user", Args: cobra.RangeArgs(2, 3),
		Example: "  benchfleet key allow agent UABC… epyc-1\n  benchfleet key allow sender UDEF…",
		RunE: func(cmd *cobra.Command, args []string) error {
			g := fleet.Grant{Role: args[0], Key: args[1]}
			if len(args) > 2 {
				g.Machine = args[2]
			} else if g.Role == fleet.RoleAgent {
				return errors.New("an agent is let in for one machine: name it")
			}
			if err := fleet.Allow(c.Home, g); err != nil {
				return err
			}
			fmt.Fprintln(cmd.ErrOrStderr(), "a server that runs takes it in at a hangup (kill -HUP), or when it is started again")
			return nil
		},
	}, &cobra.Command{
		Use: "tls <name or address>...", Short: "Make a certificate for a server that others reach", Args: cobra.MinimumNArgs(1),
		Example: "  benchfleet key tls lab.example 192.0.2.7",
		RunE: func(cmd *cobra.Command, args []string) error {
			cert, key, err := fleet.MakeCertificate(c.Home, args)
			if err == nil {
				fmt.Fprintf(cmd.OutOrStdout(), "benchfleet serve --listen 0.0.0.0:4750 --cert %s --key %s\n", cert, key)
				fmt.Fprintf(cmd.ErrOrStderr(), "copy %s to who connects, for --ca\n", cert)
			}
			return err
		},
	})
	return cmd
}
