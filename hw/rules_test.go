package hw

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/record"
)

// TestDescribe: what an image decides stands in its results: what the board has, not what of it is free.
func TestDescribe(t *testing.T) {
	im := &boardImage{
		Image: &Image{Impl: "serial", Parts: []string{"bench", "conform/group"}, Hash: "h", Sizes: &Sizes{Stack: 1, Packages: []PackageSize{{Code: 20, BSS: 3}}}},
		hello: line.Hello{Unit: "insns", Clock: 15625000.5, RAM: 64, Flash: 256, RAMFree: 48},
	}
	if got := fmt.Sprint(im.describe()); got != "[{parts [bench+conform/group]} {clock-unit [insns]} {clock-hz [15625000.5]} {ram [64]} {flash [256]} {image [h]}]" {
		t.Errorf("described by %s", got)
	}
	if got, want := im.sizes(), "BenchmarkBoard/case=image/parts=bench+conform-group/impl=serial 1 20 flash-B 4 ram-B 48 ram-free-B"; got != want {
		t.Errorf("its sizes are %q, want %q", got, want)
	}
	if got, want := unitLines(im.sizes(), sizeUnits, line.Hello{Unit: "ns"}), []string{"flash-B better=lower", "ram-B better=lower", "ram-free-B better=higher"}; !slices.Equal(got, want) {
		t.Errorf("units are %q, want %q", got, want)
	}
	// A unit is told by the whole of its name.
	if got := unitLines("BenchmarkX 1 3 p50-ns", []string{"p50-ns/x better=higher", "p50-ns better=lower"}, line.Hello{Unit: "ns"}); !slices.Equal(got, []string{"p50-ns better=lower"}) {
		t.Errorf("units are %q", got)
	}
}

// TestFirmwareCommit: a commit is said to be another one's unless it is known that it is not.
func TestFirmwareCommit(t *testing.T) {
	for _, c := range [][3]string{{"a", "false", "a"}, {"a", "true 01", "a+dirty"}, {"a", "", "a+dirty"}, {"", "true", ""}} {
		if got := FirmwareCommit(c[0], c[1]); got != c[2] {
			t.Errorf("%q, dirty %q is %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

// TestCircumstances: a device is named where it is not its board, an emulator is, and settings are added.
func TestCircumstances(t *testing.T) {
	d := newWorld(true)
	for id, device := range map[string]string{"toy": "", "left": "left"} {
		r := &deviceRun{deps: d.deps(), d: Device{Board: Board{Name: "toy", Emulator: []string{"qemu", "{image}"}}, Entry: Entry{ID: id}}}
		r.o.Settings = []record.Setting{{Key: "job", Values: []string{"7"}}}
		c := r.circumstances(t.Context())
		if c.Machine != id || c.Value("device") != device || c.Value("emulator") != "qemu {image}" || c.Value("job") != "7" || c.Value("emulated") != "no" || c.Value("host") != "world" {
			t.Errorf("%s: %+v", id, c)
		}
	}
}

// TestKeptHoles: what came of cases and of images is read as it was.
func TestKeptHoles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "toy.bench")
	writeFile(t, path, []byte(`board: toy
# hole: pkg=github.com/dynolab/dyno/impls/lost kind="build failed" reason="build failed: so"
# hole: pkg=github.com/dynolab/dyno/impls/huge kind="too big" reason="too big: by a byte"
# skip: pkg=github.com/dynolab/dyno/impls/large reason="does not fit: by 2 bytes"
# conform: impl=a clause=x result=fail outcome="out of memory" why="no room"
# conform: impl=a clause=y result=skip why="needs Goexit"
block: 1
# skip: case=BenchmarkX/impl=a reason="does not fit: in the time"
BenchmarkBoard/case=image/parts=bench/impl=a 1 20 flash-B
BenchmarkY/impl=a 1 5 ns/op
block: 2
BenchmarkY/impl=a 1 5 ns/op
# hole: case=BenchmarkZ/impl=a block=2 kind=hang reason="hung: no line"
`))
	kept, err := ReadKept(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range kept.Results {
		why := ""
		if c.Err != nil {
			why = c.Err.What
		}
		got = append(got, fmt.Sprintf("%s %q %d %v %q %q", c.Impl, c.Case, c.Block, c.Outcome, c.Skip, why))
	}
	want := []string{
		`lost "" 0 build failed "" "so"`,
		`huge "" 0 too big "" "by a byte"`,
		`large "" 0 too big "does not fit: by 2 bytes" "by 2 bytes"`,
		`a "bench/X/impl=a" 1 ok "does not fit: in the time" ""`,
		`a "bench/Z/impl=a" 2 hung "" "no line"`,
		`a "bench/Y/impl=a" 1 ok "" ""`,
		`a "bench/Y/impl=a" 2 ok "" ""`,
		`a "conform/x" 1 out of memory "" "no room"`,
		`a "conform/y" 1 ok "needs Goexit" ""`,
	}
	if !slices.Equal(got, want) || kept.Cases() != 6 {
		t.Errorf("%d cases of\n%s\nwant\n%s", kept.Cases(), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// hadProgress notes what was there before.
type hadProgress struct {
	noProgress
	blocks []int
}

func (p *hadProgress) Had(_ *Image, block int) { p.blocks = append(p.blocks, block) }

// TestTellHad: of an image each case is told of that it had in each block, and no other image's.
func TestTellHad(t *testing.T) {
	one, two := &boardImage{Image: new(Image)}, &boardImage{Image: new(Image)}
	plan := &record.Plan{CPU: []int{1}, Blocks: 4}
	for _, name := range []string{imageCase + "bench/impl=a", "BenchmarkX/impl=a", "BenchmarkY/impl=a", imageCase + "bench/impl=b", "BenchmarkX/impl=b"} {
		plan.Cases = append(plan.Cases, record.Case{Pkg: casePackage, Name: name})
	}
	from := &record.Interrupted{Plan: plan, Ended: 2, Done: map[record.StepKey]bool{{Index: 1, Copy: 1}: true, {Index: 2, Copy: 1}: true, {Index: 5, Copy: 1}: true}}
	p := new(hadProgress)
	r := &deviceRun{images: []*boardImage{one, two}, plan: Plan{Images: []PlannedImage{{Cases: 3}, {Cases: 2}}}, o: RunOptions{Resume: from, Progress: p}}
	if r.tellHad(one); !slices.Equal(p.blocks, []int{1, 2, 3, 1, 2}) {
		t.Errorf("it had blocks %d", p.blocks)
	}
	for i, want := range []int{0, 0, 0, 1, 1} {
		if got := r.imageAt(record.Step{Index: i + 1}); got != want {
			t.Errorf("step %d is of image %d", i+1, got)
		}
	}
	// Of an image something is left while a block is not complete, or a case of it is not.
	from.Plan.Blocks = 3
	if !r.left(from, 0) || !r.left(from, 1) {
		t.Error("nothing is left of what was not run in the last block")
	}
	from.Done[record.StepKey{Index: 3, Copy: 1}] = true
	if r.left(from, 0) || !r.left(from, 1) {
		t.Error("what is left is of another image")
	}
}

// TestFill: what came of a case is in its record.
func TestFill(t *testing.T) {
	im := &boardImage{Image: &Image{Impl: "a"}, hello: line.Hello{Unit: "insns"}}
	failed := &Error{Outcome: OutOfMemory, What: "no\nroom", Output: "panic"}
	answer := &Answer{Results: []string{"BenchmarkX/impl=a 1 5 insns/op 3 p50-insns"}, Units: []string{"p50-insns better=lower"}, Notes: []string{"a\nb"}}
	for _, c := range []struct {
		name string
		res  CaseResult
		want string
	}{
		{"conform/x/impl=a", CaseResult{}, "{a x pass  } <nil>  [] []"},
		{"conform/x/impl=a", CaseResult{Skip: "needs\nmore"}, "{a x skip  needs more} <nil>  [] []"},
		{"conform/x/impl=a", CaseResult{Err: failed}, "{a x fail out of memory no room} <nil>  [] []"},
		{"BenchmarkX/impl=a", CaseResult{Skip: "needs\nmore"}, "<nil> skip needs more true  [] []"},
		{"BenchmarkX/impl=a", CaseResult{Err: failed}, "<nil> out of memory out of memory: no room false panic [] []"},
		{"BenchmarkX/impl=a", CaseResult{Answer: answer}, "<nil> <nil>  [insns/op assume=exact p50-insns better=lower assume=exact] [a b]"},
	} {
		rec := record.Record{Step: record.Step{Case: record.Case{Name: c.name}, CPU: 1}}
		im.fill(&rec, 2, c.res)
		clause, hole := "<nil>", "<nil>"
		if rec.Clause != nil {
			clause = fmt.Sprint(*rec.Clause)
		}
		if h := rec.Hole; h != nil {
			hole = fmt.Sprint(h.Kind, " ", h.Reason, " ", h.Skipped)
		}
		if got := fmt.Sprint(clause, " ", hole, " ", rec.Output, " ", rec.Units, " ", rec.Notes); got != c.want {
			t.Errorf("%s, %+v: %s\nwant %s", c.name, c.res, got, c.want)
		}
	}
}

// TestErrorSays: what is behind an error is said once, and what to do by itself before its outcome's.
func TestErrorSays(t *testing.T) {
	behind := errors.New("exit status 1")
	for _, c := range []struct {
		e          Error
		says, hint string
	}{
		{Error{Outcome: Hung, What: "x", Err: behind}, "hung: x: exit status 1", Hung.Hint()},
		{Error{Outcome: Hung, What: "x, exit status 1", Err: behind, Do: "do"}, "hung: x, exit status 1", "do"},
	} {
		if c.e.Error() != c.says || c.e.Hint() != c.hint {
			t.Errorf("%q, %q; want %q, %q", c.e.Error(), c.e.Hint(), c.says, c.hint)
		}
	}
	for o, kind := range map[Outcome]string{Hung: "hang", Crashed: "crash", TooBig: "too big"} {
		if got := string(failed(o, "", nil).FailureKind()); got != kind {
			t.Errorf("%v is of the kind %s", o, got)
		}
	}
}

// TestLanguageFor: an image is of the older language of both, the compiler's and the checkout's.
func TestLanguageFor(t *testing.T) {
	for compiler, want := range map[string]string{"go1.24.1": "go1.24", "go1.26.8": "go1.26", "go1.27": "go1.26", "devel": "go1.26"} {
		if got := languageFor(Checkout{Go: "go1.26"}, &Compiler{Go: compiler}); got != want {
			t.Errorf("of %s it is %s, want %s", compiler, got, want)
		}
	}
}

// TestBuildFlags: a compiler gets what board.json says, under the names that it has for it.
func TestBuildFlags(t *testing.T) {
	b := Board{Kind: kindTinyGo, Target: "t", Stack: "1KB", GC: "leaking", Scheduler: "tasks", Opt: "z", Flags: []string{"-x"}}
	const set = "-ldflags=-X main.commit=unknown -X main.toolchain=go1"
	for kind, want := range map[Kind][]string{
		kindTinyGo: {"-target=t", set + " -extldflags=--wrap=tinygo_scanCurrentStack", "-stack-size=1KB", "-gc=leaking", "-scheduler=tasks", "-opt=z", "-x"},
		kindGo:     {"-trimpath", "-buildvcs=false", set, "-x"},
	} {
		b.Kind = kind
		if got := buildFlags(b, "", "go1"); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", kind, got, want)
		}
	}
	if got := buildFlags(Board{Kind: kindTinyGo}, "c", "go1"); len(got) != 2 || !strings.Contains(got[1], "main.commit=c ") {
		t.Errorf("what is not said is %q", got)
	}
}

// TestLinkerScript: it is the image's own before TinyGo's, and that of the latest target that is inherited.
func TestLinkerScript(t *testing.T) {
	root, dir := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "targets"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"a": `{"linkerscript": "a.ld"}`, "b": `{"linkerscript": "b.ld"}`, "none": `{}`, "heir": `{"inherits": ["a", "b", "none"]}`, "own": `{"inherits": ["a"], "linkerscript": "own.ld"}`,
	} {
		writeFile(t, filepath.Join(root, "targets", name+".json"), []byte(text))
	}
	writeFile(t, filepath.Join(dir, "target.json"), []byte(`{"inherits": ["own"]}`))
	writeFile(t, filepath.Join(dir, "own.ld"), nil)
	for target, want := range map[string]string{"a": filepath.Join(root, "a.ld"), "heir": filepath.Join(root, "b.ld"), "target.json": filepath.Join(dir, "own.ld"), "none": "", "absent": ""} {
		if got, err := linkerScript(root, dir, target); got != want || (err == nil) != (want != "") {
			t.Errorf("%s has %q, %v, want %q", target, got, err, want)
		}
	}
}

// notedRun notes what a run does, and how many cases are to be run.
type notedRun struct {
	noProgress
	built []string
	cases []int
}

func (p *notedRun) Build(d Device, impl string, parts []string) {
	p.built = append(p.built, fmt.Sprint(impl, " ", len(parts)))
}
func (p *notedRun) Cases(_ Device, _ *Image, _ line.Hello, n int) { p.cases = append(p.cases, n) }

// TestRunPlans: what is too big for its board is split, and nothing else; what a board skips is no case
// of the plan; and of a run that is complete nothing is built or looked for again.
func TestRunPlans(t *testing.T) {
	d, o, p := newWorld(true), deskOptions(), new(notedRun)
	h := d.deps()
	tables := make(map[bool]int) // of one part, and of more
	build := h.build
	h.build = func(ctx context.Context, b Board, c *Compiler, o BuildOptions) (*Image, error) {
		if o.NoTable != (len(o.Parts) > 1) {
			t.Errorf("no table %t of %q", o.NoTable, o.Parts)
		}
		tables[o.NoTable]++
		return build(ctx, b, c, o)
	}
	o.Out, o.Count, o.Progress = filepath.Join(t.TempDir(), "x.bench"), 0, p
	s, err := run(t.Context(), o, h)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"serial 3", "lost 3", "loose 3", "large 3", "large 1", "large 1", "large 1"}; !slices.Equal(p.built, want) || tables[false] != 3 {
		t.Errorf("built are %q, %v", p.built, tables)
	}
	from, err := record.ReadInterruptedBoard(o.Out)
	if err != nil {
		t.Fatal(err)
	}
	run1, images := 0, 0
	for _, n := range p.cases {
		run1 += n
	}
	for _, c := range from.Plan.Cases {
		if strings.HasPrefix(c.Name, imageCase) {
			images++
		}
	}
	if from.Plan.Blocks != 1 || len(from.Plan.Cases) != run1+images || from.Plan.Subjects["serial bench+conform/group+conform/task"] == "" {
		t.Errorf("%d cases are to be run, and the plan has %d and %d images: %+v", run1, len(from.Plan.Cases), images, from.Plan.Subjects)
	}
	var results []string
	_, again, err := resumed(t, o.Out, true, func(d *world, o *RunOptions, h *deps) {
		d.noCompiler = true
		h.commit = func(_ context.Context, _, path string) (string, string) {
			results = append(results, path)
			return "", ""
		}
	})
	if err != nil || !slices.Equal(again.Files, []string{o.Out}) || len(again.Results) < len(s.Results)-1 || len(results) > 0 {
		t.Errorf("what is complete is gone on with: %d of %d results of %q, %v", len(again.Results), len(s.Results), again.Files, err)
	}
	path, _, _, _ := interrupted(t, true)
	if _, _, err := resumed(t, path, true, func(d *world, _ *RunOptions, h *deps) {
		h.commit = func(_ context.Context, _, path string) (string, string) {
			results = append(results, path)
			return d.commit, d.dirty
		}
	}); err != nil || !slices.Equal(results, []string{path}) {
		t.Errorf("whether sources differ is looked at beside %q, %v", results, err)
	}
	none := deskOptions()
	none.Out, none.Case = filepath.Join(t.TempDir(), "x.bench"), regexp.MustCompile("no such case")
	if s, err := run(t.Context(), none, newWorld(true).deps()); err != nil || len(s.Files) > 0 || exists(none.Out) {
		t.Errorf("of no case a file is written: %q, %v", s.Files, err)
	}
}

// TestWorstOfDevices: each device is judged by its own results, and the worst of them is the run's.
func TestWorstOfDevices(t *testing.T) {
	for _, order := range [][]string{{"good", "big"}, {"big", "good"}} {
		checkout := t.TempDir()
		if err := os.MkdirAll(filepath.Join(checkout, "impls", "serial"), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(checkout, "impls", "serial", "impl.go"), nil)
		o, h := deskOptions(), newWorld(true).deps()
		o.Impls, o.Checkout.Dir, o.Parts, o.Case = nil, checkout, []string{"bench"}, regexp.MustCompile("good")
		toy := o.Devices[0]
		o.Devices = nil
		for _, id := range order {
			toy.Entry.ID = id
			toy.Board.Title = id
			o.Devices = append(o.Devices, toy)
		}
		build := h.build
		h.build = func(ctx context.Context, b Board, c *Compiler, o BuildOptions) (*Image, error) {
			im, err := build(ctx, b, c, o)
			if b.Title == "big" {
				err = failed(TooBig, "by a byte", nil)
			}
			return im, err
		}
		s, err := run(t.Context(), o, h)
		if err != nil || s.Worst != TooBig {
			t.Errorf("%q: the worst is %v, %v", order, s.Worst, err)
		}
		for _, r := range s.Results {
			if (r.Outcome == TooBig) != (r.Device.Entry.ID == "big") || (r.Skip != "") != (r.Outcome == TooBig) {
				t.Errorf("%s: %+v", r.Device.Entry.ID, r)
			}
		}
	}
	p := Plan{Impls: []string{"a", "b"}, All: true}
	r := &deviceRun{o: RunOptions{Prebuilt: &Prebuilt{Impls: p.Impls, All: true}}}
	if got, err := r.asked(); err != nil || p.names() != "all (a,b)" || !got.All || !slices.Equal(got.Impls, p.Impls) {
		t.Errorf("%s, and asked for is %+v, %v", p.names(), got, err)
	}
}

// TestConverse: an emulator that hangs before it begins is started up to three times, which is said; a
// board is not, nor one that has begun. What runs is the image that was to run, or nothing is.
func TestConverse(t *testing.T) {
	im := &Image{Board: Board{Name: "toy", Emulated: true}, Impl: "serial", Parts: []string{"bench"}, Commit: "c", Toolchain: "t", Hash: "h"}
	hung, begun := &Error{Outcome: Hung, What: "x", unbegun: true}, &Error{Outcome: Hung, What: "x"}
	for _, c := range []struct {
		cheap bool
		errs  []error
		again string
	}{
		{true, []error{hung, hung, hung}, "it was started 3 times: x"},
		{true, []error{hung, nil}, "it was started 2 times: x"},
		{true, []error{begun}, ""},
		{true, []error{nil}, ""},
		{false, []error{hung}, ""},
	} {
		d := newWorld(c.cheap)
		r := &deviceRun{target: d.target, o: RunOptions{Limits: patient}}
		if err := d.target.Flash(t.Context(), im); err != nil {
			t.Fatal(err)
		}
		n := 0
		_, again, err := r.converse(t.Context(), im, func(*Session) error {
			n++
			return c.errs[min(n, len(c.errs))-1]
		})
		if n != len(c.errs) || again != c.again || err != c.errs[n-1] {
			t.Errorf("%+v: %d starts, %q, %v", c, n, again, err)
		}
		for what, change := range map[string]func(*Image){
			"":          func(*Image) {},
			"board":     func(im *Image) { im.Board.Name = "other" },
			"impl":      func(im *Image) { im.Impl = "channel" },
			"commit":    func(im *Image) { im.Commit = "d" },
			"no commit": func(im *Image) { im.Commit = "" },
			"toolchain": func(im *Image) { im.Toolchain = "u" },
		} {
			other := *im
			change(&other)
			s, _, err := r.start(t.Context(), &other)
			if what != "" {
				wantOutcome(t, err, FlashFailed, "and was to run")
			} else if err != nil || s.Close() != nil {
				t.Errorf("the image that was flashed: %v", err)
			}
		}
	}
}
