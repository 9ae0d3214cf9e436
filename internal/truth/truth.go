// Package truth lays out the two versions of the suite of plants: a small module, of
// which each benchmark but the controls is changed in one way of which it can be
// found out, by plain go test, how much slower or faster it becomes.
//
// The sources are those of the package plants below, and lie in the program, so that
// no checkout is needed.
package truth

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed plants/*.go
var sources embed.FS

// folder is where the sources lie in sources, and changed the file that has the
// constant by which the versions differ.
const (
	folder  = "plants"
	changed = "planted_test.go"
)

// Old and New are the folders, in the one that Lay is given, of the versions.
const (
	Old = "plants-old"
	New = "plants-new"
)

// Module is the path of the module that each version is.
const Module = "example.com/plants"

// Lay writes the versions into the folders Old and New of dir, which must not be
// there yet. Each is a module that needs nothing but the standard library.
func Lay(dir string) error {
	files, err := fs.Sub(sources, folder)
	if err != nil {
		return err
	}
	for _, version := range []string{Old, New} {
		to := filepath.Join(dir, version)
		if err := os.CopyFS(to, files); err != nil {
			return fmt.Errorf("laying out the plants: %w", err)
		}
		if err := os.WriteFile(filepath.Join(to, "go.mod"), []byte("module "+Module+"\n\ngo 1.26\n"), 0o644); err != nil {
			return err
		}
	}
	data, err := fs.ReadFile(files, changed)
	if err != nil {
		return err
	}
	data = bytes.Replace(data, []byte("planted = 0"), []byte("planted = 1"), 1)
	return os.WriteFile(filepath.Join(dir, New, changed), data, 0o644)
}
