package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/fleet"
	"github.com/dynolab/dyno/internal/hostcheck"
)

// serveFlags are the flags of serve.
type serveFlags struct {
	*common
	listen, cert, key, results, page string
}

func newServe(c *common) *cobra.Command {
	f := &serveFlags{common: c, listen: fleet.DefaultListen}
	cmd := &cobra.Command{
		Use: "serve", Short: "Keep what is queued, and store results", Args: cobra.NoArgs,
		Long: `Serve runs a NATS server with JetStream in this process, and stores the results that
machines send: each job once, whatever is delivered twice, synced before it counts as
stored. The folder of results is the truth; the server's own store can be lost.

It listens on this machine only, for this user's key. To let others in, give it an
address, a certificate (benchfleet key tls) and their keys (benchfleet key allow).
With --server it uses a NATS server or cluster that is there, and only stores results.`,
		Example: `  benchfleet serve
  benchfleet serve --listen 0.0.0.0:4750 --cert server.crt --key server.key --page 127.0.0.1:4751`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	cmd.Flags().StringVar(&f.listen, "listen", f.listen, "listen on this `address`")
	cmd.Flags().StringVar(&f.cert, "cert", "", "`file` with the TLS certificate")
	cmd.Flags().StringVar(&f.key, "key", "", "`file` with the key of the certificate")
	cmd.Flags().StringVar(&f.results, "results", "", "store results below this `folder` (default: results in the user's folder)")
	cmd.Flags().StringVar(&f.page, "page", "", "also serve a page with the status on this `address`: one of this machine alone, or with --cert and --key any")
	return cmd
}

func (f *serveFlags) run(cmd *cobra.Command) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	o := f.Options
	if f.results == "" {
		f.results = filepath.Join(f.Home, "results")
	}
	if err := os.MkdirAll(f.results, 0o755); err != nil {
		return err
	}
	found := func(ctx context.Context, c *fleet.Client) error { return c.Found(ctx) }
	if o.URL == "" {
		s, err := fleet.Start(fleet.ServerOptions{Home: f.Home, Listen: f.listen, Cert: f.cert, Key: f.key})
		if err != nil {
			return err
		}
		defer s.Stop()
		o.URL = s.URL
		go reloadOnHangup(ctx, s)
		go s.Mend(ctx, cmd.ErrOrStderr())
		found = func(ctx context.Context, c *fleet.Client) error { return s.Found(ctx, c, cmd.ErrOrStderr()) }
	}
	client, err := fleet.Connect(o)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := found(ctx, client); err != nil {
		return err
	}
	fmt.Fprintf(cmd.ErrOrStderr(), "fleet at %s; results in %s\n", o.URL, f.results)
	fmt.Fprintln(cmd.ErrOrStderr(), "next: benchrun fleet join, here or on another machine")
	if f.page != "" {
		at, err := f.servePage(ctx, client.Page())
		if err != nil {
			return fmt.Errorf("--page: %w", err)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "status: %s\n", at)
	}
	return fleet.Collect(ctx, client, f.results, cmd.ErrOrStderr())
}

// reloadOnHangup takes in new keys when the process gets a hangup, or the file has changed.
func reloadOnHangup(ctx context.Context, s *fleet.Server) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-hangup:
			_ = s.Reload() // what is wrong with the file keeps the keys as they were
		case <-ctx.Done():
			return
		}
	}
}

// servePage serves the status until ctx ends, and returns where. Without TLS it listens on this
// machine alone: what is measured where, and for whom, is not for others to read on the way.
func (f *serveFlags) servePage(ctx context.Context, page http.Handler) (at string, err error) {
	host, _, err := net.SplitHostPort(f.page)
	if err != nil {
		return "", fmt.Errorf("%q is not host:port, such as 127.0.0.1:4751", f.page)
	}
	l, err := net.Listen("tcp", f.page)
	if err != nil {
		return "", err
	}
	scheme, secure := "http", f.cert != "" && f.key != ""
	if secure {
		scheme = "https"
	} else if ip := l.Addr().(*net.TCPAddr).IP; !ip.IsLoopback() {
		_ = l.Close()
		return "", fmt.Errorf("%s can be reached from other machines, and without TLS anybody on the way reads and changes the page: give --cert and --key, or an address such as 127.0.0.1:4751", f.page)
	}
	s := &http.Server{Handler: hostcheck.Only(host, page), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10}
	go func() {
		<-ctx.Done()
		_ = s.Close()
	}()
	go func() {
		serve := func() error { return s.Serve(l) }
		if secure {
			serve = func() error { return s.ServeTLS(l, f.cert, f.key) }
		}
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, "benchfleet: the page:", err)
		}
	}()
	return scheme + "://" + l.Addr().String() + "/", nil
}
