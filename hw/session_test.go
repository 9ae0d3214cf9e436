package hw

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/hw/firmware/line"
)

// A script is a conversation as a file of testdata/sessions has it. A line "< text" is
// what the host sends, and what follows is what the board then prints. In
// "@7 ~ text" the checksum is put in; any other line is printed as it is, and without a
// line feed if it ends with a backslash. "= eof" closes the console, "= babble" prints a
// line every second until it is closed.
type script struct {
	want    string // "outcome: beginning of what", or "ok", or "ok skipped: why"
	results int
	steps   []scriptStep // the first has no command
}

type scriptStep struct {
	command string
	output  []string
}

func readScript(t *testing.T, path string) *script {
	t.Helper()
	s := &script{steps: make([]scriptStep, 1)}
	for text := range strings.Lines(string(readFile(t, path))) {
		text = strings.TrimSuffix(text, "\n")
		if rest, ok := strings.CutPrefix(text, "# want: "); ok {
			s.want = rest
		} else if rest, ok := strings.CutPrefix(text, "# results: "); ok {
			s.results, _ = strconv.Atoi(rest)
		} else if strings.HasPrefix(text, "# ") {
			continue
		} else if command, ok := strings.CutPrefix(text, "< "); ok {
			s.steps = append(s.steps, scriptStep{command: command})
		} else {
			last := &s.steps[len(s.steps)-1]
			last.output = append(last.output, framed(text))
		}
	}
	if s.want == "" {
		t.Fatalf("%s says not what it wants", path)
	}
	return s
}

// framed returns a line of a script as it is printed.
func framed(text string) string {
	head, rest, ok := strings.Cut(text, " ~ ")
	if seq, err := strconv.ParseUint(strings.TrimPrefix(head, "@"), 10, 32); ok && err == nil && strings.HasPrefix(head, "@") {
		return string(line.Append(nil, uint32(seq), []byte(rest)))
	}
	if open, ok := strings.CutSuffix(text, `\`); ok {
		return open
	}
	return text + "\n"
}

// play plays a script on a console, and waits between lines that babble by sleep. It
// ignores commands that the script does not have next: a board would not answer either.
func (s *script) play(in io.ReadCloser, out io.WriteCloser, sleep func(time.Duration) bool) {
	defer in.Close() // there is no reader any more
	steps := s.steps
	say := func() bool {
		for _, text := range steps[0].output {
			switch text {
			case "= eof\n":
				out.Close()
				return false
			case "= babble\n":
				for sleep(time.Second) {
					if _, err := io.WriteString(out, "still alive\n"); err != nil {
						return false
					}
				}
				return false
			}
			if _, err := io.WriteString(out, text); err != nil {
				return false
			}
		}
		steps = steps[1:]
		return true
	}
	if !say() {
		return
	}
	var got strings.Builder
	buf := make([]byte, 1)
	for {
		if _, err := in.Read(buf); err != nil {
			return
		}
		if buf[0] != '\n' {
			got.WriteByte(buf[0])
			continue
		}
		if len(steps) > 0 && got.String() == steps[0].command && !say() {
			return
		}
		got.Reset()
	}
}

// A pipeConsole is a console in memory.
type pipeConsole struct {
	io.Reader
	io.Writer
	close func()
}

func (c *pipeConsole) Close() error {
	c.close()
	return nil
}

// console plays the script.
func (s *script) console() *pipeConsole {
	hostIn, boardOut := io.Pipe()
	boardIn, hostOut := io.Pipe()
	closed := make(chan struct{})
	var once sync.Once
	go s.play(boardIn, boardOut, func(d time.Duration) bool {
		select {
		case <-time.After(d):
			return true
		case <-closed:
			return false
		}
	})
	return &pipeConsole{hostIn, hostOut, func() {
		once.Do(func() {
			close(closed)
			hostIn.Close()
			hostOut.Close()
		})
	}}
}

const scriptCase = "bench/Actor/workload=pingpong/impl=serial"

// TestSessions: each way in which a conversation can go has its outcome, in bounded
// time.
func TestSessions(t *testing.T) {
	files, err := filepath.Glob("testdata/sessions/*.txt")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d scripts, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			s := readScript(t, file)
			synctest.Test(t, func(t *testing.T) { s.check(t) })
		})
	}
}

func (s *script) check(t *testing.T) {
	session := newSession(s.console(), Limits{})
	defer session.Close()
	begun := time.Now()
	var a *Answer
	_, err := session.Hello(t.Context())
	if err == nil {
		a, err = session.Run(t.Context(), scriptCase)
	}
	got := "ok"
	switch {
	case err != nil:
		got = err.Error()
	case a.Verdict == line.Skipped:
		got = "ok skipped: " + a.Why
	}
	if s.want == "ok" && got != "ok" || !strings.HasPrefix(got, s.want) {
		t.Errorf("%s\nwant %s\nof:\n%s", got, s.want, session.transcript())
	}
	results := 0
	if err == nil {
		results = len(a.Results)
	}
	if results != s.results {
		t.Errorf("%d results, want %d", results, s.results)
	}
	var e *Error
	if err != nil && errors.As(err, &e) && session.transcript() != "" && e.Output == "" {
		t.Error("the error does not show what the board has said")
	}
	most := 6 * time.Minute
	if outcomeIs(err, OutOfMemory) || outcomeIs(err, Crashed) {
		most = 5 * time.Second // who has said its last words is not waited for
	}
	if took := time.Since(begun); took > most {
		t.Errorf("took %v", took)
	}
}

// TestSessionEnds: a session that is not wanted any more ends at once, and leaves
// nothing behind: synctest would complain of a goroutine that is left.
func TestSessionEnds(t *testing.T) {
	s := readScript(t, "testdata/sessions/hung.txt")
	synctest.Test(t, func(t *testing.T) {
		session := newSession(s.console(), Limits{})
		defer session.Close()
		if _, err := session.Hello(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, errTooLong)
		defer cancel()
		begun := time.Now()
		if _, err := session.Run(ctx, scriptCase); !errors.Is(err, errTooLong) {
			t.Errorf("the error is %v", err)
		}
		if took := time.Since(begun); took != 10*time.Second {
			t.Errorf("it ended after %v", took)
		}
	})
}

// TestHelloUnasked: what a board says of itself when it begins is taken at once, and
// not asked for again, whatever it has read of the question.
func TestHelloUnasked(t *testing.T) {
	const hello = "hello dyno-firmware/1 board=toy"
	asked := &script{steps: []scriptStep{{}, {"1 hello", []string{framed("@2 ~ 1 begin hello"), framed("@3 ~ 1 " + hello), framed("@4 ~ 1 end hello ok")}}}}
	for s, want := range map[*script]string{readScript(t, "testdata/sessions/hello_unasked.txt"): "1 hello\n\n", asked: "1 hello\n"} {
		synctest.Test(t, func(t *testing.T) { s.hello(t, want) })
	}
}

// hello asks for a hello, which is there at once, and looks at what was sent for it.
func (s *script) hello(t *testing.T, want string) {
	console := s.console()
	var sent strings.Builder
	console.Writer = io.MultiWriter(&sent, console.Writer)
	session := newSession(console, Limits{})
	defer session.Close()
	begun := time.Now()
	h, err := session.Hello(t.Context())
	if took := time.Since(begun); err != nil || h.Board != "toy" || took != 0 {
		t.Errorf("%+v, %v after %v", h, err, took)
	}
	if sent.String() != want {
		t.Errorf("it was sent %q", sent.String())
	}
}

// TestLimits: the limits that are given are those that count.
func TestLimits(t *testing.T) {
	for file, want := range map[string]time.Duration{"hung": 3 * time.Second, "hung_talking": 7 * time.Second} {
		s := readScript(t, "testdata/sessions/"+file+".txt")
		synctest.Test(t, func(t *testing.T) {
			session := newSession(s.console(), Limits{Silence: 3 * time.Second, Case: 7 * time.Second})
			defer session.Close()
			if _, err := session.Hello(t.Context()); err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			_, err := session.Run(t.Context(), scriptCase)
			if took := time.Since(begun); !outcomeIs(err, Hung) || took != want {
				t.Errorf("%s: %v after %v, want %v", file, err, took, want)
			}
		})
	}
}

// TestList reads a list, and one that is none.
func TestList(t *testing.T) {
	for entry, want := range map[string]string{
		"case bench/Actor/workload=pingpong/impl=serial 1000": "",
		"case conform/group/go-nil 0 skipped needs Goexit":    "",
		"case without a number":                               "wrong result",
		"something else":                                      "wrong result",
	} {
		s := &script{steps: []scriptStep{{}, {"1 list", []string{framed("@1 ~ 1 begin list"), framed("@2 ~ 1 " + entry), framed("@3 ~ 1 end list ok")}}}}
		synctest.Test(t, func(t *testing.T) {
			session := newSession(s.console(), Limits{})
			defer session.Close()
			all, err := session.List(t.Context())
			switch {
			case want == "" && (err != nil || len(all) != 1 || all[0].Name == ""):
				t.Errorf("%q: %+v, %v", entry, all, err)
			case want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)):
				t.Errorf("%q: %v, want %q", entry, err, want)
			}
		})
	}
}

// TestSessionIsPrintable: what a board prints for a terminal, and not for its reader,
// arrives nowhere as that: not in what has gone wrong, and not in an answer.
func TestSessionIsPrintable(t *testing.T) {
	sum := func(text string) string {
		return fmt.Sprintf("@%c %04x %s\n", text[0], line.Sum(0xffff, []byte(text)), text[2:])
	}
	s := &script{steps: []scriptStep{{}, {"1 run " + scriptCase, []string{
		"\x1b]0;owned\a\x00\n", sum("1 1 begin run " + scriptCase), sum("2 1 note \x1b[2J"), sum("3 1 fail \x1b[8m"), sum("4 1 end run " + scriptCase + " failed"),
	}}}}
	synctest.Test(t, func(t *testing.T) {
		session := newSession(s.console(), Limits{})
		defer session.Close()
		a, err := session.Run(t.Context(), scriptCase)
		wantOutcome(t, err, WrongResult, `\x1b[8m`)
		var e *Error
		if errors.As(err, &e) && (strings.ContainsAny(e.Error()+e.Output, "\x1b\a\x00") || !strings.Contains(e.Output, `\x1b]0;owned\a\x00`)) {
			t.Errorf("%q\n%q", e, e.Output)
		}
		if a == nil || len(a.Notes) != 1 || a.Notes[0] != `\x1b[2J` {
			t.Errorf("%+v", a)
		}
	})
}
