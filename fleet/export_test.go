package fleet

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// RetryAfter sets how long a job waits that could not be carried out, for a test.
func RetryAfter(t *testing.T, d time.Duration) {
	was := retryAfter
	retryAfter = d
	t.Cleanup(func() { retryAfter = was })
}

// Sweep removes what nothing needs any more, as Collect does now and then, as if it were later.
func Sweep(t *testing.T, c *Client, later time.Duration) {
	t.Helper()
	if err := (&Collector{client: c}).sweep(t.Context(), time.Now().Add(later)); err != nil {
		t.Fatal(err)
	}
}

// Objects counts what the server keeps for jobs and results, and the orders beside jobs.
func Objects(t *testing.T, c *Client) (objects, orders int) {
	t.Helper()
	store, err := c.js.ObjectStore(t.Context(), partsBucket)
	if err != nil {
		t.Fatal(err)
	}
	all, err := store.List(t.Context())
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		t.Fatal(err)
	}
	kept, err := c.values(t.Context(), ordersBucket)
	if err != nil {
		t.Fatal(err)
	}
	return len(all), len(kept)
}
