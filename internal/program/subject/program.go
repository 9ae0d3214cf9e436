package subject

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
)

// A Program is a program that speaks the driving protocol.
type Program struct {
	Name string // as it was given to Open: what a plan calls it
	program.File
	Pkg   string // what it measures: as it says itself, else its file's name
	Made  string // with which versions and flags it was made, as it says; "" if it does not
	Cases []record.Case
	Units []string // whose better way it tells, such as "MB/s better=higher"
}

// Open asks the program in the file name for its benchmarks, in the folder dir, "" being
// the one that the file is in. It is given so long. Its error says what to do if that is
// no program, or does not speak the protocol; or it is what has ended ctx.
func Open(ctx context.Context, name, dir string, timeout time.Duration) (Program, error) {
	file, err := program.OpenFile(name, dir)
	if err != nil {
		return Program{}, err
	}
	p := Program{Name: name, File: file}
	l, err := program.List(ctx, p.Path, p.Dir, nil, timeout)
	if err != nil {
		if ctx.Err() != nil {
			return Program{}, err
		}
		return Program{}, fmt.Errorf("%s: %w", name, err)
	}
	p.Pkg, p.Made, p.Units = l.Pkg, l.Made, l.Units
	if p.Pkg == "" {
		p.Pkg = strings.Join(strings.Fields(strings.TrimSuffix(filepath.Base(p.Path), ".exe")), "-")
	}
	for _, n := range l.Names {
		p.Cases = append(p.Cases, record.Case{Pkg: p.Pkg, Name: n})
	}
	return p, nil
}

// listTime is how long a program may take to name its benchmarks.
const listTime = time.Minute

// OpenAll opens the programs among packages, which are as Plan.Packages has them, and
// returns the others of these. Two programs must not have a benchmark of the same package
// and name.
func OpenAll(ctx context.Context, packages []string) (all []Program, others []string, err error) {
	others, files := record.SplitFiles(packages)
	others = append(others, record.Files{Binaries: files.Binaries, Dir: files.Dir}.Marked()...)
	first := make(map[record.Case]string)
	for _, name := range files.Programs {
		p, err := Open(ctx, name, files.Dir, listTime)
		if err != nil {
			return nil, nil, err
		}
		for _, c := range p.Cases {
			if first[c] != "" {
				return nil, nil, fmt.Errorf("%s and %s both have %s of the package %s: give it another name in one of them", first[c], name, c.Name, c.Pkg)
			}
			first[c] = name
		}
		all = append(all, p)
	}
	return all, others, nil
}

// Cases returns the benchmarks of programs that match bench, as go test -bench has it. A case that
// known has too is an error.
func Cases(all []Program, bench string, known []record.Case) ([]record.Case, error) {
	var cases []record.Case
	for _, p := range all {
		for _, c := range p.Cases {
			if slices.Contains(known, c) {
				return nil, fmt.Errorf("%s and the package %s both have %s: give it another name in one of them", p.Name, c.Pkg, c.Name)
			}
			if record.Matches(bench, c.Name) {
				cases = append(cases, c)
			}
		}
	}
	return cases, nil
}
