package mailbox

import (
	"runtime/debug"
	"testing"

	"github.com/dynolab/dyno/actor"
)

// Messages stay in order in the ring, in the segments behind it, and over the edges between
// them, in one flood after the other; a short chain of segments is kept for the next, a long
// one is not.
func TestFloodsInTurn(t *testing.T) {
	for _, cfg := range []actor.MailboxConfig{{}, {Policy: actor.Grow, Capacity: 2500}, {Policy: actor.Block, Capacity: 1 << 20}} {
		q := New(cfg)
		pushed, popped := 0, 0
		push := func(n int) {
			for range n {
				q.Push(pushed, 0)
				pushed++
			}
		}
		pop := func(n int) {
			for range n {
				if msg, ok := q.Pop(); msg != popped || !ok {
					t.Fatalf("%v: Pop gave %v, %v, want %d", cfg.Policy, msg, ok, popped)
				}
				popped++
			}
		}
		for _, n := range []int{1, 3, segmentLen, segmentLen + 1, segmentLen + 2, 2*segmentLen + 1, 10 * segmentLen, 20*segmentLen + 1, 20 * segmentLen, 2} {
			push(n)
			pop(1)
			push(2)
			pop(n)
			push(1)
			pop(2)
			if _, ok := q.Pop(); ok || q.Len() != 0 {
				t.Fatalf("%v: after all were taken %d messages are left", cfg.Policy, q.Len())
			}
			if n == 10*segmentLen && q.later == nil || n > 16*segmentLen && q.later != nil {
				t.Errorf("%v: after a flood of %d the chain is kept: %v", cfg.Policy, n, q.later != nil)
			}
		}
	}
}

// A mailbox that grows has the memory for its capacity from the beginning; a heap keeps no
// message that was taken, and a closed one nothing.
func TestMemoryOfMailboxes(t *testing.T) {
	first := func(any) int { return 0 }
	ring, heap := New(actor.MailboxConfig{Policy: actor.Grow, Capacity: 100}), New(actor.MailboxConfig{Policy: actor.Grow, Capacity: 100, Priority: first})
	items := heap.limit.heap.items
	if ring.ring.Cap() < 100 || cap(items) < 100 || heap.ring.Cap() != 0 {
		t.Errorf("there is room for %d messages, and for %d with a priority, want 100", ring.ring.Cap(), cap(items))
	}
	for i := range 3 {
		heap.Push(i, 0)
	}
	for range 3 {
		heap.Pop()
	}
	for _, it := range items[:3] {
		if it.msg != nil {
			t.Errorf("message %v is kept alive", it.msg)
		}
	}
	if heap.Close(); heap.limit.heap.items != nil {
		t.Error("a closed mailbox has room for messages")
	}
}

// A batch has what was appended, whatever its memory was used for before; a large one is given back.
func TestBatches(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection may empty the pool
	for _, n := range []int{1, swell + 1, Keep, 4 * Keep, swell + 1, Keep} {
		var batch []any
		for i := range n {
			batch = Append(batch, i)
		}
		if len(batch) != n {
			t.Fatalf("there are %d messages, want %d", len(batch), n)
		}
		for i, msg := range batch {
			if msg != i {
				t.Fatalf("message %d of %d is %v", i, n, msg)
			}
		}
		clear(batch)
		room := cap(batch)
		if Discard(&batch); (batch == nil) != (room > Keep) {
			t.Errorf("of the memory of %d messages, room for %d is kept", room, cap(batch))
		}
	}
}
