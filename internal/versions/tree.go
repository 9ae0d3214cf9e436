package versions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/console"
)

// A Tree is a version of a module, laid out on the disk.
type Tree struct {
	// Name is what the version was called: "v1.2.0", "../old", or "work tree".
	Name string
	// Commit is the version's commit, if it was named as a revision.
	Commit string

	// Dir is the folder that corresponds to the workspace's: where the go command is
	// to run, and package patterns are relative to. Env is what the go command
	// needs in addition to its environment, as "KEY=value".
	Dir string
	Env []string
	// Root is where a revision is checked out, "" for what is none.
	Root string

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
func (w *Workspace) IsRevision(ctx context.Context, name string) bool {
	_, err := w.commit(ctx, name)
	return err == nil
}

// IsModule reports whether name is a folder that is the root of a module.
func (w *Workspace) IsModule(name string) bool {
	info, err := os.Stat(filepath.Join(w.abs(name), "go.mod"))
	return err == nil && info.Mode().IsRegular()
}

// IsHere reports whether name is the root of the module that the workspace's folder is
// in.
func (w *Workspace) IsHere(ctx context.Context, name string) bool {
	root, err := w.moduleRoot(ctx, &Tree{Dir: w.dir})
	if err != nil {
		return false
	}
	here, _ := os.Stat(root)
	there, _ := os.Stat(w.abs(name))
	return os.SameFile(here, there) // not if one is nil
}

// abs returns the path name, which is relative to the workspace.
func (w *Workspace) abs(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(w.dir, name)
}

// commit resolves a revision.
func (w *Workspace) commit(ctx context.Context, name string) (string, error) {
	if w.top == "" || name == "" || strings.HasPrefix(name, "-") {
		return "", errors.New("no revision")
	}
	return w.git(ctx, w.dir, "rev-parse", "--verify", "--quiet", name+"^{commit}")
}

// Lay lays out the version that is called name, under a name of its own, label:
// WorkTree, a git revision, a folder, or a module as in "golang.org/x/text@v0.3.0".
// A name that is a revision and a folder is the revision; ./name is the folder.
func (w *Workspace) Lay(ctx context.Context, name, label string) (*Tree, error) {
	if name == WorkTree {
		return w.inPlace(ctx, w.dir, WorkTreeName)
	}
	commit, err := w.commit(ctx, name)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err == nil {
		return w.revision(ctx, name, commit, label)
	}
	if info, err := os.Stat(w.abs(name)); err == nil && info.IsDir() {
		return w.folder(ctx, w.abs(name), name, label)
	}
	if IsModuleVersion(name) {
		return w.download(ctx, name, label)
	}
	switch {
	case w.top == "":
		return nil, fmt.Errorf("%q is not a folder, and without git not a revision; name two folders: benchrun ab ../old ../new\n%w", name, w.noTop)
	case w.shallow(ctx):
		return nil, fmt.Errorf("%q is neither a folder nor a commit of this clone, which is shallow: git fetch --unshallow gets the rest", name)
	}
	if near := w.nearestRef(ctx, name); near != "" {
		return nil, fmt.Errorf("%q is neither a git revision nor a folder; did you mean %s?", name, near)
	}
	return nil, fmt.Errorf("%q is neither a git revision nor a folder; a version that is only on a server has to be fetched first", name)
}

// nearestRef returns the branch or tag that was meant by name, with what follows it there, as
// in main~3; "" if none is near.
func (w *Workspace) nearestRef(ctx context.Context, name string) string {
	out, err := w.git(ctx, w.dir, "for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes")
	if err != nil {
		return ""
	}
	suffix := ""
	if i := strings.IndexAny(name, "~^@"); i > 0 {
		name, suffix = name[:i], name[i:]
	}
	near := console.Nearest(name, append(strings.Fields(out), "HEAD"))
	if near == "" || near == name { // it is there, and has no such commit
		return ""
	}
	return near + suffix
}

// Meant returns the branch or tag that is near to name, which is a package's to go by what it
// is, but no package is there; "" if none is near.
func (w *Workspace) Meant(ctx context.Context, name string) string {
	if w.top == "" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "-") {
		return ""
	}
	return w.nearestRef(ctx, name)
}

func (w *Workspace) shallow(ctx context.Context) bool {
	out, err := w.git(ctx, w.dir, "rev-parse", "--is-shallow-repository")
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
func (w *Workspace) ModulePath(ctx context.Context, t *Tree) (string, error) {
	root, err := w.moduleRoot(ctx, t)
	if err != nil {
		return "", err
	}
	data, err := os.ReadFile(filepath.Join(root, "go.mod"))
	return modfile.ModulePath(data), err
}

// Toolchain returns the version of Go that builds the tree: its go.mod may ask for
// one.
func (w *Workspace) Toolchain(ctx context.Context, t *Tree) (string, error) {
	return w.goEnv(ctx, t.Dir, t.Env, "GOVERSION")
}

// GoEnv returns what go env says of keys where the tree is built.
func (w *Workspace) GoEnv(ctx context.Context, t *Tree, keys ...string) (map[string]string, error) {
	all, err := child.GoEnv(ctx, t.Dir, append(os.Environ(), t.Env...), "go")
	said := make(map[string]string)
	for _, key := range keys {
		said[key] = all[key]
	}
	return said, err
}

// AddGoFlag adds a flag to those that the go command gets for the tree.
func (w *Workspace) AddGoFlag(ctx context.Context, t *Tree, flag string) (err error) {
	t.Env, err = WithGoFlags(ctx, t.Dir, t.Env, flag)
	return err
}

// WithGoFlags returns env, which is added to the environment of the go command in dir, with
// flags for it beside those that it has.
func WithGoFlags(ctx context.Context, dir string, env []string, flags ...string) ([]string, error) {
	if len(flags) == 0 {
		return env, nil
	}
	settings, err := child.GoEnv(ctx, dir, append(os.Environ(), env...), "go")
	if err != nil {
		return nil, err
	}
	said := settings["GOFLAGS"]
	for _, flag := range flags {
		said += " " + GoFlag(flag)
	}
	return append(slices.Clip(env), "GOFLAGS="+strings.TrimSpace(said)), nil
}

// GoFlag returns a flag as GOFLAGS has it, which quotes what has spaces. No flag in it can have
// both quotes.
func GoFlag(flag string) string {
	switch {
	case !strings.ContainsAny(flag, " \t'\""):
		return flag
	case strings.Contains(flag, "'"):
		return `"` + flag + `"`
	}
	return "'" + flag + "'"
}

// inPlace is the version that lies in dir.
func (w *Workspace) inPlace(ctx context.Context, dir, name string) (*Tree, error) {
	t := &Tree{Name: name, Dir: dir}
	if _, err := w.moduleRoot(ctx, t); err != nil {
		return nil, err
	}
	return t, nil
}

// ErrNoModule is the error of a version without a module, wrapped.
var ErrNoModule = errors.New("is in no Go module")

// moduleRoot returns the root of the module that the tree's folder is in.
func (w *Workspace) moduleRoot(ctx context.Context, t *Tree) (string, error) {
	mod, err := w.goEnv(ctx, t.Dir, t.Env, "GOMOD")
	if err != nil {
		return "", err
	}
	if mod == "" || mod == os.DevNull {
		dir := t.Dir
		if t.Commit != "" {
			dir = w.dir // the user's, of which it is a copy
		}
		return "", fmt.Errorf("%s: %s %w: there is no go.mod there or above", t.Name, dir, ErrNoModule)
	}
	return filepath.Dir(mod), nil
}

// revision lays a commit out in a worktree.
func (w *Workspace) revision(ctx context.Context, name, commit, label string) (*Tree, error) {
	root := filepath.Join(w.temp.Path, label)
	// Before the command: it may be interrupted.
	w.trees = append(w.trees, root)
	if _, err := w.git(ctx, w.top, "worktree", "add", "--quiet", "--detach", "--force", root, commit); err != nil {
		return nil, fmt.Errorf("checking %s out: %w", name, err)
	}
	rel, err := filepath.Rel(w.top, w.dir)
	if err != nil {
		return nil, err
	}
	t := &Tree{Name: name, Commit: commit, Dir: filepath.Join(root, rel), Root: root}
	if info, err := os.Stat(t.Dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("there is no folder %s in %s", filepath.ToSlash(rel), name)
	}
	tree, err := w.git(ctx, root, "rev-parse", "HEAD^{tree}")
	if err != nil {
		return nil, err
	}
	t.Source = "git tree " + tree + " folder " + filepath.ToSlash(rel)
	if err := w.redirect(ctx, t, move{root: root, home: w.top}); err != nil {
		return nil, err
	}
	if exists(filepath.Join(root, ".gitmodules")) {
		t.Notes = append(t.Notes, "the submodules of "+name+" are not checked out")
	}
	return t, nil
}

// folder lays out what lies in dir: in place, if that is safe.
func (w *Workspace) folder(ctx context.Context, dir, name, label string) (*Tree, error) {
	dir = realPath(dir)
	cache, err := w.goEnv(ctx, w.dir, nil, "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	cache = realPath(cache)
	if rel, err := filepath.Rel(cache, dir); err == nil && filepath.IsLocal(rel) && strings.Contains(rel, "@") {
		return w.cached(ctx, cache, filepath.ToSlash(rel), label)
	}
	return w.inPlace(ctx, dir, name)
}

// download lays out a module that is known by its path and version.
func (w *Workspace) download(ctx context.Context, name, label string) (*Tree, error) {
	// Outside of all modules: what the working directory's module replaces or
	// excludes does not concern it.
	out, err := w.goCommand(ctx, w.temp.Path, []string{"GOWORK=off"}, "mod", "download", "-json", name)
	var m struct{ Dir, Error string }
	if json.Unmarshal([]byte(out), &m) != nil || m.Dir == "" {
		return nil, fmt.Errorf("%s cannot be downloaded: %w", name, errors.Join(err, errors.New(m.Error)))
	}
	return w.folder(ctx, m.Dir, name, label)
}

// cached lays out what lies in the module cache, at rel below it: as a copy, for
// the cache may be read-only and nothing may write there, not even a benchmark. The copy
// can be written to.
func (w *Workspace) cached(ctx context.Context, cache, rel, label string) (*Tree, error) {
	// rel is "golang.org/x/text@v0.3.0/cases": a module, and a folder within.
	escaped, rest, _ := strings.Cut(rel, "@")
	version, folder, _ := strings.Cut(rest, "/")
	path, err := module.UnescapePath(escaped)
	if err != nil {
		return nil, err
	}
	root := filepath.Join(w.temp.Path, label)
	if err := os.CopyFS(root, os.DirFS(filepath.Join(cache, filepath.FromSlash(escaped+"@"+version)))); err != nil {
		return nil, err
	}
	if mod := filepath.Join(root, "go.mod"); !exists(mod) {
		// It is older than modules are.
		if err := os.WriteFile(mod, []byte("module "+path+"\n"), 0o644); err != nil {
			return nil, err
		}
	}
	t := &Tree{Name: path + "@" + rest, Dir: filepath.Join(root, filepath.FromSlash(folder)), Env: []string{"GOWORK=off"}, Source: "module " + rel}
	// A module that was published may lack sums that its tests need; in a copy the
	// go command can add them.
	return t, w.AddGoFlag(ctx, t, "-mod=mod")
}
