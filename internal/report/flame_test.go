package report

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/dynolab/dyno/internal/why"
)

// cpuProfile makes a profile of CPU time with samples of 10 ms, by stack, leaf
// first.
func cpuProfile(stacks map[string]int64) *profile.Profile {
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}},
		PeriodType: new(profile.ValueType),
	}
	for stack, n := range stacks {
		s := &profile.Sample{Value: []int64{n, n * 10_000_000}}
		for symbol := range strings.FieldsSeq(stack) {
			id := uint64(len(p.Function) + 1)
			f := &profile.Function{ID: id, Name: symbol}
			loc := &profile.Location{ID: id, Line: []profile.Line{{Function: f}}}
			p.Function, p.Location, s.Location = append(p.Function, f), append(p.Location, loc), append(s.Location, loc)
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

func flameProfiles() (base, this why.Sampled) {
	return why.Sampled{N: 1_000_000, Profile: cpuProfile(map[string]int64{
		"runtime.chansend x.org/a.<f> x.org/a.run": 400, "x.org/a.work x.org/a.run": 400, "x.org/a.gone": 100, "x.org/a.rare x.org/a.run": 3,
	})}, why.Sampled{N: 1_000_000, Profile: cpuProfile(map[string]int64{
		"runtime.chansend x.org/a.<f> x.org/a.run": 150, "x.org/a.work x.org/a.run": 404, "x.org/a.new x.org/a.run": 50, "x.org/a.rare x.org/a.run": 5,
	})}
}

func TestFlame(t *testing.T) {
	draw := func() string {
		base, this := flameProfiles() // with samples in another order each time
		tree, err := why.NewTree(why.CPU, base, this)
		if err != nil {
			t.Fatal(err)
		}
		return string(flameGraph("Row: this & that", "old", "new", tree))
	}
	svg := draw()
	for range 20 {
		if draw() != svg {
			t.Fatal("the same trees gave other bytes")
		}
	}
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	more, less, same := flameColor(2), flameColor(-2), flameColor(0)
	mentions(t, svg,
		"<title>a.gone: 1.000 µs/op here, 11.1%\nwherever it is called: 0 ns/op against 1.000 µs/op, gone</title>",
		"<title>a.new: 500.0 ns/op here, 8.2%\nwherever it is called: 500.0 ns/op against 0 ns/op, new</title>",
		"wherever it is called: 1.500 µs/op against 4.000 µs/op, × 0.375</title>",
		// Four samples in four hundred are no difference.
		"<title>a.work: 4.040 µs/op here, 66.3%\nwherever it is called: 4.040 µs/op against 4.000 µs/op, not told apart</title>",
		// Both to one scale: 803 of 903 samples of base, 609 samples of this.
		`width="1045.8" height="17"`, `width="793.1" height="17"`,
		"Row: this &amp; that", "a.&lt;f&gt;",
		">chansend</text>",
		`fill="`+more+`"`, `fill="`+less+`"`, `fill="`+same+`"`,
	)
	if strings.Contains(svg, "<script") || strings.Contains(strings.ReplaceAll(svg, "http://www.w3.org/2000/svg", ""), "http") {
		t.Error("the file has a script or needs another")
	}
}

func TestFitting(t *testing.T) {
	for _, c := range []struct {
		name  string
		width float64
		want  string
	}{{"abcdef", 6 * flameChar, "abcdef"}, {"abcdef", 5 * flameChar, "abcd…"}, {"abcdef", 3 * flameChar, ""}, {"ab", 3 * flameChar, "ab"}, {"äöüäöü", 5 * flameChar, "äöüä…"}} {
		if got := fitting(c.name, c.width+0.1); got != c.want {
			t.Errorf("fitting(%s, %v) = %q, want %q", c.name, c.width, got, c.want)
		}
	}
}

func TestWriteFlames(t *testing.T) {
	results := filepath.Join(t.TempDir(), "run.bench")
	folder := why.Folder(results)
	if err := os.MkdirAll(filepath.Join(folder, "row"), 0o755); err != nil {
		t.Fatal(err)
	}
	base, this := flameProfiles()
	for name, p := range map[string]*profile.Profile{"old": base.Profile, "new": this.Profile, "none": cpuProfile(nil)} {
		f, err := os.Create(filepath.Join(folder, "row", name+".cpu.pb.gz"))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(p.Write(f), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	side := func(name string) why.Side { return why.Side{Path: "row/" + name + ".cpu.pb.gz", N: 1_000_000} }
	c := &why.Cell{Row: "Row", Base: "old", Column: "new", Profiles: []why.Profile{
		{Kind: why.CPU, Base: side("old"), This: side("new")},
		{Kind: why.CPU, Base: side("none"), This: side("none")},
	}}
	if err := WriteFlames(results, c); err != nil {
		t.Fatal(err)
	}
	if c.Profiles[0].Flame != "row/new.cpu.svg" || c.Profiles[1].Flame != "" {
		t.Errorf("the paths are %q and %q", c.Profiles[0].Flame, c.Profiles[1].Flame)
	}
	if _, err := os.Stat(filepath.Join(folder, "row", "new.cpu.svg")); err != nil {
		t.Error(err)
	}
	c.Profiles[0].Base.Path = "../../secret"
	if err := WriteFlames(results, c); err == nil || !strings.Contains(err.Error(), "leads out") {
		t.Errorf("the error is %v", err)
	}
}
