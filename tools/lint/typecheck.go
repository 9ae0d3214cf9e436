package lint

import (
	"errors"
	"go/ast"
	"go/build"
	"go/importer"
	"go/token"
	"go/types"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

// checker is one run of Check. It imports for the type checker: the module's packages
// from the files that were read, those of the standard library that boards have from
// GOROOT, and all others as empty packages. An expression that uses an empty package
// does not type-check and goes unseen, and nothing else does.
type checker struct {
	*tree
	Policy
	types map[string]*types.Package // by import path
	infos map[*pkg]*info
	found []Violation
}

// info is what the type checker knows of a package.
type info struct {
	*types.Info
	files []*ast.File
	newer []types.Error // uses of language that is newer than BoardGo
	large []types.Error // constants that 32 bits do not hold
}

// std reads the packages of the standard library, each once for all checkers, since that
// takes longer than all the rest.
var std = stdImporter()

func stdImporter() types.Importer {
	if build.Default.GOROOT == "" { // a program that was built with -trimpath does not know it
		if out, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
			build.Default.GOROOT = strings.TrimSpace(string(out))
		}
	}
	return importer.ForCompiler(token.NewFileSet(), "source", nil)
}

func newChecker(t *tree, p Policy) *checker {
	return &checker{tree: t, Policy: p, types: map[string]*types.Package{"unsafe": types.Unsafe}, infos: map[*pkg]*info{}}
}

func (c *checker) report(where, what, why string) {
	c.found = append(c.found, Violation{Where: where, What: what, Why: why})
}

// hostLimits matches the limits in package math, which are those of this machine.
var hostLimits = regexp.MustCompile(`math\.(Max|Min)U?[iI]nt `)

var needsNewerGo = regexp.MustCompile(`requires go1\.\d+ or later`)

// typeCheck checks all files of a package as one program although build constraints may
// exclude one another: a name declared twice is an error that is passed over, and both
// bodies are looked at.
func (c *checker) typeCheck(k *pkg) *types.Package {
	importPath := path.Join(c.Module, k.path)
	if p := c.types[importPath]; p != nil {
		return p
	}
	c.types[importPath] = emptyPackage(importPath) // in case of an import cycle
	info := &info{Info: &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, FileVersions: map[*ast.File]string{},
		Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
	}}
	for _, f := range k.built() {
		one := *f.File
		one.GoVersion = "" // a build constraint does not make boards newer
		one.Comments = nil // stdversion passes over files that say they are generated
		info.files = append(info.files, &one)
	}
	config := types.Config{
		Sizes:     types.SizesFor("gc", "arm"), // 32 bits, as most boards have
		Importer:  c,
		GoVersion: c.BoardGo,
		Error: func(err error) {
			var e types.Error
			if errors.As(err, &e) && needsNewerGo.MatchString(e.Msg) {
				info.newer = append(info.newer, e)
			} else if strings.Contains(e.Msg, "overflows") && !hostLimits.MatchString(e.Msg) {
				info.large = append(info.large, e)
			}
		},
	}
	p, _ := config.Check(importPath, c.fset, info.files, info.Info) // errors went to config.Error
	c.types[importPath] = p
	c.infos[k] = info
	return p
}

// Import implements [types.Importer].
func (c *checker) Import(importPath string) (*types.Package, error) {
	if p := c.types[importPath]; p != nil {
		return p, nil
	}
	p := emptyPackage(importPath)
	if local, ours := c.local(importPath); ours && c.pkgs[local] != nil {
		return c.typeCheck(c.pkgs[local]), nil
	}
	if slices.Contains(c.BoardStd, importPath) {
		var err error
		if p, err = std.Import(importPath); err != nil {
			return nil, err
		}
	}
	c.types[importPath] = p
	return p, nil
}

func emptyPackage(importPath string) *types.Package {
	p := types.NewPackage(importPath, path.Base(importPath))
	p.MarkComplete()
	return p
}
