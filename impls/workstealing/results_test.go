package workstealing

import (
	"testing"

	"github.com/dynolab/dyno/group"
)

// Results come out in the order in which they were pushed, over all page sizes.
func TestResultsOrder(t *testing.T) {
	for _, reserve := range []int{0, 1, minPage + 1, 5000} {
		var q results[int]
		q.init(reserve)
		const n = 4000
		for i := range n {
			if got := q.push(group.Result[int]{Value: i}); got != uint64(i+1) {
				t.Fatalf("reserve %d: push %d counted %d", reserve, i, got)
			}
			if got := q.pushed(); got != uint64(i+1) {
				t.Fatalf("reserve %d: %d pushed, counted %d", reserve, i+1, got)
			}
		}
		for i := range n {
			if r, ok := q.pop(); !ok || r.Value != i {
				t.Fatalf("reserve %d: pop %d: %v, %v", reserve, i, r, ok)
			}
		}
		if r, ok := q.pop(); ok {
			t.Errorf("reserve %d: %v from an empty queue", reserve, r)
		}
	}
}
