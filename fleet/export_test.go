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
