package record

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
)

// aFile is a results file with one of each kind of line, by number:
const aFile = `commit: c1
# plan: {"looks":[2,4],"slice":5000000,"sources":{"example.com/a":"0123"}}
Unit ns/op better=lower
# hole: pkg=example.com/z side=new reason="does not build"
block: 1
pkg: example.com/a
side: old
case: 1
BenchmarkX/impl=a-2 	 100 	 52.5 ns/op	 16 B/op
# slices: n=10 ns=500,550
side:
# hole: case=BenchmarkX/impl=b-2 block=7 reason="crashed"
# skip: case=BenchmarkX/impl=c-2 reason="lacks it"
commit: c2
BenchmarkX/impl=a-2 100 50 ns/op

# slices: n=10 ns=1
# process: group=1 pkg=example.com/a row="X-2" reason="no room"
# note: pkg=example.com/a row="X-2" text="works in the background"
# took: pkg=example.com/a row="X-2" ms=1500
# conform: impl=serial clause=group/x result=pass
# resumed 2026-01-02T03:04:05Z
Unit ns/op better=higher
BenchmarkX many
# slices: n=10 ns=1
# hole: case=
# note: nonsense
# conform: x
# took: ms=x
PASS
BenchmarkAlone
# anything
BenchmarkX/impl=a-2 100 5`

// settings are a record's configuration.
func settings(r Record) string {
	var s []string
	for _, c := range r.Result.Config {
		s = append(s, c.Key+"="+string(c.Value))
	}
	return strings.Join(s, " ")
}

// A file is read with what is in force at each place of it; what cannot be read is told
// by line, and what benchrun does not write apart from that.
func TestRead(t *testing.T) {
	f := Read("f", []byte(aFile))
	var got []string
	for _, r := range f.Results {
		got = append(got, fmt.Sprintf("line %d: %s %d %d values %v [%s]", r.Line(), r.Result.Name, r.Result.Iters, len(r.Result.Values), r.Slices != nil, settings(r)))
	}
	for _, r := range f.Holes {
		got = append(got, fmt.Sprintf("%s %s %s [%s]", r.Hole.Name(), r.Hole.Pkg, r.Hole, settings(r)))
	}
	want := []string{
		"line 9: X/impl=a-2 100 2 values true [commit=c1 block=1 pkg=example.com/a side=old case=1]",
		"line 15: X/impl=a-2 100 1 values false [commit=c2 block=1 pkg=example.com/a case=1]",
		"example.com/z example.com/z missing: does not build [pkg=example.com/z side=new]",
		"BenchmarkX/impl=b-2 example.com/a missing in block 7: crashed [commit=c1 block=7 pkg=example.com/a case=1]",
		"BenchmarkX/impl=c-2 example.com/a skipped: lacks it [commit=c1 block=1 pkg=example.com/a case=1]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("records\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	row := RowLine{Pkg: "example.com/a", Row: "X-2"}
	alone, note, took := row, row, row
	alone.Text, note.Text, took.Took = "no room", "works in the background", 1500*time.Millisecond
	if !slices.Equal(f.Alone, []RowLine{alone}) || !slices.Equal(f.Notes, []RowLine{note}) || !slices.Equal(f.Took, []RowLine{took}) {
		t.Errorf("rows %+v, %+v, %+v", f.Alone, f.Notes, f.Took)
	}
	if f.Slice != 5*time.Millisecond || f.Sources["example.com/a"] != "0123" {
		t.Errorf("slice %v, sources %v", f.Slice, f.Sources)
	}
	if len(f.Clauses) != 1 || !slices.Equal(f.Looks, []int{2, 4}) || f.Units.Get("ns/op", "better").Value != "lower" {
		t.Errorf("clauses %+v, looks %v, units %v", f.Clauses, f.Looks, f.Units)
	}
	if !reflect.DeepEqual(f.Config[0], Setting{Key: "commit", Values: []string{"c1", "c2"}}) || f.Value("commit") != "c2" || f.Value("none") != "" {
		t.Errorf("configuration %+v", f.Config)
	}
	problems := []string{
		"17: slices of no benchmark result", "23: metadata better", "24: parsing iteration count", "25: slices of no", "26: malformed hole",
		"27: malformed note", "28: malformed line of a clause", "29: malformed line of a row's time", "33: missing units",
	}
	told(t, f.Problems, problems)
	strays := []string{"24: not a benchmark result: \"BenchmarkX many\"", "30: neither a result", "31: not a benchmark result: \"BenchmarkAlone\"", "33: the line is torn"}
	told(t, f.Strays, strays)
	results, strict := f.Strict()
	told(t, strict, slices.Concat(problems[:2], strays[:1], problems[3:8], strays[1:]))
	if len(results) != len(f.Results) {
		t.Errorf("%d results, want %d", len(results), len(f.Results))
	}
}

// told checks the beginnings of problems.
func told(t *testing.T, problems []Problem, want []string) {
	t.Helper()
	slices.SortStableFunc(problems, byLine)
	for i, p := range problems {
		if text := fmt.Sprintf("%d: %s", p.Line, p.What); i >= len(want) || !strings.HasPrefix(text, want[i]) {
			t.Errorf("problem %q", text)
		}
	}
	if len(problems) != len(want) {
		t.Errorf("%d problems, want %d", len(problems), len(want))
	}
}

// What a board says is of a case, not of a row: the case's name stands for the row's.
func TestNotesOfABoardNameTheirCase(t *testing.T) {
	f := Read("f", []byte("# note: case=BenchmarkBoard/case=slots/impl=serial text=\"5200 B\"\n# note: case=conform/actor/flood text=\"1 turns\"\n"))
	want := []RowLine{{Row: "Board/case=slots/impl=serial", Text: "5200 B"}, {Row: "conform/actor/flood", Text: "1 turns"}}
	if !slices.Equal(f.Notes, want) {
		t.Errorf("%+v, want %+v", f.Notes, want)
	}
}

// The last line may lack its end: its figure may lack digits then, of which only who
// knows that benchrun wrote the file can be sure.
func TestReadTornResult(t *testing.T) {
	const whole = "BenchmarkX 1 10 ns/op\n"
	for text, want := range map[string][2]int{whole: {1, 0}, whole + "BenchmarkX 1 20 ns/op": {2, 1}, whole + "commit: x": {1, 0}, whole + "BenchmarkX 1 20": {1, 1}} {
		f := Read("f", []byte(text))
		results, problems := f.Strict()
		if len(f.Results) != want[0] || len(results) != 1 || len(problems) != want[1] {
			t.Errorf("%q: %d results, of which %d are whole; %v", text, len(f.Results), len(results), problems)
		}
	}
}

// Values are numbers in tidy units.
func TestReadTidies(t *testing.T) {
	f := Read("f", []byte("BenchmarkX 1 0 ns/op NaN B/op 3 MB/s +Inf x\nBenchmarkX 1 1o5 ns/op\nBenchmarkX 1 1e999 ns/op\n"))
	told(t, f.Problems, []string{"1: the value in B/op is NaN", "1: the value in x is +Inf", "2: parsing measurement", "3: parsing measurement"})
	want := []benchfmt.Value{{Unit: "sec/op", OrigUnit: "ns/op"}, {Value: 3e6, Unit: "B/s", OrigValue: 3, OrigUnit: "MB/s"}}
	if !slices.Equal(f.Results[0].Result.Values, want) {
		t.Errorf("%+v, want %+v", f.Results[0].Result.Values, want)
	}
}

// Values whose squares or ratios would not be finite are left out: statistics of them are NaN.
func TestReadFarthest(t *testing.T) {
	f := Read("f", []byte("BenchmarkX 1 1e100 a -1e-100 b 1e101 c -1e101 d 1e-101 e -5e-324 f 0 g 1e200 ns/op\n"))
	told(t, f.Problems, []string{"1: the value in c is 1e+101;", "1: the value in d is -1e+101;", "1: the value in e is 1e-101;", "1: the value in f is -5e-324;", "1: the value in ns/op is 1e+200;"})
	want := []benchfmt.Value{{Value: 1e100, Unit: "a"}, {Value: -1e-100, Unit: "b"}, {Unit: "g"}}
	if !slices.Equal(f.Results[0].Result.Values, want) {
		t.Errorf("%+v, want %+v", f.Results[0].Result.Values, want)
	}
}

// Lines that benchfmt cannot read cost nothing but themselves; comments may be longer.
func TestReadLongLines(t *testing.T) {
	long := strings.Repeat("1,", 1<<16) + "1"
	f := Read("f", []byte("key: "+long+"\nBenchmarkX 1 10 ns/op\n# slices: n=1 ns="+long+"\nBenchmarkX 1 "+long+" ns/op\nBenchmarkX 1 10 ns/op\n"))
	told(t, f.Problems, []string{"1: a line of 131079 bytes is longer", "4: a line of"})
	if len(f.Results) != 2 || f.Results[0].Slices == nil || len(f.Results[0].Slices.Ns) != 1<<16+1 || len(f.Config) != 0 {
		t.Errorf("%d results, configuration %v", len(f.Results), f.Config)
	}
}

// Keys and values are what package benchfmt takes for such.
func TestConfigurationLines(t *testing.T) {
	for line, want := range map[string][2]string{
		"key: value":    {"key", "value"},
		"key:\t value ": {"key", "value "},
		"a/b-c: x: y":   {"a/b-c", "x: y"},
		"key:":          {"key", ""},
		"key: ":         {"key", ""},
		"key:value":     {},
		"a key: value":  {},
		"kEy: value":    {},
		"1key: value":   {},
		": value":       {},
		"key":           {},
	} {
		if key, value := keyValue(line); [2]string{key, value} != want {
			t.Errorf("%q: %q, %q", line, key, value)
		}
	}
}

// What a Store writes of a record is what Read reads.
func TestRecordsAreReadAsWritten(t *testing.T) {
	plan := &Plan{Mode: ModeAuto, Control: true, CPU: []int{2}, Cases: []Case{{Name: "BenchmarkG/impl=a"}, {Name: "BenchmarkG/impl=b"}}}
	steps := plan.Groups()[0].Steps
	res := &benchfmt.Result{
		Name: benchfmt.Name("X-2"), Iters: 100,
		Values: []benchfmt.Value{{Value: 0.00123456789, Unit: "ns/op"}, {Value: 1234567890, Unit: "B/op"}, {Value: 5e-05, Unit: "x"}},
	}
	slices := &Slices{N: 10, Steady: true, Ns: []int64{5, Lost}}
	var text strings.Builder
	for _, r := range []Record{
		{Step: steps[0], Driven: "loop", Pad: 16, Result: res, Slices: slices},
		{Step: steps[1], Driven: ModeProcess, Printed: "BenchmarkY-2   1\t5.0 ns/op"},
		{Step: steps[2], Driven: "loop", Hole: &Hole{Case: "BenchmarkX-2", Reason: "oh"}},
	} {
		text.WriteString(r.text(plan, newUnitTable()))
	}
	const want = "case: 1\ncopy: 1\nenvpad: 16\ndriven: loop\nBenchmarkX-2 \t     100\t 0.00123457 ns/op\t 1234567890 B/op\t 0.00005 x\n# slices: n=10 warmup=0 steady=true gcs=0 ns=5,-\n" +
		"case: 2\ncopy: 1\nenvpad: 0\ndriven: process\nBenchmarkY-2   1\t5.0 ns/op\n" +
		"case: 1\ncopy: 2\nenvpad: 0\ndriven: loop\n# hole: case=BenchmarkX-2 reason=\"oh\"\n"
	if text.String() != want {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
	f := Read("f", []byte(want))
	if len(f.Results) != 2 || !reflect.DeepEqual(f.Results[0].Slices, slices) || f.Results[1].Slices != nil || len(f.Holes) != 1 || f.Holes[0].Hole.Reason != "oh" {
		t.Errorf("%+v, %+v", f.Results, f.Holes)
	}
}
