package workloads

import (
	"errors"
	"strconv"
)

const (
	thrputActors = 60
	thrputWindow = 16 // messages under way to each
)

// savinaFjThrput is many independent receivers of one sender. No more than 16 messages are
// under way to each, which the receiver sends back: Savina's sender sends all at once and never
// hears of them.
func savinaFjThrput() []Workload {
	return savina(Workload{
		Name:     "fjthrput",
		Doc:      "after Savina: one actor sends to 60 others, which send each message back when it has been handled: throughput to many independent receivers",
		Op:       "a message with its way back",
		Messages: 2,
		Checked:  "each message reaches the receiver that it was sent to, once and in order, and comes back so; what receivers have computed",
	}, func(s *progress) savinaProgram[*bundle] { return newThrput(s) })
}

// A bundle is the message, which the sender uses again.
type bundle struct {
	home  int // its receiver
	turn  int // which of the messages to and from its receiver it is
	left  int // how often it is to be sent in this Do
	value uint32
	away  bool // it is on its way to the receiver
}

type thrputReceiver struct {
	count int
	sum   uint64
	_     [48]byte // receivers are worked on by different processors
}

// thrput is the sender's, node 0; receiver i is node i+1.
type thrput struct {
	rota      // the bundles
	bundles   [thrputActors * thrputWindow]bundle
	receivers [thrputActors]thrputReceiver

	// The sender's.
	sent, back [thrputActors]int // messages to each receiver, and from it
}

func newThrput(s *progress) *thrput {
	t := new(thrput)
	t.rota = newRota(s, len(t.bundles), func(at, ops int) { t.bundles[at].left = ops })
	for i := range t.bundles {
		t.bundles[i].home, t.bundles[i].value = i%thrputActors, fill(uint32(i), 2)
	}
	return t
}

func (t *thrput) size() int { return thrputActors + 1 }

func (t *thrput) start(send func(to int, p *bundle) error) error {
	return send(0, nil) // or the first messages to a receiver would be of another sender
}

// dispatch has the sender send p.
func (t *thrput) dispatch(p *bundle, send carrier[*bundle]) {
	p.turn, p.away = t.sent[p.home], true
	t.sent[p.home]++
	send(p.home+1, p)
}

func (t *thrput) handle(at int, p *bundle, send carrier[*bundle]) error {
	switch {
	case p == nil:
		if err := t.told(at); err != nil {
			return err
		}
		return t.each(func(at int) error {
			t.dispatch(&t.bundles[at], send)
			return nil
		})
	case at == p.home+1 && p.away && p.turn == t.receivers[p.home].count:
		r := &t.receivers[p.home]
		r.count++
		r.sum += uint64(p.value)
		p.away = false
		send(0, p)
	case at == 0 && !p.away && p.left > 0 && p.turn == t.back[p.home]:
		t.back[p.home]++
		if p.left--; p.left == 0 {
			t.part()
			return nil
		}
		t.dispatch(p, send)
	default:
		return errors.New("workloads: a message came twice, out of order or to another receiver")
	}
	return nil
}

func (t *thrput) check() error {
	var want [thrputActors]thrputReceiver
	for i, n := range t.asked {
		r := &want[t.bundles[i].home]
		r.count += n
		r.sum += uint64(n) * uint64(t.bundles[i].value)
	}
	for i := range want {
		if got := t.receivers[i]; got != want[i] {
			return errors.New("workloads: receiver " + strconv.Itoa(i) + " has had " + strconv.Itoa(got.count) + " messages instead of " + strconv.Itoa(want[i].count) + ", or others")
		}
	}
	return nil
}
