package remote

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
)

// TestHello: a hello is answered, once, an answer is not, and the association is open when the peer
// has said that it has heard of it.
func TestHello(t *testing.T) {
	hi := hello{tag: 7, boot: 5, msgs: 1, bytes: 1, name: "z"}
	answers := func(yours uint64) hello {
		h := hi
		h.yours, h.answer = yours, true
		return h
	}
	self, other, stray := hi, hi, hi
	self.name, other.tag, stray.yours = "here", 8, 2
	for name, c := range map[string]struct {
		hellos        []hello
		greets        bool // this end's own is not written yet
		greet, answer bool
		state         state
		err           error
	}{
		"a hello":                      {hellos: []hello{hi}, greet: true, answer: true},
		"before this end's is written": {hellos: []hello{hi}, greets: true, greet: true},
		"an answer":                    {hellos: []hello{answers(1)}, state: open},
		"both":                         {hellos: []hello{hi, answers(1)}, greet: true, answer: true, state: open},
		"an answer to another one":     {hellos: []hello{answers(2)}},
		"a hello to another one":       {hellos: []hello{stray}},
		"of another one, later":        {hellos: []hello{answers(1), other}, state: open},
		"this system's name":           {hellos: []hello{self}, err: ErrSelf},
	} {
		v := newVictim(t, still())
		a := newAssociation(v.a.node, &blind{}, false)
		a.tag, a.greet = 1, c.greets
		var err error
		for _, h := range c.hellos {
			err = errors.Join(err, a.hello(&h))
		}
		if a.alarm.Stop(); !errors.Is(err, c.err) || err != nil && c.err == nil || a.greet != c.greet || a.answer != c.answer || a.state != c.state {
			t.Errorf("%s: %v, greets %t, as an answer %t, state %d", name, err, a.greet, a.answer, a.state)
		}
		select {
		case <-a.up:
			if c.state != open || !a.quick || !a.hears || v.a.node.peers["z"] != a {
				t.Errorf("%s: it is open, ticks quickly %t, was heard %t", name, a.quick, a.hears)
			}
		default:
			if c.state == open {
				t.Errorf("%s: no caller is told that it is open", name)
			}
		}
	}
}

// TestOpen: which associations a new one takes the place of.
func TestOpen(t *testing.T) {
	const mine, theirs = true, false
	type one struct {
		name   string
		boot   uint64
		dialed bool
		used   bool
	}
	for name, c := range map[string]struct {
		first, then []one
		lost        []error // of each
	}{
		"the same name":                       {[]one{{"z", 5, theirs, false}}, []one{{"z", 5, theirs, false}}, []error{ErrReplaced, nil}},
		"both have begun":                     {[]one{{"z", 5, mine, false}}, []one{{"z", 5, theirs, false}}, []error{nil, errTwin}},
		"both, and the peer is another one":   {[]one{{"z", 5, mine, false}}, []one{{"z", 6, theirs, false}}, []error{ErrReplaced, nil}},
		"both, and the other name is smaller": {[]one{{"a", 5, mine, false}}, []one{{"a", 5, theirs, false}}, []error{ErrReplaced, nil}},
		"another name":                        {[]one{{"y", 5, theirs, false}}, []one{{"z", 5, theirs, false}}, []error{ErrCrowded, nil}},
		"another name, dialed here":           {[]one{{"y", 5, theirs, false}}, []one{{"z", 5, mine, false}}, []error{nil, nil}},
		"the first was dialed here":           {[]one{{"y", 5, mine, false}}, []one{{"z", 5, theirs, false}}, []error{nil, nil}},
		"in the place of what was dialed": {
			[]one{{"y", 5, theirs, false}, {"a", 5, mine, false}},
			[]one{{"a", 5, theirs, false}},
			[]error{ErrCrowded, ErrReplaced, nil},
		},
		"its own place": {
			[]one{{"y", 5, theirs, true}},
			[]one{{"y", 5, theirs, false}},
			[]error{ErrReplaced, nil},
		},
		"there is no room":      {[]one{{"y", 5, theirs, true}}, []one{{"z", 5, theirs, false}}, []error{nil, ErrCrowded}},
		"nor for the next one":  {[]one{{"y", 5, theirs, true}}, []one{{"z", 5, theirs, false}, {"x", 5, theirs, false}}, []error{nil, ErrCrowded, ErrCrowded}},
		"but for one that left": {[]one{{"y", 5, theirs, false}}, []one{{"z", 5, theirs, true}, {"x", 5, theirs, false}}, []error{ErrCrowded, nil, ErrCrowded}},
	} {
		v := newVictimOf(t, still(), Config{MaxPeers: 1})
		n := v.a.node
		clear(n.all)
		clear(n.peers)
		var all []*association
		var lost []error
		for _, x := range append(c.first, c.then...) {
			a := pending(n, x.name, x.boot, x.dialed)
			if n.begun++; x.used {
				a.received = 1
			}
			a.begun = n.begun
			all, lost = append(all, a), append(lost, n.open(a))
		}
		for i, a := range all {
			if a.reason != nil {
				lost[i] = a.reason
			}
			if a.alarm.Stop(); !errors.Is(lost[i], c.lost[i]) || lost[i] != nil && c.lost[i] == nil {
				t.Errorf("%s: association %d is lost for %v", name, i, lost[i])
			}
			if gives := lost[i] != nil && !errors.Is(lost[i], errTwin); a.leaves != gives || a.opened == errors.Is(lost[i], errTwin) {
				t.Errorf("%s: association %d leaves: %t, is open: %t", name, i, a.leaves, a.opened)
			}
		}
		clear(n.all)
	}
	v := newVictim(t, still())
	n, old := v.a.node, pending(v.a.node, "z", 6, true)
	n.peers["z"] = old
	twin := &association{reason: errTwin, peer: hello{name: "z", boot: 6}}
	if p, ok := n.twin(twin); !ok || p.a != old {
		t.Error("there is no twin")
	}
	if twin.peer.boot = 5; second(n.twin(twin)) {
		t.Error("the association with another system of the name is the twin")
	}
	// One that is lost takes out itself, and what is found over it.
	for id, a := range []*association{v.a, old} {
		n.finds[uint64(id)] = &find{a, make(chan found, 1)}
	}
	newer := pending(n, "z", 7, true)
	n.peers["z"] = newer
	looks := n.finds[1].result
	n.forget(old)
	if _, ok := n.all[old]; ok || n.peers["z"] != newer || n.finds[0] == nil || n.finds[1] != nil {
		t.Errorf("what is lost is there still, or takes others with it: %v, %v", n.peers, n.finds)
	}
	select {
	case <-looks:
	default:
		t.Error("who looks for an actor there waits")
	}
	n.closed = true
	if err := n.open(pending(n, "y", 5, false)); !errors.Is(err, ErrClosed) {
		t.Errorf("a node that is closed opens one: %v", err)
	}
	for a := range n.all {
		a.alarm.Stop()
	}
	clear(n.all)
}

func second[A, B any](_ A, b B) B { return b }

// TestFind: what becomes of who looks for an actor of the peer.
func TestFind(t *testing.T) {
	at := actor.Address{Path: "/user/x", PID: pid("8")}
	answer := func(id byte) []byte { return appendPlace([]byte{recordFound, id, 1}, at) }
	for name, c := range map[string]struct {
		path string
		do   func(v *victim)
		err  error
	}{
		"found": {"/user/x", func(v *victim) { v.gets(t, frameData, header{number: 1}, answer(1)) }, nil},
		"found, and said again": {"/user/x", func(v *victim) {
			v.gets(t, frameData, header{number: 1}, append(answer(1), append(answer(1), answer(1)...)...))
		}, nil},
		"not found":             {"/user/x", func(v *victim) { v.gets(t, frameData, header{number: 1}, []byte{recordFound, 1, 0}) }, ErrNotFound},
		"found at another peer": {"/user/x", func(v *victim) { v.a.node.found(&association{}, &record{number: 1, found: true}) }, context.DeadlineExceeded},
		"lost":                  {"/user/x", func(v *victim) { v.a.lose(ErrLeft) }, actor.ErrUnreachable},
		"lost when it is found": {"/user/x", func(v *victim) {
			v.a.line.Load().End()
			v.gets(t, frameData, header{number: 1}, answer(1))
		}, actor.ErrUnreachable},
		"lost before":           {"/user/x", nil, actor.ErrUnreachable},
		"an answer for another": {"/user/x", func(v *victim) { v.gets(t, frameData, header{number: 1}, answer(2)) }, context.DeadlineExceeded},
		"the longest path":      {strings.Repeat("x", maxPath), func(v *victim) { v.gets(t, frameData, header{number: 1}, answer(1)) }, nil},
		"a longer one":          {strings.Repeat("x", maxPath+1), func(*victim) {}, ErrNotFound},
	} {
		synctest.Test(t, func(t *testing.T) {
			v := newVictim(t, still())
			if c.do == nil {
				v.a.lose(ErrLeft)
			}
			ctx, end := context.WithTimeout(t.Context(), time.Second)
			defer end()
			result := make(chan error)
			go func() {
				r, err := (&Peer{v.a}).Find(ctx, c.path)
				if got := r.Path(); err == nil && got != at.Path {
					t.Errorf("%s: it is %v", name, got)
				}
				result <- err
			}()
			if synctest.Wait(); c.do != nil {
				c.do(v)
			}
			if err := <-result; !errors.Is(err, c.err) || err != nil && c.err == nil || len(v.a.node.finds) != 0 {
				t.Errorf("%s: %v, and %d are looked for still", name, err, len(v.a.node.finds))
			}
		})
	}
}
