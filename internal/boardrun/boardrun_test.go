package boardrun

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/report"
)

func TestRoom(t *testing.T) {
	for _, c := range []struct {
		used, limit int64
		want        string
	}{
		{10, 0, "10 bytes, of which there is no limit"},
		{16, 64, "16 of 64 bytes, 48 left (75 %)"},
		{64, 64, "64 of 64 bytes, 0 left (0 %)"},
		{65, 64, "65 of 64 bytes, 1 too many"},
	} {
		if got := room(c.used, c.limit); got != c.want {
			t.Errorf("%d of %d: %q, want %q", c.used, c.limit, got, c.want)
		}
	}
	for n, want := range map[int64]string{0: "-", 65536: "64 KiB", 2 << 20: "2 MiB", 1000: "1000 B", 1500: "1500 B"} {
		if got := memory(n); got != want {
			t.Errorf("%d bytes are %q, want %q", n, got, want)
		}
	}
}

// An error about a board is told with what was printed and a hint, and has an outcome; any
// other error is passed on.
func TestTell(t *testing.T) {
	var b bytes.Buffer
	long := strings.Repeat("stack\n", 100)
	o, err := Tell(&b, fmt.Errorf("around it: %w", &hw.Error{Outcome: hw.TooBig, What: "it is large", Output: long, Do: "make it small"}))
	if o != hw.TooBig || err != nil {
		t.Errorf("%v, %v", o, err)
	}
	want := "benchrun: too big: it is large\n" + strings.Repeat("    stack\n", 39) + "    … (61 more lines)\nhint: make it small\n"
	if b.String() != want {
		t.Errorf("told\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	_, _ = Tell(&b, &hw.Error{Outcome: hw.TooBig, Output: strings.Repeat("stack\n", 40)})
	if strings.Count(b.String(), "    stack\n") != 40 {
		t.Errorf("of 40 lines it told\n%s", b.String())
	}
	b.Reset()
	_, _ = Tell(&b, &hw.Error{Outcome: hw.FlashFailed, What: "it said \x1b[2J", Output: "\x1b]0;owned\a", Do: "see"})
	if want := "benchrun: flash failed: it said \\x1b[2J\n    \\x1b]0;owned\\a\nhint: see\n"; b.String() != want {
		t.Errorf("told %q, want %q", b.String(), want)
	}
	other := errors.New("no space left")
	b.Reset()
	if o, err := Tell(&b, other); o != hw.OK || err != other {
		t.Errorf("another error became %v, %v", o, err)
	}
	if o, err := Tell(&b, Ended(hw.Hung)); o != hw.Hung || err != nil || b.Len() > 0 {
		t.Errorf("what was said already became %v, %v, and said %q", o, err, b.String())
	}
	if o, err := Tell(&b, nil); o != hw.OK || err != nil {
		t.Error(o, err)
	}
}

// What a board has printed is shown and not obeyed.
func TestProgressIsPrintable(t *testing.T) {
	var b bytes.Buffer
	p := &progress{con: console.New(&b, 0)}
	p.named = "conform/x"
	p.Done(hw.CaseResult{Case: "conform/x", Outcome: hw.Crashed, Err: &hw.Error{Outcome: hw.Crashed, What: "\x1b[8m", Output: "\x1b[2J"}})
	if want := "  conform/x: crashed: \\x1b[8m\n    \\x1b[2J\n"; b.String() != want {
		t.Errorf("said %q, want %q", b.String(), want)
	}
}

// On a terminal it says what runs, in a line that is cleared before anything else is
// said; clauses that pass are counted.
func TestProgress(t *testing.T) {
	d := hw.Device{Board: hw.Board{Name: "b", FlashNeeds: "press it"}, Entry: hw.Entry{ID: "left", Board: "b"}}
	im := &hw.Image{Board: d.Board, Impl: "serial", Parts: []string{"bench"}, Sizes: &hw.Sizes{}}
	for _, width := range []int{0, 30} {
		var b bytes.Buffer
		p := &progress{con: console.New(&b, width)}
		p.Build(d, "serial", []string{"bench", "conform/group"})
		p.Split(d, "serial", []string{"bench", "conform/group"}, errors.New("too big"))
		p.Build(d, "serial", []string{"bench"})
		p.Built(d, "serial", im, nil)
		p.Flash(d, im)
		p.Cases(d, im, line.Hello{Chip: "c", Clock: 1e6, Unit: "ns", RAMFree: 9}, 5)
		for i, r := range []hw.CaseResult{
			{Case: "conform/first"},
			{Case: "conform/second"},
			{Case: "bench/X/impl=serial", Answer: &hw.Answer{Results: []string{"BenchmarkX/impl=serial 1000 5 ns/op 0 B/op"}}},
			{Case: "conform/third", Skip: "needs more"},
			{Case: "conform/fourth"},
			{Case: "conform/fourth"},
		} {
			r.Impl, r.Block = "serial", 1+i/5
			p.Case(d, im, r.Case, r.Block)
			p.Done(r)
		}
		p.flush()
		running := func(s string) string {
			if width == 0 {
				return ""
			}
			return "\r\x1b[K" + s
		}
		want := "building b with serial, bench and conform/group\n  too big\n  so each part is an image of its own\n" +
			"building b with serial, bench\n  flash: 0 bytes, of which there is no limit\n  RAM:   0 bytes, of which there is no limit\n" +
			"flashing left with serial\n  (if it is not found: press it)\n" +
			"left with serial, bench, says hello: c, a clock of 1000000 ns a second, 9 bytes of heap free; 5 cases to run\n" +
			running("  1 of 5: conform/first with ") + running("  2 of 5: conform/second with") +
			running("  3 of 5: bench/X/impl=serial") + running("") + "  2 clauses passed (at case 3 of 5)\n  bench/X/impl=serial: 5 ns/op, 0 B/op\n" +
			running("  4 of 5: conform/third with ") + running("") + "  conform/third with serial: skipped: needs more\n" +
			running("  5 of 5: conform/fourth with") + running("") + "  1 clause passed (at case 5 of 5)\n" +
			running("  1 of 5: conform/fourth (tim") + running("") + "  1 clause passed (at case 1 of 5)\n"
		if b.String() != want {
			t.Errorf("width %d: said\n%q\nwant\n%q", width, b.String(), want)
		}
		if p.cases != 5 {
			t.Errorf("%d cases", p.cases)
		}
	}
}

// Where no terminal says what runs, clauses that pass are told from time to time.
func TestProgressOfClauses(t *testing.T) {
	im := &hw.Image{Impl: "serial"}
	for width, want := range map[int]int{0: 2, 80: 1} {
		var b bytes.Buffer
		p := &progress{con: console.New(&b, width)}
		p.Cases(hw.Device{}, im, line.Hello{}, mostUntold+1)
		for range mostUntold + 1 {
			p.Case(hw.Device{}, im, "conform/x", 1)
			p.Done(hw.CaseResult{Case: "conform/x"})
		}
		p.flush()
		if got := strings.Count(b.String(), " passed (at case "); got != want || !strings.HasSuffix(b.String(), fmt.Sprintf("(at case %d of %[1]d)\n", mostUntold+1)) {
			t.Errorf("width %d: told %d times, want %d:\n%q", width, got, want, b.String())
		}
	}
}

// The sum of clauses counts each implementation's by itself, and failures by what they
// are.
func TestSummary(t *testing.T) {
	var b bytes.Buffer
	d := hw.Device{Entry: hw.Entry{ID: "left"}}
	result := func(impl, name string, o hw.Outcome, skip string) hw.CaseResult {
		return hw.CaseResult{Device: d, Impl: impl, Case: name, Outcome: o, Skip: skip}
	}
	err := summary(&hw.Summary{Results: []hw.CaseResult{
		result("serial", "bench/a", hw.OK, ""), result("serial", "bench/b", hw.Hung, ""),
		result("serial", "conform/a", hw.OK, ""), result("serial", "conform/b", hw.OK, "needs Heap"),
		result("serial", "conform/c", hw.OutOfMemory, ""), result("serial", "conform/d", hw.OutOfMemory, ""), result("serial", "conform/e", hw.Hung, ""),
		result("channel", "bench/a", hw.OK, ""),
		result("channel", "", hw.TooBig, ""),
	}}).Text(&b, report.TextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := "board  implementation  figures  clauses passed  skipped  failed\n" +
		"left   serial          1        1               1        4       out of memory\n" +
		"left   channel         1        0               0        1       too big\n" +
		"\nclauses of left with serial: 1 passed, 1 skipped, 3 failed (1 hung, 2 out of memory)\n"
	if b.String() != want {
		t.Errorf("got\n%q\nwant\n%q", b.String(), want)
	}
}

// Cases that were there before a run was resumed count, so that the last one is the last.
func TestProgressResumed(t *testing.T) {
	im := &hw.Image{Impl: "serial"}
	var b bytes.Buffer
	p := &progress{con: console.New(&b, 0)}
	p.Cases(hw.Device{}, im, line.Hello{}, 2)
	for range 2 {
		p.Had(im, 1)
	}
	p.Had(im, 2)
	p.Case(hw.Device{}, im, "conform/x", 2)
	p.Done(hw.CaseResult{Case: "conform/x"})
	p.flush()
	if want := "  1 clause passed (at case 2 of 2)\n"; !strings.HasSuffix(b.String(), want) {
		t.Errorf("told %q, want %q", b.String(), want)
	}
}

// Of several boards that were interrupted, the one that ran can be gone on with, and
// those that were not reached are named.
func TestTellInterrupted(t *testing.T) {
	left := func(n int) *hw.Summary { return &hw.Summary{NotBegun: make([]hw.Device, n)} }
	begun := func(n int) *hw.Summary {
		s := left(n)
		s.Unfinished = "my results/x.bench"
		return s
	}
	const again = "interrupted; what was measured is kept. To go on:\n  benchrun board run "
	for _, tt := range []struct {
		names string
		hwmap string
		s     *hw.Summary
		want  string
	}{
		{"a", "", begun(0), again + "a --resume 'my results/x.bench'\n"},
		{"a", "", left(1), "interrupted before anything was measured\n"},
		{"a b c", "", begun(1), again + "b --resume 'my results/x.bench'\nnot begun: c\n"},
		{"a b c", "my map.yaml", begun(0), again + "c --map 'my map.yaml' --resume 'my results/x.bench'\n"},
		{"a b c", "", left(2), "not begun: b, c\n"},
		{"a b", "", left(2), "interrupted before anything was measured\n"},
	} {
		var b bytes.Buffer
		c := Command{Boards: strings.Fields(tt.names), Map: tt.hwmap, Con: console.New(&b, 0)}
		c.tellInterrupted(tt.s)
		if b.String() != tt.want {
			t.Errorf("%s: told\n%s\nwant\n%s", tt.names, b.String(), tt.want)
		}
	}
}

// What makes no sense is said before anything takes time.
func TestPlanRefuses(t *testing.T) {
	for _, tt := range []struct {
		boards, part string
		change       func(*RunOptions)
		want         string
	}{
		{"a", "bench", func(o *RunOptions) { o.Case = "(" }, "--case: "},
		{"a", "bench", func(o *RunOptions) { o.Count = 0 }, "--count is 0"},
		{"a", "bench", func(o *RunOptions) { o.Silence = 0 }, "--timeout and --silence"},
		{"a b", "bench", func(o *RunOptions) { o.Out = "x.bench" }, "--out is one file"},
		{"a b", "bench", func(o *RunOptions) { o.Resume = "x.bench" }, "which is of one board"},
		{"a", "bench", func(o *RunOptions) { o.Resume, o.Out = "x.bench", "y.bench" }, "goes on in its own file"},
		{"a", "brench", func(*RunOptions) {}, `--parts: no part "brench"`},
	} {
		c := Command{Boards: strings.Fields(tt.boards), Parts: []string{tt.part}}
		o := RunOptions{Count: 1, Timeout: 1, Silence: 1}
		tt.change(&o)
		if _, err := c.plan(&o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, want %q", err, tt.want)
		}
	}
}

// A list says what fits, what is connected and what is missing; what is to be installed is
// said once, with the boards that need it.
func TestListDoc(t *testing.T) {
	var b strings.Builder
	err := ListDoc([]Listed{
		{Name: "one", Chip: "c", RAM: 64 << 10, Flash: 1 << 20, Connect: []string{"left", "right"}, Fits: []string{"serial", "channel"}},
		{Name: "two", Chip: "c", Emulated: true, Unfit: map[string]string{"serial": "so"}, Missing: []string{"go is not on PATH", "qemu is not on PATH"}, Install: "QEMU"},
		{Name: "three", Chip: "c", Missing: []string{"qemu is not on PATH"}, Install: "QEMU"},
	}).Text(&b, report.TextOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := `board  chip  RAM     flash  kind      fits            connected   missing here
one    c     64 KiB  1 MiB  real      serial channel  left right  nothing
two    c     -       -      emulated  none            -           go is not on PATH; qemu is not on PATH
three  c     -       -      real      not tried       ?           qemu is not on PATH

What is missing:
  two, three: install QEMU
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

// A build ends with the worst outcome that counts, and is too big if nothing was built.
func TestBuildConcludes(t *testing.T) {
	for _, tt := range []struct {
		worst hw.Outcome
		built bool
		want  hw.Outcome
	}{{hw.OK, true, hw.OK}, {hw.OK, false, hw.TooBig}, {hw.BuildFailed, true, hw.BuildFailed}, {hw.BuildFailed, false, hw.BuildFailed}} {
		var out bytes.Buffer
		b := builder{c: &Command{Out: &out}, worst: tt.worst, built: tt.built, all: []Built{
			{Board: "b", Impl: "serial", Outcome: "ok", Flash: &Used{1, 4}, RAM: &Used{3, 2}}, {Board: "b", Impl: "other", Outcome: "too big"},
		}}
		if o, err := Tell(&out, b.conclude()); o != tt.want || err != nil {
			t.Errorf("%v %t: %v, %v", tt.worst, tt.built, o, err)
		}
		want := `board  implementation  flash                         RAM
b      serial          1 of 4 bytes, 3 left (75 %)  3 of 2 bytes, 1 too many  ok
b      other           -                            -                         too big
`
		if strings.Join(strings.Fields(out.String()), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("got\n%s", out.String())
		}
	}
}
