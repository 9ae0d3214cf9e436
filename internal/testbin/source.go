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
	args := []string{"list", "-e", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Deps,Standard,ForTest,Module", "--"}
	for _, p := range pkgs {
		args = append(args, p.ImportPath)
	}
	said, err := b.says(ctx, args...)
	if err != nil {
		return nil
	}
	type listed struct {
		ImportPath, Dir, ForTest           string
		GoFiles, TestGoFiles, XTestGoFiles []string
		Deps                               []string
		Standard                           bool
		Module                             *struct{ Main bool }
	}
	all := make(map[string]listed)
	var marked []string
	for dec := json.NewDecoder(strings.NewReader(said)); ; {
		var p listed
		if dec.Decode(&p) != nil {
			break
		}
		all[p.ImportPath] = p
		if p.Module != nil && p.Module.Main && p.ForTest == "" && hasMark(p.Dir, p.GoFiles) {
			marked = append(marked, p.ImportPath)
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

// hasMark reports whether one of the files has workloadMark on a line of its own.
func hasMark(dir string, files []string) bool {
	return slices.ContainsFunc(files, func(name string) bool {
		text, err := os.ReadFile(filepath.Join(dir, name))
		return err == nil && bytes.Contains(append([]byte("\n"), text...), []byte("\n"+workloadMark+"\n"))
	})
}
