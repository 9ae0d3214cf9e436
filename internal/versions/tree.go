package versions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
)

// A Tree is a version of a module, laid out on the disk.
type Tree struct {
	// Name is what the version was called: "v1.2.0", "../old", or "work tree".
	Name string
	// Commit is the version's commit, if it was named as a revision.
	Commit string

	// Dir is the folder that corresponds to the desk's: where the go command is
	// to run, and package patterns are relative to. Env is what the go command
	// needs in addition to its environment, as "KEY=value".
	Dir string
	Env []string

	// Source identifies the sources: trees with the same one are compiled to the
	// same programs by the same toolchain with the same settings. It is "" if
	// that is not known, as for a folder that anyone may edit.
	Source string

	// Notes say what a reader of the results should know of how the version was
	// laid out, one line each.
	Notes []string
}

// WorkTree is the version that is called by no name: what lies in the working
// directory.
const WorkTree = ""

// WorkTreeName is its name in results.
const WorkTreeName = "work tree"

// IsRevision reports whether git knows name as a commit.
func (d *Desk) IsRevision(ctx context.Context, name string) bool {
	_, err := d.commit(ctx, name)
	return err == nil
}

// IsModule reports whether name is a folder that is the root of a module.
func (d *Desk) IsModule(name string) bool {
	info, err := os.Stat(filepath.Join(d.abs(name), "go.mod"))
	return err == nil && info.Mode().IsRegular()
}

// IsHere reports whether name is the root of the module that the desk's folder is
// in.
func (d *Desk) IsHere(ctx context.Context, name string) bool {
	root, err := d.moduleRoot(ctx, &Tree{Dir: d.dir})
	if err != nil {
		return false
	}
	here, err := os.Stat(root)
	if err != nil {
		return false
	}
	there, err := os.Stat(d.abs(name))
	return err == nil && os.SameFile(here, there)
}

// abs returns the path name, which is relative to the desk.
func (d *Desk) abs(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(d.dir, name)
}

// commit resolves a revision.
func (d *Desk) commit(ctx context.Context, name string) (string, error) {
	if d.top == "" || name == "" || strings.HasPrefix(name, "-") {
		return "", errors.New("no revision")
	}
	return d.git(ctx, d.dir, "rev-parse", "--verify", "--quiet", name+"^{commit}")
}

// Lay lays out the version that is called name, under a name of its own, label:
// WorkTree, a git revision, a folder, or a module as in "golang.org/x/text@v0.3.0".
// A name that is a revision and a folder is the revision; ./name is the folder.
func (d *Desk) Lay(ctx context.Context, name, label string) (*Tree, error) {
	if name == WorkTree {
		return d.inPlace(ctx, d.dir, WorkTreeName)
	}
	commit, err := d.commit(ctx, name)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil {
		return d.revision(ctx, name, commit, label)
	}
	if info, err := os.Stat(d.abs(name)); err == nil && info.IsDir() {
		return d.folder(ctx, d.abs(name), name, label)
	}
	if IsModuleVersion(name) {
		return d.download(ctx, name, label)
	}
	switch {
	case d.top == "":
		return nil, fmt.Errorf("%q is no folder, and no revision, since %s is not in a git repository; in one name a commit, elsewhere two folders: benchrun ab ../old ../new", name, d.dir)
	case d.shallow(ctx):
		return nil, fmt.Errorf("%q is neither a folder nor a commit of this clone, which is shallow: git fetch --unshallow gets the rest", name)
	}
	return nil, fmt.Errorf("%q is neither a git revision nor a folder; a version that is only on a server has to be fetched first", name)
}

func (d *Desk) shallow(ctx context.Context) bool {
	out, err := d.git(ctx, d.dir, "rev-parse", "--is-shallow-repository")
	return err == nil && out == "true"
}

// IsModuleVersion reports whether name looks like path@version. The path begins
// with a domain's name, which has a dot.
func IsModuleVersion(name string) bool {
	path, version, ok := strings.Cut(name, "@")
	domain, _, _ := strings.Cut(path, "/")
	return ok && version != "" && strings.Contains(strings.Trim(domain, "."), ".") && !filepath.IsAbs(name)
}

// ModulePath returns the path of the module that the tree is of.
func (d *Desk) ModulePath(ctx context.Context, t *Tree) (string, error) {
	root, err := d.moduleRoot(ctx, t)
	if err != nil {
		return "", err
	}
	m, err := d.edit(ctx, root, "mod", filepath.Join(root, "go.mod"))
	if err != nil {
		return "", err
	}
	return m.Module.Path, nil
}

// Toolchain returns the version of Go that builds the tree: its go.mod may ask for
// one.
func (d *Desk) Toolchain(ctx context.Context, t *Tree) (string, error) {
	return d.goCommand(ctx, t.Dir, t.Env, "env", "GOVERSION")
}

// AddGoFlag adds a flag to those that the go command gets for the tree.
func (d *Desk) AddGoFlag(ctx context.Context, t *Tree, flag string) error {
	flags, err := d.goCommand(ctx, t.Dir, t.Env, "env", "GOFLAGS")
	if err != nil {
		return err
	}
	t.Env = append(t.Env, "GOFLAGS="+strings.TrimSpace(flags+" "+flag))
	return nil
}

// inPlace is the version that lies in dir.
func (d *Desk) inPlace(ctx context.Context, dir, name string) (*Tree, error) {
	t := &Tree{Name: name, Dir: dir}
	if _, err := d.moduleRoot(ctx, t); err != nil {
		return nil, err
	}
	return t, nil
}

// moduleRoot returns the root of the module that the tree's folder is in.
func (d *Desk) moduleRoot(ctx context.Context, t *Tree) (string, error) {
	mod, err := d.goCommand(ctx, t.Dir, t.Env, "env", "GOMOD")
	if err != nil {
		return "", err
	}
	if mod == "" || mod == os.DevNull {
		return "", fmt.Errorf("%s: %s is in no Go module: there is no go.mod there or above", t.Name, t.Dir)
	}
	return filepath.Dir(mod), nil
}

// revision lays a commit out in a worktree.
func (d *Desk) revision(ctx context.Context, name, commit, label string) (*Tree, error) {
	root := filepath.Join(d.temp.Path, label)
	// Before the command: it may be interrupted.
	d.trees = append(d.trees, root)
	if _, err := d.git(ctx, d.top, "worktree", "add", "--quiet", "--detach", "--force", root, commit); err != nil {
		return nil, fmt.Errorf("checking %s out: %w", name, err)
	}
	rel, err := filepath.Rel(d.top, d.dir)
	if err != nil {
		return nil, err
	}
	t := &Tree{Name: name, Commit: commit, Dir: filepath.Join(root, rel)}
	if info, err := os.Stat(t.Dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("there is no folder %s in %s", filepath.ToSlash(rel), name)
	}
	tree, err := d.git(ctx, root, "rev-parse", "HEAD^{tree}")
	if err != nil {
		return nil, err
	}
	t.Source = "git tree " + tree + " folder " + filepath.ToSlash(rel)
	if err := d.lead(ctx, t, root, d.top); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(root, ".gitmodules")); err == nil {
		t.Notes = append(t.Notes, "the submodules of "+name+" are not checked out")
	}
	return t, nil
}

// folder lays out what lies in dir: in place, if that is safe.
func (d *Desk) folder(ctx context.Context, dir, name, label string) (*Tree, error) {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	cache, err := d.goCommand(ctx, d.dir, nil, "env", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(cache); err == nil {
		cache = real
	}
	if rel, err := filepath.Rel(cache, dir); err == nil && filepath.IsLocal(rel) && strings.Contains(rel, "@") {
		return d.cached(ctx, cache, filepath.ToSlash(rel), label)
	}
	return d.inPlace(ctx, dir, name)
}

// download lays out a module that is known by its path and version.
func (d *Desk) download(ctx context.Context, name, label string) (*Tree, error) {
	// Outside of all modules: what the working directory's module replaces or
	// excludes does not concern it.
	out, err := d.goCommand(ctx, d.temp.Path, []string{"GOWORK=off"}, "mod", "download", "-json", name)
	var m struct{ Dir, Error string }
	if json.Unmarshal([]byte(out), &m) != nil || m.Dir == "" {
		return nil, fmt.Errorf("%s cannot be downloaded: %w", name, errors.Join(err, errors.New(m.Error)))
	}
	return d.folder(ctx, m.Dir, name, label)
}

// cached lays out what lies in the module cache, at rel below it: as a copy, for
// the cache may be read-only and nobody may write there, not even a benchmark.
func (d *Desk) cached(ctx context.Context, cache, rel, label string) (*Tree, error) {
	// rel is "golang.org/x/text@v0.3.0/cases": a module, and a folder within.
	at := strings.Index(rel, "@")
	end := len(rel)
	if i := strings.Index(rel[at:], "/"); i >= 0 {
		end = at + i
	}
	root := filepath.Join(d.temp.Path, label)
	if err := copyTree(ctx, root, filepath.Join(cache, filepath.FromSlash(rel[:end]))); err != nil {
		return nil, err
	}
	mod := filepath.Join(root, "go.mod")
	if _, err := os.Stat(mod); errors.Is(err, fs.ErrNotExist) {
		// It is older than modules are.
		if err := os.WriteFile(mod, []byte("module "+unescape(rel[:at])+"\n"), 0o644); err != nil {
			return nil, err
		}
	}
	t := &Tree{
		Name:   unescape(rel),
		Dir:    filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(rel[end:], "/"))),
		Env:    []string{"GOWORK=off"},
		Source: "module " + rel,
	}
	// A module that was published may lack sums that its tests need; in a copy the
	// go command can add them.
	return t, d.AddGoFlag(ctx, t, "-mod=mod")
}

// unescape turns the case-insensitive spelling of the module cache back: "!burnt"
// is "Burnt".
func unescape(path string) string {
	var b strings.Builder
	upper := false
	for _, r := range path {
		if r == '!' {
			upper = true
			continue
		}
		if upper {
			r, upper = unicode.ToUpper(r), false
		}
		b.WriteRune(r)
	}
	return b.String()
}

// copyTree copies the folder from to the new folder to, all of it writable.
func copyTree(ctx context.Context, to, from string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if e.IsDir() {
			return os.Mkdir(target, 0o755)
		}
		data, err := os.ReadFile(path) // the module cache has no symbolic links
		if err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o644)
	})
}
