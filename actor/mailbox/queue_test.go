package mailbox_test

import (
	"errors"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/mailbox"
)

// letter is a message that tells its sequence number and its priority.
type letter struct{ seq, prio int }

func prio(msg any) int { return msg.(letter).prio }

// model is what a Queue must do, said as plainly as it can be: a sorted slice.
type model struct {
	cfg     actor.MailboxConfig
	waits   []letter
	senders []letter
	closed  bool
}

func (m *model) insert(l letter) {
	i := len(m.waits)
	if m.cfg.Priority != nil {
		for i > 0 && m.waits[i-1].prio > l.prio {
			i--
		}
	}
	m.waits = slices.Insert(m.waits, i, l)
}

func (m *model) push(l letter) (res actor.SendResult, dropped any, drop bool) {
	full := m.cfg.Capacity > 0 && len(m.waits) >= m.cfg.Capacity
	if m.closed {
		return actor.Closed, nil, false
	}
	if !full {
		m.insert(l)
		return actor.Sent, nil, false
	}
	switch m.cfg.Policy {
	case actor.DropNewest:
		return actor.Full, nil, false
	case actor.Block:
		return actor.MustWait, nil, false
	case actor.Grow:
		m.insert(l)
		return actor.Sent, nil, false
	case actor.DropOldest:
		m.insert(l)
		return actor.Sent, m.dropOldest(), true
	}
	panic("the model has no rule for " + m.cfg.Policy.String())
}

// dropOldest takes out the oldest of the lowest priority.
func (m *model) dropOldest() (dropped any) {
	oldest := 0
	if m.cfg.Priority != nil {
		lowest := m.waits[len(m.waits)-1].prio
		oldest = slices.IndexFunc(m.waits, func(w letter) bool { return w.prio == lowest })
	}
	dropped = m.waits[oldest]
	m.waits = slices.Delete(m.waits, oldest, oldest+1)
	return dropped
}

func (m *model) pop() (any, bool) {
	if len(m.waits) == 0 {
		return nil, false
	}
	l := m.waits[0]
	m.waits = m.waits[1:]
	if len(m.senders) > 0 {
		m.insert(m.senders[0])
		m.senders = m.senders[1:]
	}
	return l, true
}

// configs are all kinds of mailboxes; capacities below a segment, beyond it, and
// on its edge.
func configs() []actor.MailboxConfig {
	all := []actor.MailboxConfig{{}, {Priority: prio}}
	for _, policy := range actor.Policies()[1:] { // behind Unbounded, which has no capacity
		for _, capacity := range []int{1, 2, 7, 1024, 2500} {
			for _, priority := range []func(any) int{nil, prio} {
				all = append(all, actor.MailboxConfig{Policy: policy, Capacity: capacity, Priority: priority})
			}
		}
	}
	return all
}

func name(cfg actor.MailboxConfig) string {
	s := cfg.Policy.String() + "-" + strconv.Itoa(cfg.Capacity)
	if cfg.Priority != nil {
		s += "-priority"
	}
	return s
}

// A Queue does what the model does, whatever is asked of it in which order.
func TestModel(t *testing.T) {
	for _, cfg := range configs() {
		t.Run(name(cfg), func(t *testing.T) {
			for seed := range uint64(10) {
				runModel(t, cfg, seed)
			}
		})
	}
}

// pending is a sender that waits.
type pending struct {
	letter
	sender *mailbox.Sender
	ready  chan struct{}
}

func runModel(t *testing.T, cfg actor.MailboxConfig, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	q, m := mailbox.New(cfg), &model{cfg: cfg}
	var senders []pending
	filling := true // the queue is filled for a while, then emptied
	for step := range 6_000 {
		if rnd.IntN(2_500) == 0 {
			filling = !filling
		}
		switch n := rnd.IntN(10); {
		case n == 0 && len(senders) > 0: // one gives up
			i := rnd.IntN(len(senders))
			s := senders[i]
			at := slices.Index(m.senders, s.letter)
			if got := q.Leave(s.sender); got != (at >= 0) || s.sender.Waiting() {
				t.Fatalf("seed %d, step %d: Leave %v says %v, it waits: %v", seed, step, s.letter, got, at >= 0)
			}
			if at >= 0 {
				m.senders = slices.Delete(m.senders, at, at+1)
			} else if s.sender.Err() != nil {
				t.Fatalf("seed %d, step %d: %v was let in, and Err is %v", seed, step, s.letter, s.sender.Err())
			}
			senders = slices.Delete(senders, i, i+1)
		case n <= 3 == filling:
			got, gotOK := q.Pop()
			want, wantOK := m.pop()
			if got != want || gotOK != wantOK {
				t.Fatalf("seed %d, step %d: Pop gave %v, %v instead of %v, %v", seed, step, got, gotOK, want, wantOK)
			}
		default:
			l := letter{step, rnd.IntN(4)}
			res, dropped, drop := q.Push(l, q.Priority(l))
			wantRes, wantDropped, wantDrop := m.push(l)
			if res != wantRes || dropped != wantDropped || drop != wantDrop {
				t.Fatalf("seed %d, step %d: Push gave %v, %v, %v instead of %v, %v, %v",
					seed, step, res, dropped, drop, wantRes, wantDropped, wantDrop)
			}
			if res == actor.MustWait && len(senders) < 5 {
				p := pending{letter: l, ready: make(chan struct{})}
				p.sender = q.Wait(l, q.Priority(l), p.ready)
				senders, m.senders = append(senders, p), append(m.senders, l)
			}
		}
		if q.Len() != len(m.waits) {
			t.Fatalf("seed %d, step %d: Len is %d instead of %d", seed, step, q.Len(), len(m.waits))
		}
		for _, s := range senders {
			if waits := slices.Contains(m.senders, s.letter); waits != s.sender.Waiting() || waits == isClosed(s.ready) {
				t.Fatalf("seed %d, step %d: %v waits: %v, and is told otherwise", seed, step, s.letter, waits)
			}
		}
	}
	checkClose(t, &q, m, senders)
}

// checkClose closes q and compares what it had with the model.
func checkClose(t *testing.T, q *mailbox.Queue, m *model, senders []pending) {
	left := q.Close()
	var got []letter
	for _, msg := range left {
		got = append(got, msg.(letter))
	}
	if !slices.Equal(got, m.waits) {
		t.Fatalf("Close gave %v instead of %v", got, m.waits)
	}
	for _, s := range senders {
		want := error(nil)
		if slices.Contains(m.senders, s.letter) {
			want = actor.ErrStopped
		}
		if !isClosed(s.ready) || !errors.Is(s.sender.Err(), want) {
			t.Fatalf("after Close the sender of %v has %v instead of %v", s.letter, s.sender.Err(), want)
		}
	}
	if res, _, drop := q.Push(letter{}, 0); res != actor.Closed || drop {
		t.Fatalf("after Close Push gives %v", res)
	}
	if _, ok := q.Pop(); ok || q.Len() != 0 {
		t.Fatal("after Close a message is left")
	}
}

func isClosed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// A sender that does not ask to be woken is told by Waiting.
func TestWaitWithoutChannel(t *testing.T) {
	q := mailbox.New(actor.MailboxConfig{Policy: actor.Block, Capacity: 1})
	q.Push(1, 0)
	s := q.Wait(2, 0, nil)
	if !s.Waiting() {
		t.Fatal("it does not wait")
	}
	q.Pop()
	if s.Waiting() || s.Err() != nil || q.Len() != 1 {
		t.Fatal("it has not been let in")
	}
	late := q.Wait(3, 0, nil)
	if q.Close(); late.Waiting() || late.Err() != actor.ErrStopped {
		t.Errorf("when the queue is closed it waits: %v, and has the error %v", late.Waiting(), late.Err())
	}
}

// Once a mailbox has been as full as it gets nothing is allocated per message,
// whether few messages wait or more than a segment.
func TestNoAllocations(t *testing.T) {
	for _, cfg := range configs() {
		for _, backlog := range []int{1, 200, 2_400} {
			if cfg.Capacity > 0 && cfg.Policy != actor.Grow && backlog > cfg.Capacity {
				continue
			}
			q := mailbox.New(cfg)
			var msg any = letter{1, 1}
			for range backlog - 1 {
				q.Push(msg, 1)
			}
			const n = 1_000
			allocs := testing.AllocsPerRun(10, func() {
				for range n {
					q.Push(msg, 1)
					q.Pop()
				}
			})
			// A collection, or the race detector, may take a segment out of the pool.
			if allocs > n/100 {
				t.Errorf("%s, %d waiting: %v allocations for %d messages", name(cfg), backlog, allocs, n)
			}
		}
	}
}

// A queue that empties after each flood grows into the memory of the one before.
func TestFloodsShareMemory(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection may empty the pool
	for _, cfg := range configs() {
		if cfg.Capacity > 0 {
			continue
		}
		q := mailbox.New(cfg)
		const floods, n = 100, 2 * mailbox.Keep
		flood := func() {
			for i := range n {
				q.Push(nil, i)
			}
			for range n {
				q.Pop()
			}
		}
		flood()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range floods {
			flood()
		}
		runtime.ReadMemStats(&after)
		most := 6.0 // a new segment for each flood would be 8
		if cfg.Priority != nil {
			most = 40
		}
		// Under the race detector a sync.Pool forgets one of four.
		if each := float64(after.TotalAlloc-before.TotalAlloc) / (floods * n); each > most {
			t.Errorf("%s: %.1f bytes a message", name(cfg), each)
		}
	}
}

// An actor that saw a flood does not remember it, and what was handled is not
// kept alive.
func TestForgetsFloods(t *testing.T) {
	for _, cfg := range configs() {
		if cfg.Capacity > 0 {
			continue
		}
		q := mailbox.New(cfg)
		const n = 200_000
		before := heapInUse()
		for range n {
			q.Push(new([64]byte), 0)
		}
		for range n {
			q.Pop()
		}
		if after := heapInUse(); after > before+64<<10 {
			t.Errorf("%s: after a flood %d bytes more are in use", name(cfg), after-before)
		}
		runtime.KeepAlive(&q)
	}
}

func heapInUse() uint64 {
	runtime.GC()
	runtime.GC() // a pool keeps what it has for one collection
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}
