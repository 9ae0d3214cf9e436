package runner

import (
	"bytes"
	"fmt"
	gobuild "go/build"
	"go/build/constraint"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// hinted adds to an error that there is nothing to measure in the folder dir what may be
// meant, if that is known. versions are those that benchrun ab was given.
func hinted(dir string, err error, versions ...string) error {
	if text := hint(dir, versions...); text != "" {
		return fmt.Errorf("%w; %s", err, text)
	}
	return err
}

// hint says what to type in the folder dir where there is nothing to measure: a module of a
// workspace, or build tags. It is "" if neither is there.
func hint(dir string, versions ...string) string {
	if modules := workspaceModules(dir); len(modules) > 0 {
		text := fmt.Sprintf("this is the root of a workspace, whose modules are %s: benchrun ab --dir %s", strings.Join(modules, ", "), modules[0])
		if len(versions) > 0 {
			return text + " " + strings.Join(versions, " ")
		}
		return text + ", or benchrun run " + modules[0] + "/..."
	}
	file, line, tag := excluded(dir)
	switch {
	case file == "":
		return ""
	case tag == "":
		return fmt.Sprintf("%s has benchmarks that are built with %q only", file, line)
	}
	return fmt.Sprintf("%s has benchmarks that are built with %q only: -tags %s", file, line, tag)
}

// workspaceModules returns the folders of the modules of the workspace whose root dir is, if
// it is no module itself.
func workspaceModules(dir string) (folders []string) {
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return nil
	}
	name := filepath.Join(dir, "go.work")
	text, err := os.ReadFile(name)
	if err != nil {
		return nil
	}
	work, err := modfile.ParseWork(name, text, nil)
	if err != nil {
		return nil // which the go command says
	}
	for _, use := range work.Use {
		folders = append(folders, use.Path)
	}
	// One with a benchmark is meant.
	if i := slices.IndexFunc(folders, func(f string) bool { return hasBenchmarks(filepath.Join(dir, f)) }); i > 0 {
		folders[0], folders[i] = folders[i], folders[0]
	}
	return folders
}

// hasBenchmarks reports whether a test file of the folder or of one below it has a benchmark.
func hasBenchmarks(dir string) (has bool) {
	testFiles(dir, func(_ string, text []byte) bool {
		has = has || bytes.Contains(text, []byte("\nfunc Benchmark"))
		return !has
	})
	return has
}

// excluded returns the first test file with benchmarks in the folder dir or below it that is
// left out of a build without tags, with its constraint, and the tag that takes it in; "" if it takes more
// than one.
func excluded(dir string) (file, line, tag string) {
	testFiles(dir, func(path string, text []byte) bool {
		if !bytes.Contains(text, []byte("\nfunc Benchmark")) {
			return true
		}
		if ok, err := gobuild.Default.MatchFile(filepath.Dir(path), filepath.Base(path)); ok || err != nil {
			return true
		}
		for l := range bytes.Lines(text) {
			l := strings.TrimSpace(string(l))
			if !constraint.IsGoBuild(l) {
				continue
			}
			expr, err := constraint.Parse(l)
			if err != nil {
				return true
			}
			if file, err = filepath.Rel(dir, path); err != nil {
				file = path
			}
			line, tag = l, tagFor(expr)
			return false
		}
		return true
	})
	return file, line, tag
}

// tagFor returns the tag that makes expr hold together with those of this system, "" if one
// is not enough.
func tagFor(expr constraint.Expr) (tag string) {
	var tags []string
	expr.Eval(func(tag string) bool { // which asks for all, if no answer decides
		tags = append(tags, tag)
		return false
	})
	expr.Eval(func(tag string) bool {
		tags = append(tags, tag)
		return true
	})
	has := func(tag string) bool {
		return tag == gobuild.Default.GOOS || tag == gobuild.Default.GOARCH || tag == "gc" ||
			slices.Contains(gobuild.Default.ReleaseTags, tag) || tag == "unix" && gobuild.Default.GOOS != "windows"
	}
	for _, one := range tags {
		if expr.Eval(func(tag string) bool { return tag == one || has(tag) }) && !has(one) && one != "ignore" {
			return one
		}
	}
	return ""
}

// mostFiles bounds how many files are looked at for a hint.
const mostFiles = 2000

// testFiles calls yield with the test files of the folder dir and of those below it that are
// no module of their own, until it returns false.
func testFiles(dir string, yield func(path string, text []byte) bool) {
	looked := 0
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if looked++; looked > mostFiles {
			return filepath.SkipAll
		}
		if err != nil {
			return nil // what cannot be read gives no hint
		}
		switch name := entry.Name(); {
		case entry.IsDir() && path != dir && (name == "vendor" || name == "testdata" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || isModule(path)):
			return filepath.SkipDir
		case strings.HasSuffix(name, "_test.go"):
			if text, err := os.ReadFile(path); err == nil && !yield(path, text) {
				return filepath.SkipAll
			}
		}
		return nil
	})
}

func isModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}
