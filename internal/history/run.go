package history

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/compare"
	"github.com/dynolab/dyno/internal/record"
)

// A Run is a results file of the history.
type Run struct {
	Path    string
	Machine string // as results have it; of a board its name
	Started time.Time

	// Commit is what was measured, of two versions the new one; "" if the file does not
	// say. Dirty says that the work tree differed from it.
	Commit string
	Dirty  bool

	// Old is the commit that two versions were compared to: their reference; "" if the
	// file is not of two versions, or the old one was not a clean commit.
	Old string

	// Anchor is the time of the machine's own loops in nanoseconds, 0 if the file does not
	// have it; see record.Anchor.
	Anchor float64

	// Apart says why the run takes no part, "" if it does.
	Apart string

	circumstances []circumstance
	source        map[string]string // digests of what benchmarks are made of, by package
	proves        string            // the suspicion that it was measured for
	file          *record.File
}

// A circumstance is what has to be the same for points to be compared.
type circumstance struct{ what, value string }

// machineIs begins a circumstance by which a series is cut: another machine.
const machineIs = "machine, "

// machineKeys are what a machine is told by.
var machineKeys = []string{"cpu-model", "cores", "cpu-quota", "memory", "virtual", "governor", "emulated", "chip", "emulator"}

// errNoResults is the error if there is nothing to read.
var errNoResults = errors.New("no results files: benchrun run makes one below results/")

// find returns the results files below paths, which are files and folders.
func find(paths []string) (files []string, err error) {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(at string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case !entry.IsDir() && (at == path || filepath.Ext(at) == ".bench"):
				files = append(files, at)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w", strings.Join(paths, " "), errNoResults)
	}
	return files, nil
}

// notHistory are the keys of files in which programs were made slower on purpose, or were
// changed to see what a verdict is worth, and of a bisection's visits, which go back and forth.
var notHistory = []string{"trial", "slow", "truth", "good-commit", "parent-commit", "from-commit"}

// isOther reports whether data is a calibration, a truth suite or a part of a bisection.
func isOther(data []byte) bool {
	return slices.ContainsFunc(notHistory, func(key string) bool { return bytes.Contains(data, []byte("\n"+key+": ")) })
}

// readRun reads a results file; nil if it is none of the history.
func readRun(path string) (*Run, error) {
	data, err := os.ReadFile(path)
	if err != nil || isOther(data) {
		return nil, err
	}
	f := record.Read(path, data)
	if len(f.Results) == 0 {
		return nil, nil
	}
	r := &Run{Path: path, Machine: cmp.Or(f.Value("machine"), f.Value(record.BoardKey), "unnamed machine"), file: f}
	r.Started, _ = time.Parse(time.RFC3339, f.Value("started")) // of go test: none
	r.Commit, r.Dirty = f.Value("commit"), strings.HasPrefix(f.Value("dirty"), "true")
	if f.Value(record.SideOld) != "" {
		r.Commit, r.Dirty = f.Value("new-commit"), strings.HasPrefix(f.Value("new-dirty"), "true")
		if !strings.HasPrefix(f.Value("old-dirty"), "true") {
			r.Old = f.Value("old-commit")
		}
	}
	r.proves = f.Value(record.ProvesKey)
	r.Anchor = anchorOf(f)
	r.source = f.Sources
	for _, key := range machineKeys {
		r.circumstances = append(r.circumstances, circumstance{machineIs + key, f.Value(key)})
	}
	r.circumstances = append(r.circumstances, circumstance{"kernel", f.Value("kernel")})
	for _, key := range record.Built() {
		what, of := key, f.Value(key)
		if slices.Contains(record.Environment, strings.ToUpper(key)) {
			what = strings.ToUpper(key)
		}
		if now := f.Value(record.OfSide(record.SideNew, key)); now != "" {
			of = now
		}
		// A toolchain that a go.mod asks for is a part of its commit.
		if f.Value(record.OfSide(record.SideOld, key)) != f.Value(record.OfSide(record.SideNew, key)) && key != "toolchain" {
			r.Old = "" // the ratio is not that of two commits
		}
		if key != "go" { // which asks for a toolchain
			r.circumstances = append(r.circumstances, circumstance{what, of})
		}
	}
	return r, nil
}

// compared judges the run by itself; it is an error if its file is damaged.
func (r *Run) compared(alpha float64) (*compare.Comparison, error) {
	if d := r.file.Damage; len(d) > 0 {
		return nil, fmt.Errorf("line %d: %s", d[0].Line, d[0].What)
	}
	return compare.Of(r.file).Compare(compare.Options{Alpha: alpha})
}
