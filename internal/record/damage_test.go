package record_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"

	. "github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/recordtest"
)

// written is a file of three blocks, of a row of two that take turns, with a control, and of one
// benchmark alone.
func written(t *testing.T) (path, text string) {
	t.Helper()
	path = filepath.Join(recordtest.Dir(t), "r.bench")
	p := recordtest.Turns(2, 3, 3)
	p.Cases = append(p.Cases, Case{Pkg: "example.com/a", Name: "BenchmarkAlone"})
	s, err := Create(path, p, new(Circumstances), nil, time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= p.Blocks; n++ {
		s.Block(n, "", p)
		for _, g := range p.Groups() {
			var all []Record
			for _, step := range g.Steps {
				r := Record{Step: step, Driven: "session", Result: &benchfmt.Result{Name: benchfmt.Name(strings.TrimPrefix(step.FullName(), "Benchmark")), Iters: 30, Values: []benchfmt.Value{{Value: 0.5, Unit: "ns/op"}}}}
				if p.TakesTurns(g) {
					r.Slices = &Slices{N: 10, Steady: true, Ns: []int64{5, 5, 5}}
				}
				all = append(all, r)
			}
			if p.TakesTurns(g) {
				err = s.Turns(n, g, all, p)
			} else {
				s.Single(all[0], p)
			}
		}
		if err == nil {
			err = s.End(n, "")
		}
	}
	if err != nil || s.Close() != nil {
		t.Fatal(err)
	}
	return path, string(readAll(t, path))
}

var sumLines = regexp.MustCompile(`(?m)^# sum: .*\n`)

// edited replaces in the part of a text from one place on the first of each pair by the second.
func edited(t *testing.T, text, from string, pairs ...string) string {
	t.Helper()
	at := strings.Index(text, from)
	for i := 0; i < len(pairs); i += 2 {
		if at < 0 || !strings.Contains(text[at:], pairs[i]) {
			t.Fatalf("there is no %q after %q", pairs[i], from)
		}
		text = text[:at] + strings.Replace(text[at:], pairs[i], pairs[i+1], 1)
	}
	return text
}

const (
	rowOf2   = `"G/workload=w/x=1-2" of block 2` + "\n"
	aloneRow = "case: 3\ncopy: 1\nenvpad: 0\ndriven: session\nBenchmarkAlone-2 \t      30\t 0.5 ns/op\n"
)

// TestResumes: a run is gone on with where its file ends, and not if that is another one.
func TestResumes(t *testing.T) {
	_, whole := written(t)
	plain := sumLines.ReplaceAllString(whole, "")
	two := plain[:strings.Index(plain, "block: 3")]
	about := func(mark string, group int, row string) string {
		return fmt.Sprintf("# %s: group=%d pkg=example.com/a row=%q block=1\n", mark, group, row)
	}
	const turns = "G/workload=w/x=1-2"
	failed := func(what string) string {
		text := two
		for block := 1; block <= 2; block++ {
			text = edited(t, text, fmt.Sprintf("block: %d", block), aloneRow, fmt.Sprintf("case: 3\ncopy: 1\n# %s: case=BenchmarkAlone-2 block=%d reason=\"x\"\n", what, block))
		}
		return text
	}
	all := map[string]string{
		"two blocks":         two,
		"a digit":            edited(t, whole, "block: 2", "0.5 ns", "0.6 ns"),
		"another plan":       edited(t, plain, "", `"blocks":3`, `"blocks":4`),
		"a block less":       plain[:strings.Index(plain, "block: 2")] + plain[strings.Index(plain, "block: 3"):],
		"decided":            edited(t, two, "", "block: 2", about("decided", 1, turns)+"block: 2", "# end of block 2\n", "# end of block 2\n"+about("decided", 1, turns)),
		"all decided":        two + about("decided", 1, turns) + about("decided", 2, "Alone-2"),
		"another row":        two + about("decided", 1, "Alone-2"),
		"no row of the plan": two + about("process", 3, turns),
		"a case that is not": two + "block: 3\ncase: 7\nBenchmarkAlone-2 1 1 ns/op\n",
		"twice":              two + "block: 3\n" + aloneRow + aloneRow,
		"failed twice":       failed("hole"),
		"skipped twice":      failed("skip"),
		"whole calls":        strings.ReplaceAll(two, "ns=5,5,5", "ns=5"),
	}
	for name, want := range map[string]string{
		"two blocks":         "ended 2, stopped map[], alone map[], finished false, failed 0, slices {10 false}",
		"decided":            "ended 2, stopped map[1:1], alone map[], finished false, failed 0, slices {10 false}",
		"all decided":        "ended 2, stopped map[1:2 2:2], alone map[], finished true, failed 0, slices {10 false}",
		"failed twice":       "ended 2, stopped map[], alone map[], finished false, failed 2, slices {10 false}",
		"skipped twice":      "ended 2, stopped map[], alone map[], finished false, failed 0, slices {10 false}",
		"whole calls":        "ended 2, stopped map[], alone map[], finished false, failed 0, slices {10 true}",
		"a digit":            "has another sum",
		"another plan":       "so it has been changed",
		"a block less":       "after the end of block 1",
		"another row":        "is about no row of the plan",
		"no row of the plan": "is about no row of the plan",
		"a case that is not": "is no case of the plan",
		"twice":              "block 3 has case 3 already",
	} {
		r, err := ParseInterrupted("r.bench", []byte(all[name]))
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprintf("ended %d, stopped %v, alone %v, finished %t, failed %d, slices %v", r.Ended, r.Stopped, r.Alone, r.Finished(), r.Given[StepKey{3, 1}], r.Slices[StepKey{1, 1}])
		}
		if !strings.HasSuffix(got, want) && !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	// The file of a board is gone on with by another command.
	path := recordtest.Write(t, "r.bench", edited(t, two, "", "started:", "board: x\nstarted:"))
	if _, err := ReadInterrupted(path); err == nil {
		t.Error("a board's file is gone on with as a host's")
	}
	if _, err := ReadInterruptedBoard(path); err != nil {
		t.Error(err)
	}
	torn := two + "block: 3\ncase: 3\ncopy: 1\nBench"
	path = recordtest.Write(t, "r.bench", torn)
	r, err := ReadInterrupted(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ReadInterruptedBoard(path); err == nil {
		t.Error("a host's file is gone on with as a board's")
	}
	if err := os.WriteFile(path, []byte(plain), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := r.Resume(time.Unix(0, 0)); err == nil || string(readAll(t, path)) != plain {
		t.Errorf("a file that has grown is gone on with: %v, %v", s, err)
	}
	if err := os.WriteFile(path, []byte(torn), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := r.Resume(time.Unix(0, 0))
	if err != nil {
		t.Fatal(err)
	}
	s.Single(Record{Step: r.Plan.Steps()[0], Driven: "session", Result: &benchfmt.Result{Name: benchfmt.Name("X"), Iters: 1, Values: []benchfmt.Value{{Value: 1, Unit: "ns/op"}}}}, r.Plan)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if text := string(readAll(t, path)); !strings.HasPrefix(text, two+"block: 3\n# resumed 1970-01-01T00:00:00Z\n") || strings.Count(text, "Unit ns/op") != 1 {
		t.Errorf("it goes on with %q", strings.TrimPrefix(text, two))
	}
}

// TestSum: the sum of a part is that of its lines and of the sum before it, whatever program has written it.
func TestSum(t *testing.T) {
	_, whole := written(t)
	var got []string
	for _, line := range sumLines.FindAllString(whole, 3) {
		got = append(got, strings.TrimSpace(line))
	}
	if text := strings.Join(got, ", "); text != "# sum: n=1 crc=dc4bb9862140d9dc, # sum: n=2 crc=adb3eccd1072c599, # sum: n=3 crc=7a5324c9a5279d0b" {
		t.Errorf("sums are %s", text)
	}
}

func TestFields(t *testing.T) {
	for text, want := range map[string]string{
		`a=1 b="x y"	a=2`: "map[a:2 b:x y]", "": "map[]", " a= ": "map[a:]",
		"=1": "expected key=value", "a": "expected key=value", `"a"=1`: "expected key=value", `a="x`: "does not end", `a="x"b=1`: "no space after",
	} {
		fields, err := ParseFields(text)
		if got := fmt.Sprint(fields, err); !strings.Contains(got, want) {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}

// TestDamage: what has been done to a file shows, and which rows that touches.
func TestDamage(t *testing.T) {
	_, whole := written(t)
	plain := sumLines.ReplaceAllString(whole, "")
	row := func(n int) string {
		begin := strings.Index(plain, fmt.Sprintf("# row \"G/workload=w/x=1-2\" of block %d\n", n))
		end := strings.Index(plain[begin:], "# end of row")
		return plain[begin : begin+end+strings.Index(plain[begin+end:], "\n")+1]
	}
	decided := "# decided: group=1 pkg=example.com/a row=\"G/workload=w/x=1-2\" block=2\n"
	hole := "case: 3\ncopy: 1\n# hole: case=BenchmarkAlone-2 block=2 reason=\"x\"\n"
	for name, c := range map[string]struct{ text, want string }{
		"nothing":                      {whole, ""},
		"no sums":                      {plain, ""},
		"a digit in block 2":           {edited(t, whole, "block: 2", "0.5 ns", "0.6 ns"), "45: the lines 45 to 68 are not those that were written [all]; 53: a result that is not that of its slices [1]"},
		"a digit in block 3":           {edited(t, whole, "block: 3", "0.5 ns", "0.6 ns"), "78: the lines 78 to 101 are not those that were written [3]; 86: a result that is not that of its slices [1]"},
		"a digit in block 1":           {edited(t, whole, "block: 1", "30\t", "31\t"), "11: the lines 11 to 35 are not those that were written [all]; 20: a result that is not that of its slices [1]"},
		"no last sum":                  {whole[:strings.LastIndex(whole, "# sum")], "109: the end of the file is not what was written [0]"},
		"one part and a half":          {whole[:strings.Index(whole, "# row")], "11: the end of the file is not what was written [all]"},
		"a part less":                  {edited(t, whole, "block: 2", whole[strings.Index(whole, "# sum: n=5"):strings.Index(whole, "# end of block 2")], ""), "45: the lines 45 to 69 are not those that were written [all]; 1: the value of block 2 is missing, and no reason given [1]"},
		"begins with a result":         {edited(t, whole, "block: 2", "pkg: example.com/a\ncase: 3\ncopy: 1\nenvpad: 0\ndriven: session\n", ""), "69: the lines 69 to 70 are not those that were written [1]; 69: a result of example.com/a where the plan has one of example.com/a [1]; 69: a result of example.com/a where the plan has one of example.com/a [1]; 1: the value of block 2 is missing, and no reason given [1]"},
		"zeros":                        {edited(t, plain, "block: 2", "envpad: 0", "envpad: \x00"), "47: it has bytes that no text has, as a loss of power leaves them [all]"},
		"twice":                        {plain + plain, "101: another results file begins in this one [all]; 1: its plan is \"e492d287dc52\" by name and e30b06b67403 by content [all]"},
		"a row that does not end":      {edited(t, plain, "block: 2", "# end of row "+rowOf2, ""), "43: a row that does not end [4]"},
		"a row that does not begin":    {edited(t, plain, "block: 2", "# row "+rowOf2, ""), "62: a row that does not begin [0]"},
		"a row that ends as another":   {edited(t, plain, "block: 2", "# end of row \"G", "# end of row \"H"), "43: a row that ends as another one [3]"},
		"a row of another block":       {edited(t, plain, "block: 2", "# row "+rowOf2, "# row \"G/workload=w/x=1-2\" of block 3\n", "# end of row "+rowOf2, "# end of row \"G/workload=w/x=1-2\" of block 3\n"), "43: a row that says another block than the block 2 in which it stands [3]"},
		"no plan":                      {edited(t, plain, "", "# plan", "# no plan"), "1: its plan is missing, or cannot be read [all]"},
		"no sense":                     {edited(t, plain, "", `"blocks":3`, `"blocks":0`), "1: its plan makes no sense: --blocks is 0; it must be at least 1 (6 is the least that can prove a difference) [all]"},
		"another plan":                 {edited(t, plain, "", `"blocks":3`, `"blocks":4`), "1: its plan is \"e492d287dc52\" by name and 58ecd2955f0b by content [all]"},
		"a package that was not built": {edited(t, plain, "", "block: 1", "# hole: pkg=example.com/z reason=\"x\"\nblock: 1"), ""},
		"no case of the plan":          {edited(t, plain, "block: 2", "case: 3", "case: 9"), "69: a result of no benchmark of the plan [1]; 1: the value of block 2 is missing, and no reason given [1]"},
		"another package":              {edited(t, plain, "end of row "+rowOf2, "pkg: example.com/a", "pkg: example.com/b"), "69: a result of example.com/b where the plan has one of example.com/a [1]; 69: a result of example.com/b where the plan has one of example.com/a [1]; 1: the value of block 2 is missing, and no reason given [1]"},
		"another side":                 {edited(t, plain, "end of row "+rowOf2, aloneRow, "side: new\n"+aloneRow+"side:\n"), "70: a result of example.com/a new where the plan has one of example.com/a [1]; 70: a result of example.com/a new where the plan has one of example.com/a [1]; 1: the value of block 2 is missing, and no reason given [1]"},
		"another name":                 {edited(t, plain, "block: 2", "BenchmarkAlone", "BenchmarkOther"), "69: a result of example.com/a where the plan has one of example.com/a [1]; 69: a result of example.com/a where the plan has one of example.com/a [1]; 1: the value of block 2 is missing, and no reason given [1]"},
		"another layout":               {edited(t, plain, "block: 2", "layout: 1", "layout: 2"), "49: the plan has another layout than \"2\" in block 2 [1]; 55: the plan has another layout than \"2\" in block 2 [1]; 61: the plan has another layout than \"2\" in block 2 [1]; 69: the plan has another layout than \"2\" in block 2 [1]"},
		"a second value":               {edited(t, plain, "block: 2", aloneRow, aloneRow+aloneRow), "74: a second value in block 2 [1]"},
		"a second hole":                {edited(t, plain, "block: 2", aloneRow, hole+hole), "70: a second value in block 2 [1]"},
		"slices that do not agree":     {edited(t, plain, "block: 2", "ns=5,5,5", "ns=5,5,50"), ""},
		"no slices":                    {edited(t, plain, "block: 2", "# slices: n=10 warmup=0 steady=true gcs=0 ns=5,5,5\n", ""), "49: a result without its slices [1]"},
		"no value":                     {edited(t, plain, "block: 2", aloneRow, ""), "1: the value of block 2 is missing, and no reason given [1]"},
		"no value, and no end":         {edited(t, plain, "block: 2", aloneRow, "", "# end of block 2\n", ""), "1: the value of block 2 is missing, and no reason given [1]"},
		"decided":                      {edited(t, plain, "block: 2", "block: 3", decided+"block: 3", row(3), ""), ""},
		"decided, and one less":        {edited(t, plain, "block: 2", row(2), "", "block: 3", decided+"block: 3", row(3), ""), "1: the value of block 2 is missing, and no reason given [1]; 1: the value of block 2 is missing, and no reason given [1]; 1: the value of block 2 is missing, and no reason given [1]"},
	} {
		var got []string
		for _, d := range Read("r.bench", []byte(c.text)).Damage {
			of := "all"
			if d.Of != nil {
				of = fmt.Sprint(len(d.Of))
			}
			got = append(got, fmt.Sprintf("%d: %s [%s]", d.Line, d.What, of))
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%q: %q", name, text)
		}
	}
}
