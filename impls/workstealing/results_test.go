package workstealing

import (
	"testing"

	"github.com/dynolab/dyno/group"
	"github.com/dynolab/dyno/internal/invariants"
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

// A worker that makes the next page, and finds that another one has been faster, pushes its
// result behind that one's.
func TestResultsPageThatCameTooLate(t *testing.T) {
	needsWindows(t)
	var q results[int]
	q.init(0)
	for i := range minPage {
		q.push(group.Result[int]{Value: i})
	}
	came := false
	end := invariants.Within(func() {
		if !came {
			came = true
			q.push(group.Result[int]{Value: minPage})
		}
	})
	n := q.push(group.Result[int]{Value: minPage + 1})
	end()
	if !came || n != minPage+2 || q.pushed() != n {
		t.Errorf("%d results are counted, and %d, want %d", n, q.pushed(), minPage+2)
	}
	for want := range minPage + 2 {
		if r, ok := q.pop(); !ok || r.Value != want {
			t.Errorf("result %v, %v came as number %d", r, ok, want)
		}
	}
}

// The first page has room for what is reserved, and each further one makes the total four times
// as large, up to a limit; what was taken is not held.
func TestPagesOfResults(t *testing.T) {
	var q results[int]
	q.init(2)
	first := q.head.Load()
	for range 4000 {
		q.push(group.Result[int]{Value: 1})
		q.pop()
	}
	total := 0
	for p, i := first, 0; p != nil; p, i = p.next.Load(), i+1 {
		if want := []int{16, 48, 192, 768, 1024, 1024, 1024}[i]; len(p.slots) != want || p.first != uint64(total) {
			t.Errorf("page %d has room for %d from %d on, want %d from %d on", i, len(p.slots), p.first, want, total)
		}
		total += len(p.slots)
		for j := range p.slots {
			if p.slots[j].res != (group.Result[int]{}) {
				t.Fatalf("page %d holds a result that was taken", i)
			}
		}
	}
}
