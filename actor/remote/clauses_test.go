package remote_test

import (
	"net"
	"sync/atomic"
	"testing"

	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/actor/remote/lossy"
	"github.com/dynolab/dyno/actor/remote/remotetest"
)

// tcpPair is a connection over loopback.
func tcpPair(tb testing.TB) (dialed, accepted remote.Wire) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		tb.Fatal(err)
	}
	return remote.TCP(a), remote.TCP(b)
}

// lossyLink returns a link whose n-th wire has the seed seed+n.
func lossyLink(seed uint64, f lossy.Faults) remotetest.Link {
	var n atomic.Uint64
	return remotetest.Link{
		Name: "lossy", Bubble: true,
		Pair: func(testing.TB) (a, b remote.Wire) { return lossy.Pair(seed+n.Add(1), f) },
	}
}

func TestClausesOverMemory(t *testing.T) {
	remotetest.Run(t, lossyLink(1, lossy.Faults{}))
}

func TestClausesOverLossy(t *testing.T) {
	seeds := uint64(3)
	if testing.Short() {
		seeds = 1
	}
	for seed := range seeds {
		remotetest.Run(t, lossyLink(1000*seed, lossy.Faults{Drop: .05, Double: .05, Reorder: .05, Delay: .05}))
	}
}

// It comes last: over wires in memory a clause that waits in vain is told at once.
func TestClausesOverTCP(t *testing.T) {
	remotetest.Run(t, remotetest.Link{Name: "tcp", Pair: tcpPair})
}
