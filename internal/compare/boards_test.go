package compare

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

const (
	hostText = `machine: host
emulated: false
Unit allocs/op better=lower
block: 1
BenchmarkActor/workload=pingpong/impl=ref-chan-4 1 90 ns/op 0 allocs/op
BenchmarkActor/workload=pingpong/impl=serial-4 1 30 ns/op 0 allocs/op
BenchmarkActor/workload=pingpong/impl=serial-2 1 31 ns/op 0 allocs/op
BenchmarkActor/workload=pairs/impl=serial-4 1 20 ns/op 0 allocs/op
BenchmarkActor/workload=latency/impl=serial-4 1 2000 p99-ns
`
	emulatedText = `board: tiny-qemu
chip: m3
emulated: yes
clock-unit: insns
clock-hz: 15625000
Unit insns/op better=lower assume=exact
Unit allocs/op better=lower assume=exact
BenchmarkActor/workload=pingpong/impl=serial 1000 312 insns/op 0 allocs/op
BenchmarkActor/workload=pingpong/impl=channel 1000 1000 insns/op 1 allocs/op
# skip: case=BenchmarkActor/workload=big/impl=channel reason="needs 96 KiB"
BenchmarkActor/workload=latency/impl=serial 100 70 p99-insns
`
	realText = `board: tiny
chip: m3
emulated: false
clock-unit: ns
BenchmarkActor/workload=pingpong/impl=serial 1000 6000 ns/op 0 allocs/op
`
)

// Emulated figures are compared with those of the same board only, whatever the
// columns would be.
func TestEmulatedIsNotComparedWithReal(t *testing.T) {
	host, emulated, real := recordtest.Write(t, "host.bench", hostText), recordtest.Write(t, "emulated.bench", emulatedText), recordtest.Write(t, "real.bench", realText)
	other := recordtest.Write(t, "other.bench", strings.Replace(emulatedText, "tiny-qemu", "other-qemu", 1))
	for _, c := range []struct {
		paths []string
		o     Options
		want  string // in the error; empty for none
	}{
		{[]string{host, emulated}, Options{}, "tiny-qemu (emulated) and a host are not compared: emulated figures are no measure of real time; benchrun report shows them side by side"},
		{[]string{emulated, host}, Options{Col: ".file"}, "tiny-qemu (emulated) and a host are not compared"},
		{[]string{emulated, real}, Options{}, "tiny-qemu (emulated) and tiny (a real board) are not compared"},
		{[]string{emulated, other}, Options{}, "tiny-qemu (emulated) and other-qemu (emulated) are not compared: what one emulated board takes says nothing of another"},
		{[]string{host, emulated}, Options{Filter: "emulated:false"}, ""},
		{[]string{host, emulated}, Options{Filter: "board:tiny-qemu"}, ""},
		{[]string{emulated}, Options{}, ""},
		{[]string{emulated, emulated}, Options{Col: ".file"}, ""},
		{[]string{host, real}, Options{}, ""},
	} {
		_, err := Compare(c.paths, c.o)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v, %+v: %v, want %q", c.paths, c.o, err, c.want)
		}
	}
	for value, want := range map[string]bool{"": false, "false": false, "no": false, "yes": true, "true": true, "qemu": true} {
		if IsEmulated(value) != want {
			t.Errorf("emulated: %q is %v", value, !want)
		}
	}
}

// Instructions are the same in every run, so that any difference is one, whether or
// not the file says so; and they are never called faster.
func TestInstructionsAreExact(t *testing.T) {
	for _, head := range []string{"", "Unit insns/op better=lower assume=exact\n"} {
		c := compareText(t, Options{Base: "a"}, "board: x\nemulated: yes\n"+head+
			"BenchmarkG/impl=a 1 1000 insns/op 7 p99-insns\nBenchmarkG/impl=b 1 1001 insns/op 7 p99-insns\nBenchmarkG/impl=c 1 999 insns/op 8 p99-insns\n")
		cell := wantVerdict(t, c, "insns/op", "G", "b", Worse)
		if !math.IsNaN(cell.Vs.P) || c.Comparisons != 0 {
			t.Errorf("tested: %+v", cell.Vs)
		}
		wantVerdict(t, c, "insns/op", "G", "c", Better)
		wantVerdict(t, c, "p99-insns", "G", "b", Same)
		wantVerdict(t, c, "p99-insns", "G", "c", Worse)
		if c.Tables[0].Unit != "insns/op" {
			t.Errorf("the first table is of %s", c.Tables[0].Unit)
		}
	}
	// Two runs that disagree are told.
	c := compareText(t, Options{Base: "a"}, "board: x\nemulated: yes\nBenchmarkG/impl=a 1 10 insns/op\nBenchmarkG/impl=b 1 9 insns/op\nBenchmarkG/impl=b 1 8 insns/op\n")
	if cell := wantVerdict(t, c, "insns/op", "G", "b", Better); !strings.Contains(notesOf(c, cell), "exact distribution expected") {
		t.Errorf("notes: %q", notesOf(c, cell))
	}
}

func TestPlaces(t *testing.T) {
	host, emulated, real := recordtest.Write(t, "host.bench", hostText), recordtest.Write(t, "emulated.bench", emulatedText), recordtest.Write(t, "real.bench", realText)
	plain := recordtest.Write(t, "plain.txt", "BenchmarkX 1 1 ns/op\n")
	d, err := Read([]string{host, emulated, "again=" + host, real, plain, "-"}, strings.NewReader(emulatedText))
	if err != nil {
		t.Fatal(err)
	}
	got := d.Places()
	want := []Place{
		{Name: "host", Paths: []string{host, "again=" + host}},
		{Name: "tiny-qemu", Chip: "m3", Board: true, Emulated: true, Paths: []string{emulated, "-"}},
		{Name: "tiny", Chip: "m3", Board: true, Paths: []string{real}},
		{Name: "plain.txt", Paths: []string{plain}},
	}
	if !slices.EqualFunc(got, want, func(a, b Place) bool {
		return a.Name == b.Name && a.Chip == b.Chip && a.Board == b.Board && a.Emulated == b.Emulated && slices.Equal(a.Paths, b.Paths)
	}) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// sideBySide reads files and sets them beside one another.
func sideBySide(paths []string, o Options) (*SideBySide, error) {
	d, err := Read(paths, o.Stdin)
	if err != nil {
		return nil, err
	}
	return d.SideBySide(o)
}

func TestCompareSideBySide(t *testing.T) {
	s, err := sideBySide([]string{recordtest.Write(t, "host.bench", hostText), "-", recordtest.Write(t, "real.bench", realText)}, Options{Stdin: strings.NewReader(emulatedText)})
	if err != nil {
		t.Fatal(err)
	}
	// cell returns the figure of a place.
	cell := func(workload, impl, unit string, place int) SideCell {
		t.Helper()
		for _, w := range s.Workloads {
			for _, i := range w.Impls {
				for _, l := range i.Lines {
					if w.Name == workload && i.Name == impl && l.Unit == unit {
						return l.Cells[place]
					}
				}
			}
		}
		t.Errorf("no line %s of %s, %s", unit, workload, impl)
		return SideCell{}
	}
	const pingpong = "Actor/workload=pingpong"
	for _, c := range []struct {
		workload, impl, line string
		place                int
		unit                 string
		n                    int
		value                float64
		procs                int
		exact                bool
	}{
		{pingpong, "serial", "ns/op", 0, "ns/op", 1, 30, 4, false}, // the larger GOMAXPROCS
		{pingpong, "serial", "ns/op", 1, "insns/op", 1, 312, 1, true},
		{pingpong, "serial", "ns/op", 2, "ns/op", 1, 6000, 1, false},
		{pingpong, "channel", "ns/op", 0, "", 0, 0, 0, false},
		{pingpong, "channel", "allocs/op", 1, "allocs/op", 1, 1, 1, true},
		// What one file says of a unit holds in that file only.
		{pingpong, "serial", "allocs/op", 0, "allocs/op", 1, 0, 4, false},
		{"Actor/workload=latency", "serial", "p99-ns", 1, "p99-insns", 1, 70, 1, true},
		{"Actor/workload=latency", "serial", "p99-ns", 0, "p99-ns", 1, 2000, 4, false},
	} {
		got := cell(c.workload, c.impl, c.line, c.place)
		if got.N != c.n || got.Unit != c.unit || got.Center != c.value || got.Procs != c.procs || got.Exact != c.exact {
			t.Errorf("%s, %s, %s in place %d: %+v", c.workload, c.impl, c.line, c.place, got)
		}
	}
	for _, c := range s.Comparisons {
		if c.Comparisons != 0 || strings.Contains(strings.Join(c.Warnings, "\n"), "comparisons are unpaired") {
			t.Errorf("%d comparisons, warnings %q", c.Comparisons, c.Warnings)
		}
	}
	if why := cell("Actor/workload=big", "channel", "ns/op", 1).Why; why != "skipped: needs 96 KiB" {
		t.Errorf("big has no figure because of %q", why)
	}
	if !slices.Equal(s.HostOnly, []string{"Actor/workload=pairs"}) {
		t.Errorf("only hosts have %q", s.HostOnly)
	}
	for _, w := range s.Workloads {
		for _, i := range w.Impls {
			if strings.HasPrefix(i.Name, record.RefPrefix) {
				t.Errorf("%s has the reference %s", w.Name, i.Name)
			}
		}
	}
	if _, err := sideBySide([]string{recordtest.Write(t, "none.bench", "board: x\n")}, Options{}); err == nil || !strings.Contains(err.Error(), "no benchmark results") {
		t.Errorf("a file without results: %v", err)
	}
}

// The first line of an implementation is its time, wherever it was found first.
func TestSideBySideTimeFirst(t *testing.T) {
	a := recordtest.Write(t, "a.bench", "machine: a\nBenchmarkX/impl=i 1 8 B/op 3 backlog\n")
	b := recordtest.Write(t, "b.bench", "board: b\nBenchmarkX/impl=i 1 5 ns/op 1 allocs/op\n")
	s, err := sideBySide([]string{a, b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var units []string
	for _, l := range s.Workloads[0].Impls[0].Lines {
		units = append(units, l.Unit)
	}
	if want := []string{"ns/op", "allocs/op", "B/op", "backlog"}; !slices.Equal(units, want) {
		t.Errorf("lines %q, want %q", units, want)
	}
}

// What processes used is in no side by side: no board has anything to set beside it.
func TestSideBySideHasNoResources(t *testing.T) {
	a := recordtest.Write(t, "a.bench", "machine: a\nBenchmarkX/impl=i 1 8 ns/op 9 cpu-ns/op 2 gcs/Mop 65536 live-heap-B 1 allocs/op\n")
	b := recordtest.Write(t, "b.bench", "board: b\nBenchmarkX/impl=i 1 5 ns/op 1 allocs/op\n")
	s, err := sideBySide([]string{a, b}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range s.Workloads[0].Impls[0].Lines {
		if slices.Contains(resourceUnits, l.Unit) {
			t.Errorf("a line of %s", l.Unit)
		}
	}
	if n := len(s.Workloads[0].Impls[0].Lines); n != 2 {
		t.Errorf("%d lines, want time and allocations", n)
	}
}

func TestNamesOfSides(t *testing.T) {
	for full, want := range map[string][2]string{
		"BenchmarkActor/workload=big/impl=x-8":          {"Actor/workload=big", "x"},
		"BenchmarkActor/workload=ring/impl=x/actors=9":  {"Actor/workload=ring/actors=9", "x"},
		"BenchmarkBoard/case=spawn/impl=my-impl":        {"Board/case=spawn", "my-impl"},
		"BenchmarkGroup/workload=short":                 {"Group/workload=short", ""},
		"BenchmarkBoard/case=spawn-to-first/impl=ref-a": {"Board/case=spawn-to-first", "ref-a"},
	} {
		name, impl, ok := splitImpl(full)
		if name != want[0] || impl != want[1] || ok != (impl != "") {
			t.Errorf("%s is %q of %q, %v", full, name, impl, ok)
		}
	}
}
