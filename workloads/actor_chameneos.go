package workloads

import (
	"errors"
	"strconv"

	"github.com/dynolab/dyno/actor"
)

const (
	chameneosCount = 100            // creatures
	mallIndex      = chameneosCount // the mall's number, after theirs
)

// actorChameneos is the benchmark of that name of Savina's suite: creatures meet at a mall, both
// change colour by what the other one's is, and go again. All compete for one actor, and those
// whom it brings together then talk to each other.
//
// A meeting is four messages: the mall tells the first of two who the second is, the first tells
// the second, and both go to the mall again.
func actorChameneos() []Workload {
	return []Workload{{
		Name:    "chameneos",
		Doc:     "100 actors meet in pairs, as a broker brings them together: all against one, and random partners",
		Checked: "each visit to the mall once and in turn, each meeting of two who wait; who was brought together is who has met",
		TooBig:  "101 actors take more than half of 64 KiB; big/actors=16 has random partners as well",
		Prepare: chameneosOnActors,
		Refs: []Ref{
			{
				Name: refBuffered,
				Doc:  "a goroutine and a channel each, with room for all that can come",
				Prepare: func(Setting) Run {
					return chameneosByHand(func(c *goroutines, n int, handle func(int, *encounter) error) carrier[*encounter] {
						return onChannels(c, n, func(at int) int { return max(1, at/mallIndex*chameneosCount) }, handle)
					})
				},
			},
			{refUnbuffered, "a goroutine and an unbuffered channel each", func(Setting) Run { return chameneosByHand(channelsOf[*encounter](0)) }},
			{refMutexCond, "a goroutine each and a slice behind a mutex and a condition variable", func(Setting) Run { return chameneosByHand(boxesOf[*encounter](0)) }},
		},
	}}
}

// An encounter is every message.
type encounter struct {
	kind  encounterKind
	color uint8
	from  *creature
	visit int64 // of a visit: how many there were before
}

type encounterKind uint8

const (
	toVisit  encounterKind = iota // from is at the mall; or, sent on: go and meet from
	toMeet                        // from has met you and had this colour
	toRegard                      // nothing more than that: an odd message
	toOpen                        // to the mall: a Do begins
	toBegin                       // to a creature: go to the mall
)

// complement returns the colour of those who have met with the colours a and b:
// their own if they have the same, and the third one if not.
func complement(a, b uint8) uint8 {
	if a == b {
		return a
	}
	return 3 - a - b
}

// A creature is an actor.
type creature struct {
	park  *park
	id    int
	color uint8
	away  bool // it is at the mall and waits
	self  actor.Ref

	visit   encounter    // reused: it goes to the mall and on to whom it meets
	meets   [3]encounter // one for each colour, never written to
	met     int64
	partner int64 // sum of the ids of those it has met
	regards int64
	_       [64]byte // creatures are worked on by different processors
}

// handle does what m asks for. It returns what is to be sent to another that it
// has met, if anything, and whether it is to go to the mall.
func (c *creature) handle(m *encounter) (meet *encounter, to *creature, visit bool, err error) {
	switch m.kind {
	case toBegin:
		if c.away {
			return nil, nil, false, errors.New("workloads: a creature was told twice to begin")
		}
	case toRegard:
		c.regards++
		c.park.part()
		return nil, nil, false, nil
	case toVisit, toMeet:
		if !c.away || m.from == c {
			return nil, nil, false, errors.New("workloads: a creature met another twice, or while it was not at the mall")
		}
		if m.kind == toVisit {
			meet, to = &c.meets[c.color], m.from
		}
		c.color = complement(c.color, m.color)
		c.met++
		c.partner += int64(m.from.id)
	default:
		return nil, nil, false, errStray()
	}
	c.away = true
	c.visit.color = c.color
	c.visit.visit++
	return meet, to, true, nil
}

// mall is the actor that brings creatures together.
type mall struct {
	*park
	self actor.Ref

	waiting [chameneosCount]*encounter // a ring
	head, n int
	visits  [chameneosCount]int64
	open    bool // in a Do
	left    int  // meetings of this Do
	met     int64
	pairs   int64 // sum of the ids of those who were brought together
}

// handle does what m asks for. It calls send with what is to be sent.
func (l *mall) handle(m *encounter, send func(to *creature, m *encounter) error) error {
	if m.kind == toOpen {
		l.open, l.left = true, l.meetings
	} else {
		id := m.from.id
		if l.visits[id]++; m.kind != toVisit || m.visit != l.visits[id] {
			return errors.New("workloads: creature " + strconv.Itoa(id) + " came to the mall twice")
		}
		l.waiting[(l.head+l.n)%chameneosCount] = m
		l.n++
	}
	for l.left > 0 && l.n > 1 {
		l.left--
		first, second := l.pop(), l.pop()
		l.met++
		l.pairs += int64(first.from.id) + int64(second.from.id)
		if err := send(first.from, second); err != nil {
			return err
		}
	}
	if !l.open || l.left > 0 || l.n < chameneosCount {
		return nil
	}
	l.open = false
	for i := range l.odd {
		if err := send(&l.creatures[i], &l.regard); err != nil {
			return err
		}
	}
	l.part()
	return nil
}

func (l *mall) pop() *encounter {
	m := l.waiting[l.head]
	l.head = (l.head + 1) % chameneosCount
	l.n--
	return m
}

// park is the [network]: what runs in all ways have in common.
type park struct {
	*progress
	mall      mall
	creatures []creature

	begins, opens, regard encounter // never written to

	meetings int // of this Do
	odd      int // messages of this Do that belong to no meeting
	asked    int64
	gathers  bool // the creatures are to go to the mall first
}

func newPark(s *progress) *park {
	p := &park{progress: s, creatures: make([]creature, chameneosCount)}
	p.begins.kind, p.opens.kind, p.regard.kind = toBegin, toOpen, toRegard
	p.mall.park = p
	for i := range p.creatures {
		c := &p.creatures[i]
		c.park, c.id, c.color = p, i, uint8(i%3)
		c.visit.from = c
		for color := range c.meets {
			c.meets[color] = encounter{kind: toMeet, color: uint8(color), from: c}
		}
	}
	return p
}

// deal prepares n messages.
func (p *park) deal(n int) {
	p.meetings, p.odd = n/4, n%4
	p.begin(n, 1+p.odd)
	p.asked += int64(n)
}

// gather prepares for the creatures' first way to the mall. They wait there
// between two Dos.
func (p *park) gather() {
	p.meetings, p.odd, p.gathers = 0, 0, true
	p.parts.Store(1)
}

// start has send send the messages that begin a Do.
func (p *park) start(send func(to int, m *encounter) error) error {
	if p.gathers {
		p.gathers = false
		for i := range p.creatures {
			if err := send(i, &p.begins); err != nil {
				return err
			}
		}
	}
	return send(mallIndex, &p.opens)
}

func (p *park) check() error {
	var met, partners, regards int64
	for i := range p.creatures {
		met += p.creatures[i].met
		partners += p.creatures[i].partner
		regards += p.creatures[i].regards
	}
	if met != 2*p.mall.met || partners != p.mall.pairs {
		return errors.New("workloads: the creatures have met others than were brought together, or not as often")
	}
	return countCheck(p.asked, 4*p.mall.met+regards)
}

func (c *creature) Receive(ctx *actor.Context, msg any) error {
	m, ok := msg.(*encounter)
	if !ok {
		return errStray()
	}
	meet, to, visit, err := c.handle(m)
	if err != nil {
		return err
	}
	if meet != nil {
		if err := ctx.Tell(to.self, meet); err != nil {
			return err
		}
	}
	if visit {
		return ctx.Tell(c.park.mall.self, &c.visit)
	}
	return nil
}

// mallActor is the mall with its way of sending.
type mallActor struct {
	*mall
	ctx  *actor.Context // always the same
	send func(to *creature, m *encounter) error
}

func (l *mallActor) Receive(ctx *actor.Context, msg any) error {
	m, ok := msg.(*encounter)
	if !ok {
		return errStray()
	}
	l.ctx = ctx
	return l.handle(m, l.send)
}

func (p *park) nodes(f func(a actor.Actor, self *actor.Ref)) {
	for i := range p.creatures {
		f(&p.creatures[i], &p.creatures[i].self)
	}
	l := &mallActor{mall: &p.mall}
	l.send = func(to *creature, m *encounter) error { return l.ctx.Tell(to.self, m) }
	f(l, &p.mall.self)
}

func (p *park) handle(at int, m *encounter, send carrier[*encounter]) error {
	if at == mallIndex {
		return p.mall.handle(m, func(to *creature, m *encounter) error {
			send(to.id, m)
			return nil
		})
	}
	c := &p.creatures[at]
	meet, to, visit, err := c.handle(m)
	if err != nil {
		return err
	}
	if meet != nil {
		send(to.id, meet)
	}
	if visit {
		send(mallIndex, &c.visit)
	}
	return nil
}

func chameneosOnActors(st Setting) Run {
	var p *park
	r := byActors(st, func(s *progress) network[*encounter] {
		p = newPark(s)
		return p
	})
	if r.err() == nil {
		p.gather()
		_ = r.play(r.begun) // what is wrong Do will say
	}
	return r
}

// chameneosByHand runs Chameneos by a reference. Unbuffered channels do: the mall sends only to
// creatures that wait for it, and they send to others that wait.
func chameneosByHand(carry carrying[*encounter]) Run {
	var p *park
	r := byHand(carry, func(s *progress) network[*encounter] {
		p = newPark(s)
		return p
	})
	p.gather()
	r.begun()
	_ = r.wait()
	return r
}
