package fleet_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/dynolab/dyno/fleet"
)

// A step is the begin or the end of a process that was measured, or that it found another one
// running, by a lock that the kernel takes from a process that ends in whatever way.
type step struct {
	what string
	pid  int
}

// alone is a machine that measures one thing at a time: its state is which, 0 for nothing.
var alone = porcupine.Model{
	Init: func() any { return 0 },
	Step: func(state, input, _ any) (bool, any) {
		s, holds := input.(step), state.(int)
		switch s.what {
		case "begin":
			return holds == 0, s.pid
		case "end":
			return holds == s.pid, 0
		}
		return false, holds
	},
}

// operations reads a history. A process that was killed has no end on record: it may have ended
// at any time after its begin.
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
		switch what {
		case "begin":
			begun++
			open[pid] = at
		case "end":
			delete(open, pid)
		}
		ops = append(ops, porcupine.Operation{Input: step{what, pid}, Call: at, Return: at})
	}
	for pid, at := range open {
		ops = append(ops, porcupine.Operation{Input: step{"end", pid}, Call: at + 1, Return: math.MaxInt64})
	}
	return ops, begun
}

// The check finds two that overlap, and ignores one that was killed.
func TestCheckAlone(t *testing.T) {
	for text, want := range map[string]bool{
		"begin 1 10\nend 1 20\nbegin 2 30\nend 2 40\n": true,
		"begin 1 10\nbegin 2 30\nend 2 40\n":           true, // 1 was killed
		"begin 1 10\nbegin 2 15\nend 1 20\nend 2 40\n": false,
		"begin 1 10\nbeside 2 15\nbegin 2 15\n":        false, // 1 still ran
	} {
		ops, _ := operations(t, text)
		if got := porcupine.CheckOperations(alone, ops); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// checkAlone checks the history of a machine.
func (s *storm) checkAlone(path string) {
	data, err := os.ReadFile(path)
	if err != nil {
		s.fault("nothing was measured: %v", err)
		return
	}
	ops, begun := operations(s.t, string(data))
	switch {
	case porcupine.CheckOperations(alone, ops) != true:
		s.fault("%s: two things were measured at a time:\n%s", path, data)
	case begun == 0:
		s.fault("%s: nothing was measured", path)
	}
}

// begun counts what was measured on all machines.
func (s *storm) begun() (n int) {
	for _, p := range s.agents {
		data, _ := os.ReadFile(p.history()) // checkAlone says if there is none
		_, begun := operations(s.t, string(data))
		n += begun
	}
	return n
}

// sightings are what was seen of jobs.
type sightings struct {
	mu  sync.Mutex
	all []porcupine.Operation
	has map[string]bool // jobs that have results
}

// watch looks at one job after another, at random, until ctx ends.
func (s *sightings) watch(ctx context.Context, client *fleet.Client, jobs []sent, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 4))
	start := time.Now()
	for ctx.Err() == nil {
		j := jobs[random.IntN(len(jobs))]
		call := time.Since(start).Nanoseconds()
		stored, err := client.Stored(ctx, j.machine, j.id)
		if err == nil {
			s.add(porcupine.Operation{Input: j.id, Output: digest(stored), Call: call, Return: time.Since(start).Nanoseconds()})
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func digest(s *fleet.Stored) string {
	if s == nil {
		return ""
	}
	return s.Outcome + " " + s.SHA256
}

func (s *sightings) add(o porcupine.Operation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, o)
	if o.Output != "" {
		s.has[o.Input.(string)] = true
	}
}

// stored counts the jobs that have results.
func (s *sightings) stored() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.has)
}

// once is a job: its results are there from some moment on, and never other ones.
var once = porcupine.Model{
	Partition: func(history []porcupine.Operation) (parts [][]porcupine.Operation) {
		at := make(map[any]int)
		for _, o := range history {
			i, ok := at[o.Input]
			if !ok {
				i, at[o.Input] = len(parts), len(parts)
				parts = append(parts, nil)
			}
			parts[i] = append(parts[i], o)
		}
		return parts
	},
	Init: func() any { return "" },
	Step: func(state, _, output any) (bool, any) {
		return state == "" || state == output, output
	},
}

// check checks what was seen.
func (s *sightings) check(of *storm) {
	if !porcupine.CheckOperations(once, s.all) {
		of.fault("the results of a job were taken back, or are others now")
	}
}

// The check finds results that go, and others in their place.
func TestCheckOnce(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "a": true, "- - a a": true, "a -": false, "- a b": false, "a b": false,
	} {
		var ops []porcupine.Operation
		for i, saw := range strings.Fields(text) {
			ops = append(ops, porcupine.Operation{Input: "job", Output: strings.Trim(saw, "-"), Call: int64(2 * i), Return: int64(2*i + 1)})
		}
		if got := porcupine.CheckOperations(once, ops); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
