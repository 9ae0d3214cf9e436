package remote_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/actor/remote"
	"github.com/dynolab/dyno/actor/remote/remotetest"
	"github.com/dynolab/dyno/impls/lockbased"
)

// certificate makes a key pair that signs itself, for both ends, of systems with these names.
func certificate(t *testing.T, names ...string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: names[0]}, DNSNames: names[1:],
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// With TLS that asks for the other end's certificate, who has none gets nowhere.
func TestTLS(t *testing.T) {
	cert, pool := certificate(t, "a", "b")
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{cert}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert,
	})
	if err != nil {
		t.Fatal(err)
	}
	a := remotetest.NewHost(t, "a", lockbased.Impl.NewDispatcher(), remote.Config{})
	b := remotetest.NewHost(t, "b", lockbased.Impl.NewDispatcher(), remote.Config{})
	served := make(chan error, 1)
	go func() { served <- b.Node.Serve(l) }()
	ctx, end := context.WithTimeout(context.Background(), time.Minute)
	defer end()
	if _, err := a.Node.Dial(ctx, l.Addr().String(), &tls.Config{RootCAs: pool}); err == nil {
		t.Error("a node without a certificate gets in")
	}
	if _, err := a.Node.Dial(ctx, l.Addr().String(), nil); err == nil {
		t.Error("a node without TLS gets in")
	}
	peer, err := a.Node.Dial(ctx, l.Addr().String(), &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{cert}})
	if err != nil {
		t.Fatal(err)
	}
	if p, ok := a.Node.Peer("b"); !ok || p.Boot() != b.Sys.Boot() || peer.System() != "b" {
		t.Errorf("the peer is %v", p)
	}
	f := make(chan any, 1)
	far := a.Abroad(b.SpawnFunc(func(_ *actor.Context, msg any) error { f <- msg; return nil }))
	if err := far.Tell(remotetest.Text("hello")); err != nil {
		t.Fatal(err)
	}
	if m := <-f; m != remotetest.Text("hello") {
		t.Errorf("got %v", m)
	}
	b.Node.Close()
	if err := <-served; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Serve ends with %v", err)
	}
	if err := b.Node.Serve(l); !errors.Is(err, remote.ErrClosed) {
		t.Errorf("Serve of a closed node: %v", err)
	}
}

// With TLS a node has the name that its certificate has, at both ends.
func TestTLSNames(t *testing.T) {
	cert, pool := certificate(t, "a", "b")
	config := &tls.Config{Certificates: []tls.Certificate{cert}, RootCAs: pool, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert}
	open := config.Clone()
	open.ClientAuth = tls.NoClientCert
	for _, x := range []struct {
		name         string
		server       *tls.Config
		dialer, host string
		want         error
	}{
		{"names that the certificate has", config, "a", "b", nil},
		{"the dialing node has another's name", config, "c", "b", remote.ErrName},
		{"the dialed node has another's name", config, "a", "c", remote.ErrName},
		{"the dialed node asks for no certificate", open, "a", "b", remote.ErrName},
	} {
		t.Run(x.name, func(t *testing.T) {
			l, err := tls.Listen("tcp", "127.0.0.1:0", x.server)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			a := remotetest.NewHost(t, x.dialer, lockbased.Impl.NewDispatcher(), remote.Config{})
			b := remotetest.NewHost(t, x.host, lockbased.Impl.NewDispatcher(), remote.Config{})
			accepted := make(chan error, 1)
			go func() {
				conn, err := l.Accept()
				if err == nil {
					_, err = b.Node.Accept(t.Context(), remote.TCP(conn))
				}
				accepted <- err
			}()
			_, dialed := a.Node.Dial(t.Context(), l.Addr().String(), config)
			err = <-accepted
			if x.want == nil && (dialed != nil || err != nil) || x.want != nil && (dialed == nil || err == nil || !errors.Is(dialed, x.want) && !errors.Is(err, x.want)) {
				t.Errorf("the dialing node has %v, the dialed one %v, want %v", dialed, err, x.want)
			}
		})
	}
}

// A system does not connect to itself, and a Config that cannot be used makes no
// node.
func TestMisuse(t *testing.T) {
	a := remotetest.NewHost(t, "same", lockbased.Impl.NewDispatcher(), remote.Config{})
	b := remotetest.NewHost(t, "same", lockbased.Impl.NewDispatcher(), remote.Config{})
	wa, wb := tcpPair(t)
	go func() { _, _ = b.Node.Accept(context.Background(), wb) }()
	if _, err := a.Node.Connect(context.Background(), wa); err == nil {
		t.Error("two systems of the same name come together")
	}
	for field, c := range map[string]remote.Config{
		"Config.Codecs":      {},
		"Config.Window":      {Codecs: remotetest.Codecs(), Window: -1},
		"Config.WindowBytes": {Codecs: remotetest.Codecs(), WindowBytes: 1<<30 + 1},
		"Config.Batch":       {Codecs: remotetest.Codecs(), Batch: remote.MaxFrame + 1},
		"Config.Backlog":     {Codecs: remotetest.Codecs(), Backlog: -1},
		"Config.Timeout":     {Codecs: remotetest.Codecs(), Timeout: time.Millisecond},
		"Config.Policy":      {Codecs: remotetest.Codecs(), Policy: actor.Grow},
	} {
		var e *actor.PropsError
		if _, err := remote.NewNode(a.Sys, c); !errors.As(err, &e) || e.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}
