package fleet

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// What the server keeps, how long, and that it is on the disk.
func TestFound(t *testing.T) {
	s, c, home := serves(t)
	ctx := t.Context()
	if text, err := os.ReadFile(filepath.Join(home, urlName)); string(text) != s.URL+"\n" || ServerURL(home) != s.URL || err != nil {
		t.Errorf("where it listens is %q, %v", text, err)
	}
	if info, err := os.Stat(filepath.Join(home, urlName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if o := s.nats.JetStreamConfig(); !o.SyncAlways || o.MaxStore != 1<<50 || !strings.HasPrefix(o.StoreDir, s.store()) {
		t.Errorf("it stores %+v", o)
	}
	for name, want := range map[string]jetstream.StreamConfig{
		jobsStream:    {Subjects: []string{"dyno.job.>"}, Retention: jetstream.WorkQueuePolicy, MaxMsgSize: mostOrder, AllowDirect: true, MaxMsgsPerSubject: -1},
		resultsStream: {Subjects: []string{"dyno.result.>"}, Retention: jetstream.WorkQueuePolicy, MaxMsgSize: mostResult, AllowDirect: true, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, AllowRollup: true},
	} {
		stream, err := c.js.Stream(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		got := stream.CachedInfo().Config
		if got.Subjects[0] != want.Subjects[0] || got.Retention != want.Retention || got.MaxMsgSize != want.MaxMsgSize || got.AllowDirect != want.AllowDirect || got.MaxMsgsPerSubject != want.MaxMsgsPerSubject ||
			got.Discard != want.Discard || got.DiscardNewPerSubject != want.DiscardNewPerSubject || got.AllowRollup != want.AllowRollup || got.Storage != jetstream.FileStorage || got.MaxAge != 0 {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
	for name, want := range map[string]time.Duration{machinesBucket: 0, ordersBucket: 0, storedBucket: 0, liveBucket: leaseTime} {
		stream, err := c.js.Stream(ctx, "KV_"+name)
		if err != nil {
			t.Fatal(err)
		}
		if got := stream.CachedInfo().Config; got.MaxAge != want || (got.Storage == jetstream.MemoryStorage) != (want > 0) || got.MaxMsgsPerSubject != 1 {
			t.Errorf("%s keeps %d for %v in %v", name, got.MaxMsgsPerSubject, got.MaxAge, got.Storage)
		}
	}
	q, err := c.consumer(ctx, queue{jobsStream, "one", "dyno.job.one.>"})
	if err != nil {
		t.Fatal(err)
	}
	if o := q.CachedInfo().Config; o.AckPolicy != jetstream.AckExplicitPolicy || o.AckWait != leaseTime || o.MaxAckPending != 1 || o.MaxDeliver != -1 || o.FilterSubject != "dyno.job.one.>" || o.Durable != "one" {
		t.Errorf("what a machine takes is %+v", o)
	}
	if patience != [3]time.Duration{time.Second, 5 * time.Second, leaseTime} || beat != leaseTime/3 {
		t.Errorf("it is waited for %v, with a beat of %v", patience, beat)
	}
	// The next message is that of another life, too, and nil if none comes.
	for _, name := range []string{"a", "b"} {
		if _, err := c.js.Publish(ctx, "dyno.job.one."+name, nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"dyno.job.one.a", "dyno.job.one.a", "dyno.job.one.b"} {
		m, err := c.next(ctx, queue{jobsStream, "one", "dyno.job.one.>"})
		if err != nil || m.Subject() != want {
			t.Fatalf("%d: the next is %v, %v", i, m, err)
		}
		if i > 0 {
			if err := m.DoubleAck(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	defer cancel()
	if m, err := c.next(short, queue{jobsStream, "one", "dyno.job.one.>"}); m != nil {
		t.Errorf("there is %v, %v", m, err)
	}
	// Who waits for one asks again when the server was away.
	next := make(chan error, 1)
	go func() { _, err := c.next(ctx, queue{jobsStream, "one", "dyno.job.one.>"}); next <- err }()
	until(t, "waiting", func() bool {
		q, err := c.js.Consumer(ctx, jobsStream, "one")
		return err == nil && q.CachedInfo().NumWaiting > 0
	})
	if err := s.restart(); err != nil {
		t.Fatal(err)
	}
	<-next // else it takes half a minute, which the test's time is too short for
}

// Keys are let in as the file says, which is read again, and the first line of a key counts.
func TestReload(t *testing.T) {
	s, c, home := serves(t)
	at := Options{Home: t.TempDir(), URL: s.URL}
	key, err := OwnKey(at.Home)
	if err != nil {
		t.Fatal(err)
	}
	in := func() bool {
		c, err := Connect(at)
		if err == nil {
			c.Close()
		}
		return err == nil
	}
	for _, x := range []struct {
		text string
		ok   bool // the file
		in   bool
	}{
		{"", true, false},
		{"sender " + key.Public + "\n", true, true},
		{"no role\n", false, true}, // the keys stay as they were
		{"sender " + key.Public + "\nsender " + c.Key.Public + "\n", true, true},
		{"", true, false},
	} {
		if err := os.WriteFile(filepath.Join(home, grantsName), []byte(x.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := s.Reload(); (err == nil) != x.ok || in() != x.in {
			t.Errorf("%q: %v, it is let in: %t", x.text, err, !x.in)
		}
	}
	if err := c.Found(t.Context()); err != nil {
		t.Errorf("the own key may not everything any more: %v", err)
	}
	if s.base.Port == 0 || !strings.HasSuffix(s.URL, "127.0.0.1:"+strings.TrimPrefix(s.nats.Addr().String(), "127.0.0.1:")) {
		t.Errorf("it is at %s, and %s", s.URL, s.nats.Addr())
	}
}

// A server that could not write begins anew when there is room.
func TestMend(t *testing.T) {
	s, c, _ := serves(t)
	log := new(spoken)
	if _, err := c.Submit(t.Context(), packed(t, "run X"), "one", nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	mended := make(chan struct{})
	go func() { s.Mend(ctx, log); close(mended) }()
	s.Stop()
	if err := os.Rename(s.store(), s.store()+"2"); err != nil {
		t.Fatal(err)
	}
	began := make(chan error, 1)
	go func() { began <- s.Found(ctx, c, log) }()
	until(t, "waiting", func() bool { return log.has("the fleet begins when there is room for it") })
	s.full.say()
	until(t, "full", func() bool { return log.has("the disk with " + s.store() + " is full") })
	s.mu.Lock()
	s.base.ServerName = "no name"
	s.mu.Unlock()
	if err := os.Rename(s.store()+"2", s.store()); err != nil {
		t.Fatal(err)
	}
	until(t, "refused", func() bool { return log.has("the server does not begin anew") })
	s.mu.Lock()
	s.base.ServerName = "dyno"
	s.mu.Unlock()
	until(t, "mended", func() bool { return log.has("there is room again") })
	if err := <-began; err != nil || log.count("the fleet begins") != 1 || log.has("room-") {
		t.Errorf("the fleet begins with %v\n%s", err, log)
	}
	if queued, err := c.queue(ctx); len(queued["one"]) != 1 || err != nil {
		t.Errorf("what was queued is %v, %v", queued, err)
	}
	cancel()
	<-mended
	s.full.say()
	if err := s.restart(); err != nil || len(s.full) != 0 {
		t.Errorf("what the last server has said is heard of this one, %v", err)
	}
	if left, err := filepath.Glob(filepath.Join(s.store(), "room-*")); len(left) > 0 || err != nil {
		t.Errorf("there are %v, %v", left, err)
	}
	c.Close()
	if err := s.Found(t.Context(), c, log); err == nil || log.count("the fleet begins") != 1 {
		t.Errorf("what fails with room is %v", err)
	}
}

// The page of the status, and what programs read of it.
func TestPage(t *testing.T) {
	_, c, _ := serves(t)
	get := func(method, path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		c.Page().ServeHTTP(w, httptest.NewRequest(method, path, nil))
		return w
	}
	for _, x := range []struct {
		method, path string
		status       int
		kind, body   string
	}{
		{"GET", "/", http.StatusOK, "text/html; charset=utf-8", "<!"},
		{"GET", "/status.json", http.StatusOK, "application/json", "{"},
		{"GET", "/x", http.StatusNotFound, "text/plain; charset=utf-8", ""},
		{"POST", "/", http.StatusMethodNotAllowed, "text/plain; charset=utf-8", ""},
	} {
		w := get(x.method, x.path)
		h := w.Header()
		if w.Code != x.status || h.Get("Content-Type") != x.kind || !strings.HasPrefix(w.Body.String(), x.body) {
			t.Errorf("%s %s: %d, %v", x.method, x.path, w.Code, h)
		}
		if x.status == http.StatusOK && (h.Get("Cache-Control") != "no-store" || h.Get("Content-Security-Policy") != "default-src 'none'; style-src 'unsafe-inline'") {
			t.Errorf("%s: %v", x.path, h)
		}
	}
	if err := c.js.DeleteKeyValue(t.Context(), ordersBucket); err != nil {
		t.Fatal(err)
	}
	if w := get("GET", "/"); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "has no fleet yet") {
		t.Errorf("a server without a fleet: %d, %s", w.Code, w.Body)
	}
}

// A status is of the machines whose names can be, in order, with what is queued for each.
func TestStatus(t *testing.T) {
	c, ctx := served(t), t.Context()
	put := func(bucket, key, text string) {
		t.Helper()
		kv, err := c.js.KeyValue(ctx, bucket)
		if err == nil {
			_, err = kv.PutString(ctx, key, text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"c": `{"name":"x","cores":4}`, "a": "{}", "b": "{}", "bad": "{", "A": "{}"} {
		put(machinesBucket, name, text)
	}
	put(liveBucket, "a", "{")
	put(liveBucket, "b", `{"state":"free","left":5}`)
	put(liveBucket, "c", `{"state":"measuring","job":"x","left":100,"since":"2000-01-01T00:00:00Z"}`)
	put(ordersBucket, "a.drain", "x")
	ids := []string{strings.Repeat("cd", 32), strings.Repeat("ab", 32), strings.Repeat("ef", 32)}
	for _, id := range ids {
		order, err := c.Key.sign(Order{Job: id, Machine: "b"})
		if err == nil {
			_, err = c.js.Publish(ctx, jobSubject("b", id), order)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.js.Publish(ctx, jobSubject("b", digestOf("x")), []byte("no order")); err != nil {
		t.Fatal(err)
	}
	for _, job := range ids {
		put(storedBucket, "a."+job, "{}")
	}
	s, err := c.Status(ctx)
	if err != nil || len(s.Machines) != 3 {
		t.Fatalf("%+v, %v", s, err)
	}
	a, b, m := s.Machines[0], s.Machines[1], s.Machines[2]
	if a.Name != "a" || a.Live != nil || !a.Drained || b.Name != "b" || b.Drained || b.Live.Left != 5 || b.For != 0 || m.Name != "c" || m.Cores != 4 || m.Live.Left > 100 || m.Live.Left < 40 || m.For < 1e8 || s.Results != 3 || time.Since(s.At) > time.Minute {
		t.Errorf("%+v", s)
	}
	var queue []string
	for _, o := range b.Queue {
		queue = append(queue, o.Job)
	}
	if !slices.Equal(queue, ids) || len(a.Queue)+len(m.Queue) > 0 || mostQueued != 200 {
		t.Errorf("queued are %v", queue)
	}
}
