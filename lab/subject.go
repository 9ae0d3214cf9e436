package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Subject is a compiled test binary.
type Subject struct {
	Pkg    string // import path
	Dir    string // the package's folder, where its tests run
	Binary string // path of the binary
	Hash   string // SHA-256 of the binary, in hexadecimal
	Side   string // which of two versions this is, as in Case; "" if there is one
}

// ID tells the subjects of a run apart: by package, and side if there are two.
func (s Subject) ID() string { return subjectID(s.Pkg, s.Side) }

func subjectID(pkg, side string) string {
	if side == "" {
		return pkg
	}
	return pkg + " " + side // no import path has a space
}

// A BuildProblem says why a package gave no subject.
type BuildProblem struct {
	Pkg    string
	Reason string // one line
	Output string // what the compiler said, if it did; ends with a newline

	// Untested means that the package has no tests, so that nothing was due.
	Untested bool
}

// Build compiles the tests of the packages that match patterns, as the go
// command in dir understands them, into the folder out. A package that cannot
// be built, or has no tests, is a problem and not an error: the others are
// built all the same. It is an error if the patterns match nothing.
func Build(ctx context.Context, dir, out string, patterns []string) ([]Subject, []BuildProblem, error) {
	for _, p := range patterns {
		if strings.HasPrefix(p, "-") {
			return nil, nil, fmt.Errorf("package %q begins with a hyphen; flags come before packages", p)
		}
		if strings.HasSuffix(p, ".go") {
			return nil, nil, fmt.Errorf("%s is a file; name the package it is in, such as ./%s", p, filepath.ToSlash(filepath.Dir(p)))
		}
	}
	pkgs, err := list(ctx, dir, patterns)
	if err != nil {
		return nil, nil, err
	}
	var subjects []Subject
	var problems []BuildProblem
	for i, p := range pkgs {
		if p.Error != nil {
			problems = append(problems, BuildProblem{Pkg: p.ImportPath, Reason: firstLine(p.Error.Err), Output: withNewline(p.Error.Err)})
			continue
		}
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			problems = append(problems, BuildProblem{Pkg: p.ImportPath, Reason: "has no test files, so no benchmarks", Untested: true})
			continue
		}
		s := Subject{Pkg: p.ImportPath, Dir: p.Dir, Binary: filepath.Join(out, "subject"+strconv.Itoa(i)+".test")}
		if runtimeIsWindows {
			s.Binary += ".exe"
		}
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-o", s.Binary, p.ImportPath)
		cmd.Dir = dir
		var said bytes.Buffer
		cmd.Stdout, cmd.Stderr = &said, &said
		cmd.WaitDelay = time.Second // compilers may outlive a go command that is killed
		if err := cmd.Run(); err != nil {
			if ctx.Err() != nil {
				return nil, nil, context.Cause(ctx)
			}
			problems = append(problems, BuildProblem{Pkg: p.ImportPath, Reason: "does not build", Output: said.String()})
			continue
		}
		if s.Hash, err = hashFile(s.Binary); err != nil {
			return nil, nil, err
		}
		subjects = append(subjects, s)
	}
	return subjects, problems, nil
}

// goPackage is what go list says of a package.
type goPackage struct {
	ImportPath, Dir           string
	TestGoFiles, XTestGoFiles []string
	Error                     *struct{ Err string }
}

func list(ctx context.Context, dir string, patterns []string) ([]goPackage, error) {
	args := append([]string{"list", "-e", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles,Error", "--"}, patterns...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("go list %s: %w\n%s", strings.Join(patterns, " "), err, bytes.TrimSpace(stderr.Bytes()))
	}
	var pkgs []goPackage
	for dec := json.NewDecoder(&stdout); ; {
		var p goPackage
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			if len(pkgs) == 0 {
				return nil, fmt.Errorf("no package matches %s", strings.Join(patterns, " "))
			}
			return pkgs, nil
		case err != nil:
			return nil, fmt.Errorf("reading the output of go list: %w", err)
		}
		pkgs = append(pkgs, p)
	}
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

func withNewline(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
