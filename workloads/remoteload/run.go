package remoteload

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/workloads"
)

// Note is a message: number i, from 0, of a sender.
type Note uint64

const senderShift = 48

func newNote(sender, i int) Note { return Note(sender)<<senderShift | Note(i) }

// size is how many bytes a note has.
const size = 8

// AppendBinary implements encoding.BinaryAppender.
func (n Note) AppendBinary(b []byte) ([]byte, error) {
	return binary.BigEndian.AppendUint64(b, uint64(n)), nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (n *Note) UnmarshalBinary(b []byte) error {
	if len(b) != size {
		return errors.New("remoteload: a note has 8 bytes")
	}
	*n = Note(binary.BigEndian.Uint64(b))
	return nil
}

// tally is what a receiver knows of senders: the number of the next note of each.
type tally []int

// take books a note. One that is missing, comes twice or too early is not the next.
func (t tally) take(n Note) error {
	from, i := int(n>>senderShift), int(n&(1<<senderShift-1))
	if from >= len(t) || i != t[from] {
		return fmt.Errorf("remoteload: note %d of sender %d came, where the next ones are %v", i, from, t)
	}
	t[from]++
	return nil
}

// check returns an error unless so many notes of each sender have come.
func (t tally) check(sent []int) error {
	for i := range t {
		if t[i] != sent[i] {
			return fmt.Errorf("remoteload: of sender %d came %d notes, of %d", i, t[i], sent[i])
		}
	}
	return nil
}

// patience is how long a run waits while nothing at all is handled.
var patience = 10 * time.Second

var errLost = errors.New("remoteload: the last message does not come: one was lost on the way")

// progress is how a Do waits for its end.
type progress struct {
	left    atomic.Int64 // of this Do
	handled atomic.Int64 // in all
	over    chan struct{}
	mu      sync.Mutex
	wrong   error // what was wrong first; guarded by mu
}

func (p *progress) init() { p.over = make(chan struct{}, 1) }

// fail books that something is wrong. Any goroutine may call it.
func (p *progress) fail(err error) {
	p.mu.Lock()
	if p.wrong == nil {
		p.wrong = err
	}
	p.mu.Unlock()
	p.end()
}

func (p *progress) err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wrong
}

func (p *progress) end() {
	select {
	case p.over <- struct{}{}:
	default:
	}
}

// one books that one of what the Do waits for has come.
func (p *progress) one() {
	p.handled.Add(1)
	if p.left.Add(-1) == 0 {
		p.end()
	}
}

// wait waits for the end of a Do: what was wrong, or nothing.
func (p *progress) wait() error {
	t := time.NewTimer(patience)
	defer t.Stop()
	for seen := p.handled.Load(); ; {
		select {
		case <-p.over:
			return p.err()
		case <-t.C:
			now := p.handled.Load()
			if now == seen {
				p.fail(errLost)
				return errLost
			}
			seen = now
			t.Reset(patience)
		}
	}
}

// pair is two systems with a wire between them: a run but for its operations.
type pair struct {
	progress
	kit       kit
	near, far *host
	peer      *remote.Peer // the far one, as the near one has it
	farWire   remote.Wire
}

// host is a system with its node.
type host struct {
	sys  *actor.System
	node *remote.Node
}

// newPair makes two systems. If it fails Do says so.
func (k kit) newPair(st workloads.Setting, c remote.Config) *pair {
	p := &pair{kit: k}
	p.init()
	for _, h := range []struct {
		name string
		to   **host
	}{{"near", &p.near}, {"far", &p.far}} {
		var err error
		if *h.to, err = p.newHost(h.name, st.Impl.NewDispatcher(), c); err != nil {
			p.fail(err)
			return p
		}
	}
	if err := p.join(); err != nil {
		p.fail(err)
	}
	return p
}

func (p *pair) newHost(name string, d actor.Dispatcher, c remote.Config) (*host, error) {
	h := new(host)
	var err error
	h.sys, err = actor.NewSystem(actor.Config{
		Name: name, Dispatcher: d, Middleware: p.kit.middleware,
		Guardian: props(func(ctx *actor.Context, msg any) error {
			if f, ok := msg.(func(*actor.Context)); ok {
				f(ctx)
			}
			return nil
		}),
		DeadLetters: func(l actor.DeadLetter) {
			if _, ok := l.Msg.(Note); ok && !l.Returned {
				p.fail(fmt.Errorf("remoteload: note %v is a dead letter: %w", l.Msg, l.Reason))
			}
		},
		Failures: func(f actor.Failure) { p.fail(f.Err) },
	})
	if err != nil {
		return nil, err
	}
	c.Codecs = remote.NewCodecs()
	remote.Binary[Note](c.Codecs, "Note")
	remote.Binary[request](c.Codecs, "request")
	h.node, err = remote.NewNode(h.sys, c)
	return h, err
}

// join connects the systems over a new wire.
func (p *pair) join() error {
	x, y, err := p.kit.link.Wire()
	if err != nil {
		return err
	}
	p.farWire = y
	accepted := make(chan error, 1)
	go func() {
		_, err := p.far.node.Accept(context.Background(), y)
		accepted <- err
	}()
	p.peer, err = p.near.node.Connect(context.Background(), x)
	return errors.Join(err, <-accepted)
}

func props(f actor.ReceiveFunc) actor.Props {
	return actor.Props{New: func() actor.Actor { return f }}
}

// spawn makes an actor of h.
func (p *pair) spawn(h *host, f actor.ReceiveFunc) (r actor.Ref) {
	if p.err() != nil {
		return r
	}
	done := make(chan struct{})
	err := h.sys.UserGuardian().Tell(func(ctx *actor.Context) {
		defer close(done)
		var err error
		if r, err = ctx.Spawn(props(f)); err != nil {
			p.fail(err)
		}
	})
	if err != nil {
		p.fail(err)
		return r
	}
	<-done
	return r
}

// abroad returns the Ref that h has for an actor of the other system.
func (p *pair) abroad(h *host, r actor.Ref) actor.Ref {
	if p.err() != nil {
		return r
	}
	got, err := h.sys.ResolveAddress(r.Address())
	if err != nil {
		p.fail(err)
	}
	return got
}

func (p *pair) Close() {
	for _, h := range []*host{p.near, p.far} {
		if h != nil && h.node != nil {
			h.node.Close()
		}
	}
	for _, h := range []*host{p.near, p.far} {
		if h != nil && h.sys != nil {
			_ = h.sys.Shutdown(context.Background())
		}
	}
}

// byHand is what references have for two systems.
type byHand struct {
	progress
	x, y End
	done sync.WaitGroup
}

func (k kit) newByHand() *byHand {
	r := new(byHand)
	r.init()
	var err error
	if r.x, r.y, err = k.link.Raw(); err != nil {
		r.fail(err)
	}
	return r
}

// receive has a goroutine call f with each note that comes at the far end, until
// the connection is closed. One that is not as it should be ends it.
func (r *byHand) receive(f func(n Note) error) {
	if r.err() != nil {
		return
	}
	r.done.Go(func() {
		for {
			b, err := r.y.Receive()
			if err != nil {
				return
			}
			var n Note
			if err = n.UnmarshalBinary(b); err == nil {
				err = f(n)
			}
			if err != nil {
				r.fail(err)
				_ = r.y.Close() // who waits for an answer waits no more
				return
			}
		}
	})
}

func (r *byHand) Close() {
	for _, e := range []End{r.x, r.y} {
		if e != nil {
			_ = e.Close()
		}
	}
	r.done.Wait()
}
