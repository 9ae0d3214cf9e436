package workloads

import (
	"errors"
	"math/bits"
	"strconv"

	"github.com/dynolab/dyno/group"
)

// A ledger keeps account of the results of one round of numbered tasks: each
// task yields one result, once, and the right one. It is not safe for
// concurrent use.
//
// Results are entered inside the measured part, so entering one costs one or
// two nanoseconds: the number of the task is in the low bits of its value.
type ledger struct {
	want    []int                                // what task i returns; its low bits are i
	accepts func(b *ledger, i int, e error) bool // whether task i may end with e; nil: only with nil

	// inOrder: results are entered in the order in which tasks completed.
	inOrder bool

	mask  int      // of the bits of a value that hold the task's number
	marks []uint64 // a bit per task whose result was entered in this round
	n     int      // tasks of this round
	taken int      // results entered in this round
}

func newLedger(b *batch, inOrder bool) *ledger {
	size := 1 << bits.Len(uint(len(b.want)-1))
	return &ledger{
		want:    b.want,
		accepts: b.accepts,
		inOrder: inOrder,
		mask:    size - 1,
		marks:   make([]uint64, (size+63)/64),
	}
}

// open begins a round of n tasks, numbered from 0.
func (b *ledger) open(n int) {
	b.n, b.taken = n, 0
	clear(b.marks[:(n+63)/64])
}

// has reports whether the result of task i has been entered.
func (b *ledger) has(i int) bool { return b.marks[i>>6]&(1<<(i&63)) != 0 }

// enter books one result. The error says what is wrong with it.
func (b *ledger) enter(r group.Result[int]) error {
	i := r.Value & b.mask
	if i >= b.n || b.want[i] != r.Value || b.has(i) {
		return b.misfit(r)
	}
	if (r.Err != nil || b.accepts != nil) && (b.accepts == nil || !b.accepts(b, i, r.Err)) {
		return errors.New("workloads: task " + strconv.Itoa(i) + " ended with the wrong error: " + errText(r.Err))
	}
	b.marks[i>>6] |= 1 << (i & 63)
	b.taken++
	return nil
}

// misfit explains why r is not the first result of a task of this round.
func (b *ledger) misfit(r group.Result[int]) error {
	i := r.Value & b.mask
	if i < b.n && b.want[i] == r.Value {
		return errors.New("workloads: two results of task " + strconv.Itoa(i))
	}
	return errors.New("workloads: a result that no task returned: value " + strconv.Itoa(r.Value) +
		", error: " + errText(r.Err))
}

// shut ends the round. The error names a task whose result is missing.
func (b *ledger) shut() error {
	if b.taken == b.n {
		return nil // no task has two, so none is without
	}
	first := 0
	for b.has(first) {
		first++
	}
	return errors.New("workloads: " + strconv.Itoa(b.n-b.taken) + " of " + strconv.Itoa(b.n) +
		" results missing, among them that of task " + strconv.Itoa(first))
}

// absorb moves the entries of other, a ledger of the same round, into b.
func (b *ledger) absorb(other *ledger) error {
	for w, m := range other.marks[:(b.n+63)/64] {
		if both := b.marks[w] & m; both != 0 {
			return errors.New("workloads: two results of task " + strconv.Itoa(w<<6+bits.TrailingZeros64(both)))
		}
		b.marks[w] |= m
	}
	b.taken += other.taken
	return nil
}

// wrongWait explains that Wait, or what stands for it, returned got.
func wrongWait(got, want error) error {
	return errors.New("workloads: Wait returned " + errText(got) + " instead of " + errText(want))
}

// countCheck compares the operations asked of a run with the results it booked.
func countCheck(asked, booked int64) error {
	if asked == booked {
		return nil
	}
	return errors.New("workloads: " + strconv.FormatInt(asked, 10) + " operations were asked for and " +
		strconv.FormatInt(booked, 10) + " results booked")
}

func errText(err error) string {
	if err == nil {
		return "nil"
	}
	return `"` + err.Error() + `"` // strconv.Quote has a table of 4 kB, which boards would carry
}
