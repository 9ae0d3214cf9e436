package fleet

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
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
	full    signal // gets something when the server could not write for want of room

	mu   sync.Mutex // guards what follows, which is renewed
	nats *server.Server
	base *server.Options
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
	s := &Server{options: o, full: make(signal, 1), base: &server.Options{
		ServerName: "dyno", Host: host, Port: number, NoSigs: true, NoLog: true,
		JetStream: true, SyncAlways: true,
		JetStreamMaxStore: 1 << 50, // the disk is the limit, and not what it had free at the start: see Mend
		MaxConn:           4096, MaxControlLine: 4096,
	}}
	s.base.StoreDir = s.store()
	scheme := "nats://"
	switch {
	case (o.Cert == "") != (o.Key == ""):
		return nil, errors.New("--cert and --key need each other")
	case o.Cert != "":
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
	if err := s.begin(); err != nil {
		return nil, err
	}
	s.base.Port = s.nats.Addr().(*net.TCPAddr).Port // it listens on TCP
	s.URL = scheme + net.JoinHostPort(shown(host), strconv.Itoa(s.base.Port))
	return s, os.WriteFile(filepath.Join(o.Home, urlName), []byte(s.URL+"\n"), 0o600)
}

// begin starts the server of NATS.
func (s *Server) begin() error {
	begun, err := server.NewServer(s.base.Clone())
	if err != nil {
		return err
	}
	s.nats = begun
	s.nats.SetLogger(&serverLog{s.full}, false, false)
	s.nats.Start()
	if !s.nats.ReadyForConnections(20 * time.Second) {
		s.nats.Shutdown()
		return fmt.Errorf("no server can listen on %s: is there one already? benchfleet status asks it", s.options.Listen)
	}
	return nil
}

// A signal is a channel for one thing that can be said: said twice before it is heard, it is
// heard once.
type signal chan struct{}

func (s signal) say() {
	select {
	case s <- struct{}{}:
	default:
	}
}

// A serverLog takes in what the server of NATS says: of interest is only that a disk is full.
type serverLog struct{ full signal }

func (l *serverLog) Errorf(_ string, v ...any) {
	for _, a := range v {
		if err, ok := a.(error); ok && isNoSpace(err) {
			l.full.say()
		}
	}
}

func (l *serverLog) Warnf(format string, v ...any)  { l.Errorf(format, v...) }
func (l *serverLog) Fatalf(format string, v ...any) { l.Errorf(format, v...) }
func (l *serverLog) Noticef(string, ...any)         {}
func (l *serverLog) Debugf(string, ...any)          {}
func (l *serverLog) Tracef(string, ...any)          {}

// Mend begins the server anew when the disk was full and has room again, until ctx ends: what
// it could not write once it does not write any more. What it has acknowledged is there then.
func (s *Server) Mend(ctx context.Context, log io.Writer) {
	say := func(format string, args ...any) {
		fmt.Fprintf(log, "%s  %s\n", time.Now().Format("15:04:05"), fmt.Sprintf(format, args...))
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.full:
		}
		say("the disk with %s is full: nothing is taken in until there is room", s.store())
		for s.hasRoom() != nil && ctx.Err() == nil {
			pause(ctx, soon)
		}
		if ctx.Err() != nil {
			return
		}
		if err := s.restart(); err != nil {
			say("the server does not begin anew: %v", err)
			s.full.say()
			pause(ctx, soon)
			continue
		}
		say("there is room again: the server has begun anew")
	}
}

// Found makes the streams and buckets of a fleet, as Client.Found does. If the disk is full, it
// waits until there is room.
func (s *Server) Found(ctx context.Context, c *Client, log io.Writer) error {
	const grace = 30 * time.Second // for a server that Mend begins anew
	for full, since := false, time.Now(); ; pause(ctx, soon) {
		err := c.whileThere(ctx, c.Found)
		if err == nil || ctx.Err() != nil {
			return err
		}
		switch noRoom := s.hasRoom(); {
		case noRoom == nil && time.Since(since) > grace || noRoom == nil && !full:
			return err
		case noRoom != nil && !full:
			full = true
			fmt.Fprintf(log, "the fleet begins when there is room for it: %v\n", err)
			fallthrough
		case noRoom != nil:
			since = time.Now()
		}
	}
}

// restart ends the server of NATS, and begins another one where it was.
func (s *Server) restart() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
	select {
	case <-s.full: // said by the one that has ended
	default:
	}
	return s.begin()
}

func (s *Server) store() string { return filepath.Join(s.options.Home, "store") }

// room is how many bytes have to be free for a server to begin anew.
const room = 4 << 20

// hasRoom returns an error if nothing can be written where the server stores.
func (s *Server) hasRoom() error {
	f, err := os.CreateTemp(s.store(), "room-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, room))
	return errors.Join(err, f.Sync(), f.Close())
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
	s.mu.Lock()
	defer s.mu.Unlock()
	own, err := OwnKey(s.options.Home)
	if err != nil {
		return err
	}
	again := *s.base
	s.base = &again
	if err := s.load(own); err != nil {
		return err
	}
	return s.nats.ReloadOptions(s.base.Clone())
}

// Stop stops it. What is queued is there when it starts again.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
}

func (s *Server) stop() {
	s.nats.Shutdown()
	s.nats.WaitForShutdown()
}

// soon is how long is waited before what has failed is done again.
var soon = time.Second // tests have less patience

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
	// A result waits until the collector has stored it. A second one of the job is refused by
	// the server meanwhile, and by the collector, which knows what it has stored, at any time.
	// The collector puts one that it cannot store behind the others by a rollup.
	_, err = js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name: resultsStream, Subjects: []string{"dyno.result.>"}, Retention: jetstream.WorkQueuePolicy, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		MaxMsgSize: mostResult, AllowDirect: true, AllowRollup: true,
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
