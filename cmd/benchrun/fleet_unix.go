//go:build unix

package main

import (
	"os"
	"syscall"

	"github.com/spf13/cobra"
)

// become makes this process the program: signals, from the terminal or sent to this process,
// reach it once, and its status is this one's. It returns only if that fails.
func become(_ *cobra.Command, path string, args []string) error {
	return syscall.Exec(path, append([]string{path}, args...), os.Environ())
}
