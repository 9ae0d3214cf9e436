package fleet

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/filelock"
	"github.com/dynolab/dyno/internal/jobs"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/session"
)

// AgentOptions say how a machine joins.
type AgentOptions struct {
	Options
	Machine string            // its name
	Board   *Board            // the board that it is; nil if it is this machine
	Labels  map[string]string // what selectors may ask for
	Allow   []string          // keys whose orders are carried out; the user's own is one of them
	Carry   []string          // the command that carries jobs out: benchrun carry
	Sandbox Sandbox
	Longest time.Duration // that a job may take
	Log     io.Writer     // gets a line for whatever happens
}

// A Board is a board or an emulator of this machine, which is a machine to others.
type Board struct {
	Host string // the name of this machine
	Kind string // of the board
	Chip string
	Runs string // what runs its images, with its version; "" for a real board
}

// A Machine is one that has joined.
type Machine struct {
	runner.Machine
	Host     string            `json:"host,omitempty"` // of a board: the machine that it is connected to
	CPU      string            `json:"cpu,omitempty"`
	Kernel   string            `json:"kernel,omitempty"`
	Identity string            `json:"identity"` // session.Identity
	Anchor   string            `json:"anchor"`   // how fast it was when it joined: session.Anchor
	Labels   map[string]string `json:"labels,omitempty"`
}

// Live is what a machine does now.
type Live struct {
	Instance string    `json:"instance"`        // tells processes of one name apart
	Fence    uint64    `json:"fence,omitempty"` // the token of its lease: who has the name now has the greatest
	State    string    `json:"state"`           // one of the State constants
	Waits    string    `json:"waits,omitempty"` // for whom, in StateWaiting
	Job      string    `json:"job,omitempty"`
	Title    string    `json:"title,omitempty"`
	Since    time.Time `json:"since,omitzero"`  // when it began with the job, by its clock
	Block    int       `json:"block,omitempty"` // how many are done
	Of       int       `json:"of,omitempty"`
	Left     float64   `json:"left,omitempty"` // seconds, about
}

// The states of a machine.
const (
	StateFree      = "free"
	StateWaiting   = "waiting"   // has a job, and another process measures on the machine
	StateFetching  = "fetching"  // has the machine, and gets what the job needs
	StateMeasuring = "measuring" // carries a job out
	StateSending   = "sending"   // stores its results
)

// An Agent carries jobs out on its machine, one at a time.
type Agent struct {
	o      AgentOptions
	client *Client
	folder string // of its jobs
	lock   *os.File

	leasing sync.Mutex // has the lease renewed once at a time, so that what is newer is said later

	mu        sync.Mutex // guards what follows
	live      Live
	fence     uint64 // the token of the lease: its revision when it was taken
	revision  uint64 // of the lease
	drained   bool
	cancelled map[string]bool
	cancel    func() // ends the job that is carried out

	changed signal // drained or cancelled has changed
}

// ErrTaken is the error of an agent whose name another one has.
var ErrTaken = errors.New("another process has joined under this name")

// Join makes the machine one of the fleet, and carries jobs out until ctx ends: then it
// finishes the job that it is at. It is ended when processes ends. Without a server it waits
// for one.
func Join(ctx, processes context.Context, o AgentOptions) error {
	if err := CheckMachine(o.Machine); err != nil {
		return err
	}
	for _, key := range o.Allow {
		if err := CheckKey(key); err != nil {
			return err
		}
	}
	a := &Agent{o: o, folder: filepath.Join(o.Home, "agent-"+o.Machine), cancelled: make(map[string]bool), changed: make(signal, 1)}
	if err := a.prepare(); err != nil {
		return err
	}
	defer a.lock.Close()
	var err error
	if a.client, err = Connect(o.Options); err != nil {
		return err
	}
	defer a.client.Close()
	if err := o.Sandbox.check(a.client.URL, a.client.Key.Public, o.Allow); err != nil {
		return err
	}
	if err := a.announce(ctx); err != nil {
		return err
	}
	background, stop := context.WithCancel(processes)
	var all sync.WaitGroup
	all.Go(func() { a.heartbeat(background) })
	all.Go(func() { a.obey(background) })
	err = a.work(ctx, processes)
	stop()
	all.Wait()
	a.leave()
	return err
}

// prepare makes the folder of jobs, which one process has at a time.
func (a *Agent) prepare() (err error) {
	if err := os.MkdirAll(a.folder, 0o755); err != nil {
		return err
	}
	if a.lock, err = os.OpenFile(filepath.Join(a.folder, "lock"), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return err
	}
	if filelock.Try(a.lock) == filelock.Held {
		return errors.Join(fmt.Errorf("%w here: %s", ErrTaken, a.o.Machine), a.lock.Close())
	}
	// The processes of this folder follow one another, so they are one to others: one that was
	// killed does not keep the next from its lease.
	a.live.State = StateFree
	path := filepath.Join(a.folder, "instance")
	if id, err := os.ReadFile(path); err == nil && len(id) > 0 {
		a.live.Instance = string(id)
		return nil
	}
	a.live.Instance = rand.Text()
	return os.WriteFile(path, []byte(a.live.Instance), 0o600)
}

// say writes a line to the log.
func (a *Agent) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if a.o.Board != nil { // another agent of this process writes there, too
		text = a.o.Machine + ": " + text
	}
	fmt.Fprintf(a.o.Log, "%s  %s\n", time.Now().Format("15:04:05"), printable(text))
}

// announce takes the lease, when there is a server, and says what the machine is.
func (a *Agent) announce(ctx context.Context) error {
	m := Machine{Machine: runner.Machine{Name: a.o.Machine, Platform: runtime.GOOS + "/" + runtime.GOARCH, Cores: runtime.NumCPU()}, Labels: a.o.Labels, Anchor: session.Anchor()}
	here := session.DescribeMachine(ctx, a.o.Machine)
	m.CPU, m.Kernel, m.Identity = here.Value("cpu-model"), here.Value("kernel"), session.Identity(ctx)[0].Values[0]
	if b := a.o.Board; b != nil {
		m.Platform, m.Cores, m.Host, m.CPU, m.Kernel = jobs.BoardPlatform(b.Kind), 1, b.Host, b.Chip, b.Runs
		sum := sha256.Sum256([]byte(m.Identity + "\x00" + b.Kind + "\x00" + b.Runs)) // an emulator is as fast as its host
		m.Identity = hex.EncodeToString(sum[:6])
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	for said := ""; ; pause(ctx, soon) {
		err := a.lease(ctx)
		var machines jetstream.KeyValue
		if err == nil { // who does not have the name says nothing of the machine
			machines, err = a.client.js.KeyValue(ctx, machinesBucket)
		}
		if err == nil {
			_, err = machines.Put(ctx, a.o.Machine, text)
		}
		switch {
		case err == nil:
			a.say("joined %s as %s: %s, %s", a.client.URL, m.Name, m.Platform, console.Count(m.Cores, "core"))
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err.Error() != said:
			said = err.Error()
			a.say("waiting for the fleet at %s: %v", a.client.URL, err)
		}
	}
}

// lease takes or renews the lease, which says what the machine does. A lease that ended is
// taken anew, unless another agent of this name has one.
func (a *Agent) lease(ctx context.Context) error {
	a.leasing.Lock()
	defer a.leasing.Unlock()
	bucket, err := a.client.js.KeyValue(ctx, liveBucket)
	if err != nil {
		return err
	}
	a.mu.Lock()
	live, revision := a.live, a.revision
	live.Fence = a.fence
	a.mu.Unlock()
	text, err := json.Marshal(live)
	if err != nil {
		return err
	}
	if revision != 0 {
		if next, err := bucket.Update(ctx, a.o.Machine, text, revision); err == nil {
			a.leased(next, false)
			return nil
		}
	}
	entry, err := bucket.Get(ctx, a.o.Machine)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		revision, err = bucket.Create(ctx, a.o.Machine, text)
	case err == nil:
		var other Live
		if json.Unmarshal(entry.Value(), &other) == nil && other.Instance != live.Instance {
			return fmt.Errorf("%w: %s", ErrTaken, a.o.Machine)
		}
		revision, err = bucket.Update(ctx, a.o.Machine, text, entry.Revision()) // ours: an answer was lost
	}
	if err != nil {
		return err
	}
	a.leased(revision, true)
	return nil
}

func (a *Agent) leased(revision uint64, anew bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.revision = revision; anew {
		a.fence = revision
	}
}

// heartbeat renews the lease.
func (a *Agent) heartbeat(ctx context.Context) {
	for ctx.Err() == nil {
		pause(ctx, beat)
		if err := a.lease(ctx); errors.Is(err, ErrTaken) {
			a.say("%v: it has the lease now", err)
		}
	}
}

// leave gives the lease back.
func (a *Agent) leave() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if bucket, err := a.client.js.KeyValue(ctx, liveBucket); err == nil {
		_ = bucket.Delete(ctx, a.o.Machine, jetstream.LastRevision(a.revision)) // it ends by itself
	}
	a.say("left")
}

// now says what the machine does, here and to the fleet.
func (a *Agent) now(ctx context.Context, change func(l *Live)) {
	a.mu.Lock()
	change(&a.live)
	a.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	_ = a.lease(ctx) // the next heartbeat says it again
}

// obey follows what is ordered of this machine: to drain, and to cancel jobs.
func (a *Agent) obey(ctx context.Context) {
	for ctx.Err() == nil {
		bucket, err := a.client.js.KeyValue(ctx, ordersBucket)
		var watch jetstream.KeyWatcher
		if err == nil {
			watch, err = bucket.Watch(ctx, a.o.Machine+".>")
		}
		if err != nil {
			pause(ctx, soon)
			continue
		}
		for entry := range watch.Updates() {
			if entry != nil {
				a.ordered(strings.TrimPrefix(entry.Key(), a.o.Machine+"."), entry.Operation() == jetstream.KeyValuePut)
			}
		}
	}
}

// ordered takes in an order.
func (a *Agent) ordered(what string, on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if job, ok := strings.CutPrefix(what, "cancel."); ok {
		if a.cancelled[job] = on; on && a.live.Job == job && a.cancel != nil {
			a.cancel()
		}
	} else if what == "drain" && a.drained != on {
		a.drained = on
		a.say("drained: %v", on)
	}
	a.changed.say()
}

func (a *Agent) isDrained() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.drained
}

func (a *Agent) isCancelled(job string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.cancelled[job]
}

// work takes orders until ctx ends.
func (a *Agent) work(ctx, processes context.Context) error {
	for ctx.Err() == nil && processes.Err() == nil {
		if a.isDrained() {
			select {
			case <-a.changed:
			case <-ctx.Done():
			case <-processes.Done():
			}
			continue
		}
		m, err := a.client.next(ctx, queue{jobsStream, a.o.Machine, "dyno.job." + a.o.Machine + ".>"})
		switch {
		case m != nil && a.isDrained(): // since it was asked for
			_ = m.Nak()
		case m != nil:
			a.take(ctx, processes, m)
		case errors.Is(err, errClosed):
			return err
		case err != nil && ctx.Err() == nil:
			pause(ctx, soon) // the server is away
		}
	}
	return nil
}

// allowed returns an error for an order that this machine does not carry out.
func (a *Agent) allowed(m jetstream.Msg) (Order, error) {
	machine, job, err := splitSubject(m.Subject(), "job")
	if err != nil {
		return Order{}, err
	}
	o, err := readOrder(m.Data())
	switch {
	case err != nil:
	case o.Machine != a.o.Machine || o.Machine != machine || o.Job != job:
		err = fmt.Errorf("the order is for job %.12s on %s, and came as %.12s on %s", o.Job, o.Machine, job, machine)
	case o.Sender != a.client.Key.Public && !slices.Contains(a.o.Allow, o.Sender):
		err = fmt.Errorf("%s does not carry out what %s sends: benchfleet join --allow %s lets it", a.o.Machine, o.Sender, o.Sender)
	}
	o.Job, o.Machine = job, machine
	return o, err
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
