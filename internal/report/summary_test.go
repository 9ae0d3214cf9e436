package report

import (
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

func summaryOf(t *testing.T, c *compare.Comparison, x Extra) string {
	t.Helper()
	return plainText(t, Summary(c, x))
}

func TestSummaryGolden(t *testing.T) {
	for name, c := range map[string]*compare.Comparison{
		"interleaved": interleaved(t), "unpaired": unpaired(t), "turns": turns(t), "slower": twoVersions(compare.Slower, 1.034), "quiet": twoVersions(compare.Inconclusive, 1.001),
	} {
		golden(t, "summary-"+name+".txt", summaryOf(t, c, Extra{Again: "run.bench"}))
	}
}

// On a terminal a summary cuts nothing that matters, and keeps to the habits of a screen
// where it can: only commands, which are to be copied, may be longer than its lines. A pipe
// gets every row. It is what all that is kept here says.
func TestSummaryCutsNothing(t *testing.T) {
	files, err := filepath.Glob("../../results/*/2*.bench")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	folded := 0
	for _, path := range append(files, samples+"interleaved.bench", "testdata/curves.bench", "testdata/targets.bench", "testdata/side-board.bench") {
		c, err := compare.Compare([]string{path}, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		out, piped := summaryOf(t, c, Extra{Again: path, Fold: true}), summaryOf(t, c, Extra{Again: path})
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if n := height(Summary(c, Extra{Again: path, Fold: true}).Blocks); n != len(lines) {
			t.Errorf("%s: height %d of %d lines", path, n, len(lines))
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > SummaryColumns && !strings.HasPrefix(line, "benchrun ") {
				t.Errorf("%s: %d columns: %s", path, n, line)
			}
		}
		for _, sentence := range sentences(agreed(c)) {
			if !strings.Contains(strings.ReplaceAll(out, "\n", " "), sentence) || !strings.Contains(piped, sentence) {
				t.Errorf("%s: no %q in\n%s", path, sentence, out)
			}
		}
		if strings.Contains(piped, " more: ") || strings.Contains(piped, "--format full has") {
			t.Errorf("%s: a pipe lacks rows:\n%s", path, piped)
		}
		for _, warning := range c.Warnings {
			mentions(t, piped, warning)
		}
		if strings.Contains(out, " more: ") {
			folded++
		}
		if !isPair(c) {
			continue
		}
		for _, tab := range c.Tables {
			for i, name := range rowNames(tab) {
				if cell := tab.Rows[i].Cells[1]; cell.Verdict.Proven() && !tab.Resource {
					row := regexp.MustCompile(`(?m)^\S*` + regexp.QuoteMeta(name[max(0, len(name)-6):]) + ` .*` + string(cell.Verdict))
					if !row.MatchString(out) {
						t.Errorf("%s: no row of %s, %s:\n%s", path, name, tab.Unit, out)
					}
				}
			}
		}
	}
	if folded == 0 {
		t.Error("no summary folds anything")
	}
}

// Old, new and change of a row are three ways to say the same in every document, also where
// the middle values of the two sides have another ratio; so it is in all that is kept here.
func TestDocumentsAgreeWithThemselves(t *testing.T) {
	apart := twoVersions(compare.Slower, 1.1)
	cells := apart.Tables[0].Rows[0].Cells
	cells[1].Center = cells[0].Center * 1.5
	all := []*compare.Comparison{apart, unpaired(t)}
	files, err := filepath.Glob("../../results/*/*-ab*.bench")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, path := range files {
		c, err := compare.Compare([]string{path}, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	units := map[string]float64{"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
	row := regexp.MustCompile(`(?m)[ |]([0-9.]+) (ns|µs|ms|s)(?: ±\S+)?[ |]+([0-9.]+) (ns|µs|ms|s)(?: ±\S+)?[ |]+([+−])([0-9.]+) %(?:[ |]+([+−]?)([0-9.]+) to ([+−]?)([0-9.]+) %)?`)
	seen, bounded := 0, 0
	for i, c := range all {
		for _, form := range []string{summaryOf(t, c, Extra{}), plainText(t, Doc{Blocks: changes(agreed(c))}), commentOn(t, c)} {
			for _, m := range row.FindAllStringSubmatch(form, -1) {
				seen++
				signed := func(sign, s string) float64 {
					if sign == "−" {
						return -float(t, s)
					}
					return float(t, s)
				}
				got := 100 * (float(t, m[3])*units[m[4]]/(float(t, m[1])*units[m[2]]) - 1)
				want := signed(m[5], m[6])
				if math.Abs(got-want) > 0.2 {
					t.Errorf("comparison %d: old and new differ by %.2f %%, and it says %s", i, got, m[0])
				}
				if m[8] != "" {
					bounded++
					if lo, hi := signed(m[7], m[8]), signed(m[9], m[10]); want < lo || want > hi || want == lo && lo < hi && want != 0 && hi-lo > 0.02 {
						t.Errorf("comparison %d: the estimate is not seen within its interval: %s", i, m[0])
					}
				}
			}
		}
	}
	if seen < 20 || bounded < 20 {
		t.Errorf("only %d rows were looked at, %d with an interval", seen, bounded)
	}
}

func float(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What is inconclusive has what would decide it: as many blocks as the benchmark that needs
// most, of all that can be decided.
func TestSummarySaysWhatWouldDecide(t *testing.T) {
	c := twoVersions(compare.Inconclusive, 1.03)
	mentions(t, summaryOf(t, twoVersions(compare.Slower, 1.1), Extra{}), "Encode")
	rows := c.Tables[0].Rows
	rows[0].Cells[1].Vs.Need, rows[0].Cells[1].Vs.NeedTime = 20, 40*time.Second
	rows[1].Cells[1].Vs.Need, rows[1].Cells[1].Vs.NeedTime = 40, 40*time.Second
	rows[3].Cells[1].Verdict, rows[3].Cells[1].Vs.Undecidable = compare.Inconclusive, true
	mentions(t, summaryOf(t, c, Extra{}),
		"to decide Decode/size=1k, Encode: close other programs, and --blocks 40, up to about 2m0s",
		"smallest changes of time that would have been found: 1 % to 3.4 %", "not decidable in reasonable time while the machine is this noisy: Sum; close other programs")
	// The control of what was not measured needs no decision.
	rows[1].Package = "example.com/m"
	c.Files[0].Config = append(c.Files[0].Config, record.Setting{Key: record.UnchangedKey, Values: []string{"example.com/m BenchmarkEncode"}})
	mentions(t, summaryOf(t, c, Extra{}), "to decide Decode/size=1k: close other programs, and --blocks 20, up to about 40s")
	for i := range rows {
		rows[i].Cells[1].Verdict = compare.Same // whatever else is known of it
	}
	if out := summaryOf(t, c, Extra{}); strings.Contains(out, "to decide") || strings.Contains(out, "not decidable") {
		t.Errorf("all is decided:\n%s", out)
	}
}

// A long name is cut in its middle, for its ends differ.
func TestSummaryCutsNames(t *testing.T) {
	c := twoVersions(compare.Same, 1)
	c.Tables[0].Rows[1].Name = "Decode/" + strings.Repeat("x", 100) + "/size=1k-2"
	if out := summaryOf(t, c, Extra{}); !strings.Contains(out, strings.Repeat("x", 100)+"/size=1k ") {
		t.Errorf("a pipe has no room for a name:\n%s", out)
	}
	out := summaryOf(t, c, Extra{Fold: true})
	mentions(t, out, "\nDecode/xxx", "…", "x/size=1k ")
	for line := range strings.Lines(out) {
		if n := utf8.RuneCountInString(line) - 1; n > SummaryColumns {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// The sentence names what got slower, worst first, with its change and interval.
func TestSentence(t *testing.T) {
	slower := twoVersions(compare.Slower, 1.1)
	slower.Tables[0].Rows[1].Cells[1].Verdict = compare.Slower
	slower.Tables[0].Rows[1].Cells[1].Vs.Ratio = 1.3
	slower.Tables[0].Rows[3].Cells[1].Verdict = compare.Faster
	for name, test := range map[string]struct {
		c    *compare.Comparison
		want string
	}{
		"slower":  {slower, "2 of 4 benchmarks got slower: Encode +30.0 % (+0.1 to +2.1 %), Decode/size=1k +10.0 % (+8.9 to +11.1 %); 1 of 4 benchmarks got faster: Sum +0.1 % (−0.9 to +1.1 %)"},
		"two":     {unpaired(t), "3 unproven in ns/op; 1 of 3 benchmarks got worse in B/op: Encode +30 %; 1 of 3 benchmarks got better in B/op: Decode −23.1 %"},
		"designs": {turns(t), "channel: faster on 1 of 2; 0.610 to 1.008; allocs/op: better on 1 of 2"},
		"none":    {&compare.Comparison{}, "There is nothing to compare."},
	} {
		if got := Sentence(test.c); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// What is typed next compares the same: it has what was typed.
func TestNext(t *testing.T) {
	c := twoVersions(compare.Slower, 1.1)
	mentions(t, summaryOf(t, c, Extra{Again: "run.bench --base=old"}), "\nbenchrun report run.bench --base=old\n",
		"\nbenchrun compare --format full run.bench --base=old\n", "\nbenchrun why run.bench --base=old\n")
	if out := summaryOf(t, c, Extra{Next: []string{"report: x.html"}}); !strings.HasSuffix(out, "\nreport: x.html\n") || strings.Contains(out, "benchrun") {
		t.Errorf("given what is next, it is\n%s", out)
	}
	if out := summaryOf(t, c, Extra{}); strings.Contains(out, "benchrun report") {
		t.Errorf("standard input cannot be read again:\n%s", out)
	}
	if out := summaryOf(t, twoVersions(compare.Same, 1), Extra{Again: "run.bench"}); strings.Contains(out, "benchrun why") {
		t.Errorf("there is nothing to explain:\n%s", out)
	}
	c = twoVersions(compare.Slower, 1.1)
	for i := range c.Tables[0].Rows {
		c.Tables[0].Rows[i].Package = record.CommandPkg
	}
	if text := summaryOf(t, c, Extra{Again: "run.bench"}); strings.Contains(text, "benchrun why") {
		t.Errorf("of commands there are profiles:\n%s", text)
	}
}

// An estimate and its interval are of one form, with digits that show that the one lies in the
// other.
func TestChangeAndInterval(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		ratio, lo, hi float64
		want          change
	}{
		{1.1, 1.097, 1.104, change{"+10.0 %", "+9.7 to +10.4 %"}},
		{1.146, 1.1448, 1.1471, change{"+14.6 %", "+14.5 to +14.7 %"}},
		{1.0497, 1.0494, 1.05, change{"+4.97 %", "+4.94 to +5.00 %"}},
		{1.01, 0.994, 1.025, change{"+1.0 %", "−0.6 to +2.5 %"}},
		{1, 1, 1.00001, change{"0 %", "0 to 0 %"}},
		{0.65, 0.6, 0.7, change{"−35.0 %", "−40.0 to −30.0 %"}},
		{2.043, 1.74, 2.398, change{"×2.043", "×1.740 to ×2.398"}},
		{1.9, 1.5, 2.5, change{"×1.900", "×1.500 to ×2.500"}},
		{28030, 27694, 28369, change{"×28030", "×27694 to ×28369"}},
		{1.5, 0, 2, change{"+50 %", ""}},
		{0.6842, nan, nan, change{"−31.6 %", ""}},
		{1.2, 1.1, inf, change{"+20 %", ""}},
		{nan, nan, nan, change{"–", ""}},
	} {
		if got := changeOf(test.ratio, test.lo, test.hi); got != test.want {
			t.Errorf("%v, %v to %v is %q, want %q", test.ratio, test.lo, test.hi, got, test.want)
		}
	}
}

// Names are as short as they can be while they differ.
func TestRowNames(t *testing.T) {
	rows := func(names ...string) compare.Table {
		return compare.Table{Rows: each(names, func(n string) compare.Row { return compare.Row{Name: n} })}
	}
	for _, test := range []struct{ in, want []string }{
		{[]string{"Group/workload=short-2", "Hash-2"}, []string{"Group/short", "Hash"}},
		{[]string{"Hash-2", "Hash-4"}, []string{"Hash-2", "Hash-4"}},
		{[]string{"Shift/delta=-1", "Shift/delta=-2"}, []string{"Shift/delta=-1", "Shift/delta=-2"}},
		{[]string{"Shift/delta=-1"}, []string{"Shift/delta=-1"}},
		{[]string{"Shift/delta=-1-8", "Sum-8"}, []string{"Shift/delta=-1", "Sum"}},
		{[]string{"Sort/size-100", "Sum"}, []string{"Sort/size-100", "Sum"}},
		{[]string{"A/workload=x", "A/x", "B-y"}, []string{"A/workload=x", "A/x", "B-y"}},
	} {
		if got := rowNames(rows(test.in...)); strings.Join(got, " ") != strings.Join(test.want, " ") {
			t.Errorf("%q: %q, want %q", test.in, got, test.want)
		}
	}
	if got := cutMiddle("abcdefghij", 5); got != "ab…ij" {
		t.Errorf("cut: %q", got)
	}
}
