package hw

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
