package why

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// A Tree is two profiles of one kind as trees of calls, for a flame graph.
type Tree struct {
	Kind       Kind
	Unit       string
	Base, This *Node

	funcs map[string]*funcCost
	one   [2]float64 // cost of one sample on each side; 0 if nothing is sampled
}

// A Node is a function, called by its parents: what that costs for an operation,
// itself and all that it calls.
type Node struct {
	Symbol   string // "" for the root
	Name     string // shortened
	Cost     float64
	Children []*Node // by symbol
}

// funcCost is what a function costs wherever it is called.
type funcCost struct{ base, this float64 }

// NewTree arranges two profiles of one kind.
func NewTree(kind Kind, base, this Sampled) (*Tree, error) {
	t := &Tree{Kind: kind, Unit: "ns/op", funcs: make(map[string]*funcCost)}
	if kind == Alloc {
		t.Unit = "B/op"
	}
	for i, side := range []Sampled{base, this} {
		all, err := samples(side.Profile, kind, side.N)
		if err != nil {
			return nil, err
		}
		root, count := new(Node), int64(0)
		for _, s := range all {
			count += s.count
			at := root
			at.Cost += s.cost
			seen := make(map[string]bool)
			for _, symbol := range slices.Backward(s.stack) {
				at = at.child(symbol)
				at.Cost += s.cost
				if seen[symbol] {
					continue
				}
				seen[symbol] = true
				f := t.funcs[symbol]
				if f == nil {
					f = new(funcCost)
					t.funcs[symbol] = f
				}
				if i == 0 {
					f.base += s.cost
				} else {
					f.this += s.cost
				}
			}
		}
		root.sort()
		if i == 0 {
			t.Base = root
		} else {
			t.This = root
		}
		if kind == CPU && count > 0 {
			t.one[i] = root.Cost / float64(count)
		}
	}
	return t, nil
}

func (n *Node) child(symbol string) *Node {
	for _, c := range n.Children {
		if c.Symbol == symbol {
			return c
		}
	}
	c := &Node{Symbol: symbol, Name: Short(symbol)}
	n.Children = append(n.Children, c)
	return c
}

func (n *Node) sort() {
	slices.SortFunc(n.Children, func(a, b *Node) int { return strings.Compare(a.Symbol, b.Symbol) })
	for _, c := range n.Children {
		c.sort()
	}
}

// Func returns what a function costs on both sides, wherever it is called, with
// all that it calls. Sure is false if sampling alone may have made the
// difference: it is less than two standard deviations. Two implementations reach
// the same function by different ways, so that a comparison way by way would find
// little in common.
func (t *Tree) Func(symbol string) (base, this float64, sure bool) {
	f := t.funcs[symbol]
	if f == nil {
		return 0, 0, false
	}
	sd := math.Sqrt(math.Max(0, f.base)*t.one[0] + math.Max(0, f.this)*t.one[1])
	return f.base, f.this, math.Abs(f.this-f.base) > 2*sd && f.base != f.this
}

// ReadTree reads the profiles of a comparison that [Explain] made, as they are
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
