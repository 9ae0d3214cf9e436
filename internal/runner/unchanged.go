package runner

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/testbin"
)

// leaveOutUnchanged leaves out the benchmarks of which nothing that they can reach differs: they
// are skipped, with that reason. One of them is measured all the same, as a control of what is said
// of the others: its code is at other addresses in the two versions.
func (v *Versions) leaveOutUnchanged(ctx context.Context, seed uint64) error {
	if v.identical || v.kept != nil || len(v.cases) <= 2 || !slices.Equal(v.builds[0].runEnv(), v.builds[1].runEnv()) {
		return nil // of one benchmark the control would be all
	}
	var choices []testbin.Choice
	for _, old := range v.binaries[0] {
		c := testbin.Choice{Old: old}
		for _, b := range v.binaries[1] {
			if b.Pkg == old.Pkg {
				c.New = b
			}
		}
		for _, k := range v.cases {
			if name := function(k); k.Pkg == old.Pkg && !slices.Contains(c.Benchmarks, name) {
				c.Benchmarks = append(c.Benchmarks, name)
			}
		}
		if c.New.Pkg == "" || len(c.Benchmarks) == 0 || old.Prebuilt() || c.New.Prebuilt() {
			continue
		}
		if why := differentData(old.Dir, c.New.Dir); why != "" {
			fmt.Fprintf(v.w, "%s: its benchmarks may read what differs: %s\n", old.Pkg, why)
			continue
		}
		choices = append(choices, c)
	}
	if len(choices) == 0 {
		return nil
	}
	fmt.Fprintln(v.w, "looking for benchmarks that can reach nothing that differs")
	if err := testbin.Unchanged(ctx, filepath.Join(v.workspace.Temp(), "unchanged"), choices); err != nil {
		return err
	}
	var same []record.Case
	for _, k := range v.cases {
		if k.Side == record.SideNew && slices.ContainsFunc(choices, func(c testbin.Choice) bool {
			return c.New.Pkg == k.Pkg && slices.Contains(c.Unchanged, function(k))
		}) {
			same = append(same, k)
		}
	}
	for _, c := range choices {
		if c.Why != "" {
			fmt.Fprintf(v.w, "%s: %s, so all of its benchmarks are measured\n", c.New.Pkg, c.Why)
		}
	}
	if len(same) < 2 {
		return nil
	}
	at := int(seed % uint64(len(same)))
	control := same[at]
	same = slices.Delete(same, at, at+1)
	v.unchanged = control.Pkg + " " + control.Name
	fmt.Fprintf(v.w, "of %s nothing that they can reach differs: %s is measured as the control of that, %d not (--identical measures all)\n",
		console.Count(len(same)+1, "benchmark"), control.Name, len(same))
	isSame := func(k record.Case) bool {
		return slices.ContainsFunc(same, func(o record.Case) bool { return o.Pkg == k.Pkg && o.Name == k.Name })
	}
	for _, k := range v.cases {
		if isSame(k) {
			v.absent = append(v.absent, record.Unchanged(k))
		}
	}
	v.cases = slices.DeleteFunc(v.cases, isSame)
	return nil
}

// function is the name of the function of a benchmark.
func function(c record.Case) string {
	name, _, _ := strings.Cut(c.Name, "/")
	return name
}

// mostData is how many bytes of data are compared: with more it is taken for different.
const mostData = 256 << 20

// differentData says which file differs that the tests of a package may read, of its folders in two
// versions; "" if none does. Those are what lies in the folder or below it, without what is
// compiled, and in any folder testdata of the module; no documents, and no results of benchrun.
func differentData(old, now string) (why string) {
	var sides [2]map[string]string // paths, by how they are called in both
	size := int64(0)
	for i, dir := range []string{old, now} {
		var err error
		if sides[i], err = dataOf(dir, &size); err != nil {
			return err.Error()
		}
	}
	for name, path := range sides[0] {
		other, ok := sides[1][name]
		if !ok {
			return name + " is only in the old version"
		}
		before, err1 := readData(path)
		after, err2 := readData(other)
		if err1 != nil || err2 != nil || !bytes.Equal(before, after) {
			return name
		}
	}
	for name := range sides[1] {
		if _, ok := sides[0][name]; !ok {
			return name + " is only in the new version"
		}
	}
	return ""
}

// readData returns what a file says; of a link, where it leads.
func readData(path string) ([]byte, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(path)
		return []byte(to), err
	}
	return os.ReadFile(path)
}

// dataOf returns the paths of the files that the tests in a package's folder may read, by what they
// are called below the root of the module, and adds their sizes to size.
func dataOf(dir string, size *int64) (map[string]string, error) {
	root := dir
	for !isModule(root) {
		above := filepath.Dir(root)
		if above == root {
			return nil, fmt.Errorf("%s is in no module", dir)
		}
		root = above
	}
	all, known := make(map[string]string), make(map[string]bool)
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		isTestdata := strings.Contains("/"+rel+"/", "/testdata/")
		if entry.IsDir() {
			switch {
			case path == root:
			case document(rel), entry.Name() == "vendor", !isTestdata && isModule(path), isResults(path):
				return filepath.SkipDir
			}
			return nil
		}
		if document(rel) || strings.HasSuffix(rel, ".bench") {
			return nil
		}
		if !isTestdata && (compiled(rel) || !below(dir, filepath.Dir(path), known)) {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if *size += info.Size(); *size > mostData {
			return fmt.Errorf("there are more than %s of it", megabytes(mostData))
		}
		all[rel] = path
		return nil
	})
	return all, err
}

// isResults reports whether a folder is that of benchrun's results.
func isResults(dir string) bool {
	found, _ := filepath.Glob(filepath.Join(dir, "*", "*.bench"))
	return len(found) > 0
}

// below reports whether a folder is dir or below it, and in no package that is below dir. known has
// what was found out before.
func below(dir, folder string, known map[string]bool) (is bool) {
	if folder == dir || len(folder) <= len(dir) {
		return folder == dir
	}
	if is, ok := known[folder]; ok {
		return is
	}
	sources, _ := filepath.Glob(filepath.Join(folder, "*.go"))
	known[folder] = len(sources) == 0 && below(dir, filepath.Dir(folder), known)
	return known[folder]
}

// compiled reports whether a file is what the go command compiles, or what says how: a change of
// it shows in the programs.
func compiled(file string) bool {
	name := filepath.Base(file)
	return slices.Contains([]string{".go", ".s", ".S", ".c", ".h", ".syso"}, filepath.Ext(name)) || slices.Contains([]string{"go.mod", "go.sum", "go.work", "go.work.sum"}, name)
}
