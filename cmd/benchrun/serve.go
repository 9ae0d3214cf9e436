package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/report/serve"
	"github.com/dynolab/dyno/internal/targets"
)

// defaultAddr is where serve listens: the same port each time, so that a page that
// is open, or a bookmark, goes on working.
const defaultAddr = "127.0.0.1:8137"

func newServeCmd() *cobra.Command {
	var addr string
	cmd := &cobra.Command{
		Use:   "serve [folder]",
		Short: "Show results, profiles and a run's progress in a browser",
		Long: `Serve shows the results below a folder, by default results, in a browser: a list
of runs, the report of each, the progress of one that goes on, and the profiles
that explain its differences, in pprof's own pages. It prints the address, and
goes on until Ctrl-C.

It only reads, and nothing outside of the folder. It listens on this machine
only; --addr says otherwise, and then everybody who reaches this machine can
read all results.

Exit status: 0 after Ctrl-C, 2 on an error.`,
		Example: `  benchrun serve
  benchrun serve results/my-machine --addr 127.0.0.1:0`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := "results"
			if len(args) > 0 {
				folder = args[0]
			}
			return serveFolder(cmd, folder, addr)
		},
	}
	cmd.Flags().StringVar(&addr, "addr", defaultAddr, "listen at this `host:port`; port 0 is any that is free")
	return cmd
}

// serveFolder serves until an interrupt.
func serveFolder(cmd *cobra.Command, folder, addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("--addr is %q; it must be host:port, such as %s", addr, defaultAddr)
	}
	root, err := os.OpenRoot(folder)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no folder %s: name the one with the results, or make some with benchrun run", folder)
	}
	if err != nil {
		return err
	}
	defer root.Close()
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w; is another benchrun serve running? --addr 127.0.0.1:0 takes any free port", err)
	}
	if err != nil {
		return err
	}
	at := listener.Addr().(*net.TCPAddr)
	if !at.IP.IsLoopback() {
		fmt.Fprintf(cmd.ErrOrStderr(), "benchrun: warning: %s is not this machine alone: everybody who reaches it can read all of %s\n", at, folder)
	}
	if _, err := netip.ParseAddr(host); err != nil && host != "" {
		at.IP = nil
	} else {
		host = "" // an IP address is always taken
	}
	shown := at.String()
	if host != "" {
		shown = net.JoinHostPort(host, fmt.Sprint(at.Port))
	} else if at.IP.IsUnspecified() {
		shown = net.JoinHostPort("localhost", fmt.Sprint(at.Port))
	}
	server := &http.Server{
		Handler:           serve.New(root, serve.Options{Host: host, Card: cardOf}),
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      2 * time.Minute, // a large report may take seconds, a large profile longer
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	fmt.Fprintf(cmd.OutOrStdout(), "http://%s/\n", shown)
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	stop() // a second interrupt ends it at once
	fmt.Fprintln(cmd.ErrOrStderr(), "benchrun: ended")
	late, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := server.Shutdown(late); err != nil {
		return server.Close() // somebody still reads
	}
	return nil
}

// cardOf judges a results file by the targets that it decides.
func cardOf(c *compare.Comparison, d *compare.Data) (*targets.Scorecard, error) {
	return scorecard(c, d, compare.Options{Alpha: c.Alpha})
}
