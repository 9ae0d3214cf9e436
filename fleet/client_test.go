package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/dynolab/dyno/internal/jobs"
	"github.com/dynolab/dyno/internal/record"
)

// served is a client of a server in this process, without a collector or machines.
func served(t *testing.T) *Client {
	t.Helper()
	_, c, _ := serves(t)
	return c
}

// serves is served with the server, and the user's folder.
func serves(t *testing.T) (s *Server, c *Client, home string) {
	t.Helper()
	home = t.TempDir()
	s, err := Start(ServerOptions{Home: home, Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	c, err = Connect(Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if err := c.Found(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, c, home
}

// packed is a job that no machine has to carry out.
func packed(t *testing.T, title string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	p, err := jobs.NewPacker(folder)
	if err != nil {
		t.Fatal(err)
	}
	binary := jobs.Binary{Pkg: "example.com/job", Undrivable: "not built for it"}
	if binary.Image, err = p.File("doc.go"); err == nil {
		binary.Folder, err = p.Folder("testdata/job") // another part
	}
	if err != nil {
		t.Fatal(err)
	}
	plan := &record.Plan{
		CPU: []int{1}, Blocks: 1, Time: "1x", Seed: 1, Timeout: time.Minute, Packages: []string{"."}, Bench: ".",
		Subjects: map[string]string{binary.Pkg: binary.Image}, Cases: []record.Case{{Pkg: binary.Pkg, Name: "BenchmarkX"}},
	}
	if _, err := p.Finish(&jobs.Job{Title: title, Name: "run", Platform: runtime.GOOS + "/" + runtime.GOARCH, Plan: plan.Encode(), Expected: time.Second, Binaries: []jobs.Binary{binary}}); err != nil {
		t.Fatal(err)
	}
	return folder
}

func digestOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// Objects come back as they were sent, or not at all.
func TestObjects(t *testing.T) {
	c, ctx := served(t), t.Context()
	const text = "what is sent"
	for _, o := range []struct{ digest, text string }{{digestOf(text), text}, {digestOf("another"), text}} {
		if err := c.put(ctx, o.digest, int64(len(o.text)), strings.NewReader(o.text)); err != nil {
			t.Fatal(err)
		}
	}
	read := func(digest string, most int64) (string, error) {
		var b bytes.Buffer
		err := c.object(ctx, digest, most, &b)
		return b.String(), err
	}
	if got, err := read(digestOf(text), int64(len(text))); got != text || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := read(digestOf(text), int64(len(text)-1)); !errors.Is(err, errLarger) {
		t.Errorf("more than it may be: %v", err)
	}
	if _, err := read(digestOf("another"), 100); err == nil {
		t.Error("what another one has sent under the digest is taken for it")
	}
	if _, err := read(digestOf("none"), 100); !errors.Is(err, errLost) {
		t.Errorf("what was never sent: %v", err)
	}
	if err := c.put(ctx, digestOf(text), 1, broken{}); err == nil {
		t.Error("what has another size is not sent again")
	}
	if err := c.put(ctx, digestOf("another"), int64(len(text)), broken{}); err != nil {
		t.Errorf("what is there is sent again: %v", err)
	}
	Lose(t, c, digestOf("another"))
	if _, err := read(digestOf("another"), 100); !errors.Is(err, errLost) {
		t.Errorf("what the server has lost: %v", err)
	}
	if err := c.put(ctx, digestOf("another"), 7, strings.NewReader("another")); err != nil {
		t.Fatal(err)
	}
	if got, err := read(digestOf("another"), 7); got != "another" || err != nil {
		t.Errorf("sent again it is %q, %v", got, err)
	}
	path := filepath.Join(t.TempDir(), "r")
	done := &Stored{Result: Result{Outcome: Done, SHA256: digestOf("another")}, File: "one/r.bench"}
	if err := c.Fetch(ctx, done, path); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); string(got) != "another" || err != nil {
		t.Errorf("fetched is %q, %v", got, err)
	}
	if err := c.Fetch(ctx, done, path); !errors.Is(err, os.ErrExist) {
		t.Errorf("a file that is there: %v", err)
	}
	// What was written of a try that failed is not a part of the next.
	first, again := strings.Repeat("x", objectChunk+1), strings.Repeat("y", objectChunk)
	if err := c.put(ctx, digestOf(again), 1, strings.NewReader(first)); err != nil {
		t.Fatal(err)
	}
	old := soon
	soon = 200 * time.Millisecond
	fetched := make(chan error, 1)
	go func() {
		fetched <- c.Fetch(ctx, &Stored{Result: Result{Outcome: Done, SHA256: digestOf(again)}}, path+"3")
	}()
	until(t, "begun", func() bool { info, err := os.Stat(path + "3"); return err == nil && info.Size() == int64(len(first)) })
	if err := c.put(ctx, digestOf(again), int64(len(again)), strings.NewReader(again)); err != nil {
		t.Fatal(err)
	}
	err := <-fetched
	if got, _ := os.ReadFile(path + "3"); string(got) != again || err != nil {
		t.Errorf("fetched are %d bytes, want %d: %v", len(got), len(again), err)
	}
	soon = old
	// Of what has several pieces one can be lost.
	if err := c.put(ctx, digestOf(first), int64(len(first)), strings.NewReader(first)); err != nil {
		t.Fatal(err)
	}
	pieces, err := c.js.Stream(ctx, partsStream)
	if err != nil {
		t.Fatal(err)
	}
	last, err := pieces.GetLastMsgForSubject(ctx, piecesSubject+">")
	if err == nil {
		err = pieces.DeleteMsg(ctx, last.Sequence)
	}
	if err != nil {
		t.Fatal(err)
	}
	lost := &Stored{Result: Result{Outcome: Done, SHA256: digestOf(first)}, File: "one/r.bench"}
	if err := c.Fetch(ctx, lost, path+"2"); !errors.Is(err, errLost) || !strings.Contains(err.Error(), "in its folder of results, as one/r.bench") {
		t.Errorf("what is lost: %v", err)
	}
	if err := c.Fetch(ctx, &Stored{Result: Result{Outcome: Cancelled}}, path+"2"); err == nil || !strings.Contains(err.Error(), "cancelled") {
		t.Errorf("what has no results: %v", err)
	}
	if _, err := os.Stat(path + "2"); err == nil {
		t.Error("there is a file of what has no results")
	}
}

// broken fails when it is read.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// A result is taken off the queue when it is stored, and what is in the folder is known when the
// collector begins.
func TestTaken(t *testing.T) {
	c, ctx := served(t), t.Context()
	log := new(bytes.Buffer)
	k := &Collector{client: c, folder: t.TempDir(), log: log, failed: make(map[string]int)}
	stream, err := c.js.Stream(ctx, resultsStream)
	if err != nil {
		t.Fatal(err)
	}
	for subject, says := range map[string]string{resultSubject("one", someJob): "job abababababab on one: failed", "dyno.result.A.x": "dropped"} {
		if _, err := c.js.Publish(ctx, subject, []byte(`{"outcome":"failed","said":"why"}`)); err != nil {
			t.Fatal(err)
		}
		m, err := c.next(ctx, queue{stream: resultsStream, consumer: "collector"})
		if err != nil || m.Subject() != subject {
			t.Fatal(m, err)
		}
		k.failed[subject] = 1
		k.take(ctx, m)
		for range 500 { // a dropped one is not waited for
			if _, err = stream.GetLastMsgForSubject(ctx, subject); err != nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if err == nil || !strings.Contains(log.String(), says) || says != "dropped" && k.failed[subject] != 0 {
			t.Errorf("%s: it is there still, after %q", subject, log)
		}
	}
	text := "job: " + strings.Repeat("cd", 32) + "\nmachine: one\nblock: 1\n"
	for name, text := range map[string]string{"one/a.bench": text, "one/b.bench": strings.Replace(text, "one", "A", 1), "one/c.bench": "", "one/.new-x": "x"} {
		path := filepath.Join(k.folder, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := k.remember(ctx); err != nil {
			t.Fatal(err)
		}
		s, err := c.Stored(ctx, "one", strings.Repeat("cd", 32))
		if err != nil || s == nil || s.Outcome != Done || s.File != filepath.Join("one", "a.bench") || s.SHA256 != digestOf(text) || s.Size != int64(len(text)) {
			t.Errorf("%+v, %v", s, err)
		}
	}
	if all, err := c.values(ctx, storedBucket); len(all) != 2 || err != nil {
		t.Errorf("%d results are known, %v", len(all), err)
	}
	if _, err := os.Stat(filepath.Join(k.folder, "one", ".new-x")); err == nil {
		t.Error("what a collector was killed at is there still")
	}
}

// A job is queued once, is known from there on, and becomes what is first said of it.
func TestJobsAreKnown(t *testing.T) {
	c, ctx := served(t), t.Context()
	folder := packed(t, "run X")
	_, j, err := jobs.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	var last Sending
	var id string
	for range 2 {
		if id, err = c.Submit(ctx, folder, "one", func(s Sending) { last = s }); err != nil {
			t.Fatal(err)
		}
		if last.Sent != last.Of || last.Of != j.Size() || last.Away != nil {
			t.Errorf("%+v of %d bytes", last, j.Size())
		}
	}
	stream, err := c.js.Stream(ctx, jobsStream)
	if err != nil || stream.CachedInfo().State.Msgs != 1 {
		t.Errorf("it is queued twice: %v", err)
	}
	if _, err := c.js.Publish(ctx, resultSubject("three", id), nil); err != nil {
		t.Fatal(err)
	}
	if err := c.knows(ctx, "three", id); err != nil {
		t.Errorf("it is measured, and %v", err)
	}
	queued, err := c.queue(ctx)
	if err != nil || len(queued["one"]) != 1 || queued["one"][0].Job != id || queued["one"][0].Title != "run X" || queued["one"][0].Sender != c.Key.Public {
		t.Errorf("queued are %+v, %v", queued, err)
	}
	if err := c.knows(ctx, "one", id); err != nil {
		t.Errorf("it is queued, and %v", err)
	}
	if err := c.knows(ctx, "two", id); !errors.Is(err, ErrForgotten) {
		t.Errorf("on another machine: %v", err)
	}
	if s, err := c.Stored(ctx, "one", id); s != nil || err != nil {
		t.Errorf("before it is measured it is %+v, %v", s, err)
	}
	// What was not acknowledged comes again at once.
	q := queue{jobsStream, "one", "dyno.job.one.>"}
	for range 2 {
		if m, err := c.next(ctx, q); err != nil || m == nil || m.Subject() != jobSubject("one", id) {
			t.Fatalf("next is %v, %v", m, err)
		}
	}
	for _, on := range []bool{true, false} {
		if err := c.Drain(ctx, "one", on); err != nil {
			t.Fatal(err)
		}
		orders, err := c.values(ctx, ordersBucket)
		if _, is := orders["one.drain"]; is != on || err != nil {
			t.Errorf("drained: %t, want %t, %v", is, on, err)
		}
	}
	// What it becomes.
	k := &Collector{client: c, folder: t.TempDir(), log: io.Discard}
	at := time.Unix(1e9, 0).UTC()
	said := func(r Result) []byte {
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, x := range map[string]struct {
		said    []byte
		outcome string
		text    string
		at      time.Time
	}{
		"failed":     {said(Result{Outcome: Failed, Said: "why", At: at}), Failed, "why", at},
		"long":       {said(Result{Outcome: Failed, Said: strings.Repeat("x", mostSaid+1), At: at}), Failed, "…" + strings.Repeat("x", mostSaid), at},
		"no result":  {[]byte("{"), Refused, "unexpected end of JSON input", time.Time{}},
		"no file":    {said(Result{Outcome: Done, SHA256: "x", At: at}), Refused, "it names no results file", at},
		"no size":    {said(Result{Outcome: Done, SHA256: digestOf("x"), Size: -1, At: at}), Refused, "it names no results file", at},
		"too large":  {said(Result{Outcome: Done, SHA256: digestOf("x"), Size: mostResults + 1, At: at}), Refused, "it names no results file", at},
		"and larger": {said(Result{Outcome: Done, SHA256: j.Parts[0].SHA256, Size: 1, At: at}), Refused, "larger", at},
		"no figures": {said(Result{Outcome: Done, SHA256: j.Parts[0].SHA256, Size: j.Parts[0].Size, At: at}), Refused, "", at},
	} {
		machine := strings.ReplaceAll(name, " ", "-")
		if err := c.Cancel(ctx, machine, id); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := k.keep(ctx, machine, id, x.said); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			x.said = said(Result{Outcome: Cancelled}) // the first word counts
		}
		s, err := c.Wait(ctx, machine, id, func(string) {})
		if err != nil || s.Outcome != x.outcome || !strings.Contains(s.Said, x.text) || !s.At.Equal(x.at) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
		if orders, err := c.values(ctx, ordersBucket); len(orders) != 0 || err != nil {
			t.Errorf("%s: orders are %v, %v", name, orders, err)
		}
		if err := c.knows(ctx, machine, id); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.Submit(ctx, folder, "failed", nil); err != nil {
		t.Fatal(err)
	}
	if queued, err := c.queue(ctx); len(queued["failed"]) != 0 || err != nil {
		t.Errorf("what is known is queued again: %v, %v", queued, err)
	}
	if _, err := c.Wait(ctx, "two", id, func(string) {}); !errors.Is(err, ErrForgotten) {
		t.Errorf("of what nobody knows it is waited for: %v", err)
	}
	// What machines do.
	live := &Live{State: StateMeasuring, Job: id, Left: 0.001, Since: time.Now().Add(-time.Minute)}
	for _, m := range []string{"one", "a"} {
		for bucket, v := range map[string]any{machinesBucket: Machine{CPU: "x"}, liveBucket: live} {
			kv, err := c.js.KeyValue(ctx, bucket)
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(v)
			if err == nil && (bucket == machinesBucket || m == "one") {
				_, err = kv.Put(ctx, m, text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := c.Drain(ctx, "a", true); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * time.Millisecond) // what was left is over
	s, err := c.Status(ctx)
	if err != nil || len(s.Machines) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	a, one := s.Machines[0], s.Machines[1]
	if a.Name != "a" || a.Live != nil || !a.Drained || one.Name != "one" || one.CPU != "x" || one.Drained || one.Live == nil || one.Live.Left != 0 || one.For < 59 || len(one.Queue) != 0 || s.Results == 0 || s.Server != c.URL {
		t.Errorf("%+v", s)
	}
}

// What needs the server is done again when that was away, or does not answer; what fails with one
// that answers fails after a few times.
func TestInsist(t *testing.T) {
	s, c, _ := serves(t)
	boom := errors.New("boom")
	for name, x := range map[string]struct {
		errs  []error // of each time; boom has the server begin anew meanwhile
		want  error
		times int
		waits []error
	}{
		"done":      {errs: []error{nil}, times: 1},
		"fails":     {errs: []error{io.EOF}, want: io.EOF, times: mostTries, waits: []error{io.EOF, io.EOF}},
		"is silent": {errs: []error{nats.ErrTimeout, context.DeadlineExceeded, nats.ErrTimeout, nats.ErrTimeout, nil}, times: 5, waits: []error{nats.ErrTimeout, context.DeadlineExceeded, nats.ErrTimeout, nats.ErrTimeout}},
		"is away":   {errs: []error{boom, io.EOF, io.EOF, nil}, times: 4, waits: []error{nats.ErrDisconnected, io.EOF, io.EOF}},
	} {
		var waits []error
		times := 0
		err := c.insist(t.Context(), func(why error) { waits = append(waits, why) }, func(ctx context.Context) error {
			err := x.errs[min(times, len(x.errs)-1)]
			times++
			if err == boom {
				if err = s.restart(); err != nil {
					return err
				}
				<-ctx.Done() // the connection is lost
				until(t, "connected", c.conn.IsConnected)
				err = io.ErrUnexpectedEOF
			}
			return err
		})
		if err != x.want || times != x.times || !slices.Equal(waits, x.waits) {
			t.Errorf("%s: %v after %d times and %v, want %v after %d and %v", name, err, times, waits, x.want, x.times, x.waits)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := c.insist(ctx, nil, func(context.Context) error { cancel(); return boom }); err != boom {
		t.Errorf("ended it is %v", err)
	}

	// The connection that was there before is not taken for the one that is there now.
	again := c.reconnected()
	if c.wasAway(again) {
		t.Error("the server was away")
	}
	s.Stop()
	until(t, "away", func() bool { return !c.conn.IsConnected() })
	if !c.wasAway(again) {
		t.Error("the server is there")
	}
	if err := c.whileThere(t.Context(), func(context.Context) error { t.Error("it is done without a server"); return nil }); err != nats.ErrDisconnected {
		t.Errorf("without a server: %v", err)
	}
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
	<-again
	if !c.wasAway(again) || c.wasAway(c.reconnected()) {
		t.Error("the server was not away, or is")
	}
	if err := c.whileThere(t.Context(), func(context.Context) error { return boom }); err != boom {
		t.Errorf("what fails: %v", err)
	}
	if err := c.whileThere(t.Context(), func(ctx context.Context) error { s.Stop(); <-ctx.Done(); return boom }); err != nats.ErrDisconnected {
		t.Errorf("a server that goes away: %v", err)
	}
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
}

// A job that is being sent when the server goes away is sent when that is back, and its sender is
// told how far it is.
func TestSending(t *testing.T) {
	s, c, _ := serves(t)
	folder := packed(t, "run X")
	_, j, err := jobs.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	var at []Sending
	id, err := c.Submit(t.Context(), folder, "one", func(now Sending) {
		switch at = append(at, now); len(at) {
		case 1:
			s.Stop()
		case 2:
			if err := s.begin(); err != nil {
				t.Error(err)
			}
		}
	})
	of, first := j.Size(), j.Parts[0].Size
	want := []Sending{{Sent: first, Of: of}, {Sent: first, Of: of, Away: nats.ErrDisconnected}}
	if err != nil || len(at) < 4 || !slices.Equal(at[:2], want) || !slices.Equal(at[len(at)-2:], []Sending{{Sent: first, Of: of}, {Sent: of, Of: of}}) {
		t.Errorf("it is at %+v, %v", at, err)
	}
	if queued, err := c.queue(t.Context()); err != nil || len(queued["one"]) != 1 || queued["one"][0].Job != id || queued["one"][0].Expected != time.Second || time.Since(queued["one"][0].At) > time.Minute {
		t.Errorf("queued are %+v, %v", queued, err)
	}
	// Who waits for it is told what the machine says, and that the connection was closed.
	jobsOf, err := c.js.Stream(t.Context(), jobsStream)
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 1000)
	waited := make(chan error, 1)
	other, err := Connect(Options{Home: filepath.Dir(s.store()), URL: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, err := other.Wait(t.Context(), "one", id, func(text string) { told <- text })
		waited <- err
	}()
	for ok := false; !ok; {
		if err := errors.Join(c.conn.Publish(noteSubject("one", id), []byte("a\nb\a")), c.conn.Flush()); err != nil {
			t.Fatal(err)
		}
		select {
		case text := <-told:
			ok = true
			if text != `a b\a` {
				t.Errorf("it is told %q", text)
			}
		case <-time.After(10 * time.Millisecond): // it has not subscribed yet
		}
	}
	if err := errors.Join(jobsOf.Purge(t.Context()), c.conn.Publish(noteSubject("one", id), []byte("x"))); err != nil {
		t.Fatal(err)
	}
	if err := <-waited; !errors.Is(err, ErrForgotten) {
		t.Errorf("a job that is not there any more: %v", err)
	}
	if _, err := c.Submit(t.Context(), folder, "one", nil); err != nil {
		t.Fatal(err)
	}
	often := leaseTime
	leaseTime = 10 * time.Millisecond // it looks without a note, too
	wait := func() { _, err := other.Wait(t.Context(), "one", id, func(string) {}); waited <- err }
	go wait()
	if jobsOf.Purge(t.Context()) != nil || !errors.Is(<-waited, ErrForgotten) {
		t.Error("it does not look whether the job is there")
	}
	leaseTime = often
	if _, err := c.Submit(t.Context(), folder, "one", nil); err != nil {
		t.Fatal(err)
	}
	go wait()
	other.Close()
	if err := <-waited; err == nil {
		t.Errorf("it ends with %v", err)
	}
	ended := make(chan error, 2)
	go func() { ended <- Collect(t.Context(), other, t.TempDir(), io.Discard) }()
	go func() { ended <- (&Agent{client: other}).work(t.Context(), t.Context()) }()
	for range cap(ended) {
		if err := <-ended; err == nil {
			t.Error("it goes on without a connection")
		}
	}
}

// A certificate in the user's folder is for the user's own server by TLS, and --ca is for any.
func TestCertificates(t *testing.T) {
	s, _, home := serves(t)
	cert, key, err := MakeCertificate(home, []string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	secure, err := Start(ServerOptions{Home: t.TempDir(), Listen: "127.0.0.1:0", Cert: cert, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	defer secure.Stop()
	own, err := OwnKey(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(Allow(secure.options.Home, Grant{Role: RoleSender, Key: own.Public}), secure.Reload()); err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	seed, err := os.ReadFile(filepath.Join(home, keyName))
	if err == nil {
		err = os.WriteFile(filepath.Join(elsewhere, keyName), seed, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		name string
		o    Options
		ok   bool
	}{
		{"plain, with a certificate that is there", Options{Home: home, URL: s.URL}, true},
		{"by TLS", Options{Home: home, URL: secure.URL}, true},
		{"by TLS, with none", Options{Home: elsewhere, URL: secure.URL}, false},
		{"by TLS, with one that is named", Options{Home: elsewhere, URL: secure.URL, CA: cert}, true},
		{"without a server", Options{Home: home, URL: "nats://127.0.0.1:1"}, false},
		{"patiently", Options{Home: home, URL: "nats://127.0.0.1:1", Patient: true}, true},
		{"by TLS, with one that is not there", Options{Home: home, URL: secure.URL, CA: cert + "x"}, false},
	} {
		c, err := Connect(x.o)
		if err == nil {
			c.Close()
		}
		if (err == nil) != x.ok {
			t.Errorf("%s: %v", x.name, err)
		}
	}
	for _, x := range []struct{ cert, key, listen, want string }{
		{cert, "", "127.0.0.1:0", "need each other"},
		{"", key, "127.0.0.1:0", "need each other"},
		{key, cert, "127.0.0.1:0", "tls"},
		{"", "", "0.0.0.0:0", "needs --cert and --key"},
		{"", "", "x", "--listen"},
		{"", "", "127.0.0.1:x", "the port is not a number"},
	} {
		if s, err := Start(ServerOptions{Home: t.TempDir(), Listen: x.listen, Cert: x.cert, Key: x.key}); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%+v: %v", x, err)
			if err == nil {
				s.Stop()
			}
		}
	}
	old := &tls.Config{MaxVersion: tls.VersionTLS12, InsecureSkipVerify: true}
	if c, err := nats.Connect(secure.URL, nats.Secure(old)); err == nil || !strings.Contains(err.Error(), "protocol version") {
		t.Errorf("by TLS 1.2: %v", err)
		if err == nil {
			c.Close()
		}
	}
}
