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
	root      *Node
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
		Side: Side{Path: s.Path, N: s.N, Wall: s.Wall}, root: new(Node),
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
	c.root.add(stack, cost)
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

// both reads both sides of a comparison.
func both(kind Kind, base, this Sampled) (b, t *costs, err error) {
	if b, err = base.costs(kind); err == nil {
		t, err = this.costs(kind)
	}
	return b, t, err
}

// maxTop is how many functions a comparison names.
const maxTop = 30

// Diff compares two profiles of one kind.
func Diff(kind Kind, base, this Sampled) (Profile, error) {
	b, t, err := both(kind, base, this)
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

// A Tree is two profiles of one kind as trees of calls, for a flame graph.
type Tree struct {
	Kind       Kind
	Base, This *Node
	base, this *costs
}

// A Node is a function, called by its parents: what that costs for an operation,
// itself and all that it calls.
type Node struct {
	Symbol   string // "" for the root
	Name     string // shortened
	Cost     float64
	Children []*Node // by symbol
}

// NewTree arranges two profiles of one kind.
func NewTree(kind Kind, base, this Sampled) (*Tree, error) {
	b, t, err := both(kind, base, this)
	if err != nil {
		return nil, err
	}
	return &Tree{Kind: kind, Base: b.root, This: t.root, base: b, this: t}, nil
}

// ReadTree reads the profiles of a comparison that [File.Explain] made, as they are
// kept beside the results file.
func ReadTree(results string, p *Profile) (*Tree, error) {
	var sides [2]Sampled
	for i, s := range []Side{p.Base, p.This} {
		if !filepath.IsLocal(filepath.FromSlash(s.Path)) {
			return nil, fmt.Errorf("the path %q leads out of its folder", s.Path)
		}
		if s.N < 1 {
			return nil, fmt.Errorf("%s was taken over %d operations", s.Path, s.N)
		}
		prof, err := readProfile(filepath.Join(Folder(results), filepath.FromSlash(s.Path)))
		if err != nil {
			return nil, err
		}
		sides[i] = Sampled{Profile: prof, N: s.N}
	}
	return NewTree(p.Kind, sides[0], sides[1])
}

// add adds what a stack costs to a root.
func (n *Node) add(stack []string, cost float64) {
	n.Cost += cost
	for _, symbol := range slices.Backward(stack) {
		i, found := slices.BinarySearchFunc(n.Children, symbol, func(c *Node, s string) int { return strings.Compare(c.Symbol, s) })
		if !found {
			n.Children = slices.Insert(n.Children, i, &Node{Symbol: symbol, Name: Short(symbol)})
		}
		n = n.Children[i]
		n.Cost += cost
	}
}

// Func returns what a function costs on both sides, wherever it is called, with
// all that it calls. Sure is false if sampling alone may have made the
// difference: it is less than two standard deviations. Two implementations reach
// the same function by different ways, so that a comparison way by way would find
// little in common.
func (t *Tree) Func(symbol string) (base, this float64, sure bool) {
	base, this = t.base.cum[symbol], t.this.cum[symbol]
	variance := 0.0
	if t.Kind == CPU { // of the other kinds every event is recorded
		variance = t.base.variance(base) + t.this.variance(this)
	}
	return base, this, base != this && math.Abs(this-base) > 2*math.Sqrt(variance)
}

// variance is that of a cost by sampling alone, taken for a Poisson process.
func (s *Side) variance(cost float64) float64 {
	if s.Samples <= 0 {
		return 0
	}
	return max(0, cost) * s.Total / float64(s.Samples)
}
