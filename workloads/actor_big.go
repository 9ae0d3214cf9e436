package workloads

import (
	"errors"
	"math/bits"
	"strconv"

	"github.com/dynolab/dyno/actor"
)

// bigPeers is how many actors there are.
const bigPeers = 120

// actorBig is many to many, the benchmark of that name of Erlang's and Savina's suites: neither
// partner nor processor is the same twice.
func actorBig() []Workload {
	return []Workload{{
		Name:    "big",
		Doc:     "120 actors send pings to random others and answer theirs: mailboxes that all of them use",
		Checked: "each ping is served once, by whom it was sent to, and comes back once; the sums of what was sent and served",
		TooBig:  "120 actors take more than half of 64 KiB; big/actors=16 stands for it",
		Prepare: func(st Setting) Run { return bigOnActors(st, bigPeers) },
		On: func(_ Setting, f Framework) Run {
			return networkOn(f, func(s *progress) network[*bigPing] { return newBig(s, bigPeers) })
		},
		Refs: []Ref{
			{
				Name: refBuffered,
				// A ping of every peer, the pong of its own, and what begins a Do.
				Doc:     "a goroutine and a channel each with room for a message of each",
				Prepare: func(Setting) Run { return bigByHand(channelsOf[*bigPing](bigPeers + 2)) },
			},
			{
				Name:    refUnbuffered,
				Doc:     "a goroutine and an unbuffered channel each, with a select of receiving and sending, since two could send to each other",
				Prepare: func(Setting) Run { return bigOnUnbuffered() },
			},
			{refMutexCond, "a goroutine each and a slice behind a mutex and a condition variable", func(Setting) Run { return bigByHand(boxesOf[*bigPing](0)) }},
		},
	}}
}

// bareBig is actorBig where memory is scarce.
func bareBig(actors int) Workload {
	return Workload{
		Name:    "big",
		Variant: "actors=" + strconv.Itoa(actors),
		Doc:     "16 actors send pings to random others and answer theirs: big where memory is scarce",
		Slicing: Slicing{Unit: 2 * actors},
		Prepare: func(st Setting) Run { return bigOnActors(st, actors) },
	}
}

// A bigPing is sent to a peer and back. Nil tells a peer to begin.
type bigPing struct {
	home     *bigPeer // whose ping it is; nil if it is not to be answered
	to       *bigPeer
	answered bool
	key      uint64 // adds up, with the sender and with the receiver
}

// A bigPeer is an actor. It has one ping, and so one on its way at most.
type bigPeer struct {
	big  *big
	id   int
	rnd  uint32
	self actor.Ref

	ping bigPing
	open bool // it waits for its pong
	left int  // pings to send in this Do

	sent, served bigSum
	_            [64]byte // peers are worked on by different processors
}

// bigSum counts pings and adds up their keys.
type bigSum struct {
	count int64
	keys  uint64
}

func (s *bigSum) add(m *bigPing) {
	s.count++
	s.keys += m.key
}

// big is the [network]: what runs in all ways have in common.
type big struct {
	*progress
	peers  []bigPeer
	first  int     // the peer that gets the first of the next odd pings
	single bigPing // the last operation of an odd number, which has no pong
	ones   bigSum  // of the single
	asked  int64

	pings int  // of this Do
	odd   bool // and the single one
}

func newBig(s *progress, peers int) *big {
	b := &big{progress: s, peers: make([]bigPeer, peers)}
	for i := range b.peers {
		p := &b.peers[i]
		p.big, p.id, p.rnd = b, i, fill(uint32(i), 5)|1
		p.ping.home = p
	}
	return b
}

// other returns a random peer that is not p.
func (p *bigPeer) other() *bigPeer {
	// xorshift: random enough, and cheap
	p.rnd ^= p.rnd << 13
	p.rnd ^= p.rnd >> 17
	p.rnd ^= p.rnd << 5
	i, _ := bits.Mul32(p.rnd, uint32(len(p.big.peers)-1))
	if int(i) >= p.id {
		i++
	}
	return &p.big.peers[i]
}

// aim makes m, which is p's or the single one, ready to be sent to m.to.
func (p *bigPeer) aim(m *bigPing) {
	m.to, m.answered = p.other(), false
	m.key = m.key*0x9e3779b97f4a7c15 + uint64(p.id) + 1
}

// handle does what a message asks for. It returns the message to send because
// of it, if there is one, and to whom.
func (p *bigPeer) handle(m *bigPing) (next *bigPing, to *bigPeer, err error) {
	switch {
	case m == nil:
		if p.open || p.left == 0 {
			return nil, nil, errors.New("workloads: a peer was told twice to begin")
		}
	case m.home == p:
		if !p.open || !m.answered {
			return nil, nil, errors.New("workloads: a peer received a pong twice, or its own ping")
		}
		p.open = false
		if p.left == 0 {
			p.big.part()
			return nil, nil, nil
		}
	default:
		if m.to != p || m.answered {
			return nil, nil, errors.New("workloads: a peer received a ping twice, or one that was sent to another")
		}
		p.served.add(m)
		m.answered = true
		if m.home == nil {
			p.big.part()
			return nil, nil, nil
		}
		return m, m.home, nil
	}
	m = &p.ping
	p.aim(m)
	p.sent.add(m)
	p.open = true
	p.left--
	return m, m.to, nil
}

// deal gives the peers n messages to send, a ping and its pong being two.
func (b *big) deal(n int) {
	pings, odd := n/2, n%2
	b.begin(n, min(pings, len(b.peers))+odd)
	b.asked += int64(n)
	for i := range b.peers {
		b.peer(i).left = share(pings, i, len(b.peers))
	}
	b.pings, b.odd = pings, odd == 1
	if b.odd {
		b.peer(0).aim(&b.single)
		b.ones.add(&b.single)
	}
}

// start has send send the messages that begin what deal has dealt.
func (b *big) start(send func(to int, m *bigPing) error) error {
	for i := range min(b.pings, len(b.peers)) {
		if err := send(b.peer(i).id, nil); err != nil {
			return err
		}
	}
	b.first = (b.first + b.pings) % len(b.peers)
	if b.odd {
		return send(b.single.to.id, &b.single)
	}
	return nil
}

// peer returns the i-th peer in the order in which pings are dealt.
func (b *big) peer(i int) *bigPeer { return &b.peers[(b.first+i)%len(b.peers)] }

// check compares what was served with what was sent.
func (b *big) check() error {
	sent, served := b.ones, bigSum{}
	for i := range b.peers {
		p := &b.peers[i]
		sent.count += p.sent.count
		sent.keys += p.sent.keys
		served.count += p.served.count
		served.keys += p.served.keys
	}
	if err := countCheck(b.asked, 2*sent.count-b.ones.count); err != nil {
		return err
	}
	if sent != served {
		return errors.New("workloads: " + strconv.FormatInt(sent.count, 10) + " pings were sent and " +
			strconv.FormatInt(served.count, 10) + " served, or others than were sent")
	}
	return nil
}

func (p *bigPeer) Receive(ctx *actor.Context, msg any) error {
	m, ok := msg.(*bigPing)
	if !ok {
		return errStray()
	}
	next, to, err := p.handle(m)
	if err != nil || next == nil {
		return err
	}
	return ctx.Tell(to.self, next)
}

func (b *big) nodes(f func(a actor.Actor, self *actor.Ref)) {
	for i := range b.peers {
		f(&b.peers[i], &b.peers[i].self)
	}
}

func bigOnActors(st Setting, peers int) Run {
	return byActors(st, func(s *progress) network[*bigPing] { return newBig(s, peers) })
}

// bigByHand runs big by a reference.
func bigByHand(carry carrying[*bigPing]) Run {
	return byHand(carry, func(s *progress) network[*bigPing] { return newBig(s, bigPeers) })
}

func (b *big) handle(at int, m *bigPing, send carrier[*bigPing]) error {
	next, to, err := b.peers[at].handle(m)
	if next != nil {
		send(to.id, next)
	}
	return err
}

// bigOnUnbuffered: who waits to send must receive meanwhile, since its receiver may be
// waiting to send to it.
func bigOnUnbuffered() Run {
	var b *big
	return byHand(
		func(c *goroutines, _ int, _ func(int, *bigPing) error) carrier[*bigPing] { return b.launch(c) },
		func(s *progress) network[*bigPing] {
			b = newBig(s, bigPeers)
			return b
		})
}

// launch starts a goroutine for each peer.
func (b *big) launch(c *goroutines) carrier[*bigPing] {
	in := make([]chan *bigPing, bigPeers)
	for i := range in {
		in[i] = make(chan *bigPing)
	}
	for i := range in {
		c.launch(func() { b.peers[i].serve(in) })
	}
	c.let = func() {
		for _, ch := range in {
			close(ch)
		}
	}
	return func(to int, m *bigPing) { in[to] <- m }
}

// serve receives and sends until the peer's channel is closed.
func (p *bigPeer) serve(in []chan *bigPing) {
	type parcel struct {
		m  *bigPing
		to *bigPeer
	}
	own := in[p.id]
	var out []parcel // the newest goes first: no sender has two under way
	for {
		var (
			ch   chan<- *bigPing // nil, on which nothing is sent, if there is nothing to send
			last parcel
		)
		if len(out) > 0 {
			last = out[len(out)-1]
			ch = in[last.to.id]
		}
		select {
		case m, ok := <-own:
			if !ok {
				return
			}
			next, to, err := p.handle(m)
			switch {
			case err != nil:
				p.big.fail(err)
			case next != nil:
				out = append(out, parcel{next, to})
			}
		case ch <- last.m:
			out = out[:len(out)-1]
		}
	}
}
