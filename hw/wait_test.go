package hw

import (
	"fmt"
	"io"
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

// timedConsole prints each text so long after the one before.
func timedConsole(every time.Duration, texts ...string) *timed {
	in, out := io.Pipe()
	go func() {
		for _, text := range texts {
			time.Sleep(every)
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
