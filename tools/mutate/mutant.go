package mutate

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"go/ast"
	"hash/fnv"
	"math/rand/v2"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// A Mutant is a change to the source of a package.
type Mutant struct {
	// ID names the mutant by package, function, operator and the text before and after,
	// and not by its place, so that it stays the same when lines move:
	//
	//	impls/channel (*box).retire: boundary: n < most → n <= most
	//
	// The second of two that are the same otherwise has " #2" at its end.
	ID       string
	Package  string // its path relative to the module
	Operator string

	body       bool // it is in a function
	file       int  // index in Package.files
	start, end int  // what is replaced, in bytes of the file
	text       string
}

// Key is the mutant's package, function and operator: what stays when its line is reworded.
func (m Mutant) Key() string { return keyOf(m.ID) }

// keyOf returns the key of the mutant of this name. No function's name has a colon.
func keyOf(id string) string {
	parts := strings.SplitN(id, ": ", 3)
	return strings.Join(parts[:min(2, len(parts))], ": ")
}

// Mutants returns every change that the operators can make to the package, in the order of
// its source. Some of them do not compile: see [Package.Source].
func (p *Package) Mutants() []Mutant {
	w := &walker{p: p, seen: map[string]int{}}
	for i, f := range p.files {
		if ast.IsGenerated(f.ast) || leftOut[path.Join(p.Path, filepath.Base(f.name))] {
			continue
		}
		w.file = i
		for _, d := range f.ast.Decls {
			w.decl(d)
		}
	}
	return w.found
}

// add notes a change of the text from start to end. shown is what stands for it in the
// mutant's name, or "" for the new text.
func (w *walker) add(operator string, start, end int, text, shown string) {
	old := string(w.p.files[w.file].src[start:end])
	if old == text {
		return
	}
	id := fmt.Sprintf("%s %s: %s: %s → %s", w.p.Path, w.function, operator, short(old), short(cmp.Or(shown, text)))
	w.seen[id]++
	if n := w.seen[id]; n > 1 {
		id += fmt.Sprintf(" #%d", n)
	}
	w.found = append(w.found, Mutant{ID: id, Package: w.p.Path, Operator: operator, body: w.body, file: w.file, start: start, end: end, text: text})
}

// short returns a text in one line of bounded length. What it leaves out of two texts may be
// where they differ; then they are counted.
func short(s string) string {
	const most = 120
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

// Order puts mutants in an order of which any beginning is a sample: within a package it is
// random, and depends on the seed and the mutants' names alone; between packages it is even,
// so that each has its share of the sample, give or take one.
func Order(all []Mutant, seed uint64) []Mutant {
	byPackage := map[string][]Mutant{}
	for _, m := range all {
		byPackage[m.Package] = append(byPackage[m.Package], m)
	}
	type placed struct {
		m  Mutant
		at float64 // how far it is in its package's order, from 0 to 1
	}
	var order []placed
	for pkg, ms := range byPackage {
		slices.SortFunc(ms, func(a, b Mutant) int { return cmp.Compare(lot(seed, a.ID), lot(seed, b.ID)) })
		offset := float64(lot(seed, pkg)) / (1 << 64) // else every package's first would come at once
		for i, m := range ms {
			order = append(order, placed{m, (float64(i) + offset) / float64(len(ms))})
		}
	}
	slices.SortFunc(order, func(a, b placed) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.m.ID, b.m.ID)) })
	ms := make([]Mutant, len(order))
	for i, o := range order {
		ms[i] = o.m
	}
	return ms
}

// lot returns a random number for a text.
func lot(seed uint64, text string) uint64 {
	h := fnv.New64a()
	h.Write(binary.LittleEndian.AppendUint64(nil, seed)) // a hash takes everything
	h.Write([]byte(text))
	return rand.NewPCG(seed, h.Sum64()).Uint64() // FNV's high bits are nearly the same for texts that are
}
