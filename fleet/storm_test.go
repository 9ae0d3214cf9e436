package fleet_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/dynolab/dyno/fleet"
	"github.com/dynolab/dyno/internal/machinelock"
	"github.com/dynolab/dyno/internal/record"
)

// A proc is a process of the fleet that is killed and started again.
type proc struct {
	args, env []string
	cmd       *exec.Cmd
}

func (p *proc) start(t *testing.T, log *said) {
	t.Helper()
	p.cmd = exec.Command(filepath.Join(programs(t), "benchfleet"), p.args...)
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), p.env...), log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
}

func (p *proc) kill() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() }

// Five machines and a server are killed at random moments, and orders and results come twice:
// each job has its results once, with every block once, and no machine has measured two things
// at a time.
func TestStorm(t *testing.T) {
	plans, kills, blocks := 10, 5, 3
	if os.Getenv("DYNO_NIGHTLY") != "" {
		plans, kills = 200, 100
	}
	const machines = 5
	home, log := t.TempDir(), new(said)
	t.Setenv(fleet.HomeEnv, home)
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	lease := "BENCHFLEET_LEASE=2s"
	all := []*proc{{args: []string{"serve", "--listen", address}, env: []string{lease}}}
	history := func(m int) string { return filepath.Join(home, fmt.Sprintf("history-m%d", m)) }
	for m := range machines {
		all = append(all, &proc{
			args: []string{"join", "--name", fmt.Sprintf("m%d", m), "--sandbox=false", "--server", "nats://" + address},
			env:  []string{lease, "HISTORY=" + history(m), machinelock.Env + "=" + filepath.Join(home, fmt.Sprintf("lock-m%d", m))},
		})
	}
	for _, p := range all {
		p.start(t, log)
		defer func() { p.kill() }()
	}
	client := reach(t, home, "nats://"+address)
	defer client.Close()
	type sent struct{ machine, id string }
	jobs := make([]sent, plans)
	for i := range jobs {
		machine := fmt.Sprintf("m%d", i%machines)
		folder := newJob(t, blocks, uint64(i), "X")
		jobs[i] = sent{machine, insist(t, func() (string, error) { return client.Submit(t.Context(), folder, machine, nil) })}
	}
	var storm sync.WaitGroup
	storm.Go(func() {
		for n := range kills {
			time.Sleep(time.Duration(random.IntN(600)) * time.Millisecond)
			p := all[random.IntN(len(all))]
			if n == 0 {
				p = all[0] // the server at least once
			}
			p.kill()
			p.start(t, log)
			j := jobs[random.IntN(len(jobs))]
			_ = client.Again(j.machine, j.id, nil)
		}
	})
	storm.Wait()
	for _, j := range jobs {
		s := insist(t, func() (*fleet.Stored, error) { return client.Wait(t.Context(), j.machine, j.id, func(string) {}) })
		if s.Outcome != fleet.Done {
			t.Errorf("job %.12s on %s: %+v", j.id, j.machine, s)
			continue
		}
		checkOnce(t, filepath.Join(home, "results", s.File), blocks)
	}
	files, err := filepath.Glob(filepath.Join(home, "results", "*", "*.bench"))
	if err != nil || len(files) != plans {
		t.Errorf("%d jobs have %d results, %v", plans, len(files), err)
	}
	for m := range machines {
		checkAlone(t, history(m))
	}
	if t.Failed() {
		t.Log(log)
	}
}

// reach connects as soon as there is a fleet.
func reach(t *testing.T, home, url string) *fleet.Client {
	t.Helper()
	c := insist(t, func() (*fleet.Client, error) { return fleet.Connect(fleet.Options{Home: home, URL: url}) })
	insist(t, func() (*fleet.Status, error) { return c.Status(t.Context()) })
	return c
}

// insist tries again while the server is away.
func insist[T any](t *testing.T, try func() (T, error)) T {
	t.Helper()
	deadline := time.Now().Add(5 * time.Minute)
	for {
		v, err := try()
		if err == nil {
			return v
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// checkOnce checks that a results file is whole, and has a result of each block.
func checkOnce(t *testing.T, path string, blocks int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	if _, err := record.Complete(path, data); err != nil {
		t.Error(err)
	}
	f := record.Read(path, data)
	seen := make(map[string]int)
	for _, r := range f.Results {
		seen[r.Result.GetConfig("block")]++
	}
	if len(f.Results) != blocks || len(seen) != blocks {
		t.Errorf("%s has results of the blocks %v", path, seen)
	}
}

// A step is the begin or the end of a process that was measured.
type step struct {
	begin bool
	pid   int
}

// alone is a machine that measures one thing at a time: its state is which, 0 for nothing.
var alone = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, input, _ any) (bool, any) {
		s, holds := input.(step), state.(int)
		if s.begin {
			return holds == 0, s.pid
		}
		return holds == s.pid, 0
	},
}

// checkAlone checks the history of a machine. A process that was killed has no end on record: it
// may have ended at any time after its begin.
func checkAlone(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return
	}
	ops, begun := operations(t, string(data))
	if porcupine.CheckOperations(alone, ops) != true {
		t.Errorf("%s: two things were measured at a time:\n%s", path, data)
	}
	if begun == 0 {
		t.Errorf("%s: nothing was measured", path)
	}
}

// operations reads a history.
func operations(t *testing.T, text string) (ops []porcupine.Operation, begun int) {
	t.Helper()
	open := make(map[int]int64)
	for line := range strings.Lines(text) {
		var what string
		var pid int
		var at int64
		if n, err := fmt.Sscanf(line, "%s %d %d", &what, &pid, &at); n != 3 {
			t.Fatalf("%q: %v", line, err)
		}
		if what == "begin" {
			begun++
			open[pid] = at
		} else {
			delete(open, pid)
		}
		ops = append(ops, porcupine.Operation{ClientId: pid, Input: step{what == "begin", pid}, Call: at, Return: at})
	}
	for pid, at := range open {
		ops = append(ops, porcupine.Operation{ClientId: pid, Input: step{false, pid}, Call: at + 1, Return: math.MaxInt64})
	}
	return ops, begun
}

// The check finds two that overlap, and forgives one that was killed.
func TestCheckAlone(t *testing.T) {
	for text, want := range map[string]bool{
		"begin 1 10\nend 1 20\nbegin 2 30\nend 2 40\n": true,
		"begin 1 10\nbegin 2 30\nend 2 40\n":           true, // 1 was killed
		"begin 1 10\nbegin 2 15\nend 1 20\nend 2 40\n": false,
	} {
		ops, _ := operations(t, text)
		if got := porcupine.CheckOperations(alone, ops); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
