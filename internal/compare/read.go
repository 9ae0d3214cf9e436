package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchunit"

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

// inputs is everything that was read.
type inputs struct {
	files    []File
	results  []*benchfmt.Result
	holes    []holeResult
	units    benchfmt.UnitMetadataMap
	problems []string

	// slices has what stands in the line below a result.
	slices map[*benchfmt.Result]record.Slices
	// looks are those of each file's plan, by label; none of a fixed one.
	looks map[string]stats.Looks
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

// A holeResult is a hole with the configuration that was in force where it
// stands, so that it is projected and filtered like a result.
type holeResult struct {
	record.Hole
	result *benchfmt.Result
}

// packageHole is a hole of a whole package, which stands in no place of a file that
// has a configuration.
func packageHole(h record.Hole, label string) holeResult {
	res := new(benchfmt.Result)
	res.SetConfig(".file", label)
	res.SetConfig("pkg", h.Pkg)
	if h.Side != "" {
		res.SetConfig(record.SideKey, h.Side)
	}
	return holeResult{h, res}
}

// versions reports whether results are of two versions of packages, or nothing but
// holes are there and those are.
func (in *inputs) versions() bool {
	if len(in.results) == 0 {
		return in.nothingButHoles()
	}
	return slices.ContainsFunc(in.results, func(r *benchfmt.Result) bool { return r.GetConfig(record.SideKey) != "" })
}

// nothingButHoles reports whether there is no result, but something is told of why
// versions of packages gave none.
func (in *inputs) nothingButHoles() bool {
	return len(in.results) == 0 && slices.ContainsFunc(in.holes, func(h holeResult) bool { return h.Side == record.SideOld || h.Side == record.SideNew })
}

// readInputs reads benchmark results. A path may carry a label, "label=path";
// "-" is stdin.
func readInputs(paths []string, stdin io.Reader) (*inputs, error) {
	if len(paths) == 0 {
		return nil, errors.New(`no result file given; name one or more, or "-" for standard input`)
	}
	in := &inputs{slices: make(map[*benchfmt.Result]record.Slices), looks: make(map[string]stats.Looks)}
	var r benchfmt.Reader
	for _, f := range label(paths) {
		data, err := readPath(f.Path, stdin)
		if err != nil {
			return nil, err
		}
		if err := in.readFile(&r, data, f); err != nil {
			return nil, err
		}
	}
	in.units = r.Units()
	return in, nil
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

// holeUnit is the unit of the benchmark lines that stand in for holes while
// benchfmt reads a file. No real unit can begin so: the reader has no way to
// write one.
const holeUnit = "\x00hole:"

// maxLine is the length from which a line is left out, newline included: benchfmt
// ends reading at a line of 64 KiB.
const maxLine = 64<<10 - 1

// readFile reads one file. To know the configuration in force at a hole, which
// is a comment to benchfmt, each hole becomes a benchmark line of an impossible
// unit before benchfmt sees it; line numbers stay as they are.
func (in *inputs) readFile(r *benchfmt.Reader, data []byte, f File) error {
	lines := bytes.SplitAfter(data, []byte("\n"))
	below := make(map[int]record.Slices) // by the number of the line above
	for i, line := range lines {
		text := strings.TrimRight(string(line), "\r\n")
		if len(line) > maxLine {
			lines[i] = []byte("\n")
		}
		if plan, ok := strings.CutPrefix(text, record.PlanMark); ok { // which may be long
			// Of a plan that cannot be read one only loses that it had looks, which
			// resuming would complain of.
			var p struct{ Looks []int }
			if json.Unmarshal([]byte(plan), &p) == nil && slices.IsSorted(p.Looks) {
				in.looks[f.Label] = stats.Looks{At: p.Looks}
			}
			continue
		}
		if rest, ok := strings.CutPrefix(text, record.AloneMark); ok {
			fields, err := record.ParseFields(rest)
			if err != nil {
				in.problems = append(in.problems, fmt.Sprintf("%s:%d: malformed line of a row: %v", f.Path, i+1, err))
			} else {
				f.Alone = append(f.Alone, fields["row"]+" ("+fields["reason"]+")")
			}
			continue
		}
		if rest, ok := strings.CutPrefix(text, record.NoteMark); ok {
			if fields, err := record.ParseFields(rest); err != nil {
				in.problems = append(in.problems, fmt.Sprintf("%s:%d: malformed note: %v", f.Path, i+1, err))
			} else if told := fields["row"] + ": " + fields["text"]; !slices.Contains(f.Told, told) {
				f.Told = append(f.Told, told)
			}
			continue
		}
		if sl, ok, err := record.ParseSlices(text); err != nil {
			in.problems = append(in.problems, fmt.Sprintf("%s:%d: %v", f.Path, i+1, err))
			continue
		} else if ok { // many slices may be long too
			below[i] = sl
			continue
		}
		if len(line) > maxLine {
			in.problems = append(in.problems, fmt.Sprintf("%s:%d: a line of %d bytes is longer than any that can be read", f.Path, i+1, len(line)))
			continue
		}
		if clause, ok, err := record.ParseClauseLine(text); err != nil {
			in.problems = append(in.problems, fmt.Sprintf("%s:%d: %v", f.Path, i+1, err))
			continue
		} else if ok {
			f.Clauses = append(f.Clauses, clause)
			continue
		}
		h, ok, err := record.ParseHoleLine(text)
		if err != nil {
			in.problems = append(in.problems, fmt.Sprintf("%s:%d: %v", f.Path, i+1, err))
			continue
		}
		if ok {
			if h.Case != "" { // else it is in no place of a table
				lines[i] = fmt.Appendf(nil, "%s 1 0 %s%d\n", h.Case, holeUnit, len(f.Holes))
			}
			f.Holes = append(f.Holes, h)
			if h.Case == "" {
				in.holes = append(in.holes, packageHole(h, f.Label))
			}
		}
	}
	settings := make(map[string]int)
	blocks := make(map[string]bool)
	r.Reset(bytes.NewReader(bytes.Join(lines, nil)), f.Path, ".file", f.Label)
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			in.problems = append(in.problems, rec.Error())
		case *benchfmt.Result:
			res := rec.Clone()
			if n, ok := strings.CutPrefix(res.Values[0].Unit, holeUnit); ok {
				i, err := strconv.Atoi(n)
				if err != nil || i >= len(f.Holes) {
					continue // somebody wrote the impossible unit
				}
				res.Values = nil
				f.Holes[i].Pkg, f.Holes[i].Side = res.GetConfig("pkg"), res.GetConfig(record.SideKey)
				if b := f.Holes[i].Block; b != "" {
					res.SetConfig("block", b)
				}
				in.holes = append(in.holes, holeResult{f.Holes[i], res})
				continue
			}
			in.clean(res)
			if _, line := res.Pos(); len(below[line].Ns) > 0 {
				in.slices[res] = below[line]
				delete(below, line)
			}
			in.results = append(in.results, res)
			f.Results++
			for _, s := range res.Config {
				if !s.File {
					continue
				}
				i, ok := settings[s.Key]
				if !ok {
					i = len(f.Config)
					settings[s.Key] = i
					f.Config = append(f.Config, record.Setting{Key: s.Key})
				}
				if v := string(s.Value); !slices.Contains(f.Config[i].Values, v) {
					f.Config[i].Values = append(f.Config[i].Values, v)
				}
			}
			if b := res.GetConfig("block"); b != "" {
				blocks[b] = true
			}
		}
	}
	for _, line := range slices.Sorted(maps.Keys(below)) {
		in.problems = append(in.problems, fmt.Sprintf("%s:%d: slices of no benchmark result", f.Path, line+1))
	}
	f.Blocks = len(blocks)
	in.files = append(in.files, f)
	return r.Err()
}

// clean tidies the values of res, and drops those that are no numbers to
// calculate with: benchmath's rank test does not end on NaN.
func (in *inputs) clean(res *benchfmt.Result) {
	res.Values = slices.DeleteFunc(res.Values, func(v benchfmt.Value) bool {
		bad := math.IsNaN(v.Value) || math.IsInf(v.Value, 0)
		if bad {
			file, line := res.Pos()
			in.problems = append(in.problems, fmt.Sprintf("%s:%d: the value in %s is %v", file, line, record.Written(v), v.Value))
		}
		return bad
	})
	for i, v := range res.Values {
		res.Values[i] = tidied(v)
	}
}

// tidied returns v in its tidy unit. The reader leaves out the step for values
// that scaling does not change, and would give 0 ns/op a unit of its own.
func tidied(v benchfmt.Value) benchfmt.Value {
	if v.OrigUnit == "" {
		if val, unit := benchunit.Tidy(v.Value, v.Unit); unit != v.Unit {
			return benchfmt.Value{Value: val, Unit: unit, OrigValue: v.Value, OrigUnit: v.Unit}
		}
	}
	return v
}
