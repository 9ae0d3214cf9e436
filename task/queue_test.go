package task

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A queue is a slice, whichever task leaves, and what has left it is linked no more.
func TestQueue(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 4))
	var (
		q    Queue
		want []*Handle
	)
	for i := range 20_000 {
		switch k := rng.IntN(8); {
		case k < 3 && len(want) < 40:
			h := new(Handle)
			q.Push(h)
			want = append(want, h)
		case k < 4 && len(want) < 40:
			h := new(Handle)
			q.PushFront(h)
			want = slices.Insert(want, 0, h)
		case len(want) > 0:
			i := rng.IntN(len(want))
			h := want[i]
			q.Remove(h)
			if r := h.Room(); r.Link != nil || r.Place != nil {
				t.Fatal("a task that has left is still linked")
			}
			want = slices.Delete(want, i, i+1)
		}
		if q.Len() != len(want) {
			t.Fatalf("step %d: Len is %d, want %d", i, q.Len(), len(want))
		}
		h := q.Oldest()
		for i, w := range want {
			if h != w {
				t.Fatal("the queue is out of order")
			}
			if older, _ := h.Room().Place.(*Handle); i > 0 && older != want[i-1] || i == 0 && h.Room().Place != nil {
				t.Fatal("a task has another older neighbour")
			}
			h = h.Room().Link
		}
		if h != nil {
			t.Fatal("the queue is too long")
		}
	}
}
