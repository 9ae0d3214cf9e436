package remote_test

import (
	"errors"
	"os"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/actor/remote/lossy"
	"github.com/dynolab/dyno/actor/remote/remotetest"
	"github.com/dynolab/dyno/impls/workstealing"
)

// fromEnv is a number that can be set from outside, for longer runs.
func fromEnv(t *testing.T, name string, preset int) int {
	text := os.Getenv(name)
	if text == "" {
		return preset
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s=%s: %v", name, text, err)
	}
	return n
}

// What became of a message.
const (
	returned  = 1 << iota // its sender has it back
	delivered             // its actor had it
	letter                // it is a dead letter
)

// TestSoak sends messages over a wire that does everything wrong, and breaks and is
// made anew: each message is given back, delivered or a dead letter, none is
// delivered twice or after it was given back, and those of one sender come in order.
// What is a dead letter for ErrUnreachable may have been delivered as well.
//
//	DYNO_REMOTE_SOAK=10000000 DYNO_REMOTE_SEED=1 go test ./actor/remote -run TestSoak
func TestSoak(t *testing.T) {
	preset := 200_000
	if testing.Short() {
		preset = 50_000
	}
	total := fromEnv(t, "DYNO_REMOTE_SOAK", preset)
	seed := uint64(fromEnv(t, "DYNO_REMOTE_SEED", 1))
	defer func() {
		if t.Failed() {
			t.Logf("again: DYNO_REMOTE_SOAK=%d DYNO_REMOTE_SEED=%d go test ./actor/remote -run TestSoak", total, seed)
		}
	}()
	synctest.Test(t, func(t *testing.T) { soak(t, total, seed) })
}

func soak(t *testing.T, total int, seed uint64) {
	const senders = 4
	each := total / senders
	link := lossyLink(seed<<32, lossy.Faults{Drop: .01, Double: .01, Reorder: .02, Delay: .02, Cut: .005})
	config := remote.Config{Batch: 2048}
	a := remotetest.NewHost(t, "a", workstealing.Impl.NewDispatcher(), config)
	b := remotetest.NewHost(t, "b", workstealing.Impl.NewDispatcher(), config)

	outcomes := make([][]byte, senders) // a byte a message, written under mu
	var mu sync.Mutex
	mark := func(m any, outcome byte) {
		s, i := int(m.(remotetest.Count)>>40), int(m.(remotetest.Count)&(1<<40-1))
		mu.Lock()
		defer mu.Unlock()
		f := &outcomes[s][i]
		if *f&outcome != 0 || *f&returned != 0 || outcome == returned && *f != 0 {
			t.Errorf("message %d of sender %d has the outcome %b, and now %b", i, s, *f, outcome)
		}
		*f |= outcome
	}
	refs := make([]actor.Ref, senders)
	for s := range senders {
		outcomes[s] = make([]byte, each)
		next := remotetest.Count(0)
		p := remotetest.Func(func(_ *actor.Context, msg any) error {
			m := msg.(remotetest.Count)
			if m < next {
				t.Errorf("message %x came behind %x", uint64(m), uint64(next-1))
			}
			next = m + 1
			mark(m, delivered)
			return nil
		})
		if s == 0 {
			p.Mailbox = actor.MailboxConfig{Policy: actor.Block, Capacity: 10} // so that lanes are used
		}
		refs[s] = b.Spawn("", p)
	}

	// The connection is kept up.
	var up, done sync.WaitGroup
	up.Add(1)
	stop := make(chan struct{})
	cuts := 0
	done.Add(1)
	go func() {
		defer done.Done()
		for first := true; ; first = false {
			ab, ba := rejoin(t, link, a, b)
			if first {
				up.Done()
			}
			select {
			case <-ab.Done():
				<-ba.Done()
				cuts++
			case <-stop:
				return
			}
		}
	}()
	up.Wait()

	var sending sync.WaitGroup
	for s := range senders {
		r := a.Abroad(refs[s])
		sending.Add(1)
		go func() {
			defer sending.Done()
			for i := range each {
				m := remotetest.Count(s)<<40 | remotetest.Count(i)
				if err := r.Tell(m); err != nil {
					if !errors.Is(err, actor.ErrNoLink) && !errors.Is(err, actor.ErrUnreachable) {
						t.Errorf("message %d: %v", i, err)
					}
					mark(m, returned)
					time.Sleep(50 * time.Millisecond) // of the bubble's time: until there is a wire again
				}
			}
		}()
	}
	sending.Wait()
	close(stop)
	done.Wait()
	time.Sleep(time.Minute) // of the bubble's time: what is under way arrives
	a.Node.Close()
	b.Node.Close()
	synctest.Wait()
	for _, h := range []*remotetest.Host{a, b} {
		for _, l := range h.Letters() {
			if h == a && l.Reason != actor.ErrUnreachable || h == b {
				t.Errorf("%v is a dead letter for %v at %s", l.Msg, l.Reason, h.Sys.Name())
			}
			mark(l.Msg, letter)
		}
	}
	counts := map[byte]int{}
	for s := range outcomes {
		for i, f := range outcomes[s] {
			counts[f]++
			if f == 0 {
				t.Fatalf("message %d of sender %d is silently gone", i, s)
			}
		}
	}
	if counts[delivered] < total/2 || cuts == 0 && total >= 200_000 {
		t.Errorf("of %d messages %d arrived, over %d wires", total, counts[delivered], cuts+1)
	}
	t.Logf("messages=%d delivered=%d returned=%d unconfirmed=%d of which delivered=%d wires=%d", total,
		counts[delivered], counts[returned], counts[letter]+counts[letter|delivered], counts[letter|delivered], cuts+1)
}

// rejoin connects two hosts over wires that may break while they do.
func rejoin(t *testing.T, l remotetest.Link, a, b *remotetest.Host) (ab, ba *remote.Peer) {
	for {
		wa, wb := l.Pair(t)
		type result struct {
			p   *remote.Peer
			err error
		}
		accepted := make(chan result, 1)
		go func() {
			p, err := b.Node.Accept(t.Context(), wb)
			accepted <- result{p, err}
		}()
		p, err := a.Node.Connect(t.Context(), wa)
		r := <-accepted
		switch {
		case err == nil && r.err == nil:
			return p, r.p
		case err == nil:
			<-p.Done()
		case r.err == nil:
			<-r.p.Done()
		}
	}
}
