package fleet_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dynolab/dyno/fleet"
	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/jobs"
	"github.com/dynolab/dyno/internal/machinelock"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/runner"
)

// built are the programs that tests run, made once.
var built struct {
	once   sync.Once
	dir    string
	err    error
	folder string // of a job's binary: see newJob
}

// programs builds benchrun, benchfleet and the test binary of jobs.
func programs(t testing.TB) (dir string) {
	t.Helper()
	built.once.Do(func() {
		built.dir, built.err = os.MkdirTemp("", "benchfleet-test-")
		if built.err != nil {
			return
		}
		run := func(dir, name string, args ...string) {
			cmd := exec.Command(name, args...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				built.err = errors.Join(built.err, fmt.Errorf("%s %v: %w\n%s", name, args, err, out))
			}
		}
		run("..", "go", "build", "-o", built.dir+"/", "./cmd/benchrun")
		run(".", "go", "build", "-o", built.dir+"/", "./cmd/benchfleet")
		run("testdata/job", "go", "test", "-c", "-o", filepath.Join(built.dir, "job.test"), ".")
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.dir
}

// TestMain is also what a sandbox begins with, as in benchfleet.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == fleet.InsideCommand {
		fmt.Fprintln(os.Stderr, fleet.Inside(os.Args[2:]))
		os.Exit(1)
	}
	status := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(status)
}

// newJob packs a job of so many blocks of one benchmark, which differs from others by seed.
func newJob(t testing.TB, blocks int, seed uint64, bench string) (folder string) {
	t.Helper()
	return packJob(t, blocks, seed, []string{bench}, "")
}

// packJob is newJob for several benchmarks, which find the folder data as their testdata.
func packJob(t testing.TB, blocks int, seed uint64, benchs []string, data string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	p, err := jobs.NewPacker(folder)
	if err != nil {
		t.Fatal(err)
	}
	const pkg = "example.com/job"
	binary := jobs.Binary{Pkg: pkg, Undrivable: "not built for it"}
	if binary.Image, err = p.File(filepath.Join(programs(t), "job.test")); err == nil && data != "" {
		binary.Folder, err = p.Folder(data)
	}
	if err != nil {
		t.Fatal(err)
	}
	plan := &record.Plan{
		CPU: []int{1}, Blocks: blocks, Time: "1x", Seed: seed, Timeout: 20 * time.Minute,
		Packages: []string{"."}, Bench: ".", Subjects: map[string]string{pkg: binary.Image},
	}
	for _, b := range benchs {
		plan.Cases = append(plan.Cases, record.Case{Pkg: pkg, Name: "Benchmark" + b})
	}
	_, err = p.Finish(&jobs.Job{
		Title: fmt.Sprintf("run %s %d", benchs[0], seed), Name: fmt.Sprintf("run-%d", seed), Platform: runtime.GOOS + "/" + runtime.GOARCH, Plan: plan.Encode(),
		Expected: time.Second, Binaries: []jobs.Binary{binary},
	})
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

// A lab is a fleet of a test: a server, its collector, and what is said.
type lab struct {
	t       testing.TB
	home    string
	results string
	client  *fleet.Client
	server  *fleet.Server
	said    *child.Buffer
}

// newLab starts a fleet in this process, for this user on this machine.
func newLab(t testing.TB) *lab {
	t.Helper()
	l := startLab(t, fleet.ServerOptions{Home: t.TempDir(), Listen: "127.0.0.1:0"})
	l.collect()
	return l
}

func startLab(t testing.TB, o fleet.ServerOptions) *lab {
	t.Helper()
	l := &lab{t: t, home: o.Home, said: new(child.Buffer)}
	l.results = filepath.Join(l.home, "results")
	if err := os.Mkdir(l.results, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(machinelock.Env, filepath.Join(l.home, "machine.lock"))
	var err error
	if l.server, err = fleet.Start(o); err != nil {
		t.Fatal(err)
	}
	if l.client, err = fleet.Connect(fleet.Options{Home: l.home}); err != nil {
		t.Fatal(err)
	}
	if err := l.client.Found(t.Context()); err != nil {
		t.Fatal(err)
	}
	owner := l.client
	t.Cleanup(func() {
		owner.Close()
		l.server.Stop()
		if t.Failed() {
			t.Log(l.said)
		}
	})
	return l
}

// collect has results stored from now on.
func (l *lab) collect() {
	ctx, cancel := context.WithCancel(context.Background())
	ended, owner := make(chan error, 1), l.client
	go func() { ended <- fleet.Collect(ctx, owner, l.results, l.said) }()
	l.t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			l.t.Error(err)
		}
	})
}

// join has an agent join, and returns what makes it leave: at the end of its job, and at once.
func (l *lab) join(o fleet.AgentOptions) (leave, kill func()) {
	l.t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	processes, end := context.WithCancel(context.Background())
	kill = func() { leave(); end() }
	if o.Home == "" {
		o.Home = l.home
	}
	if o.Longest == 0 {
		o.Longest = time.Hour
	}
	o.Log, o.Patient = l.said, true
	o.Carry = []string{filepath.Join(programs(l.t), "benchrun"), "carry"}
	ended := make(chan error, 1)
	go func() { ended <- fleet.Join(ctx, processes, o) }()
	l.t.Cleanup(func() {
		kill()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			l.t.Error(err)
		}
	})
	return leave, kill
}

// bare is a machine that runs jobs as what it is.
func bare(name string) fleet.AgentOptions {
	return fleet.AgentOptions{Machine: name, Sandbox: fleet.Sandbox{Off: true}}
}

// patience is how often a test looks for what does not happen. It is counted, so that a machine
// that stands still for minutes loses one look.
const patience = 5000

// submit sends a job, and wait waits for what becomes of it.
func (l *lab) submit(folder, machine string) string {
	l.t.Helper()
	id, err := l.client.Submit(l.t.Context(), folder, machine, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	return id
}

func (l *lab) wait(machine, id string) *fleet.Stored {
	l.t.Helper()
	s, err := l.known(machine, id)
	if err != nil {
		l.t.Fatalf("job %.12s on %s: %v\n%s", id, machine, err, l.said)
	}
	return s
}

// known waits until it is known what became of a job, or that it is forgotten.
func (l *lab) known(machine, id string) (s *fleet.Stored, err error) {
	const look = 10 * time.Second
	for range patience / 100 {
		ctx, cancel := context.WithTimeout(l.t.Context(), look)
		s, err = l.client.Wait(ctx, machine, id, func(text string) { fmt.Fprintf(l.said, "%s says %s\n", machine, text) })
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	return s, err
}

// until waits until what the fleet does is as it should be.
func (l *lab) until(what string, is func(s *fleet.Status) bool) {
	l.t.Helper()
	var s *fleet.Status
	var err error
	for range patience {
		if s, err = l.client.Status(l.t.Context()); err == nil && is(s) {
			return
		}
		time.Sleep(20 * time.Millisecond) // there is nothing to wait for but the fleet
	}
	text, _ := json.Marshal(s)
	l.t.Fatalf("never %s: %s %v\n%s", what, text, err, l.said)
}

// only is how many jobs are queued for the only machine, and what it does: nothing if it is away,
// or has not joined yet.
func only(s *fleet.Status) (queue int, live fleet.Live) {
	if len(s.Machines) != 1 {
		return 0, live
	}
	if m := s.Machines[0]; m.Live != nil {
		live = *m.Live
	}
	return len(s.Machines[0].Queue), live
}

func isMeasuring(s *fleet.Status) bool { _, live := only(s); return live.State == fleet.StateMeasuring }
func isAway(s *fleet.Status) bool      { _, live := only(s); return live.State == "" }

// A plan that is sent comes back as a results file, whole, and with the machine that measured
// it; sent again, it is not measured again.
func TestFleetOfOne(t *testing.T) {
	l := newLab(t)
	folder := newJob(t, 3, 1, "X")
	id := l.submit(folder, "one") // before there is a machine
	l.join(bare("one"))
	s := l.wait("one", id)
	if s.Outcome != fleet.Done || s.File != filepath.Join("one", "run-1-"+id[:12]+".bench") {
		t.Fatalf("%+v", s)
	}
	path := filepath.Join(t.TempDir(), "r.bench")
	if err := l.client.Fetch(t.Context(), s, path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	run, err := record.Complete(path, data)
	if err != nil || run.Config[runner.JobKey] != id || run.Config["machine"] != "one" {
		t.Errorf("%v: %v", err, run.Config)
	}
	stored, err := os.ReadFile(filepath.Join(l.results, s.File))
	if err != nil || !bytes.Equal(stored, data) {
		t.Errorf("what is stored is not what was fetched, %v", err)
	}
	if again := l.submit(folder, "one"); again != id {
		t.Errorf("the same job is %s", again)
	}
	if n := strings.Count(l.said.String(), ": run X 1\n"); n != 1 {
		t.Errorf("it was carried out %d times", n)
	}
}

// Jobs wait for who measures on the machine otherwise; a job that waits, or runs, can be
// cancelled, and a machine drained.
func TestWaitCancelDrain(t *testing.T) {
	l := newLab(t)
	l.join(bare("one"))
	lock, err := machinelock.Try("benchrun ab main")
	if err != nil {
		t.Fatal(err)
	}
	waits, queued := l.submit(newJob(t, 1, 1, "X"), "one"), l.submit(newJob(t, 1, 2, "X"), "one")
	l.until("waiting", func(s *fleet.Status) bool {
		queue, live := only(s)
		return live.State == fleet.StateWaiting && strings.Contains(live.Waits, "benchrun ab main") && live.Job == waits && queue == 1
	})
	for _, id := range []string{waits, queued} {
		if err := l.client.Cancel(t.Context(), "one", id); err != nil {
			t.Fatal(err)
		}
		if s := l.wait("one", id); s.Outcome != fleet.Cancelled {
			t.Errorf("%+v", s)
		}
	}
	lock.Unlock()
	hangs := l.submit(newJob(t, 1, 3, "Hangs"), "one")
	l.until("measuring", isMeasuring)
	if err := l.client.Drain(t.Context(), "one", true); err != nil {
		t.Fatal(err)
	}
	last := l.submit(newJob(t, 1, 4, "X"), "one")
	if err := l.client.Cancel(t.Context(), "one", hangs); err != nil {
		t.Fatal(err)
	}
	if s := l.wait("one", hangs); s.Outcome != fleet.Cancelled {
		t.Errorf("%+v", s)
	}
	l.until("drained", func(s *fleet.Status) bool {
		queue, live := only(s)
		return live.State == fleet.StateFree && s.Machines[0].Drained && queue == 1
	})
	if err := l.client.Drain(t.Context(), "one", false); err != nil {
		t.Fatal(err)
	}
	if s := l.wait("one", last); s.Outcome != fleet.Done {
		t.Errorf("%+v", s)
	}
}

// An agent that is killed goes on where it was when it joins again; one that leaves finishes.
func TestKilledAndLeaving(t *testing.T) {
	l := newLab(t)
	_, kill := l.join(bare("one"))
	id := l.submit(newJob(t, 40, 1, "X"), "one")
	var first, second uint64 // tokens of leases
	l.until("in the middle", func(s *fleet.Status) bool {
		_, live := only(s)
		first = live.Fence
		return first > 0 && blocksDone(l, id) > 2
	})
	kill()
	l.until("away", isAway)
	before := blocksDone(l, id)
	if before >= 40 {
		t.Skip("it was done before it was killed")
	}
	leave, _ := l.join(bare("one"))
	l.until("going on", func(s *fleet.Status) bool {
		_, live := only(s)
		second = live.Fence
		return live.State == fleet.StateMeasuring
	})
	leave() // at the end of the job
	s := l.wait("one", id)
	if second <= first || s.Fence != second {
		t.Errorf("the results were measured under the lease %d; those of the machine were %d and %d", s.Fence, first, second)
	}
	data, err := os.ReadFile(filepath.Join(l.results, s.File))
	if err != nil || strings.Count(string(data), "\n# resumed ") != 1 || strings.Count(string(data), "\nBenchmarkX ") != 40 {
		t.Errorf("after %d blocks it went on to %s, %v", before, data, err)
	}
	l.until("away", isAway)
}

// blocksDone is how many blocks of a job are in its results.
func blocksDone(l *lab, id string) int {
	data, _ := os.ReadFile(filepath.Join(l.home, "agent-one", id, "out", "results.bench")) // there may be none yet
	return strings.Count(string(data), "\n# end of block ")
}

// Of a part that two clients have sent at a time nothing stays on the server for ever.
func TestSweepOfPieces(t *testing.T) {
	l := newLab(t)
	pieces := fleet.PutTwice(t, l.client, "x")
	if n := pieces(); n != 2 {
		t.Fatalf("there are the pieces of %d objects, want 2: is there still anything to sweep?", n)
	}
	fleet.Sweep(t, l.client, time.Hour)
	if n := pieces(); n != 2 {
		t.Errorf("after an hour there are those of %d, want 2: one may be on its way", n)
	}
	fleet.Sweep(t, l.client, 25*time.Hour)
	if n := pieces(); n != 0 {
		t.Errorf("after a day there are those of %d, want 0", n)
	}
}

// A result of which the server has lost a part is sent again, without being measured again, and
// others do not wait for it.
func TestLostResult(t *testing.T) {
	l := startLab(t, fleet.ServerOptions{Home: t.TempDir(), Listen: "127.0.0.1:0"})
	l.join(bare("one"))
	l.join(bare("two"))
	folder := newJob(t, 2, 1, "X")
	lost := l.submit(folder, "one")
	var waiting map[string]fleet.Result
	finished := func(machine string) func(*fleet.Status) bool {
		return func(*fleet.Status) bool { waiting = fleet.Waiting(t, l.client); return waiting[machine].Outcome != "" }
	}
	l.until("measured", finished("one"))
	fleet.Lose(t, l.client, waiting["one"].SHA256)
	other := l.submit(newJob(t, 2, 2, "X"), "two")
	l.until("measured", finished("two"))
	l.collect()
	if s := l.wait("two", other); s.Outcome != fleet.Done {
		t.Errorf("%+v", s)
	}
	if s, err := l.known("one", lost); !errors.Is(err, fleet.ErrForgotten) {
		t.Fatalf("%+v, %v", s, err)
	}
	if before, _, _ := strings.Cut(l.said.String(), "has to be sent again"); !strings.Contains(before, "on two: done") {
		t.Errorf("the other result waited for the lost one: %s", before)
	}
	l.submit(folder, "one")
	s := l.wait("one", lost)
	data, err := os.ReadFile(filepath.Join(l.results, s.File))
	if err != nil || waiting["one"].SHA256 != s.SHA256 || strings.Count(string(data), "\nBenchmarkX ") != 2 {
		t.Errorf("%+v: %s, %v", s, data, err)
	}
	fleet.Lose(t, l.client, s.SHA256)
	path := filepath.Join(t.TempDir(), "r.bench")
	if err := l.client.Fetch(t.Context(), s, path); err == nil || !strings.Contains(err.Error(), "in its folder of results, as "+s.File) {
		t.Errorf("results that only the folder has: %v", err)
	}
}

// What was asked of a server that goes away is not waited for until its time is over, which is
// minutes: neither an answer nor the pieces of an object.
func TestTransferEndsWithTheConnection(t *testing.T) {
	l := newLab(t)
	if err := fleet.Transfers(l.client, "there")["put"](t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ transfer, digest, until string }{
		{"object", "there", "$JS.API."},
		{"object", "there", "$O."},
		{"put", "new", "$JS.API."},
		{"put", "new", "$O."},
	} {
		url, quiet := silence(t, strings.TrimPrefix(l.server.URL, "nats://"), c.until)
		client, err := fleet.Connect(fleet.Options{Home: l.home, URL: url})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- fleet.Transfers(client, c.digest)[c.transfer](t.Context()) }()
		(<-quiet).Close()
		if err := <-ended; !errors.Is(err, nats.ErrDisconnected) {
			t.Errorf("%s until %s: %v", c.transfer, c.until, err)
		}
		client.Close()
	}
}

// silence is a network to a server on which one client can connect, and which delivers nothing from
// the first message on whose subject begins with until: then quiet gets the client's connection.
func silence(t *testing.T, behind, until string) (url string, quiet chan net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	quiet = make(chan net.Conn, 2)
	carry := func(to io.Writer, from io.Reader) (cut bool) {
		in := bufio.NewReader(from)
		for {
			message, subject, err := readMessage(in)
			if err != nil || strings.HasPrefix(subject, until) {
				return err == nil
			}
			_, _ = to.Write(message) // it may have gone
		}
	}
	go func() {
		client, err := l.Accept()
		l.Close()
		if err != nil {
			t.Error(err)
			return
		}
		server, err := net.Dial("tcp", behind)
		if err != nil {
			t.Error(err)
			return
		}
		defer server.Close()
		for _, way := range [][2]net.Conn{{server, client}, {client, server}} {
			go func() {
				if carry(way[0], way[1]) {
					quiet <- client
				}
			}()
		}
		<-t.Context().Done()
	}()
	return "nats://" + l.Addr().String(), quiet
}

// A job of which the server has lost a part, or what says what it is, is sent again.
func TestLostJob(t *testing.T) {
	l := newLab(t)
	folder := newJob(t, 1, 1, "X")
	_, j, err := jobs.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	id := jobID(t, folder)
	for _, digest := range []string{j.Parts[0].SHA256, id} {
		l.submit(folder, "one")
		fleet.Lose(t, l.client, digest)
		leave, _ := l.join(bare("one"))
		if s, err := l.known("one", id); !errors.Is(err, fleet.ErrForgotten) {
			t.Fatalf("%+v, %v", s, err)
		}
		leave()
		l.until("away", isAway)
	}
	l.submit(folder, "one")
	l.join(bare("one"))
	if s := l.wait("one", id); s.Outcome != fleet.Done {
		t.Errorf("%+v", s)
	}
}

// jobID returns the name of the job that is packed in a folder.
func jobID(t *testing.T, folder string) string {
	t.Helper()
	document, _, err := jobs.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	return jobs.ID(document)
}
