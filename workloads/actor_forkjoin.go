package workloads

import (
	"errors"
	"strconv"
	"sync"

	"github.com/dynolab/dyno/actor"
)

// forkNodes is how many nodes a tree has at most.
const forkNodes = 1<<13 - 1

// actorForkJoin is divide and conquer by actors that live for one task: each makes up to two
// others, waits for what they have found out, adds its own, reports to the one that made it, and
// stops.
func actorForkJoin() []Workload {
	return []Workload{{
		Name:     "forkjoin",
		Doc:      "actors make others for parts of a task, wait for their answers and stop: what a short life costs",
		Op:       "such an actor, with two messages",
		Checked:  "each asked once and by its parent, each answer once; how many there were and what they found out together",
		TooBig:   "up to 8,191 actors at once",
		Messages: 2,
		Slicing:  Slicing{Unit: forkNodes},
		Prepare:  forkOnActors,
		Refs: []Ref{
			{refBuffered, "a goroutine for each, and a channel with room for the answers where there are any", func(Setting) Run { return forkByHand(forkOnChannels(2)) }},
			{refUnbuffered, "a goroutine for each, and an unbuffered channel where there are answers", func(Setting) Run { return forkByHand(forkOnChannels(0)) }},
			{refMutexCond, "a goroutine for each, and a mutex and a WaitGroup where there are answers", func(Setting) Run { return forkByHand(forkOnMutex) }},
		},
	}}
}

// A stretch is a part of the task: so many numbers from first on.
type stretch struct {
	first, size int
}

// split gives the first number to the caller and the rest to two others, the
// second of which may be empty.
func (s stretch) split() (left, right stretch) {
	rest := s.size - 1
	half := (rest + 1) / 2
	return stretch{s.first + 1, half}, stretch{s.first + 1 + half, rest - half}
}

// finding is an answer.
type finding struct {
	count int
	sum   uint64
}

// own is what a node finds out itself.
func (s stretch) own() finding { return finding{1, uint64(fill(uint32(s.first), 3))} }

func (f *finding) add(g finding) {
	f.count += g.count
	f.sum += g.sum
}

// fork is what runs in all ways have in common.
type fork struct {
	upTo          []uint64 // what the numbers before the i-th add up to
	asked, booked int64
}

func newFork() fork {
	f := fork{upTo: make([]uint64, forkNodes+1)}
	for i := range forkNodes {
		f.upTo[i+1] = f.upTo[i] + stretch{i, 1}.own().sum
	}
	return f
}

// book books what a tree of n nodes has found out.
func (f *fork) book(n int, got finding) error {
	f.booked += int64(got.count)
	if got.count != n || got.sum != f.upTo[n] {
		return errors.New("workloads: a tree of " + strconv.Itoa(n) + " nodes has counted " + strconv.Itoa(got.count) +
			", or what they found out is wrong")
	}
	return nil
}

// do performs n operations, a tree of at most so many nodes after the other.
func (f *fork) do(n int, tree func(k int) (finding, error)) error {
	f.asked += int64(n)
	return inRounds(n, forkNodes, func(k int) error {
		found, err := tree(k)
		if err != nil {
			return err
		}
		return f.book(k, found)
	})
}

func (f *fork) check() error { return countCheck(f.asked, f.booked) }

// A forkNode is an actor.
type forkNode struct {
	stretch
	parent *forkNode // nil for the root
	self   actor.Ref
	run    *forkRun

	asked   bool
	waiting int // for so many answers
	found   finding
}

// A forkAsk asks a node for what it is there for. It is one pointer, which an
// interface holds without allocating.
type forkAsk struct{ *forkNode }

// A forkAnswer is a node's answer to its parent.
type forkAnswer struct{ *forkNode }

var errForkTwice = errors.New("workloads: a node of a tree was asked or answered twice, or by another one's child")

func (n *forkNode) Receive(ctx *actor.Context, msg any) error {
	switch m := msg.(type) {
	case forkAsk:
		if m.forkNode != n || n.asked {
			return errForkTwice
		}
		n.asked = true
		n.self = ctx.Self()
		n.found = n.own()
		left, right := n.split()
		if err := n.delegate(ctx, left); err != nil {
			return err
		}
		if err := n.delegate(ctx, right); err != nil {
			return err
		}
	case forkAnswer:
		if m.parent != n || !m.asked || n.waiting == 0 {
			return errForkTwice
		}
		m.parent = nil // a second one has none
		n.found.add(m.found)
		n.waiting--
	default:
		return errStray()
	}
	if n.waiting > 0 {
		return nil
	}
	ctx.StopSelf()
	if n.parent != nil {
		return ctx.Tell(n.parent.self, forkAnswer{n})
	}
	n.run.found = n.found
	n.run.part()
	return nil
}

// delegate makes a child for a stretch, if there is anything in it.
func (n *forkNode) delegate(ctx *actor.Context, s stretch) error {
	if s.size == 0 {
		return nil
	}
	n.waiting++
	child := &forkNode{stretch: s, parent: n}
	return child.start(ctx)
}

// start makes the actor of a node and asks it.
func (n *forkNode) start(ctx *actor.Context) error {
	self, err := ctx.Spawn(actor.Props{New: func() actor.Actor { return n }})
	if err != nil {
		return err
	}
	return ctx.Tell(self, forkAsk{n})
}

// forkRun is ForkJoin run by an implementation.
type forkRun struct {
	*system
	fork
	found finding // by the root of a tree
}

func forkOnActors(st Setting) Run {
	r := &forkRun{system: new(system), fork: newFork()}
	r.raise(st, func(*system, *actor.Context) error { return nil })
	return &run{r.system, func(n int) error {
		return r.do(n, func(k int) (finding, error) {
			r.begin(k, 1)
			root := &forkNode{stretch: stretch{0, k}, run: r}
			err := r.play(root.start)
			return r.found, err
		})
	}, r.check}
}

// forkByHand is ForkJoin run by a reference.
func forkByHand(find func(s stretch) finding) Run {
	f := newFork()
	return &run{caller{}, func(n int) error {
		return f.do(n, func(k int) (finding, error) {
			found := make(chan finding)
			go func() { found <- find(stretch{0, k}) }()
			return <-found, nil
		})
	}, f.check}
}

func forkOnChannels(room int) func(s stretch) finding {
	var find func(s stretch) finding
	find = func(s stretch) finding {
		found := s.own()
		if s.size == 1 {
			return found
		}
		answers := make(chan finding, room)
		waiting := 0
		left, right := s.split()
		for _, part := range [2]stretch{left, right} {
			if part.size > 0 {
				waiting++
				go func() { answers <- find(part) }()
			}
		}
		for range waiting {
			found.add(<-answers)
		}
		return found
	}
	return find
}

func forkOnMutex(s stretch) finding {
	found := s.own()
	if s.size == 1 {
		return found
	}
	var (
		mu sync.Mutex
		wg sync.WaitGroup
	)
	left, right := s.split()
	for _, part := range [2]stretch{left, right} {
		if part.size > 0 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				answer := forkOnMutex(part)
				mu.Lock()
				found.add(answer)
				mu.Unlock()
			}()
		}
	}
	wg.Wait()
	return found
}
