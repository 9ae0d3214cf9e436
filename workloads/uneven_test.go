package workloads

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"testing"
)

// The table is the same on every machine and in every version, or figures of
// different days could not be compared.
func TestUnevenTableIsFixed(t *testing.T) {
	u := uneven()
	h := fnv.New64a()
	for i, r := range u.rounds {
		binary.Write(h, binary.LittleEndian, [2]int64{int64(r), int64(u.want[i])})
	}
	const (
		wantWork int64  = 1_106_983
		wantHash uint64 = 0x1ec2daf243c3ea9
	)
	if got := u.upTo[unevenTasks]; got != wantWork {
		t.Errorf("%d rounds in all, want %d", got, wantWork)
	}
	if got := h.Sum64(); got != wantHash {
		t.Errorf("costs and results hash to %#x, want %#x", got, wantHash)
	}
}

// The documentation's claims about the distribution.
func TestUnevenTableShape(t *testing.T) {
	u := uneven()
	total := u.upTo[unevenTasks]
	sorted := slices.Sorted(slices.Values(u.rounds))
	if got := sorted[0]; got != unevenMin {
		t.Errorf("the cheapest task costs %d rounds, want %d", got, unevenMin)
	}
	if got := sorted[len(sorted)-1]; got <= unevenMin*(unevenSpread-4) || got > unevenMin*unevenSpread {
		t.Errorf("the dearest task costs %d rounds, want just below %d", got, unevenMin*unevenSpread)
	}
	if got := sorted[len(sorted)/2-1]; got >= 2*unevenMin {
		t.Errorf("the median costs %d rounds, want less than %d", got, 2*unevenMin)
	}
	var tail int64
	for _, r := range sorted[len(sorted)*15/16:] {
		tail += int64(r)
	}
	if share := float64(tail) / float64(total); share < 0.36 || share > 0.44 {
		t.Errorf("one task in sixteen makes up %.2f of the work, want four tenths", share)
	}
}

// Whatever the number of operations, an operation is as much work as in any
// other number, or ns/op would depend on how long one measures.
func TestUnevenWorkIsEven(t *testing.T) {
	u := uneven()
	mean := float64(u.upTo[unevenTasks]) / unevenTasks
	for _, c := range []struct {
		n         int
		tolerance float64
	}{
		{64, 0.10},
		{500, 0.05},
		{1000, 0.03},
		{1024, 0},
		{1500, 0.03},
		{10_000, 0.01},
	} {
		got := float64(u.workOf(c.n)) / float64(c.n)
		if off := got/mean - 1; off < -c.tolerance || off > c.tolerance {
			t.Errorf("%d operations have %.0f rounds each, %.0f on the whole: off by %.3f", c.n, got, mean, off)
		}
	}
	// What workOf says is what the tasks do.
	for _, n := range []int{1, 2, 1023, 1024, 1025, 2049} {
		var want int64
		for i := range n {
			want += int64(u.rounds[i%unevenTasks])
		}
		if got := u.workOf(n); got != want {
			t.Errorf("workOf(%d) = %d, want %d", n, got, want)
		}
	}
}

// The floor is a balance that no scheduler can better by more than a cheapest task.
func TestUnevenFloorIsBalanced(t *testing.T) {
	u := uneven()
	deal := u.dealer()
	for _, workers := range []int{1, 2, 3, 4, 8, 16} {
		for _, k := range []int{1, 5, 100, 1000, unevenTasks} {
			parts := make([]floorWorker, workers)
			deal(parts, unevenTasks) // what is left of an earlier deal must not show
			deal(parts, k)
			var tasks []int
			var most, total int64
			for _, p := range parts {
				var work int64
				for _, i := range p.dealt {
					work += int64(u.rounds[i])
				}
				if work != p.load {
					t.Errorf("%d tasks, %d workers: a part of %d rounds claims %d", k, workers, work, p.load)
				}
				tasks = append(tasks, p.dealt...)
				most, total = max(most, work), total+work
			}
			slices.Sort(tasks)
			if !slices.Equal(tasks, numbers(k)) {
				t.Fatalf("%d tasks, %d workers: the parts hold %d tasks, or others", k, workers, len(tasks))
			}
			if limit := total/int64(workers) + unevenMin; k == unevenTasks && most > limit {
				t.Errorf("%d workers: the longest part has %d rounds, want at most %d", workers, most, limit)
			}
		}
	}
}

// The filler takes as many rounds as it is told, and none can be left out.
func TestFill(t *testing.T) {
	x := uint32(7)
	for n := range uint32(100) {
		if got := fill(7, n); got != x {
			t.Fatalf("fill(7, %d) = %#x, want %#x: %d rounds and one more are not %d rounds", n, got, x, n-1, n)
		}
		x = fill(x, 1)
	}
	seen := map[uint32]bool{}
	for n := range uint32(10_000) {
		seen[fill(7, n)] = true
	}
	if len(seen) < 9_990 {
		t.Errorf("10,000 numbers of rounds have only %d different results", len(seen))
	}
}

// A value has room for the checksum on machines with 32-bit integers too.
func TestUnevenValuesFit32Bits(t *testing.T) {
	for i, v := range uneven().want {
		if v < 0 || v >= 1<<30 || v%unevenTasks != i {
			t.Fatalf("task %d returns %d: negative, too large, or of another task", i, v)
		}
	}
}
