package fleet_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
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

	"github.com/dynolab/dyno/fleet"
	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/machinelock"
	"github.com/dynolab/dyno/internal/record"
)

// Five machines and a server are killed at random moments, another process measures on one of the
// machines by hand, messages come twice, and disks are full: each job has its results once, with
// every block once, and no machine has measured two things at a time. At night clocks jump, too,
// and what the server has not synced is lost when it is killed.
func TestStorm(t *testing.T) {
	s := storm{plans: 5, kills: 3}
	if os.Getenv("DYNO_NIGHTLY") != "" {
		s = storm{plans: 200, kills: 100, weather: true, programs: stormPrograms(t)}
	}
	s.seed = uint64(time.Now().UnixNano())
	if given, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		s.seed = given
	}
	t.Logf("SEED=%d", s.seed)
	for _, fault := range s.run(t) {
		t.Error(fault)
	}
}

// The checks of the storm find what they are for: programs that have one of these faults do not
// come through it.
func TestStormFinds(t *testing.T) {
	if os.Getenv("DYNO_NIGHTLY") == "" {
		t.Skip("it builds the programs anew for each fault: DYNO_NIGHTLY=1 runs it")
	}
	for _, c := range []struct {
		name, want string
		fault      change
	}{
		{
			"a file is not synced", "results",
			change{"collect.go", "temp.Chmod(0o644), temp.Sync(), temp.Close()", "temp.Chmod(0o644), temp.Close()"},
		},
		{
			"its name is not synced", "results",
			change{"collect.go", "return errors.Join(syncFolder(dir), syncFolder(k.folder))", "return nil"},
		},
		{
			"a result is acknowledged before it is stored", "forgotten",
			change{"collect.go", "\ts, err := k.keep(", "\t_ = m.DoubleAck(ctx)\n\ts, err := k.keep("},
		},
		{
			"a result that comes twice is stored twice", "results",
			change{"collect.go", "if there, err := os.ReadFile(path); err == nil {", "for {\n\t\tthere, err := os.ReadFile(path)\n\t\tif err != nil {\n\t\t\tbreak\n\t\t}\n\t\tpath += \"-again.bench\"\n\t\tcontinue\n"},
		},
		{
			"a machine is not locked", "at a time",
			change{"../internal/machinelock/machinelock.go", "\tcase filelock.Held:\n", "\tcase filelock.Held:\n\t\treturn &Lock{}, f.Close()\n"},
		},
		{
			"an order is acknowledged before there is a result", "forgotten",
			change{"work.go", "\tresult, err := t.do(ctx, processes)\n", "\t_ = m.DoubleAck(ctx)\n\tresult, err := t.do(ctx, processes)\n"},
		},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			programs := stormPrograms(t, c.fault)
			for seed := range uint64(5) {
				s := storm{plans: 40, kills: 30, seed: seed, weather: true, programs: programs, patience: 6}
				faults := s.run(t)
				t.Logf("seed %d: %d faults", seed, len(faults))
				if len(faults) > 0 && strings.Contains(strings.Join(faults, "\n"), c.want) {
					t.Log(faults[0])
					return
				}
			}
			t.Error("nothing was found in five storms")
		})
	}
}

// A storm is what a fleet of processes has to come through.
type storm struct {
	plans, kills int
	seed         uint64
	programs     string // the folder of those to run; "" is what the tests run
	weather      bool   // the programs are those of stormPrograms
	patience     int    // rounds of five seconds without any result; 0 is enough for a loaded machine

	t       *testing.T
	home    string
	log     *child.Buffer
	random  *rand.Rand
	network *echoes
	server  *proc
	agents  []*proc
	jobs    []sent

	mu     sync.Mutex
	faults []string
}

// stormBlocks is how many blocks each plan of a storm has.
const stormBlocks = 3

// sent is a job that was sent.
type sent struct{ machine, id, folder string }

// A proc is a process of the fleet that is killed and started again.
type proc struct {
	path      string
	args, env []string
	cmd       *exec.Cmd
}

func (p *proc) start(log *child.Buffer) error {
	p.cmd = exec.Command(p.path, p.args...)
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), p.env...), log
	return p.cmd.Start()
}

func (p *proc) kill() { _ = p.cmd.Process.Kill(); _ = p.cmd.Wait() }

func (s *storm) fault(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// run lets the storm go over a fleet and returns what went wrong.
func (s *storm) run(t *testing.T) (faults []string) {
	s.t, s.home, s.log = t, t.TempDir(), new(child.Buffer)
	s.random = rand.New(rand.NewPCG(s.seed, 1))
	if s.programs == "" {
		s.programs = programs(t)
	}
	if s.patience == 0 {
		s.patience = 24
	}
	t.Setenv(fleet.HomeEnv, s.home)
	s.lay()
	for _, p := range s.all() {
		if err := p.start(s.log); err != nil {
			t.Fatal(err)
		}
		defer func() { p.kill() }()
	}
	client := s.reach()
	defer client.Close()
	s.submit(client)

	over, end := context.WithCancel(t.Context())
	var beside sync.WaitGroup
	rest := make(chan struct{})
	beside.Go(func() { defer close(rest); s.submitRest(over, client) })
	beside.Go(func() { s.byHand(over) })
	beside.Go(func() { s.fillDisks(over) })
	seen := &sightings{has: make(map[string]bool)}
	beside.Go(func() { seen.watch(over, client, s.jobs, s.seed) })
	s.strike(seen)
	<-rest // what has not been sent yet would be taken for forgotten
	s.check(client, seen)
	end()
	beside.Wait()
	seen.check(s)
	for _, p := range s.agents {
		s.checkAlone(p.history())
	}
	if len(s.faults) > 0 || os.Getenv("STORM_LOG") != "" {
		t.Log(s.log)
	}
	t.Logf("%d plans, %d kills, %d messages twice, %d sights of results, %d processes measured; %d files were lost with the server's power",
		s.plans, s.kills, s.network.doubled.Load(), len(seen.all), s.begun(), lostFiles.Swap(0))
	return s.faults
}

// lay makes the processes of the fleet, and the network between them.
func (s *storm) lay() {
	address, behind := freeAddress(s.t), freeAddress(s.t)
	const lease = "BENCHFLEET_LEASE=2s"
	for _, dir := range []struct {
		name string
		size int // MB
	}{{"results", 4}, {"store", 64}, {"agent-m1", 48}} {
		mountSmall(s.t, filepath.Join(s.home, dir.name), dir.size)
	}
	results := filepath.Join(s.home, "results")
	program := filepath.Join(s.programs, "benchfleet")
	s.server = &proc{path: program, args: []string{"serve", "--listen", behind}, env: []string{lease, "STORM_RESULTS=" + results, "STORM_CLOCK=0"}}
	for m := range 5 {
		name := fmt.Sprintf("m%d", m+1)
		s.agents = append(s.agents, &proc{
			path: program, args: []string{"join", "--name", name, "--sandbox=false", "--server", "nats://" + address},
			env: []string{
				lease, fmt.Sprintf("STORM_CLOCK=%d", m+1), "HISTORY=" + filepath.Join(s.home, "history-"+name),
				machinelock.Env + "=" + filepath.Join(s.home, "lock-"+name),
			},
		})
	}
	s.network = newEchoes(s.t, address, behind, s.seed)
}

func (s *storm) all() []*proc { return append([]*proc{s.server}, s.agents...) }

// history is where what an agent has measured notes when it ran.
func (p *proc) history() string { return strings.TrimPrefix(p.env[2], "HISTORY=") }

// freeAddress is one on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// reach connects as soon as there is a fleet.
func (s *storm) reach() *fleet.Client {
	c := insist(s.t, func() (*fleet.Client, error) { return fleet.Connect(fleet.Options{Home: s.home, URL: s.network.url()}) })
	insist(s.t, func() (*fleet.Status, error) { return c.Status(s.t.Context()) })
	return c
}

// insist tries again while the server is away.
func insist[T any](t *testing.T, try func() (T, error)) T {
	t.Helper()
	var v T
	var err error
	for range patience {
		if v, err = try(); err == nil {
			return v
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal(err)
	return v
}

// submit sends the plans: half of them before anything is killed, and the others in the storm.
func (s *storm) submit(client *fleet.Client) {
	for i := range s.plans {
		folder := newJob(s.t, stormBlocks, uint64(i), "X")
		s.jobs = append(s.jobs, sent{fmt.Sprintf("m%d", i%len(s.agents)+1), jobID(s.t, folder), folder})
	}
	for _, j := range s.jobs[:s.plans/2] {
		if _, err := client.Submit(s.t.Context(), j.folder, j.machine, nil); err != nil {
			s.t.Fatal(err)
		}
	}
}

// submitRest is the other half, while the server goes and comes.
func (s *storm) submitRest(ctx context.Context, client *fleet.Client) {
	for _, j := range s.jobs[s.plans/2:] {
		if _, err := client.Submit(ctx, j.folder, j.machine, nil); err != nil && ctx.Err() == nil {
			s.fault("job %.12s could not be sent to %s: %v", j.id, j.machine, err)
		}
	}
}

// strike kills, and starts again, at random moments; the server a third of the time. The kills are
// spread over the plans, however fast the machine is, as long as these go on.
func (s *storm) strike(seen *sightings) {
	for n := range s.kills {
		time.Sleep(time.Duration(s.random.IntN(800)) * time.Millisecond)
		for rounds := 0; rounds < 50 && seen.stored()*s.kills < (n-5)*s.plans; rounds++ {
			time.Sleep(100 * time.Millisecond)
		}
		p := s.server
		if n > 0 && s.random.IntN(3) > 0 {
			p = s.agents[s.random.IntN(len(s.agents))]
		}
		p.kill()
		if p == s.server && s.weather {
			if err := losePower(filepath.Join(s.home, "results")); err != nil {
				s.fault("%v", err)
			}
		}
		if err := p.start(s.log); err != nil {
			s.fault("%v", err)
		}
	}
}

// byHand measures on the first machine as a person would, beside its agent.
func (s *storm) byHand(ctx context.Context) {
	folder := newJob(s.t, stormBlocks, 1<<40, "X")
	for n := 0; ctx.Err() == nil; n++ {
		cmd := exec.Command(filepath.Join(s.programs, "benchrun"), "carry", "--machine", "m1", "--work", s.t.TempDir(), "--out", filepath.Join(s.t.TempDir(), "by-hand.bench"), folder)
		cmd.Env, cmd.Stderr = append(os.Environ(), s.agents[0].env...), s.log
		if err := cmd.Run(); err != nil {
			s.fault("measuring by hand: %v", err)
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// fillDisks fills a disk now and then: that of results, of the server's store, of an agent.
func (s *storm) fillDisks(ctx context.Context) {
	random := rand.New(rand.NewPCG(s.seed, 2))
	dirs := []string{"results", "store", "agent-m1"}
	if !canMount() {
		return
	}
	for ctx.Err() == nil {
		path := filepath.Join(s.home, dirs[random.IntN(len(dirs))], "filler")
		fill(path)
		time.Sleep(time.Duration(random.IntN(2000)) * time.Millisecond)
		_ = os.Remove(path)
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(random.IntN(3000)) * time.Millisecond):
		}
	}
}

// check waits until it is known of all jobs what became of them, and looks at that.
func (s *storm) check(client *fleet.Client, seen *sightings) {
	for _, j := range s.jobs {
		stored := s.known(client, j, seen)
		if stored == nil {
			s.fault("what became of job %.12s on %s is never known", j.id, j.machine)
			return // of none, probably
		}
		if stored.Outcome != fleet.Done {
			s.fault("job %.12s on %s: %+v", j.id, j.machine, stored)
			continue
		}
		s.checkOnce(j, stored)
	}
	files, err := filepath.Glob(filepath.Join(s.home, "results", "*", "*"))
	if err != nil || len(files) != s.plans {
		s.fault("%d jobs have %d results, %v", s.plans, len(files), err)
	}
}

// known waits for what became of a job, nil if nothing becomes known of any job for long. It is
// counted in rounds: a machine that stands still in between loses one of them.
func (s *storm) known(client *fleet.Client, j sent, seen *sightings) *fleet.Stored {
	for before, quiet := seen.stored(), 0; quiet < s.patience; quiet++ {
		ctx, cancel := context.WithTimeout(s.t.Context(), 5*time.Second)
		stored, err := client.Wait(ctx, j.machine, j.id, func(string) {})
		if errors.Is(err, fleet.ErrForgotten) {
			s.fault("job %.12s on %s was forgotten, and is sent again", j.id, j.machine)
			_, _ = client.Submit(ctx, j.folder, j.machine, nil) // if in vain, the next round is told of it again
		} else if err == nil {
			cancel()
			return stored
		}
		cancel()
		time.Sleep(50 * time.Millisecond)
		if now := seen.stored(); now > before {
			before, quiet = now, 0
		}
	}
	return nil
}

// checkOnce checks that a results file is whole, the one that was said to be stored, and has a
// result of each block.
func (s *storm) checkOnce(j sent, stored *fleet.Stored) {
	path := filepath.Join(s.home, "results", stored.File)
	data, err := os.ReadFile(path)
	if err != nil {
		s.fault("the results are gone: %v", err)
		return
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != stored.SHA256 {
		s.fault("the results of job %.12s are not those that were stored: %d bytes", j.id, len(data))
	}
	if _, err := record.Complete(path, data); err != nil {
		s.fault("the results: %v", err)
	}
	seen := make(map[string]int)
	f := record.Read(path, data)
	for _, r := range f.Results {
		seen[r.Result.GetConfig("block")]++
	}
	for _, h := range f.Holes {
		s.fault("%s lacks a result: %v", path, h.Hole)
	}
	if len(f.Results) != stormBlocks || len(seen) != stormBlocks {
		s.fault("%s has results of the blocks %v", path, seen)
	}
}
