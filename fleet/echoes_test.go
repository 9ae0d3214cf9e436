package fleet_test

import (
	"bufio"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// echoes is a network that delivers some messages twice, at once or up to a second later: orders,
// results, acknowledgements, signs of life, requests and answers.
//
// Pieces of files are delivered once: NATS takes their order from TCP, and sends none again.
type echoes struct {
	listen  net.Listener
	behind  string // where the server is
	doubled atomic.Int64

	mu     sync.Mutex // guards random
	random *rand.Rand
}

// newEchoes has one listen on an address, for a server behind it, until the test ends.
func newEchoes(t *testing.T, address, behind string, seed uint64) *echoes {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	e := &echoes{listen: l, behind: behind, random: rand.New(rand.NewPCG(seed, 3))}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { e.connect(client) })
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	return e
}

func (e *echoes) url() string { return "nats://" + e.listen.Addr().String() }

// connect carries what a client and the server say, until one of them ends.
func (e *echoes) connect(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", e.behind)
	if err != nil {
		return // it is away
	}
	defer server.Close()
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			_ = e.carry(way[1], way[0])
			client.Close()
			server.Close()
		})
	}
	both.Wait()
}

// carry carries what one side says to the other, and some of it twice.
func (e *echoes) carry(to io.Writer, from io.Reader) error {
	var mu sync.Mutex // a message is written in one piece
	write := func(message []byte) error {
		mu.Lock()
		defer mu.Unlock()
		_, err := to.Write(message)
		return err
	}
	var late sync.WaitGroup
	defer late.Wait()
	in := bufio.NewReaderSize(from, 64<<10)
	for {
		message, subject, err := readMessage(in)
		if err != nil {
			return err
		}
		if err := write(message); err != nil {
			return err
		}
		if after, twice := e.again(subject); twice {
			late.Go(func() {
				time.Sleep(after)
				_ = write(message) // the connection may have ended
			})
		}
	}
}

// again says whether a message is delivered again, and when.
func (e *echoes) again(subject string) (after time.Duration, twice bool) {
	if subject == "" || strings.HasPrefix(subject, "$O.") {
		return 0, false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.random.IntN(4) > 0 {
		return 0, false
	}
	e.doubled.Add(1)
	return time.Duration(max(0, e.random.IntN(2000)-1000)) * time.Millisecond, true
}

// readMessage reads a line of the NATS protocol, with the payload that it announces. Its subject
// is "" if it is no message.
func readMessage(in *bufio.Reader) (message []byte, subject string, err error) {
	if message, err = in.ReadBytes('\n'); err != nil {
		return nil, "", err
	}
	words := strings.Fields(string(message))
	if len(words) < 3 {
		return message, "", nil
	}
	switch strings.ToUpper(words[0]) {
	case "PUB", "HPUB", "MSG", "HMSG":
	default:
		return message, "", nil
	}
	size, err := strconv.Atoi(words[len(words)-1])
	if err != nil {
		return nil, "", err
	}
	payload := make([]byte, size+len("\r\n"))
	_, err = io.ReadFull(in, payload)
	return append(message, payload...), words[1], err
}
