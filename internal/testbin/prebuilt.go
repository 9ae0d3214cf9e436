package testbin

import (
	"bytes"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/dynolab/dyno/internal/program"
)

// Prebuilt returns the test binaries in files that go test -c has made; the error says of
// the first one that is none why it is not. They run in the folder dir, or if that is "",
// each in the one that it lies in. A binary's package is what it says itself that it is of,
// else the file's name without ".test". Its benchmarks can be driven if it was built with
// an [Overlay] of this version.
func Prebuilt(files []string, dir string) ([]Binary, error) {
	var all []Binary
	byPkg := make(map[string]string)
	for _, file := range files {
		b, err := prebuilt(file, dir)
		if err != nil {
			return nil, err
		}
		if other, ok := byPkg[b.Pkg]; ok {
			return nil, fmt.Errorf("%s and %s are both of the package %s: a run has one binary of each; benchrun ab compares versions", other, file, b.Pkg)
		}
		byPkg[b.Pkg] = file
		all = append(all, b)
	}
	return all, nil
}

func prebuilt(file, dir string) (Binary, error) {
	f, err := program.OpenFile(file, dir)
	if err != nil {
		return Binary{}, err
	}
	b := Binary{Path: f.Path, Dir: f.Dir, Hash: f.Hash}
	if b.Pkg, err = packageOf(file); err != nil {
		return Binary{}, err
	}
	b.Undrivable, err = undrivable(f.Path)
	return b, err
}

// Kept returns a binary that [Build] and [Link] made, as it was kept: b has its paths and
// digests, by layout, and the folder that it runs in. It is not linked anew. undrivable is
// what its Undrivable said, "" for nil.
func Kept(b Binary, undrivable string) Binary {
	if undrivable != "" {
		b.Undrivable = fmt.Errorf("%w%s", program.ErrUnsupported, strings.TrimPrefix(undrivable, program.ErrUnsupported.Error()))
	}
	if len(b.Layouts) > 0 {
		b.Path, b.Hash = b.Layouts[0].Path, b.Layouts[0].Hash
	}
	b.made, b.importPath = nil, ""
	return b
}

// packageOf returns the package whose tests are in a file.
func packageOf(file string) (string, error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("%s is not a Go program (%w): what is measured by --binary is what go test -c makes, and by --program one that speaks the driving protocol", file, err)
	}
	pkg, ok := strings.CutSuffix(info.Path, ".test")
	switch {
	case info.Path != "" && !ok && isTest(file):
		return info.Path, nil // of package main, as Go up to 1.26 makes it
	case info.Path != "" && !ok:
		return "", fmt.Errorf("%s is a Go program, %s, and not a test binary: go test -c makes one", file, info.Path)
	case pkg == "", pkg == "command-line-arguments": // of files that were named one by one
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".exe"), ".test")
		return strings.Join(strings.Fields(name), "-"), nil
	}
	return pkg, nil
}

// isTest reports whether a Go program runs tests.
func isTest(file string) bool {
	text, err := os.ReadFile(file)
	return err == nil && bytes.Contains(text, []byte("testing.(*M).Run\x00"))
}

// driveMark finds what a binary says that can be driven: driveMark in _drive.go.
var driveMark = regexp.MustCompile(`this binary of package testing speaks version (\d+) of dyno's driving protocol`)

// undrivable returns why the benchmarks of the binary at path cannot be driven, nil if they
// can.
func undrivable(path string) (why, err error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := driveMark.FindSubmatch(text)
	switch {
	case m == nil:
		return fmt.Errorf("%w: the binary was built without the overlay that benchrun overlay makes", program.ErrUnsupported), nil
	case string(m[1]) != fmt.Sprint(program.Version):
		return fmt.Errorf("%w: the binary speaks version %s of the driving protocol, and this is version %d: build it again", program.ErrUnsupported, m[1], program.Version), nil
	}
	return nil, nil
}
