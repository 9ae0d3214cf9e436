package plants

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// ControlHash is work for the processor: a hash of 4 KiB, byte by byte.
func BenchmarkControlHashN(b *testing.B) {
	data := text(4 << 10)
	b.ResetTimer()
	for range b.N {
		hash(data)
	}
}

// ControlHash with b.Loop.
func BenchmarkControlHashLoop(b *testing.B) {
	data := text(4 << 10)
	for b.Loop() {
		hash(data)
	}
}

func hash(data []byte) {
	h := fnv.New64a()
	h.Write(data)
	sink += h.Sum64()
}

// ControlJSON writes and reads a small document, which makes garbage.
func BenchmarkControlJSONN(b *testing.B) {
	for range b.N {
		roundTrip(b)
	}
}

// ControlJSON with b.Loop.
func BenchmarkControlJSONLoop(b *testing.B) {
	for b.Loop() {
		roundTrip(b)
	}
}

type document struct {
	Name  string
	Tags  []string
	Sizes map[string]int
}

func roundTrip(b *testing.B) {
	out, err := json.Marshal(document{"a document", []string{"x", "y", "z"}, map[string]int{"w": 3, "h": 4}})
	if err != nil {
		b.Fatal(err)
	}
	var back document
	if err := json.Unmarshal(out, &back); err != nil {
		b.Fatal(err)
	}
	sink += uint64(len(back.Tags))
}

// ControlSort sorts 1,000 numbers, which is branches that cannot be foretold.
func BenchmarkControlSortN(b *testing.B) {
	numbers, work := shuffled(), make([]uint64, 1000)
	b.ResetTimer()
	for range b.N {
		copy(work, numbers)
		slices.Sort(work)
	}
}

// ControlSort with b.Loop.
func BenchmarkControlSortLoop(b *testing.B) {
	numbers, work := shuffled(), make([]uint64, 1000)
	for b.Loop() {
		copy(work, numbers)
		slices.Sort(work)
	}
}

func shuffled() []uint64 {
	numbers := make([]uint64, 1000)
	x := uint64(1)
	for i := range numbers {
		x = spin(x, 1)
		numbers[i] = x
	}
	return numbers
}

// ControlMap looks words up in a map of 10,000.
func BenchmarkControlMapN(b *testing.B) {
	m, words := dictionary()
	b.ResetTimer()
	for i := range b.N {
		sink += uint64(m[words[i*7919%len(words)]])
	}
}

// ControlMap with b.Loop.
func BenchmarkControlMapLoop(b *testing.B) {
	m, words := dictionary()
	for i := 0; b.Loop(); i++ {
		sink += uint64(m[words[i*7919%len(words)]])
	}
}

func dictionary() (m map[string]int, words []string) {
	m = make(map[string]int)
	for i := range 10_000 {
		words = append(words, "word-"+strconv.Itoa(i))
		m[words[i]] = i
	}
	return m, words
}

// ControlTree walks a binary tree of 20,000 nodes: memory, and little else.
func BenchmarkControlTreeN(b *testing.B) {
	root := tree(20_000)
	b.ResetTimer()
	for range b.N {
		sink += root.sum()
	}
}

// ControlTree with b.Loop.
func BenchmarkControlTreeLoop(b *testing.B) {
	root := tree(20_000)
	for b.Loop() {
		sink += root.sum()
	}
}

type node struct {
	left, right *node
	value       uint64
}

func (n *node) sum() uint64 {
	if n == nil {
		return 0
	}
	return n.value + n.left.sum() + n.right.sum()
}

// tree inserts n numbers in random order.
func tree(n int) (root *node) {
	x := uint64(1)
	for range n {
		x = spin(x, 1)
		at := &root
		for *at != nil {
			if x < (*at).value {
				at = &(*at).left
			} else {
				at = &(*at).right
			}
		}
		*at = &node{value: x}
	}
	return root
}

// ControlWords cuts a text into words and counts them, which makes a little garbage.
func BenchmarkControlWordsN(b *testing.B) {
	words := page()
	b.ResetTimer()
	for range b.N {
		sink += uint64(len(strings.Fields(words)))
	}
}

// ControlWords with b.Loop.
func BenchmarkControlWordsLoop(b *testing.B) {
	words := page()
	for b.Loop() {
		sink += uint64(len(strings.Fields(words)))
	}
}

func page() string {
	letters := text(8 << 10)
	return string(bytes.ReplaceAll(letters, []byte("e"), []byte(" ")))
}

// ControlLock has two goroutines take a lock in turns, a hundred times each.
func BenchmarkControlLockN(b *testing.B) {
	for range b.N {
		contend(100, 50, 50)
	}
}

// ControlLock with b.Loop.
func BenchmarkControlLockLoop(b *testing.B) {
	for b.Loop() {
		contend(100, 50, 50)
	}
}

// contend has two goroutines do so many rounds of work, within a lock and outside of
// it.
func contend(times, within, outside int) {
	var mu sync.Mutex
	var both sync.WaitGroup
	total := uint64(0)
	for range 2 {
		both.Go(func() {
			x := uint64(1)
			for range times {
				mu.Lock()
				total = spin(total, within)
				mu.Unlock()
				x = spin(x, outside)
			}
			mu.Lock()
			total += x
			mu.Unlock()
		})
	}
	both.Wait()
	sink += total
}

// ControlParallel has all processors compute checksums, by b.RunParallel.
func BenchmarkControlParallelN(b *testing.B) {
	data := text(16 << 10)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if crc32.ChecksumIEEE(data) == 0 {
				b.Error("a checksum of nothing")
			}
		}
	})
}
