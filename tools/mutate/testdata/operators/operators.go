// Package operators has something for every operator, and what none may change.
package operators

import (
	"errors"
	"sync"
	"sync/atomic"

	"operators/invariants"
)

const most = 8

var padding [64]byte // a length is not changed

type pair struct{ a, b int }

type box[T any] struct {
	mu    sync.Mutex
	state atomic.Uint32
	items []T
	note  chan struct{}
}

func (b *box[T]) push(x T) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.items) >= most && b.note != nil {
		return false
	}
	b.items = append(b.items, x)
	select {
	case b.note <- struct{}{}:
	default:
	}
	if b.state.CompareAndSwap(0, 1) {
		b.wake()
	}
	return true
}

func (b *box[T]) wake() {
	b.state.Store(2)
	b.note <- struct{}{}
	if b.state.Add(1) != b.state.Load() {
		b.state.Swap(0)
	}
}

func (b *box[T]) first() (x T, err error) {
	if len(b.items) == 0 {
		return x, errors.New("empty")
	}
	return b.items[0], nil
}

func sum(xs []int) (n int) {
	for i := 0; i < len(xs); i++ {
		if xs[i] < 0 {
			continue
		}
		n += xs[i]
	}
	return n
}

func names(p *pair) (string, *pair, pair) {
	if invariants.Enabled && p.a > p.b { // nor are checks of invariants
		panic("a > b")
	}
	return "a" + "b", p, *p
}

func kind(n int) (even bool) {
	switch {
	case n > 10 || n < -10:
		even = n&1 == 0
	}
	return !even
}

func check(p *pair) {
	p.a--
	if !invariants.Enabled {
		return
	}
	p.b++
}

func (p *pair) window() {
	invariants.Window() // nor is a window
	p.a = 1
	check(p) // nor a call of what only checks
}

func whole(p *pair) {
	if !invariants.Enabled {
		return
	}
	p.b++
}

func (b *box[T]) whole() {
	if !invariants.Enabled {
		return
	}
}

func (b *box[T]) checked(p *pair) pair {
	whole(p)
	b.whole()
	defer b.mu.Unlock() // does not change its place but for another one
	defer b.wake()
	return pair{} // is zero as it stands
}
