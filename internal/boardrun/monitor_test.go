package boardrun

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/hw/firmware/line"
)

// A fakeConsole is a board's console: what the board says is written to said, and
// what it is told is read from told.
type fakeConsole struct {
	io.Reader
	io.Writer
	close func()
}

func (c fakeConsole) Close() error { c.close(); return nil }

// newConsole returns a console, the end at which the board speaks and that at which it
// listens.
func newConsole() (c fakeConsole, said *io.PipeWriter, told *io.PipeReader) {
	r, said := io.Pipe()
	told, w := io.Pipe()
	return fakeConsole{r, w, func() { r.Close(); w.Close() }}, said, told
}

func framed(seq uint32, text string) string { return string(line.Append(nil, seq, []byte(text))) }

// Every kind of line is shown as what it is.
func TestMonitorShowsWhatComes(t *testing.T) {
	console, said, told := newConsole()
	go io.Copy(io.Discard, told)
	go func() {
		io.WriteString(said, "boot v1\n")
		io.WriteString(said, framed(1, "hello "+line.Protocol+" board=b")+framed(2, "note all is well"))
		io.WriteString(said, strings.Replace(framed(3, "note damaged"), "damaged", "dimaged", 1))
		io.WriteString(said, framed(6, "note later")+framed(6, "note later"))
		io.WriteString(said, framed(1, "hello again")+"panic: oh")
		said.Close()
	}()
	var out bytes.Buffer
	if err := monitor(t.Context(), strings.NewReader(""), &out, console, false); err != nil {
		t.Fatal(err)
	}
	want := `| boot v1
--- the board has started
   1 hello ` + line.Protocol + ` board=b
   2 note all is well
! ` + strings.TrimSuffix(strings.Replace(framed(3, "note damaged"), "damaged", "dimaged", 1), "\n") + ` (the checksum is wrong: bytes were lost or altered)
! 3 lines lost
   6 note later
! line 6 once more:
   6 note later
--- the board has started
   1 hello again
| panic: oh
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// What a board prints is shown and not obeyed.
func TestMonitorIsPrintable(t *testing.T) {
	var out bytes.Buffer
	for _, e := range []line.Event{
		{Kind: line.Noise, Text: "\x1b]0;owned\a"},
		{Kind: line.Corrupt, Text: "@1 \x1b[2J", Err: line.ErrFrame},
		{Kind: line.Text, Seq: 2, Text: "note \x1b[8m"},
		{Kind: line.Text, Seq: 4, Text: "x", Lost: 1},
	} {
		printEvent(&out, e)
	}
	want := `| \x1b]0;owned\a
! @1 \x1b[2J (bytes are missing: no number and checksum)
   2 note \x1b[8m
! 1 line lost
   4 x
`
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}

// What is typed is sent, line by line; at the end of the input a board that has been
// started for it is told to end.
func TestMonitorSends(t *testing.T) {
	for _, quits := range []bool{false, true} {
		console, said, told := newConsole()
		got := make(chan string)
		go func() {
			want := "hello\nrun x\n"
			if quits {
				want += "quit\n"
			}
			buf := make([]byte, len(want))
			n, _ := io.ReadFull(told, buf)
			said.Close()
			got <- string(buf[:n])
		}()
		if err := monitor(t.Context(), strings.NewReader("hello\nrun x\n"), io.Discard, console, quits); err != nil {
			t.Fatal(err)
		}
		want := "hello\nrun x\n"
		if quits {
			want += "quit\n"
		}
		if s := <-got; s != want {
			t.Errorf("quits %v: the board was told %q", quits, s)
		}
	}
}

func TestMonitorEnds(t *testing.T) {
	// With the context.
	console, _, _ := newConsole()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := monitor(ctx, neverReader{}, io.Discard, console, false); err != nil {
		t.Error(err)
	}
	// With the console, however that ends.
	for _, end := range []error{io.EOF, os.ErrClosed, io.ErrClosedPipe} {
		console, said, _ := newConsole()
		said.CloseWithError(end)
		if err := monitor(t.Context(), neverReader{}, io.Discard, console, false); err != nil {
			t.Errorf("%v: %v", end, err)
		}
	}
	// When the port vanishes.
	console, said, _ := newConsole()
	said.CloseWithError(errors.New("device not configured"))
	err := monitor(t.Context(), neverReader{}, io.Discard, console, false)
	if o, _ := Tell(io.Discard, err); o != hw.NoConsole || !strings.Contains(err.Error(), "device not configured") {
		t.Errorf("a port that vanishes: %v", err)
	}
	// When nothing can be written.
	console, _, told := newConsole()
	told.CloseWithError(errors.New("write error"))
	err = monitor(t.Context(), strings.NewReader("hello\n"), io.Discard, console, false)
	if o, _ := Tell(io.Discard, err); o != hw.NoConsole || !strings.Contains(err.Error(), "write error") {
		t.Errorf("a port that takes nothing: %v", err)
	}
}

// A neverReader is a terminal without input.
type neverReader struct{}

func (neverReader) Read([]byte) (int, error) { select {} }
