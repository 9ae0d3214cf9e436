// Package cycles has a cycle below each Start that wants one.
package cycles

import (
	"container/heap"
	"sync"
	"time"
)

func StartDirect(n int) {
	if n > 0 {
		StartDirect(n - 1) // want `recursion: cycles.StartDirect calls cycles.StartDirect: make it a loop`
	}
}

func StartMutual()    { even(3) }
func even(n int) bool { return n == 0 || odd(n-1) } // want `cycles.even calls cycles.odd calls cycles.even`
func odd(n int) bool  { return n != 0 && even(n-1) }

func StartDeferred() { defer StartDeferred() } // want `cycles.StartDeferred calls cycles.StartDeferred`

type node struct{ next *node }

func (n *node) last() *node {
	if n.next == nil {
		return n
	}
	return n.next.last() // want `(*cycles.node).last calls (*cycles.node).last`
}

func StartMethod() { (&node{}).last() }

type (
	receiver interface{ receive() }
	actor    struct{ to receiver }
)

func (a *actor) receive() { tell(a.to) } // want `(*cycles.actor).receive calls cycles.tell calls (*cycles.actor).receive`
func tell(to receiver)    { to.receive() }
func StartInterface()     { tell(&actor{&actor{}}) }

type (
	handler func(n int)
	table   struct{ h handler }
)

var t table

func run(n int)   { t.h(n - 1) } // want `cycles.run calls cycles.run`
func StartValue() { t.h = run; t.h(1) }

func StartLiteral() {
	var visit func(n uint)
	visit = func(n uint) { visit(n - 1) } // want `cycles.StartLiteral$1 calls cycles.StartLiteral$1`
	visit(1)
}

func StartGeneric()   { walk(1); walk(""); pass(1) }
func walk[T any](v T) { walk(v) } // want `cycles.walk calls cycles.walk`
func pass[T any](v T) { leaf(v) } // instances of leaf are no cycle
func leaf[T any](v T) {}

var once sync.Once

func StartHanded() { once.Do(StartHanded) } // want `cycles.StartHanded calls cycles.StartHanded`

type ints []int

func (x *ints) Len() int           { return 0 }
func (x *ints) Less(i, j int) bool { return false }
func (x *ints) Swap(i, j int)      { x.fix() } // want `(*cycles.ints).Swap calls (*cycles.ints).fix calls (*cycles.ints).Swap`
func (x *ints) Push(any)           {}
func (x *ints) Pop() any           { return nil }
func (x *ints) fix()               { heap.Fix(x, 0) }
func StartHeap()                   { new(ints).fix() }

func all(yield func(int) bool) { yield(1) } // want `cycles.StartRange calls cycles.all calls cycles.StartRange$1 calls cycles.StartRange`

func StartRange() {
	for range all {
		StartRange()
	}
}

func StartGo()  { go StartGo() } // on a stack of its own
func StartGo2() { go work() }
func work()     { work() } // want `cycles.work calls cycles.work`

func StartTwice() { bottom(); middle() }
func middle()     { bottom() }
func bottom()     {}

func StartLater() { time.AfterFunc(1, StartLater) } // apart

func other() { other() } // not reached

var _ = other

// Port has implementations whose methods are roots.
type Port interface{ Send() }

type box struct{}

func (b *box) Send()  { b.Send() }  // want `(*cycles.box).Send calls (*cycles.box).Send`
func (b *box) other() { b.other() } // not reached

type wrapped struct{ *box }

func StartPort() { use(&box{}); use(wrapped{}) }
func use(Port)   {}
