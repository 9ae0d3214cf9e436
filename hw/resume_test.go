package hw

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
)

// A scriptedTarget is a board in this process, which answers at once. The image of loose
// cannot be brought to it.
type scriptedTarget struct {
	cheap bool
	image *Image
	runs  map[string]int // how many times each case was run, with implementation
}

func (d *scriptedTarget) Flash(_ context.Context, im *Image) error {
	if im.Impl == "loose" {
		return failed(FlashFailed, "the cable is loose", nil)
	}
	d.image = im
	return nil
}

func (d *scriptedTarget) Attach(ctx context.Context) (io.ReadWriteCloser, error) { return d.Start(ctx) }
func (d *scriptedTarget) Cheap() bool                                            { return d.cheap }
func (d *scriptedTarget) Close() error                                           { return nil }

func (d *scriptedTarget) Start(context.Context) (io.ReadWriteCloser, error) {
	r, w := io.Pipe()
	return &scriptedConsole{PipeReader: r, out: w, target: d}, nil
}

// A scriptedCase is what a world answers when a case is run, and in its list.
type scriptedCase struct {
	part, name string // of names with an implementation, all before that
	answer     []string
	verdict    line.Verdict
	skip       string
}

var scriptedCases = []scriptedCase{
	{part: "bench", name: "Toy/workload=good/impl=", answer: []string{
		"unit insns/op better=lower", "unit B/op better=lower", "note all is well", "result BenchmarkToy/workload=good/impl=% 10 500 insns/op 0 B/op", "note and ended",
	}},
	{part: "bench", name: "Toy/workload=quiet/impl=", answer: []string{"unit B/part better=lower", "result BenchmarkToy/workload=quiet/impl=% 10 70 insns/op 3 B/part"}},
	{part: "bench", name: "Toy/workload=wrong/impl=", answer: []string{"fail 9 of 10 \"messages\" arrived"}, verdict: line.Failed},
	{part: "bench", name: "Toy/workload=skipped/impl=", skip: "needs 1 MiB"},
	{part: "conform/group", name: "kept"},
	{part: "conform/group", name: "broken", answer: []string{"note it is broken", "fail two of them"}, verdict: line.Failed},
	{part: "conform/task", name: "skipped", skip: "needs Goexit"},
}

// A scriptedConsole is the console of a world.
type scriptedConsole struct {
	*io.PipeReader
	out    *io.PipeWriter
	target *scriptedTarget
	seq    uint32
}

// Write answers a command.
func (c *scriptedConsole) Write(p []byte) (int, error) {
	im := c.target.image
	request, command := line.SplitRequest(strings.TrimSpace(string(p)))
	say := func(text string) {
		c.seq++
		_, _ = c.out.Write(line.Append(nil, c.seq, fmt.Appendf(nil, "%d %s", request, text)))
	}
	say(line.BeginPrefix + command)
	end := line.End{Command: command}
	if command == "hello" {
		h := line.Hello{
			Board: im.Board.Name, Chip: "t1", Clock: 15625000, Unit: record.InstructionClock, RAM: 65536, Flash: 1 << 20, RAMFree: 50000, Emulated: true,
			Impl: im.Impl, Toolchain: im.Toolchain, Commit: im.Commit,
		}
		if !im.Board.Emulated {
			h.Unit, h.Emulated = realTime, false
		}
		say(string(h.Append(nil)))
	}
	for _, k := range scriptedCases {
		if !slices.Contains(im.Parts, k.part) {
			continue
		}
		l := line.Listed{Name: k.part + "/" + k.name, Skip: k.skip}
		if strings.HasSuffix(k.name, "=") {
			l.Name += im.Impl
		}
		switch command {
		case "list":
			say(string(l.Append(nil)))
		case "run " + l.Name:
			c.target.runs[im.Impl+" "+l.Name]++
			for _, text := range k.answer {
				say(strings.Replace(text, "%", im.Impl, 1))
			}
			end.Verdict = k.verdict
		}
	}
	say(string(end.Append(nil)))
	return len(p), nil
}

func (c *scriptedConsole) Close() error { return c.PipeReader.Close() }

// A world is what a run on a scriptedTarget needs. Nothing is compiled: lost does not build,
// and large has no room for several parts.
type world struct {
	target                         *scriptedTarget
	toolchain, commit, dirty, host string
	salt                           string // of the hashes of images
	noCompiler, noTarget           bool   // they are missing on this machine
}

func newWorld(cheap bool) *world {
	return &world{
		target: &scriptedTarget{cheap: cheap, runs: make(map[string]int)}, toolchain: "0.41.0",
		commit: "0123456789abcdef0123", dirty: "false", host: "world",
	}
}

func (d *world) deps() deps {
	return deps{
		anchor: func() string { return "" },
		compiler: func(context.Context, Board) (*Compiler, error) {
			if d.noCompiler {
				return nil, failed(ToolchainMissing, "no compiler", nil)
			}
			return &Compiler{Kind: kindTinyGo, Version: d.toolchain, Go: "go1.26.8"}, nil
		},
		target: func(Device, Ports) (Target, error) {
			if d.noTarget {
				return nil, failed(ToolchainMissing, "no emulator", nil)
			}
			return d.target, nil
		},
		build: func(_ context.Context, b Board, c *Compiler, o BuildOptions) (*Image, error) {
			im := &Image{
				Board: b, Impl: o.Impl, Parts: o.Parts, Commit: o.Commit, Toolchain: c.String(), Sizes: &Sizes{Stack: 2048},
				Hash: fmt.Sprintf("%x", o.Impl+strings.Join(o.Parts, "")+d.salt+"............"),
			}
			switch {
			case o.Impl == "lost":
				return nil, failed(BuildFailed, "lost does not \"compile\"", nil)
			case o.Impl == "huge" || o.Impl == "large" && len(o.Parts) > 1:
				return im, failed(TooBig, "it does not fit", nil)
			}
			return im, nil
		},
		commit: func(context.Context, string, string) (string, string) { return d.commit, d.dirty },
		host:   func(context.Context, string) string { return d.host },
	}
}

// deskOptions are those of a run of all that can happen.
func deskOptions() RunOptions {
	return RunOptions{
		Progress: noProgress{},
		Devices: []Device{{
			Board: Board{Name: "toy", Title: "A toy", Chip: "t1", Emulated: true, Emulator: []string{"toy", "{image}"}},
			Entry: Entry{ID: "toy", Board: "toy"},
		}},
		Impls: []string{"serial", "lost", "loose", "large"}, Parts: []string{"bench", "conform/group", "conform/task"},
		Case: regexp.MustCompile("."), Count: 2, Limits: patient,
	}
}

// came is what a run says of its results, without what differs between one that was
// resumed and one that was not: what comes of an image as a whole is in the header.
func came(s *Summary) (all []string) {
	for _, r := range s.Results {
		why := ""
		if r.Err != nil {
			why = r.Err.Error()
		}
		all = append(all, fmt.Sprintf("%s %s %s %d %v %q %q", r.Device.Entry.ID, r.Impl, r.Case, r.Block, r.Outcome, r.Skip, why))
	}
	slices.Sort(all)
	return append(all, "worst: "+s.Worst.String())
}

// contents is what a results file says, a line for each thing, with the configuration
// that is in force there. Its order is that of the alphabet: a run that is resumed has
// the same things in the same order, but for those of images, which it asks again.
func contents(data []byte) (all []string) {
	config := make(map[string]string)
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		if key, value, ok := strings.Cut(line, ": "); ok && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "Unit ") {
			if config[key] = value; key == "started" || key == "load" || key == "anchor" {
				delete(config, key)
			}
			continue
		}
		switch {
		case strings.HasPrefix(line, "# resumed "), strings.HasPrefix(line, "# sum: "):
		case strings.HasPrefix(line, "Benchmark"):
			all = append(all, fmt.Sprint(line, " ", config))
		default:
			all = append(all, line)
		}
	}
	slices.Sort(all)
	return all
}

// scriptedRun runs all on a new world, and returns what is in the file.
func scriptedRun(t *testing.T, cheap bool) (path string, data []byte, s *Summary) {
	t.Helper()
	d, o := newWorld(cheap), deskOptions()
	o.Out = filepath.Join(t.TempDir(), "run.bench")
	s, err := run(t.Context(), o, d.deps())
	if err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(o.Out); err != nil {
		t.Fatal(err)
	}
	return o.Out, data, s
}

// interrupted is a run of which the first block is in the file.
func interrupted(t *testing.T, cheap bool) (path string, kept, data []byte, whole *Summary) {
	t.Helper()
	path, data, whole = scriptedRun(t, cheap)
	kept = data[:bytes.Index(data, []byte("block: 2\n"))]
	writeFile(t, path, kept)
	return path, kept, data, whole
}

// resumed goes on with a run on a new world, after change if that is not nil.
func resumed(t *testing.T, path string, cheap bool, change func(*world, *RunOptions, *deps)) (*world, *Summary, error) {
	t.Helper()
	d, o := newWorld(cheap), deskOptions()
	var err error
	if o.Resume, err = record.ReadInterruptedBoard(path); err != nil {
		t.Fatal(err)
	}
	deps := d.deps()
	if change != nil {
		change(d, &o, &deps)
	}
	s, err := run(t.Context(), o, deps)
	return d, s, err
}

// wantFile checks what is in a results file, whatever the order.
func wantFile(t *testing.T, path string, want []string) {
	t.Helper()
	data := readFile(t, path)
	wantLines(t, "the file has", contents(data), want)
}

func wantLines(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// timesIn counts how many times a case was run, by what is kept.
func timesIn(kept []byte, impl, name string) int {
	text := string(kept)
	if clause, ok := strings.CutPrefix(name, conformPrefix); ok {
		return strings.Count(text, "\n# conform: impl="+impl+" clause="+clause+" ")
	}
	return strings.Count(text, "\n"+benchmarkName(name)+" ") + strings.Count(text, "\n# hole: case="+benchmarkName(name)+" ")
}

// TestResumeFromAnywhere: wherever a kill, or a machine that stops, cuts the file off,
// what was complete stays, nothing that is complete is run again, and in the end all is
// there that a run without an interruption has.
//
// By night the file is cut at each byte, and gone on with at the end of each line and here
// and there within one.
func TestResumeFromAnywhere(t *testing.T) {
	everyCut, everyEnd, everyByte := 20, 5, 50
	if os.Getenv("DYNO_NIGHTLY") != "" {
		everyCut, everyEnd, everyByte = 1, 1, 500
	}
	for _, cheap := range []bool{true, false} {
		t.Run(fmt.Sprint("cheap=", cheap), func(t *testing.T) {
			path, data, whole := scriptedRun(t, cheap)
			want, results := contents(data), came(whole)
			begun := bytes.Index(data, []byte("\nblock: 1\n"))
			sum := begun + bytes.Index(data[begun:], []byte("\n# sum: ")) + 1
			header := sum + bytes.IndexByte(data[sum:], '\n') + 1
			seed := rand.Uint64()
			r := rand.New(rand.NewPCG(seed, 0))
			lines, times := 0, 0
			for cut := 0; cut <= len(data); cut++ {
				ends := cut > 0 && data[cut-1] == '\n'
				if !ends && r.IntN(everyCut) > 0 {
					continue
				}
				from, err := record.ParseInterrupted(path, data[:cut])
				if cut < header {
					// It must be said, and not gone on with half of a header.
					if err == nil {
						t.Fatalf("cut at %d, there is no error", cut)
					}
					continue
				}
				if err != nil {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				kept := data[:cut-len(from.Torn)]
				if !bytes.HasSuffix(kept, []byte("\n")) || !strings.HasSuffix(string(data[:cut]), from.Torn) || from.Finished() != (len(kept) == len(data)) {
					t.Fatalf("cut at %d: torn is %q, finished %v", cut, from.Torn, from.Finished())
				}
				if ends {
					lines++
				}
				if ends && lines%everyEnd > 0 || !ends && r.IntN(everyByte) > 0 {
					continue
				}
				times++
				writeFile(t, path, data[:cut])
				d, s, err := resumed(t, path, cheap, nil)
				if err != nil {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				now := readFile(t, path)
				if !bytes.HasPrefix(now, kept) || len(kept) < len(data) && !bytes.HasPrefix(now[len(kept):], []byte("# resumed ")) {
					t.Errorf("what was complete has changed, or that it was resumed is not said")
				}
				wantLines(t, "the file has", contents(now), want)
				wantLines(t, "there came", came(s), results)
				for what, n := range d.target.runs {
					impl, name, _ := strings.Cut(what, " ")
					before := timesIn(kept, impl, name)
					if n+before != 2 {
						t.Errorf("%s was run %d times, and was there %d times", what, n, before)
					}
				}
				if !slices.Equal(s.Files, []string{path}) {
					t.Errorf("files: %q", s.Files)
				}
				if t.Failed() {
					t.Fatalf("cut at %d, seed %d:\n%s", cut, seed, now)
				}
			}
			if least := lines / everyEnd; lines < 50 || times < least {
				t.Errorf("resumed %d times only, of %d lines", times, lines)
			}
		})
	}
}

// TestInterruptedAgainAndAgain: a run that is interrupted before each case gets on by one
// case each time, and comes to its end.
func TestInterruptedAgainAndAgain(t *testing.T) {
	_, data, whole := scriptedRun(t, true)
	d, o := newWorld(true), deskOptions()
	o.Out = filepath.Join(t.TempDir(), "run.bench")
	path := o.Out
	for n := 0; ; n++ {
		if n > 100 {
			t.Fatal("it does not end")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cases := 0
		o.Progress = &told{onCase: func(string) {
			if cases++; cases == 2 {
				cancel()
			}
		}}
		s, err := run(ctx, o, d.deps())
		cancel()
		if err == nil {
			wantLines(t, "there came", came(s), came(whole))
			break
		}
		if !errors.Is(err, session.ErrInterrupted) || s.Unfinished != path || len(s.NotBegun) > 0 {
			t.Fatalf("%v, %+v", err, s)
		}
		o.Out = ""
		if o.Resume, err = record.ReadInterruptedBoard(path); err != nil {
			t.Fatal(err)
		}
		if o.Resume.Torn != "" {
			t.Errorf("an interrupt has left %q", o.Resume.Torn)
		}
	}
	wantFile(t, path, contents(data))
}

// TestNotBegun: of several boards those are named that an interrupt has left out.
func TestNotBegun(t *testing.T) {
	d, o := newWorld(true), deskOptions()
	o.Devices = append(o.Devices, o.Devices[0], o.Devices[0])
	o.Devices[1].Entry.ID = "second"
	o.Checkout.Dir = t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := 0
	o.Progress = &told{onCase: func(string) {
		if done++; done > 30 { // the first has 26
			cancel()
		}
	}}
	s, err := run(ctx, o, d.deps())
	if !errors.Is(err, session.ErrInterrupted) || len(s.Files) != 2 || s.Unfinished != s.Files[1] || len(s.NotBegun) != 1 || !strings.Contains(s.Unfinished, "second") {
		t.Errorf("%v, %q, %q, %v", err, s.Files, s.Unfinished, s.NotBegun)
	}
	// And one that has no file yet can only be begun anew.
	cancel()
	if s, err = run(ctx, o, d.deps()); !errors.Is(err, session.ErrInterrupted) || s.Unfinished != "" || len(s.NotBegun) != 3 {
		t.Errorf("%v, %q, %v", err, s.Unfinished, s.NotBegun)
	}
}

// TestResumeRefuses: what would make the two halves two runs is named, and nothing is
// done.
func TestResumeRefuses(t *testing.T) {
	path, kept, _, _ := interrupted(t, true)
	for _, tt := range []struct {
		name   string
		change func(d *world, o *RunOptions)
		want   []string // the lines that name what is different
	}{
		{"commit", func(d *world, _ *RunOptions) { d.commit = "fedcba9876543210" }, []string{"commit: 0123456789abcdef0123 → fedcba9876543210"}},
		{"work tree", func(d *world, _ *RunOptions) { d.dirty = "true 012345abcdef" }, []string{"dirty: false → true 012345abcdef"}},
		{"no repository", func(d *world, _ *RunOptions) { d.commit, d.dirty = "", "" }, []string{"commit: 0123456789abcdef0123 → none", "dirty: false → none"}},
		{"toolchain", func(d *world, _ *RunOptions) { d.toolchain = "0.42.0" }, []string{"toolchain: tinygo0.41.0-go1.26.8 → tinygo0.42.0-go1.26.8"}},
		{"host of an emulator", func(d *world, _ *RunOptions) { d.host = "other" }, []string{"host: world → other"}},
		{"device", func(_ *world, o *RunOptions) { o.Devices[0].Entry.ID = "toy-2" }, []string{"device: none → toy-2"}},
		{"board", func(_ *world, o *RunOptions) {
			o.Devices[0].Board.Name, o.Devices[0].Board.Title, o.Devices[0].Entry.ID = "other", "Another", "other"
		}, []string{"board: toy → other", "title: A toy → Another"}},
		{"board whose emulator is missing", func(d *world, o *RunOptions) {
			o.Devices[0].Board.Name, o.Devices[0].Entry.ID, d.toolchain, d.noTarget = "other", "other", "0.42.0", true
		}, []string{"board: toy → other", "toolchain: tinygo0.41.0-go1.26.8 → tinygo0.42.0-go1.26.8"}},
		{"board whose compiler is missing", func(d *world, o *RunOptions) {
			o.Devices[0].Board.Name, o.Devices[0].Entry.ID, o.Count, d.noCompiler = "other", "other", 3, true
		}, []string{"board: toy → other", "count: 2 → 3"}},
		{"chip and emulator", func(_ *world, o *RunOptions) {
			o.Devices[0].Board.Chip, o.Devices[0].Board.Emulator, o.Devices[0].Board.Emulated = "t2", nil, false
		}, []string{"chip: t1 → t2", "emulated: yes → no", "emulator: toy {image} → none"}},
		{"settings", func(_ *world, o *RunOptions) {
			o.Impls, o.Parts, o.Case, o.Count = []string{"serial"}, []string{"bench"}, nil, 3
			o.Limits.Silence, o.Limits.Case = time.Second, time.Minute
		}, []string{
			"impl: serial,lost,loose,large → serial", "parts: bench,conform/group,conform/task → bench", "case: . → none", "count: 2 → 3",
			"silence: 10m0s → 1s", "timeout: 10m0s → 1m0s",
		}},
		{"images", func(d *world, _ *RunOptions) { d.salt = "x" }, []string{
			"image of toy with serial (bench and conform/group and conform/task): 73657269616c → 73657269616c",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, _, err := resumed(t, path, true, func(d *world, o *RunOptions, _ *deps) { tt.change(d, o) })
			if err == nil || !strings.HasPrefix(err.Error(), path+" cannot be resumed, because this is not the same run any more:\n  ") {
				t.Fatalf("the error is %v", err)
			}
			for _, line := range tt.want {
				if !strings.Contains(err.Error(), "\n  "+line+"\n") {
					t.Errorf("it does not say %s:\n%v", line, err)
				}
			}
			if n := strings.Count(err.Error(), "\n") - 1; tt.name != "images" && n != len(tt.want) {
				t.Errorf("it has %d lines, want %d:\n%v", n, len(tt.want), err)
			}
			if now, _ := os.ReadFile(path); !bytes.Equal(now, kept) || len(d.target.runs) > 0 {
				t.Errorf("%d cases were run, and the file has %q", len(d.target.runs), now)
			}
		})
	}
	t.Run("a real board may be elsewhere", func(t *testing.T) {
		d, o := newWorld(false), deskOptions()
		o.Devices[0].Board.Emulated, o.Devices[0].Board.Emulator = false, nil
		o.Out = filepath.Join(t.TempDir(), "run.bench")
		ctx, cancel := context.WithCancel(t.Context())
		o.Progress = &told{onCase: func(string) { cancel() }}
		s, err := run(ctx, o, d.deps())
		if !errors.Is(err, session.ErrInterrupted) {
			t.Fatal(err)
		}
		o.Out, o.Progress, d.host = "", noProgress{}, "other"
		if o.Resume, err = record.ReadInterruptedBoard(s.Unfinished); err != nil {
			t.Fatal(err)
		}
		if _, err := run(t.Context(), o, d.deps()); err != nil {
			t.Error(err)
		}
	})
}

// TestResumeCannotBuild: that what is left cannot be built any more is told, and the
// file stays as it is.
func TestResumeCannotBuild(t *testing.T) {
	path, kept, _, _ := interrupted(t, true)
	_, _, err := resumed(t, path, true, func(_ *world, _ *RunOptions, h *deps) {
		h.build = func(context.Context, Board, *Compiler, BuildOptions) (*Image, error) {
			return nil, failed(BuildFailed, "no space left", nil)
		}
	})
	if now, _ := os.ReadFile(path); !outcomeIs(err, BuildFailed) || !bytes.Equal(now, kept) {
		t.Errorf("the error is %v, and the file has %q", err, now)
	}
}

// TestResumeMissing: if nothing is different, but what the board needs is missing here, that
// is the result, and the file stays as it is.
func TestResumeMissing(t *testing.T) {
	path, kept, _, _ := interrupted(t, true)
	for what, change := range map[string]func(*world){
		"compiler": func(d *world) { d.noCompiler = true },
		"emulator": func(d *world) { d.noTarget = true },
	} {
		_, s, err := resumed(t, path, true, func(d *world, _ *RunOptions, _ *deps) { change(d) })
		if err != nil || s.Worst != ToolchainMissing || len(s.Results) != 1 || !strings.Contains(s.Results[0].Err.Error(), "no "+what) {
			t.Errorf("without the %s: %v, %+v", what, err, s)
		}
		if now, _ := os.ReadFile(path); !bytes.Equal(now, kept) {
			t.Errorf("without the %s the file has %q", what, now)
		}
	}
}

// An unplugged target takes images and starts nothing.
type unpluggedTarget struct{ *scriptedTarget }

func (unpluggedTarget) Start(context.Context) (io.ReadWriteCloser, error) {
	return nil, failed(NoConsole, "there is no port", nil)
}

// TestResumeUnplugged: of a board that is not there nothing is recorded, not even that its
// cases have failed: when it is there again, all of them are run.
func TestResumeUnplugged(t *testing.T) {
	for _, cheap := range []bool{true, false} {
		path, _, data, whole := interrupted(t, cheap)
		_, s, err := resumed(t, path, cheap, func(d *world, _ *RunOptions, h *deps) {
			h.target = func(Device, Ports) (Target, error) { return unpluggedTarget{d.target}, nil }
		})
		if err != nil {
			t.Fatal(err)
		}
		if last := s.Results[len(s.Results)-1]; last.Outcome != NoConsole || !strings.Contains(last.Err.Hint(), "--resume "+path) {
			t.Errorf("unplugged: %+v", last)
		}
		if _, s, err = resumed(t, path, cheap, nil); err != nil {
			t.Fatal(err)
		}
		wantLines(t, "there came", came(s), came(whole))
		wantFile(t, path, contents(data))
	}
}

// TestPlanOfRefuses: a plan that is none of a board's, or not a sound one, says why.
func TestPlanOfRefuses(t *testing.T) {
	_, data, _ := scriptedRun(t, true)
	good, err := record.ParseInterrupted("x.bench", data)
	if err != nil {
		t.Fatal(err)
	}
	for want, own := range map[string]string{
		"its plan is not one of a board":         "",
		"the plan of the board cannot be read":   "[]",
		"an image has -1 cases":                  `{"images":[{"cases":-1}]}`,
		"its images have 2 cases, and the plan ": `{"images":[{"cases":2}]}`,
	} {
		plan := *good.Plan
		plan.Own = json.RawMessage(own)
		if _, err := PlanOf(&plan); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	p, err := PlanOf(good.Plan)
	if again, bad := json.Marshal(p); err != nil || bad != nil || !bytes.Equal(again, good.Plan.Own) {
		t.Errorf("%s was read as %s, %v", good.Plan.Own, again, err)
	}
}
