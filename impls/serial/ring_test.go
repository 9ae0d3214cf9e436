package serial

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A ring is a slice, wherever its head is.
func TestRing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var (
		q    ring[int]
		want []int
	)
	for n := range 20_000 {
		switch k := rng.IntN(8); {
		case k < 4 && len(want) < 40:
			q.push(n)
			want = append(want, n)
		case k < 5 && len(want) > 0:
			if got := q.pop(); got != want[0] {
				t.Fatalf("pop: %d, want %d", got, want[0])
			}
			want = want[1:]
		case len(want) > 0:
			i := rng.IntN(len(want))
			if got := q.remove(i); got != want[i] {
				t.Fatalf("remove(%d): %d, want %d", i, got, want[i])
			}
			want = slices.Delete(want, i, i+1)
		}
		for i := range want {
			if q.at(i) != want[i] {
				t.Fatalf("at(%d): %d of %d, want %d", i, q.at(i), q.len(), want[i])
			}
		}
		if q.len() != len(want) {
			t.Fatalf("len: %d, want %d", q.len(), len(want))
		}
	}
	left := 0
	for _, e := range q.buf {
		if e != 0 {
			left++
		}
	}
	if left > q.len() {
		t.Errorf("%d elements are kept alive, of which %d are in the ring", left, q.len())
	}
}
