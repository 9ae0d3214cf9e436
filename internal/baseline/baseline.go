// Package baseline keeps the built tests of a version under a name, so that a later version
// can be measured against them in one run:
//
//	<folder>/<module>/<name>/baseline.json   what was built, of what, and how
//	<folder>/<module>/<name>/parts/<sha256>  binaries, and the folders that they run in
//
// The parts are those of a job that travels; see package jobs. A baseline is written beside
// its place and then put there, so that one that was interrupted is never seen. What is
// run is a copy whose digest is checked: the kept one may be replaced or removed meanwhile.
package baseline

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/jobs"
)

// format is the version of the document.
const format = 1

const documentName = "baseline.json"

// A Baseline is what is known of one.
type Baseline struct {
	Format  int       `json:"format"`
	Name    string    `json:"name"`
	Module  string    `json:"module"`
	Version string    `json:"version"` // what it was called, such as "main"
	Commit  string    `json:"commit,omitempty"`
	Dirty   string    `json:"dirty,omitempty"` // as session.Commit has it
	Made    time.Time `json:"made"`

	Protocol int               `json:"protocol"`        // by which its benchmarks are driven
	Settings map[string]string `json:"settings"`        // what go env said; GOVERSION, GOOS and GOARCH are there
	Build    string            `json:"build,omitempty"` // the flags that asked for some of them, each with a space before
	Patterns []string          `json:"patterns"`        // of the packages
	Layouts  int               `json:"layouts"`
	Packages []Package         `json:"packages"`
	Parts    []jobs.Part       `json:"parts"`

	folder string // that it was read from
}

// A Package is the test binary of one.
type Package struct {
	Pkg        string   `json:"pkg"`
	Source     string   `json:"source,omitempty"`     // as testbin.Binary has it
	Undrivable string   `json:"undrivable,omitempty"` // why it cannot be driven; "" if it can
	Images     []string `json:"images"`               // digests of its layouts; the first is the linker's own order
	Folder     string   `json:"folder"`               // digest of the folder in which it runs
}

// Size returns how many bytes it takes.
func (b *Baseline) Size() (n int64) {
	for _, p := range b.Parts {
		n += p.Size
	}
	return n
}

// CheckName returns an error for what cannot name a baseline: it begins with a letter or a
// digit, and has no spaces and nothing that cannot be seen.
func CheckName(name string) error {
	odd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }
	first := []rune(name + "-")[0]
	if len(name) > 100 || strings.ContainsFunc(name, odd) || !unicode.IsLetter(first) && !unicode.IsDigit(first) {
		return fmt.Errorf("%.100q cannot name a baseline: a name begins with a letter or a digit, has no spaces, and at most 100 bytes", name)
	}
	return nil
}

// A Store is where baselines are kept: a folder, which is there once one is kept.
type Store string

// of returns the folder of a module's baselines.
func (s Store) of(module string) string { return filepath.Join(string(s), url.PathEscape(module)) }

func (s Store) path(module, name string) string {
	return filepath.Join(s.of(module), url.PathEscape(name))
}

// Keep keeps b under its name, in place of what was kept so. pack adds the parts, and names
// them in b.
func (s Store) Keep(b *Baseline, pack func(*jobs.Packer) error) error {
	if err := CheckName(b.Name); err != nil {
		return err
	}
	if err := os.MkdirAll(s.of(b.Module), 0o755); err != nil {
		return err
	}
	// A name never begins with a dot, so no other baseline is there.
	temp, err := os.MkdirTemp(s.of(b.Module), ".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	p, err := jobs.NewPacker(temp)
	if err != nil {
		return err
	}
	if err := pack(p); err != nil {
		return err
	}
	b.Format, b.Parts = format, p.Parts()
	document, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(temp, documentName), append(document, '\n'), 0o644); err != nil {
		return err
	}
	b.folder = s.path(b.Module, b.Name)
	old := temp + "-old"
	defer os.RemoveAll(old)
	if err := os.Rename(b.folder, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(temp, b.folder)
}

// Open reads the baseline of a module. The error of one that is not there has what is.
func (s Store) Open(module, name string) (*Baseline, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	b, err := read(s.path(module, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, s.unknown(module, name)
	}
	return b, err
}

// unknown is the error of a baseline that is not there.
func (s Store) unknown(module, name string) error {
	all, _ := s.All()
	var own, elsewhere []string
	for _, b := range all {
		if b.Module != module {
			if b.Name == name {
				elsewhere = append(elsewhere, b.Module)
			}
			continue
		}
		own = append(own, b.Name)
	}
	what := fmt.Sprintf("there is no baseline %q of %s", name, module)
	switch near := console.Nearest(name, own); {
	case near != "":
		return fmt.Errorf("%s; did you mean %s?", what, near)
	case len(elsewhere) > 0:
		what += fmt.Sprintf(", but one of %s", strings.Join(elsewhere, " and of "))
	case len(own) > 0:
		what += "; there are " + strings.Join(own, ", ")
	}
	return fmt.Errorf("%s: benchrun ab --save-baseline %s keeps one of the work tree, and benchrun ab --save-baseline %[2]s main one of main", what, name)
}

// Again is what keeps a baseline of the same version anew.
func (b *Baseline) Again() string {
	again := "benchrun ab --save-baseline " + b.Name
	if b.Commit != "" && b.Dirty == "false" {
		again += " " + b.Commit[:min(12, len(b.Commit))]
	}
	return again + b.Build
}

// read reads the document in a baseline's folder.
func read(folder string) (*Baseline, error) {
	document, err := os.ReadFile(filepath.Join(folder, documentName))
	if err != nil {
		return nil, err
	}
	b := &Baseline{folder: folder}
	if err := json.Unmarshal(document, b); err != nil {
		return nil, fmt.Errorf("the baseline in %s is damaged: %s: %w", folder, documentName, err)
	}
	if b.Format != format {
		return nil, fmt.Errorf("the baseline %s was kept by another benchrun, in a format that this one does not read: %s", b.Name, b.Again())
	}
	return b, nil
}

// Images copies the binaries of p into the folder dir, which it makes, at most layouts of
// them, and unpacks the folder that they run in. A part that is not what was kept is an
// error.
func (b *Baseline) Images(p Package, dir string, layouts int) (images []string, folder string, err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, "", err
	}
	for _, digest := range append(slices.Clone(p.Images[:min(layouts, len(p.Images))]), p.Folder) {
		to := filepath.Join(dir, digest+".test")
		if err := b.part(digest, to); err != nil {
			return nil, "", fmt.Errorf("the baseline %s is damaged: %s: %w; to keep it anew: %s", b.Name, p.Pkg, err, b.Again())
		}
		images = append(images, to)
	}
	last := len(images) - 1
	folder = filepath.Join(dir, "folder")
	if err := jobs.Unpack(images[last], folder); err != nil {
		return nil, "", err
	}
	return images[:last], folder, nil
}

// part copies a part to a file, which is removed if it is not what was kept.
func (b *Baseline) part(digest, to string) error {
	if !jobs.IsID(digest) {
		return fmt.Errorf("%.80q is no digest", digest)
	}
	i := slices.IndexFunc(b.Parts, func(p jobs.Part) bool { return p.SHA256 == digest })
	if i < 0 {
		return fmt.Errorf("it has no part %s", digest)
	}
	data, err := os.ReadFile(jobs.PartPath(b.folder, b.Parts[i].SHA256))
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("a file of it is gone")
	}
	if err != nil {
		return err
	}
	if jobs.ID(data) != digest {
		return errors.New("a file is not what its digest says")
	}
	return os.WriteFile(to, data, 0o755)
}

// All returns all baselines, by module and name. One that cannot be read is left out, and
// said in the error.
func (s Store) All() (all []*Baseline, err error) {
	documents, err := filepath.Glob(filepath.Join(glob(string(s)), "*", "[^.]*", documentName))
	for _, d := range documents {
		b, fault := read(filepath.Dir(d))
		if fault != nil {
			err = errors.Join(err, fault)
			continue
		}
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b *Baseline) int {
		return cmp.Or(strings.Compare(a.Module, b.Module), strings.Compare(a.Name, b.Name))
	})
	return all, err
}

// glob is a path as a pattern that matches it alone.
func glob(path string) string {
	return strings.NewReplacer("*", `[*]`, "?", `[?]`, "[", `[[]`).Replace(path)
}

// Remove removes a baseline of a module, also one that is damaged.
func (s Store) Remove(module, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	path := s.path(module, name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return s.unknown(module, name)
	}
	return os.RemoveAll(path)
}
