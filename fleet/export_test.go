package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// patience is how long others wait: see soon, storeAgainAfter and retryAfter.
var patience = [3]time.Duration{soon, storeAgainAfter, retryAfter}

func init() {
	soon, storeAgainAfter, retryAfter = 10*time.Millisecond, 10*time.Millisecond, 10*time.Millisecond
}

// Lose has the server lose the pieces of an object, and keep its name.
func Lose(t *testing.T, c *Client, digest string) {
	t.Helper()
	store, err := c.js.ObjectStore(t.Context(), partsBucket)
	if err != nil {
		t.Fatal(err)
	}
	info, err := store.GetInfo(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := c.js.Stream(t.Context(), partsStream)
	if err == nil {
		err = stream.Purge(t.Context(), jetstream.WithPurgeSubject(piecesSubject+info.NUID))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// PutTwice has two clients send the same part at a time, and returns how many of its pieces the
// server has.
func PutTwice(t *testing.T, c *Client, digest string) (pieces func() int) {
	t.Helper()
	store, err := c.js.ObjectStore(t.Context(), partsBucket)
	if err != nil {
		t.Fatal(err)
	}
	put := func(r io.Reader) {
		if _, err := store.Put(t.Context(), jetstream.ObjectMeta{Name: digest}, r); err != nil {
			t.Fatal(err)
		}
	}
	put(&during{bytes.NewReader([]byte("x")), func() { put(bytes.NewReader([]byte("x"))) }})
	return func() int {
		stream, err := c.js.Stream(t.Context(), partsStream)
		if err != nil {
			t.Fatal(err)
		}
		info, err := stream.Info(t.Context(), jetstream.WithSubjectFilter(piecesSubject+">"))
		if err != nil {
			t.Fatal(err)
		}
		return len(info.State.Subjects)
	}
}

// during does something before it is read.
type during struct {
	io.Reader
	do func()
}

func (d *during) Read(p []byte) (int, error) {
	if do := d.do; do != nil {
		d.do = nil
		do()
	}
	return d.Reader.Read(p)
}

// Transfers are what moves an object, by name: it is asked for, and sent.
func Transfers(c *Client, digest string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"object": func(ctx context.Context) error { return c.object(ctx, digest, mostResults, io.Discard) },
		"put":    func(ctx context.Context) error { return c.put(ctx, digest, 1, bytes.NewReader([]byte{1})) },
	}
}

// Waiting are the results that the server has, by machine, and are not stored yet.
func Waiting(t *testing.T, c *Client) map[string]Result {
	t.Helper()
	stream, err := c.js.Stream(t.Context(), resultsStream)
	if err != nil {
		t.Fatal(err)
	}
	info, err := stream.Info(t.Context(), jetstream.WithSubjectFilter("dyno.result.>"))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]Result)
	for subject := range info.State.Subjects {
		machine, _, err := splitSubject(subject, "result")
		if err != nil {
			t.Fatal(err)
		}
		m, err := stream.GetLastMsgForSubject(t.Context(), subject)
		if err != nil {
			t.Fatal(err)
		}
		var r Result
		if err := json.Unmarshal(m.Data, &r); err != nil {
			t.Fatal(err)
		}
		all[machine] = r
	}
	return all
}

// Sweep removes what nothing needs any more, as Collect does now and then, as if it were later.
func Sweep(t *testing.T, c *Client, later time.Duration) {
	t.Helper()
	if err := (&Collector{client: c}).sweep(t.Context(), time.Now().Add(later)); err != nil {
		t.Fatal(err)
	}
}
