package why

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/record"
)

// Schema is the version of the index. A reader refuses another one: sentences of
// version 1 took CPU times that were not told apart for equal ones.
const Schema = "dyno-why/2"

// An Index says what was found about the differences in one results file, in the fields
// that internal/report/FORMATS.md describes. It is kept as why.json in [Folder], with the profiles in
// folders beside it; all paths in it are relative to that folder and have slashes.
type Index struct {
	Schema  string `json:"schema"`
	Results string `json:"results"` // base name of the results file
	Plan    string `json:"plan"`    // ID of its plan: two files of one name are not mixed up
	Col     string `json:"col"`     // projection that made the columns, such as "/impl"

	// Built says in one line what was wrong with the subjects, such as a test
	// binary that is not the one that was measured. Empty if nothing was.
	Built string `json:"built,omitempty"`

	Cells []Cell `json:"cells"` // in the order of the comparison's table
}

// A Cell is one difference and what lies behind it.
type Cell struct {
	Pkg    string `json:"pkg"`    // import path of the benchmark
	Row    string `json:"row"`    // name of the comparison's row, such as "Group/workload=short-2"
	Base   string `json:"base"`   // column that it is compared to
	Column string `json:"column"` // column that is compared

	Unit    string  `json:"unit"` // of Ratio, which is what the comparison says, as Verdict is
	Ratio   float64 `json:"ratio"`
	Verdict string  `json:"verdict"`

	Sentence  string `json:"sentence"`  // for people, without markup
	Explained bool   `json:"explained"` // it names what makes up at least half of the difference

	Folder   string    `json:"folder"` // with the cell's files
	Profiles []Profile `json:"profiles,omitempty"`
	Counters []Counter `json:"counters,omitempty"`
	CPU      *CPUTime  `json:"cpu,omitempty"`   // that was counted; nil if none was, and Notes say why
	Notes    []string  `json:"notes,omitempty"` // reservations, each a sentence
}

// A Kind is what a profile counts.
type Kind string

// The kinds of profiles, in the order in which they are taken.
const (
	CPU   Kind = "cpu"   // nanoseconds of processor time, of all threads together
	Alloc Kind = "alloc" // bytes allocated on the heap
	Mutex Kind = "mutex" // nanoseconds that goroutines held others up at a lock
	Block Kind = "block" // nanoseconds that goroutines were blocked

	// Instructions are those of a simulated processor, of functions in themselves. No process is
	// profiled for them: they are what was counted.
	Instructions Kind = "instructions"
)

// A Profile is two profiles of one kind, compared. Costs are per operation of
// the benchmark, in Unit.
type Profile struct {
	Kind Kind   `json:"kind"`
	Unit string `json:"unit"` // "ns/op", "B/op" or "instrs/op"
	Base Side   `json:"base"`
	This Side   `json:"this"`
	Diff string `json:"diff,omitempty"` // path of the difference, in pprof's format, gzipped; "" if both sides are empty

	// Groups and Top are what changed, the largest changes first, whichever
	// direction. Groups add up to the totals; Top holds single functions.
	Groups []Change `json:"groups,omitempty"`
	Top    []Change `json:"top,omitempty"`
}

// A Side is one of the two profiles.
type Side struct {
	Path    string  `json:"path"`    // pprof's format, gzipped
	N       int     `json:"n"`       // operations: the same on both sides, but for whole pieces of the work
	Total   float64 `json:"total"`   // cost of an operation
	Samples int64   `json:"samples"` // of which it was computed: of CPU time 100 a second, else events
	Wall    float64 `json:"wall"`    // time that the benchmark itself measured while it was profiled, ns/op
}

// A Change is what one function or group costs on both sides. Flat is the cost
// in itself, Cum with everything that it calls; a group has Flat only.
type Change struct {
	Name   string `json:"name"`             // shortened for reading
	Symbol string `json:"symbol,omitempty"` // a function's whole name
	Group  string `json:"group,omitempty"`  // that a function belongs to by itself
	Base   Cost   `json:"base"`
	This   Cost   `json:"this"`

	Main  []string `json:"main,omitempty"` // the functions that a group's change mostly comes from
	parts []Change // all that its cost is made of
}

// A Cost is per operation, in the profile's unit.
type Cost struct {
	Flat float64 `json:"flat"`
	Cum  float64 `json:"cum,omitempty"`
}

// An Interval is an estimate and what bounds it with 95 % confidence, or a little
// more.
type Interval struct {
	Est float64 `json:"est"`
	Lo  float64 `json:"lo"`
	Hi  float64 `json:"hi"`
}

// CPUTime is the CPU time of whole processes, of all their threads, as the system
// counts it over pairs of fresh processes, in nanoseconds for an operation.
type CPUTime struct {
	Base float64  `json:"base"` // median of the base's processes
	Diff Interval `json:"diff"` // this less base

	// BaseWall and Wall are the same of the time itself, in the same slices.
	BaseWall float64  `json:"base_wall"`
	Wall     Interval `json:"wall"`

	Pairs int     `json:"pairs"`
	Clock float64 `json:"clock"` // by which Diff is widened, because the system's clock has steps
}

// A Counter is what the runtime or the system counted per operation, over pairs
// of fresh processes: the medians of both sides, and the ratio with its interval
// of 95 %, nil if a side is zero.
type Counter struct {
	Name  string  `json:"name"` // for people, such as "context switches"
	Key   string  `json:"key"`  // as runtime/metrics or the system calls it
	Unit  string  `json:"unit"` // such as "/op"
	Base  float64 `json:"base"`
	This  float64 `json:"this"`
	Ratio *Ratio  `json:"ratio"`
	Pairs int     `json:"pairs"`
	Moved bool    `json:"moved"` // the interval leaves out 1
}

// A Ratio is this over base, with its interval.
type Ratio struct {
	Ratio float64 `json:"ratio"`
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
}

// Folder returns the folder that belongs to a results file: why, in the one that
// has the file's name without its extension.
func Folder(results string) string {
	return filepath.Join(strings.TrimSuffix(results, filepath.Ext(results)), "why")
}

// indexName is the name of the index in its folder.
const indexName = "why.json"

// maxIndex bounds the size of an index that Read takes, in bytes. One cell has
// some 20 KB.
const maxIndex = 64 << 20

// ErrNone is the error of [Read] if nothing was explained yet.
var ErrNone = errors.New("no differences were explained")

// Read reads the index of a results file. Without one the error is ErrNone; a
// damaged one is an error that names file and line. Cells that make no sense by
// themselves, such as a path that leads out of the folder, are left out, and
// problems says which.
func Read(results string) (x *Index, problems []string, err error) {
	folder := Folder(results)
	return readIndex(os.DirFS(folder), filepath.Join(folder, indexName))
}

// ReadFS is Read in fsys, such as a folder that no path leads out of.
func ReadFS(fsys fs.FS, results string) (x *Index, problems []string, err error) {
	name := filepath.ToSlash(Folder(filepath.FromSlash(results)))
	folder, err := fs.Sub(fsys, name)
	if err != nil {
		return nil, nil, err
	}
	return readIndex(folder, name+"/"+indexName)
}

// readIndex reads the index in folder, which is called path.
func readIndex(folder fs.FS, path string) (*Index, []string, error) {
	info, err := fs.Stat(folder, indexName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil, fmt.Errorf("%s: %w", path, ErrNone)
	case err != nil:
		return nil, nil, err
	case !info.Mode().IsRegular(): // opening a pipe would wait for a writer
		return nil, nil, fmt.Errorf("%s: it is not a file", path)
	case info.Size() > maxIndex:
		return nil, nil, fmt.Errorf("%s: %d bytes are more than an index can have", path, info.Size())
	}
	data, err := fs.ReadFile(folder, indexName)
	if err != nil {
		return nil, nil, err
	}
	return decode(path, data)
}

// openIndex returns the index to which explanations of a results file are added, which was
// measured by plan and is compared by col: the one that is there, if it is of them, else a
// new one. built is its Built. doubts says what was left out of one that is there, or why
// it cannot be read.
func openIndex(results string, plan *record.Plan, col, built string) (x *Index, doubts []string) {
	x, problems, err := Read(results)
	for _, p := range problems {
		doubts = append(doubts, p+" (left out)")
	}
	if err != nil && !errors.Is(err, ErrNone) {
		doubts = append(doubts, err.Error()+" (made anew)")
	}
	if x == nil || x.Plan != plan.ID() || x.Col != col {
		x = new(Index)
	}
	x.Schema, x.Results, x.Plan, x.Col, x.Built = Schema, filepath.Base(results), plan.ID(), col, built
	return x, doubts
}

// decode is Read of what is in the file path.
func decode(path string, data []byte) (*Index, []string, error) {
	x := new(Index)
	if err := json.Unmarshal(data, x); err != nil {
		at := int64(len(data))
		if syntax := new(json.SyntaxError); errors.As(err, &syntax) {
			at = syntax.Offset
		} else if kind := new(json.UnmarshalTypeError); errors.As(err, &kind) {
			at = kind.Offset
		}
		line := 1 + bytes.Count(data[:min(max(at-1, 0), int64(len(data)))], []byte("\n"))
		return nil, nil, fmt.Errorf("%s:%d: %w", path, line, err)
	}
	if x.Schema != Schema {
		return nil, nil, fmt.Errorf("%s: its schema is %q and not %q: explain the differences again", path, x.Schema, Schema)
	}
	var problems []string
	x.Cells = slices.DeleteFunc(x.Cells, func(c Cell) bool {
		what := c.fault()
		if what != "" {
			problems = append(problems, fmt.Sprintf("%s: %s against %s in %s: %s", path, c.Column, c.Base, c.Row, what))
		}
		return what != ""
	})
	return x, problems, nil
}

// fault says why a cell makes no sense; "" if it does.
func (c *Cell) fault() string {
	if c.Row == "" || c.Column == "" {
		return "it names no row or no column"
	}
	paths := []string{c.Folder}
	for _, p := range c.Profiles {
		paths = append(paths, p.Base.Path, p.This.Path, cmp.Or(p.Diff, c.Folder)) // there may be none
	}
	for _, p := range paths {
		if !filepath.IsLocal(filepath.FromSlash(p)) {
			return fmt.Sprintf("the path %q leads out of its folder", p)
		}
	}
	return ""
}

// Write writes the index of a results file, all of it or nothing.
func (x *Index) Write(results string) error {
	data, err := json.MarshalIndent(x, "", "  ")
	if err != nil {
		return err
	}
	folder := Folder(results)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(folder, "."+indexName+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // nothing, once it has been renamed
	_, err = f.Write(append(data, '\n'))
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(folder, indexName))
}

// Find returns the explanation of a cell: by row and package as the comparison
// has them, base and column; nil if there is none. An empty pkg matches any.
func (x *Index) Find(pkg, row, base, column string) *Cell {
	i := slices.IndexFunc(x.Cells, func(c Cell) bool {
		return c.Row == row && c.Base == base && c.Column == column && (pkg == "" || c.Pkg == pkg)
	})
	if i < 0 {
		return nil
	}
	return &x.Cells[i]
}
