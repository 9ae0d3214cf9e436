package workloads

import (
	"errors"
	"slices"
	"strconv"
	"sync"
)

const (
	apspNodes  = 300
	apspBlock  = 50
	apspSide   = apspNodes / apspBlock
	apspBlocks = apspSide * apspSide
	apspMates  = 2 * (apspSide - 1) // of a block: those of its row and of its column
	apspWeight = 100                // an edge weighs as much at most
)

// savinaAPSP is the shortest paths between all nodes of a graph, by Floyd and Warshall. Each actor
// has a block of the matrix. In a phase it tells those of its row and of its column that its
// block is up to date, waits for theirs, and computes. So no block is more than a phase ahead of
// those it depends on, and two copies of each are enough. Messages carry no block, as Savina's do:
// receivers read it where it is. When all phases are done the next problem begins.
func savinaAPSP() []Workload {
	return savina(Workload{
		Name:     "apsp",
		Doc:      "after Savina: shortest paths between the 300 nodes of a graph, in 36 blocks that go on when those of their row and column have: phases among neighbours",
		Op:       "a block in a phase, of ten messages and 2,500 sums",
		Messages: apspMates,
		Slicing:  Slicing{Unit: apspBlocks},
		Checked:  "phases in order, and one message of each neighbour in each; every distance, as far as phases have come",
	}, func(s *progress) savinaProgram[*upToDate] { return newAPSP(s) })
}

// An upToDate is the message: the sender's block is that of a phase. Those whom it is sent to
// only read it, and it is written again when all of them have come further.
type upToDate struct {
	from  int // the block
	phase int
	alone bool // not a phase of all: compute by yourself
}

// A distances is a block, row by row.
type distances [apspBlock * apspBlock]int32

type apspActor struct {
	row, column int          // of blocks
	blocks      [2]distances // in odd phases and in even ones
	says        [2]upToDate  // the same
	phase       int
	running     bool
	had         [2]int          // of those in the other row or column, of phases as above
	next        [apspBlocks]int // the phase that another block will be in
	alone       int             // operations by itself
	asked       upToDate        // for such
	_           [64]byte
}

type apsp struct {
	*progress
	origin [apspNodes * apspNodes]int32
	actors [apspBlocks]apspActor
	solved func() []int32 // all distances in the end
	until  int            // the phase at which this Do ends
	whole  bool
	odd    int // operations that are not part of a phase
	alone  [apspBlocks]int
}

func newAPSP(s *progress) *apsp {
	a := &apsp{progress: s}
	rnd := splitMix(apspNodes)
	for i := range a.origin {
		a.origin[i] = int32(1 + rnd.below(apspWeight))
	}
	for i := range apspNodes {
		a.origin[i*apspNodes+i] = 0
	}
	a.solved = sync.OnceValue(func() []int32 { return a.after(apspNodes) })
	for i := range a.actors {
		b := &a.actors[i]
		b.row, b.column = i/apspSide, i%apspSide
		b.says[0].from, b.says[1].from = i, i
		b.asked = upToDate{from: i, alone: true}
		a.restore(b)
	}
	return a
}

// restore begins a new problem: phase 0 of the next one has the graph's own weights.
func (a *apsp) restore(b *apspActor) {
	to := &b.blocks[b.phase%2]
	for i := range apspBlock {
		begin := (b.row*apspBlock+i)*apspNodes + b.column*apspBlock
		copy(to[i*apspBlock:], a.origin[begin:begin+apspBlock])
	}
}

func (a *apsp) size() int { return apspBlocks }

func (a *apsp) deal(n int) {
	phases, odd := n/apspBlocks, n%apspBlocks
	a.until += phases
	a.whole, a.odd = phases > 0, odd
	parts := odd
	if a.whole {
		parts += apspBlocks
	}
	a.begin(n, parts)
	for i := range odd {
		a.alone[i]++
	}
}

func (a *apsp) start(send func(to int, m *upToDate) error) error {
	for i := range apspBlocks {
		if a.whole {
			if err := send(i, nil); err != nil {
				return err
			}
		}
		if i < a.odd {
			if err := send(i, &a.actors[i].asked); err != nil {
				return err
			}
		}
	}
	return nil
}

func (a *apsp) handle(at int, m *upToDate, send carrier[*upToDate]) error {
	b := &a.actors[at]
	switch {
	case m == nil:
		if b.running || b.phase == a.until {
			return errors.New("workloads: a block was told twice to go on")
		}
		b.running = true
		a.tell(at, send)
	case m.alone:
		if m.from != at {
			return errors.New("workloads: a block received what is for another")
		}
		b.alone++
		a.compute(b) // what comes of it the next phase overwrites
		a.part()
		return nil
	case m.phase != b.next[m.from] || m.from == at || a.actors[m.from].row != b.row && a.actors[m.from].column != b.column:
		return errors.New("workloads: a block's phase came twice, out of order or to a block that does not wait for it")
	default:
		b.next[m.from]++
		b.had[m.phase%2]++
	}
	for b.running && b.had[b.phase%2] == apspMates {
		b.had[b.phase%2] = 0
		a.compute(b)
		b.phase++
		if b.phase%apspNodes == 0 {
			if !b.has(a.solved()) {
				return errors.New("workloads: block " + strconv.Itoa(at) + " has found other distances than there are")
			}
			a.restore(b)
		}
		if b.phase == a.until {
			b.running = false
			a.part()
			break
		}
		a.tell(at, send)
	}
	return nil
}

// tell tells the others that the block of a node is up to date.
func (a *apsp) tell(at int, send carrier[*upToDate]) {
	b := &a.actors[at]
	m := &b.says[b.phase%2]
	m.phase = b.phase
	for i := range apspSide {
		if i != b.column {
			send(b.row*apspSide+i, m)
		}
		if i != b.row {
			send(i*apspSide+b.column, m)
		}
	}
}

// compute makes the block of the next phase: paths may now go by one more node.
func (a *apsp) compute(b *apspActor) {
	k := b.phase % apspNodes
	side, at := k/apspBlock, k%apspBlock
	copyOf := b.phase % 2
	from, to := &b.blocks[copyOf], &b.blocks[1-copyOf]
	rowOfK := &a.actors[side*apspSide+b.column].blocks[copyOf]
	columnOfK := &a.actors[b.row*apspSide+side].blocks[copyOf]
	by := rowOfK[at*apspBlock:][:apspBlock]
	for i := range apspBlock {
		first := columnOfK[i*apspBlock+at]
		old, next := from[i*apspBlock:][:apspBlock], to[i*apspBlock:][:apspBlock]
		for j, second := range by {
			next[j] = min(old[j], first+second)
		}
	}
}

// after returns the distances after so many phases, computed on one matrix.
func (a *apsp) after(phases int) []int32 {
	d := slices.Clone(a.origin[:])
	for k := range phases {
		for i := range apspNodes {
			first := d[i*apspNodes+k]
			for j := range apspNodes {
				d[i*apspNodes+j] = min(d[i*apspNodes+j], first+d[k*apspNodes+j])
			}
		}
	}
	return d
}

// has reports whether the block has its part of all distances.
func (b *apspActor) has(all []int32) bool {
	for i := range apspBlock {
		begin := (b.row*apspBlock+i)*apspNodes + b.column*apspBlock
		if !slices.Equal(b.blocks[b.phase%2][i*apspBlock:][:apspBlock], all[begin:begin+apspBlock]) {
			return false
		}
	}
	return true
}

func (a *apsp) check() error {
	want := a.after(a.until % apspNodes)
	for at := range a.actors {
		b := &a.actors[at]
		if b.phase != a.until || b.alone != a.alone[at] || !b.has(want) {
			return errors.New("workloads: block " + strconv.Itoa(at) + " is in phase " + strconv.Itoa(b.phase) + " of " + strconv.Itoa(a.until) + ", has other distances than it should, or has computed alone another number of times")
		}
	}
	return nil
}
