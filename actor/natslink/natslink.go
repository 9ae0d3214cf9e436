// Package natslink carries the frames of package remote over NATS: between nodes
// that reach the same server or cluster, and not each other.
//
//	bus, err := natslink.Start(natslink.Options{})                  // a server of its own, in this process
//	bus, err := natslink.Start(natslink.Options{URL: "nats://…"})   // one that is there
//	bus.Serve(node)                                                 // a system that dials this one gets an association
//	peer, err := bus.Dial(ctx, node, "chess")                       // the system of that name
//
// It is core NATS, not JetStream: a message to an actor is sent at most once, as
// within a system, and what a store of messages would add is another thing, with
// another name. What core NATS leaves open the frames close: a gap, as when the
// server drops what a slow consumer has not read, is noticed and filled; a peer that
// is gone is silent; and a peer's window bounds what is under way. Who may
// connect, publish and subscribe is NATS' business: its credentials, its TLS, and
// the subjects below Options.Prefix.
//
// Subjects, below the prefix:
//
//	node.<name>   where a system is dialed; the name in URL-safe base64
//	wire.<id>     one direction of a wire; the id is the client library's inbox
package natslink

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/dynolab/dyno/actor/remote"
)

// Options says where the server is.
type Options struct {
	// URL is that of the server or servers, as the client library takes it; empty
	// means one in this process, on Listen.
	URL string

	// Listen is where the server in this process listens, such as
	// "127.0.0.1:4222". Empty means that it does not: only this process reaches
	// it.
	Listen string

	// Prefix begins all subjects; empty means "dyno". Systems that are to meet
	// have the same.
	Prefix string

	// Client is options for the client: credentials, TLS.
	Client []nats.Option

	// Server, if not nil, changes the options of the server in this process:
	// users, TLS, limits.
	Server func(*server.Options)
}

// Bus is a connection to a server. All methods may be called by any number of
// goroutines at once.
type Bus struct {
	conn   *nats.Conn
	own    *server.Server // nil: the server is another owner's
	prefix string

	mu      sync.Mutex // guards what follows
	wires   map[*wire]struct{}
	closed  bool
	serving sync.WaitGroup // Add with mu held and closed not set, so never while Close waits
}

// Start connects to the server, and starts it before if there is no URL.
func Start(o Options) (*Bus, error) {
	b := &Bus{prefix: o.Prefix, wires: map[*wire]struct{}{}}
	if b.prefix == "" {
		b.prefix = "dyno"
	}
	options := []nats.Option{
		nats.MaxReconnects(-1),
		// What is published while there is no connection is refused, and not kept
		// to arrive in another time: the association resends it.
		nats.ReconnectBufSize(-1),
		nats.CustomInboxPrefix(b.prefix + ".wire"),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // gaps are filled by those who notice
	}
	url := o.URL
	if url == "" {
		if err := b.startServer(&o); err != nil {
			return nil, err
		}
		url = b.own.ClientURL()
		options = append(options, nats.InProcessServer(b.own))
	}
	conn, err := nats.Connect(url, append(options, o.Client...)...)
	if err != nil {
		b.stopServer()
		return nil, err
	}
	b.conn = conn
	return b, nil
}

// startServer starts a server in this process.
func (b *Bus) startServer(o *Options) error {
	so := &server.Options{NoSigs: true, NoLog: true, DontListen: o.Listen == "", MaxPayload: remote.MaxFrame}
	if o.Listen != "" {
		if err := listen(so, o.Listen); err != nil {
			return err
		}
	}
	if o.Server != nil {
		o.Server(so)
	}
	s, err := server.NewServer(so)
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		s.Shutdown()
		return errors.New("natslink: the server does not start")
	}
	b.own = s
	return nil
}

func (b *Bus) stopServer() {
	if b.own != nil {
		b.own.Shutdown()
		b.own.WaitForShutdown()
	}
}

// URL returns where clients reach the server in this process; it is empty for
// a server of another owner.
func (b *Bus) URL() string {
	if b.own == nil {
		return ""
	}
	return b.own.ClientURL()
}

// Close breaks the wires, leaves the server, and stops it if it is in this process.
// Nodes are closed before.
func (b *Bus) Close() {
	b.mu.Lock()
	b.closed = true
	wires := make([]*wire, 0, len(b.wires))
	for w := range b.wires {
		wires = append(wires, w)
	}
	b.mu.Unlock()
	for _, w := range wires {
		_ = w.Close()
	}
	b.conn.Close()
	b.serving.Wait()
	b.stopServer()
}

func (b *Bus) subject(system string) string {
	return b.prefix + ".node." + base64.RawURLEncoding.EncodeToString([]byte(system))
}

// Serve has who dials the node's system get an association, until the Bus is closed.
// system is the name of the node's system.
func (b *Bus) Serve(n *remote.Node, system string) error {
	_, err := b.conn.Subscribe(b.subject(system), func(m *nats.Msg) {
		w, err := b.newWire(string(m.Data))
		if err != nil {
			return
		}
		if m.Respond([]byte(w.in)) != nil || !b.begin() { // or it is no request
			_ = w.Close()
			return
		}
		go func() {
			defer b.serving.Done()
			ctx, end := context.WithTimeout(context.Background(), time.Minute) // the node's own limit is shorter
			defer end()
			_, _ = n.Accept(ctx, w) // the system's event stream has it
		}()
	})
	if err != nil {
		return err
	}
	return b.conn.Flush() // from here on the server knows
}

// begin has Close wait for one more that is served, if it has not begun to wait.
func (b *Bus) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.serving.Add(1)
	}
	return !b.closed
}

// Dial begins an association with the system of that name.
func (b *Bus) Dial(ctx context.Context, n *remote.Node, system string) (*remote.Peer, error) {
	w, err := b.Wire(ctx, system)
	if err != nil {
		return nil, err
	}
	return n.Connect(ctx, w)
}

// Wire makes a wire to the system of that name, which must be served.
func (b *Bus) Wire(ctx context.Context, system string) (remote.Wire, error) {
	w, err := b.newWire("")
	if err != nil {
		return nil, err
	}
	m, err := b.conn.RequestWithContext(ctx, b.subject(system), []byte(w.in))
	if err != nil {
		_ = w.Close()
		return nil, err
	}
	w.out = string(m.Data)
	return w, nil
}

// wire is a remote.Wire: a subject that is read and one that is written.
type wire struct {
	bus     *Bus
	in, out string
	sub     *nats.Subscription
	once    sync.Once
	ctx     context.Context // of reading; ended by Close
	cancel  context.CancelFunc
}

// mostPending bounds what the client keeps for a wire. A peer that keeps to its
// window does not come near it, so that the client drops nothing; of one that does
// not it drops.
const (
	mostPendingFrames = 1 << 16
	mostPendingBytes  = 64 << 20
)

func (b *Bus) newWire(out string) (*wire, error) {
	w := &wire{bus: b, in: b.conn.NewInbox(), out: out}
	var err error
	if w.sub, err = b.conn.SubscribeSync(w.in); err != nil {
		return nil, err
	}
	if err = w.sub.SetPendingLimits(mostPendingFrames, mostPendingBytes); err != nil {
		_ = w.sub.Unsubscribe()
		return nil, err
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		_ = w.sub.Unsubscribe()
		return nil, remote.ErrClosed
	}
	b.wires[w] = struct{}{}
	return w, nil
}

// WriteFrame implements [remote.Wire].
func (w *wire) WriteFrame(b []byte) error {
	err := w.ctx.Err()
	if err == nil {
		err = w.bus.conn.Publish(w.out, b)
	}
	if errors.Is(err, nats.ErrReconnectBufExceeded) {
		return nil // there is no connection at present: the frame is lost, which frames may be
	}
	return err
}

// ReadFrame implements [remote.Wire].
func (w *wire) ReadFrame() ([]byte, error) {
	for {
		m, err := w.sub.NextMsgWithContext(w.ctx)
		switch {
		case err == nil && len(m.Data) == 0:
			return nil, io.EOF
		case errors.Is(err, nats.ErrSlowConsumer):
			continue // frames were dropped: they will be resent
		case err != nil:
			return nil, err
		}
		return m.Data, nil
	}
}

// Close implements [remote.Wire]. The other end is told by a message without a
// frame, if there is a connection to tell it over; else it notices the silence.
func (w *wire) Close() error {
	w.once.Do(func() {
		if w.out != "" {
			_ = w.bus.conn.Publish(w.out, nil)
		}
		w.cancel()
		_ = w.sub.Unsubscribe()
		w.bus.mu.Lock()
		defer w.bus.mu.Unlock()
		delete(w.bus.wires, w)
	})
	return nil
}
