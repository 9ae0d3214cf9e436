package fleet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
)

// DefaultListen is where a server listens if nothing is said of it.
const DefaultListen = "127.0.0.1:4750"

// ServerOptions say how a server runs.
type ServerOptions struct {
	Home   string // folder for its store and the grants
	Listen string // address; port 0 is any that is free
	// Cert and Key are the paths of the TLS certificate and its key; needed unless Listen is
	// of this host only.
	Cert, Key string
}

// A Server is NATS with JetStream in this process. What was acknowledged is synced.
type Server struct {
	URL string

	options ServerOptions
	nats    *server.Server
	base    *server.Options
}

// Start starts a server, and writes into the user's folder where it listens.
func Start(o ServerOptions) (*Server, error) {
	own, err := OwnKey(o.Home)
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(o.Listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: the port is not a number", o.Listen)
	}
	if number == 0 {
		number = server.RANDOM_PORT
	}
	s := &Server{options: o, base: &server.Options{
		ServerName: "dyno", Host: host, Port: number, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: filepath.Join(o.Home, "store"), SyncAlways: true,
		MaxConn: 4096, MaxControlLine: 4096,
	}}
	scheme := "nats://"
	switch {
	case o.Cert != "" && o.Key != "":
		certificate, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, err
		}
		s.base.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13}
		s.base.TLS, s.base.TLSTimeout = true, 5
		scheme = "tls://"
	case !isLoopback(host):
		return nil, fmt.Errorf("--listen %s is reached by others: it needs --cert and --key (benchfleet key tls makes them)", o.Listen)
	}
	if err := s.load(own); err != nil {
		return nil, err
	}
	if s.nats, err = server.NewServer(s.base); err != nil {
		return nil, err
	}
	s.nats.Start()
	if !s.nats.ReadyForConnections(20 * time.Second) {
		s.nats.Shutdown()
		return nil, fmt.Errorf("no server can listen on %s: is there one already? benchfleet status asks it", o.Listen)
	}
	addr := s.nats.Addr().(*net.TCPAddr) // it listens on TCP
	s.URL = scheme + net.JoinHostPort(shown(host), strconv.Itoa(addr.Port))
	return s, os.WriteFile(filepath.Join(o.Home, urlName), []byte(s.URL+"\n"), 0o600)
}

// urlName is the file that says where the user's server listens.
const urlName = "server"

// shown is a host that can be connected to.
func shown(host string) string {
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return "127.0.0.1"
	}
	return host
}

// isLoopback reports whether only this host reaches what listens there.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// load makes the grants those of the server. The own key may do everything.
func (s *Server) load(own *Key) error {
	grants, err := Grants(s.options.Home)
	if err != nil {
		return err
	}
	s.base.Nkeys = nil
	seen := make(map[string]bool)
	for _, g := range append([]Grant{{Role: RoleOwner, Key: own.Public}}, grants...) {
		if seen[g.Key] {
			continue // the first grant of a key counts
		}
		seen[g.Key] = true
		s.base.Nkeys = append(s.base.Nkeys, &server.NkeyUser{Nkey: g.Key, Permissions: g.permissions()})
	}
	return nil
}

// Reload takes in what Allow has added.
func (s *Server) Reload() error {
	own, err := OwnKey(s.options.Home)
	if err != nil {
		return err
	}
	again := *s.base
	s.base = &again
	if err := s.load(own); err != nil {
		return err
	}
	return s.nats.ReloadOptions(s.base)
}

// Stop stops it. What is queued is there when it starts again.
func (s *Server) Stop() {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
}

// leaseTime is how long a machine counts as there that says nothing, and beat how often it
// says something.
var (
	leaseTime = leaseOf(os.Getenv("BENCHFLEET_LEASE"))
	beat      = leaseTime / 3
)

// leaseOf is the time of a lease: half a minute, or for tests what they say.
func leaseOf(given string) time.Duration {
	if d, err := time.ParseDuration(given); err == nil && d >= time.Second {
		return d
	}
	return 30 * time.Second
}

// Found makes the streams and buckets of a fleet on the server, if they are not there.
func (c *Client) Found(ctx context.Context) error {
	js := c.js
	_, err := js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: jobsStream, Subjects: []string{"dyno.job.>"}, Retention: jetstream.WorkQueuePolicy, MaxMsgSize: mostOrder,
		AllowDirect: true,
	})
	if err != nil {
		return err
	}
	// The first result of a job on a machine is stored, and no other: what is delivered twice
	// is refused by the server, and what passes it all the same by the collector.
	_, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: resultsStream, Subjects: []string{"dyno.result.>"}, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		MaxMsgSize: mostResult, AllowDirect: true,
	})
	if err != nil {
		return err
	}
	if _, err = js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: partsBucket}); err != nil {
		return err
	}
	for _, bucket := range []jetstream.KeyValueConfig{
		{Bucket: machinesBucket},
		{Bucket: ordersBucket},
		{Bucket: storedBucket},
		{Bucket: liveBucket, TTL: leaseTime, Storage: jetstream.MemoryStorage},
	} {
		if _, err := js.CreateOrUpdateKeyValue(ctx, bucket); err != nil {
			return errors.Join(fmt.Errorf("bucket %s", bucket.Bucket), err)
		}
	}
	return nil
}
