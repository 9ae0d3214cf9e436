package workloads

import (
	"errors"
	"math/rand/v2"
	"strconv"

	"github.com/dynolab/dyno/actor"
)

const (
	hotActors = 10_000
	hotTokens = 256 // messages under way at once
)

// actorHot is skewed load, a program with a cache, a counter or a connection that all of its
// parts need: one actor has every second message, and whom it sends to is cold by then.
func actorHot() []Workload {
	return []Workload{{
		Name:    "hot",
		Doc:     "10,000 actors send to a single one, which passes each message on to another: what a hot spot costs all",
		Checked: "each message at the actor that it was sent to; how many visits there were, and of which actors",
		TooBig:  "10,000 actors",
		Actors:  hotActors,
		Slicing: Slicing{Unit: hotActors},
		Prepare: hotOnActors,
		// With unbuffered channels the hot one and another could send to each other.
		Refs: []Ref{
			{
				Name: refBuffered,
				Doc:  "a goroutine and a channel each, the hot one's with room for all messages",
				Prepare: func(st Setting) Run {
					return hotByHand(st, func(c *goroutines, n int, handle func(int, *hotToken) error) carrier[*hotToken] {
						return onChannels(c, n, func(at int) int {
							if at == 0 {
								return hotTokens
							}
							return 1
						}, handle)
					})
				},
			},
			{refMutexCond, "a goroutine each and a slice behind a mutex and a condition variable", func(st Setting) Run { return hotByHand(st, boxesOf[*hotToken](0)) }},
		},
	}}
}

// A hotToken is a message. It belongs to the node it has been sent to.
type hotToken struct {
	home int // which one it is: tokens are in no order among each other
	at   int // the node that is to have it next
	left int // hops of this Do
	sum  uint64
	_    [32]byte
}

// A hotNode is an actor. Node 0 is the hot one.
type hotNode struct {
	hot    *hotSpot
	index  int
	weight uint64 // of a visit in the token's sum
	visits uint64
	self   actor.Ref
	_      [24]byte // nodes are worked on by different processors
}

// hotSpot is the [network]: what runs in all ways have in common.
type hotSpot struct {
	*progress
	all    []hotNode
	tokens []hotToken
	turn   int // the token that gets the first of the next odd hops
	first  int // of the tokens that have hops to make
	moving int // and how many they are
	asked  uint64

	_    [64]byte
	next int     // the hot node's: where in order the next message goes
	cold []int32 // the other nodes, in the order in which they have messages
}

// newHotSpot makes the nodes, without those that no operation would ever reach.
func newHotSpot(s *progress, st Setting) *hotSpot {
	n := hotActors
	if st.Ops > 0 {
		n = min(n, max(2, st.Ops))
	}
	h := &hotSpot{progress: s, all: make([]hotNode, n), tokens: make([]hotToken, hotTokens), cold: make([]int32, n-1)}
	for i := range h.all {
		h.all[i].hot, h.all[i].index, h.all[i].weight = h, i, uint64(fill(uint32(i), 2))
	}
	for i := range h.tokens {
		h.tokens[i].home = i
	}
	for i, at := range rand.New(rand.NewPCG(1, 2)).Perm(n - 1) { // the same in every run
		h.cold[i] = int32(at + 1)
	}
	return h
}

func (h *hotSpot) deal(n int) {
	h.begin(n, min(n, hotTokens))
	h.asked += uint64(n)
	h.first, h.moving = h.turn, min(n, hotTokens)
	for i := range h.moving {
		h.token(i).left = share(n, i, hotTokens)
	}
	h.turn = (h.turn + n) % hotTokens
}

// token returns the i-th token that has hops to make.
func (h *hotSpot) token(i int) *hotToken { return &h.tokens[(h.first+i)%hotTokens] }

// warm is how many hops it takes until each actor has had a message.
func (h *hotSpot) warm() int { return 2*len(h.all) + hotTokens }

// visit books that n has the token, sets where it is to go, and reports whether it is to go
// there now.
func (n *hotNode) visit(t *hotToken) (more bool, err error) {
	if t.at != n.index || t.left <= 0 {
		return false, errors.New("workloads: token " + strconv.Itoa(t.home) + " came twice, or to an actor that it was not sent to")
	}
	n.visits++
	t.sum += n.weight
	t.left--
	t.at = 0
	if n.index == 0 {
		h := n.hot
		t.at = int(h.cold[h.next])
		if h.next++; h.next == len(h.cold) {
			h.next = 0
		}
	}
	return t.left > 0, nil
}

func (h *hotSpot) check() error {
	var visits, sum, want uint64
	for i := range h.all {
		visits += h.all[i].visits
		want += h.all[i].visits * h.all[i].weight
	}
	for i := range h.tokens {
		sum += h.tokens[i].sum
	}
	if err := countCheck(int64(h.asked), int64(visits)); err != nil {
		return err
	}
	if sum != want {
		return errors.New("workloads: the tokens were not where they say")
	}
	return nil
}

func (n *hotNode) Receive(ctx *actor.Context, msg any) error {
	t, ok := msg.(*hotToken)
	if !ok {
		return errStray()
	}
	more, err := n.visit(t)
	if err != nil {
		return err
	}
	if more {
		return ctx.Tell(n.hot.all[t.at].self, t)
	}
	n.hot.part()
	return nil
}

func (h *hotSpot) nodes(f func(a actor.Actor, self *actor.Ref)) {
	for i := range h.all {
		f(&h.all[i], &h.all[i].self)
	}
}

func (h *hotSpot) start(send func(to int, t *hotToken) error) error {
	for i := range h.moving {
		t := h.token(i)
		if err := send(t.at, t); err != nil {
			return err
		}
	}
	return nil
}

func (h *hotSpot) handle(at int, t *hotToken, send carrier[*hotToken]) error {
	more, err := h.all[at].visit(t)
	switch {
	case err != nil:
		return err
	case more:
		send(t.at, t)
	default:
		h.part()
	}
	return nil
}

func hotOnActors(st Setting) Run {
	var h *hotSpot
	r := byActors(st, func(s *progress) network[*hotToken] {
		h = newHotSpot(s, st)
		return h
	})
	if r.err() == nil {
		_ = r.Do(h.warm()) // what is wrong the next Do will say
	}
	return r
}

func hotByHand(st Setting, carry carrying[*hotToken]) Run {
	var h *hotSpot
	r := byHand(carry, func(s *progress) network[*hotToken] {
		h = newHotSpot(s, st)
		return h
	})
	_ = r.Do(h.warm())
	return r
}
