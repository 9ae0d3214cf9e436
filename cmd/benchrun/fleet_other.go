//go:build !unix

package main

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/console"
)

// become runs the program, and returns its status. An interrupt from the console reaches both.
func become(cmd *cobra.Command, path string, args []string) error {
	signal.Ignore(os.Interrupt)
	other := exec.Command(path, args...)
	other.Stdin, other.Stdout, other.Stderr = cmd.InOrStdin(), console.Raw(cmd.OutOrStdout()), console.Raw(cmd.ErrOrStderr())
	err := other.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exitError(max(1, exit.ExitCode())) // it has said why
	}
	return err
}
