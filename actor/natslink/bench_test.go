package natslink_test

import (
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/dynolab/dyno/actor/natslink"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/workloads"
	"github.com/dynolab/dyno/workloads/benchtest"
	"github.com/dynolab/dyno/workloads/remoteload"
)

// BenchmarkRemote runs the workloads of actors in two systems through a server in this
// process that two clients reach over loopback, and the references over NATS itself.
func BenchmarkRemote(b *testing.B) { benchtest.SideBySide(b, overNATS(b), impls.All()) }

// TestWorkloads runs each of them once with every reference and one implementation.
func TestWorkloads(t *testing.T) {
	impl := impls.All()[0]
	for _, w := range overNATS(t) {
		runs := append([]workloads.Ref{{Name: impl.Name, Prepare: w.Prepare}}, w.Refs...)
		for _, ref := range runs {
			t.Run(w.Path()+"/"+ref.Name, func(t *testing.T) {
				run := ref.Prepare(workloads.Setting{Impl: impl, Ops: 5000})
				defer run.Close()
				if err := run.Do(5000); err != nil {
					t.Fatal(err)
				}
				if err := run.Check(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func overNATS(tb testing.TB) []workloads.Workload {
	url := start(tb, natslink.Options{Listen: "127.0.0.1:0"}).URL() // whose own client is no part of it: it needs no loopback
	near, far := start(tb, natslink.Options{URL: url}), start(tb, natslink.Options{URL: url})
	return remoteload.All(remoteload.Link{
		Wire: func() (dialed, accepted remote.Wire, err error) { return natslink.Pair(near, far) },
		Ref:  "ref-nats",
		Doc:  "two subjects of a NATS server",
		Raw:  func() (x, y remoteload.End, err error) { return rawPair(url) },
	})
}

// A sender without back pressure would have the server drop the messages, or the
// receiving client keep them all: what is under way is bounded, by a channel within
// the process, which costs next to nothing.
const (
	chunk    = 1024 // messages
	underWay = 64   // chunks
)

// rawEnd is a remoteload.End: a subject to publish to and a subscription.
type rawEnd struct {
	conn           *nats.Conn
	to             string
	sub            *nats.Subscription
	sent, received int
	out, in        chan struct{} // a token a chunk under way, there and back
}

func rawPair(url string) (x, y *rawEnd, err error) {
	there, back := make(chan struct{}, underWay), make(chan struct{}, underWay)
	x, y = &rawEnd{out: there, in: back}, &rawEnd{out: back, in: there}
	for _, e := range []*rawEnd{x, y} {
		if e.conn, err = nats.Connect(url); err != nil {
			return nil, nil, err
		}
	}
	for _, e := range [][2]*rawEnd{{x, y}, {y, x}} {
		e[1].to = nats.NewInbox()
		if e[0].sub, err = e[0].conn.SubscribeSync(e[1].to); err != nil {
			return nil, nil, err
		}
		if err = e[0].sub.SetPendingLimits(-1, -1); err != nil {
			return nil, nil, err
		}
		if err = e[0].conn.Flush(); err != nil { // from here on the server knows
			return nil, nil, err
		}
	}
	return x, y, nil
}

func (e *rawEnd) Send(b []byte) error {
	if e.sent++; e.sent%chunk == 0 {
		e.out <- struct{}{}
	}
	return e.conn.Publish(e.to, b)
}

// Flush does nothing: the client writes what was published when it has nothing else to do.
func (*rawEnd) Flush() error { return nil }

func (e *rawEnd) Receive() ([]byte, error) {
	m, err := e.sub.NextMsg(nats.DefaultDrainTimeout * 10)
	if err != nil {
		return nil, err
	}
	if e.received++; e.received%chunk == 0 {
		<-e.in
	}
	return m.Data, nil
}

func (e *rawEnd) Close() error { e.conn.Close(); return nil }
