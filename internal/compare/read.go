package compare

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/stats"
)

// mergeHoles joins holes of one cell that have the same reason, so that a
// benchmark that failed in every block needs one footnote.
func mergeHoles(holes []record.Hole) []record.Hole {
	var out []record.Hole
	for _, h := range holes {
		i := slices.IndexFunc(out, func(o record.Hole) bool { return o.Reason == h.Reason && o.Skipped == h.Skipped })
		if i < 0 {
			out = append(out, h)
		} else if h.Block != "" {
			out[i].Block += ", " + h.Block
		}
	}
	return out
}

// Data is what results files say. It is read once, and compared as often as need be; by
// one goroutine at a time.
type Data struct {
	sources []*source
	done    map[Options]*Comparison
}

// A source is one file of Data.
type source struct {
	arg  string // the path with its label, if it was given one
	file File
	from *record.File
}

// Read reads benchmark results. A path is a file in Go benchmark format, "-" for standard
// input, or either with a label, "label=path"; without one the file's name is its label,
// or its path if two files have the same name. stdin is what "-" reads; nil means
// os.Stdin. It is an error if a file cannot be read at all, or paths is empty.
func Read(paths []string, stdin io.Reader) (*Data, error) {
	if len(paths) == 0 {
		return nil, errors.New(`no result file given; name one or more, or "-" for standard input`)
	}
	d := new(Data)
	for i, f := range label(paths) {
		data, err := readPath(f.Path, stdin)
		if err != nil {
			return nil, err
		}
		d.sources = append(d.sources, newSource(paths[i], f, record.Read(f.Path, data)))
	}
	return d, nil
}

// Of returns what a file says that has been read; its name is its label.
func Of(f *record.File) *Data {
	return &Data{sources: []*source{newSource(f.Path, File{Label: filepath.Base(f.Path), Path: f.Path}, f)}}
}

// Each returns the files one by one, labelled as if each had been read alone.
func (d *Data) Each() []*Data {
	if len(d.sources) == 1 {
		return []*Data{d}
	}
	each := make([]*Data, len(d.sources))
	for i := range d.sources {
		each[i] = d.some([]int{i})
	}
	return each
}

// some returns the files with these indexes, as if they had been read alone.
func (d *Data) some(indexes []int) *Data {
	var args []string
	for _, i := range indexes {
		args = append(args, d.sources[i].arg)
	}
	some := new(Data)
	for k, f := range label(args) {
		s := *d.sources[indexes[k]]
		s.file.Label = f.Label
		some.sources = append(some.sources, &s)
	}
	return some
}

// newSource sums up what a file says. f has its label and path.
func newSource(arg string, f File, from *record.File) *source {
	f.Results, f.Clauses = len(from.Results), from.Clauses
	for _, row := range from.Alone {
		f.Alone = append(f.Alone, row.Row+" ("+row.Text+")")
	}
	for _, row := range from.Notes {
		if told := row.Row + ": " + row.Text; !slices.Contains(f.Told, told) {
			f.Told = append(f.Told, told)
		}
	}
	for _, rec := range from.Holes {
		f.Holes = append(f.Holes, *rec.Hole)
	}
	var settings record.Settings
	blocks := make(map[string]bool)
	for _, rec := range from.Results {
		for _, c := range rec.Result.Config {
			settings.Add(c.Key, string(c.Value))
		}
		if b := rec.Result.GetConfig("block"); b != "" {
			blocks[b] = true
		}
	}
	f.Config, f.Blocks = settings.List, len(blocks)
	return &source{arg, f, from}
}

// inputs is everything that is compared.
type inputs struct {
	files    []File
	results  []input
	holes    []input
	units    benchfmt.UnitMetadataMap
	problems []string

	// looks are those of each file's plan, by label; none of a fixed one.
	looks map[string]stats.Looks
}

// An input is a result or a hole, and the label of the file that has it.
type input struct {
	record.Record
	label string
}

// inputs returns all that the files have.
func (d *Data) inputs() *inputs {
	in := &inputs{units: make(benchfmt.UnitMetadataMap), looks: make(map[string]stats.Looks)}
	for _, s := range d.sources {
		in.files = append(in.files, s.file)
		for _, rec := range s.from.Results {
			in.results = append(in.results, input{rec, s.file.Label})
		}
		for _, rec := range s.from.Holes {
			in.holes = append(in.holes, input{rec, s.file.Label})
		}
		in.problems = append(in.problems, s.from.Tell(s.from.Problems)...)
		in.add(s.from.Units)
		in.looks[s.file.Label] = stats.Looks{At: s.from.Looks}
	}
	return in
}

// add adds what a file says of units. What another file has said before counts.
func (in *inputs) add(units benchfmt.UnitMetadataMap) {
	var others []string
	for key, m := range units {
		have, ok := in.units[key]
		if !ok {
			in.units[key] = m
		} else if have.Value != m.Value {
			path, line := m.Pos()
			others = append(others, fmt.Sprintf("%s:%d: metadata %s of unit %s already set to %s", path, line, key.Key, m.OrigUnit, have.Value))
		}
	}
	slices.Sort(others)
	in.problems = append(in.problems, others...)
}

// names are the names of the files that were read.
func (in *inputs) names() string {
	names := make([]string, len(in.files))
	for i, f := range in.files {
		if names[i] = f.Path; names[i] == "-" {
			names[i] = "standard input"
		}
	}
	if len(names) == 0 {
		return "the input"
	}
	return strings.Join(names, " and ")
}

// versions reports whether results are of two versions of packages, or nothing but
// holes are there and those are.
func (in *inputs) versions() bool {
	if len(in.results) == 0 {
		return in.nothingButHoles()
	}
	return slices.ContainsFunc(in.results, func(r input) bool { return r.Result.GetConfig(record.SideKey) != "" })
}

// nothingButHoles reports whether there is no result, but something is told of why
// versions of packages gave none.
func (in *inputs) nothingButHoles() bool {
	return len(in.results) == 0 && slices.ContainsFunc(in.holes, func(h input) bool { return h.Hole.Side == record.SideOld || h.Hole.Side == record.SideNew })
}

// ReadsStdin reports whether a path given to Compare stands for standard input,
// which can be read once only.
func ReadsStdin(path string) bool { return label([]string{path})[0].Path == "-" }

// label splits labels from paths, and finds one for each path that has none:
// its last element, or if several have that, the whole path, and if a path is
// there twice, with a number.
func label(args []string) []File {
	files := make([]File, len(args))
	count := make(map[string]int)
	for i, arg := range args {
		files[i].Path = arg
		if l, path, ok := strings.Cut(arg, "="); ok {
			// A name such as "workload=short.bench" is no label.
			if _, err := os.Stat(arg); err != nil {
				files[i] = File{Label: l, Path: path}
				continue
			}
		}
		count[filepath.Base(arg)]++
		count[arg+"\x00"]++
	}
	seen := make(map[string]int)
	for i, f := range files {
		if f.Label != "" {
			continue
		}
		files[i].Label = filepath.Base(f.Path)
		if count[files[i].Label] > 1 {
			files[i].Label = f.Path
		}
		if count[f.Path+"\x00"] > 1 {
			seen[f.Path]++
			files[i].Label += "#" + strconv.Itoa(seen[f.Path])
		}
	}
	return files
}

func readPath(path string, stdin io.Reader) ([]byte, error) {
	if path == "-" {
		if stdin == nil {
			stdin = os.Stdin
		}
		return io.ReadAll(stdin)
	}
	return os.ReadFile(path)
}
