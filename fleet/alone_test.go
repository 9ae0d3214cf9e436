package fleet

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/dynolab/dyno/internal/machinelock"
	"github.com/dynolab/dyno/internal/runner"
)

// What of an agent, a collector and a server needs none of the others.

// letter is an order as it comes.
type letter struct {
	jetstream.Msg
	subject string
	data    []byte
}

func (l letter) Subject() string { return l.subject }
func (l letter) Data() []byte    { return l.data }

// An agent carries out what its user sends, or another one that it allows, and what is for it.
func TestAllowed(t *testing.T) {
	own, friend, stranger := newTestKey(t), newTestKey(t), newTestKey(t)
	a := &Agent{o: AgentOptions{Machine: "one", Allow: []string{friend.Public}}, client: &Client{Key: own}}
	order := func(k *Key, machine, job string) []byte {
		data, err := k.sign(Order{Job: job, Machine: machine})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	other := strings.Repeat("cd", 32)
	for name, c := range map[string]struct {
		subject string
		data    []byte
		ok      bool
	}{
		"the user's":             {jobSubject("one", someJob), order(own, "one", someJob), true},
		"one that is allowed":    {jobSubject("one", someJob), order(friend, "one", someJob), true},
		"one that is not":        {jobSubject("one", someJob), order(stranger, "one", someJob), false},
		"for another machine":    {jobSubject("two", someJob), order(own, "two", someJob), false},
		"another machine inside": {jobSubject("one", someJob), order(own, "two", someJob), false},
		"sent to another one":    {jobSubject("two", someJob), order(own, "one", someJob), false},
		"another job inside":     {jobSubject("one", someJob), order(own, "one", other), false},
		"no order":               {jobSubject("one", someJob), []byte("{}"), false},
		"no subject of an order": {resultSubject("one", someJob), order(own, "one", someJob), false},
	} {
		o, err := a.allowed(letter{subject: c.subject, data: c.data})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if machine, job, err := splitSubject(c.subject, "job"); err == nil && (o.Machine != machine || o.Job != job) {
			t.Errorf("%s: it is taken for %.6s on %s", name, o.Job, o.Machine)
		}
	}
}

// Orders to drain and to cancel, and how a job ends that is cancelled.
func TestOrdered(t *testing.T) {
	log, cancelled := new(bytes.Buffer), 0
	a := &Agent{o: AgentOptions{Log: log, Machine: "one"}, cancelled: map[string]bool{}, changed: make(signal, 1)}
	a.begin(Order{Job: someJob, Title: "run .", Expected: time.Minute}, func() { cancelled++ })
	if l := a.live; l.Job != someJob || l.Title != "run ." || l.Left != 60 || l.Since.IsZero() {
		t.Errorf("it is at %+v", l)
	}
	for i, c := range []struct {
		what      string
		on        bool
		cancelled int
		is        bool
		drained   bool
	}{
		{"cancel.other", true, 0, false, false},
		{"cancel." + someJob, false, 0, false, false},
		{"cancel." + someJob, true, 1, true, false},
		{"cancel." + someJob, false, 1, false, false},
		{"drain", true, 1, false, true},
		{"drain", true, 1, false, true},
		{"drain", false, 1, false, false},
	} {
		a.ordered(c.what, c.on)
		if cancelled != c.cancelled || a.isCancelled(someJob) != c.is || a.isDrained() != c.drained || len(a.changed) != 1 {
			t.Errorf("order %d: ended %d times, cancelled %t, drained %t, %d changes", i, cancelled, a.isCancelled(someJob), a.isDrained(), len(a.changed))
		}
		<-a.changed
	}
	if n := strings.Count(log.String(), "drained"); n != 2 {
		t.Errorf("it says %d times that it is drained, or not", n)
	}
	a.leased(5, true)
	if a.leased(6, false); a.fence != 5 || a.revision != 6 {
		t.Errorf("the lease is %d of %d", a.revision, a.fence)
	}
	task := &task{Agent: a, order: Order{Job: someJob}}
	if _, err := task.ended(); !errors.Is(err, errEnding) {
		t.Errorf("it ends with %v", err)
	}
	a.ordered("cancel."+someJob, true)
	if r, err := task.ended(); err != nil || r.Outcome != Cancelled {
		t.Errorf("it ends with %+v, %v", r, err)
	}
	for _, c := range []struct{ longest, expected, want time.Duration }{
		{time.Hour, 0, time.Hour}, {time.Hour, time.Minute, 20 * time.Minute}, {time.Hour, time.Hour, time.Hour}, {time.Minute, time.Minute, time.Minute},
	} {
		a.o.Longest, task.order.Expected = c.longest, c.expected
		if got := task.limit(); got != c.want {
			t.Errorf("%+v: it may take %v", c, got)
		}
	}
	for err, want := range map[error]bool{errFull: true, syscall.ENOSPC: true, syscall.EDQUOT: true, syscall.EIO: false} {
		if isFull(fmt.Errorf("write: %w", err)) != want || isNoSpace(err) != (want && err != errFull) {
			t.Errorf("%v says that the disk is full: %t", err, !want)
		}
	}
}

// A job says how far it is, and leaves results that are a file.
func TestJobIsFollowed(t *testing.T) {
	home := t.TempDir()
	a := &Agent{folder: home}
	job := &task{Agent: a, folder: filepath.Join(home, someJob)}
	job.reports(strings.NewReader(`{"block":1,"of":3,"left":20}` + "\nno report\n" + `{"block":2,"left":10}` + "\n" + strings.Repeat("x", 1<<20)))
	if l := a.live; l.Block != 2 || l.Of != 3 || l.Left != 10 {
		t.Errorf("it is at %+v", l)
	}
	out := job.resultsPath()
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(home, "other")
	for name, c := range map[string]struct {
		lay func() error
		ok  bool
	}{
		"none":   {func() error { return nil }, false},
		"a file": {func() error { return os.WriteFile(out, []byte("x"), 0o600) }, true},
		"a link": {func() error { return errors.Join(os.WriteFile(other, nil, 0o600), os.Symlink(other, out)) }, false},
		"a link in there": {func() error {
			return errors.Join(os.WriteFile(out+"2", nil, 0o600), os.Symlink(filepath.Base(out)+"2", out))
		}, false},
		"a folder":       {func() error { return os.Mkdir(out, 0o755) }, false},
		"as many bytes":  {func() error { return errors.Join(os.WriteFile(out, nil, 0o600), os.Truncate(out, mostResults)) }, true},
		"too many bytes": {func() error { return errors.Join(os.WriteFile(out, nil, 0o600), os.Truncate(out, mostResults+1)) }, false},
	} {
		if err := c.lay(); err != nil {
			t.Fatal(err)
		}
		f, err := job.results()
		if f != nil {
			f.Close()
		}
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.RemoveAll(out); err != nil {
			t.Fatal(err)
		}
	}
	// Of what is done fifty stay, without what they needed.
	for i := range 51 {
		document := filepath.Join(home, fmt.Sprint(i), "job.json")
		at := time.Now().Add(-time.Duration(100-i) * time.Hour)
		if err := errors.Join(os.MkdirAll(filepath.Dir(document), 0o755), os.WriteFile(document, nil, 0o600), os.Chtimes(document, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		of   string
		gone string
	}{{"0", ""}, {"7", "0"}, {"7", ""}} {
		done := &task{Agent: a, folder: filepath.Join(home, c.of)}
		for _, name := range []string{"parts", "work", "tries", "out"} {
			if err := os.MkdirAll(filepath.Join(done.folder, name, "x"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		before, _ := filepath.Glob(filepath.Join(home, "*", "job.json"))
		done.tidy()
		after, _ := filepath.Glob(filepath.Join(home, "*", "job.json"))
		if left, _ := os.ReadDir(done.folder); len(left) != 2 || len(before)-len(after) != len(c.gone) || c.gone != "" && slices.Contains(after, filepath.Join(home, c.gone, "job.json")) {
			t.Errorf("%v are left of it, and %d of %d jobs", left, len(after), len(before))
		}
	}
}

// A results file is written once, and says of which machine and job it is.
func TestCollected(t *testing.T) {
	log := new(bytes.Buffer)
	k := &Collector{folder: t.TempDir(), log: log}
	path := filepath.Join(k.folder, "one", "run.bench")
	for i, text := range []string{"first", "first", "second"} {
		if err := k.write(path, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != "first" || strings.Contains(log.String(), "other figures") != (i == 2) {
			t.Errorf("%s: there is %q, and it says %q", text, got, log)
		}
	}
	var all sync.WaitGroup
	for range 8 { // of several collectors with one folder one is first
		all.Go(func() {
			if err := k.write(filepath.Join(k.folder, "two", "run.bench"), []byte("x")); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("it has the mode %v, %v", info.Mode(), err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
		t.Errorf("there are %v", left)
	}
	for text, want := range map[string]string{
		"job: a\nmachine: one\nblock: 1\n":                     "one a",
		"machine: one\njob: a\nmachine: two\njob: b\nblock: 1": "one a",
		"machine: one\nblock: 1\njob: a\n":                     "one ",
		"":                                                     " ",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if machine, job := k.of(path); machine+" "+job != want {
			t.Errorf("%q is of job %q on %q", text, job, machine)
		}
	}
	if machine, job := k.of(path + "x"); machine+job != "" {
		t.Errorf("what is not there is of job %q on %q", job, machine)
	}
}

// Where a server is reached, with which certificate, and how a job is begun.
func TestReached(t *testing.T) {
	home := t.TempDir()
	for _, c := range [][2]string{{"", "nats://" + DefaultListen}, {" \n", "nats://" + DefaultListen}, {"tls://x:1\n", "tls://x:1"}} {
		if c[0] != "" {
			if err := os.WriteFile(filepath.Join(home, urlName), []byte(c[0]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := ServerURL(home); got != c[1] {
			t.Errorf("%q: the server is at %s", c[0], got)
		}
	}
	for host, c := range map[string]struct {
		shown string
		own   bool
	}{
		"": {"127.0.0.1", false}, "0.0.0.0": {"127.0.0.1", false}, "::": {"127.0.0.1", false}, "localhost": {"localhost", true},
		"127.0.0.2": {"127.0.0.2", true}, "::1": {"::1", true}, "192.0.2.1": {"192.0.2.1", false}, "lab": {"lab", false},
	} {
		if shown(host) != c.shown || isLoopback(host) != c.own {
			t.Errorf("%q is shown as %s, and is of this machine: %t", host, shown(host), isLoopback(host))
		}
	}
	cert, key, err := MakeCertificate(home, []string{"lab", "192.0.2.1"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(cert)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if !c.IsCA || !slices.Equal(c.DNSNames, []string{"lab"}) || len(c.IPAddresses) != 1 || !c.IPAddresses[0].Equal(net.IPv4(192, 0, 2, 1)) || !c.NotBefore.Before(now) || c.NotAfter.Before(now.AddDate(9, 11, 0)) {
		t.Errorf("the certificate is for %v, %v, from %v to %v", c.DNSNames, c.IPAddresses, c.NotBefore, c.NotAfter)
	}
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its key has the mode %v, %v", info.Mode(), err)
	}
	lock, err := os.CreateTemp(home, "lock")
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	t.Setenv(machinelock.Env, "old")
	t.Setenv(machinelock.Env+"_OTHER", "kept")
	for _, held := range []*os.File{nil, lock} {
		cmd, err := (&Sandbox{Off: true}).command("benchrun", []string{"carry"}, "/jobs/x", held)
		if err != nil {
			t.Fatal(err)
		}
		env := slices.DeleteFunc(slices.Clone(cmd.Env), func(v string) bool { return !strings.HasPrefix(v, machinelock.Env) })
		want := []string{machinelock.Env + "_OTHER=kept", machinelock.Env + "=" + machinelock.Off}
		if held != nil {
			want[1] = machinelock.Env + "=" + machinelock.Inherited
		}
		if !slices.Equal(env, want) || len(cmd.ExtraFiles) > 0 != (held != nil) || strings.Join(cmd.Args, " ") != "benchrun carry --work /jobs/x/work --out /jobs/x/out/results.bench /jobs/x" {
			t.Errorf("%q with %q and %d files", cmd.Args, env, len(cmd.ExtraFiles))
		}
	}
	full := make(signal, 1)
	log := &serverLog{full}
	for i, err := range []error{syscall.EIO, fmt.Errorf("write: %w", syscall.ENOSPC), syscall.ENOSPC} {
		if log.Warnf("%v", err); len(full) != min(i, 1) {
			t.Errorf("%v: a full disk is told %d times", err, len(full))
		}
	}
	m := &Server{options: ServerOptions{Home: t.TempDir()}}
	if err := errors.Join(os.Mkdir(m.store(), 0o700), m.hasRoom()); err != nil {
		t.Error(err)
	}
	if m.options.Home += "x"; m.hasRoom() == nil {
		t.Error("there is room where nothing can be written")
	}
}

// What people see of a fleet: a table, a page and a program's.
func TestPages(t *testing.T) {
	long := strings.Repeat("é", widest)
	machine := func(name string, live *Live) MachineStatus {
		return MachineStatus{Machine: Machine{Machine: runner.Machine{Name: name, Platform: "linux/amd64", Cores: 1}, CPU: "x<y"}, Live: live}
	}
	s := &Status{At: time.Unix(0, 0).UTC(), Server: "here", Results: 2, Machines: []MachineStatus{
		machine("gone", nil), machine(long, &Live{State: StateFree}), machine(long+"x", &Live{State: StateMeasuring, Job: someJob, Title: "run"}),
	}}
	s.Machines[1].Platform, s.Machines[1].Host = "board/m3", "gone"
	var text, html bytes.Buffer
	if err := errors.Join(s.Text(&text), s.HTML(&html)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(text.String(), "\n")
	want := []string{"machine", "gone", long + "  free", strings.Repeat("é", widest-1) + "…  measuring  0s", "3 machines, 1 away; 2 results known; here"}
	for i, w := range want {
		if !strings.HasPrefix(lines[i], w) || strings.Contains(lines[i], "linux") {
			t.Errorf("line %d is %q, want %q", i, lines[i], w)
		}
	}
	for _, w := range []string{`<tr class="away"><td>gone`, `<tr class="free">`, `<tr class="measuring">`, "board/m3 of gone, x&lt;y", "linux/amd64, 1 core, x&lt;y", "2 results"} {
		if !strings.Contains(html.String(), w) {
			t.Errorf("the page has no %q:\n%s", w, html.String())
		}
	}
	text.Reset()
	if err := (&Status{Server: "here"}).Text(&text); err != nil || !strings.Contains(text.String(), "no machine yet") {
		t.Errorf("a fleet without machines: %q, %v", text.String(), err)
	}
	text.Reset()
	var back Status
	if err := errors.Join(s.JSON(&text), json.Unmarshal(text.Bytes(), &back)); err != nil || len(back.Machines) != 3 || back.Results != 2 {
		t.Errorf("for programs it is %+v, %v", back, err)
	}
}
