package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

// DefaultAddr is the same port each time, so that a page that is open, or a bookmark, goes
// on working.
const DefaultAddr = "127.0.0.1:8137"

// Folder serves the results below a folder at addr until ctx ends or an interrupt comes. It
// prints the address to out; warnings, and that it has ended, go to log.
func Folder(ctx context.Context, folder, addr string, o Options, out, log io.Writer) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("--addr is %q; it must be host:port, such as %s", addr, DefaultAddr)
	}
	root, err := os.OpenRoot(folder)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("there is no folder %s: name the one with the results, or make some with benchrun run", folder)
	}
	if err != nil {
		return err
	}
	defer root.Close()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
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
		fmt.Fprintf(log, "benchrun: warning: %s is not this machine alone: every machine that reaches it can read all of %s\n", at, folder)
	}
	if _, err := netip.ParseAddr(host); err != nil {
		o.Host = host // an IP address is always taken
	}
	server := &http.Server{
		Handler:           New(root, o),
		ReadHeaderTimeout: 5 * time.Second,
		WriteTimeout:      2 * time.Minute, // a large report may take seconds, a large profile longer
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	fmt.Fprintf(out, "http://%s/\n", shown(o.Host, at))
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	stop() // a second interrupt ends it at once
	fmt.Fprintln(log, "benchrun: ended")
	late, cancel := context.WithTimeout(context.Background(), 3*time.Second)
	defer cancel()
	if err := server.Shutdown(late); err != nil {
		return server.Close() // a page is still being read
	}
	return nil
}

// shown is an address as it is entered in a browser: by the name that was asked for, if
// there is one.
func shown(name string, at *net.TCPAddr) string {
	switch {
	case name != "":
	case at.IP.IsUnspecified():
		name = "localhost"
	default:
		return at.String()
	}
	return net.JoinHostPort(name, strconv.Itoa(at.Port))
}
