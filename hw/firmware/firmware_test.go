package firmware_test

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/conformance"
	"github.com/dynolab/dyno/hw/firmware"
	"github.com/dynolab/dyno/hw/firmware/internal/porttest"
	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/measure"
)

var update = flag.Bool("update", false, "rewrite testdata/*.txt from what the firmware says; look at the differences before you commit them")

// board returns a board that has an end, and its port.
func board(in string) (firmware.Board, *porttest.Port) {
	port := &porttest.Port{In: in}
	return firmware.Board{
		Name: "fake", Chip: "lm3s6965", RAM: 64 << 10, Flash: 256 << 10, Emulated: true,
		Port: port, Clock: &porttest.Clock{Look: 10},
		Exit:     func(int) {},
		Platform: conformance.Platform{RuntimePanics: true},
	}, port
}

var build = firmware.Build{Commit: "6c1f0a42", Toolchain: "tinygo 0.41.0"}

// cases are some, one of each kind.
func cases(yield func(firmware.Case) bool) {
	for _, c := range []firmware.Case{
		{Part: "bench", Name: "X/impl=fake", Ops: 1000, Run: func(r *firmware.Report) error {
			r.Note("parts ", 1, " ", int64(2), " ", uint64(3), " ", 0.5, " ", true, " ", errors.New("an error"), " ", nil, " ", struct{}{})
			r.Result("X/impl=fake", measure.Figure{Ops: 1000, Ticks: 312_041, Extra: []measure.Metric{
				{Value: 95, Unit: "kept-%", Better: measure.Higher}, {Value: 7, Unit: "work", Better: measure.Neither},
			}})
			return nil
		}},
		{Part: "bench", Name: "Lossy/impl=fake", Ops: 10, Run: func(*firmware.Report) error {
			return errors.New("a message was lost\non the way")
		}},
		{Part: "bench", Name: "Mute/impl=fake", Ops: 10, Run: func(*firmware.Report) error { return errors.New("") }},
		{Part: "bench", Name: "Panics/impl=fake", Ops: 10, Run: func(*firmware.Report) error { panic("out of cheese") }},
		{Part: "conform", Name: "group/x", Skip: func(b *firmware.Board) string {
			if !b.Platform.Heap {
				return "needs Heap, which this platform does not have"
			}
			return ""
		}},
	} {
		if !yield(c) {
			return
		}
	}
}

// say runs the firmware on a board to which that is sent, and returns what it says,
// lines with their frames.
func say(in string, change ...func(b *firmware.Board)) string {
	b, port := board(in)
	for _, f := range change {
		f(&b)
	}
	firmware.Main(b, dyno.Impl{Name: "fake"}, build, cases)
	return port.Out.String()
}

// ramFree is what is different each time.
var ramFree = regexp.MustCompile(`^@(\d+) [0-9a-f]{4} (.* ram-free=)\d+( .*)$`)

// TestTranscripts compares what a board says with what it said before. The part of
// the host is in the file, too: lines that begin with "> " as Go strings.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			old, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var in, head strings.Builder
			for l := range strings.Lines(string(old)) {
				if sent, ok := strings.CutPrefix(l, "> "); ok {
					in.WriteString(unquote(t, strings.TrimSpace(sent)))
				} else if !strings.HasPrefix(l, "#") {
					continue
				}
				head.WriteString(l)
			}
			got := head.String()
			for l := range strings.Lines(say(in.String())) {
				// The checksum of a line with the free memory is that of another line.
				got += ramFree.ReplaceAllString(strings.TrimSuffix(l, "\n"), "@$1 .... ${2}…$3") + "\n"
				if _, _, err := line.Parse(strings.TrimSuffix(l, "\n")); err != nil {
					t.Errorf("%q: %v", l, err)
				}
			}
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(old) {
				t.Errorf("the board says\n%s\nwant\n%s\n(go test ./hw/firmware -update writes it)", got, old)
			}
		})
	}
}

// unquote reads what stands between quotes in a transcript.
func unquote(t *testing.T, s string) string {
	t.Helper()
	r := strings.NewReplacer(`\r`, "\r", `\n`, "\n", `\0`, "\x00", `\x80`, "\x80", `\xff`, "\xff", `\a`, "\a")
	if len(s) < 2 || s[0] != '"' || s[len(s)-1] != '"' {
		t.Fatalf("%q: what is sent stands between quotes", s)
	}
	return r.Replace(s[1 : len(s)-1])
}

// Commands that are cut into pieces, that have CR LF, or empty lines and garbage
// around them, are the same commands.
func TestCommandsHoweverTheyCome(t *testing.T) {
	want := porttest.Texts(t, say("3 run bench/X/impl=fake\nquit\n"))[1:]
	for name, in := range map[string]string{
		"in pieces":       "3\x00 r\x00\x00un bench/X/im\x00pl=fake\x00\nqu\x00it\n",
		"CR LF":           "3 run bench/X/impl=fake\r\nquit\r\n",
		"CR":              "3 run bench/X/impl=fake\rquit\r",
		"empty lines":     "\n\n\r\n3 run bench/X/impl=fake\n\nquit\n",
		"spaces":          "  3 run   bench/X/impl=fake  \n quit \n",
		"the line's hum":  "\xff\xf0\x003 run bench/X/impl=fake\x80\nquit\n",
		"a bell, a break": "\a\x01\n3 run bench/X/impl=fake\nquit\n",
	} {
		got := porttest.Texts(t, say(in))[1:]
		if name == "spaces" { // the echo says what has come
			for i := range got {
				got[i] = strings.Replace(got[i], "run   bench", "run bench", 1)
			}
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// A number that comes again is an echo, and the case is not run again; without a number
// it is.
func TestRepeatedRequests(t *testing.T) {
	for in, want := range map[string]int{
		"3 run bench/X/impl=fake\n3 run bench/X/impl=fake\n":          1,
		"3 run bench/X/impl=fake\n4 run bench/X/impl=fake\n":          2,
		"3 run bench/X/impl=fake\n4 hello\n3 run bench/X/impl=fake\n": 2,
		"3 run bench/X/impl=fake\nhello\n3 run bench/X/impl=fake\n":   2,
		"4 hello\n3 run bench/X/impl=fake\n3 run bench/X/impl=fake\n": 1,
		"run bench/X/impl=fake\nrun bench/X/impl=fake\n":              2,
		"3 run bench/X/impl=fake\n3 hello\n":                          1,
	} {
		said := say(in)
		if got := strings.Count(said, "result "); got != want {
			t.Errorf("%q: %d results, want %d:\n%s", in, got, want, said)
		}
	}
}

// A case begins with a collected heap and then when the board says, and what it leaves is collected.
func TestCasesBeginAlike(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var told []uint32
	collected := func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		told = append(told, m.NumGC)
	}
	b, _ := board("run bench/X\n")
	b.Align = collected
	firmware.Main(b, dyno.Impl{}, build, func(yield func(firmware.Case) bool) {
		yield(firmware.Case{
			Part: "bench", Name: "X",
			Skip: func(*firmware.Board) string { collected(); return "" },
			Run:  func(*firmware.Report) error { collected(); return nil },
		})
	})
	collected()
	if n := told[0]; !slices.Equal(told, []uint32{n, n + 1, n + 1, n + 2}) {
		t.Errorf("collections before, at its time, in the case and after it: %d", told)
	}
}

// What a case that fails has reported before is there, and the cases after it run.
func TestOthersRunAfterAFailure(t *testing.T) {
	said := say("run bench/Panics/impl=fake\nrun bench/Lossy/impl=fake\nrun bench/X/impl=fake\n")
	if strings.Count(said, "fail ") != 2 || strings.Count(said, "result ") != 1 || !strings.Contains(said, "fail panicked: out of cheese") {
		t.Errorf("the board says\n%s", said)
	}
}

// over is what a test panics with to end a board's program, which has no end.
type over struct{}

// A board has no end: it goes on reading when the host is gone. So the test ends it.
func TestBoardsHaveNoEnd(t *testing.T) {
	b, port := board("quit\n\x00hello\n")
	b.Exit = nil
	waited := 0
	b.Wait = func(ticks int64) {
		if ticks < 1 {
			t.Errorf("waits for %d ticks", ticks)
		}
		if waited++; waited > 20 {
			panic(over{})
		}
	}
	func() {
		defer func() {
			if v := recover(); v != any(over{}) {
				t.Errorf("Main ended: %v", v)
			}
		}()
		firmware.Main(b, dyno.Impl{}, build)
	}()
	said := port.Out.String()
	if !strings.Contains(said, "end quit skipped the program of this board has no end") || !strings.Contains(said, "end hello ok") {
		t.Errorf("the board says\n%s", said)
	}
}

// hangUp is a host that goes in the middle of a command, and comes again.
type hangUp struct {
	*porttest.Port
	again string
	over  func()
}

func (p *hangUp) Closed() bool {
	switch {
	case p.In != "":
		return false
	case p.again == "":
		p.over()
	}
	p.In, p.again = p.again, ""
	return true
}

// A command may have 200 bytes. A longer one is ignored, whatever it is, and the next is
// none the worse for it.
func TestLongCommands(t *testing.T) {
	longest := "run " + strings.Repeat("x", 196)
	said := porttest.Texts(t, say(longest+"\n"+longest+"y\nquit\n"))[1:]
	want := []string{
		"begin " + longest, "fail no such case: list shows those there are", "end " + longest + " failed",
		"fail a command of more than 200 bytes was ignored: a line feed is missing, or that is no command",
		"begin quit", "end quit ok",
	}
	if strings.Join(said, "\n") != strings.Join(want, "\n") {
		t.Errorf("the board says\n%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
	}
}

// A clock whose ticks are long is waited for, too: a wait for no tick at all would never
// end.
func TestSlowClocksPass(t *testing.T) {
	b, _ := board("\x00\x00quit\n")
	b.Clock = slowClock{b.Clock}
	waited := 0
	b.Wait = func(ticks int64) {
		if waited++; ticks != 1 {
			t.Errorf("waits for %d ticks of a hundredth of a second", ticks)
		}
	}
	firmware.Main(b, dyno.Impl{}, build)
	if waited != 2 {
		t.Errorf("waited %d times", waited)
	}
}

// slowClock has a hundred ticks a second.
type slowClock struct{ measure.Clock }

func (slowClock) Hz() float64 { return 100 }

// Half a command of a host that has gone is no part of what the next one says.
func TestHalfACommandIsForgotten(t *testing.T) {
	for _, half := range []string{"1 run bench/X", strings.Repeat("x", 300)} {
		b, port := board(half)
		b.Exit = nil
		b.Port = &hangUp{Port: port, again: "2 hello\n", over: func() { panic(over{}) }}
		func() {
			defer func() {
				if v := recover(); v != any(over{}) {
					t.Errorf("Main ended: %v", v)
				}
			}()
			firmware.Main(b, dyno.Impl{}, build)
		}()
		if said := porttest.Texts(t, port.Out.String()); said[1] != "2 begin hello" || said[len(said)-1] != "2 end hello ok" {
			t.Errorf("after %q the board says %q", half, said)
		}
	}
}

func TestReset(t *testing.T) {
	b, port := board("5 reset\nhello\n")
	b.Reset = func() { panic(over{}) }
	func() {
		defer func() {
			if v := recover(); v != any(over{}) {
				t.Errorf("no reset: %v", v)
			}
		}()
		firmware.Main(b, dyno.Impl{}, build)
	}()
	if said := porttest.Texts(t, port.Out.String()); said[len(said)-1] != "5 end reset ok" {
		t.Errorf("the board says %q, and is reset", said)
	}
	if said := say("reset\n"); !strings.Contains(said, "end reset skipped this board is reset by its host") {
		t.Errorf("a board that cannot reset itself says\n%s", said)
	}
}

func TestExit(t *testing.T) {
	for _, in := range []string{"quit\n", "", "hello\nqui"} {
		codes := []int(nil)
		say(in, func(b *firmware.Board) { b.Exit = func(code int) { codes = append(codes, code) } })
		if len(codes) != 1 || codes[0] != 0 {
			t.Errorf("%q: ends with %v, want once and with 0", in, codes)
		}
	}
}

// Lines are sent without allocating: they are sent in the middle of what is measured.
func TestLinesAllocateNothing(t *testing.T) {
	b, port := board("run bench/Lines\n")
	port.Out.Grow(1 << 20)
	allocs := -1.0 // the case was not run
	firmware.Main(b, dyno.Impl{}, build, func(yield func(firmware.Case) bool) {
		yield(firmware.Case{Part: "bench", Name: "Lines", Run: func(r *firmware.Report) error {
			f := measure.Figure{Ops: 1000, Ticks: 312_041}
			allocs = testing.AllocsPerRun(100, func() { r.Result("X/impl=fake", f) })
			return nil
		}})
	})
	if allocs != 0 {
		t.Errorf("%v allocations a line, want none", allocs)
	}
}
