package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls/serial"
)

// crowd is a listener of which a test says what connects.
type crowd struct {
	conns chan net.Conn
	ended chan struct{}
	once  sync.Once
}

func newCrowd() *crowd { return &crowd{conns: make(chan net.Conn), ended: make(chan struct{})} }

func (c *crowd) Accept() (net.Conn, error) {
	select {
	case conn := <-c.conns:
		return conn, nil
	case <-c.ended:
		return nil, net.ErrClosed
	}
}

func (c *crowd) Close() error   { c.once.Do(func() { close(c.ended) }); return nil }
func (c *crowd) Addr() net.Addr { return from("") }

// from is an address.
type from string

func (from) Network() string  { return "tcp" }
func (f from) String() string { return string(f) }

// stranger is the other end of a connection: one that says nothing, or greets under a name,
// says once more if it is to, and stays.
type stranger struct {
	bytesConn
	addr   from
	name   string // "": it says nothing
	says   []byte // records, after the greeting
	in     chan []byte
	rest   []byte
	closed chan struct{}
	once   sync.Once
}

func newStranger(addr, name string, says []byte) *stranger {
	return &stranger{addr: from(addr), name: name, says: says, in: make(chan []byte, 2), closed: make(chan struct{})}
}

func (s *stranger) RemoteAddr() net.Addr { return s.addr }

func (s *stranger) Close() error { s.once.Do(func() { close(s.closed) }); return nil }

func (s *stranger) Write(b []byte) (int, error) {
	kind, p, err := parseFrame(b)
	if err != nil || kind != frameHello || s.name == "" {
		return len(b), err
	}
	h, err := p.hello()
	if err != nil || h.answer {
		return len(b), err
	}
	answer := hello{tag: 1, yours: h.tag, boot: 1, answer: true, msgs: 1, bytes: 1, name: s.name}
	frames := answer.append(nil)
	if s.says != nil {
		frames = append(frames, frameOf(frameData, header{tag: h.tag, number: 1}, s.says)...)
	}
	select {
	case s.in <- frames:
	default: // it has greeted twice
	}
	return len(b), nil
}

func (s *stranger) Read(b []byte) (int, error) {
	if len(s.rest) == 0 {
		select {
		case s.rest = <-s.in:
		case <-s.closed:
			return 0, io.EOF
		}
	}
	n := copy(b, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// node returns a node of a new system with that name.
func node(t *testing.T, name string, c Config) *Node {
	t.Helper()
	sys, err := actor.NewSystem(actor.Config{
		Name: name, Dispatcher: serial.Impl.NewDispatcher(),
		Guardian: actor.Props{New: func() actor.Actor {
			return actor.ReceiveFunc(func(*actor.Context, any) error { return nil })
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	c.Codecs = NewCodecs()
	n, err := NewNode(sys, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		n.Close()
		if err := sys.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return n
}

// TestCrowd: ten thousand connections that say nothing, or under as many names, are bounded
// in number and memory, and lock no honest system out: not from another address, and, unless
// they send as well, not from theirs.
func TestCrowd(t *testing.T) {
	many := 10_000
	if testing.Short() {
		many = 3_000
	}
	question := appendText(appendFind(1), "/user")
	for name, x := range map[string]struct {
		named    bool
		says     []byte
		addr     string // of the honest; that of the crowd is 192.0.2.1
		refused  bool
		mostHeap int // bytes
		mostRuns int // goroutines
	}{
		"silent, one address":         {addr: "192.0.2.1:9", mostHeap: 8 << 20, mostRuns: 2 * mostGreeting},
		"silent, another address":     {addr: "192.0.2.2:9", mostHeap: 8 << 20, mostRuns: 2 * mostGreeting},
		"names, one address":          {named: true, addr: "192.0.2.1:9", mostHeap: 16 << 20, mostRuns: 2 * 1024},
		"names, another address":      {named: true, addr: "192.0.2.2:9", mostHeap: 16 << 20, mostRuns: 2 * 1024},
		"senders, another address":    {named: true, says: question, addr: "192.0.2.2:9", mostHeap: 16 << 20, mostRuns: 2 * 1024},
		"senders, their own address":  {named: true, says: question, addr: "192.0.2.1:9", refused: true, mostHeap: 16 << 20, mostRuns: 2 * 1024},
		"silent, no address is known": {addr: "", mostHeap: 8 << 20, mostRuns: 2 * mostGreeting},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := node(t, "server", Config{})
				l := newCrowd()
				served := make(chan error, 1)
				go func() { served <- server.Serve(l) }()
				heap, runs := used()
				host := "192.0.2.1"
				if x.addr == "" {
					host = ""
				}
				for i := range many {
					s := newStranger(host, "", x.says)
					if host != "" {
						s.addr += from(fmt.Sprintf(":%d", i))
					}
					if x.named {
						s.name = fmt.Sprint("name ", i)
					}
					l.conns <- s
					if i%100 == 0 {
						synctest.Wait()
					}
				}
				synctest.Wait()
				// Honest ones, one of which is there already when the others come.
				var first *Peer
				for i := range 20 {
					begun := time.Now()
					near, far := net.Pipe()
					l.conns <- pipe{far, from(x.addr)}
					honest := node(t, fmt.Sprint("honest ", i), Config{})
					ctx, end := context.WithTimeout(t.Context(), time.Minute)
					peer, err := honest.Connect(ctx, TCP(near))
					if err == nil {
						_, err = peer.Find(ctx, "/user")
					}
					end()
					took := time.Since(begun) // nothing was lost, so nothing is sent again
					if (err != nil) != x.refused || took >= resendOf {
						t.Errorf("honest system %d: %v after %v", i, err, took)
					}
					if first == nil {
						first = peer
					}
				}
				if !x.refused && first.Err() != nil {
					t.Errorf("the first honest system has lost its association: %v", first.Err())
				}
				synctest.Wait()
				nowHeap, nowRuns := used()
				t.Logf("%d bytes and %d goroutines more, with 20 honest systems", nowHeap-heap, nowRuns-runs)
				if nowHeap-heap > x.mostHeap || nowRuns-runs > x.mostRuns+20*6 {
					t.Errorf("%d bytes and %d goroutines more, want at most %d and %d", nowHeap-heap, nowRuns-runs, x.mostHeap, x.mostRuns+20*6)
				}
				server.Close()
				if err := <-served; !errors.Is(err, net.ErrClosed) {
					t.Error(err)
				}
			})
		})
	}
}

// used returns the bytes in use and the goroutines of this process.
func used() (heap, goroutines int) {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc), runtime.NumGoroutine()
}

// pipe is a connection with an address.
type pipe struct {
	net.Conn
	addr from
}

func (p pipe) RemoteAddr() net.Addr { return p.addr }

// hitch is an error that passes.
type hitch struct{ error }

func (hitch) Temporary() bool { return true }

// accepting is a listener that returns what it is given, and does not mind being closed.
type accepting struct {
	list   []any // connections and errors
	closed int
}

func (l *accepting) Accept() (net.Conn, error) {
	x := l.list[0]
	l.list = l.list[1:]
	if conn, ok := x.(net.Conn); ok {
		return conn, nil
	}
	return nil, x.(error)
}

func (l *accepting) Close() error { l.closed++; return nil }
func (*accepting) Addr() net.Addr { return from("") }

// TestServe: a node accepts until its listener fails for good; one that is closed takes nothing in.
func TestServe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, begun := node(t, "server", Config{}), time.Now()
		l := &accepting{list: []any{hitch{io.EOF}, hitch{io.EOF}, io.ErrUnexpectedEOF}}
		if err := n.Serve(l); !errors.Is(err, io.ErrUnexpectedEOF) || len(n.listeners) != 0 || time.Since(begun) != 20*time.Millisecond {
			t.Errorf("it serves for %v, until %v, and has %d listeners", time.Since(begun), err, len(n.listeners))
		}
		late := &stuck{}
		l = &accepting{list: []any{late, io.EOF}}
		n.mu.Lock()
		n.listeners[l] = struct{}{}
		n.closed = true
		n.mu.Unlock()
		if err := n.Serve(l); !errors.Is(err, ErrClosed) || l.closed != 1 || len(l.list) != 2 {
			t.Errorf("a node that is closed serves until %v, and closes its listener %d times", err, l.closed)
		}
		if _, err := n.Connect(t.Context(), TCP(late)); !errors.Is(err, ErrClosed) || late.closed != 1 {
			t.Errorf("a node that is closed connects until %v, and closes the wire %d times", err, late.closed)
		}
		n.closed = false
		other := &closing{accepting{list: []any{&stuck{}, io.EOF}}, n}
		conn := other.list[0].(*stuck)
		if err := n.Serve(other); !errors.Is(err, io.EOF) || conn.closed != 1 {
			t.Errorf("what comes when a node is closed is closed %d times, %v", conn.closed, err)
		}
		if n.Close(); other.closed != 0 || l.closed != 2 {
			t.Errorf("of a node that is closed the listeners are closed %d and %d times", other.closed, l.closed)
		}
		// Who closes a node waits for what it serves.
		n = node(t, "another", Config{})
		slow := &lagging{newCrowd()}
		go func() { _ = n.Serve(slow) }()
		synctest.Wait()
		if n.Close(); len(n.listeners) != 0 {
			t.Error("a node that is closed serves")
		}
	})
}

// lagging is a listener that takes a while to end.
type lagging struct{ *crowd }

func (l *lagging) Accept() (net.Conn, error) {
	conn, err := l.crowd.Accept()
	time.Sleep(time.Second)
	return conn, err
}

// closing is a listener whose node is closed while it accepts.
type closing struct {
	accepting
	n *Node
}

func (l *closing) Accept() (net.Conn, error) {
	l.n.mu.Lock()
	l.n.closed = true
	l.n.mu.Unlock()
	return l.accepting.Accept()
}

// TestJoin: who connects is given the association that the system has already, or lets go when its
// context ends; one that says nothing gives way to a newer one, unless that was dialed here.
func TestJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := node(t, "server", Config{})
		old := pending(n, "z", 5, true)
		if err := n.open(old); err != nil {
			t.Fatal(err)
		}
		near, far := net.Pipe()
		other := TCP(far)
		go func() {
			b, err := other.ReadFrame()
			if err != nil {
				return
			}
			_, p, _ := parseFrame(b)
			theirs, _ := p.hello()
			h := hello{tag: 3, yours: theirs.tag, boot: 5, answer: true, msgs: 1, bytes: 1, name: "z"}
			_ = other.WriteFrame(h.append(nil))
			_, _ = other.ReadFrame()
		}()
		if p, err := n.Accept(t.Context(), TCP(near)); err != nil || p.a != old {
			t.Errorf("a second one at the same time is %v, %v", p, err)
		}
		old.alarm.Stop()
		n.forget(old)
		near, far = net.Pipe()
		defer far.Close()
		begun := time.Now()
		ctx, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if _, err := n.Connect(ctx, TCP(near)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without a peer: %v", err)
		}
		_, err := io.Copy(io.Discard, far)
		if synctest.Wait(); err != nil || len(n.all) != 0 || time.Since(begun) != time.Second {
			t.Errorf("after that there are %d associations, and the other end reads %v", len(n.all), err)
		}
		var all []*association
		for i := range mostGreeting + 2 {
			a, err := n.begin(&blind{closed: make(chan struct{})}, i == mostGreeting)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, a)
			if i == mostGreeting && all[0].leaves {
				t.Error("what is dialed here takes another one's room")
			}
		}
		for i, a := range all {
			if a.leaves != (i == 0) {
				t.Errorf("association %d of %d gives way: %t", i, len(all), a.leaves)
			}
			close(a.wire.(*blind).closed)
		}
	})
}

// TestAddress: two connections are of one address if one machine may have made both.
func TestAddress(t *testing.T) {
	for _, x := range []struct{ addr, want string }{
		{"192.0.2.7:80", "192.0.2.7"},
		{"[::ffff:192.0.2.7]:80", "192.0.2.7"},
		{"[2001:db8:1:2:3:4:5:6]:80", "2001:db8:1:2::/64"},
		{"[fe80::1%eth0]:80", "fe80::/64"},
		{"@", "@"},
		{"pipe", "pipe"},
	} {
		if got := TCP(pipe{nil, from(x.addr)}).(Addressed).Address(); got != x.want {
			t.Errorf("%s is of the address %q, want %q", x.addr, got, x.want)
		}
	}
	if got := TCP(bytesConn{}).(Addressed).Address(); got != "" {
		t.Errorf("what knows no address is of %q", got)
	}
}

// TestMakeRoom: there are at most as many as may be, and the one that gives way is the oldest of
// those that were never used, or the oldest, of the address that has the most.
func TestMakeRoom(t *testing.T) {
	for i, a := range []*association{{}, {received: 1}, {numbered: 1}, {filling: &frame{}}} {
		if a.used() != (i > 0) {
			t.Errorf("association %d counts as used: %t", i, a.used())
		}
	}
	const none, refused = -1, -2
	for name, c := range map[string]struct {
		have string // a word each: the address in capitals if it was used; of another kind
		most int
		of   string
		want int
	}{
		"there is room":                       {"x x y", 4, "y", none},
		"the oldest":                          {"x x x", 3, "x", 0},
		"of the address that has most":        {"y x x", 3, "y", 1},
		"an unused one":                       {"X X x", 3, "x", 2},
		"the oldest unused one":               {"X x x", 3, "x", 1},
		"used, of an address that has more":   {"X X X y", 4, "y", 0},
		"used, and as many as the other":      {"X X y", 3, "y", refused},
		"used, and the same address":          {"X X y", 3, "x", refused},
		"used, of an address that has fewer":  {"X X y", 3, "z", 0},
		"unused, and as many as the other":    {"x x y", 3, "y", 0},
		"one that this end has dialed":        {"x(dialed) x x", 3, "x", none},
		"one that this end has dialed, first": {"x(dialed) x x", 2, "x", 1},
		"one that gives way":                  {"x(leaves) x x", 2, "x", 1},
		"one that is not open":                {"x(begins) x x", 2, "x", 1},
		"and does not count":                  {"x(begins) x(leaves) x", 2, "x", none},
	} {
		n := newVictim(t, nil).a.node
		clear(n.all)
		var all []*association
		for _, word := range strings.Fields(c.have) {
			address, kind, _ := strings.Cut(word, "(")
			a := newAssociation(n, &blind{}, kind == "dialed)")
			a.alarm.Stop()
			n.begun++
			a.begun, a.address, a.opened, a.leaves = n.begun, strings.ToLower(address), kind != "begins)", kind == "leaves)"
			if a.address != address {
				a.received = 1
			}
			n.all[a] = struct{}{}
			all = append(all, a)
		}
		got := none
		if !n.makeRoom(&association{address: c.of, opened: true}, c.most) {
			got = refused
		}
		for i, a := range all {
			if errors.Is(a.reason, ErrCrowded) && a.leaves && got == none {
				got = i
			} else if a.reason != nil {
				t.Errorf("%s: %d gives way as well, for %v", name, i, a.reason)
			}
		}
		if got != c.want {
			t.Errorf("%s: %d gives way, want %d", name, got, c.want)
		}
		clear(n.all)
	}
}

// TestHostileBytes: what waits is bounded in bytes as well as in messages, and what came too
// early in frames as well as in bytes.
func TestHostileBytes(t *testing.T) {
	v := newVictimOf(t, nil, Config{Backlog: 1})
	held := v.target.Address()
	v.sys.Suspend(v.target, actor.Suspension{})
	v.sys.RunUntilIdle()
	first := appendText(appendText([]byte{recordMessage, 1}, held.Path), held.PID.String())
	first = append(appendText(append(first, 1), "w"), 0)
	next := []byte{recordMessage, 1, 1, 0}
	body := make([]byte, 900_000)
	var err error
	n := uint64(0)
	for ; err == nil && n < 2*lookEvery; n++ {
		err = v.a.in.frame(frameOf(frameData, header{tag: 1, number: n + 1}, appendBytes(first, body)))
		first = next
	}
	if most := uint64(lookEvery + 4); !errors.Is(err, ErrProtocol) || n > most {
		t.Errorf("%d messages of %d bytes wait: %v", n, len(body), err)
	}
	v = newVictim(t, nil)
	for i := range uint64(2 * mostStash) {
		if err := v.a.in.frame(frameOf(frameData, header{tag: 1, number: i + 2}, []byte{recordForget})); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(v.a.in.stash); got != mostStash {
		t.Errorf("%d frames are kept for one that never comes, want %d", got, mostStash)
	}
}
