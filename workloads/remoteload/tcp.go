package remoteload

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"

	"github.com/dynolab/dyno/actor/remote"
)

// TCP returns the link over loopback.
func TCP() Link {
	return Link{
		Wire: func() (dialed, accepted remote.Wire, err error) {
			x, y, err := loopback()
			if err != nil {
				return nil, nil, err
			}
			return remote.TCP(x), remote.TCP(y), nil
		},
		Ref: "ref-tcp",
		Doc: "a TCP connection with buffers of 64 KiB and the options that the other one has",
		Raw: func() (End, End, error) {
			x, y, err := loopback()
			if err != nil {
				return nil, nil, err
			}
			return newStream(x), newStream(y), nil
		},
		Holds: true,
	}
}

// loopback returns the ends of a connection.
func loopback() (x, y net.Conn, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if x, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	if y, err = l.Accept(); err != nil {
		_ = x.Close()
	}
	return x, y, err
}

// stream is an End over a connection: each message has its length before it.
type stream struct {
	conn net.Conn
	w    *bufio.Writer
	r    *bufio.Reader
	head [4]byte // of the message that is sent
	last int     // bytes of the message that was received last
}

func newStream(c net.Conn) *stream {
	return &stream{conn: c, w: bufio.NewWriterSize(c, 64<<10), r: bufio.NewReaderSize(c, 64<<10)}
}

func (s *stream) Send(b []byte) error {
	binary.BigEndian.PutUint32(s.head[:], uint32(len(b)))
	if _, err := s.w.Write(s.head[:]); err != nil {
		return err
	}
	_, err := s.w.Write(b)
	return err
}

func (s *stream) Flush() error { return s.w.Flush() }

func (s *stream) Receive() ([]byte, error) {
	if _, err := s.r.Discard(s.last); err != nil {
		return nil, err
	}
	s.last = 0
	head, err := s.r.Peek(4)
	if err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(head))
	b, err := s.r.Peek(4 + n)
	if err != nil {
		if err == bufio.ErrBufferFull {
			err = io.ErrShortBuffer
		}
		return nil, err
	}
	s.last = 4 + n
	return b[4:], nil
}

func (s *stream) Close() error { return s.conn.Close() }
