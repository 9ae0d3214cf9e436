package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"benchrun": func() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScript runs the command as a user does; see testdata/script.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			// Scripts that compile share the user's build cache: filling one of
			// their own takes minutes.
			out, err := exec.Command("go", "env", "GOCACHE").Output()
			if err != nil {
				return fmt.Errorf("go env GOCACHE: %w", err)
			}
			env.Setenv("GOCACHE", strings.TrimSpace(string(out)))
			return nil
		},
	})
}
