package boardrun

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/jobs"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/session"
)

// keptRun is a results file of a board that is complete.
const keptRun = "../../results/cortex-m3-qemu/20261129-142542-9eb8e678.bench"

// begun writes a run that is not complete: keptRun with another plan, and cut off.
func begun(t *testing.T, cut string, change ...string) string {
	t.Helper()
	data, err := os.ReadFile(keptRun)
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`(?m)^# sum: .*\n`).ReplaceAllString(string(data), "")
	text = strings.NewReplacer(append(change, `"timeout":300000000000`, `"timeout":7000000000`, `"silence":60000000000`, `"silence":3000000000`)...).Replace(text)
	plan, err := record.DecodePlan(strings.Join(regexp.MustCompile(`(?m)^# (plan|case): .*\n`).FindAllString(text, -1), ""))
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`(?m)^plan: .*`).ReplaceAllString(text, "plan: "+plan.ID())
	path := filepath.Join(t.TempDir(), "x.bench")
	if err := os.WriteFile(path, []byte(text+cut), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPlan: what a run is asked for is what it does.
func TestPlan(t *testing.T) {
	c := Command{Parts: []string{"bench"}}
	r, err := c.plan(&RunOptions{Case: "a|b", Count: 2, Timeout: 7, Silence: 3, Out: "x.bench"})
	if want := (hw.Limits{Silence: 3, Case: 7}); err != nil || r.Limits != want || r.Count != 2 || r.Out != "x.bench" || r.Case.String() != "a|b" || !slices.Equal(r.Parts, c.Parts) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, o := range []RunOptions{{Count: 1, Timeout: 0, Silence: 1}, {Count: 1, Timeout: 1, Silence: 0}, {Count: 1, Timeout: 1, Silence: 1, Out: "none/x.bench"}} {
		if _, err := c.plan(&o); err == nil {
			t.Errorf("%+v is no error", o)
		}
	}
}

// TestResumed: of a run that is resumed what was not given is what it was.
func TestResumed(t *testing.T) {
	for _, all := range []bool{false, true} {
		path := begun(t, "", `"blocks":1`, `"blocks":2`, `"own":{"impls":["actorloop","channel","lockbased","serial","workstealing"],"all":true`,
			fmt.Sprintf(`"own":{"impls":["actorloop","channel","lockbased","serial","workstealing"],"case":"X","all":%t`, all))
		c := Command{Boards: []string{"cortex-m3-qemu"}, Parts: []string{"conform"}}
		o := RunOptions{Resume: path, Case: "Y", Count: 9, Timeout: 8, Silence: 6, Given: func(string) bool { return false }}
		r, err := c.plan(&o)
		if want := (hw.Limits{Silence: 3 * time.Second, Case: 7 * time.Second}); err != nil || r.Limits != want || r.Count != 2 || r.Case.String() != "X" || !slices.Equal(r.Parts, []string{"bench"}) {
			t.Errorf("nothing given: %+v, %v", r, err)
		}
		if (len(r.Impls) == 0) != all {
			t.Errorf("all %t: implementations are %q", all, r.Impls)
		}
		c.Parts = []string{"conform"}
		o = RunOptions{Resume: path, Case: "Y", Count: 9, Timeout: 8, Silence: 6, Given: func(string) bool { return true }}
		if r, err := c.plan(&o); err != nil || r.Limits != (hw.Limits{Silence: 6, Case: 8}) || r.Count != 9 || r.Case.String() != "Y" || !slices.Equal(r.Parts, []string{"conform"}) {
			t.Errorf("all given: %+v, %v", r, err)
		}
		var b bytes.Buffer
		c.Con = console.New(&b, 0)
		c.tellResumed(r.Resume)
		if !strings.HasSuffix(b.String(), " cases already\n") {
			t.Errorf("told %q", b.String())
		}
	}
	var b bytes.Buffer
	c := Command{Boards: []string{"cortex-m3-qemu"}, Con: console.New(&b, 0)}
	r, err := c.plan(&RunOptions{Resume: begun(t, "BenchmarkX", `"blocks":1`, `"blocks":2`), Given: func(string) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	if c.tellResumed(r.Resume); !strings.HasSuffix(b.String(), "that one is run again\n") {
		t.Errorf("of a file that is torn it is told %q", b.String())
	}
}

// TestAdd: what a machine has sent is added to what others have.
func TestAdd(t *testing.T) {
	c := Command{Con: console.New(new(bytes.Buffer), 0)}
	kind := hw.Device{Board: hw.Board{Name: "cortex-m3-qemu"}, Entry: hw.Entry{ID: "cortex-m3-qemu"}}
	all := &hw.Summary{Files: []string{"x.bench"}, Results: make([]hw.CaseResult, 1), Worst: hw.WrongResult}
	path := begun(t, "", "host: ", "machine: left\nhost: ")
	r := hw.RunOptions{Checkout: hw.Checkout{Dir: "../.."}, Devices: []hw.Device{kind}, Out: "y.bench"}
	if err := c.add(t.Context(), r, path, all); err != nil {
		t.Fatal(err)
	}
	if len(all.Results) < 50 || all.Worst != hw.WrongResult || !slices.Equal(all.Files, []string{"x.bench", path}) || all.Results[1].Device.Entry.ID != "left" {
		t.Errorf("%d results, worst %v, files %q, of %+v", len(all.Results), all.Worst, all.Files, all.Results[1].Device.Entry)
	}
	all = new(hw.Summary)
	if err := c.add(t.Context(), r, path, all); err != nil || all.Worst != hw.OK {
		t.Errorf("alone the worst is %v, %v", all.Worst, err)
	}
	if c.add(t.Context(), r, "none.bench", all) == nil {
		t.Error("a file that is not there is no error")
	}
}

// TestRunOnRefuses: what makes no sense is refused before anything is built.
func TestRunOnRefuses(t *testing.T) {
	c := Command{Boards: []string{"cortex-m3-qemu"}}
	if err := c.RunOn(t.Context(), RunOptions{Resume: "x.bench"}, Fleet{}); err == nil || !strings.Contains(err.Error(), "leave out --on") {
		t.Error(err)
	}
	f := Fleet{Boards: func(_ context.Context, kind string) ([]runner.Machine, error) {
		return []runner.Machine{{Name: "left"}, {Name: "right"}}, nil
	}}
	one := hw.RunOptions{Devices: []hw.Device{{Board: hw.Board{Name: "cortex-m3-qemu"}}}, Out: "x.bench"}
	if err := c.runOn(t.Context(), one, f, nil); err == nil || !strings.Contains(err.Error(), "these are 2 machines") {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	failed := errors.New("failed")
	if interruptedOr(ended, nil) != nil || interruptedOr(ended, failed) != session.ErrInterrupted || interruptedOr(t.Context(), failed) != failed {
		t.Error("an interrupt is told from an error")
	}
	big := &hw.Error{Outcome: hw.TooBig}
	none := &hw.Prebuilt{Images: []hw.PrebuiltImage{{Err: big}, {Err: &hw.Error{Outcome: hw.BuildFailed}}}}
	if anyImage(none) || worstOf(none) != hw.TooBig || !anyImage(&hw.Prebuilt{Images: []hw.PrebuiltImage{{Err: big}, {}}}) {
		t.Errorf("any image %t, the worst %v", anyImage(none), worstOf(none))
	}
}

// TestSend: what each machine sends is added, and has its place by its name; what one does not send is
// an error.
func TestSend(t *testing.T) {
	dir := t.TempDir()
	elf := filepath.Join(dir, "x.elf")
	if err := os.WriteFile(elf, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(begun(t, ""))
	if err != nil {
		t.Fatal(err)
	}
	built := &hw.Prebuilt{Differs: "false", Compiler: hw.Compiler{Kind: "tinygo", Version: "0.41.1", Go: "go1.26.8"}, Impls: []string{"serial"}, Images: []hw.PrebuiltImage{
		{Impl: "serial", Parts: []string{"bench"}, Path: elf, Hash: strings.Repeat("a", 64)},
	}}
	checkout := filepath.Join(dir, "checkout")
	if err := os.MkdirAll(filepath.Join(checkout, "impls", "serial"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := hw.RunOptions{
		Checkout: hw.Checkout{Dir: checkout}, Devices: []hw.Device{{Board: hw.Board{Name: "cortex-m3-qemu"}}}, Parts: []string{"bench"}, Case: regexp.MustCompile(""),
		Count: 1, Limits: hw.Limits{Silence: 1, Case: 1},
	}
	c := Command{Con: console.New(new(bytes.Buffer), 0)}
	failed := errors.New("it is off")
	send := func(_ context.Context, _ string, to runner.Machine, path string) error {
		if to.Name == "middle" {
			return failed
		}
		return os.WriteFile(path, kept, 0o644)
	}
	all := new(hw.Summary)
	err = c.send(t.Context(), r, send, []runner.Machine{{Name: "left"}, {Name: "middle"}, {Name: "right"}}, dir, built, all)
	if !errors.Is(err, failed) || len(all.Files) != 2 {
		t.Fatalf("files %q, %v", all.Files, err)
	}
	for i, name := range []string{"left", "right"} {
		if ok, _ := filepath.Match(filepath.Join(checkout, "results", name, "????????-??????-nocommit.bench"), all.Files[i]); !ok {
			t.Errorf("the results of %s are in %s", name, all.Files[i])
		}
	}
	all, r.Out = new(hw.Summary), filepath.Join(dir, "out.bench")
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "job")), c.send(t.Context(), r, send, []runner.Machine{{Name: "left"}}, dir, built, all)); err != nil || !slices.Equal(all.Files, []string{r.Out}) {
		t.Errorf("files %q, %v", all.Files, err)
	}
	built.Images[0].Err = &hw.Error{Outcome: hw.BuildFailed}
	if err := c.send(t.Context(), r, nil, nil, dir, built, all); err != Ended(hw.BuildFailed) {
		t.Errorf("of no image %v", err)
	}
	var out bytes.Buffer
	none := Command{Con: c.Con, Out: &out, Impls: []string{"serial"}}
	if err := none.RunOn(t.Context(), RunOptions{Count: 1, Timeout: 1, Silence: 1}, Fleet{}); err != nil || out.Len() > 0 {
		t.Errorf("on no board: %v, %q", err, out.String())
	}
	var from hw.RunOptions
	if err := none.sources(t.Context(), &from); err != nil || !slices.Equal(from.Impls, []string{"serial"}) {
		t.Errorf("%q, %v", from.Impls, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	one := Command{Boards: []string{"rv32-qemu"}}
	for _, want := range []error{nil, session.ErrInterrupted} { // what was done is done
		if err := one.withDevice(ctx, func(context.Context, hw.Device) error { return want }); err != want {
			t.Errorf("interrupted when it had returned %v: %v", want, err)
		}
	}
}

// TestJob: the run of a job is the one that was packed.
func TestJob(t *testing.T) {
	dir := t.TempDir()
	elf := filepath.Join(dir, "x.elf")
	if err := os.WriteFile(elf, bytes.Repeat([]byte("x"), 200_000), 0o644); err != nil {
		t.Fatal(err)
	}
	const hash = "93958fd5bc60f840d428e037dc0395e780ef91ca62e18410a8bcbc740a5eeb71"
	built := &hw.Prebuilt{
		Commit: "9eb8e678dc0a2c8ec81b5074b217bef6c3236ce7", Differs: "true", Compiler: hw.Compiler{Kind: "tinygo", Version: "0.41.1", Go: "go1.26.8"},
		Impls: []string{"serial", "channel"}, All: true, Images: []hw.PrebuiltImage{
			{Impl: "serial", Parts: []string{"bench"}, Path: elf, Hash: hash},
			{Impl: "channel", Parts: []string{"conform/group"}, Err: &hw.Error{Outcome: hw.TooBig, What: "by a byte"}},
		},
	}
	var b bytes.Buffer
	c := Command{Con: console.New(&b, 0)}
	r := hw.RunOptions{
		Devices: []hw.Device{{Board: hw.Board{Name: "cortex-m3-qemu"}}}, Parts: []string{"bench", "conform/group"}, Case: regexp.MustCompile("a|b"),
		Count: 3, Limits: hw.Limits{Silence: 2 * time.Second, Case: 5 * time.Second},
	}
	folder := filepath.Join(dir, "job")
	if err := c.pack(folder, "a-job", r, built); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "packed 2 images: job ") || !strings.HasSuffix(b.String(), ", 0.2 MB\n") {
		t.Errorf("told %q", b.String())
	}
	o, err := jobs.Open(folder, filepath.Join(dir, "work"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := carried(o)
	if err != nil || got.Limits != r.Limits || got.Count != 3 || got.Case.String() != "a|b" || !slices.Equal(got.Parts, r.Parts) || got.Prebuilt == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	if path := got.Prebuilt.Images[0].Path; path != o.Image(o.Board.Images[0].File) {
		t.Errorf("the image is at %s", path)
	}
	got.Prebuilt.Images[0].Path = elf
	if !reflect.DeepEqual(got.Prebuilt, built) {
		t.Errorf("%+v\nwant\n%+v", got.Prebuilt, built)
	}
	// A sender may know more outcomes.
	o.Board.Images[1].Outcome = 99
	if got, err := carried(o); err != nil || got.Prebuilt.Images[1].Err.Outcome != hw.WrongResult {
		t.Errorf("%+v, %v", got.Prebuilt, err)
	}
	o.Board.Images[1].Why = ""
	if got, err := carried(o); err != nil || got.Prebuilt.Images[1].Err == nil {
		t.Errorf("an image that failed and does not say why: %+v, %v", got.Prebuilt, err)
	}
	for _, out := range []string{filepath.Join(dir, "new.bench"), begun(t, "")} {
		for _, emulated := range []bool{false, true} {
			d := hw.Device{Board: hw.Board{Emulated: emulated}}
			got, err := c.carriage(t.Context(), runner.Carriage{Machine: "left", Out: out}, o, d)
			if isNew := strings.HasPrefix(out, dir); err != nil || (got.Resume == nil) != isNew || (got.Out == out) != isNew || len(got.Devices) != 1 || got.Devices[0].Entry.ID != "left" {
				t.Errorf("%s: %+v, %v", out, got, err)
			}
			if s := fmt.Sprint(got.Settings); !strings.HasPrefix(s, "[{machine [left]} {job ["+o.ID+"]}") || (len(got.Settings) > 2) != emulated {
				t.Errorf("emulated %t: settings are %s", emulated, s)
			}
		}
	}
	pico := Command{Boards: []string{"rv32-qemu"}, Con: c.Con}
	if err := pico.Carry(t.Context(), runner.Carriage{Job: folder, Work: filepath.Join(dir, "w2")}); err == nil || !strings.Contains(err.Error(), "and this machine is") {
		t.Error(err)
	}
}

// TestCarrying: before each case it is reported how many are done, of all images and blocks.
func TestCarrying(t *testing.T) {
	var b, reports bytes.Buffer
	c := &carrying{progress: &progress{con: console.New(&b, 0)}, to: runner.Carriage{Reports: &reports}, count: 2, begun: time.Now().Add(-time.Hour)}
	one, two := &hw.Image{Impl: "serial"}, &hw.Image{Impl: "channel"}
	c.Cases(hw.Device{}, one, line.Hello{}, 3)
	c.Cases(hw.Device{}, two, line.Hello{}, 1)
	c.Had(one, 1)
	c.Case(hw.Device{}, one, "bench/x", 1)
	c.Case(hw.Device{}, two, "bench/x", 1)
	got := regexp.MustCompile(`(\d+)\.\d+`).ReplaceAllString(reports.String(), "$1")
	if want := "{\"block\":0,\"of\":8,\"left\":0}\n{\"block\":1,\"of\":8,\"left\":25200}\n{\"block\":2,\"of\":8,\"left\":10800}\n"; got != want {
		t.Errorf("reported\n%s\nwant\n%s", got, want)
	}
}

// TestListed: a board is connected by the entries of its kind, and what is missing is said without
// what to do, which stands below.
func TestListed(t *testing.T) {
	m := &hw.Map{Entries: []hw.Entry{{ID: "left", Board: "pico"}, {ID: "pico", Board: "other"}}}
	missing := []error{&hw.Error{Outcome: hw.ToolchainMissing, What: "tinygo is not on PATH", Do: "install"}, errors.New("other")}
	l := listed(hw.Board{Name: "pico"}, m, fits{fit: []string{"serial"}}, missing)
	if !slices.Equal(l.Connect, []string{"left"}) || !slices.Equal(l.Missing, []string{"tinygo is not on PATH", "other"}) || !slices.Equal(l.Fits, []string{"serial"}) || l.Sent {
		t.Errorf("%+v", l)
	}
	if !listed(hw.Board{SSH: true}, m, fits{}, nil).Sent || !listed(hw.Board{Emulator: []string{"x"}}, m, fits{}, nil).Sent {
		t.Error("images cannot be sent to what is reached by ssh, or emulated")
	}
	var b strings.Builder
	if err := ListDoc([]Listed{{Name: "pico", Fits: []string{"serial"}, Unfit: map[string]string{"channel": "so"}}}).Text(&b, report.TextOptions{}); err != nil || !strings.Contains(b.String(), " serial ") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// TestBuilds: what was asked for by name is to fit; the worst of all is what a build ends with.
func TestBuilds(t *testing.T) {
	for _, c := range []struct {
		named    bool
		outcomes []hw.Outcome
		want     hw.Outcome
	}{
		{false, []hw.Outcome{hw.TooBig}, hw.OK}, {true, []hw.Outcome{hw.TooBig}, hw.TooBig}, {false, []hw.Outcome{hw.BuildFailed, hw.ToolchainMissing}, hw.BuildFailed},
	} {
		var out bytes.Buffer
		b := builder{c: &Command{Con: console.New(&out, 0), Out: &out}}
		if c.named {
			b.c.Impls = []string{"serial"}
		}
		for _, o := range c.outcomes {
			if err := b.add(t.Context(), hw.Board{Name: "b"}, "serial", nil, &hw.Error{Outcome: o, What: "\x1b[8m"}); err != nil {
				t.Fatal(err)
			}
		}
		if b.worst != c.want || b.built || b.all[0].Outcome != c.outcomes[0].String() || !strings.Contains(b.all[0].Why, `\x1b[8m`) {
			t.Errorf("%+v: %+v", c, b)
		}
	}
	im := &hw.Image{Board: hw.Board{RAM: 100, Flash: 200}, Parts: []string{"bench"}, Toolchain: "x", Sizes: &hw.Sizes{Stack: 1, Packages: []hw.PackageSize{{Code: 7, BSS: 4}}}}
	dir := t.TempDir()
	for _, c := range []struct {
		out  string
		json bool
		err  error
	}{{"", false, nil}, {dir, false, nil}, {dir, true, nil}, {dir, false, &hw.Error{Outcome: hw.TooBig}}} {
		var out bytes.Buffer
		b := builder{c: &Command{Con: console.New(new(bytes.Buffer), 0), Out: &out}, BuildOptions: BuildOptions{Out: c.out, JSON: c.json}}
		im.Path = filepath.Join(dir, "x")
		kept := c.out != "" && c.err == nil
		if err := b.note(im.Board, "serial", im, c.err); err != nil || (b.all[0].Path != "") != kept || (out.Len() > 0) != (c.err == nil && !c.json) || strings.Contains(out.String(), "image: ") != (kept && !c.json) {
			t.Errorf("%+v: %+v, %v, printed %q", c, b.all, err, out.String())
		}
	}
	b := hw.Image{Board: hw.Board{Name: "pico"}, Impl: "serial", Path: filepath.Join(dir, "x")}
	if err := os.WriteFile(b.Path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := keep(&b, dir); err != nil || b.Path != filepath.Join(dir, "pico-serial.elf") {
		t.Errorf("kept in %s, %v", b.Path, err)
	}
	var one Built
	if one.describe(im); *one.Flash != (Used{7, 200}) || *one.RAM != (Used{5, 100}) || len(one.Packages) != 1 || one.Toolchain != "x" {
		t.Errorf("%+v %+v %+v", one, one.Flash, one.RAM)
	}
	var text strings.Builder
	all := []Built{{Board: "b", Impl: "serial", Flash: &Used{1, 4}, RAM: &Used{3, 8}}, {Board: "b", Impl: "other"}}
	if err := compareImages(all).Text(&text, report.TextOptions{}); err != nil || !strings.Contains(text.String(), "1 of 4 bytes, 3 left (75 %)  3 of 8 bytes, 5 left (62 %)") {
		t.Errorf("%v\n%s", err, text.String())
	}
}

// TestNamed: two boards of a kind are two, and one is not named twice; a board runs one
// implementation at a time, and each is taken once.
func TestNamed(t *testing.T) {
	hwmap := filepath.Join(t.TempDir(), "map.yaml")
	if err := os.WriteFile(hwmap, []byte("boards:\n- id: left\n  board: pico\n  port: /dev/a\n- id: right\n  board: pico\n  port: /dev/b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for names, want := range map[string]int{"left right": 2, "left left": 0, "left rv32-qemu": 2, "pico": 0} {
		if d, err := (&Command{Boards: strings.Fields(names), Map: hwmap}).devices(); len(d) != want || (err == nil) != (want > 0) {
			t.Errorf("%s: %+v, %v", names, d, err)
		}
	}
	checkout := hw.Checkout{Dir: "../.."}
	for names, want := range map[string]string{"": "serial", "channel": "channel", "channel serial": "", "none": ""} {
		if got, err := (&Command{Impls: strings.Fields(names)}).one(checkout); got != want || (err == nil) != (want != "") {
			t.Errorf("one of %q is %q, %v", names, got, err)
		}
	}
	if got, err := (&Command{Impls: []string{"serial", "channel", "serial"}}).implementations(checkout); err != nil || !slices.Equal(got, []string{"serial", "channel"}) {
		t.Errorf("%q, %v", got, err)
	}
}

// TestPresent: each outcome of a case has its hint once, boards are told apart, and paths are as one
// types them.
func TestPresent(t *testing.T) {
	var con, out bytes.Buffer
	c := Command{Con: console.New(&con, 0), Out: &out}
	result := func(id, name string, o hw.Outcome) hw.CaseResult {
		r := hw.CaseResult{Device: hw.Device{Entry: hw.Entry{ID: id}}, Impl: "serial", Case: name, Outcome: o}
		if o != hw.OK {
			r.Err = &hw.Error{Outcome: o, What: "x", Do: "do it"}
		}
		return r
	}
	s := &hw.Summary{Results: []hw.CaseResult{
		result("left", "bench/a", hw.Hung), result("left", "bench/b", hw.Hung), result("left", "", hw.TooBig), result("left", "conform/a", hw.WrongResult), result("left", "bench/c", hw.OK), result("right", "bench/a", hw.OK),
	}}
	s.Results[3].Skip = "and skipped"
	s.Results = append(s.Results, s.Results[4])
	s.Results[6].Skip = "needs more"
	if err := c.present(s); err != nil {
		t.Fatal(err)
	}
	if want := "hint: hung: do it\nhint: wrong result: do it\n"; con.String() != want {
		t.Errorf("told %q, want %q", con.String(), want)
	}
	want := "board  implementation  figures  clauses passed  skipped  failed\n" +
		"left   serial          1        0               2        3       wrong result\n" +
		"right  serial          1        0               0        0       ok\n" +
		"\nclauses of left with serial: 0 passed, 1 skipped, 0 failed\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"a/b": "a/b", filepath.Join(wd, "a"): "a", filepath.Join(wd, "../a"): "../a", "/a": "/a"} {
		if got := near(path); got != want {
			t.Errorf("near %s is %s, want %s", path, got, want)
		}
	}
	file := filepath.Join(t.TempDir(), "x y.bench")
	if err := os.WriteFile(file, []byte("board: toy\nBenchmarkActor/workload=pingpong/impl=serial 1 30 ns/op\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := summary(&hw.Summary{Files: []string{file}}).Text(&b, c.Text); err != nil || !strings.Contains(b.String(), "FR-014") || strings.Contains(b.String(), "not measured") || !strings.HasSuffix(b.String(), "benchrun report '"+file+"'\n") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// TestProgressOf: an image is told of by itself, a case that passes alone too, and what is no figure is
// no line.
func TestProgressOf(t *testing.T) {
	one, two := &hw.Image{Impl: "serial"}, &hw.Image{Impl: "channel"}
	var b bytes.Buffer
	p := &progress{con: console.New(&b, 0)}
	p.Cases(hw.Device{}, one, line.Hello{}, 2)
	p.Cases(hw.Device{}, two, line.Hello{}, 3)
	b.Reset()
	for _, c := range []struct {
		im    *hw.Image
		block int
		r     hw.CaseResult
	}{
		{one, 1, hw.CaseResult{Case: "conform/a"}},
		{two, 1, hw.CaseResult{Case: "conform/a", Answer: &hw.Answer{}}},
		{two, 1, hw.CaseResult{Skip: "does not fit"}},
		{two, 2, hw.CaseResult{Case: "bench/a", Answer: &hw.Answer{Results: []string{"BenchmarkA 1 2 ns/op"}}}},
	} {
		p.Case(hw.Device{}, c.im, c.r.Case, c.block)
		p.Done(c.r)
	}
	want := "  1 clause passed (at case 1 of 2)\n  1 clause passed (at case 2 of 3)\n  skipped: does not fit\n  bench/a (time 2) with channel: 2 ns/op\n"
	if b.String() != want || p.cases != 5 {
		t.Errorf("told\n%s\nwant\n%s", b.String(), want)
	}
	none := &progress{con: p.con, of: p.of}
	for worst, want := range map[hw.Outcome]bool{hw.OK: true, hw.TooBig: true, hw.BuildFailed: false} {
		if none.none(worst) != want || p.none(worst) || new(progress).none(worst) {
			t.Errorf("%v: none of the cases was wanted", worst)
		}
	}
}
