package report

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// comparisonOf compares two versions: absent is what the header says of them, and each row
// is a benchmark that both have, by how many times as long the new one takes. A row of
// 0 crashes in the new one in each block, and one below 0 in the second.
func comparisonOf(t *testing.T, absent []string, rows ...float64) *compare.Comparison {
	t.Helper()
	var b strings.Builder
	b.WriteString("Unit ns/op better=lower\nUnit allocs/op better=lower\npkg: example.com/tiny\n")
	for _, line := range absent {
		b.WriteString(line + "\n")
	}
	for block := 1; block <= 12; block++ {
		fmt.Fprintf(&b, "block: %d\n", block)
		for i, ratio := range rows {
			v := 1000 + float64(7*block%5)
			fmt.Fprintf(&b, "case: %d\nside: old\nBenchmarkRow%d-2 100 %v ns/op 1 allocs/op\ncase: %d\nside: new\n", 2*i+1, i, v, 2*i+2)
			if ratio == 0 || ratio < 0 && block == 2 {
				fmt.Fprintf(&b, "# hole: case=BenchmarkRow%d-2 block=%d reason=\"crashed: panic: now (row.go:9)\"\n", i, block)
			} else {
				fmt.Fprintf(&b, "BenchmarkRow%d-2 100 %v ns/op 1 allocs/op\n", i, v*max(ratio, -ratio))
			}
		}
	}
	c, err := compare.Compare([]string{"run.bench=-"}, compare.Options{Stdin: strings.NewReader(b.String())})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The header of a benchmark that fails in a version when it is listed.
func listed(side, name, reason string) string {
	return fmt.Sprintf("side: %s\n# hole: case=Benchmark%s reason=%q", side, name, reason)
}

const (
	someCrash = "crashed: panic: runtime error: index out of range [4096] with length 4096 (tiny.go:12)"
	someHang  = "nothing printed and not finished after 1m0s: hangs, or needs a longer --timeout (tiny.go:30)"
)

func commentOf(t *testing.T, c *compare.Comparison) string {
	t.Helper()
	return markdownOf(t, Comment(c, Versions{Old: "v1", New: "v2"}))
}

// What fails in the new version only is the first line of the comment, and each report
// has it as a row and before its tables, whatever else has been found.
func TestFailuresComeFirst(t *testing.T) {
	const boom = "failed: tiny_test.go:7: boom"
	gone := []string{strings.Replace(listed("new", "Gone-2", "only the old version has it"), "# hole", "# skip", 1)}
	crash, hang := []string{listed("new", "Hash-2", someCrash)}, []string{listed("new", "Hang-2", someHang)}
	told := "Hash-2: " + strings.TrimPrefix(someCrash, "crashed: ")
	for _, c := range []struct {
		name         string
		absent       []string
		rows         []float64
		first        string // line of the comment
		row, verdict string // in the comment
	}{
		{"crash", crash, []float64{1}, "1 benchmark crashes in new: " + told, "Hash-2", someCrash},
		{"crash, and slower", crash, []float64{2, 1}, "1 benchmark crashes in new: " + told, "Hash-2", someCrash},
		{"crash, and faster", crash, []float64{1, 0.5}, "1 benchmark crashes in new: " + told, "Hash-2", someCrash},
		{"failure", []string{listed("new", "Hash-2", boom)}, []float64{1}, "1 benchmark fails in new: Hash-2: tiny_test.go:7: boom", "Hash-2", boom},
		{"hang", hang, []float64{1}, "1 benchmark hangs in new: Hang-2: " + someHang, "Hang-2", someHang},
		{"gone", gone, []float64{1}, "1 benchmark is gone in new: Gone-2", "Gone-2", "only the old version has it"},
		{"nothing else", crash, nil, "1 benchmark crashes in new: " + told, "Hash-2", someCrash},
		{"in each block", nil, []float64{1, 0}, "1 benchmark crashes in new: Row1-2: panic: now (row.go:9)", "Row1-2", "crashed: panic: now (row.go:9)"},
		{"in each block, first", nil, []float64{0, 1}, "1 benchmark crashes in new: Row0-2: panic: now (row.go:9)", "Row0-2", "crashed: panic: now (row.go:9)"},
		{"in a block", nil, []float64{-1, 1}, "1 benchmark crashes in new: Row0-2 in block 2: panic: now (row.go:9)", "Row0-2", "same; in block 2: crashed: panic: now (row.go:9)"},
		{
			"slower, and crashes in a block", nil,
			[]float64{1, -2},
			"1 benchmark crashes in new: Row1-2 in block 2: panic: now (row.go:9)", "Row1-2", "slower; in block 2: crashed: panic: now (row.go:9)",
		},
		{
			"several", slices.Concat(gone, crash, hang),
			[]float64{0, 2},
			"2 benchmarks crash in new: Row0-2: panic: now (row.go:9); " + told + "; 1 benchmark hangs in new: Hang-2: " + someHang + "; 1 benchmark is gone in new: Gone-2",
			"Hash-2", someCrash,
		},
	} {
		got := comparisonOf(t, c.absent, c.rows...)
		comment := commentOf(t, got)
		if first, _, _ := strings.Cut(comment, "\n"); first != "### "+escape(c.first) {
			t.Errorf("%s: the comment begins with\n%s\nwant\n### %s", c.name, first, escape(c.first))
		}
		table, _, _ := strings.Cut(comment, "<details>")
		if n := strings.Count(comment, "\n| "+c.row+" | ns/op | "); n != 1 || !strings.Contains(table, "\n| "+c.row+" | ns/op | ") || !strings.Contains(table, "| **"+escape(c.verdict)+"** |\n") {
			t.Errorf("%s: %d rows of %s, want one above, with %q:\n%s", c.name, n, c.row, c.verdict, comment)
		}
		if slower := slices.ContainsFunc(c.rows, func(r float64) bool { return r > 1 || r < -1 }); slower != strings.Contains(table, "v2 against v1: 1 slower.") {
			t.Errorf("%s: slower is %v:\n%s", c.name, slower, comment)
		}
		reason := strings.TrimPrefix(strings.TrimPrefix(c.verdict, "same; "), "slower; ")
		for form, write := range map[string]func(io.Writer) error{
			"text":     func(w io.Writer) error { return Comparison(got, Terminal, Extra{}).Text(w, TextOptions{}) },
			"Markdown": func(w io.Writer) error { return Comparison(got, Document, Extra{}).Markdown(w, MarkdownOptions{}) },
			"HTML":     func(w io.Writer) error { return Comparison(got, Page, Extra{}).HTML(w) },
			"JSON":     func(w io.Writer) error { return JSON(w, got, nil) },
		} {
			text := string(render(t, write))
			above, row, reason := faults(got)[0], c.row, reason
			table := "| ---" // begins them
			switch form {
			case "text":
				above, row, reason, table = "\n"+above+"\n", row+"  ", "] "+reason+"\n", "verdict"
			case "Markdown":
				above, row, reason = "\n**"+escape(above)+"**\n", "| "+row+" | ", "\\] "+escape(reason)+" |\n"
			case "HTML":
				above, row, reason, table = `<p><b class="bad">`+above+"</b></p>\n", ">"+row+"<", "</a> "+reason+"</td>", "<table"
			case "JSON":
				above, row, reason = `"failures": [`, `"benchmark": "`+row+`"`, `"failure": "`+reason+`"`
			}
			if form == "HTML" && !strings.Contains(text, ">remarks</th>") {
				t.Errorf("%s: the column with the reason has another head", c.name)
			}
			head, _, _ := strings.Cut(text, table)
			if !strings.Contains(text, row) || !strings.Contains(text, reason) || form != "JSON" && !strings.Contains(head, above) || !strings.Contains(text, above) {
				t.Errorf("%s as %s lacks %q above its tables, %q or %q:\n%s", c.name, form, above, row, reason, text)
			}
		}
	}
}

// What is no fault of the new version's is told, and leaves the comment at one line.
func TestOtherFailures(t *testing.T) {
	both := []string{listed("old", "Hash-2", someCrash), listed("new", "Hash-2", someCrash)}
	const crash = `Hash-2: panic: runtime error: index out of range \[4096\] with length 4096 (tiny.go:12)`
	for _, c := range []struct {
		absent []string
		want   string
	}{
		{both, "2 benchmarks, 1 the same within ±2 %, 1 failing in both versions (" + crash + ")"},
		{both[:1], "2 benchmarks, 1 the same within ±2 %, 1 failing in old only (" + crash + ")"},
		{[]string{"side: old\n# skip: case=BenchmarkCame-2 reason=\"only the new version has it\""}, "1 benchmark, 1 the same within ±2 %, 1 in the new version only"},
		{[]string{"side: new\n# skip: case=BenchmarkSkip-2 reason=x\nside: old\n# skip: case=BenchmarkSkip-2 reason=x"}, "1 benchmark, 1 the same within ±2 %"},
	} {
		got := commentOf(t, comparisonOf(t, c.absent, 1))
		if want := "Benchmarks: nothing proven between v1 and v2: " + c.want + ".\n"; got != want {
			t.Errorf("%q:\n%s\nwant\n%s", c.absent, got, want)
		}
	}
}

// Many failures are counted, and a few of them named.
func TestFaultsAreNamed(t *testing.T) {
	fault := func(name string) compare.Failure {
		return compare.Failure{Row: name, Col: "new", Kind: compare.Gone, Reason: "only the old version has it", Fault: true}
	}
	sub := compare.Failure{Pkg: "example.com/tiny/sub", Col: "new", Kind: compare.Crashes, Reason: record.ListingFailed + "crashed: panic: init (sub.go:3)", Detail: "panic: init (sub.go:3)", Fault: true}
	accepted := fault("E")
	accepted.Fault, accepted.Accepted = false, true
	for _, c := range []struct {
		failures []compare.Failure
		want     []string
	}{
		{nil, nil},
		{[]compare.Failure{fault("A")}, []string{"1 benchmark is gone in new: A"}},
		{[]compare.Failure{fault("A"), fault("B"), fault("C"), fault("D")}, []string{"4 benchmarks are gone in new: A; B; C; D"}},
		{[]compare.Failure{fault("A"), fault("B"), fault("C"), fault("D"), fault("E")}, []string{"5 benchmarks are gone in new: A; B; C; and 2 more"}},
		{[]compare.Failure{fault("A"), sub, accepted}, []string{
			"1 package crashes in new: example.com/tiny/sub: panic: init (sub.go:3)", "1 benchmark is gone in new: A",
		}},
	} {
		if got := faults(&compare.Comparison{Failures: c.failures}); !slices.Equal(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if got, want := otherFailures(&compare.Comparison{Failures: []compare.Failure{accepted}}), "1 missing in new, as accepted (E)"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Nothing could be measured: each report is written all the same.
func TestUnmeasuredIsReported(t *testing.T) {
	for _, absent := range [][]record.Hole{
		{{Pkg: "p", Case: "BenchmarkX", Side: "new", Reason: someCrash}},
		{{Pkg: "p", Side: "new", Reason: someCrash}},
		{{Pkg: "p", Case: "BenchmarkX", Side: "old", Skipped: true, Reason: "only the new version has it"}},
	} {
		c, err := compare.Unmeasured(absent, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for form, write := range map[string]func(io.Writer) error{
			"comment":  func(w io.Writer) error { return Comment(c, someVersions).Markdown(w, MarkdownOptions{}) },
			"text":     func(w io.Writer) error { return Comparison(c, Terminal, Extra{}).Text(w, TextOptions{}) },
			"Markdown": func(w io.Writer) error { return Comparison(c, Document, Extra{}).Markdown(w, MarkdownOptions{}) },
			"HTML":     func(w io.Writer) error { return Comparison(c, Page, Extra{}).HTML(w) },
			"CSV":      func(w io.Writer) error { return CSV(w, c) },
			"JSON":     func(w io.Writer) error { return JSON(w, c, nil) },
		} {
			text := render(t, write)
			if absent[0].Side == "new" && absent[0].Case+form != "CSV" && !bytes.Contains(text, []byte("(tiny.go:12)")) {
				t.Errorf("%s of %+v does not tell:\n%s", form, absent, text)
			}
		}
	}
}
