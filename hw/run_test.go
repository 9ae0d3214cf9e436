package hw

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/patience"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// fakeBench makes all that a run on the toy board needs, and returns the options of one of
// serial with some cases, into a file that is new.
func fakeBench(t *testing.T, cases string) RunOptions {
	t.Helper()
	needsSymlinks(t)
	program(t, "tinygo")
	program(t, "toy-emulator")
	t.Setenv(tinygoELF, elfFile(t))
	return RunOptions{
		Checkout: checkoutOf(t, smallTree), Devices: []Device{{Board: toy(t), Entry: Entry{ID: "toy", Board: "toy"}}}, Impls: []string{"serial"},
		Out: filepath.Join(t.TempDir(), "toy.bench"), Limits: patient, Progress: noProgress{}, Case: regexp.MustCompile(cases),
	}
}

// runs carries out a run, and returns what its file has.
func runs(t *testing.T, o RunOptions) (*Summary, string) {
	t.Helper()
	s, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(o.Out)
	if err != nil && len(s.Files) > 0 {
		t.Fatal(err)
	}
	return s, string(text)
}

// patient are limits for boards that are programs here: no machine is so busy that
// they do not keep them.
var patient = Limits{Answer: 10 * time.Minute, Silence: 10 * time.Minute, Case: 10 * time.Minute}

// noProgress is a Progress that reports nothing.
type noProgress struct{}

func (noProgress) Build(Device, string, []string)        {}
func (noProgress) Built(Device, string, *Image, error)   {}
func (noProgress) Split(Device, string, []string, error) {}
func (noProgress) Flash(Device, *Image)                  {}
func (noProgress) Cases(Device, *Image, line.Hello, int) {}
func (noProgress) Case(Device, *Image, string, int)      {}
func (noProgress) Done(CaseResult)                       {}
func (noProgress) Had(*Image, int)                       {}

// told is a Progress that keeps what it is told.
type told struct {
	noProgress
	lines  []string
	onCase func(name string)
}

func (p *told) Built(d Device, impl string, im *Image, err error) {
	p.lines = append(p.lines, fmt.Sprint("built ", impl, " ", im != nil, " ", err))
}

func (p *told) Split(_ Device, impl string, parts []string, err error) {
	p.lines = append(p.lines, fmt.Sprint("split ", impl, " ", len(parts), " ", err))
}

func (p *told) Cases(_ Device, im *Image, h line.Hello, n int) {
	p.lines = append(p.lines, fmt.Sprint("cases ", im.Impl, " ", h.Chip, " ", n))
}

func (p *told) Case(_ Device, im *Image, name string, block int) {
	p.lines = append(p.lines, fmt.Sprint("case ", im.Impl, " ", name, " ", block))
	if p.onCase != nil {
		p.onCase(name)
	}
}

func (p *told) Done(r CaseResult) {
	p.lines = append(p.lines, fmt.Sprint("done ", r.Case, " ", r.Outcome))
}

// TestRun runs every case of a board on which nearly everything goes wrong. Each case
// has its outcome, none stops the others, and the results can be read.
func TestRun(t *testing.T) {
	o, p := fakeBench(t, "good|wrong|silent|crashes|greedy|noisy|skipped|^conform/"), new(told)
	o.Progress, o.Out = p, filepath.Join(t.TempDir(), "results", "toy.bench")
	s, text := runs(t, o)
	want := map[string]Outcome{
		"bench/Toy/workload=good/impl=serial":    OK,
		"bench/Toy/workload=wrong/impl=serial":   WrongResult,
		"bench/Toy/workload=silent/impl=serial":  WrongResult,
		"bench/Toy/workload=crashes/impl=serial": Crashed,
		"bench/Toy/workload=greedy/impl=serial":  OutOfMemory,
		"bench/Toy/workload=noisy/impl=serial":   CorruptedLine,
		"bench/Toy/workload=skipped/impl=serial": OK,
		"conform/toy/kept":                       OK,
		"conform/toy/broken":                     WrongResult,
		"conform/toy/skipped":                    OK,
	}
	for _, r := range s.Results {
		if o, ok := want[r.Case]; !ok || r.Outcome != o || r.Device.Board.Name != "toy" {
			t.Errorf("%s of %s: %v (%v), want %v", r.Case, r.Device.Board.Name, r.Outcome, r.Err, o)
		}
		if (r.Skip != "") != strings.Contains(r.Case, "skipped") {
			t.Errorf("%s: skipped because %q", r.Case, r.Skip)
		}
		delete(want, r.Case)
	}
	if len(want) > 0 {
		t.Errorf("not run: %v", want)
	}
	if s.Worst != WrongResult {
		t.Errorf("the worst is %v", s.Worst)
	}
	if !slices.Equal(s.Files, []string{o.Out}) {
		t.Errorf("files: %q", s.Files)
	}
	if len(p.lines) != 2+2*8+2 || !slices.Contains(p.lines, "cases serial t1 8") {
		t.Errorf("told:\n%s", strings.Join(p.lines, "\n"))
	}
	for _, line := range []string{
		"board: toy", "chip: t1", "emulated: yes", "emulator: toy-emulator {image}", "toolchain: tinygo0.41.0-go1.26.8",
		"clock-unit: insns", "clock-hz: 15625000", "block: 1",
		"Unit insns/op better=lower assume=exact", "Unit B/op better=lower assume=exact", "Unit ram-free-B better=higher assume=exact",
		`# note: case=BenchmarkToy/workload=good/impl=serial text="all is well"`,
		`# hole: case=BenchmarkToy/workload=wrong/impl=serial block=1 reason="wrong result: 9 of 10 messages arrived" kind="wrong result"`,
		`# skip: case=BenchmarkToy/workload=skipped/impl=serial reason="needs 1 MiB" kind="skip"`,
		`# conform: impl=serial clause=toy/kept result=pass`,
		`# conform: impl=serial clause=toy/broken result=fail outcome="wrong result" why="two of them"`,
		`# conform: impl=serial clause=toy/skipped result=skip why="needs Goexit"`,
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("the results lack %s", line)
		}
	}
	// How much its own memory grows meanwhile is that program's affair.
	if !strings.Contains(text, "\nBenchmarkToy/workload=good/impl=serial 10 0 insns/op ") {
		t.Error("the results lack the figure")
	}
	if t.Failed() {
		t.Logf("results:\n%s", text)
	}
	c, err := compare.Compare([]string{o.Out}, compare.Options{Col: "/impl"})
	if err != nil {
		t.Fatal(err)
	}
	holes := 0
	for _, h := range c.Files[0].Holes {
		if strings.HasPrefix(h.Case, "BenchmarkToy/") {
			holes++
		}
	}
	if len(c.Problems) > 0 || holes != 6 || c.Files[0].Blocks != 1 {
		t.Errorf("problems %q, %d holes, %d blocks", c.Problems, holes, c.Files[0].Blocks)
	}
	if tally := record.TallyClauses(c.Files[0].Clauses); len(tally) != 1 || tally[0].Passed != 1 || tally[0].Skips["needs Goexit"] != 1 || tally[0].Failed["wrong result"] != 1 {
		t.Errorf("of the clauses is read: %+v", tally)
	}
	if len(c.Tables) == 0 || !c.Tables[0].Exact {
		t.Errorf("%d tables; instructions are exact", len(c.Tables))
	}
}

// TestRunHangs: a case that hangs is given up, and its board with it.
func TestRunHangs(t *testing.T) {
	o := fakeBench(t, "hangs")
	patience.Try(t, time.Second, func(limit time.Duration) error {
		o.Limits = Limits{Answer: 10 * time.Minute, Silence: limit, Case: 10 * time.Minute}
		o.Out = filepath.Join(t.TempDir(), "toy.bench")
		s, _ := runs(t, o)
		if s.Worst != Hung || len(s.Results) != 1 || !strings.Contains(s.Results[0].Err.Output, "begin run bench/Toy/workload=hangs") {
			return fmt.Errorf("%+v", s)
		}
		return nil
	})
}

// TestRunStartsAgain: an emulator that hangs before it begins a case is started again,
// which the results say, and not for ever.
func TestRunStartsAgain(t *testing.T) {
	for _, c := range []struct {
		name, stalls string
		want         Outcome
		starts       int // one of them for the list
		note         string
	}{
		{"once", "2", OK, 3, `text="it was started 2 times: no line for `},
		{"always", "2 3 4 5 6", Hung, 4, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := fakeBench(t, "good")
			t.Setenv(boardStalls, c.stalls)
			patience.Try(t, time.Second, func(limit time.Duration) error {
				log := filepath.Join(t.TempDir(), "starts")
				t.Setenv(boardStarts, log)
				o.Limits = Limits{Answer: 10 * time.Minute, Silence: limit, Case: 10 * time.Minute}
				o.Out = filepath.Join(t.TempDir(), "toy.bench")
				s, text := runs(t, o)
				starts, _ := os.ReadFile(log)
				if s.Worst != c.want || len(starts) != c.starts {
					return fmt.Errorf("%v after %d starts, want %v after %d", s.Worst, len(starts), c.want, c.starts)
				}
				if !strings.Contains(text, c.note) {
					return fmt.Errorf("the results do not have %q:\n%s", c.note, text)
				}
				return nil
			})
		})
	}
}

// TestRunOrder: cases are repeated in blocks, and in each of them come the
// implementations one after the other, beginning with the one that the board has.
func TestRunOrder(t *testing.T) {
	o, p := fakeBench(t, "good|skipped/"), new(told)
	o.Progress, o.Count = p, 2
	o.Impls = []string{"serial", "broken"} // TinyGo is a fake that compiles anything
	s, text := runs(t, o)
	if s.Worst != OK {
		t.Fatal(s.Worst)
	}
	cases := slices.DeleteFunc(p.lines, func(l string) bool { return !strings.HasPrefix(l, "case ") })
	want := []string{
		"case serial bench/Toy/workload=good/impl=serial 1", "case broken bench/Toy/workload=good/impl=broken 1",
		"case broken bench/Toy/workload=good/impl=broken 2", "case serial bench/Toy/workload=good/impl=serial 2",
	}
	if !slices.Equal(cases, want) {
		t.Errorf("\n%s\nwant\n%s", strings.Join(cases, "\n"), strings.Join(want, "\n"))
	}
	c, err := compare.Compare([]string{o.Out}, compare.Options{Col: "/impl"})
	if err != nil || c.Files[0].Blocks != 2 {
		t.Errorf("%v; %+v", err, c.Files)
	}
	if n := strings.Count(text, "\nblock: "); n != 2 {
		t.Errorf("%d lines say which block it is:\n%s", n, text)
	}
}

// TestRunSplit: parts that are too big for the board together are images of their own,
// and what is measured is the same.
func TestRunSplit(t *testing.T) {
	run := func(t *testing.T) (*Summary, *told, string) {
		o, p := fakeBench(t, "good|kept"), new(told)
		o.Progress, o.Parts = p, []string{"conform/group", "bench"}
		s, text := runs(t, o)
		return s, p, text
	}
	t.Run("room for all", func(t *testing.T) {
		s, p, text := run(t)
		if s.Worst != OK || len(s.Results) != 2 || len(p.lines) != 2+2*2 || !strings.Contains(text, "\nparts: bench+conform/group\n") {
			t.Errorf("%v, told:\n%s\n%s", s.Worst, strings.Join(p.lines, "\n"), text)
		}
	})
	t.Setenv(tinygoRoom, "1")
	t.Run("room for one", func(t *testing.T) {
		s, p, text := run(t)
		if s.Worst != OK || len(s.Results) != 2 {
			t.Errorf("%v, %+v", s.Worst, s.Results)
		}
		want := []string{
			"split serial 2 too big: toy with serial (bench and conform/group) does not fit: ld.lld: error: section '.text' will not fit in region 'FLASH': overflowed by 4416 bytes",
			"built serial true <nil>", "built serial true <nil>",
			"cases serial t1 1", "cases serial t1 1",
			"case serial bench/Toy/workload=good/impl=serial 1", "done bench/Toy/workload=good/impl=serial ok",
			"case serial conform/toy/kept 1", "done conform/toy/kept ok",
		}
		if !slices.Equal(p.lines, want) {
			t.Errorf("told\n%s\nwant\n%s", strings.Join(p.lines, "\n"), strings.Join(want, "\n"))
		}
		for _, line := range []string{
			"parts: bench\n", "parts: conform/group\n",
			"BenchmarkBoard/case=image/parts=bench/impl=serial 1 ", "BenchmarkBoard/case=image/parts=conform-group/impl=serial 1 ",
			"BenchmarkToy/workload=good/impl=serial 10 ", "# conform: impl=serial clause=toy/kept result=pass\n",
		} {
			if !strings.Contains(text, "\n"+line) {
				t.Errorf("the results lack %s:\n%s", line, text)
			}
		}
	})
	t.Setenv(tinygoRoom, "0")
	t.Run("room for none", func(t *testing.T) {
		s, _, _ := run(t)
		if s.Worst != TooBig || len(s.Results) != 2 || len(s.Files) != 0 || !strings.Contains(s.Results[1].Err.Error(), "toy with serial (conform/group) does not fit") {
			t.Errorf("%v, %+v", s.Worst, s.Results)
		}
	})
}

// TestRunFails: what goes wrong before the first case is a result too, of the board or
// of the implementation.
func TestRunFails(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(t *testing.T, o *RunOptions, b *Board)
		worst  Outcome
		why    string // of the first result
		n      int    // results
	}{
		{"no toolchain", func(t *testing.T, _ *RunOptions, _ *Board) { t.Setenv(tinygoVariable, "/nowhere/tinygo") }, ToolchainMissing, "/nowhere/tinygo", 1},
		{"no emulator", func(_ *testing.T, _ *RunOptions, b *Board) { b.Emulator = []string{"missing-emulator", "{image}"} }, ToolchainMissing, "missing-emulator", 1},
		{"one does not build", func(_ *testing.T, o *RunOptions, _ *Board) { o.Impls = []string{"lost", "serial"} }, BuildFailed, "no package", 2},
		{"too big", func(_ *testing.T, o *RunOptions, b *Board) { o.Parts, b.Flash = []string{"bench"}, 1000 }, TooBig, "bytes of flash", 1},
		{"another image", func(t *testing.T, _ *RunOptions, _ *Board) { t.Setenv(boardSaysCommit, "ffffffff") }, FlashFailed, "commit ffffffff", 1},
		{"another kind of clock", func(_ *testing.T, _ *RunOptions, b *Board) { b.Emulated = false }, WrongResult, "emulated=true", 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := fakeBench(t, "^conform/toy/kept$")
			tt.change(t, &o, &o.Devices[0].Board)
			s, text := runs(t, o)
			if s.Worst != tt.worst || len(s.Results) != tt.n || !strings.Contains(s.Results[0].Err.Error(), tt.why) || len(s.Files) != tt.n-1 {
				t.Fatalf("%+v", s)
			}
			if tt.n == 1 {
				return
			}
			if want := `# hole: pkg=github.com/dynolab/dyno/impls/lost reason="build failed: `; s.Results[0].Impl != "lost" || s.Results[1].Outcome != OK || !strings.Contains(text, want) {
				t.Errorf("the results lack %s:\n%s", want, text)
			}
		})
	}
	t.Run("file is there", func(t *testing.T) {
		o := fakeBench(t, "kept")
		writeFile(t, o.Out, []byte("precious\n"))
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "is there already") {
			t.Errorf("%v", err)
		}
		if text, _ := os.ReadFile(o.Out); string(text) != "precious\n" {
			t.Errorf("it now has %q", text)
		}
	})
}

// TestRunInterrupted: what was measured is kept, and what hangs does not keep anybody
// waiting.
func TestRunInterrupted(t *testing.T) {
	o := fakeBench(t, "good|hangs")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o.Progress = &told{onCase: func(name string) {
		if strings.Contains(name, "hangs") {
			cancel()
		}
	}}
	o.Limits = Limits{Answer: time.Hour, Silence: time.Hour, Case: time.Hour}
	s, err := Run(ctx, o)
	if !errors.Is(err, session.ErrInterrupted) || len(s.Results) != 1 || s.Unfinished != o.Out || len(s.NotBegun) > 0 {
		t.Errorf("%v, %+v", err, s)
	}
	text, err := os.ReadFile(o.Out)
	if err != nil || !strings.Contains(string(text), "BenchmarkToy/workload=good") || strings.Contains(string(text), "\nBenchmarkToy/workload=hangs") || strings.Contains(string(text), "\n# hole: ") {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestDefaultOut: without a path the results are in the checkout, by device and time.
func TestDefaultOut(t *testing.T) {
	o := fakeBench(t, "^conform/toy/kept$")
	o.Devices[0].Entry.ID, o.Out = "toy-left", ""
	s, err := Run(t.Context(), o)
	if err != nil || len(s.Files) != 1 {
		t.Fatalf("%+v, %v", s, err)
	}
	if ok, _ := filepath.Match(filepath.Join(o.Checkout.Dir, "results", "toy-left", "*-nocommit.bench"), s.Files[0]); !ok {
		t.Errorf("the results are in %s", s.Files[0])
	}
	text, _ := os.ReadFile(s.Files[0])
	if !strings.Contains(string(text), "\ndevice: toy-left\n") {
		t.Errorf("the results do not name the device:\n%s", text)
	}
}

// TestFigures: a figure that is none, or is of something else, counts as a wrong result
// and not as one of the case, however well the board thinks it has passed.
func TestFigures(t *testing.T) {
	const name = "bench/Toy/workload=a/impl=serial"
	insns, ns := line.Hello{Unit: "insns"}, line.Hello{Unit: "ns"}
	for _, tt := range []struct {
		name    string
		ops     int
		hello   line.Hello
		results []string
		want    string // "" if that is a figure
	}{
		{name, 10, insns, []string{"BenchmarkToy/workload=a/impl=serial 10 312.5 insns/op 0 B/op"}, ""},
		{name, 10, ns, []string{"BenchmarkToy/workload=a/impl=serial 10 312.5 ns/op 3 p99-ns"}, ""},
		{name, 0, insns, []string{"BenchmarkToy/workload=a/impl=serial 7 1 backlog"}, ""},
		{"conform/toy/kept", 0, insns, nil, ""},
		{name, 10, insns, nil, "there is no figure"},
		{name, 10, insns, []string{"10 insns/op"}, "is no benchmark line"},
		{name, 10, insns, []string{"BenchmarkToy/workload=a/impl=serial 10"}, "is no benchmark line"},
		{name, 10, insns, []string{"BenchmarkToy/workload=a/impl=channel 10 1 insns/op"}, "BenchmarkToy/workload=a/impl=channel, which is another case"},
		{"conform/toy/kept", 0, insns, []string{"BenchmarkToy/workload=a/impl=serial 10 1 insns/op"}, "which is another case"},
		{name, 10, insns, []string{"BenchmarkToy/workload=a/impl=serial 1 1 insns/op"}, "a figure of 1 operations, and the list has 10"},
		{name, 10, insns, []string{"BenchmarkToy/workload=a/impl=serial 11 1 insns/op"}, "a figure of 11 operations, and the list has 10"},
		{name, 10, insns, []string{"BenchmarkToy/workload=a/impl=serialx 10 1 insns/op"}, "which is another case"},
		{name, 10, insns, []string{"BenchmarkToy/workload=a/impl=serial 10 1 ns/op"}, "in ns/op of a board whose clock counts insns"},
		{name, 10, ns, []string{"BenchmarkToy/workload=a/impl=serial 10 1 insns/op"}, "in insns/op of a board whose clock counts ns"},
		{name, 10, ns, []string{"BenchmarkToy/workload=a/impl=serial 10 NaN ns/op"}, "NaN"},
		{name, 10, ns, []string{"BenchmarkToy/workload=a/impl=serial 10 1 ns/op +Inf backlog"}, "+Inf backlog"},
		{name, 10, ns, []string{"BenchmarkToy/workload=a/impl=serial 10 1 ns/op 1e101 backlog"}, "a figure of 1e+101 backlog"},
		{name, 10, ns, []string{"BenchmarkToy/workload=a/impl=serial 10 1 ns/op", "BenchmarkToy/workload=a/impl=serial 10 2 ns/op"}, "2 figures"},
	} {
		err := figures(line.Listed{Name: tt.name, Ops: tt.ops}, tt.hello, &Answer{Results: tt.results})
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s, %q: %v", tt.name, tt.results, err)
		case tt.want != "":
			wantOutcome(t, err, WrongResult, tt.want)
		}
	}
}

// TestBelieve: a clock that cannot be, or is not that of the board's kind, gives no
// figures.
func TestBelieve(t *testing.T) {
	emulated, real := Board{Name: "toy", Emulated: true}, Board{Name: "toy"}
	for _, tt := range []struct {
		board Board
		hello line.Hello
		want  string
	}{
		{emulated, line.Hello{Unit: "insns", Clock: 15625000, Emulated: true}, ""},
		{emulated, line.Hello{Unit: "ns", Clock: 1e9, Emulated: true}, ""},
		{real, line.Hello{Unit: "ns", Clock: 1e6}, ""},
		{real, line.Hello{Unit: "ns", Clock: 1}, ""},
		{real, line.Hello{Unit: "ns", Clock: 9e9}, ""},
		{real, line.Hello{Unit: "ns", Clock: 9e9 + 1}, "9.000000001e+09 ticks"},
		{real, line.Hello{Unit: "ticks", Clock: 1e6}, `"ticks"`},
		{real, line.Hello{Clock: 1e6}, `""`},
		{real, line.Hello{Unit: "ns"}, "0 ticks a second"},
		{real, line.Hello{Unit: "ns", Clock: -1e6}, "-1e+06 ticks"},
		{real, line.Hello{Unit: "ns", Clock: 32768.5}, "32768.5 ticks"},
		{real, line.Hello{Unit: "ns", Clock: 1e10}, "1e+10 ticks"},
		{real, line.Hello{Unit: "ns", Clock: math.Inf(1)}, "+Inf"},
		{real, line.Hello{Unit: "ns", Clock: math.NaN()}, "NaN"},
		{real, line.Hello{Unit: "ns", Clock: 1e9, Emulated: true}, "emulated=true"},
		{emulated, line.Hello{Unit: "ns", Clock: 1e9}, "emulated=false"},
		{real, line.Hello{Unit: "insns", Clock: 1e6}, "it is no emulator"},
	} {
		err := new(Session).believe(tt.board, tt.hello)
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%+v: %v", tt.hello, err)
		case tt.want != "":
			wantOutcome(t, err, WrongResult, tt.want)
		}
	}
}

// TestRunInterruptedEarly: an interrupt while the compiler is looked for is none of
// its faults.
func TestRunInterruptedEarly(t *testing.T) {
	o, p := fakeBench(t, "."), new(told)
	o.Progress = p
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s, err := Run(ctx, o)
	if !errors.Is(err, session.ErrInterrupted) || len(s.Results) > 0 || len(p.lines) > 0 {
		t.Errorf("%v, %+v, told %q", err, s.Results, p.lines)
	}
}

// A goneTarget starts nothing, but for why it asks.
type goneTarget struct {
	Target
	why func(start int) Outcome
	n   int
}

func (t *goneTarget) Start(context.Context) (io.ReadWriteCloser, error) {
	t.n++
	return nil, failed(t.why(t.n), "it does not start", nil)
}

func (*goneTarget) Cheap() bool { return false }

// TestRunGone: a board that was unplugged is given up, and not waited for in each of
// hundreds of cases; one that only fails now and then is not. A resumed run
// runs what was not run, also the last ones that found no board.
func TestRunGone(t *testing.T) {
	for name, tt := range map[string]struct {
		why  func(start int) Outcome
		kept int // cases in the results
	}{
		"unplugged":    {func(int) Outcome { return NoConsole }, 0},
		"later":        {func(n int) Outcome { return []Outcome{Hung, NoConsole}[min(n/4, 1)] }, 3},
		"now and then": {func(n int) Outcome { return []Outcome{Hung, NoConsole, NoConsole}[n%3] }, 10},
	} {
		t.Run(name, func(t *testing.T) {
			plan := &record.Plan{CPU: []int{1}, Blocks: 1, Time: "1x", Timeout: time.Minute, Bench: ".", InOrder: true}
			im := &boardImage{Image: &Image{Impl: "serial"}, hello: line.Hello{Unit: "ns"}, listed: make(map[string]line.Listed)}
			for i := range 10 {
				plan.Cases = append(plan.Cases, record.Case{Pkg: casePackage, Name: fmt.Sprint("BenchmarkToy/case=", i)})
			}
			path := filepath.Join(t.TempDir(), "toy.bench")
			store, err := record.Create(path, plan, new(record.Circumstances), nil, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			r := &deviceRun{
				deps: systemDeps, o: RunOptions{Progress: noProgress{}}, s: new(Summary), target: &goneTarget{why: tt.why}, store: store,
				plan: Plan{Images: []PlannedImage{{Cases: 10}}}, images: []*boardImage{im}, on: im,
			}
			err = session.Run(t.Context(), plan, r, store, nil, session.Quiet{}, nil)
			text, _ := os.ReadFile(path)
			if n := strings.Count(string(text), "\n# hole: "); n != tt.kept || len(r.s.Results) != tt.kept {
				t.Errorf("the results have %d cases, and %d were told of, want %d:\n%s", n, len(r.s.Results), tt.kept, text)
			}
			if tt.kept < 10 {
				wantOutcome(t, err, NoConsole, "the board is gone")
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWorst: what lacks room is no failure once a case has passed, and a skip is no pass.
func TestWorst(t *testing.T) {
	big, greedy, skipped, passed := CaseResult{Outcome: TooBig}, CaseResult{Case: "a", Outcome: OutOfMemory}, CaseResult{Case: "b", Skip: "why"}, CaseResult{Case: "c"}
	for _, c := range []struct {
		results []CaseResult
		want    Outcome
	}{
		{[]CaseResult{big, greedy, skipped, {}}, OutOfMemory},
		{[]CaseResult{big, greedy, passed}, OK},
		{[]CaseResult{passed, {Case: "d", Outcome: Hung}}, Hung},
	} {
		if got := worst(c.results, true); got != c.want {
			t.Errorf("%+v: %v, want %v", c.results, got, c.want)
		}
	}
}

// TestUnitLines: instructions are counted, and the time that an emulator takes is not.
func TestUnitLines(t *testing.T) {
	for unit, want := range map[string][]string{
		"ns":    {"p50-ns better=lower"},
		"insns": {"insns/op assume=exact", "p50-ns better=lower assume=exact"},
	} {
		got := unitLines("BenchmarkX 1 2 "+unit+"/op 3 p50-ns", []string{"p50-ns better=lower"}, line.Hello{Unit: unit, Emulated: true})
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", unit, got, want)
		}
	}
}

// TestTooBig: an image may fill its board, and not by a byte more.
func TestTooBig(t *testing.T) {
	for _, c := range []struct {
		flash, ram int64
		fits       bool
	}{{10, 20, true}, {9, 20, false}, {10, 19, false}, {0, 0, true}} {
		im := &Image{Board: Board{Flash: c.flash, RAM: c.ram}, Sizes: &Sizes{Packages: []PackageSize{{Code: 10, BSS: 20}}}}
		if e := im.tooBig(); (e == nil) != c.fits {
			t.Errorf("%+v: %v", c, e)
		}
	}
}

// TestKeptClauses: a clause that comes again is of the next block, of its implementation.
func TestKeptClauses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toy.bench")
	writeFile(t, path, []byte("# conform: impl=a clause=x result=pass\n# conform: impl=b clause=x result=pass\n# conform: impl=a clause=x result=pass\n"))
	kept, err := ReadKept(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range kept.Results {
		got = append(got, fmt.Sprint(c.Impl, c.Block))
	}
	if want := []string{"a1", "b1", "a2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
