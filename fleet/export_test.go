package fleet

import (
	"testing"
	"time"
)

// RetryAfter sets how long a job waits that could not be carried out, for a test.
func RetryAfter(t *testing.T, d time.Duration) {
	was := retryAfter
	retryAfter = d
	t.Cleanup(func() { retryAfter = was })
}

// Again publishes an order and a result once more, as a network may deliver them: past all that
// keeps a client from it.
func (c *Client) Again(machine, job string, result []byte) error {
	order, err := c.Key.sign(Order{Job: job, Machine: machine, Title: "again", At: time.Now().UTC()})
	if err != nil {
		return err
	}
	if result != nil {
		if err := c.conn.Publish(resultSubject(machine, job), result); err != nil {
			return err
		}
	}
	return c.conn.Publish(jobSubject(machine, job), order)
}
