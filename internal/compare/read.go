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
)

// mergeHoles joins holes of one cell that have the same reason, so that a
// benchmark that failed in every block needs one footnote.
func mergeHoles(holes []record.Hole) (out []record.Hole) {
	for _, h := range holes {
		n := len(out)
		o := find(&out, func(o record.Hole) bool { return o.Kind == h.Kind && o.Reason == h.Reason && o.Skipped == h.Skipped }, h)
		if len(out) == n && h.Block != "" {
			o.Block += ", " + h.Block
		}
	}
	return out
}

// Data is what results files say. It is read once, and compared as often as need be; by
// one goroutine at a time.
type Data struct {
	sources []*source
	grids   map[Options]arranged
	done    map[Options]*Comparison
}

// Counted reports whether all files have counts of instructions, which are what is judged.
func (d *Data) Counted() bool {
	return !slices.ContainsFunc(d.sources, func(s *source) bool {
		return !slices.ContainsFunc(s.file.Config, func(c record.Setting) bool { return c.Key == record.CounterKey })
	})
}

// A source is one file of Data.
type source struct {
	arg  string // the path with its label, if it was given one
	file File
	from *record.File

	config []benchfmt.Config // of the latest labelled, as values are
	values []benchfmt.Value
}

// Read reads benchmark results. A path is a file in Go benchmark format, "-" for standard
// input, or either with a label, "label=path"; without one the file's name is its label,
// or its path if two files have the same name. stdin is what "-" reads; nil means
// os.Stdin. It is an error if a file cannot be read at all, if one of several has nothing to
// compare, or paths is empty.
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
		from := record.Read(f.Path, data)
		if why := from.Empty(); why != "" && len(paths) > 1 {
			return nil, fmt.Errorf("%s %s", called(f.Path), why)
		}
		d.sources = append(d.sources, newSource(paths[i], f, from))
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
	for _, rec := range from.Holes {
		f.Holes = append(f.Holes, *rec.Hole)
	}
	var settings record.Settings
	blocks := make(map[string]bool)
	for _, rec := range from.Results {
		for _, c := range rec.Result.Config {
			settings.Add(c.Key, string(c.Value))
		}
		if b := record.ConfigOf(rec.Result, "block"); b != "" {
			blocks[b] = true
		}
	}
	f.Config, f.Blocks = settings.List, len(blocks)
	if !from.Finished {
		f.Planned, f.Ended = from.Planned, from.Ended
	}
	return &source{arg: arg, file: f, from: from}
}

// columns is the key that makes the columns if none is asked for.
func (d *Data) columns() string {
	of := func(is func(*benchfmt.Result) bool) bool {
		return slices.ContainsFunc(d.sources, func(s *source) bool {
			return slices.ContainsFunc(s.from.Results, func(rec record.Record) bool { return is(rec.Result) })
		})
	}
	switch {
	case d.nothingButHoles(), of(func(r *benchfmt.Result) bool { return record.ConfigOf(r, record.SideKey) != "" }):
		return record.SideKey
	case of(func(r *benchfmt.Result) bool { return nameHasKey(r.Name, "impl") }):
		return "/impl"
	}
	return ".file"
}

// labels is how many different labels the files were given.
func (d *Data) labels() int {
	given := make(map[string]bool)
	for _, s := range d.sources {
		if strings.HasPrefix(s.arg, s.file.Label+"=") {
			given[s.file.Label] = true
		}
	}
	return len(given)
}

// nameHasKey reports whether a benchmark name has a part "/key=…".
func nameHasKey(name benchfmt.Name, key string) bool {
	_, parts := name.Parts()
	return slices.ContainsFunc(parts, func(p []byte) bool { return strings.HasPrefix(string(p), "/"+key+"=") })
}

// size is the number of results.
func (d *Data) size() (n int) {
	for _, s := range d.sources {
		n += len(s.from.Results)
	}
	return n
}

// nothingButHoles reports whether there is no result, but something is told of why
// versions of packages gave none.
func (d *Data) nothingButHoles() bool {
	return d.size() == 0 && slices.ContainsFunc(d.sources, func(s *source) bool {
		return slices.ContainsFunc(s.file.Holes, func(h record.Hole) bool { return h.Side == record.SideOld || h.Side == record.SideNew })
	})
}

// nothing is the error that there is nothing to compare.
func (d *Data) nothing(filter string, problems []string) error {
	if n := d.size(); n > 0 {
		return fmt.Errorf("filter %q matches none of the %d results", filter, n)
	}
	var all []string
	for _, s := range d.sources {
		all = append(all, called(s.file.Path)+" "+s.from.Empty())
	}
	msg := strings.Join(all, "; ")
	if len(problems) > 0 {
		msg += "; the first malformed line is " + problems[0]
	}
	return errors.New(msg)
}

// called is what a path is called in messages.
func called(path string) string {
	if path == "-" {
		return "standard input"
	}
	return path
}

// ReadsStdin reports whether a path given to Compare stands for standard input,
// which can be read once only.
func ReadsStdin(path string) bool { return label([]string{path})[0].Path == "-" }

// label splits labels from paths, and finds one for each path that has none:
// its last element, or if several have that, the whole path, and if a path is
// there twice, with a number.
func label(args []string) []File {
	files := make([]File, len(args))
	names, paths := make(map[string]int), make(map[string]int) // how many have it
	for i, arg := range args {
		files[i].Path = arg
		if l, path, ok := strings.Cut(arg, "="); ok {
			// A name such as "workload=short.bench" is no label.
			if _, err := os.Stat(arg); err != nil {
				files[i] = File{Label: l, Path: path}
				continue
			}
		}
		names[filepath.Base(arg)]++
		paths[arg]++
	}
	seen := make(map[string]int)
	for i, f := range files {
		if f.Label != "" {
			continue
		}
		files[i].Label = filepath.Base(f.Path)
		if names[files[i].Label] > 1 {
			files[i].Label = f.Path
		}
		if paths[f.Path] > 1 {
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
