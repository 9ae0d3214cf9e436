package linuxboard

import (
	"bytes"
	"io"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// next returns the next byte, waiting for it.
func next(p *port) byte {
	for {
		if b, ok := p.Poll(); ok {
			return b
		}
		runtime.Gosched()
	}
}

// What is typed arrives whole and in order, however it is cut, and no reader waits
// for what has not come.
func TestRead(t *testing.T) {
	in, typed := io.Pipe()
	p := newPort(io.Discard)
	p.begin(in)
	if b, ok := p.Poll(); ok {
		t.Fatalf("before anything was typed there is %q", b)
	}
	text := strings.Repeat("0123456789abcdef", 3*ahead/16) + "\n" // more than is read ahead
	go func() {
		for part := range strings.SplitAfterSeq(text, "7") {
			_, _ = io.WriteString(typed, part)
		}
	}()
	for i := range len(text) {
		if b := next(p); b != text[i] {
			t.Fatalf("byte %d is %q, want %q", i, b, text[i])
		}
	}
	if b, ok := p.Poll(); ok || p.Closed() {
		t.Errorf("after the last byte there is %q, or the end: %v", b, p.Closed())
	}
}

// The end of input is told when all of it has been read, and for good.
func TestClosed(t *testing.T) {
	p := newPort(io.Discard)
	p.begin(strings.NewReader("ab"))
	for _, want := range []byte("ab") {
		if p.Closed() {
			t.Errorf("closed before %q was read", want)
		}
		if b := next(p); b != want {
			t.Errorf("got %q, want %q", b, want)
		}
	}
	for !p.Closed() {
		if b, ok := p.Poll(); ok {
			t.Fatalf("after the end there is %q", b)
		}
		runtime.Gosched()
	}
	if _, ok := p.Poll(); ok || !p.Closed() {
		t.Error("it is open again")
	}
}

// A firmware that hangs in a case when the host goes ends some time later, and one that
// looks at its port is left to end as it likes.
func TestAbandoned(t *testing.T) {
	for name, want := range map[string]bool{"hangs": true, "looks": false, "has not begun": false} {
		synctest.Test(t, func(t *testing.T) {
			p := newPort(io.Discard)
			ended := make(chan bool, 1)
			p.abandoned = func() { ended <- true }
			in, typed := io.Pipe()
			p.begin(in)
			if name != "has not begun" {
				p.Poll()
			}
			time.Sleep(time.Hour) // of synctest: it takes no time
			select {
			case <-ended:
				t.Errorf("%s: it has ended while the host was there", name)
			default:
			}
			typed.Close()
			time.Sleep(9 * time.Second)
			if name == "looks" {
				p.Poll()
			}
			time.Sleep(2 * time.Second) // parting
			select {
			case <-ended:
				if !want {
					t.Errorf("%s: it was ended", name)
				}
			default:
				if want {
					t.Errorf("%s: it goes on", name)
				}
			}
		})
	}
}

func TestWrite(t *testing.T) {
	var out bytes.Buffer
	p := newPort(&out)
	p.Write([]byte("a\n"))
	p.Write([]byte("b\n"))
	if got := out.String(); got != "a\nb\n" {
		t.Errorf("got %q", got)
	}
}

// A clock that is read while something is measured must not count as allocating.
func TestClock(t *testing.T) {
	c := newClock()
	before := c.Now()
	if n := testing.AllocsPerRun(100, func() {
		now := c.Now()
		if now < before {
			t.Fatalf("%d after %d", now, before)
		}
		before = now
	}); n > 0 {
		t.Errorf("reading the clock allocates %v times", n)
	}
	if c.Hz() != 1e9 || c.Unit() != "ns" {
		t.Errorf("%v ticks a second in %s", c.Hz(), c.Unit())
	}
}

// Settle returns when all has run, and not when some has: the system runs goroutines on
// several processors, and takes those away as it likes.
func TestSettle(t *testing.T) {
	settle := New("test", true).Settle
	for range 3 {
		const links = 2000
		var last atomic.Bool
		first := make(chan bool)
		in := first
		for i := range links {
			from, to := in, make(chan bool)
			go func() {
				<-from
				if i == links-1 {
					last.Store(true)
					return
				}
				to <- true
			}()
			in = to
		}
		first <- true
		settle()
		if !last.Load() {
			t.Fatal("it returned before the last goroutine had run")
		}
	}
}

func TestParseMemory(t *testing.T) {
	for text, want := range map[string]int{
		"MemTotal:         512000 kB\nMemFree:  1 kB\n": 512_000 << 10,
		"MemFree:  1 kB\nMemTotal:  7 kB\n":             7 << 10,
		"MemTotal: 9007199254740993 kB\n":               math.MaxInt / 1024 * 1024,
		"MemTotal: -1 kB\n":                             0,
		"MemTotal: many kB\n":                           0,
		"":                                              0,
	} {
		if got := parseMemory(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
