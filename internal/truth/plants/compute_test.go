package plants

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"testing"
)

// Work2 does 2 % more work for the processor in each operation.
func BenchmarkWork2N(b *testing.B) {
	for range b.N {
		sink = spin(sink, 2000+40*planted)
	}
}

// Work2 with b.Loop.
func BenchmarkWork2Loop(b *testing.B) {
	for b.Loop() {
		sink = spin(sink, 2000+40*planted)
	}
}

// Work5 does 5 % more work for the processor in each operation.
func BenchmarkWork5N(b *testing.B) {
	for range b.N {
		sink = spin(sink, 2000+100*planted)
	}
}

// Work5 with b.Loop.
func BenchmarkWork5Loop(b *testing.B) {
	for b.Loop() {
		sink = spin(sink, 2000+100*planted)
	}
}

// A journal writes itself out now and then, which takes 6 ms in the new version.
type journal struct{ entries int }

// add takes about 14 µs. Each 8,000th call writes out.
func (j *journal) add() {
	sink = spin(sink, 6400)
	if j.entries++; planted == 1 && j.entries%8000 == 0 {
		sink = spin(sink, 2_750_000)
	}
}

// A process has one journal, whose writing out comes when it comes.
var journals [2]journal

// RareCost has each 8,000th operation of 14 µs take 6 ms more: 5 % of the total, and
// nothing of a typical operation.
func BenchmarkRareCostN(b *testing.B) {
	for range b.N {
		journals[0].add()
	}
}

// RareCost with b.Loop.
func BenchmarkRareCostLoop(b *testing.B) {
	for b.Loop() {
		journals[1].add()
	}
}

// A batch collects work: each call in the old version does its own, and in the new
// one each 64th does that of 64.
type batch struct{ waiting int }

func (w *batch) do() {
	const size = 1 + 63*planted
	if w.waiting++; w.waiting == size {
		sink = spin(sink, size*1000)
		w.waiting = 0
	}
}

// Batched does the work of 64 operations in each 64th: the typical operation becomes
// a thousand times faster, and the total stays the same.
func BenchmarkBatchedN(b *testing.B) {
	var w batch
	for range b.N {
		w.do()
	}
}

// Batched with b.Loop.
func BenchmarkBatchedLoop(b *testing.B) {
	var w batch
	for b.Loop() {
		w.do()
	}
}

// A signer signs short messages with a key that it derives from a user's name.
type signer struct{ keys map[string][32]byte }

// key derives the key of a user by four rounds of a hash, or remembers it: the new
// version does not, because the cache has been dropped.
func (s *signer) key(user string) [32]byte {
	if k, ok := s.keys[user]; ok {
		return k
	}
	k := sha256.Sum256([]byte(user))
	for range 3 {
		k = sha256.Sum256(k[:])
	}
	if planted == 0 {
		s.keys[user] = k
	}
	return k
}

// sign is what is measured: it hashes 4 KiB with the key of one of 100 users.
func (s *signer) sign(users []string, i int, msg []byte) {
	k := s.key(users[i%len(users)])
	copy(msg, k[:])
	sum := sha256.Sum256(msg)
	sink += binary.LittleEndian.Uint64(sum[:])
}

// CacheDropped has no cache any more of something that is derived in each operation.
func BenchmarkCacheDroppedN(b *testing.B) {
	s, users, msg := signer{make(map[string][32]byte)}, userNames(), text(4<<10)
	b.ResetTimer()
	for i := range b.N {
		s.sign(users, i, msg)
	}
}

// CacheDropped with b.Loop.
func BenchmarkCacheDroppedLoop(b *testing.B) {
	s, users, msg := signer{make(map[string][32]byte)}, userNames(), text(4<<10)
	for i := 0; b.Loop(); i++ {
		s.sign(users, i, msg)
	}
}

func userNames() []string {
	users := make([]string, 100)
	for i := range users {
		users[i] = "user-" + strconv.Itoa(i)
	}
	return users
}

// Preparation does 10 % more work in each operation, behind two milliseconds of
// preparation that no b.ResetTimer takes out of the time.
func BenchmarkPreparationN(b *testing.B) {
	table := text(1 << 20)
	for i := range b.N {
		sink = spin(sink+uint64(table[i%len(table)]), 1000+100*planted)
	}
}
