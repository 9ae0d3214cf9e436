package remote

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
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

// ErrName: the other end's certificate does not have the name of its system.
var ErrName = errors.New("remote: the peer's certificate is not for a system of that name")

// tcp is a Wire over a connection that keeps bytes in order: TCP, TLS, a pipe.
type tcp struct {
	conn  net.Conn
	r     *bufio.Reader
	frame []byte
	close sync.Once
	err   error
}

// TCP returns a Wire over a connection that carries bytes in order. A frame begins
// with its length, so nothing stands between them.
//
// If it is a [tls.Conn] the other end must have a certificate, with the name of its
// system as one of the DNS names, as it is, or as the common name. Whether the
// certificate is to be trusted is the tls.Config's to say.
func TCP(conn net.Conn) Wire {
	return &tcp{conn: conn, r: bufio.NewReaderSize(conn, 64<<10)}
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
	head, err := w.r.Peek(lengthSize)
	if err != nil {
		return nil, err
	}
	n := int64(binary.BigEndian.Uint32(head)) + lengthSize
	if n > MaxFrame {
		return nil, ErrProtocol // and no memory is set aside for it
	}
	if n <= int64(w.r.Size()) {
		// It fits in the reader: the frame is looked at where it is.
		b, err := w.r.Peek(int(n))
		if err != nil {
			return nil, err
		}
		_, err = w.r.Discard(int(n)) // leaves the bytes until the next read
		return b, err
	}
	// Memory is set aside as bytes come, and not for what is announced only.
	w.frame = w.frame[:0]
	for have := 0; have < int(n) && err == nil; have = len(w.frame) {
		more := min(int(n)-have, max(have, w.r.Size()))
		w.frame = slices.Grow(w.frame, more)[:have+more]
		_, err = io.ReadFull(w.r, w.frame[have:])
	}
	return w.frame, err
}

func (w *tcp) Close() error {
	w.close.Do(func() { w.err = w.conn.Close() })
	return w.err
}
