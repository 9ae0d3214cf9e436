package remote

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"sync"
)

// Wire carries frames between two nodes. It may lose, double, reorder and delay
// them, but a frame arrives whole or not at all, and as it was.
type Wire interface {
	// WriteFrame sends a frame of at most MaxFrame bytes. It must not keep b. It may
	// wait for the network; a slow receiver is not what it waits for long, as
	// nodes send no more than the other end has given credit for. An error means
	// that the wire is broken for good. One goroutine at a time calls it.
	WriteFrame(b []byte) error

	// ReadFrame returns the next frame, which is valid until the next call. An
	// error means that the wire is broken for good, or closed. One goroutine
	// calls it.
	ReadFrame() ([]byte, error)

	// Close breaks the wire, also for the other end if that can be. It ends
	// WriteFrame and ReadFrame. Any goroutine may call it, more than once.
	Close() error
}

// Verifier is a Wire that knows whom it leads to. One that wraps another passes Verify on:
// what has no such method is not asked.
type Verifier interface {
	Wire

	// Verify returns an error if the other end may not have that system's name. It is
	// called when a frame with the name has come, and ends the association.
	Verify(system string) error
}

// Addressed is a Wire that knows from which address it was made. A node that has more peers
// than it may have prefers those of addresses that have few. One that wraps another passes
// Address on: all wires without one count as of the same address.
type Addressed interface {
	Wire

	// Address is the address of the other end's machine or network, without a port.
	Address() string
}

// ErrName: the other end's certificate does not have the name of its system.
var ErrName = errors.New("remote: the peer's certificate is not for a system of that name")

// tcp is a Wire over a connection that keeps bytes in order: TCP, TLS, a pipe.
type tcp struct {
	conn     net.Conn
	buf      []byte
	from, to int // buf[from:to] has come and was not returned
	close    sync.Once
	err      error
}

// A wire reads leastRead bytes at a time, and up to mostRead when so many come: one that
// says little costs little.
const (
	leastRead = 1 << 10
	mostRead  = 64 << 10
)

// TCP returns a Wire over a connection that carries bytes in order. A frame begins
// with its length, so nothing stands between them.
//
// If it is a [tls.Conn] the other end must have a certificate, with the name of its
// system as one of the DNS names, as it is, or as the common name. Whether the
// certificate is to be trusted is the tls.Config's to say.
func TCP(conn net.Conn) Wire {
	return &tcp{conn: conn, buf: make([]byte, leastRead)}
}

// Address implements [Addressed]. Of an IPv6 address it is the first 64 bits, within which
// a machine has any number.
func (w *tcp) Address() string {
	remote := w.conn.RemoteAddr()
	if remote == nil {
		return ""
	}
	host, _, err := net.SplitHostPort(remote.String())
	if err != nil {
		return remote.String() // of a pipe or a Unix socket
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Unmap().Is6() {
		return netip.PrefixFrom(ip, 64).Masked().String()
	} else if err == nil {
		return ip.Unmap().String()
	}
	return host
}

// Verify implements [Verifier].
func (w *tcp) Verify(system string) error {
	conn, ok := w.conn.(*tls.Conn)
	if !ok {
		return nil
	}
	certs := conn.ConnectionState().PeerCertificates
	if len(certs) == 0 {
		return fmt.Errorf("%w: there is none (of %q)", ErrName, system)
	}
	names := append([]string{certs[0].Subject.CommonName}, certs[0].DNSNames...)
	if !slices.Contains(names, system) {
		return fmt.Errorf("%w: it is for %q, and the system is %q", ErrName, names, system)
	}
	return nil
}

func (w *tcp) WriteFrame(b []byte) error {
	_, err := w.conn.Write(b)
	return err
}

func (w *tcp) ReadFrame() ([]byte, error) {
	for {
		if have := w.to - w.from; have >= lengthSize {
			n := int64(binary.BigEndian.Uint32(w.buf[w.from:])) + lengthSize
			if n > MaxFrame {
				return nil, ErrProtocol // and no memory is set aside for it
			}
			if n <= int64(have) {
				b := w.buf[w.from : w.from+int(n)]
				w.from += int(n)
				return b, nil
			}
		}
		if err := w.fill(); err != nil {
			return nil, err
		}
	}
}

// fill reads more. The buffer grows as bytes come, and not for what is announced only.
func (w *tcp) fill() error {
	w.to = copy(w.buf, w.buf[w.from:w.to])
	w.from = 0
	if w.to == len(w.buf) {
		w.grow()
	}
	n, err := w.conn.Read(w.buf[w.to:])
	w.to += n
	switch {
	case n == 0 && err == nil:
		return io.ErrNoProgress
	case n == 0:
		return err
	case w.to == len(w.buf) && len(w.buf) < mostRead:
		w.grow()
	}
	return nil // an error comes again
}

func (w *tcp) grow() { w.buf = append(w.buf, make([]byte, len(w.buf))...) }

func (w *tcp) Close() error {
	w.close.Do(func() { w.err = w.conn.Close() })
	return w.err
}
