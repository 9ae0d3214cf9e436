package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/jobs"
	"github.com/dynolab/dyno/internal/machinelock"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/runner"
)

// scripted is a fleet in this process whose jobs are scripts of a shell.
type scripted struct {
	t *testing.T
	*Client
	home, scripts string
	log           *spoken
}

// spoken is what goroutines say.
type spoken struct{ child.Buffer }

func (s *spoken) has(text string) bool { return s.count(text) > 0 }

func (s *spoken) count(text string) int { return strings.Count(s.String(), text) }

func newScripted(t *testing.T) *scripted {
	t.Helper()
	needShell(t)
	_, c, home := serves(t)
	s := &scripted{t, c, home, t.TempDir(), new(spoken)}
	t.Setenv(machinelock.Env, filepath.Join(home, "machine.lock"))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Collect(ctx, c, filepath.Join(home, "results"), s.log) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil || t.Failed() {
			t.Errorf("the collector ends with %v\n%s", err, s.log)
		}
	})
	return s
}

func needShell(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("needs a shell")
	}
}

// options are those of the machine one, of whose jobs the scripts have the arguments --machine,
// one, --work, its folder, --out, its path, and the job's folder.
func (s *scripted) options() AgentOptions {
	return AgentOptions{
		Options: Options{Home: s.home}, Machine: "one", Sandbox: Sandbox{Off: true}, Longest: time.Hour, Log: s.log,
		Carry: []string{"/bin/sh", "-c", `exec /bin/sh "` + s.scripts + `/${7##*/}" "$@"`, "sh"},
	}
}

// join has a machine join. leave has it leave, kill ends it, and ended returns its error.
func (s *scripted) join(o AgentOptions) (leave, kill func(), ended func() error) {
	ctx, leave := context.WithCancel(context.Background())
	processes, end := context.WithCancel(context.Background())
	done, err := make(chan struct{}), error(nil)
	go func() { err = Join(ctx, processes, o); close(done) }()
	kill = func() { leave(); end() }
	ended = func() error { <-done; return err }
	s.t.Cleanup(func() { kill(); _ = ended() })
	return leave, kill, ended
}

// job sends a job that is a script, in which FIGURES writes its results.
func (s *scripted) job(title, script string) (id string) {
	s.t.Helper()
	folder := packed(s.t, title)
	id, err := s.Submit(s.t.Context(), folder, "one", nil)
	if err != nil {
		s.t.Fatal(err)
	}
	figures := filepath.Join(s.t.TempDir(), "figures")
	s.put(figures, string(figuresOf(s.t, folder, "one")))
	s.put(filepath.Join(s.scripts, id), "cd "+s.scripts+"\n"+strings.ReplaceAll(script, "FIGURES", "cat "+figures+` >"$6"`))
	return id
}

// figuresOf is a results file of a job.
func figuresOf(t *testing.T, folder, machine string) []byte {
	t.Helper()
	document, j, err := jobs.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	path, plan := filepath.Join(t.TempDir(), "r.bench"), j.CarriedPlan()
	of := []record.Setting{{Key: "machine", Values: []string{machine}}, {Key: runner.JobKey, Values: []string{jobs.ID(document)}}}
	f, err := record.Create(path, plan, &record.Circumstances{Fixed: of}, nil, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	f.Block(1, "", plan)
	for _, step := range plan.Steps() {
		f.Single(record.Record{Step: step, Printed: step.FullName() + " 1 5 ns/op"}, plan)
	}
	text, err := []byte(nil), errors.Join(f.End(1, ""), f.Close())
	if err == nil {
		text, err = os.ReadFile(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (s *scripted) put(path, text string) {
	s.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// got is what a script has written into a file.
func (s *scripted) got(name string) string {
	text, err := os.ReadFile(filepath.Join(s.scripts, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Error(err)
	}
	return string(text)
}

// until waits until something is so.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 10000 {
		if is() {
			return
		}
		time.Sleep(time.Millisecond) // there is nothing to wait for but the fleet
	}
	t.Errorf("never %s", what)
}

// becomes waits for what becomes of a job, and returns what its sender is told meanwhile.
func (s *scripted) becomes(id, outcome string) (r *Stored, told string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	var mu sync.Mutex
	r, err := s.Wait(ctx, "one", id, func(text string) {
		mu.Lock()
		defer mu.Unlock()
		told += text + "\n"
	})
	mu.Lock()
	defer mu.Unlock()
	if err != nil {
		s.t.Fatalf("job %.12s: %v, after %q", id, err, told)
	}
	if r.Outcome != outcome {
		s.t.Errorf("job %.12s is %+v, want %s", id, r, outcome)
	}
	return r, told
}

// live is what the machine one does; nil if it is away.
func (s *scripted) live() (m MachineStatus) {
	all, err := s.Status(s.t.Context())
	if err != nil {
		s.t.Error(err)
	} else if len(all.Machines) == 1 {
		m = all.Machines[0]
	}
	return m
}

// isUnlocked reports whether no process of a job has the machine.
func isUnlocked() bool {
	lock, err := machinelock.Try("test")
	if err == nil {
		lock.Unlock()
	}
	return err == nil
}

const hangs = "sleep 1000 & echo begun > begun; wait" // with a process of its own

// A machine says what it is, carries jobs out, and says what became of them.
func TestAgent(t *testing.T) {
	s := newScripted(t)
	o := s.options()
	o.Labels = map[string]string{"room": "lab"}
	live, err := s.js.KeyValue(t.Context(), liveBucket)
	if err != nil {
		t.Fatal(err)
	}
	watch, err := live.Watch(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	leave, _, ended := s.join(o)
	until(t, "free", func() bool { m := s.live(); return m.Live != nil && m.Live.State == StateFree })
	m := s.live()
	if m.Name != "one" || m.Platform != runtime.GOOS+"/"+runtime.GOARCH || m.Cores != runtime.NumCPU() || m.Labels["room"] != "lab" || m.Host != "" || m.Identity == "" || len(strings.Fields(m.Anchor)) != 2 || m.Kernel == "" {
		t.Errorf("it is %+v", m.Machine)
	}
	if m.Live.Fence != 0 || m.Live.Instance == "" || m.Live.Job != "" {
		t.Errorf("it does %+v", m.Live)
	}
	if err := Join(t.Context(), t.Context(), o); !errors.Is(err, ErrTaken) {
		t.Errorf("a second one here: %v", err)
	}

	told, err := s.conn.SubscribeSync(noteSubject("one", "*"))
	if err != nil {
		t.Fatal(err)
	}
	id := s.job("done", `printf '%s ' "$@" > args; echo '{"block":2,"of":3,"left":1000}'; echo x > begun
		until [ -e seen ]; do sleep 0.01; done; FIGURES`)
	until(t, "begun", func() bool { return s.got("begun") != "" })
	until(t, "measuring", func() bool { return s.live().Live.State == StateMeasuring })
	m = s.live()
	if m.Live.Job != id || m.Live.Title != "done" || m.Live.Fence == 0 || m.For < 0 || m.For > 60 || len(m.Queue) != 0 || isUnlocked() {
		t.Errorf("it does %+v for %v s, and %v are queued", m.Live, m.For, m.Queue)
	}
	s.put(filepath.Join(s.scripts, "seen"), "")
	r, _ := s.becomes(id, Done)
	folder := filepath.Join(s.home, "agent-one", id)
	if want := "--machine one --work " + folder + "/work --out " + folder + "/out/results.bench " + folder + " "; s.got("args") != want {
		t.Errorf("it was carried out with %s, want %s", s.got("args"), want)
	}
	figures, err := os.ReadFile(filepath.Join(s.home, "results", r.File))
	if err != nil || r.File != filepath.Join("one", "run-"+id[:12]+".bench") || r.SHA256 != digestOf(string(figures)) || r.Size != int64(len(figures)) || r.Fence != m.Live.Fence || time.Since(r.At) > time.Minute || r.Said != "" {
		t.Errorf("%+v, %v", r, err)
	}
	var states []string
	for entry := range watch.Updates() {
		var l Live
		if entry != nil && json.Unmarshal(entry.Value(), &l) == nil && (len(states) == 0 || states[len(states)-1] != l.State) {
			states = append(states, l.State)
		}
		if len(states) == 5 {
			break
		}
	}
	if want := []string{StateFree, StateFetching, StateMeasuring, StateSending, StateFree}; !slices.Equal(states, want) {
		t.Errorf("it is %v, want %v", states, want)
	}
	if note, err := told.NextMsg(time.Second); err != nil || string(note.Data) != "measuring" || note.Subject != noteSubject("one", id) {
		t.Errorf("its sender is told %v, %v", note, err)
	}
	until(t, "free", func() bool { m := s.live(); return m.Live.State == StateFree && len(m.Queue) == 0 })
	if l := s.live().Live; l.Job != "" || l.Title != "" || l.Of != 0 || l.Left != 0 || l.Fence != r.Fence {
		t.Errorf("then it does %+v", l)
	}
	var left []string
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if !slices.Equal(left, []string{"job.json", "out"}) || err != nil {
		t.Errorf("what is left of it are %v, %v", left, err)
	}

	// What fails is tried three times; a full disk is no fault of a job.
	long := fmt.Sprintf("head -c %d /dev/zero | tr '\\0' x >&2", mostSaid)
	failed := s.job("fails", "echo x >> runs; "+long+"; echo why >&2; exit 1")
	if r, _ := s.becomes(failed, Failed); !strings.HasSuffix(r.Said, "xwhy\n") || len(r.Said) > mostSaid+3 || s.got("runs") != "x\nx\nx\n" {
		t.Errorf("it has said %d bytes after %q", len(r.Said), s.got("runs"))
	}
	if r, _ := s.becomes(s.job("says", "echo why >&2; exit 1"), Failed); r.Said != "exit status 1\nwhy\n" {
		t.Errorf("it has said %q", r.Said)
	}
	s.becomes(s.job("full", "echo x >> full; [ $(wc -l < full) -ge 5 ] || exit 75; FIGURES"), Done)
	if r, _ := s.becomes(s.job("nothing", "true"), Failed); !strings.Contains(r.Said, "results.bench") {
		t.Errorf("without results it says %q", r.Said)
	}
	if !s.log.has(fmt.Sprintf("job %.12s: exit status 1 …x", failed)) || !s.log.has("the disk is full; tried again in 10ms") {
		t.Error("it does not say why it tries again")
	}

	// So is what is not what its name says.
	broken := digestOf("changed")
	order, err := s.Key.sign(Order{Job: broken, Machine: "one"})
	if err == nil {
		err = s.Client.put(t.Context(), broken, 1, strings.NewReader("x"))
	}
	if err == nil {
		_, err = s.js.Publish(t.Context(), jobSubject("one", broken), order)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := s.becomes(broken, Failed); !strings.Contains(r.Said, "it is not what its digest says") {
		t.Errorf("a document of another job: %+v", r)
	}

	// What it starts ends with it, and it waits for whoever measures by hand.
	s.becomes(s.job("leaves", "sleep 1000 & head -c 200000 /dev/zero | tr '\\0' x; FIGURES"), Done)
	until(t, "unlocked", isUnlocked)
	lock, err := machinelock.Try("by hand")
	if err != nil {
		t.Fatal(err)
	}
	waits, cancelled := s.job("waits", "FIGURES"), s.job("cancelled", "echo x > ran; FIGURES")
	until(t, "waiting", func() bool {
		l := s.live().Live
		return l.State == StateWaiting && strings.HasPrefix(l.Waits, "by hand") && l.Job == waits
	})
	if err := errors.Join(s.Cancel(t.Context(), "one", waits), s.Cancel(t.Context(), "one", cancelled)); err != nil {
		t.Fatal(err)
	}
	s.becomes(waits, Cancelled)
	s.becomes(cancelled, Cancelled)
	waits = s.job("waits again", "FIGURES")
	until(t, "waiting", func() bool { l := s.live().Live; return l.State == StateWaiting && l.Job == waits })
	lock.Unlock()
	s.becomes(waits, Done)
	for text := ""; !strings.HasPrefix(text, "waiting: another process measures on this machine: by hand"); {
		note, err := told.NextMsg(time.Second)
		if err != nil {
			t.Fatalf("its sender is not told that it waits: %v", err)
		}
		text = string(note.Data)
	}

	// It is cancelled when it runs, and nothing is left of it.
	s.put(filepath.Join(s.scripts, "begun"), "")
	id = s.job("hangs", hangs)
	until(t, "begun", func() bool { return s.got("begun") != "" })
	if err := s.Cancel(t.Context(), "one", id); err != nil {
		t.Fatal(err)
	}
	s.becomes(id, Cancelled)
	until(t, "unlocked", isUnlocked)
	if s.log.has("context canceled") {
		t.Error("it is tried again")
	}

	// It takes no job while it is drained.
	asks := func(is bool) func() bool {
		return func() bool {
			c, err := s.js.Consumer(t.Context(), jobsStream, "one")
			return err == nil && (c.CachedInfo().NumWaiting > 0) == is
		}
	}
	until(t, "idle", asks(true))
	if err := s.Drain(t.Context(), "one", true); err != nil {
		t.Fatal(err)
	}
	until(t, "drained", func() bool { return s.log.has("drained: true") })
	id = s.job("drained", "echo x > drained; FIGURES")
	until(t, "put back", asks(false))
	for range 50 {
		if time.Sleep(time.Millisecond); s.got("drained") != "" {
			t.Fatal("it takes a job while it is drained")
		}
	}
	if err := s.Drain(t.Context(), "one", false); err != nil {
		t.Fatal(err)
	}
	s.becomes(id, Done)

	// A job that the server has lost a part of is forgotten.
	id = s.job("forgotten", "until [ -e gone ]; do sleep 0.01; done; exit 1")
	lost := s.job("lost", "FIGURES")
	Lose(t, s.Client, lost)
	s.put(filepath.Join(s.scripts, "gone"), "")
	s.becomes(id, Failed)
	if _, err := s.Wait(t.Context(), "one", lost, func(string) {}); !errors.Is(err, ErrForgotten) {
		t.Errorf("a job without its document: %v", err)
	}

	// When it leaves, it finishes its job.
	s.put(filepath.Join(s.scripts, "begun"), "")
	id = s.job("last", "echo x > begun; until [ -e go ]; do sleep 0.01; done; FIGURES")
	until(t, "begun", func() bool { return s.got("begun") != "" })
	leave()
	until(t, "leaving", func() bool { return s.log.has("is finished before this machine leaves") })
	s.put(filepath.Join(s.scripts, "go"), "")
	s.becomes(id, Done)
	if err := ended(); err != nil || s.live().Live != nil || !s.log.has("left") || s.got("ran") != "" {
		t.Errorf("it leaves with %v, and does %+v", err, s.live().Live)
	}
}

// A machine that ends in the middle of a job goes on with it; one that is to leave ends it when it
// is cancelled, and one that takes too long is ended.
func TestAgentEnds(t *testing.T) {
	often := beat
	t.Cleanup(func() { beat = often })
	beat = 5 * time.Millisecond
	s := newScripted(t)
	if err := os.Mkdir(filepath.Join(s.home, "agent-one"), 0o755); err != nil {
		t.Fatal(err)
	}
	s.put(filepath.Join(s.home, "agent-one", "instance"), "") // of a disk that was full
	_, kill, ended := s.join(s.options())
	until(t, "renewed", func() bool { l := s.live().Live; return l != nil && l.Fence > 0 })
	id := s.job("hangs", "echo x >> runs; if [ $(wc -l < runs) = 1 ]; then "+hangs+"; fi; FIGURES")
	until(t, "begun", func() bool { return s.got("begun") != "" })
	instance := s.live().Live.Instance
	kill()
	if err := ended(); err != nil || !s.log.has("goes on when this machine joins again") {
		t.Errorf("it ends with %v", err)
	}
	until(t, "unlocked", isUnlocked)
	leave, _, ended := s.join(s.options())
	s.becomes(id, Done)
	if l := s.live().Live; l == nil || l.Instance != instance || instance == "" {
		t.Errorf("it was %s, and then %+v", instance, l)
	}
	s.put(filepath.Join(s.scripts, "begun"), "")
	id = s.job("hangs again", hangs)
	until(t, "begun", func() bool { return s.got("begun") != "" })
	leave()
	until(t, "leaving", func() bool { return s.log.has("is finished before this machine leaves") })
	if err := s.Cancel(t.Context(), "one", id); err != nil {
		t.Fatal(err)
	}
	s.becomes(id, Cancelled)
	if err := ended(); err != nil {
		t.Errorf("it leaves with %v", err)
	}
	until(t, "unlocked", isUnlocked)
	o := s.options()
	o.Longest = 10 * time.Millisecond
	s.join(o)
	if r, _ := s.becomes(s.job("too long", hangs), Failed); !strings.Contains(r.Said, "it was ended after 10ms") {
		t.Errorf("it says %q", r.Said)
	}
	until(t, "unlocked", isUnlocked)
}

// An agent refuses what it cannot be, and waits for its name and for a server, until it is to leave.
func TestJoinRefused(t *testing.T) {
	s := newScripted(t)
	for want, change := range map[string]func(o *AgentOptions){
		"is not a name of a machine": func(o *AgentOptions) { o.Machine = "A" },
		"is not a public key":        func(o *AgentOptions) { o.Allow = []string{"x"} },
		"without a sandbox":          func(o *AgentOptions) { o.Allow = []string{newTestKey(t).Public} },
		"there is no fleet at":       func(o *AgentOptions) { o.URL = "nats://127.0.0.1:1" },
	} {
		o := s.options()
		change(&o)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // it joins if it refuses nothing
		if err := Join(ctx, ctx, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
		cancel()
	}
	leave, _, _ := s.join(s.options())
	until(t, "joined", func() bool { return s.live().Live != nil })
	seed, err := os.ReadFile(filepath.Join(s.home, keyName))
	if err != nil {
		t.Fatal(err)
	}
	other := s.options()
	other.Home, other.URL = t.TempDir(), s.URL
	other.Board = &Board{Host: "host", Kind: "m3", Chip: "a chip", Runs: "qemu"}
	s.put(filepath.Join(other.Home, keyName), string(seed)) // the same user, elsewhere
	gone, _, left := s.join(other)
	until(t, "waiting", func() bool {
		return s.log.has("one: waiting for the fleet at " + s.URL + ": another process has joined")
	})
	gone()
	if err := left(); !errors.Is(err, context.Canceled) {
		t.Errorf("it waits no more, with %v", err)
	}
	host := s.live()
	_, _, _ = s.join(other)
	leave()
	until(t, "joined", func() bool { m := s.live(); return m.Live != nil && m.Live.Instance != host.Live.Instance })
	m := s.live()
	if m.Platform != jobs.BoardPlatform("m3") || m.Cores != 1 || m.Host != "host" || m.CPU != "a chip" || m.Kernel != "qemu" || m.Identity != digestOf(host.Identity + "\x00m3\x00qemu")[:12] {
		t.Errorf("the board is %+v", m.Machine)
	}
	if n := s.log.count("another process has joined"); n > 4 {
		t.Errorf("it says %d times that it waits", n)
	}
}

// A lease is renewed as long as it is this agent's: its token stays the same, and is greater for
// who has the name later.
func TestLease(t *testing.T) {
	c, ctx := served(t), t.Context()
	agent := func(instance string) *Agent {
		return &Agent{client: c, o: AgentOptions{Machine: "one", Log: new(spoken)}, live: Live{Instance: instance, State: StateFree}}
	}
	bucket, err := c.js.KeyValue(ctx, liveBucket)
	if err != nil {
		t.Fatal(err)
	}
	said := func() (l Live) {
		entry, err := bucket.Get(ctx, "one")
		if err == nil {
			err = json.Unmarshal(entry.Value(), &l)
		}
		if err != nil {
			t.Error(err)
		}
		return l
	}
	a := agent("a")
	if err := a.lease(ctx); err != nil || a.fence == 0 || a.fence != a.revision {
		t.Fatalf("it has %d of %d, %v", a.fence, a.revision, err)
	}
	first := a.fence
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := a.lease(ctx); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	a.now(ctx, func(l *Live) { l.State = StateMeasuring })
	if l := said(); l.Fence != first || l.State != StateMeasuring || l.Instance != "a" || a.fence != first || a.revision != first+9 {
		t.Errorf("renewed it is %+v, of %d", l, a.revision)
	}
	b := agent("b")
	if err := b.lease(ctx); !errors.Is(err, ErrTaken) || b.fence != 0 {
		t.Errorf("another one has it, too: %d, %v", b.fence, err)
	}
	again := agent("a") // killed, and begun anew
	if err := again.lease(ctx); err != nil || again.fence <= first {
		t.Errorf("the next of the same folder has %d, %v", again.fence, err)
	}
	a.leave() // late
	if l := said(); l.Instance != "a" {
		t.Errorf("it gives back what is not its own: %+v", l)
	}
	again.leave()
	if _, err := bucket.Get(ctx, "one"); !errors.Is(err, jetstream.ErrKeyNotFound) {
		t.Errorf("it is not given back: %v", err)
	}
	if err := b.lease(ctx); err != nil || b.fence <= again.fence {
		t.Errorf("the other one has %d, %v", b.fence, err)
	}
	if err := a.lease(ctx); !errors.Is(err, ErrTaken) {
		t.Errorf("the first has it again: %v", err)
	}
	// It is said again now and then.
	old := beat
	t.Cleanup(func() { beat = old })
	beat = time.Millisecond
	ctx, cancel := context.WithCancel(ctx)
	all.Go(func() { b.heartbeat(ctx) })
	all.Go(func() { a.heartbeat(ctx) })
	defer all.Wait()
	defer cancel()
	until(t, "renewed", func() bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.revision > b.fence+2
	})
	until(t, "refused", func() bool { return a.o.Log.(*spoken).has("it has the lease now") })
}

// What a machine does with an order, step by step.
func TestWorking(t *testing.T) {
	needShell(t)
	s, c, home := serves(t)
	ctx := t.Context()
	t.Setenv(machinelock.Env, filepath.Join(home, "machine.lock"))
	log := new(spoken)
	folder := packed(t, "run X")
	id, err := c.Submit(ctx, folder, "one", nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &Agent{client: c, folder: t.TempDir(), o: AgentOptions{Machine: "one", Log: log, Longest: time.Hour, Sandbox: Sandbox{Off: true}, Carry: []string{"/bin/sh", "-c", "exit 1"}}, cancelled: map[string]bool{}, changed: make(signal, 1), live: Live{Instance: "i", State: StateFree}}
	queued, err := c.queue(ctx)
	if err != nil {
		t.Fatal(err)
	}
	order, err := c.Key.sign(queued["one"][0])
	if err != nil {
		t.Fatal(err)
	}
	acked := ""
	alive := new(atomic.Int64)
	m := answered{letter{subject: jobSubject("one", id), data: order}, 1, 0, &acked, alive}
	job := &task{a, queued["one"][0], m, filepath.Join(a.folder, id)}
	notes, err := c.conn.SubscribeSync("dyno.note.>")
	if err != nil {
		t.Fatal(err)
	}
	note := func() string {
		n, err := notes.NextMsg(time.Second)
		if err != nil {
			return err.Error()
		}
		return strings.TrimPrefix(n.Subject, noteSubject("one", id)+" ") + ": " + string(n.Data)
	}

	// An order of a stranger is refused for good; what is no order at all has no sender to tell.
	stranger, err := newTestKey(t).sign(Order{Job: id, Machine: "one"})
	if err != nil {
		t.Fatal(err)
	}
	a.take(ctx, ctx, answered{letter{subject: "dyno.job.A.x"}, 1, 0, &acked, alive})
	a.take(ctx, ctx, answered{letter{subject: m.subject, data: stranger}, 1, 0, &acked, alive})
	if got := note(); acked != "term term " || !strings.HasPrefix(got, noteSubject("one", id)+": refused: one does not carry out what U") || a.live.Job != "" {
		t.Errorf("a stranger's: %s, %s", acked, got)
	}
	(&task{a, Order{}, m, ""}).note("x")
	job.note(strings.Repeat("x", 1001))
	if got := note(); got != noteSubject("one", id)+": "+strings.Repeat("x", 1000) {
		t.Errorf("a long note is %q", got)
	}

	// What is there is not asked for again, and what is broken is.
	if err := job.bring(ctx); err != nil {
		t.Fatal(err)
	}
	_, j, err := jobs.Read(job.folder)
	if err != nil {
		t.Fatal(err)
	}
	Lose(t, c, j.Parts[0].SHA256)
	if err := job.bring(ctx); err != nil {
		t.Errorf("what is there is asked for again: %v", err)
	}
	for _, p := range j.Parts {
		if err := os.WriteFile(jobs.PartPath(job.folder, p.SHA256), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := job.bring(ctx); !errors.Is(err, errLost) {
		t.Errorf("what is broken is kept: %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(job.folder, "parts", "*.new")); len(left) > 0 || err != nil {
		t.Errorf("there are %v, %v", left, err)
	}
	if _, err := c.Submit(ctx, folder, "two", nil); err != nil { // with the part
		t.Fatal(err)
	}
	if err := job.bring(ctx); err != nil || jobs.CheckPart(job.folder, j.Parts[0]) != nil || jobs.CheckPart(job.folder, j.Parts[1]) != nil {
		t.Errorf("what is broken is not brought: %v", err)
	}

	// Faults of a job are counted, others are not.
	for _, x := range []struct {
		err     error
		counted string
		outcome string
	}{
		{errLost, "", ""},
		{errFull, "", ""},
		{nats.ErrDisconnected, "", ""},
		{context.Canceled, "", ""},
		{io.EOF, "1", ""},
		{fmt.Errorf("a part: %w", errLost), "1", ""},
		{io.EOF, "2", ""},
		{errors.New(strings.Repeat("x", mostSaid) + "why"), "2", Failed},
	} {
		r, err := job.failed(x.err)
		text, _ := os.ReadFile(filepath.Join(job.folder, "tries"))
		if string(text) != x.counted || r.Outcome != x.outcome || (err == nil) != (x.outcome != "") || err != nil && !errors.Is(err, x.err) {
			t.Errorf("after %.20v: %q tries, %.20v, %.20v", x.err, text, r, err)
		}
		if x.outcome != "" && r.Said != "…"+strings.Repeat("x", mostSaid-3)+"why" {
			t.Errorf("it says %d bytes", len(r.Said))
		}
	}
	if err := os.Remove(filepath.Join(job.folder, "tries")); err != nil {
		t.Fatal(err)
	}

	// It waits for another try, until it is cancelled or the server was away.
	retry, often := retryAfter, beat
	t.Cleanup(func() { retryAfter, beat = retry, often })
	retryAfter, beat = time.Hour, time.Millisecond
	for _, end := range []func() error{func() error { a.ordered("cancel."+id, true); return nil }, s.restart} {
		a.ordered("cancel."+id, false)
		acked = ""
		taken := make(chan struct{})
		go func() { a.take(ctx, ctx, m); close(taken) }()
		if got := note(); !strings.HasSuffix(got, ": measuring") {
			t.Errorf("it says %s", got)
		}
		if got := note(); !strings.Contains(got, "exit status 1") || !strings.HasSuffix(got, "tried again in 1h0m0s") {
			t.Errorf("it says %s", got)
		}
		said := alive.Load()
		until(t, "alive", func() bool { return alive.Load() > said+2 })
		if err := end(); err != nil {
			t.Fatal(err)
		}
		<-taken
		if acked != "nak " || a.live.Job != "" || a.live.State != StateFree || a.live.Instance != "i" {
			t.Errorf("it ends with %s, and is %+v", acked, a.live)
		}
	}
	until(t, "connected", c.conn.IsConnected)
	// An agent that ends gives the order back; a job that is cancelled is not begun.
	over, cancel := context.WithCancel(ctx)
	cancel()
	acked = ""
	if a.take(over, ctx, m); acked != "nak " || !log.has("goes on when this machine joins again") {
		t.Errorf("ending it says %s", acked)
	}
	a.ordered("cancel."+id, true)
	select {
	case <-job.cancelledAfter():
	default:
		t.Error("it is not ended, and was cancelled before it was to leave")
	}

	// Its result is sent until the server has it, and is the first one.
	s.Stop()
	until(t, "away", func() bool { return !c.conn.IsConnected() })
	if _, err := job.failed(io.EOF); err != io.EOF {
		t.Errorf("without a server it fails with %v", err)
	}
	before := alive.Load()
	a.fence, acked = 7, ""
	concluded := make(chan struct{})
	go func() { job.conclude(ctx, Result{Outcome: Cancelled}); close(concluded) }()
	until(t, "waiting", func() bool { return log.has("the result waits for the server") })
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
	<-concluded
	r := Waiting(t, c)["one"]
	if r.Outcome != Cancelled || r.Fence != 7 || time.Since(r.At) > time.Minute || alive.Load() <= before || acked != "ack " || log.count("the result waits") != 1 {
		t.Errorf("it sends %+v, and says %s", r, acked)
	}
	acked = ""
	job.conclude(ctx, Result{Outcome: Done})
	if r := Waiting(t, c)["one"]; acked != "ack " || r.Outcome != Cancelled || !log.has("the result was there already") {
		t.Errorf("then it sends %+v, and says %s", r, acked)
	}
	// What is known is not measured again.
	a.ordered("cancel."+id, false)
	k := &Collector{client: c, folder: t.TempDir(), log: log}
	if err := k.tell(ctx, "one", id, &Stored{Result: Result{Outcome: Refused, Said: "why"}}); err != nil {
		t.Fatal(err)
	}
	if r, err := job.do(ctx, ctx); r.Outcome != Refused || r.Said != "why" || err != nil {
		t.Errorf("it is done again: %+v, %v", r, err)
	}
	c.Close()
	job.conclude(ctx, Result{Outcome: Done}) // it ends
}
