package why

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/counter"
	"github.com/dynolab/dyno/internal/record"
)

const (
	// mostCounted is how many functions and groups of the runtime a sentence names.
	mostCounted = 4
	// leastCounted is the part of a difference that is worth a name, and leastOwn that of code
	// which is not Go's: a call that is new costs little by itself and much in what it calls.
	leastCounted = 0.05
	leastOwn     = 0.005
)

// A countedPart is a function, or what the runtime does, and by how many instructions of an
// operation it differs.
type countedPart struct {
	name string
	by   float64
	se   float64 // standard error
	note string
	at   string // the line that differs most
	own  bool   // it is neither Go's runtime nor the standard library
}

// isWorth reports whether p is worth a name in a difference of so much.
func (p *countedPart) isWorth(whole float64) bool {
	least := leastCounted
	if p.own {
		least = leastOwn
	}
	return math.Abs(p.by) >= least*math.Abs(whole) && math.Abs(p.by) >= sigmas*p.se
}

// Counted says in a sentence where a difference of instructions is: "of +3.1 %: parse.next
// (parse.go:41) +2.4 % (inlined no longer), with allocating +0.7 %". The parts are of the base's
// count, as the whole is, and of functions in themselves: what the runtime does is put together in
// groups. What is not Go's own comes first: it is what a change is made in, and the runtime and the
// standard library do what it asks for. base and this have a profile of an operation for each
// block. It is "" if nothing was counted, or no part is surely different.
func Counted(base, this []counter.Profile) string {
	if len(base) < 2 || len(this) < 2 {
		return ""
	}
	of := counter.Mean(base).Count().All
	whole := counter.Mean(this).Count().All - of
	if !(of > 0) || whole == 0 {
		return ""
	}
	parts := slices.DeleteFunc(countedParts(base, this), func(p countedPart) bool { return !p.isWorth(whole) })
	slices.SortFunc(parts, func(a, b countedPart) int {
		return cmp.Or(cmp.Compare(math.Abs(b.by), math.Abs(a.by)), cmp.Compare(a.name, b.name))
	})
	said := func(own bool) (all []string) {
		for _, p := range parts {
			if p.own == own && len(all) < mostCounted {
				all = append(all, fmt.Sprintf("%s%s %s%s", p.name, p.at, countedPercent(p.by/of), p.note))
			}
		}
		return all
	}
	own, others := strings.Join(said(true), ", "), strings.Join(said(false), ", ")
	switch {
	case own == "" && others == "":
		return ""
	case own != "" && others != "":
		own += ", with "
	}
	return fmt.Sprintf("of %s: %s", countedPercent(whole/of), own+others)
}

func countedPercent(part float64) string { return fmt.Sprintf("%+.2g %%", 100*part) }

// countedParts returns the differences by function, and by group of what the runtime does.
func countedParts(base, this []counter.Profile) (parts []countedPart) {
	is := linesOf(this)
	base = asNamed(base, linesOf(base), is)
	was := linesOf(base)
	b, t := byPart(base), byPart(this)
	names := make(map[string]bool)
	for _, one := range slices.Concat(b, t) {
		for name := range one {
			names[name] = true
		}
	}
	for name := range names {
		mb, vb := momentsOf(b, name)
		mt, vt := momentsOf(t, name)
		p := countedPart{name: Short(name), by: mt - mb, se: math.Sqrt(vb/float64(len(b)) + vt/float64(len(t))), own: packageOf(name) != "" && codeOf(name) == ownCode}
		if p.own {
			p.at = where(was[name], is[name])
		}
		switch {
		case mb == 0 && mt != 0 && within(is[name], was, name):
			p.note = " (inlined no longer)"
		case mt == 0 && mb != 0 && within(was[name], is, name):
			p.note = " (inlined now)"
		}
		parts = append(parts, p)
	}
	return parts
}

// asNamed returns profiles of the base in which what is only called otherwise in the other version has the
// name that it has there: a function that is in one of the two only, and has nearly the lines of one
// that is in the other only. Go 1.27 names closures of inlined functions, and the shapes of
// generic ones, otherwise than 1.26.
func asNamed(base []counter.Profile, was, is map[string]map[sourceLine]float64) []counter.Profile {
	names := make(map[string]string)
	for _, old := range slices.Sorted(maps.Keys(was)) {
		if is[old] != nil {
			continue
		}
		for _, now := range slices.Sorted(maps.Keys(is)) {
			if was[now] == nil && packageOf(now) == packageOf(old) && sameLines(was[old], is[now]) {
				names[old] = now
				break
			}
		}
	}
	if len(names) == 0 {
		return base
	}
	named := make([]counter.Profile, len(base))
	for i, p := range base {
		named[i] = make(counter.Profile, len(p))
		for at, v := range p {
			at.Func = cmp.Or(names[at.Func], at.Func)
			named[i][at] += v
		}
	}
	return named
}

// sameLines reports whether four of five lines of each are lines of the other.
func sameLines(a, b map[sourceLine]float64) bool {
	n := 0
	for l := range a {
		if _, ok := b[l]; ok {
			n++
		}
	}
	return 5*n >= 4*max(len(a), len(b))
}

// byPart adds up profiles by function, and those of the runtime by what they do.
func byPart(all []counter.Profile) []map[string]float64 {
	sums := make([]map[string]float64, len(all))
	for i, p := range all {
		sums[i] = make(map[string]float64)
		for at, v := range p {
			name := at.Func
			if name == "???" {
				name = "code without symbols (built with -ldflags=-s)"
			}
			if ofRuntime(name) {
				name, _ = groupOf([]string{name})
			}
			sums[i][name] += v
		}
	}
	return sums
}

// momentsOf returns the mean and the variance of a part's counts.
func momentsOf(all []map[string]float64, name string) (mean, variance float64) {
	n := float64(len(all))
	for _, one := range all {
		mean += one[name] / n
	}
	for _, one := range all {
		variance += (one[name] - mean) * (one[name] - mean) / (n - 1)
	}
	return mean, variance
}

// A sourceLine is a line of the source.
type sourceLine struct {
	file string
	line int
}

// linesOf returns the lines that functions have instructions of, with how many: their own, and those
// of what is inlined into them.
func linesOf(all []counter.Profile) map[string]map[sourceLine]float64 {
	lines := make(map[string]map[sourceLine]float64)
	for _, p := range all {
		for at, v := range p {
			if at.Line == 0 {
				continue
			}
			if lines[at.Func] == nil {
				lines[at.Func] = make(map[sourceLine]float64)
			}
			lines[at.Func][sourceLine{filepath.Base(at.File), at.Line}] += v / float64(len(all))
		}
	}
	return lines
}

// within reports whether another function has most of these lines.
func within(lines map[sourceLine]float64, others map[string]map[sourceLine]float64, not string) bool {
	for name, of := range others {
		n := 0
		for l := range lines {
			if _, ok := of[l]; ok {
				n++
			}
		}
		if name != not && n > 0 && 2*n >= len(lines) {
			return true
		}
	}
	return false
}

// where names the line of a function that differs most, " (parse.go:41)"; "" if none is known. Lines
// move when others are added, so both versions are laid beside one another by what their lines cost,
// as far as that is the same, and it is the stretch between such lines that differs most. The line
// is that of this, unless there is less of it.
func where(was, is map[sourceLine]float64) string {
	b, t := inOrder(was), inOrder(is)
	// same[i][j] is how many lines of b[i:] and t[j:] are the same.
	same := make([][]int, len(b)+1)
	for i := range same {
		same[i] = make([]int, len(t)+1)
	}
	alike := func(i, j int) bool {
		x, y := was[b[i]], is[t[j]]
		return b[i].file == t[j].file && math.Abs(x-y) <= 0.0005*max(x, y)
	}
	for i := len(b) - 1; i >= 0; i-- {
		for j := len(t) - 1; j >= 0; j-- {
			same[i][j] = max(same[i+1][j], same[i][j+1])
			if alike(i, j) {
				same[i][j] = same[i+1][j+1] + 1
			}
		}
	}
	var at sourceLine
	most := 0.0
	stretch := func(b, t []sourceLine) {
		by := 0.0
		for _, l := range b {
			by -= was[l]
		}
		for _, l := range t {
			by += is[l]
		}
		if math.Abs(by) <= most {
			return
		}
		most = math.Abs(by)
		lines, costs := t, is
		if len(b) > 0 && by < 0 || len(t) == 0 { // a cost that varies may be below zero
			lines, costs = b, was
		}
		at = slices.MaxFunc(lines, func(a, b sourceLine) int { return cmp.Compare(costs[a], costs[b]) })
	}
	i, j, fromI, fromJ := 0, 0, 0, 0
	for i < len(b) && j < len(t) {
		switch {
		case alike(i, j) && same[i][j] == same[i+1][j+1]+1:
			stretch(b[fromI:i], t[fromJ:j])
			i, j = i+1, j+1
			fromI, fromJ = i, j
		case same[i+1][j] >= same[i][j+1]:
			i++
		default:
			j++
		}
	}
	if stretch(b[fromI:], t[fromJ:]); most == 0 {
		return ""
	}
	return fmt.Sprintf(" (%s:%d)", at.file, at.line)
}

// inOrder returns lines as they stand in their files.
func inOrder(lines map[sourceLine]float64) []sourceLine {
	return slices.SortedFunc(maps.Keys(lines), func(a, b sourceLine) int {
		return cmp.Or(cmp.Compare(a.file, b.file), a.line-b.line)
	})
}

// SidesOf returns what an operation of a benchmark costs on each of two sides, a profile for each
// block.
type SidesOf func(pkg, name string, cpu int, base, this string) (b, t []counter.Profile, err error)

// ExplainCounts explains each difference of instructions that c proves between two sides of plan,
// by what was counted for it, and adds it to the index of the results, with profiles that go tool
// pprof opens. What sides does not know, because the run was resumed, is left out.
func ExplainCounts(c *compare.Comparison, plan *record.Plan, sides SidesOf) (cells []Cell, err error) {
	if !c.Counted() || len(c.Files) != 1 {
		return nil, nil
	}
	located, err := compare.Locate(plan, c.Col)
	if err != nil {
		return nil, err
	}
	results, t := c.Files[0].Path, c.Tables[0]
	for _, r := range t.Rows {
		for i, cell := range r.Cells {
			at := slices.IndexFunc(located, func(l compare.Located) bool {
				return l.Row == r.Name && l.Col == t.Cols[i].Name && (r.Pkg == "" || l.Case.Pkg == r.Pkg)
			})
			if !cell.Verdict.Proven() || at < 0 {
				continue
			}
			step := located[at].Step
			e := Cell{
				Pkg: step.Case.Pkg, Row: r.Name, Base: t.Cols[r.Base].Name, Column: t.Cols[i].Name,
				Unit: t.Unit, Ratio: finite(cell.Vs.Ratio), Verdict: string(cell.Verdict),
				Folder: unusual.ReplaceAllString(strings.TrimSpace(r.Pkg+" "+r.Name), "-"),
			}
			base, this, err := sides(step.Case.Pkg, step.Case.Name, step.CPU, e.Base, e.Column)
			if err != nil {
				continue
			}
			e.Sentence = Counted(base, this)
			e.Explained = e.Sentence != ""
			p, err := keepCounts(results, &e, base, this)
			if err != nil {
				return nil, err
			}
			e.Profiles = []Profile{p}
			cells = append(cells, e)
		}
	}
	if len(cells) == 0 {
		return nil, nil
	}
	x, _ := openIndex(results, plan, c.Col, "")
	x.Cells = cells
	return cells, x.Write(results)
}

// countedOps is how many operations a kept profile of instructions is of: one of a hundredth of an
// instruction is not lost.
const countedOps = 1_000_000

// keepCounts writes both sides of a cell into its folder, and compares them.
func keepCounts(results string, c *Cell, base, this []counter.Profile) (Profile, error) {
	var sides [2]Sampled
	for i, of := range [][]counter.Profile{base, this} {
		name := unusual.ReplaceAllString([]string{c.Base, c.Column}[i], "-") + "." + string(Instructions) + ".pb.gz"
		sides[i] = Sampled{Profile: pprofOf(counter.Mean(of)), N: countedOps, Path: path.Join(c.Folder, name)}
		file := filepath.Join(Folder(results), filepath.FromSlash(sides[i].Path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return Profile{}, err
		}
		if err := writeProfile(file, sides[i].Profile); err != nil {
			return Profile{}, err
		}
	}
	d, err := Diff(Instructions, sides[0], sides[1])
	if err == nil {
		err = d.keepDifference(Folder(results), sides[0], sides[1])
	}
	return d, err
}

// pprofOf returns a profile as pprof has it.
func pprofOf(p counter.Profile) *profile.Profile {
	unit := &profile.ValueType{Type: string(Instructions), Unit: "count"}
	out := &profile.Profile{SampleType: []*profile.ValueType{unit}, PeriodType: unit, Period: 1}
	functions := make(map[string]*profile.Function)
	for _, at := range slices.SortedFunc(maps.Keys(p), func(a, b counter.Place) int {
		return cmp.Or(cmp.Compare(a.Func, b.Func), cmp.Compare(a.File, b.File), a.Line-b.Line)
	}) {
		v := int64(math.Round(p[at] * countedOps))
		if v == 0 {
			continue
		}
		f := functions[at.Func]
		if f == nil {
			f = &profile.Function{ID: uint64(len(functions) + 1), Name: at.Func, SystemName: at.Func, Filename: at.File}
			functions[at.Func] = f
			out.Function = append(out.Function, f)
		}
		l := &profile.Location{ID: uint64(len(out.Location) + 1), Line: []profile.Line{{Function: f, Line: int64(at.Line)}}}
		out.Location = append(out.Location, l)
		out.Sample = append(out.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{v}})
	}
	return out
}
