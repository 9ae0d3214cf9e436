package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/dynolab/dyno/internal/jobs"
)

// answered is a message that says what became of it: of a result, with so many behind it.
type answered struct {
	letter
	sequence, behind uint64
	acked            *string
	alive            *atomic.Int64 // how often it was said
}

func (a answered) say(what string) error { *a.acked += what; return nil }

func (a answered) DoubleAck(context.Context) error { return a.say("ack ") }
func (a answered) Nak() error                      { return a.say("nak ") }
func (a answered) Term() error                     { return a.say("term ") }
func (a answered) InProgress() error               { a.alive.Add(1); return nil }

func (a answered) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{NumPending: a.behind, Sequence: jetstream.SequencePair{Stream: a.sequence}}, nil
}

// What cannot be stored now waits behind others, is forgotten if it is the server that has lost a
// part of it, and waits as long as it takes if it is not.
func TestNotStored(t *testing.T) {
	s, c, _ := serves(t)
	ctx := t.Context()
	log := new(bytes.Buffer)
	k := &Collector{client: c, folder: t.TempDir(), log: log, failed: make(map[string]int)}
	stream, err := c.js.Stream(ctx, resultsStream)
	if err != nil {
		t.Fatal(err)
	}
	folder := packed(t, "run X")
	id, err := c.Submit(ctx, folder, "one", nil)
	if err != nil {
		t.Fatal(err)
	}
	figures := figuresOf(t, folder, "one")
	digest := digestOf(string(figures))
	said, err := json.Marshal(Result{Outcome: Done, SHA256: digest, Size: int64(len(figures))})
	if err != nil {
		t.Fatal(err)
	}
	result := letter{subject: resultSubject("one", id), data: said}
	publish := func() uint64 {
		t.Helper()
		at, err := c.js.Publish(ctx, result.subject, said, jetstream.WithExpectLastSequencePerSubject(0))
		if err != nil {
			t.Fatal(err)
		}
		return at.Sequence
	}
	notes, err := c.conn.SubscribeSync(noteSubject("one", id))
	if err != nil {
		t.Fatal(err)
	}

	other, err := c.js.Publish(ctx, resultSubject("two", id), said) // waits, too
	if err != nil {
		t.Fatal(err)
	}

	// The server has no figures: they are asked for three times.
	sequence := publish()
	for i, want := range []string{"term ", "term ", "ack "} {
		acked := ""
		k.take(ctx, answered{result, sequence, 1, &acked, nil})
		last, err := stream.GetLastMsgForSubject(ctx, result.subject)
		if err != nil {
			t.Fatal(err)
		}
		if behind := last.Sequence > sequence; acked != want || behind != (i < 2) || !bytes.Equal(last.Data, said) {
			t.Errorf("after %d tries: %s, behind others: %t", i+1, acked, behind)
		}
		sequence = last.Sequence
	}
	if n := strings.Count(log.String(), "is not stored yet"); n != 1 || !strings.Contains(log.String(), "has to be sent again") || len(k.failed) != 0 {
		t.Errorf("%d times it says that it is not stored: %s; %v", n, log, k.failed)
	}
	if _, err := stream.GetMsg(ctx, other.Sequence); err != nil {
		t.Errorf("the other result: %v", err)
	}
	if note, err := notes.NextMsg(time.Second); err != nil || !strings.Contains(string(note.Data), "lost") {
		t.Errorf("its sender is told %v, %v", note, err)
	}

	// It cannot be put back, since there is another one by now.
	acked := ""
	k.putBack(ctx, answered{result, sequence - 1, 1, &acked, nil})
	if acked != "nak " {
		t.Errorf("an older one is put back: %s", acked)
	}
	// Alone, it waits.
	old := storeAgainAfter
	storeAgainAfter = time.Hour
	short, cancel := context.WithCancel(ctx)
	time.AfterFunc(50*time.Millisecond, cancel)
	acked = ""
	k.putBack(short, answered{result, sequence, 0, &acked, nil})
	if storeAgainAfter = old; acked != "nak " {
		t.Errorf("alone it does not wait: %s", acked)
	}

	// An object that has its name only is not there, and is sent again.
	if err := c.put(ctx, digest, int64(len(figures)), bytes.NewReader(figures)); err != nil {
		t.Fatal(err)
	}
	Lose(t, c, digest)
	acked = ""
	k.failed[result.subject] = mostTries - 1
	k.take(ctx, answered{result, sequence, 1, &acked, nil})
	store, err := c.js.ObjectStore(ctx, partsBucket)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.GetInfo(ctx, digest); acked != "ack " || !errors.Is(err, jetstream.ErrObjectNotFound) {
		t.Errorf("of what is lost the name stays: %s, %v", acked, err)
	}

	// A folder that cannot be written is no fault of a result.
	if err := c.put(ctx, digest, int64(len(figures)), bytes.NewReader(figures)); err != nil {
		t.Fatal(err)
	}
	good := k.folder
	k.folder = filepath.Join(good, "file")
	if err := os.WriteFile(k.folder, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for range mostTries + 1 {
		acked = ""
		if k.take(ctx, answered{result, sequence, 1, &acked, nil}); acked != "nak " || k.failed[result.subject] != 1 {
			t.Errorf("a full disk: %s, %v", acked, k.failed)
		}
	}
	k.folder = good
	// Neither is a server that is away.
	s.Stop()
	until(t, "away", func() bool { return !c.conn.IsConnected() })
	for range mostTries + 1 {
		acked = ""
		if k.take(ctx, answered{result, sequence, 1, &acked, nil}); acked != "nak " || k.failed[result.subject] != 1 {
			t.Errorf("a server that is away: %s, %v", acked, k.failed)
		}
	}
	if err := s.begin(); err != nil {
		t.Fatal(err)
	}
	until(t, "connected", c.conn.IsConnected)
	acked = ""
	k.take(ctx, answered{result, sequence, 1, &acked, nil})
	stored, err := c.Stored(ctx, "one", id)
	if acked != "ack " || err != nil || stored == nil || stored.Outcome != Done || len(k.failed) != 0 {
		t.Errorf("at last: %s, %+v, %v, %v", acked, stored, err, k.failed)
	}
	if text, err := os.ReadFile(filepath.Join(k.folder, stored.File)); err != nil || !bytes.Equal(text, figures) {
		t.Errorf("stored is %q, %v", text, err)
	}
}

// Results are those of the job, its plan and the machine, and all of them.
func TestChecked(t *testing.T) {
	folder, other := packed(t, "run X"), packed(t, "run Y")
	document, j, err := jobs.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	id := jobs.ID(document)
	plan := *j
	plan.Plan = strings.Replace(j.Plan, "BenchmarkX", "BenchmarkY", 1)
	document, err = plan.Encode()
	if err != nil {
		t.Fatal(err)
	}
	another, err := jobs.Decode(document)
	if err != nil {
		t.Fatal(err)
	}
	figures := figuresOf(t, folder, "one")
	for name, x := range map[string]struct {
		data []byte
		of   *jobs.Job
		want string
	}{
		"the job's":          {figures, j, ""},
		"of another job":     {figuresOf(t, other, "one"), j, "it is of the job "},
		"of another machine": {figuresOf(t, folder, "two"), j, `it is of the machine "two"`},
		"of another plan":    {figures, another, "it is of the plan "},
		"torn":               {figures[:len(figures)-1], j, "what the machine sent ends in the middle of"},
	} {
		err := check(x.data, "one", id, x.of)
		if err == nil {
			err = errors.New("")
		}
		if x.want == "" && err.Error() != "" || !strings.HasPrefix(err.Error(), x.want) {
			t.Errorf("%s: %v, want %s", name, err, x.want)
		}
	}
}

// The server keeps what jobs need that are queued, or whose results are not stored yet, and what
// others have needed for a while.
func TestSwept(t *testing.T) {
	c, ctx := served(t), t.Context()
	k := &Collector{client: c, log: new(bytes.Buffer)}
	store, err := c.js.ObjectStore(ctx, partsBucket)
	if err != nil {
		t.Fatal(err)
	}
	put := func(text string) string {
		t.Helper()
		if err := c.put(ctx, digestOf(text), int64(len(text)), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		return digestOf(text)
	}
	publish := func(subject string) {
		t.Helper()
		if _, err := c.js.Publish(ctx, subject, nil); err != nil {
			t.Fatal(err)
		}
	}
	folder := packed(t, "run X")
	_, j, err := jobs.Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	id, err := c.Submit(ctx, folder, "one", nil)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{id: "document", j.Parts[0].SHA256: "part", j.Parts[1].SHA256: "part 2"}
	for _, text := range []string{"result", "unneeded", "no document"} {
		names[put(text)] = text
	}
	for digest, text := range names {
		if text == "no document" {
			publish(jobSubject("one", digest))
		}
	}
	publish(jobSubject("one", digestOf("never sent")))
	publish("dyno.job.A.x")
	if err := k.tell(ctx, "two", id, &Stored{Result: Result{Outcome: Done, SHA256: digestOf("result")}}); err != nil {
		t.Fatal(err)
	}
	PutTwice(t, c, "twice")
	info, err := store.GetInfo(ctx, digestOf("unneeded"))
	if err != nil {
		t.Fatal(err)
	}
	result, err := store.GetInfo(ctx, digestOf("result"))
	if err != nil {
		t.Fatal(err)
	}
	jobsOf, err := c.js.Stream(ctx, jobsStream)
	if err != nil {
		t.Fatal(err)
	}
	all := "document,no document,part,part 2,result,unneeded"
	for _, x := range []struct {
		name string
		at   time.Time
		do   func()
		want string
	}{
		{"at once", time.Now(), nil, all},
		{"a moment before a day", info.ModTime.Add(keepParts - 1), nil, all},
		{"after a day", info.ModTime.Add(keepParts), nil, "document,no document,part,part 2,result"},
		{"a moment before a month", result.ModTime.Add(keepResults - 1), nil, "document,no document,part,part 2,result"},
		{"after a month", result.ModTime.Add(keepResults), nil, "document,no document,part,part 2"},
		{"when it is measured", result.ModTime.Add(keepResults), func() {
			publish(resultSubject("one", id))
			if err := jobsOf.Purge(ctx); err != nil {
				t.Fatal(err)
			}
		}, "document,part,part 2"},
	} {
		if x.do != nil {
			x.do()
		}
		if err := k.sweep(ctx, x.at); err != nil {
			t.Errorf("%s: %v", x.name, err)
		}
		if got := strings.Join(kept(t, c, names), ","); got != x.want {
			t.Errorf("%s the server has %s, want %s", x.name, got, x.want)
		}
	}
	// What cannot be read may need anything.
	if err := c.put(ctx, digestOf("changed"), 1, strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	publish(jobSubject("one", digestOf("changed")))
	names[put("unneeded")] = "unneeded"
	if err := k.sweep(ctx, time.Now().Add(keepResults)); err == nil || len(kept(t, c, names)) != 4 {
		t.Errorf("it is swept all the same, %v", err)
	}
}

// kept are the names of the objects that the server has all of.
func kept(t *testing.T, c *Client, names map[string]string) (all []string) {
	t.Helper()
	store, err := c.js.ObjectStore(t.Context(), partsBucket)
	if err != nil {
		t.Fatal(err)
	}
	for digest, name := range names {
		if _, err := c.find(t.Context(), store, digest); err == nil {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// A collector makes what a server has lost that has begun anew, and sweeps now and then.
func TestCollect(t *testing.T) {
	s, c, _ := serves(t)
	log := new(spoken)
	if err := c.js.DeleteObjectStore(t.Context(), partsBucket); err != nil { // there is nothing to sweep
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Collect(ctx, c, t.TempDir(), log) }()
	for i := range 3 {
		if _, err := c.js.Publish(ctx, fmt.Sprintf("dyno.result.A.%d", i), nil); err != nil {
			t.Fatal(err)
		}
		until(t, "dropped", func() bool { return log.count("dropped") == i+1 })
	}
	if n := log.count("stays for another hour"); n != 1 {
		t.Errorf("it has tried %d times to sweep", n)
	}
	again := c.reconnected()
	if err := s.restart(); err != nil {
		t.Fatal(err)
	}
	<-again
	until(t, "found", func() bool {
		_, live := c.js.KeyValue(ctx, liveBucket)
		_, parts := c.js.ObjectStore(ctx, partsBucket)
		return live == nil && parts == nil
	})
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
