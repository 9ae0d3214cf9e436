package program

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/patience"
)

// TestMain lets this test binary play a program that speaks the protocol, as fakeVariable
// has it.
func TestMain(m *testing.M) {
	if script, ok := os.LookupEnv(fakeVariable); ok {
		os.Exit(play(script))
	}
	os.Exit(m.Run())
}

// fakeVariable has what a fake program does: parts with semicolons between them, each a
// command's word, a colon, and what is answered, in which {n} stands for the argument. The
// part list is printed for a listing, and hello is said at the beginning. A part that is
// "exit" ends the program, one that is "hang" keeps it from answering, and "ask" answers
// Variable's value, the arguments, and the folder.
const fakeVariable = "FAKE_PROGRAM"

func play(script string) int {
	answers := make(map[string]string)
	for part := range strings.SplitSeq(script, ";") {
		word, answer, _ := strings.Cut(part, ":")
		answers[word] = answer
	}
	if strings.HasPrefix(os.Getenv(Variable), listWord+" ") {
		fmt.Print(answers["list"])
		if answers["list"] == "exit" {
			return 5
		}
		leave(answers["leave"])
		return 0
	}
	out := os.NewFile(4, "answers")
	leave(answers["leave"])
	say := func(word, arg string) bool {
		answer, ok := answers[word]
		switch {
		case !ok:
			os.Stderr.WriteString("no answer to " + word)
			os.Exit(3)
		case answer == "hang":
			time.Sleep(time.Hour)
		case answer == "exit":
			return false
		case answer == "ask":
			dir, _ := os.Getwd()
			answer = fmt.Sprintf("refused\t%q", os.Getenv(Variable)+" | "+strings.Join(os.Args[1:], " ")+" | "+dir)
		}
		fmt.Fprintln(out, strings.ReplaceAll(answer, "{n}", arg))
		return true
	}
	if !say("hello", "") {
		return 0
	}
	commands := bufio.NewScanner(os.NewFile(3, "commands"))
	for commands.Scan() {
		word, arg, _ := strings.Cut(commands.Text(), " ")
		if !say(word, arg) || word == "finish" {
			return 0
		}
	}
	return 4
}

// leave starts a process in a session of its own, which has all files of this one, and writes
// its number to a file; none if that is "".
func leave(number string) {
	if number == "" {
		return
	}
	cmd := exec.Command("setsid", "sleep", "1000")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "commands"), os.NewFile(4, "answers")}
	if os.Getenv(Variable)[:len(listWord)+1] == listWord+" " {
		cmd.ExtraFiles = nil
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	if err := os.WriteFile(number, []byte(strconv.Itoa(cmd.Process.Pid)), 0o600); err != nil {
		panic(err)
	}
}

// least is the least that a program can do.
const least = "hello:hello\tsession;run:slice\t{n}\t{n}00;call:slice\t{n}\t{n}00;usage:usage;reset:reset;finish:result"

// fake starts a fake program.
func fake(t *testing.T, script string, more ...func(*Config)) (*Process, error) {
	t.Helper()
	if err := Supported(); err != nil {
		t.Skip(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := Config{Path: exe, Benchmark: "BenchmarkFake/impl=a", Env: []string{fakeVariable + "=" + script}}
	for _, f := range more {
		f(&c)
	}
	p, err := Start(t.Context(), c)
	if err == nil {
		t.Cleanup(func() { p.Close() })
	}
	return p, err
}

// A program that leaves out whatever may be left out is measured all the same.
func TestLeast(t *testing.T) {
	p, err := fake(t, least)
	if err != nil {
		t.Fatal(err)
	}
	if h := p.Hello(); h.Mode != ModeSession || h.Unit != 1 || h.Probe != 0 || h.Pid == 0 {
		t.Errorf("hello %+v", h)
	}
	for i, run := range []func(int) (Slice, error){p.Run, p.Call} {
		s, err := run(10)
		if err != nil || s.N != 10 || s.Elapsed != 1000 || s.CPU != 0 || !s.NoMemory || s.GCs != 0 || s.Extra != nil || s.Counters != nil {
			t.Errorf("slice %d: %+v, %v", i, s, err)
		}
	}
	if u, err := p.Usage(); u != (Usage{}) || err != nil {
		t.Errorf("usage %+v, %v", u, err)
	}
	if err := p.Reset(); err != nil {
		t.Error(err)
	}
	for range 3 {
		if _, err := p.Run(7); err != nil {
			t.Error(err)
		}
	}
	r, err := p.Finish()
	if err != nil || r.Line != "21\t100 ns/op" || r.Extra != nil || r.Resources != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// A program can say more, and of each field that it does not know it.
func TestEverything(t *testing.T) {
	p, err := fake(t, "hello:hello\trunN\t8\t1000\tz:later=1;run:slice\t{n}\t50\t60\t3\t4\t2\tx:MB/s=2.5\tc:faults=3\tz:later=1;"+
		"usage:usage\t-\t5\t-\t7\tz:later=1;reset:reset\tz:later=1;profile:profile;endprofile:profile\t\"no profiles here\";finish:result\tx:MB/s=2.5\tx:a=b=-1\tr:peak-rss-B=4096\tz:later=1")
	if err != nil {
		t.Fatal(err)
	}
	if h := p.Hello(); h.Mode != ModeRunN || h.Unit != 8 || h.Probe != 1000 {
		t.Errorf("hello %+v", h)
	}
	s, err := p.Run(16)
	if err != nil || s.Elapsed != 50 || s.CPU != 60 || s.Allocs != 3 || s.Bytes != 4 || s.NoMemory || s.GCs != 2 ||
		!maps.Equal(s.Extra, map[string]float64{"MB/s": 2.5}) || !maps.Equal(s.Counters, map[string]float64{"faults": 3}) {
		t.Errorf("%+v, %v", s, err)
	}
	if u, err := p.Usage(); err != nil || u != (Usage{GCCPU: 5, HeapGoal: 7}) {
		t.Errorf("%+v, %v", u, err)
	}
	if err := p.StartProfile(ProfileCPU, "a file"); err != nil {
		t.Error(err)
	}
	if err := p.EndProfile(); err == nil || !strings.Contains(err.Error(), "no profiles here") {
		t.Error(err)
	}
	r, err := p.Finish()
	if err != nil || r.Line != "16\t3.125 ns/op\t2.5 MB/s\t-1 a=b" || !maps.Equal(r.Resources, map[string]float64{ResourcePeakRSS: 4096}) {
		t.Errorf("%+v, %v", r, err)
	}
}

// An operation's time that the benchmark reports itself stands alone, a line that the
// program writes stays as it is, and without a slice there is no line.
func TestLines(t *testing.T) {
	for finish, want := range map[string]string{
		"result\tx:ns/op=5":                "4\t5 ns/op",
		"result\t\" 4\\t 9 ns/op\"\tx:a=1": "4\t 9 ns/op",
	} {
		p, err := fake(t, strings.Replace(least, "finish:result", "finish:"+finish, 1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Run(4); err != nil {
			t.Error(err)
		}
		if r, err := p.Finish(); err != nil || r.Line != want {
			t.Errorf("%q gives %q, %v, want %q", finish, r.Line, err, want)
		}
	}
	p, err := fake(t, least)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := p.Finish(); err != nil || r.Line != "" {
		t.Errorf("without a slice: %+v, %v", r, err)
	}
}

// What breaks the protocol is an error that says how, and ends it.
func TestViolations(t *testing.T) {
	for _, c := range []struct{ word, answer, want string }{
		{"hello", "hello", "unexpected EOF"},
		{"hello", "hello\tfast", `there is no mode "fast"`},
		{"hello", "hello\tsession\t0", "a unit of 0 operations"},
		{"hello", "hello\tsession\t1000000001", "a unit of 1000000001 operations"},
		{"hello", "hello\tsession\tmany", "invalid syntax"},
		{"hello", "hello\tsession\t1\t0\t7", `"7" is no value`},
		{"hello", "good morning", "when hello was due"},
		{"hello", "exit", "ended without running a benchmark"},
		{"run", "slice\t9\t100", "a slice of 9 operations, when 8 were due"},
		{"run", "slice\t{n}", "unexpected EOF"},
		{"run", "slice\t{n}\t-5", "invalid syntax"},
		{"run", "slice\t{n}\t9223372036854775808", "three hundred years"},
		{"run", "slice\t{n}\t5\tx:MB/s", `"x:MB/s" is no value`},
		{"run", "slice\t{n}\t5\tx:=3", `"x:=3" is no value`},
		{"run", "slice\t{n}\t5\tx:a b=3", `"x:a b=3" is no value`},
		{"run", "slice\t{n}\t5\tx:a=much", `"x:a=much" is no number`},
		{"run", "slice\t{n}\t5\t6\t7\t8\t9\t10", `"10" is no value`},
		{"run", "usage", "when slice was due"},
		{"run", "exit", "the benchmark or its package ended the process"},
		{"reset", "reset\tnow", `"now" is no value`},
		{"finish", "result\tunquoted", "invalid syntax"},

		{"hello", "refused\t\"too large\"", "not to be driven: too large"},
		{"hello", "refused", "not to be driven: no reason given"},
		{"run", "skipped\t\"needs AVX\\nand time\"", "skipped: needs AVX"},
		{"run", "skipped\t\"    a_test.go:12: not today\\n\"", "skipped: not today"},
		{"finish", "failed\t\"9 are not 10\"", "failed: 9 are not 10"},
		{"run", "failed", "failed: no reason given"},
		{"run", "failed\t\": is missing\"", "failed: : is missing"},
	} {
		t.Run(c.word+" "+c.answer, func(t *testing.T) {
			t.Parallel()
			script := least + ";" + c.word + ":" + c.answer
			p, err := fake(t, script)
			if err == nil && c.word != "hello" {
				if _, err = p.Run(8); err == nil {
					err = p.Reset()
				}
				if err == nil {
					_, err = p.Finish()
				}
				if _, again := p.Run(8); !errors.Is(again, err) {
					t.Errorf("a slice after the end: %v", again)
				}
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want %q", err, c.want)
			}
			if refusal := new(Refusal); errors.As(err, &refusal) != strings.HasPrefix(c.answer, saysRefused) {
				t.Errorf("error %T", err)
			}
		})
	}
}

// A program that does not answer in time is ended.
func TestHangs(t *testing.T) {
	patience.Try(t, time.Second, func(limit time.Duration) error {
		p, err := fake(t, least+";run:hang", func(c *Config) { c.Timeout = limit })
		if err != nil {
			return err
		}
		_, err = p.Run(8)
		if want := fmt.Sprintf("no answer after %v: hangs", limit); err == nil || !strings.HasPrefix(err.Error(), want) {
			return fmt.Errorf("error %w, want %q", err, want)
		}
		if _, again := p.Run(8); !errors.Is(again, err) {
			return fmt.Errorf("a slice after the end: %w", again)
		}
		return nil
	})
}

// A process that a program has started, and that has left the group, may have all pipes for as
// long as it likes: how the program has ended, and what it has answered, is known at once.
func TestLeft(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip(err)
	}
	leaving := func(t *testing.T) string {
		path := filepath.Join(t.TempDir(), "number")
		t.Cleanup(func() {
			text, err := os.ReadFile(path)
			pid, _ := strconv.Atoi(string(text))
			if err != nil || pid <= 0 {
				t.Errorf("no process was left: %q, %v", text, err)
				return
			}
			left, _ := os.FindProcess(pid)
			if err := left.Kill(); err != nil {
				t.Errorf("what was left has ended: %v", err)
			}
		})
		return ";leave:" + path
	}
	// No answer may take so long: it is not to be waited for.
	limit := func(c *Config) { c.Timeout = time.Minute }
	for _, c := range []struct{ name, script, want string }{
		{"ends", least + ";run:exit", "the benchmark or its package ended the process"},
		{"ends early", "hello:exit", "ended without running a benchmark"},
		{"fails", least + ";end:failed\t\"last words\"", "failed: last words"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, err := fake(t, c.script+leaving(t), limit)
			if err == nil && strings.Contains(c.script, ";end:") {
				// It answers, and has ended before it is asked anything.
				fmt.Fprint(p.in, "end\n")
				if err := p.in.Close(); err != nil {
					t.Error(err)
				}
				<-p.Done()
			}
			if err == nil {
				_, err = p.Run(8)
			}
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	t.Run("finishes", func(t *testing.T) {
		t.Parallel()
		p, err := fake(t, least+leaving(t), limit)
		if err == nil {
			_, err = p.Run(8)
		}
		if err != nil {
			t.Fatal(err)
		}
		if r, err := p.Finish(); err != nil || r.Line != "8\t100 ns/op" {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("lists", func(t *testing.T) {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		t.Setenv(fakeVariable, "list:BenchmarkA"+leaving(t))
		if l, err := List(t.Context(), exe, ".", nil, time.Minute); err != nil || !slices.Equal(l.Names, []string{"BenchmarkA"}) {
			t.Errorf("%+v, %v", l, err)
		}
	})
}

// A program is told what it is to do by its environment, arguments and folder.
func TestStarted(t *testing.T) {
	dir, err := os.MkdirTemp("/tmp", "started") // which os.Getwd names so
	if err != nil {
		t.Skip(err)
	}
	defer os.RemoveAll(dir)
	_, err = fake(t, "hello:ask", func(c *Config) {
		c.Dir, c.CPU, c.Slow, c.Counters, c.Args = dir, 3, 0.5, true, []string{"-a", "b"}
	})
	const want = "protocol=1 processors=3 slow=0.5 counters=true name=BenchmarkFake/impl=a | -a b | "
	var refusal *Refusal
	if !errors.As(err, &refusal) || !strings.HasPrefix(refusal.Reason, want) || !strings.HasSuffix(refusal.Reason, dir) {
		t.Errorf("it is told %v, want %s%s", err, want, dir)
	}
}

func TestList(t *testing.T) {
	if err := Supported(); err != nil {
		t.Skip(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	list := func(ctx context.Context, text string) (*Listing, error) {
		t.Setenv(fakeVariable, "list:"+text)
		return List(ctx, exe, "", nil, time.Minute)
	}
	l, err := list(t.Context(), "# a comment\n\npkg: example.com/c\nUnit MB/s better=higher\nBenchmarkHash/impl=a\r\nBenchmarkHash/impl=b\n")
	if err != nil || l.Pkg != "example.com/c" || !slices.Equal(l.Names, []string{"BenchmarkHash/impl=a", "BenchmarkHash/impl=b"}) ||
		!slices.Equal(l.Units, []string{"MB/s better=higher"}) {
		t.Errorf("%+v, %v", l, err)
	}
	for text, want := range map[string]string{
		"":                         "it named none",
		"PASS\n":                   `it printed "PASS"`,
		"Benchmarked\n":            "does not speak the driving protocol",
		"BenchmarkA 1 2 ns/op\n":   "does not speak the driving protocol",
		"BenchmarkA\nBenchmarkA\n": "names BenchmarkA twice",
		"Unit x\nBenchmarkA\n":     "does not speak the driving protocol",
		"exit":                     "ended with exit status 5: exit",
	} {
		_, err := list(t.Context(), text)
		var f *Failure
		if err == nil || !strings.Contains(err.Error(), want) || !errors.As(err, &f) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := list(ctx, "BenchmarkA\n"); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if _, err := List(t.Context(), exe+".none", "", nil, time.Minute); err == nil || !strings.Contains(err.Error(), "does not start") {
		t.Errorf("no program: %v", err)
	}
}
