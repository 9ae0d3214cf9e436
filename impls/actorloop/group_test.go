package actorloop

import "testing"

// A Wait goes on until every task has completed, those included that were submitted before
// the group was closed and whose message has not arrived.
func TestWaitAwaitsWhatIsComing(t *testing.T) {
	for _, c := range []struct {
		inflight, coming int64
		answered         bool
	}{
		{0, 0, true},
		{0, 1, false},
		{1, 0, false},
		{1, 1, false},
	} {
		g := NewGroup[int](t.Context()) // no message: its manager does not run
		g.manager.closed, g.manager.inflight, g.manager.coming = true, c.inflight, c.coming
		wait := call[int]{answers: make(chan answer[int], 1)}
		wait.join(&g.manager.waiters)
		g.answerWaiters()
		if answered := len(wait.answers) == 1; answered != c.answered {
			t.Errorf("with %d tasks in flight and %d coming Wait is answered: %v", c.inflight, c.coming, answered)
		}
	}
}
