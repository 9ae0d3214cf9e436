package testbin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// workloadMark stands in a Go file of a package that is what benchmarks do, or what they
// are compared to, and not what they measure. It is of the packages below it as well.
const workloadMark = "//benchrun:workload"

// sourcesOf returns for each package of which subjects are built, by its import path, a
// digest of what its benchmarks do and are compared to: of what they are made of in the
// package's own _test.go files, and of the packages of its module, among those that the tests
// need, that have workloadMark. Where it stays the same, figures of two versions are of the same work.
// What cannot be found out is left out.
func (b *builder) sourcesOf(ctx context.Context, pkgs []goPackage) map[string]string {
	var all map[string]listed
	var marked []string
	if slices.ContainsFunc(pkgs, b.mayHaveWorkload) {
		var err error
		if all, marked, err = b.workloads(ctx, pkgs); err != nil {
			return nil
		}
	}
	isWorkload := func(path string) bool {
		return slices.ContainsFunc(marked, func(m string) bool { return path == m || strings.HasPrefix(path, m+"/") })
	}
	digests := make(map[string]string)
	for _, p := range pkgs {
		sum := sha256.New()
		add := func(dir string, files []string) bool {
			for _, name := range slices.Sorted(slices.Values(files)) {
				text, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					return false
				}
				fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
			}
			return true
		}
		known := writeBenchmarks(sum, p.Dir, slices.Concat(p.TestGoFiles, p.XTestGoFiles))
		deps := slices.Clone(all[p.ImportPath+".test"].Deps)
		slices.Sort(deps)
		for _, dep := range deps {
			if isWorkload(dep) && known {
				fmt.Fprintln(sum, dep)
				known = add(all[dep].Dir, all[dep].GoFiles)
			}
		}
		if known {
			digests[p.ImportPath] = hex.EncodeToString(sum.Sum(nil)[:6])
		}
	}
	return digests
}

// mayHaveWorkload reports whether a package may be of one with workloadMark: it has it, or
// imports something that is not of the standard library. Then what it is built of has to be
// listed, which takes most of the time that listing takes in a Build.
func (b *builder) mayHaveWorkload(p goPackage) bool {
	imported := slices.Concat(p.Imports, p.TestImports, p.XTestImports)
	return hasMark(p.Dir, p.GoFiles) || slices.ContainsFunc(imported, func(path string) bool {
		info, err := os.Stat(b.std(path))
		return path != p.ImportPath && (err != nil || !info.IsDir())
	})
}

// listed is what go list says of a package that tests are built of.
type listed struct {
	ImportPath, Dir, ForTest           string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Deps                               []string
	Standard                           bool
	Module                             *struct{ Main bool }
}

// workloads lists what the tests of pkgs are built of, by import path, and the import paths of
// those of the main module that have workloadMark.
func (b *builder) workloads(ctx context.Context, pkgs []goPackage) (all map[string]listed, marked []string, err error) {
	args := []string{"list", "-e", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Deps,Standard,ForTest,Module", "--"}
	for _, p := range pkgs {
		args = append(args, p.ImportPath)
	}
	said, err := b.says(ctx, args...)
	if err != nil {
		return nil, nil, err
	}
	all = make(map[string]listed)
	for dec := json.NewDecoder(strings.NewReader(said)); ; {
		var p listed
		if dec.Decode(&p) != nil {
			return all, marked, nil
		}
		all[p.ImportPath] = p
		if p.Module != nil && p.Module.Main && p.ForTest == "" && hasMark(p.Dir, p.GoFiles) {
			marked = append(marked, p.ImportPath)
		}
	}
}

// hasMark reports whether one of the files has workloadMark on a line of its own.
func hasMark(dir string, files []string) bool {
	return slices.ContainsFunc(files, func(name string) bool {
		text, err := os.ReadFile(filepath.Join(dir, name))
		return err == nil && bytes.Contains(append([]byte("\n"), text...), []byte("\n"+workloadMark+"\n"))
	})
}
