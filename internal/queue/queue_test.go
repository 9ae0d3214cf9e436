package queue

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A ring is a slice, wherever its head is.
func TestRing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var (
		q    Ring[int]
		want []int
	)
	for n := 1; n < 20_000; n++ {
		switch k := rng.IntN(8); {
		case k < 4 && len(want) < 40:
			room := q.Len() < q.Cap()
			if q.TryPush(n) != room {
				t.Fatalf("TryPush: %v, and there are %d elements and room for %d", !room, q.Len(), q.Cap())
			}
			if !room {
				q.Push(n)
			}
			want = append(want, n)
		case k < 5 && len(want) > 0:
			if got := q.Pop(); got != want[0] {
				t.Fatalf("Pop: %d, want %d", got, want[0])
			}
			want = want[1:]
		case len(want) > 0:
			i := rng.IntN(len(want))
			if got := q.Remove(i); got != want[i] {
				t.Fatalf("Remove(%d): %d, want %d", i, got, want[i])
			}
			want = slices.Delete(want, i, i+1)
		}
		for i := range want {
			if q.At(i) != want[i] {
				t.Fatalf("At(%d): %d of %d, want %d", i, q.At(i), q.Len(), want[i])
			}
		}
		if q.Len() != len(want) {
			t.Fatalf("Len: %d, want %d", q.Len(), len(want))
		}
		left := 0
		for _, e := range q.buf {
			if e != 0 {
				left++
			}
		}
		if left != q.Len() {
			t.Fatalf("%d elements are kept alive, of which %d are in the ring", left, q.Len())
		}
	}
}

// Reserve makes room once, and Replace exchanges the memory of an empty ring.
func TestRingMemory(t *testing.T) {
	var q Ring[int]
	for n, want := range map[int]int{1: 8, 5: 8, 8: 8, 9: 16} {
		var r Ring[int]
		if r.Reserve(n); r.Cap() != want {
			t.Errorf("after Reserve(%d) there is room for %d, want %d", n, r.Cap(), want)
		}
	}
	q.Reserve(8)
	before := &q.buf[0]
	if q.Reserve(8); &q.buf[0] != before {
		t.Error("a second Reserve makes memory for what there is memory for")
	}
	old := q.Replace([]int{1, 2, 0, 0}, 2)
	if len(old) != 8 || q.Len() != 2 || q.Cap() != 4 || q.Pop() != 1 || q.Pop() != 2 {
		t.Error("Replace does not give the ring its new content")
	}
}

// A list is a slice, whichever element leaves.
func TestList(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	var (
		l    List[int]
		want []*Node[int]
	)
	for i := range 20_000 {
		switch k := rng.IntN(8); {
		case k < 4 && len(want) < 40:
			n := &Node[int]{Value: i}
			if i%3 == 0 {
				l.PushFront(n)
				want = slices.Insert(want, 0, n)
			} else {
				l.Push(n)
				want = append(want, n)
			}
		case k < 5 && len(want) > 0:
			if got := l.Pop(); got != want[0] || got.prev != nil || got.next != nil {
				t.Fatalf("Pop: %d, want %d, which keeps no other one alive", got.Value, want[0].Value)
			}
			want = want[1:]
		case len(want) > 0:
			i := rng.IntN(len(want))
			l.Remove(want[i])
			want = slices.Delete(want, i, i+1)
		}
		if l.Empty() != (len(want) == 0) {
			t.Fatalf("Empty: %v, and %d are in the list", l.Empty(), len(want))
		}
		if len(want) > 0 && l.Newest() != want[len(want)-1] {
			t.Fatal("the newest node is another one")
		}
		l := ListFrom(l.Oldest())
		for n, i := l.Oldest(), 0; i < len(want); i++ {
			if n != want[i] {
				t.Fatal("the list is out of order")
			}
			if n = n.next; i == len(want)-1 && n != l.Oldest() {
				t.Fatal("the list is too long")
			}
		}
	}
}
