package workloads

import (
	"errors"
	"math/rand/v2"
	"strconv"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/workloads/internal/condbox"
)

// rings is a job that three workloads have in common and differ in its
// measures: a number of rings of actors, in each of which a token goes round.
// An operation is a hop. Each actor has had a token once when the run is
// prepared: what a first message costs is for spawn to say.
type rings struct {
	*progress
	size   int        // actors in a ring
	nodes  []ringNode // in the order in which they are spawned
	order  []int32    // the nodes' indexes ring by ring, nil if that is their order anyway
	tokens []token    // one for each ring
	turn   int        // the ring that gets the first of the next odd hops
	first  int        // of the rings whose tokens have hops to make in this Do
	moving int        // and how many they are
	hops   []int      // of each ring in all
}

// checkedRings is what rings check.
const checkedRings = "each hop reaches the node it was sent to; how often each node has been reached; the sum that a message has collected on its way"

// ringSlicing is the Slicing of a workload with so many actors: each is to have
// its turn.
func ringSlicing(actors int) Slicing {
	if actors >= tooManyActors {
		return Slicing{Whole: tooMany}
	}
	return Slicing{Unit: actors}
}

// A ringNode is an actor. Neighbours in memory are worked on by different
// processors, so each has a cache line of its own.
type ringNode struct {
	next   *ringNode
	rings  *rings
	index  int
	weight uint64 // of a visit in the token's sum
	visits int
	self   actor.Ref
	to     actor.Ref // the next one
	_      [8]byte
}

// A token is the message. It belongs to the node it has been sent to.
type token struct {
	at   *ringNode // who is to have it next
	left int       // hops of this Do
	sum  uint64    // of the weights of the nodes it has been at
	_    [40]byte
}

// newRings makes count rings of size nodes. With shuffled, neighbours in a ring
// are none in memory.
func newRings(s *progress, count, size int, shuffled bool) *rings {
	r := &rings{
		progress: s,
		size:     size,
		nodes:    make([]ringNode, count*size),
		tokens:   make([]token, count),
		hops:     make([]int, count),
	}
	if shuffled {
		r.order = make([]int32, len(r.nodes))
		for i, at := range rand.New(rand.NewPCG(1, 2)).Perm(len(r.nodes)) { // the same in every run
			r.order[i] = int32(at)
		}
	}
	for i := range r.nodes {
		n := &r.nodes[i]
		n.rings, n.index = r, i
		n.weight = uint64(fill(uint32(i), 2))
		r.node(i).next = r.node(r.after(i))
	}
	for i := range r.tokens {
		r.tokens[i].at = r.node(i * size)
	}
	return r
}

// node returns the i-th node, counted along the rings.
func (r *rings) node(i int) *ringNode {
	if r.order != nil {
		i = int(r.order[i])
	}
	return &r.nodes[i]
}

// after returns which node along the rings comes after the i-th.
func (r *rings) after(i int) int {
	if i%r.size == r.size-1 {
		return i - r.size + 1
	}
	return i + 1
}

// token returns the token of the i-th ring, counted round and round.
func (r *rings) token(i int) *token { return &r.tokens[i%len(r.tokens)] }

// visit books that n has the token and reports whether it is to be passed on.
func (n *ringNode) visit(t *token) (more bool, err error) {
	if t.at != n || t.left <= 0 {
		return false, errors.New("workloads: a node of a ring received a token that was not sent to it: it came twice, or went astray")
	}
	n.visits++
	t.sum += n.weight
	t.at = n.next
	t.left--
	return t.left > 0, nil
}

// deal gives the tokens n hops.
func (r *rings) deal(n int) {
	count := len(r.tokens)
	r.first, r.moving = r.turn, min(n, count)
	r.begin(n, r.moving)
	for i := range count {
		k := share(n, i, count)
		ring := (r.first + i) % count
		r.tokens[ring].left = k
		r.hops[ring] += k
	}
	r.turn = (r.first + n) % count
}

// check compares each node's visits and each token's sum with what follows
// from the number of hops.
func (r *rings) check() error {
	for ring := range r.tokens {
		var sum uint64
		for pos := range r.size {
			n := r.node(ring*r.size + pos)
			want := share(r.hops[ring], pos, r.size)
			if n.visits != want {
				return errors.New("workloads: node " + strconv.Itoa(pos) + " of ring " + strconv.Itoa(ring) + " had the token " +
					strconv.Itoa(n.visits) + " times instead of " + strconv.Itoa(want))
			}
			sum += uint64(want) * n.weight
		}
		if sum != r.tokens[ring].sum {
			return errors.New("workloads: the token of ring " + strconv.Itoa(ring) + " has added up something else than it saw")
		}
	}
	return nil
}

func (n *ringNode) Receive(ctx *actor.Context, msg any) error {
	t, ok := msg.(*token)
	if !ok {
		return errStray()
	}
	more, err := n.visit(t)
	if err != nil {
		return err
	}
	if more {
		return ctx.Tell(n.to, t)
	}
	n.rings.part()
	return nil
}

// ringKind is a workload of rings.
type ringKind struct {
	count    int  // rings
	size     int  // actors in each
	shuffled bool // neighbours in a ring have not been spawned one after the other
}

// new makes the rings, without actors that no token would ever reach.
func (k ringKind) new(s *progress, st Setting) *rings {
	count, size := k.count, k.size
	if st.Ops > 0 {
		count = min(count, st.Ops)
		size = min(size, max(2, st.Ops))
	}
	return newRings(s, count, size, k.shuffled)
}

func (k ringKind) refs() []Ref {
	return []Ref{
		{refBuffered, "a goroutine and a buffered channel each", k.byHand(ringsOnChannels(1))},
		{refUnbuffered, "a goroutine and an unbuffered channel each", k.byHand(ringsOnChannels(0))},
		{refMutexCond, "a goroutine each and a slice behind a mutex and a condition variable", k.byHand(ringsOnBoxes)},
	}
}

// onActors runs rings by an implementation.
func (k ringKind) onActors(st Setting) Run {
	run := newActorsRun()
	r := k.new(&run.progress, st)
	run.protocol = r
	run.begun = func(ctx *actor.Context) error {
		for i := range r.moving {
			t := r.token(r.first + i)
			if err := ctx.Tell(t.at.self, t); err != nil {
				return err
			}
		}
		return nil
	}
	run.raise(st, func(s *system, ctx *actor.Context) (err error) {
		for i := 0; i < len(r.nodes) && err == nil; i++ {
			r.nodes[i].self, err = s.spawn(ctx, &r.nodes[i])
		}
		for i := range r.nodes {
			r.nodes[i].to = r.nodes[i].next.self
		}
		return err
	})
	if run.err() == nil {
		_ = run.Do(len(r.nodes)) // every actor's first message; what is wrong the next Do will say
	}
	return run
}

// byHand runs rings by a reference, whose goroutines serve makes. The loops of those are
// written out: onChannels and onBoxes make a hop of pingpong 3 to 6 % slower.
func (k ringKind) byHand(serve func(c *goroutines, r *rings) carrier[*token]) func(st Setting) Run {
	return func(st Setting) Run {
		run := newHandRun()
		r := k.new(&run.progress, st)
		run.protocol = r
		send := serve(run.goroutines, r)
		run.begun = func() {
			for i := range r.moving {
				t := r.token(r.first + i)
				send(t.at.index, t)
			}
		}
		_ = run.Do(len(r.nodes))
		return run
	}
}

// ringsOnChannels has a goroutine and a channel for each node. A node has one token at most,
// so room for more than one would be of no use.
func ringsOnChannels(room int) func(c *goroutines, r *rings) carrier[*token] {
	return func(c *goroutines, r *rings) carrier[*token] {
		in := make([]chan *token, len(r.nodes))
		for i := range in {
			in[i] = make(chan *token, room)
		}
		for i, own := range in {
			n := &r.nodes[i]
			next := in[n.next.index]
			c.launch(func() {
				for t := range own {
					more, err := n.visit(t)
					switch {
					case err != nil:
						c.fail(err)
					case more:
						next <- t
					default:
						c.part()
					}
				}
			})
		}
		c.let = func() {
			for _, ch := range in {
				close(ch)
			}
		}
		return func(to int, t *token) { in[to] <- t }
	}
}

// ringsOnBoxes has a goroutine and a locked mailbox for each node.
func ringsOnBoxes(c *goroutines, r *rings) carrier[*token] {
	in := make([]*condbox.Box[*token], len(r.nodes))
	for i := range in {
		in[i] = condbox.New[*token](0)
	}
	for i, own := range in {
		n := &r.nodes[i]
		next := in[n.next.index]
		c.launch(func() {
			var batch []*token
			for {
				if batch = own.TakeAll(batch); len(batch) == 0 {
					return
				}
				for _, t := range batch {
					more, err := n.visit(t)
					switch {
					case err != nil:
						c.fail(err)
					case more:
						next.Put(t)
					default:
						c.part()
					}
				}
			}
		})
	}
	c.let = func() {
		for _, b := range in {
			b.Close()
		}
	}
	return func(to int, t *token) { in[to].Put(t) }
}

// onFloor runs rings in the caller's goroutine, which calls node after node: what
// it takes to reach the nodes' own memory, however they are told of it.
func (k ringKind) onFloor(st Setting) Run {
	s := new(progress)
	s.init()
	r := k.new(s, st)
	_ = r.walk(len(r.nodes))
	return &run{caller{}, r.walk, r.check}
}

// walk does n hops.
func (r *rings) walk(n int) error {
	r.deal(n)
	for i := range r.moving {
		t := r.token(r.first + i)
		for more := true; more; {
			var err error
			if more, err = t.at.visit(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// floor is the reference without messages.
func (k ringKind) floor() Ref {
	return Ref{
		Name:    refFloor,
		Doc:     "one goroutine that goes from actor to actor and calls it: the way without the messages",
		Prepare: k.onFloor,
	}
}
