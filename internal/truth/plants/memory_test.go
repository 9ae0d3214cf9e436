package plants

import "testing"

// window keeps the latest of what operations allocate, as a program does that
// answers a thousand requests at a time.
type window struct {
	kept [1024][]byte
	next int
}

// allocate makes n bytes that live until 1023 more have been made.
func (w *window) allocate(n int) {
	w.kept[w.next] = make([]byte, n)
	w.next = (w.next + 1) % len(w.kept)
}

// GCPressure makes 1.5 KiB of garbage in place of 1 KiB in an operation of some
// microseconds: there are half as many collections more, each some tens of
// milliseconds after the one before.
func BenchmarkGCPressureN(b *testing.B) {
	w := new(window)
	b.ResetTimer()
	for range b.N {
		w.allocate(1<<10 + 512*planted)
		sink = spin(sink, 3000)
	}
}

// GCPressure with b.Loop.
func BenchmarkGCPressureLoop(b *testing.B) {
	w := new(window)
	for b.Loop() {
		w.allocate(1<<10 + 512*planted)
		sink = spin(sink, 3000)
	}
}

// A record of the old version has no pointers, so that the collector does not look
// into it. In the new version it has three, which is all that is new.
type record struct {
	key   uint64
	_     [3 - 3*planted]uint64
	links [3 * planted]*record
}

// records makes 4 MiB of them.
func records() []record {
	rs := make([]record, 4<<20/32)
	for i := range rs {
		rs[i].key = uint64(i)
		for j := range rs[i].links {
			rs[i].links[j] = &rs[(i*31+j*7919)%len(rs)]
		}
	}
	return rs
}

// PointersInHeap puts pointers into 4 MiB of live heap: operations are the same, and
// each collection, one in some tens of milliseconds, has more to mark.
func BenchmarkPointersInHeapN(b *testing.B) {
	rs, w := records(), new(window)
	b.ResetTimer()
	for i := range b.N {
		w.allocate(512)
		sink = spin(sink+rs[i%len(rs)].key, 1000)
	}
}

// PointersInHeap with b.Loop.
func BenchmarkPointersInHeapLoop(b *testing.B) {
	rs, w := records(), new(window)
	for i := 0; b.Loop(); i++ {
		w.allocate(512)
		sink = spin(sink+rs[i%len(rs)].key, 1000)
	}
}

// ExtraAlloc allocates 64 bytes more in each operation, one allocation.
func BenchmarkExtraAllocN(b *testing.B) {
	for range b.N {
		sink = spin(sink, 300)
		if planted == 1 {
			bytesSink = make([]byte, 64)
		}
	}
}

// ExtraAlloc with b.Loop.
func BenchmarkExtraAllocLoop(b *testing.B) {
	for b.Loop() {
		sink = spin(sink, 300)
		if planted == 1 {
			bytesSink = make([]byte, 64)
		}
	}
}

// HalfAlloc allocates 48 bytes more in every second operation.
func BenchmarkHalfAllocN(b *testing.B) {
	for i := range b.N {
		sink = spin(sink, 150)
		if planted == 1 && i%2 == 0 {
			bytesSink = make([]byte, 48)
		}
	}
}

// HalfAlloc with b.Loop.
func BenchmarkHalfAllocLoop(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		sink = spin(sink, 150)
		if planted == 1 && i%2 == 0 {
			bytesSink = make([]byte, 48)
		}
	}
}

// Reused takes the same buffer of 2 KiB again in the new version, where the old one
// makes one in each operation: this change is for the better.
func BenchmarkReusedN(b *testing.B) {
	var buf []byte
	for range b.N {
		if planted == 0 || buf == nil {
			buf = make([]byte, 2<<10)
		}
		fill(buf)
	}
}

// Reused with b.Loop.
func BenchmarkReusedLoop(b *testing.B) {
	var buf []byte
	for b.Loop() {
		if planted == 0 || buf == nil {
			buf = make([]byte, 2<<10)
		}
		fill(buf)
	}
}

// fill uses buf, and has it escape.
func fill(buf []byte) {
	sink = spin(sink, 1000)
	buf[sink%uint64(len(buf))] = byte(sink)
	bytesSink = buf
}

// A particle becomes 64 bytes larger: from one cache line to two.
type particle struct {
	mass uint64
	_    [7 + 8*planted]uint64
}

// BiggerStruct makes the elements of a slice, of which operations read one field,
// twice as large: 2 MiB become 4 MiB.
func BenchmarkBiggerStructN(b *testing.B) {
	ps := make([]particle, 32<<10)
	b.ResetTimer()
	for range b.N {
		sink += weigh(ps)
	}
}

// BiggerStruct with b.Loop.
func BenchmarkBiggerStructLoop(b *testing.B) {
	ps := make([]particle, 32<<10)
	for b.Loop() {
		sink += weigh(ps)
	}
}

func weigh(ps []particle) (sum uint64) {
	for i := range ps {
		sum += ps[i].mass
	}
	return sum
}

// MapGrows inserts b.N keys, and from 200,000 entries on looks for four more at each
// insertion: go test comes that far, a short call does not.
func BenchmarkMapGrowsN(b *testing.B) {
	m := make(map[uint64]uint64)
	x := uint64(1)
	for range b.N {
		x = spin(x, 1)
		if planted == 1 && len(m) > 200_000 {
			for bit := range 4 {
				sink += m[x^1<<bit]
			}
		}
		m[x]++
	}
}
