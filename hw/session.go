package hw

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/console"
)

// Limits say how long a board may take. A zero means the default.
type Limits struct {
	// Answer is for a board to answer at all; 20 s by default, which is long for a
	// board and not for an emulator on a busy machine.
	Answer time.Duration
	// Silence is the longest time without a line while a case runs; 60 s by default.
	Silence time.Duration
	// Case is the longest time for a whole case; 5 minutes by default.
	Case time.Duration
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Answer: cmp.Or(l.Answer, 20*time.Second), Silence: cmp.Or(l.Silence, time.Minute), Case: cmp.Or(l.Case, 5*time.Minute),
	}
}

// lastWords is how long it is waited for more after a board has printed that it
// panics: there will be no end of the case, but perhaps a reason.
const lastWords = time.Second

// transcriptLines is how many lines of what a board has printed an error shows.
const transcriptLines = 30

// A Session is a conversation with the firmware on a console. One goroutine uses it.
type Session struct {
	console io.ReadWriteCloser
	limits  Limits
	events  chan line.Event // with room, so that a board that talks does not wait for one that is spoken to
	done    chan struct{}   // closed when the session is
	closing sync.Once

	request uint32
	last    []string // the latest lines, as they came
	started bool     // a line of the firmware has come
}

// newSession begins a session. The console is closed with it.
func newSession(console io.ReadWriteCloser, limits Limits) *Session {
	s := &Session{console: console, limits: limits.withDefaults(), events: make(chan line.Event, 1024), done: make(chan struct{})}
	go s.read()
	return s
}

// read passes on what comes from the console until that ends.
func (s *Session) read() {
	defer close(s.events)
	pass := func(e line.Event) {
		// Here, and so everywhere: in errors, on terminals and in results.
		e.Text = console.Printable(e.Text)
		select {
		case s.events <- e:
		case <-s.done:
		}
	}
	var d line.Decoder
	buf := make([]byte, 4096)
	for {
		n, err := s.console.Read(buf)
		d.Feed(buf[:n], pass)
		if err != nil {
			d.Flush(pass)
			return
		}
	}
}

// Close ends the session and closes its console.
func (s *Session) Close() error {
	s.closing.Do(func() { close(s.done) })
	return s.console.Close()
}

// transcript returns the latest lines that the board has printed, as they came, with
// their frames.
func (s *Session) transcript() string { return strings.Join(s.last, "\n") }

// An Answer is what a board has answered to a command.
type Answer struct {
	// Results are lines of the Go benchmark format, Units say of units in them which way
	// they are better ("p50-ns better=lower"), Notes are for people, and Fails are reasons
	// why there is no result.
	Results, Units, Notes, Fails []string
	// Others are lines of other kinds, such as the entries of a list.
	Others []string

	Verdict line.Verdict
	Why     string // of a skip
}

// firstTry is how long the first hello is waited for. What is sent before the board
// has set up its port is lost, so it is asked again, and waited for longer.
const firstTry = 2 * time.Second

// Hello asks the board who it is, or takes what it says unasked when it begins. An
// answer that is none has the outcome NoConsole.
func (s *Session) Hello(ctx context.Context) (line.Hello, error) {
	a, err := new(Answer), error(nil)
	for try, waited := firstTry, time.Duration(0); ; try *= 2 {
		try = min(try, s.limits.Answer-waited)
		a, err = s.command(ctx, "hello", try, try)
		if waited += try; err == nil || !outcomeIs(err, Hung) {
			break
		}
		if waited >= s.limits.Answer {
			return line.Hello{}, s.fail(NoConsole, "no hello within "+s.limits.Answer.String(), nil)
		}
	}
	if err != nil {
		return line.Hello{}, err
	}
	for _, text := range a.Others {
		if strings.HasPrefix(text, helloPrefix) {
			h, err := line.ParseHello(text)
			if err != nil {
				return h, s.fail(NoConsole, "the board's hello is not understood", err)
			}
			return h, nil
		}
	}
	return line.Hello{}, s.fail(NoConsole, "the answer to hello has no hello", nil)
}

// helloPrefix begins the line that says who a board is.
const helloPrefix = "hello "

// List asks the board for its cases.
func (s *Session) List(ctx context.Context) ([]line.Listed, error) {
	a, err := s.command(ctx, "list", s.limits.Answer, s.limits.Case)
	if err != nil {
		return nil, err
	}
	var all []line.Listed
	for _, text := range a.Others {
		c, ok := line.ParseListed(text)
		if !ok {
			return nil, s.fail(WrongResult, fmt.Sprintf("the board's list has the entry %q", text), nil)
		}
		all = append(all, c)
	}
	return all, nil
}

// Run has the board run a case. A case that fails has the outcome WrongResult, or
// OutOfMemory if it says so; the answer is returned with it. A skip is no error.
func (s *Session) Run(ctx context.Context, name string) (*Answer, error) {
	a, err := s.command(ctx, "run "+name, s.limits.Silence, s.limits.Case)
	if err != nil {
		return a, err
	}
	reason := strings.Join(a.Fails, "; ")
	switch {
	case a.Verdict == line.Skipped:
		return a, nil
	case a.Verdict == line.OK && reason == "":
		return a, nil
	case reason == "":
		reason = "it failed and does not say why"
	case exhausted.MatchString(reason):
		return a, s.fail(OutOfMemory, reason, nil)
	case strings.HasPrefix(reason, panickedPrefix):
		return a, s.fail(Crashed, reason, nil)
	}
	return a, s.fail(WrongResult, reason, nil)
}

// panickedPrefix is how the firmware begins the reason of a case that panicked and
// could be recovered.
const panickedPrefix = "panicked: "

var (
	// exhausted is what runtimes say when there is no memory, or no stack, left.
	exhausted = regexp.MustCompile(`(?i)out of memory|cannot allocate memory|stack overflow|stack exceeds`)
	// panicked is how the last words of a program begin, Go's, TinyGo's and the
	// hardware's.
	panicked = regexp.MustCompile(`(?i)panic: |fatal error: |hard ?fault|unexpected interrupt|SIG(SEGV|BUS|ILL|ABRT|FPE)\b|segmentation fault`)
)

// command sends a command and waits for the answer's end. silence is how long no line
// may come, total for how long the answer may last.
func (s *Session) command(ctx context.Context, command string, silence, total time.Duration) (*Answer, error) {
	s.request++
	if _, err := s.console.Write(line.AppendCommand(nil, s.request, command)); err != nil {
		// The other end is closed. Why is in what it has said.
		return nil, s.ended("its console ended before "+command+" did", s.drain(ctx))
	}
	a, began, words := new(Answer), false, ""
	patience := func() time.Duration {
		if began {
			return silence
		}
		return min(silence, s.limits.Answer)
	}
	whole := time.NewTimer(total)
	defer whole.Stop()
	quiet := time.NewTimer(patience())
	defer quiet.Stop()
	var damage error // the first damaged line
	for {
		select {
		case e, ok := <-s.events:
			if !ok {
				if words == "" && damage != nil {
					return nil, damage // a process that ends in the middle of a line
				}
				return nil, s.ended("its console ended before "+command+" did", words)
			}
			s.note(e)
			if words == "" {
				quiet.Reset(patience())
			} else {
				quiet.Reset(lastWords)
			}
			if e.Kind != line.Text {
				if w := lastWordsOf(e.Text); w != "" && words == "" {
					words = w
					quiet.Reset(lastWords)
				}
				if e.Kind == line.Corrupt && began && damage == nil {
					damage = s.fail(CorruptedLine, "a line was damaged on its way: "+e.Text, e.Err)
				}
				continue
			}
			restarted := e.Restart && s.started
			s.started = true
			if e.Repeated {
				continue // it was counted when it came first
			}
			n, text := line.SplitRequest(e.Text)
			if restarted {
				return nil, s.ended("it began anew while it was to "+command, words)
			}
			if e.Lost > 0 && began && damage == nil {
				damage = s.fail(CorruptedLine, fmt.Sprintf("%d lines before number %d did not arrive", e.Lost, e.Seq), nil)
			}
			if n == 0 && command == "hello" && strings.HasPrefix(text, helloPrefix) {
				// It has just begun, so that it may not have read the command, or only
				// its end. An empty line ends what it may have read, which would else
				// be the beginning of the next command.
				if _, err := s.console.Write([]byte("\n")); err != nil {
					return nil, s.ended("its console ended after it said hello", s.drain(ctx))
				}
				a.take(text)
				return a, nil
			}
			if n != s.request {
				continue // of a command before, or unasked
			}
			if rest, ok := strings.CutPrefix(text, line.BeginPrefix); ok {
				if rest != command {
					return nil, s.fail(CorruptedLine, fmt.Sprintf("the board has understood %q instead of %q", rest, command), nil)
				}
				began = true
				quiet.Reset(silence)
				continue
			}
			if !began {
				damage = s.fail(CorruptedLine, "the answer has no beginning", nil)
				began = true
			}
			if end, ok := line.ParseEnd(text, command); ok {
				a.Verdict, a.Why = end.Verdict, end.Why
				return a, damage
			}
			a.take(text)
		case <-quiet.C:
			switch {
			case words != "":
				return nil, s.ended("it ended in the middle of "+command, words)
			case damage != nil:
				return nil, damage // the end may be among what was lost
			}
			return nil, s.hung(fmt.Sprintf("no line for %v in the middle of %s", patience(), command), began)
		case <-whole.C:
			return nil, s.hung(fmt.Sprintf("%s did not end within %v", command, total), began)
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// take sorts a line of an answer.
func (a *Answer) take(text string) {
	for _, kind := range []struct {
		prefix string
		lines  *[]string
	}{{line.ResultPrefix, &a.Results}, {line.UnitPrefix, &a.Units}, {line.NotePrefix, &a.Notes}, {line.FailPrefix, &a.Fails}} {
		if rest, ok := strings.CutPrefix(text, kind.prefix); ok {
			*kind.lines = append(*kind.lines, rest)
			return
		}
	}
	a.Others = append(a.Others, text)
}

// note keeps a line for the transcript.
func (s *Session) note(e line.Event) {
	text := e.Text
	if e.Kind == line.Text {
		text = "@" + strconv.FormatUint(uint64(e.Seq), 10) + " " + text
	}
	if s.last = append(s.last, text); len(s.last) > transcriptLines {
		s.last = s.last[1:]
	}
}

// drain reads on until the console ends, or for lastWords, and returns what the
// program said of its end, "" if nothing.
func (s *Session) drain(ctx context.Context) (words string) {
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	for {
		select {
		case e, ok := <-s.events:
			if !ok {
				return words
			}
			s.note(e)
			if w := lastWordsOf(e.Text); e.Kind != line.Text && words == "" {
				words = w
			}
		case <-timer.C:
			return words
		case <-ctx.Done():
			return words
		}
	}
}

// lastWordsOf returns what of a line are a program's last words, "" if none of it.
func lastWordsOf(text string) string {
	if panicked.MatchString(text) || exhausted.MatchString(text) {
		return strings.TrimSpace(text)
	}
	return ""
}

// ended is the error of a program that is not there any more; words are what it said
// last.
func (s *Session) ended(what, words string) *Error {
	if words == "" {
		if p, ok := s.console.(interface{ how() string }); ok {
			what += " (" + p.how() + ")"
		}
		if !s.started {
			return s.fail(NoConsole, what, nil)
		}
		return s.fail(Crashed, what, nil)
	}
	if exhausted.MatchString(words) {
		return s.fail(OutOfMemory, words, nil)
	}
	return s.fail(Crashed, words, nil)
}

// hung is the error of a board that has stopped talking, having begun to carry out the
// command or not.
func (s *Session) hung(what string, began bool) *Error {
	e := s.fail(Hung, what, nil)
	e.unbegun = !began
	return e
}

// fail makes an error that shows what the board has said last.
func (s *Session) fail(o Outcome, what string, err error) *Error {
	return &Error{Outcome: o, What: what, Output: s.transcript(), Err: err}
}
