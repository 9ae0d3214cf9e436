package why

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/google/pprof/profile"
)

// maxProfile bounds a profile in bytes, packed and unpacked. Ours have some ten
// thousand.
const maxProfile = 256 << 20

// readProfile reads a profile of pprof's format.
func readProfile(path string) (*profile.Profile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxProfile))
	if err != nil {
		return nil, err
	}
	p, err := parseProfile(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

func parseProfile(data []byte) (*profile.Profile, error) {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		if data, err = io.ReadAll(io.LimitReader(z, maxProfile+1)); err != nil {
			return nil, err
		}
		if len(data) > maxProfile {
			return nil, fmt.Errorf("it is larger than %d bytes unpacked", maxProfile)
		}
	}
	p, err := profile.ParseUncompressed(data)
	if err != nil {
		return nil, err
	}
	return p, p.CheckValid()
}

// A sample is a call stack with its cost.
type sample struct {
	stack []string // symbols, leaf first
	cost  float64  // for one operation
	count int64    // events
}

// costTypes are the value types of each kind: cost and count.
var costTypes = map[Kind][2]string{
	CPU:   {"cpu", "samples"},
	Alloc: {"alloc_space", "alloc_objects"},
	Mutex: {"delay", "contentions"},
	Block: {"delay", "contentions"},
}

// samples returns the samples of a profile of one kind that was taken over n
// operations.
func samples(p *profile.Profile, kind Kind, n int) ([]sample, error) {
	var at [2]int
	for i, name := range costTypes[kind] {
		at[i] = slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool { return t.Type == name })
		if at[i] < 0 {
			return nil, fmt.Errorf("it is no profile of %s: it has no values %q", kind, name)
		}
	}
	out := make([]sample, 0, len(p.Sample))
	for _, s := range p.Sample {
		one := sample{cost: float64(s.Value[at[0]]) / float64(n), count: s.Value[at[1]]}
		if one.cost == 0 && one.count == 0 {
			continue
		}
		for _, loc := range s.Location {
			for _, line := range loc.Line {
				if line.Function != nil && line.Function.Name != "" {
					one.stack = append(one.stack, line.Function.Name)
				}
			}
		}
		out = append(out, one)
	}
	return out, nil
}

// maxTop is how many functions a comparison names.
const maxTop = 30

// Sampled is a profile that was taken over N operations.
type Sampled struct {
	Profile *profile.Profile
	N       int
}

// Diff compares two profiles of one kind: it fills in the totals of both sides,
// the groups and the functions.
func Diff(kind Kind, base, this Sampled) (Profile, error) {
	d := Profile{Kind: kind, Unit: "ns/op"}
	if kind == Alloc {
		d.Unit = "B/op"
	}
	groups, funcs := make(map[string]*Change), make(map[string]*Change)
	parts := make(map[string]map[string]*Change) // of a group, by function
	for i, side := range []struct {
		p  Sampled
		to *Side
	}{{base, &d.Base}, {this, &d.This}} {
		side.to.N = side.p.N
		all, err := samples(side.p.Profile, kind, side.p.N)
		if err != nil {
			return d, err
		}
		cost := func(c *Change) *Cost {
			if i == 0 {
				return &c.Base
			}
			return &c.This
		}
		for _, s := range all {
			side.to.Total += s.cost
			side.to.Samples += s.count
			name := groupOf(s.stack)
			g := entry(groups, name, func() *Change { return &Change{Name: name} })
			cost(g).Flat += s.cost
			seen := make(map[string]bool)
			for j, symbol := range s.stack {
				if seen[symbol] {
					continue // recursion
				}
				seen[symbol] = true
				f := entry(funcs, symbol, func() *Change {
					return &Change{Name: Short(symbol), Symbol: symbol, Group: groupOf([]string{symbol})}
				})
				cost(f).Cum += s.cost
				if j == 0 {
					cost(f).Flat += s.cost
				}
			}
			if teller := teller(s.stack, name); teller != "" {
				if parts[name] == nil {
					parts[name] = make(map[string]*Change)
				}
				short := Short(teller)
				cost(entry(parts[name], short, func() *Change { return &Change{Name: short} })).Flat += s.cost
			}
		}
	}
	for name, g := range groups {
		g.parts = ordered(parts[name], func(c *Change) float64 { return math.Abs(c.change()) })
		g.Main = mainly(g.parts, g.change())
	}
	d.Groups = ordered(groups, func(c *Change) float64 { return math.Abs(c.change()) })
	d.Top = ordered(funcs, func(c *Change) float64 {
		return max(math.Abs(c.change()), math.Abs(c.This.Cum-c.Base.Cum)/2) // what is in itself first
	})
	d.Top = d.Top[:min(len(d.Top), maxTop)]
	return d, nil
}

// change is how much more the function or group costs than in base.
func (c *Change) change() float64 { return c.This.Flat - c.Base.Flat }

func entry(m map[string]*Change, key string, make func() *Change) *Change {
	c := m[key]
	if c == nil {
		c = make()
		m[key] = c
	}
	return c
}

// teller returns the function of a sample that tells a reader most about why it
// is in its group: in the runtime the outermost one that the group is known by,
// such as chansend1 and not memmove; else the leaf.
func teller(stack []string, group string) string {
	if len(stack) == 0 {
		return ""
	}
	for _, c := range classes {
		if c.name != group {
			continue
		}
		best := ""
		for _, f := range stack {
			if !ofRuntime(f) {
				break
			}
			if c.has(f) && !entrances[f] {
				best = f
			}
		}
		if best != "" {
			return best
		}
	}
	return stack[0]
}

// entrances are functions through which everything goes and which tell nothing.
var entrances = map[string]bool{"runtime.mcall": true, "runtime.systemstack": true, "runtime.mstart": true, "runtime.mstart0": true, "runtime.mstart1": true, "runtime.schedule": true}

// mainly returns the functions that make up most of a change: at most three of
// parts, which are sorted by the size of their change, in its direction, until they
// are two thirds of it.
func mainly(parts []Change, change float64) []string {
	var out []string
	sum := 0.0
	for _, c := range parts {
		if c.change()*change <= 0 {
			continue
		}
		if len(out) == 3 || math.Abs(sum) >= math.Abs(change)*2/3 {
			break
		}
		out, sum = append(out, c.Name), sum+c.change()
	}
	return out
}

// order compares for sorting, the greater first.
func order(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// ordered returns the changes, largest weight first, and of the same weight by
// name, so that the same profiles give the same bytes.
func ordered(m map[string]*Change, weight func(*Change) float64) []Change {
	out := make([]Change, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, *m[key])
	}
	slices.SortStableFunc(out, func(a, b Change) int {
		if o := order(weight(&a), weight(&b)); o != 0 {
			return o
		}
		return strings.Compare(a.Symbol+a.Name, b.Symbol+b.Name)
	})
	return out
}
