package why

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/dynolab/dyno/internal/record"
)

// kinds says of each kind what its values are, as pprof calls them, and by which flags
// of a test binary it is taken.
var kinds = map[Kind]struct{ unit, cost, count, flag, rate string }{
	CPU: {"ns/op", "cpu", "samples", "-test.cpuprofile=", ""},
	// Every allocation: what one operation allocates is then exact, where the default,
	// one sample for half a megabyte, sees some hundred.
	Alloc: {"B/op", "alloc_space", "alloc_objects", "-test.memprofile=", "-test.memprofilerate=1"},
	Mutex: {"ns/op", "delay", "contentions", "-test.mutexprofile=", "-test.mutexprofilefraction=1"},
	Block: {"ns/op", "delay", "contentions", "-test.blockprofile=", "-test.blockprofilerate=1"},

	Instructions: {record.UnitCounted, string(Instructions), string(Instructions), "", ""},
}

// maxProfile bounds a profile in bytes, unpacked. Ours have some ten thousand.
const maxProfile = 256 << 20

// ParseProfile reads a profile of pprof's format, which is compressed.
func ParseProfile(r io.Reader) (*profile.Profile, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(z, maxProfile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxProfile {
		return nil, fmt.Errorf("it is larger than %d bytes unpacked", maxProfile)
	}
	p, err := profile.ParseUncompressed(data)
	if err != nil {
		return nil, err
	}
	return p, p.CheckValid()
}

func readProfile(file string) (*profile.Profile, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := ParseProfile(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}

func writeProfile(file string, p *profile.Profile) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(p.Write(f), f.Close())
}

// minus returns the events of p that q does not have.
func minus(p, q *profile.Profile) (*profile.Profile, error) {
	if len(q.SampleType) == 0 || len(q.Sample) == 0 {
		return p, nil
	}
	q.Scale(-1)
	return profile.Merge([]*profile.Profile{p, q})
}

// Sampled is a profile that was taken over N operations.
type Sampled struct {
	Profile *profile.Profile
	N       int
	Path    string  // where it is kept, as in [Side]
	Wall    float64 // time of an operation, as in [Side]
}

// costs are what an operation costs on one side.
type costs struct {
	Side
	flat, cum map[string]float64            // by function: in itself, and with all that it calls
	groups    map[string]float64            // by group
	parts     map[string]map[string]float64 // by group, and in it by the function that says most
}

// costs reads what a profile of one kind holds.
func (s Sampled) costs(kind Kind) (*costs, error) {
	k := kinds[kind]
	at := func(name string) int {
		return slices.IndexFunc(s.Profile.SampleType, func(t *profile.ValueType) bool { return t.Type == name })
	}
	cost, count := at(k.cost), at(k.count)
	if cost < 0 || count < 0 {
		return nil, fmt.Errorf("it is no profile of %s: it has no values %q and %q", kind, k.cost, k.count)
	}
	c := &costs{
		Side: Side{Path: s.Path, N: s.N, Wall: s.Wall},
		flat: make(map[string]float64), cum: make(map[string]float64),
		groups: make(map[string]float64), parts: make(map[string]map[string]float64),
	}
	for _, sample := range s.Profile.Sample {
		if sample.Value[cost] != 0 || sample.Value[count] != 0 {
			c.Samples += sample.Value[count]
			c.add(stackOf(sample), float64(sample.Value[cost])/float64(s.N))
		}
	}
	return c, nil
}

// stackOf returns the functions of a sample, leaf first.
func stackOf(s *profile.Sample) (stack []string) {
	for _, loc := range s.Location {
		for _, line := range loc.Line {
			if line.Function != nil && line.Function.Name != "" {
				stack = append(stack, line.Function.Name)
			}
		}
	}
	return stack
}

// add adds what a stack costs.
func (c *costs) add(stack []string, cost float64) {
	c.Total += cost
	for i, symbol := range stack {
		if !slices.Contains(stack[:i], symbol) { // recursion counts once
			c.cum[symbol] += cost
		}
	}
	group, says := groupOf(stack)
	c.groups[group] += cost
	if len(stack) == 0 {
		return
	}
	c.flat[stack[0]] += cost
	if c.parts[group] == nil {
		c.parts[group] = make(map[string]float64)
	}
	c.parts[group][Short(says)] += cost
}

// maxTop is how many functions a comparison names.
const maxTop = 30

// Diff compares two profiles of one kind.
func Diff(kind Kind, base, this Sampled) (Profile, error) {
	b, err := base.costs(kind)
	if err != nil {
		return Profile{}, err
	}
	t, err := this.costs(kind)
	if err != nil {
		return Profile{}, err
	}
	d := Profile{Kind: kind, Unit: kinds[kind].unit, Base: b.Side, This: t.Side, Groups: changes(b.groups, t.groups)}
	for i := range d.Groups {
		g := &d.Groups[i]
		g.parts = changes(b.parts[g.Name], t.parts[g.Name])
		g.Main = mainly(g.parts, g.change())
	}
	for _, symbol := range keys(b.cum, t.cum) {
		group, _ := groupOf([]string{symbol})
		d.Top = append(d.Top, Change{
			Name: Short(symbol), Symbol: symbol, Group: group,
			Base: Cost{b.flat[symbol], b.cum[symbol]}, This: Cost{t.flat[symbol], t.cum[symbol]},
		})
	}
	largestFirst(d.Top, func(c Change) float64 {
		return max(math.Abs(c.change()), math.Abs(c.This.Cum-c.Base.Cum)/2) // what is in itself first
	})
	d.Top = d.Top[:min(len(d.Top), maxTop)]
	return d, nil
}

// change is how much more the function or group costs than in base.
func (c *Change) change() float64 { return c.This.Flat - c.Base.Flat }

// changes compares costs by name, largest changes first.
func changes(base, this map[string]float64) (out []Change) {
	for _, name := range keys(base, this) {
		out = append(out, Change{Name: name, Base: Cost{Flat: base[name]}, This: Cost{Flat: this[name]}})
	}
	largestFirst(out, func(c Change) float64 { return math.Abs(c.change()) })
	return out
}

// keys returns the keys of both maps, in an order that does not change.
func keys(a, b map[string]float64) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

// largestFirst sorts by weight; what has the same stays in order.
func largestFirst[T any](all []T, weight func(T) float64) {
	slices.SortStableFunc(all, func(a, b T) int { return cmp.Compare(weight(b), weight(a)) })
}

// mainly returns the functions that make up most of a change: at most three of
// parts, which are sorted by the size of their change, in its direction, until they
// are two thirds of it.
func mainly(parts []Change, change float64) (names []string) {
	sum := 0.0
	for _, c := range parts {
		if len(names) == 3 || math.Abs(sum) >= math.Abs(change)*2/3 {
			break
		}
		if c.change()*change > 0 {
			names, sum = append(names, c.Name), sum+c.change()
		}
	}
	return names
}

// diffProfile returns what this costs more than base, over its operations, as pprof has it with
// -diff_base: shares are of what base costs.
func diffProfile(base, this Sampled) (*profile.Profile, error) {
	b := base.Profile.Copy()
	b.SetLabel("pprof::base", []string{"true"})
	b.Scale(-float64(this.N) / float64(base.N))
	return profile.Merge([]*profile.Profile{this.Profile, b})
}

// keepDifference writes the difference of d, which is of base and this, beside this in folder.
func (d *Profile) keepDifference(folder string, base, this Sampled) error {
	if len(base.Profile.Sample)+len(this.Profile.Sample) == 0 {
		return nil
	}
	p, err := diffProfile(base, this)
	if err != nil {
		return err
	}
	d.Diff = strings.TrimSuffix(d.This.Path, ".pb.gz") + ".diff.pb.gz"
	return writeProfile(filepath.Join(folder, filepath.FromSlash(d.Diff)), p)
}

// variance is that of the total by sampling alone, taken for a Poisson process.
func (s *Side) variance() float64 {
	if s.Samples <= 0 {
		return 0
	}
	return s.Total * s.Total / float64(s.Samples)
}
