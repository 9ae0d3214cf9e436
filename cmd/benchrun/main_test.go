package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dynolab/dyno/internal/barepath"
	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/machinelock"
	"github.com/dynolab/dyno/internal/testbin"
)

func TestMain(m *testing.M) {
	if os.Getenv(machinelock.Env) == "" { // tests do not wait for who measures on this machine
		if err := os.Setenv(machinelock.Env, machinelock.Off); err != nil {
			panic(err)
		}
	}
	testscript.Main(m, map[string]func(){
		"benchrun": func() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
		"act":      func() { os.Exit(act(os.Args[1:])) },
		"firmware": func() { os.Exit(playBoard(os.Args[1], os.Stdin, os.Stdout, os.Getenv("PLAY"))) },
		"spin": func() {
			for range runtime.NumCPU() { // so that it is a part of the machine that counts
				go func() {
					for n := new(atomic.Int64); ; {
						n.Add(1)
					}
				}()
			}
			select {}
		},
	})
}

// TestScript runs the command as a user does; see testdata/script. A script has of this
// machine's programs those of a bare PATH, and those of its conditions; [releases] is that the
// known releases of Go can be fetched: one that needs
// qemu-arm has a line with [exec:qemu-arm] or [!exec:qemu-arm]. What waits for time limits
// or looks at the machine has [!nightly]: make nightly runs it.
func TestScript(t *testing.T) {
	cache, modules := goCache(t), goEnv(t, "GOMODCACHE")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	const dir = "testdata/script"
	testscript.Run(t, testscript.Params{
		Dir: dir,
		Condition: func(name string) (bool, error) {
			switch name {
			case "nightly":
				return os.Getenv("DYNO_NIGHTLY") != "", nil
			case "releases":
				return fetchesReleases(), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Setup: func(env *testscript.Env) error {
			name := strings.TrimPrefix(filepath.Base(env.WorkDir), "script-")
			path, err := scriptPath(t.TempDir(), filepath.Join(dir, name+".txtar"))
			if err != nil {
				return err
			}
			env.Setenv("PATH", path)
			env.Setenv("GOCACHE", cache)
			env.Setenv("GOFLAGS", goFlags)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "cache")) // of test binaries
			env.Setenv(machinelock.Env, machinelock.Off)
			env.Setenv("DYNO", root) // the checkout, for what is built from it
			env.Setenv("OLD_GO", testbin.KnownReleases[0])
			env.Setenv("NEW_GO", testbin.KnownReleases[1])
			env.Setenv("MODCACHE", modules) // where fetched toolchains are
			return nil
		},
	})
}

// goFlags are the flags of the go command that tests of commands that link have. What only
// debuggers read, which they leave out, takes half the time of linking.
const goFlags = "-ldflags=-s"

// execCondition is a condition of a script, and in parentheses the program that it asks for.
var execCondition = regexp.MustCompile(`\[!?exec:([^\]]+)\]`)

// scriptPath returns the PATH of a script: benchrun and the other commands of TestMain, a
// bare PATH, and the programs that the script asks for. It makes it in the empty folder dir.
func scriptPath(dir, script string) (string, error) {
	text, err := os.ReadFile(script)
	if err != nil {
		return "", err
	}
	var named []string
	for _, m := range execCondition.FindAllSubmatch(text, -1) {
		named = append(named, string(m[1]))
	}
	bare, err := barepath.Make(dir, named...)
	if err != nil {
		return "", err
	}
	benchrun, err := exec.LookPath("benchrun")
	if err != nil {
		return "", err
	}
	return filepath.Dir(benchrun) + string(os.PathListSeparator) + bare, nil
}

// goCache returns the user's build cache. Tests that compile share it: filling
// one of their own takes minutes.
func goCache(t *testing.T) string { return goEnv(t, "GOCACHE") }

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatalf("go env %s: %v", name, err)
	}
	return strings.TrimSpace(string(out))
}

// fetchesReleases reports whether the go command has the known releases of Go, or can fetch them.
var fetchesReleases = sync.OnceValue(func() bool {
	for _, release := range testbin.KnownReleases {
		cmd := exec.Command("go", "version")
		cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+release)
		if said, err := cmd.Output(); err != nil || !strings.Contains(string(said), release) {
			return false
		}
	}
	return true
})

// act runs a command, does something to it while it runs, and prints its exit
// status:
//
//	act step... -- command args...
//
// The steps are done in turn: wait=file waits until a file is there,
// said=regexp until the command has said so on standard error, touch=file makes
// a file, and INT, TERM and KILL are sent to the command.
func act(args []string) int {
	var steps []string
	for len(args) > 0 && args[0] != "--" {
		steps, args = append(steps, args[0]), args[1:]
	}
	if len(args) < 2 {
		fmt.Fprintln(os.Stderr, "act: no command")
		return 1
	}
	cmd := exec.Command(args[1], args[2:]...)
	var said child.Buffer
	cmd.Stdout, cmd.Stderr = os.Stdout, io.MultiWriter(os.Stderr, &said)
	cmd.WaitDelay = time.Minute // a killed command may leave a child with its pipe
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "act:", err)
		return 1
	}
	for _, step := range steps {
		var err error
		switch what, arg, _ := strings.Cut(step, "="); what {
		case "wait":
			err = until(func() bool { _, err := os.Stat(arg); return err == nil })
		case "said":
			re := regexp.MustCompile(arg)
			err = until(func() bool { return re.MatchString(said.String()) })
		case "touch":
			err = os.WriteFile(arg, nil, 0o644)
		case "INT":
			err = cmd.Process.Signal(os.Interrupt)
		case "TERM":
			err = cmd.Process.Signal(syscall.SIGTERM)
		case "KILL":
			err = cmd.Process.Kill()
		default:
			err = fmt.Errorf("unknown")
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "act: step %s: %v\n", step, err)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			return 1
		}
	}
	_ = cmd.Wait() // the status says it
	fmt.Printf("status %d\n", cmd.ProcessState.ExitCode())
	return 0
}

// until waits for a condition in another process. It gives up after some minutes.
func until(ok func() bool) error {
	for end := time.Now().Add(10 * time.Minute); !ok(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			return fmt.Errorf("not after ten minutes")
		}
	}
	return nil
}
