package versions

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno/internal/scratch"
)

// A repo is a git repository in a folder of its own, for a test.
type repo struct {
	t   *testing.T
	dir string
}

// newRepo makes a repository, in a folder below one that is empty but for it.
func newRepo(t *testing.T) *repo {
	t.Helper()
	for key, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.com", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.com",
		"GOWORK": "", "GOFLAGS": "", "GOPROXY": "off", "TMPDIR": t.TempDir(),
	} {
		t.Setenv(key, value)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &repo{t, filepath.Join(dir, "repo")}
	r.write("go.mod", "module example.com/m\n\ngo 1.23\n")
	r.git("init", "-q", "-b", "main")
	return r
}

// write writes a file below the repository's folder; ../ leaves it.
func (r *repo) write(name, text string) {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// command runs a command in dir and returns what it prints.
func (r *repo) command(dir string, env []string, name string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	return r.command(r.dir, nil, "git", args...)
}

// commit commits everything, and returns the commit.
func (r *repo) commit() string {
	r.t.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "x", "--allow-empty")
	return r.git("rev-parse", "HEAD")
}

// open opens a workspace in a folder of the repository. What it leaves is checked in
// the end: the list of worktrees and the temporary folder.
func (r *repo) open(folder string) *Workspace {
	r.t.Helper()
	before := r.git("worktree", "list", "--porcelain")
	d, err := Open(context.Background(), filepath.Join(r.dir, folder))
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := d.Close(); err != nil {
			r.t.Error("Close: ", err)
		}
		if after := r.git("worktree", "list", "--porcelain"); after != before {
			r.t.Errorf("worktrees before:\n%s\nand after:\n%s", before, after)
		}
		if _, err := os.Stat(d.Temp()); !errors.Is(err, os.ErrNotExist) {
			r.t.Errorf("%s is still there: %v", d.Temp(), err)
		}
	})
	return d
}

// lay lays out a version, and fails the test if that fails.
func (r *repo) lay(d *Workspace, name string) *Tree {
	r.t.Helper()
	tree, err := d.Lay(context.Background(), name, "old")
	if err != nil {
		r.t.Fatal(err)
	}
	return tree
}

// dirOf returns the folder that the go command takes a module from in a tree.
func (r *repo) dirOf(tree *Tree, module string) string {
	r.t.Helper()
	return r.command(tree.Dir, tree.Env, "go", "list", "-m", "-f", "{{.Dir}}", module)
}

func (r *repo) read(tree *Tree, name string) string {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(tree.Dir, name))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(data)
}

func TestRevision(t *testing.T) {
	r := newRepo(t)
	r.write("mod/go.mod", "module example.com/m/mod\n\ngo 1.23\n")
	r.write("mod/sub/x.txt", "one")
	first := r.commit()
	r.git("tag", "v1")
	r.write("mod/sub/x.txt", "two")
	r.commit()
	r.write("mod/sub/x.txt", "not committed")
	r.write("mod/sub/new.txt", "not known to git")

	// From a package's folder of a module that is in a folder of the repository.
	d := r.open("mod/sub")
	tree := r.lay(d, "v1")
	if got := r.read(tree, "x.txt"); got != "one" {
		t.Errorf("v1 has %q", got)
	}
	if tree.Name != "v1" || tree.Commit != first || !strings.HasPrefix(tree.Source, "git tree ") || len(tree.Notes) != 0 {
		t.Errorf("%+v", tree)
	}
	work := r.lay(d, WorkTree)
	if got := r.read(work, "x.txt"); got != "not committed" || work.Dir != filepath.Join(r.dir, "mod", "sub") || work.Source != "" {
		t.Errorf("the work tree has %q: %+v", got, work)
	}
	if got := r.git("status", "--porcelain"); got != "M mod/sub/x.txt\n?? mod/sub/new.txt" {
		t.Errorf("status %q", got)
	}
	// The same sources, whatever they are called, and others.
	again, err := d.Lay(context.Background(), "main~1", "new")
	if err != nil || again.Source != tree.Source {
		t.Errorf("%v: source %q, want %q", err, again.Source, tree.Source)
	}
	other, err := d.Lay(context.Background(), "main", "third")
	if err != nil || other.Source == tree.Source {
		t.Errorf("%v: source %q of other sources", err, other.Source)
	}
}

func TestNames(t *testing.T) {
	r := newRepo(t)
	r.commit()
	r.write("sub/go.mod", "module example.com/m/sub\n\ngo 1.23\n")
	r.write("main/go.mod", "module example.com/main\n\ngo 1.23\n") // also a branch
	r.write("plain/x.go", "package plain\n")
	d := r.open(".")
	for name, want := range map[string]string{
		"main":   "", // the revision
		"HEAD":   "",
		"./main": "main",
		"main/":  "main",
		"sub":    "sub",
		"plain":  "plain", // a folder within the module
	} {
		tree, err := d.Lay(context.Background(), name, "tree-"+strings.ReplaceAll(name, "/", "-"))
		switch {
		case err != nil:
			t.Errorf("%s: %v", name, err)
		case want == "" && tree.Commit == "", want != "" && tree.Dir != filepath.Join(r.dir, want):
			t.Errorf("%s: %+v, want the folder %q", name, tree, want)
		}
	}
	for name, want := range map[string]string{
		"nothing":       `"nothing" is neither a git revision nor a folder`,
		"--all":         `"--all" is neither`,
		"HEAD~1":        `"HEAD~1" is neither`,
		"example.com@v": "example.com@v cannot be downloaded", // GOPROXY is off
	} {
		if _, err := d.Lay(context.Background(), name, "bad"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if !d.IsRevision(context.Background(), "HEAD") || d.IsRevision(context.Background(), "sub") || !d.IsModule("sub") || d.IsModule("plain") {
		t.Error("IsRevision or IsModule is wrong")
	}
	if !d.IsHere(context.Background(), ".") || !d.IsHere(context.Background(), "../repo") || d.IsHere(context.Background(), "sub") || d.IsHere(context.Background(), "nowhere") {
		t.Error("IsHere is wrong")
	}
	if _, err := r.open("..").Lay(context.Background(), WorkTree, "old"); err == nil || !strings.Contains(err.Error(), "is in no Go module") {
		t.Errorf("outside of a module: %v", err)
	}
}

func TestShallowClone(t *testing.T) {
	r := newRepo(t)
	r.commit()
	r.git("tag", "v1")
	r.commit()
	r.command(r.dir, nil, "git", "clone", "-q", "--depth", "1", "file://"+filepath.ToSlash(r.dir), filepath.Join(r.dir, "..", "clone"))
	r.dir = filepath.Join(r.dir, "..", "clone")
	_, err := r.open(".").Lay(context.Background(), "v1", "old")
	if err == nil || !strings.Contains(err.Error(), "git fetch --unshallow") {
		t.Errorf("%v", err)
	}
}

// A folder that the revision lacks, and one that is in no module there.
func TestRevisionWithoutTheFolder(t *testing.T) {
	r := newRepo(t)
	r.git("rm", "-q", "--cached", "go.mod", "--ignore-unmatch")
	r.write("a/x", "")
	r.git("add", "a")
	r.git("commit", "-q", "-m", "without go.mod")
	r.git("tag", "v0")
	r.write("b/x", "")
	r.commit()
	for folder, want := range map[string]string{
		"a": "v0: " + filepath.Join(realPath(r.dir), "a") + " is in no Go module",
		"b": "there is no folder b in v0",
	} {
		_, err := r.open(folder).Lay(context.Background(), "v0", "old")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", folder, err, want)
		}
	}
}

// Within a hook git's environment names a repository, which is not to be taken
// for the one of the worktrees.
func TestWithinAHook(t *testing.T) {
	r := newRepo(t)
	r.write("x", "one")
	r.commit()
	r.write(".git/hooks/post-checkout", "#!/bin/sh\necho ran >"+filepath.Join(r.dir, "hook")+"\n")
	if err := os.Chmod(filepath.Join(r.dir, ".git/hooks/post-checkout"), 0o755); err != nil {
		t.Fatal(err)
	}
	d := r.open(".")
	index := filepath.Join(r.dir, "some-index")
	t.Setenv("GIT_DIR", filepath.Join(r.dir, ".git"))
	t.Setenv("GIT_INDEX_FILE", index)
	if got := r.read(r.lay(d, "HEAD"), "x"); got != "one" {
		t.Errorf("%q", got)
	}
	for _, path := range []string{index, filepath.Join(r.dir, "hook")} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s is there", path)
		}
	}
	os.Unsetenv("GIT_DIR")
	os.Unsetenv("GIT_INDEX_FILE")
}

// An interrupt at any point leaves nothing; see open.
func TestInterrupted(t *testing.T) {
	r := newRepo(t)
	r.commit()
	d := r.open(".")
	ctx, cancel := context.WithCancelCause(context.Background())
	r.lay(d, "HEAD")
	why := errors.New("interrupted")
	cancel(why)
	if _, err := d.Lay(ctx, "HEAD", "new"); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
	if _, err := d.revision(ctx, "HEAD", r.git("rev-parse", "HEAD"), "third"); !errors.Is(err, why) {
		t.Errorf("%v", err)
	}
}

// What a killed process has left is cleared away by the next, and only that.
func TestClearStale(t *testing.T) {
	r := newRepo(t)
	r.commit()
	living, err := scratch.New()
	if err != nil {
		t.Fatal(err)
	}
	defer living.Remove()
	gone, err := scratch.New()
	if err != nil {
		t.Fatal(err)
	}
	add := func(folder string, locked bool) string {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if locked {
			// As a process leaves it behind that is gone.
			if err := os.WriteFile(filepath.Join(folder, "lock"), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		tree := filepath.Join(folder, "old")
		r.git("worktree", "add", "-q", "--detach", tree, "HEAD")
		return tree
	}
	ours := strings.TrimRight(living.Path, "0123456789") // the name without the number
	stale := add(ours+"stale", true)
	deleted := add(gone.Path, false)
	if err := gone.Remove(); err != nil {
		t.Fatal(err)
	}
	// On a disk, say, that is not there now.
	elsewhere := add(filepath.Join(filepath.Dir(living.Path), "disk"), false)
	if err := os.RemoveAll(filepath.Dir(elsewhere)); err != nil {
		t.Fatal(err)
	}
	keep := []string{
		add(living.Path, false),
		add(ours+"foreign", false),
		add(filepath.Join(filepath.Dir(living.Path), "mine"), true),
	}
	d, err := Open(context.Background(), r.dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	list := d.worktrees(context.Background())
	for _, path := range keep {
		if _, err := os.Stat(path); err != nil || !slices.Contains(list, path) {
			t.Errorf("%s is gone: %v", path, err)
		}
	}
	if !slices.Contains(list, elsewhere) {
		t.Errorf("%s is not ours and off the list: %q", elsewhere, list)
	}
	if slices.Contains(list, stale) || slices.Contains(list, deleted) {
		t.Errorf("stale worktrees are left: %q", list)
	}
	if _, err := os.Stat(filepath.Dir(stale)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder is left: %v", err)
	}
}

func TestReplacements(t *testing.T) {
	r := newRepo(t)
	for _, lib := range []string{"../outside", "inside", "../versioned"} {
		r.write(lib+"/go.mod", "module example.com/"+filepath.Base(lib)+"\n\ngo 1.23\n")
	}
	r.write("mod/go.mod", `module example.com/m/mod

go 1.23

require (
	example.com/outside v0.0.0
	example.com/inside v0.0.0
	example.com/versioned v1.2.3
)

replace example.com/outside => ../../outside

replace example.com/inside => ../inside

replace example.com/versioned v1.2.3 => ../../versioned
`)
	r.commit()
	r.git("tag", "v1")
	d := r.open("mod")
	tree := r.lay(d, "v1")
	for module, want := range map[string]string{
		"example.com/outside":   filepath.Join(r.dir, "..", "outside"),
		"example.com/versioned": filepath.Join(r.dir, "..", "versioned"),
		"example.com/inside":    filepath.Join(d.Temp(), "old", "inside"),
	} {
		if got := r.dirOf(tree, module); got != want {
			t.Errorf("%s is taken from %s, want %s", module, got, want)
		}
	}
	if tree.Source != "" || len(tree.Notes) != 2 || !strings.Contains(tree.Notes[0], "replaces example.com/outside by the folder") {
		t.Errorf("%+v", tree)
	}
	if got := r.git("status", "--porcelain"); got != "" {
		t.Errorf("status %q", got)
	}
}

// With a vendor folder that is in git nothing is looked for elsewhere, and a
// go.mod that was changed would contradict it.
func TestVendored(t *testing.T) {
	r := newRepo(t)
	r.write("../lib/go.mod", "module example.com/lib\n\ngo 1.23\n")
	r.write("../lib/lib.go", "package lib\n")
	r.write("go.mod", "module example.com/m\n\ngo 1.23\n\nrequire example.com/lib v0.0.0\n\nreplace example.com/lib => ../lib\n")
	r.write("m.go", "package m\n\nimport _ \"example.com/lib\"\n")
	r.command(r.dir, nil, "go", "mod", "vendor")
	r.commit()
	r.git("tag", "v1")
	r.write(".gitignore", "/vendor\n")
	r.git("rm", "-q", "-r", "--cached", "vendor")
	r.commit()

	d := r.open(".")
	with := r.lay(d, "v1")
	if with.Source == "" || len(with.Notes) != 0 {
		t.Errorf("with vendor: %+v", with)
	}
	r.command(with.Dir, with.Env, "go", "build", "./...")
	without, err := d.Lay(context.Background(), "HEAD", "new")
	if err != nil {
		t.Fatal(err)
	}
	r.command(without.Dir, without.Env, "go", "build", "./...")
	if len(without.Notes) != 2 || !strings.HasPrefix(without.Notes[1], "the work tree has a folder vendor, and HEAD has none") {
		t.Errorf("without vendor: %q", without.Notes)
	}
}

func TestWorkspace(t *testing.T) {
	// m requires lib, which only a workspace can find.
	setup := func(t *testing.T) *repo {
		r := newRepo(t)
		r.write("../lib/go.mod", "module example.com/lib\n\ngo 1.23\n")
		r.write("part/go.mod", "module example.com/part\n\ngo 1.23\n")
		r.write("go.mod", "module example.com/m\n\ngo 1.23\n\nrequire (\n\texample.com/lib v0.0.0\n\texample.com/part v0.0.0\n)\n")
		return r
	}
	const uses = "go 1.23\n\nuse "
	check := func(t *testing.T, r *repo, d *Workspace, tree *Tree) {
		t.Helper()
		for module, want := range map[string]string{
			"example.com/lib":  filepath.Join(r.dir, "..", "lib"),
			"example.com/part": filepath.Join(d.Temp(), "old", "part"),
			"example.com/m":    filepath.Join(d.Temp(), "old"),
		} {
			if got := r.dirOf(tree, module); got != want {
				t.Errorf("%s is taken from %s, want %s", module, got, want)
			}
		}
		if tree.Source != "" || !strings.Contains(strings.Join(tree.Notes, "\n"), filepath.Join(r.dir, "..", "lib")) {
			t.Errorf("%+v", tree)
		}
	}
	t.Run("above the repository", func(t *testing.T) {
		r := setup(t)
		r.write("../go.work", uses+"./repo\n\nuse ./repo/part\n\nuse ./lib\n")
		r.commit()
		d := r.open(".")
		check(t, r, d, r.lay(d, "HEAD"))
	})
	t.Run("in it, unknown to git", func(t *testing.T) {
		r := setup(t)
		r.write(".gitignore", "go.work\n")
		r.write("later/go.mod", "module example.com/later\n\ngo 1.23\n")
		r.write("go.work", uses+".\n\nuse ./part\n\nuse ../lib\n\nuse ./later\n")
		r.git("add", ".gitignore", "go.mod", "part")
		r.git("commit", "-q", "-m", "without later")
		d := r.open("part")
		check(t, r, d, r.lay(d, "HEAD"))
	})
	t.Run("with replacements", func(t *testing.T) {
		r := setup(t)
		r.write("../go.work", uses+"./repo\n\nreplace example.com/lib => ./lib\n\nreplace example.com/part => ./repo/part\n")
		r.commit()
		d := r.open(".")
		check(t, r, d, r.lay(d, "HEAD"))
	})
	t.Run("part of the version", func(t *testing.T) {
		r := setup(t)
		r.commit()
		r.git("tag", "without")
		r.write("go.mod", "module example.com/m\n\ngo 1.23\n\nrequire (\n\texample.com/lib v0.0.0\n\texample.com/part v0.0.0\n)\n\nreplace example.com/lib => ../lib\n")
		r.write("go.work", uses+".\n\nuse ./part\n")
		r.commit()
		for _, gowork := range []string{"", filepath.Join(r.dir, "go.work")} {
			t.Setenv("GOWORK", gowork)
			d := r.open(".")
			tree := r.lay(d, "HEAD")
			if got, want := r.dirOf(tree, "example.com/part"), filepath.Join(d.Temp(), "old", "part"); got != want {
				t.Errorf("GOWORK=%s: part is taken from %s, want %s", gowork, got, want)
			}
			if mod := r.read(tree, "go.mod"); !strings.Contains(mod, "example.com/lib => "+filepath.Join(r.dir, "..", "lib")+"\n") {
				t.Errorf("GOWORK=%s: lib is replaced otherwise: %s", gowork, mod)
			}
			before, err := d.Lay(context.Background(), "without", "new")
			if err != nil {
				t.Fatal(err)
			}
			if got := r.command(before.Dir, before.Env, "go", "env", "GOWORK"); got != "" && got != "off" {
				t.Errorf("GOWORK=%s: before there was a workspace it is %s", gowork, got)
			}
		}
	})
}

// What the version's own go.work uses outside of the repository is the user's work: it
// stays as it is.
func TestWorkspaceOutside(t *testing.T) {
	r := newRepo(t)
	lib := filepath.Join(filepath.Dir(r.dir), "lib")
	const mod = "module example.com/lib\n\ngo 1.23\n\nreplace example.com/x => ../x\n"
	r.write("../lib/go.mod", mod)
	r.write("go.work", "go 1.23\n\nuse .\n\nuse "+lib+"\n")
	r.commit()
	d := r.open(".")
	r.lay(d, "HEAD")
	if data, err := os.ReadFile(filepath.Join(lib, "go.mod")); err != nil || string(data) != mod {
		t.Errorf("its go.mod is %q, %v", data, err)
	}
}

// A module of the cache is copied: the cache is for all.
func TestModuleCache(t *testing.T) {
	r := newRepo(t)
	cache, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOMODCACHE", cache)
	module := filepath.Join(cache, "example.com", "!old@v1.0.0")
	if err := os.MkdirAll(filepath.Join(module, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(module, "sub", "x.go"), []byte("package sub\n"), 0o444); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{filepath.Join(module, "sub"), module} {
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { // or it cannot be removed
		_ = os.Chmod(module, 0o755)
		_ = os.Chmod(filepath.Join(module, "sub"), 0o755)
	})
	d := r.open(".")
	tree := r.lay(d, module)
	if got := r.command(tree.Dir, tree.Env, "go", "list", "./..."); got != "example.com/Old/sub" {
		t.Errorf("packages %q", got)
	}
	if tree.Source != "module example.com/!old@v1.0.0" || tree.Name != "example.com/Old@v1.0.0" {
		t.Errorf("%+v", tree)
	}
	if err := os.WriteFile(filepath.Join(tree.Dir, "sub", "x.go"), nil, 0o644); err != nil {
		t.Errorf("the copy is not writable: %v", err)
	}
	if data, err := os.ReadFile(filepath.Join(module, "sub", "x.go")); err != nil || len(data) == 0 {
		t.Errorf("the cache was written to: %q, %v", data, err)
	}
	if tree, err := d.Lay(context.Background(), filepath.Join(module, "sub"), "new"); err != nil || filepath.Base(tree.Dir) != "sub" {
		t.Errorf("a package of it: %+v, %v", tree, err)
	}
}
