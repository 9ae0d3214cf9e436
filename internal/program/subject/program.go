package subject

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
)

// A Program is a program that speaks the driving protocol.
type Program struct {
	Name  string // as it was given to Open: what a plan calls it
	Path  string // of its file, absolute
	Dir   string // where it runs
	Hash  string // of its file
	Pkg   string // what it measures: as it says itself, else its file's name
	Cases []record.Case
	Units []string // whose better way it tells, such as "MB/s better=higher"
}

// Open asks the program in the file name for its benchmarks, in the folder dir, "" being
// the one that the file is in. It is given so long. Its error says what to do if that is
// no program, or does not speak the protocol; or it is what has ended ctx.
func Open(ctx context.Context, name, dir string, timeout time.Duration) (Program, error) {
	p := Program{Name: name, Dir: dir}
	var err error
	if p.Path, err = filepath.Abs(name); err != nil {
		return Program{}, err
	}
	if dir == "" {
		p.Dir = filepath.Dir(p.Path)
	}
	if err := program.CheckExecutable(name); err != nil {
		return Program{}, err
	}
	if p.Hash, err = program.HashFile(p.Path); err != nil {
		return Program{}, err
	}
	l, err := program.List(ctx, p.Path, p.Dir, nil, timeout)
	if err != nil {
		if ctx.Err() != nil {
			return Program{}, err
		}
		return Program{}, fmt.Errorf("%s: %w", name, err)
	}
	p.Pkg, p.Units = l.Pkg, l.Units
	if p.Pkg == "" {
		p.Pkg = strings.Join(strings.Fields(strings.TrimSuffix(filepath.Base(p.Path), ".exe")), "-")
	}
	for _, n := range l.Names {
		p.Cases = append(p.Cases, record.Case{Pkg: p.Pkg, Name: n})
	}
	return p, nil
}
