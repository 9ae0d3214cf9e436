package hw

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/hw/firmware/line"
)

// A timed console prints lines at their times, and notes when it was written to.
type timed struct {
	*io.PipeReader
	begun time.Time
	mu    sync.Mutex
	sent  []string // "after: text"
}

func (c *timed) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent = append(c.sent, fmt.Sprintf("%v: %s", time.Since(c.begun), strings.TrimSuffix(string(p), "\n")))
	return len(p), nil
}

// timedConsole prints each text so long after the one before; "= eof" ends it.
func timedConsole(every time.Duration, texts ...string) *timed {
	in, out := io.Pipe()
	go func() {
		for _, text := range texts {
			time.Sleep(every)
			if text == "= eof" {
				_ = out.Close()
				return
			}
			if _, err := io.WriteString(out, text); err != nil {
				return
			}
		}
	}()
	return &timed{PipeReader: in, begun: time.Now()}
}

// TestAsksAgain: hello is asked after 2 s, 4 s and 8 s again, until 20 s are over.
func TestAsksAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := timedConsole(time.Second)
		s := newSession(c, Limits{})
		defer s.Close()
		_, err := s.Hello(t.Context())
		if took := time.Since(c.begun); !outcomeIs(err, NoConsole) || took != 20*time.Second || !strings.Contains(err.Error(), "no hello within 20s") {
			t.Errorf("%v after %v", err, took)
		}
		if got := strings.Join(c.sent, ", "); got != "0s: 1 hello, 2s: 2 hello, 6s: 3 hello, 14s: 4 hello" {
			t.Errorf("it was sent %s", got)
		}
	})
}

// TestPatience: how long each silence is waited for, and what is said of it.
func TestPatience(t *testing.T) {
	const noise = "still here\n"
	for _, c := range []struct {
		name  string
		every time.Duration
		lines []string
		took  time.Duration
		want  string
	}{
		{"does not begin", 0, nil, 20 * time.Second, "no line for 20s"},
		{"noise, and does not begin", 5 * time.Second, []string{noise, noise}, 30 * time.Second, "no line for 20s"},
		{"begins", time.Second, []string{framed("@1 ~ 1 begin run x")}, 61 * time.Second, "no line for 1m0s"},
		{"panics", time.Second / 2, []string{"panic: x\n", noise, noise}, 5 * time.Second / 2, "panic: x"},
		{"panics twice", time.Second / 2, []string{"panic: x\n", "fatal error: out of memory\n"}, 2 * time.Second, "panic: x"},
		{"has no memory", time.Second / 2, []string{"fatal error: out of memory\n", "panic: x\n"}, 2 * time.Second, "out of memory"},
		{"panics and goes on in time", 9 * time.Second / 10, []string{"panic: x\n", noise, noise, noise}, 46 * time.Second / 10, "panic: x"},
		{"a line is lost", time.Second, []string{framed("@1 ~ 1 begin run x"), framed("@3 ~ 1 note y"), framed("@4 ~ 1 end run x ok")}, 3 * time.Second, "1 lines before number 3"},
		{"a line is lost before it began", time.Second, []string{framed("@1 ~ 0 note z"), framed("@3 ~ 1 begin run x"), framed("@4 ~ 1 end run x ok")}, 3 * time.Second, ""},
		{"begins anew", time.Second, []string{framed("@1 ~ 0 note z"), framed("@1 ~ 0 note z")}, 2 * time.Second, "it began anew"},
		{"of another command", time.Second, []string{framed("@1 ~ 7 end run x ok"), framed("@2 ~ 1 begin run x"), framed("@3 ~ 1 end run x ok")}, 3 * time.Second, ""},
		{"understands another command", time.Second, []string{framed("@1 ~ 1 begin run y")}, time.Second, "has understood"},
		{"understands a part of it", time.Second, []string{framed("@1 ~ 1 begin run")}, time.Second, "has understood"},
		{"fails and says ok", time.Second, []string{framed("@1 ~ 1 begin run x"), framed("@2 ~ 1 fail why"), framed("@3 ~ 1 end run x ok")}, 3 * time.Second, "wrong result: why"},
		{"a line is damaged before it began", time.Second, []string{"@1 0000 z\n", framed("@2 ~ 1 begin run x"), framed("@3 ~ 1 end run x ok")}, 3 * time.Second, ""},
		{"two lines are damaged", time.Second, []string{framed("@1 ~ 1 begin run x"), "@2 0000 y\n", "@3 0000 z\n", framed("@4 ~ 1 end run x ok")}, 4 * time.Second, "on its way: @2 0000 y"},
		{"ends with a line that is damaged", time.Second, []string{framed("@1 ~ 1 begin run x"), "@2 0000 y\n", "= eof"}, 3 * time.Second, "on its way: @2 0000 y"},
		{"ends with its last words", time.Second / 4, []string{framed("@1 ~ 1 begin run x"), "@2 0000 y\n", "panic: z\n", "= eof"}, time.Second, "crashed: panic: z"},
		{"has no stack", time.Second, []string{framed("@1 ~ 1 begin run x"), "goroutine stack exceeds 1 MB\n"}, 3 * time.Second, "out of memory: goroutine stack"},
		{"talks on", 15 * time.Second, append([]string{framed("@1 ~ 1 begin run x")}, slices.Repeat([]string{noise}, 18)...), 5 * time.Minute, "did not end within 5m0s"},
		{"does not begin and talks on", 15 * time.Second, slices.Repeat([]string{noise}, 19), 5 * time.Minute, "did not end within 5m0s"},
		{"has no beginning", time.Second, []string{framed("@1 ~ 1 end run x ok")}, time.Second, "no beginning"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSession(timedConsole(c.every, c.lines...), Limits{})
			defer s.Close()
			begun := time.Now()
			_, err := s.Run(t.Context(), "x")
			if took := time.Since(begun); took != c.took || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v after %v, want %q after %v", c.name, err, took, c.want, c.took)
			}
			if e, _ := outcome(err); outcomeIs(err, Hung) && e.unbegun != strings.Contains(c.name, "does not begin") {
				t.Errorf("%s: it is said not to have begun: %t", c.name, e.unbegun)
			}
		})
	}
}

// TestPatienceOfALimit: a silence that is shorter than that for an answer counts from the start; a list
// may be as slow as an answer, and as long as a case.
func TestPatienceOfALimit(t *testing.T) {
	begin, entry, end := framed("@1 ~ 1 begin list"), framed("@2 ~ 1 case x 1"), framed("@3 ~ 1 end list ok")
	for _, c := range []struct {
		name  string
		lines []string
		took  time.Duration
		err   bool
	}{
		{"run", nil, 3 * time.Second, true},
		{"list", []string{begin, entry, end}, 45 * time.Second, false},
		{"list", []string{begin}, 35 * time.Second, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSession(timedConsole(15*time.Second, c.lines...), Limits{Silence: 3 * time.Second})
			defer s.Close()
			begun := time.Now()
			var err error
			if c.name == "run" {
				_, err = s.Run(t.Context(), "x")
			} else {
				_, err = s.List(t.Context())
			}
			if took := time.Since(begun); took != c.took || (err != nil) != c.err {
				t.Errorf("%s, %q: %v after %v, want %v", c.name, c.lines, err, took, c.took)
			}
		})
	}
}

// TestLastWords: what runtimes and chips say when a program ends.
func TestLastWords(t *testing.T) {
	for text, want := range map[string]Outcome{
		"mmap: Cannot allocate memory": OutOfMemory, "runtime: out of memory": OutOfMemory, "stack overflow": OutOfMemory, "goroutine stack exceeds 1 MB": OutOfMemory,
		"panic: x": Crashed, "fatal error: x": Crashed, "HardFault at 0x0": Crashed, "a hard fault": Crashed, "Unexpected interrupt 3": Crashed, "Segmentation fault": Crashed,
		"SIGSEGV": Crashed, "[SIGBUS: x]": Crashed, "SIGILL": Crashed, "SIGABRT": Crashed, "SIGFPE": Crashed,
		"SIGTERM": OK, "SIGILLS": OK, "no panic": OK, "a fault": OK, "memory": OK,
	} {
		words, got := lastWordsOf(" "+text+" "), OK
		if words != "" {
			got = (&Session{console: new(timed)}).ended("", words).Outcome
		}
		if got != want || got != OK && words != text {
			t.Errorf("%q: %s, %q", text, got, words)
		}
	}
}

// A deaf console cannot be written to any more.
type deaf struct{ *timed }

func (deaf) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestGone: of a program that has ended its first last words count, if they come within a second.
func TestGone(t *testing.T) {
	for _, c := range []struct {
		lines []string
		took  time.Duration
		want  string
	}{
		{[]string{framed("@1 ~ note panic: of an actor"), "panic: x\n", "panic: y\n", "= eof"}, 400 * time.Millisecond, "crashed: panic: x"},
		{[]string{"panic: x\n"}, time.Second, "crashed: panic: x"},
		{[]string{"fatal error: out of memory\n", "= eof"}, 200 * time.Millisecond, "out of memory: fatal error"},
		{[]string{"bye\n", "= eof"}, 200 * time.Millisecond, "no console: its console ended before run x did"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSession(deaf{timedConsole(100*time.Millisecond, c.lines...)}, Limits{})
			defer s.Close()
			begun := time.Now()
			_, err := s.Run(t.Context(), "x")
			if took := time.Since(begun); took != c.took || err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%q: %v after %v, want %q after %v", c.lines, err, took, c.want, c.took)
			}
		})
	}
}

// TestTranscript: the latest 30 lines are shown.
func TestTranscript(t *testing.T) {
	s := &Session{}
	for i := range 40 {
		s.note(line.Event{Kind: line.Noise, Text: fmt.Sprint(i)})
	}
	s.note(line.Event{Kind: line.Text, Seq: 7, Text: "x"})
	if got := strings.Split(s.transcript(), "\n"); len(got) != 30 || got[0] != "11" || got[29] != "@7 x" {
		t.Errorf("%d lines: %v", len(got), got)
	}
}

// TestSilentEnd: a program that has said a line of its own has crashed when it ends, and another one
// was none of the firmware's, however often it was asked.
func TestSilentEnd(t *testing.T) {
	for _, c := range []struct {
		every time.Duration
		lines []string
		want  string
	}{
		{time.Second, []string{framed("@1 ~ note x"), "= eof"}, "crashed: its console ended"},
		{5 * time.Second, []string{"= eof"}, "no console: its console ended"},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newSession(timedConsole(c.every, c.lines...), Limits{})
			defer s.Close()
			if _, err := s.Hello(t.Context()); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%q: %v, want %q", c.lines, err, c.want)
			}
		})
	}
}
