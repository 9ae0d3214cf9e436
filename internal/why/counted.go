package why

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/dynolab/dyno/internal/counter"
)

const (
	// mostCounted is how many functions and groups of the runtime a sentence names.
	mostCounted = 4
	// leastCounted is the part of a difference that is worth a name.
	leastCounted = 0.05
)

// A countedPart is a function, or what the runtime does, and by how many instructions of an
// operation it differs.
type countedPart struct {
	name string
	by   float64
	se   float64 // standard error
	note string
}

// Counted says in a sentence where a difference of instructions is: "of +3.1 %: parse.next +2.4 %
// (inlined no longer), allocating +0.7 %". The parts are of the base's count, as the whole is, and
// of functions in themselves: what the runtime does is put together in groups. base and this
// have a profile of an operation for each block. It is "" if nothing was counted, or no part is
// surely different.
func Counted(base, this []counter.Profile) string {
	if len(base) < 2 || len(this) < 2 {
		return ""
	}
	of := meanOf(base).Count().All
	whole := meanOf(this).Count().All - of
	if !(of > 0) || whole == 0 {
		return ""
	}
	parts := countedParts(base, this)
	slices.SortFunc(parts, func(a, b countedPart) int {
		return cmp.Or(cmp.Compare(math.Abs(b.by), math.Abs(a.by)), cmp.Compare(a.name, b.name))
	})
	var said []string
	for _, p := range parts {
		if len(said) == mostCounted || math.Abs(p.by) < leastCounted*math.Abs(whole) {
			break
		}
		if math.Abs(p.by) >= sigmas*p.se {
			said = append(said, fmt.Sprintf("%s %s%s", p.name, countedPercent(p.by/of), p.note))
		}
	}
	if len(said) == 0 {
		return ""
	}
	return fmt.Sprintf("of %s: %s", countedPercent(whole/of), strings.Join(said, ", "))
}

func countedPercent(part float64) string { return fmt.Sprintf("%+.2g %%", 100*part) }

// meanOf returns the mean of profiles.
func meanOf(all []counter.Profile) counter.Profile {
	mean := make(counter.Profile)
	for _, p := range all {
		for at, v := range p {
			mean[at] += v / float64(len(all))
		}
	}
	return mean
}

// countedParts returns the differences by function, and by group of what the runtime does.
func countedParts(base, this []counter.Profile) (parts []countedPart) {
	b, t := byPart(base), byPart(this)
	names := make(map[string]bool)
	for _, one := range slices.Concat(b, t) {
		for name := range one {
			names[name] = true
		}
	}
	was, is := linesOf(base), linesOf(this)
	for name := range names {
		mb, vb := momentsOf(b, name)
		mt, vt := momentsOf(t, name)
		p := countedPart{name: Short(name), by: mt - mb, se: math.Sqrt(vb/float64(len(b)) + vt/float64(len(t)))}
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

// A line of the source.
type sourceLine struct {
	file string
	line int
}

// linesOf returns the lines that functions have instructions of: their own, and those of what is
// inlined into them.
func linesOf(all []counter.Profile) map[string]map[sourceLine]bool {
	lines := make(map[string]map[sourceLine]bool)
	for _, p := range all {
		for at := range p {
			if at.Line == 0 {
				continue
			}
			if lines[at.Func] == nil {
				lines[at.Func] = make(map[sourceLine]bool)
			}
			lines[at.Func][sourceLine{filepath.Base(at.File), at.Line}] = true
		}
	}
	return lines
}

// within reports whether another function has most of these lines.
func within(lines map[sourceLine]bool, others map[string]map[sourceLine]bool, not string) bool {
	for name, of := range others {
		n := 0
		for l := range lines {
			if of[l] {
				n++
			}
		}
		if name != not && n > 0 && 2*n >= len(lines) {
			return true
		}
	}
	return false
}

// WriteCounts keeps what an operation of a row costs on each side, as profiles that go tool pprof
// opens, with -diff_base the difference: in [Folder] of the results, with instructions of a million
// operations. It returns their paths.
func WriteCounts(results, row string, sides []string, counts [][]counter.Profile) (paths []string, err error) {
	folder := filepath.Join(Folder(results), unusual.ReplaceAllString(row, "-"))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	for i, side := range sides {
		path := filepath.Join(folder, unusual.ReplaceAllString(side, "-")+".instrs.pb.gz")
		if err := writeProfile(path, pprofOf(meanOf(counts[i]))); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// pprofOf returns a profile as pprof has it.
func pprofOf(p counter.Profile) *profile.Profile {
	unit := &profile.ValueType{Type: "instructions", Unit: "count"}
	out := &profile.Profile{SampleType: []*profile.ValueType{unit}, PeriodType: unit, Period: 1}
	functions := make(map[string]*profile.Function)
	for _, at := range slices.SortedFunc(maps.Keys(p), func(a, b counter.Place) int {
		return cmp.Or(cmp.Compare(a.Func, b.Func), cmp.Compare(a.File, b.File), a.Line-b.Line)
	}) {
		const ops = 1e6
		v := int64(math.Round(p[at] * ops))
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
