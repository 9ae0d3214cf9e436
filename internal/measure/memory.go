package measure

import "runtime"

// Memory is what has been allocated: objects and bytes of them, as
// [runtime.MemStats] counts them. On a board that includes the stacks of
// goroutines, which are objects there. The zero value is nothing.
type Memory struct {
	Objects, Bytes uint64
}

// Begin and End enclose a part of a program whose allocations are added to m. They
// may be called again and again. Between the two, m makes no sense.
func (m *Memory) Begin() {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	m.Objects -= s.Mallocs
	m.Bytes -= s.TotalAlloc
}

// End ends what Begin has begun.
func (m *Memory) End() {
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	m.Objects += s.Mallocs
	m.Bytes += s.TotalAlloc
}

// Per returns what was allocated for each of n things, such as "msg": as the metrics
// allocs/msg and B/msg. Unlike those that package testing prints, which
// are rounded down to whole numbers, they have fractions: two allocations for a
// group of 256 tasks are not none.
func (m Memory) Per(n int, thing string) []Metric {
	k := float64(max(n, 1))
	return []Metric{
		{float64(m.Objects) / k, "allocs/" + thing, Lower},
		{float64(m.Bytes) / k, "B/" + thing, Lower},
	}
}

// HeapInUse returns the bytes of heap in use after a collection. It collects
// twice: what the first one finds finalized goes with the second.
func HeapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapInuse
}

// HeapFree returns the bytes of heap that are not in use after a collection. On
// a board that is the memory left to the program, though maybe in pieces.
func HeapFree() uint64 {
	runtime.GC()
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapSys - s.HeapInuse
}
