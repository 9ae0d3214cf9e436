package compare

import (
	"fmt"
	"hash/crc64"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/record"
)

// A damaging does to the lines of a results file what editors, disks and scripts do. It returns
// nil if there is nothing to do it to.
type damaging func(r *rand.Rand, lines []string) []string

// damagings are those that older files show as well, which have no sums.
var damagings = map[string]damaging{
	"line lost":    lose(""),
	"line doubled": func(r *rand.Rand, l []string) []string { i := r.IntN(len(l)); return slices.Insert(l, i, l[i]) },
	"line moved":   moved,
	"neighbours swapped": func(r *rand.Rand, l []string) []string {
		i := r.IntN(len(l) - 1)
		l[i], l[i+1] = l[i+1], l[i]
		return l
	},
	"lines swapped": func(r *rand.Rand, l []string) []string {
		i, k := r.IntN(len(l)), r.IntN(len(l))
		l[i], l[k] = l[k], l[i]
		return l
	},
	"lines lost": func(r *rand.Rand, l []string) []string { i, n := span(r, l); return slices.Delete(l, i, i+n) },
	"lines doubled": func(r *rand.Rand, l []string) []string {
		i, n := span(r, l)
		return slices.Insert(l, i, slices.Clone(l[i:i+n])...)
	},
	"64 bytes zeroed":              zeroed(64),
	"512 bytes zeroed":             zeroed(512),
	"4096 bytes zeroed":            zeroed(4096),
	"cut":                          func(r *rand.Rand, l []string) []string { return l[:1+r.IntN(len(l)-1)] },
	"head lost":                    func(r *rand.Rand, l []string) []string { return l[1+r.IntN(len(l)-1):] },
	"twice":                        func(_ *rand.Rand, l []string) []string { return slices.Concat(l, l) },
	"with the beginning of itself": func(r *rand.Rand, l []string) []string { return slices.Concat(l, l[:r.IntN(len(l))]) },
	"block: lost":                  lose("block: "),
	"side: lost":                   lose("side: "),
	"case: lost":                   lose("case: "),
	"copy: lost":                   lose("copy: "),
	"layout: lost":                 lose("layout: "),
	"pkg: lost":                    lose("pkg: "),
	"plan lost":                    lose(record.PlanMark),
	"plan: lost":                   lose("plan: "),
	"case of plan lost":            lose("# case: "),
	"row begins not":               lose("# row "),
	"row ends not":                 lose("# end of row "),
	"block ends not":               lose(record.BlockEnd),
	"slices lost":                  lose(record.SlicesMark),
	"result lost":                  lose(record.ResultMark),
	"Unit lost":                    lose(record.UnitMark),
	"results swapped":              swap(record.ResultMark),
	"slices swapped":               swap(record.SlicesMark),
	"sides swapped":                swap("side: "),
	"blocks swapped":               swap("block: "),
	"row lost":                     between("# row ", "# end of row ", false),
	"row doubled":                  between("# row ", "# end of row ", true),
	"block lost":                   between("block: ", record.BlockEnd, false),
	"block doubled":                between("block: ", record.BlockEnd, true),
}

// changes are those which nothing shows but a sum.
var changes = map[string]damaging{
	"digit changed": func(r *rand.Rand, l []string) []string {
		return changed(r, l, func(b byte) (byte, bool) { return '0' + (b-'0'+1+byte(r.IntN(9)))%10, '0' <= b && b <= '9' })
	},
	"bit flipped": func(r *rand.Rand, l []string) []string {
		return changed(r, l, func(b byte) (byte, bool) { return b ^ 1<<r.IntN(7), b != '\n' })
	},
	"line of another place": func(r *rand.Rand, l []string) []string { l[r.IntN(len(l))] = l[r.IntN(len(l))]; return l },
	"end of a line lost": func(r *rand.Rand, l []string) []string {
		i := r.IntN(len(l))
		l[i] = l[i][:r.IntN(len(l[i])+1)]
		return l
	},
	"sum lost":     lose("# sum: "),
	"sums swapped": swap("# sum: "),
}

func span(r *rand.Rand, l []string) (first, n int) {
	n = min(len(l)-1, 2+r.IntN(40))
	return r.IntN(len(l) - n), n
}

func moved(r *rand.Rand, l []string) []string {
	i := r.IntN(len(l))
	line := l[i]
	l = slices.Delete(l, i, i+1)
	return slices.Insert(l, r.IntN(len(l)+1), line)
}

// those are the indexes of lines with a prefix.
func those(l []string, prefix string) (at []int) {
	for i, line := range l {
		if strings.HasPrefix(line, prefix) {
			at = append(at, i)
		}
	}
	return at
}

func lose(prefix string) damaging {
	return func(r *rand.Rand, l []string) []string {
		at := those(l, prefix)
		if len(at) == 0 {
			return nil
		}
		i := at[r.IntN(len(at))]
		return slices.Delete(l, i, i+1)
	}
}

func swap(prefix string) damaging {
	return func(r *rand.Rand, l []string) []string {
		at := those(l, prefix)
		if len(at) < 2 {
			return nil
		}
		i, k := at[r.IntN(len(at))], at[r.IntN(len(at))]
		l[i], l[k] = l[k], l[i]
		return l
	}
}

// between loses or doubles what begins and ends with such lines.
func between(begin, end string, twice bool) damaging {
	return func(r *rand.Rand, l []string) []string {
		at := those(l, begin)
		if len(at) == 0 {
			return nil
		}
		first := at[r.IntN(len(at))]
		n := slices.IndexFunc(l[first:], func(s string) bool { return strings.HasPrefix(s, end) }) + 1
		if twice {
			return slices.Insert(l, first, slices.Clone(l[first:first+n])...)
		}
		return slices.Delete(l, first, first+n)
	}
}

func zeroed(n int) damaging {
	return func(r *rand.Rand, l []string) []string {
		text := []byte(strings.Join(l, "\n"))
		at := r.IntN(max(1, len(text)-n))
		clear(text[at:min(len(text), at+n)])
		return strings.Split(string(text), "\n")
	}
}

// changed changes a byte that may be changed.
func changed(r *rand.Rand, l []string, to func(b byte) (byte, bool)) []string {
	text := []byte(strings.Join(l, "\n"))
	for {
		i := r.IntN(len(text))
		if b, ok := to(text[i]); ok {
			text[i] = b
			return strings.Split(string(text), "\n")
		}
	}
}

// summed gives the text of an older results file the sums that FORMAT.md describes.
func summed(text string) string {
	table := crc64.MakeTable(crc64.ECMA)
	var out, part strings.Builder
	n, before := 0, ""
	for line := range strings.Lines(text) {
		ends := strings.HasPrefix(line, "# end of row ") || strings.HasPrefix(line, record.BlockEnd)
		if begins := strings.HasPrefix(line, "block: 1\n"); begins || ends {
			if ends {
				part.WriteString(line)
			}
			n++
			before = fmt.Sprintf("# sum: n=%d crc=%016x\n", n, crc64.Checksum([]byte(before+part.String()), table))
			out.WriteString(part.String() + before)
			part.Reset()
			if ends {
				continue
			}
		}
		part.WriteString(line)
	}
	return out.String() + part.String()
}

// answersOf are the verdicts that prove something, by where they stand.
func answersOf(c *Comparison) map[string]Verdict {
	out := make(map[string]Verdict)
	for _, t := range c.Tables {
		for _, r := range t.Rows {
			for i, cell := range r.Cells {
				if cell.Verdict.Proven() || cell.Verdict == Same {
					out[fmt.Sprint(t.Unit, " ", r.Package, " ", r.Name, " ", t.Cols[i].Name)] = cell.Verdict
				}
			}
		}
	}
	for _, f := range c.Failures {
		if f.Fault {
			out["fault of "+f.Name()] = Missing
		}
	}
	return out
}

// isTold reports whether c says that something is wrong with its files.
func isTold(c *Comparison) bool {
	return len(c.Problems) > 0 || slices.ContainsFunc(c.Files, func(f File) bool { return f.Planned > 0 }) ||
		slices.ContainsFunc(c.Warnings, func(w string) bool {
			return strings.Contains(w, "nothing is proven of") || strings.Contains(w, "nothing of this file is proven") || strings.Contains(w, "no results are there")
		})
}

// No damage makes an answer that the whole file does not give, unless a warning says that something
// is wrong; and no answer is given of a row that a warning says is damaged. Of files with sums
// all damage is told.
func TestNoDamageIsEvidence(t *testing.T) {
	t.Parallel()
	files := []string{"20261123-110149-ab-6cebd994-3cc725d6.bench", damagedDesigns}
	each := 3
	if os.Getenv("DYNO_NIGHTLY") != "" {
		each = 80
	}
	total := 0
	for _, name := range files {
		data, err := os.ReadFile(keptAb + name)
		if err != nil {
			t.Fatal(err)
		}
		for _, sums := range []bool{false, true} {
			text, kinds := string(data), maps.Clone(damagings)
			if sums {
				text = summed(text)
				maps.Copy(kinds, changes)
			}
			whole := compared(t, name, []byte(text))
			if len(answersOf(whole)) == 0 || isTold(whole) {
				t.Fatalf("%s has %d answers, and is said to be damaged: %q", name, len(answersOf(whole)), whole.Warnings)
			}
			for _, kind := range slices.Sorted(maps.Keys(kinds)) {
				for seed := range uint64(each) {
					r := rand.New(rand.NewPCG(seed, uint64(len(kind))))
					lines := kinds[kind](r, strings.Split(text, "\n"))
					broken := []byte(strings.Join(lines, "\n"))
					if lines == nil || slices.Equal(strings.FieldsFunc(string(broken), isNewline), strings.FieldsFunc(text, isNewline)) {
						continue
					}
					total++
					checkDamaged(t, fmt.Sprintf("%s, sums %v, %s, seed %d", name, sums, kind, seed), whole, broken, sums)
				}
			}
		}
	}
	t.Logf("%d damages of %d kinds", total, len(damagings)+len(changes))
}

// Lines that are empty say nothing.
func isNewline(r rune) bool { return r == '\n' }

// damagedDesigns is a kept comparison of designs.
const damagedDesigns = "20261123-020322-a46b0e06.bench"

func compared(t *testing.T, name string, data []byte) *Comparison {
	t.Helper()
	c, err := Of(record.Read(name, data)).Compare(Options{Alpha: DefaultAlpha, Margin: DefaultMargin})
	if err != nil {
		return nil
	}
	return c
}

func checkDamaged(t *testing.T, name string, whole *Comparison, data []byte, sums bool) {
	t.Helper()
	c := compared(t, "x", data)
	if c == nil {
		return // which is an error that says why
	}
	told := isTold(c)
	had := answersOf(whole)
	for what, v := range answersOf(c) {
		if had[what] != v && !told {
			t.Errorf("%s: %s is %s, in the whole file %q, and nothing says why", name, what, v, had[what])
		}
		if had[what] != v && told && sums {
			t.Errorf("%s: %s is %s, in the whole file %q, though all damage shows there: %q", name, what, v, had[what], c.Warnings)
		}
	}
	if sums && !told {
		t.Errorf("%s: nothing tells of it", name)
	}
}

// keptAb is where the kept comparisons of versions are.
const keptAb = "../../results/amd-epyc-2c-linux-amd64/"

// Two runs whose new version is another commit prove nothing together; labels cannot take
// them apart, as each has two columns.
func TestPooledCommitsProveNothing(t *testing.T) {
	one, two := keptAb+"20261128-095523-ab-64af7da4-604d8cd8.bench", keptAb+"20261128-105801-ab-64af7da4-9451b4ab.bench"
	for _, alone := range []string{one, two} {
		if c := compareFiles(t, Options{}, alone); len(answersOf(c)) == 0 {
			t.Errorf("%s has no answers", alone)
		}
	}
	c := compareFiles(t, Options{}, one, two)
	if had := answersOf(c); len(had) > 0 {
		t.Errorf("together they say %v", had)
	}
	if all := strings.Join(c.Warnings, "\n"); !strings.Contains(all, `results that differ in "new-commit" are pooled`) {
		t.Errorf("warnings %q", c.Warnings)
	}
	if _, err := Compare([]string{"a=" + one, "b=" + two}, Options{}); err == nil || !strings.Contains(err.Error(), "labels cannot be columns") {
		t.Errorf("with labels: %v", err)
	}
	if _, err := Compare([]string{"a=" + one}, Options{}); err != nil {
		t.Errorf("one with a label: %v", err)
	}
}

// A run that is given twice counts once, in whichever files it is.
func TestRunGivenTwiceCountsOnce(t *testing.T) {
	one := keptAb + "20261128-095523-ab-64af7da4-604d8cd8.bench"
	data, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "copy.bench")
	if err := os.WriteFile(again, data, 0o644); err != nil {
		t.Fatal(err)
	}
	alone, twice := compareFiles(t, Options{}, one), compareFiles(t, Options{}, one, again)
	if a, b := answersOf(alone), answersOf(twice); !maps.Equal(a, b) || alone.Tables[0].Rows[0].Cells[0].N != twice.Tables[0].Rows[0].Cells[0].N {
		t.Errorf("%d answers alone, %d twice", len(a), len(b))
	}
	if all := strings.Join(twice.Warnings, "\n"); !strings.Contains(all, again+" has the run that "+one+" has: it counts once") {
		t.Errorf("warnings %q", twice.Warnings)
	}
	// Files as columns may be the same one: nothing differs.
	if c := compareFiles(t, Options{Col: ".file", Filter: "side:old"}, one, again); c.Tables[0].Rows[0].Cells[1].N == 0 {
		t.Error("the copy is no column")
	}
}

// Of a file with sums, the rows of other parts keep their verdicts.
func TestDamageIsOfItsRow(t *testing.T) {
	data, err := os.ReadFile(keptAb + "20261123-110149-ab-6cebd994-3cc725d6.bench")
	if err != nil {
		t.Fatal(err)
	}
	text := summed(string(data))
	whole := answersOf(compared(t, "x", []byte(text)))
	at := strings.Index(text, "# row \"Actor/workload=pairs/impl=workstealing-2\" of block 4\n")
	at += strings.Index(text[at:], " ns/op") - 1
	broken := []byte(text)
	broken[at] = '0' + (broken[at]-'0'+1)%10
	c := compared(t, "x", broken)
	for what, v := range whole {
		if got, is := answersOf(c)[what], strings.Contains(what, "=pairs/"); is != (got == "") || !is && got != v {
			t.Errorf("%s was %s, and is %q", what, v, got)
		}
	}
	if len(whole) < 10 || !strings.Contains(c.Warnings[0], "are not those that were written: nothing is proven of Actor/workload=pairs/impl=workstealing-2") {
		t.Errorf("%d answers; warnings %q", len(whole), c.Warnings)
	}
	c, err = Of(record.Read("x", broken)).Compare(Options{Alpha: DefaultAlpha, Margin: DefaultMargin, Filter: "/workload:big"})
	if err != nil || strings.Contains(strings.Join(c.Warnings, "\n"), "nothing is proven") {
		t.Errorf("where a filter leaves it out: %v, %q", err, c.Warnings)
	}
}

func compareFiles(t *testing.T, o Options, paths ...string) *Comparison {
	t.Helper()
	c, err := Compare(paths, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
