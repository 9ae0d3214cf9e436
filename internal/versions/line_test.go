package versions

import (
	"context"
	"slices"
	"strings"
	"testing"
)

// add writes a file and commits it under its name.
func (r *repo) add(name, text string) (commit string) {
	r.t.Helper()
	r.write(name, text)
	r.git("add", "-A")
	r.git("commit", "-q", "-m", name)
	return r.git("rev-parse", "HEAD")
}

// line returns the line between two revisions.
func (r *repo) line(good, bad string) (*Line, error) {
	r.t.Helper()
	return r.open(".").Line(context.Background(), good, bad)
}

// subjects are what a line's commits are called.
func (l *Line) subjects() (all []string) {
	for _, c := range l.Commits {
		all = append(all, c.Subject)
	}
	return all
}

func TestLine(t *testing.T) {
	r := newRepo(t)
	good := r.add("one", "1")
	second := r.add("two", "2")
	r.git("mv", "two", "a b\u00e9")
	last := r.add("three\n", "3")
	l, err := r.line(good[:8], "main")
	if err != nil {
		t.Fatal(err)
	}
	if l.Good != good || l.Asked != good || len(l.Commits) != 2 || l.Commits[0].Hash != second || l.Commits[1].Hash != last {
		t.Fatalf("line %+v, want two and three after %s", l, good)
	}
	c := l.Commits[1]
	if c.Parent != second || c.Merge || c.Author != "a" || c.Date.IsZero() || c.Subject != "three" {
		t.Errorf("commit %+v", c)
	}
	// A renamed file is changed at both of its names, whatever is in them.
	if want := []string{"a bé", "three\n", "two"}; !slices.Equal(c.Files, want) {
		t.Errorf("it changes %q, want %q", c.Files, want)
	}
}

// TestLineOfMerges proves that a merge stands for all that came with it, and that it is said
// to change what it does against its first parent.
func TestLineOfMerges(t *testing.T) {
	r := newRepo(t)
	good := r.add("one", "1")
	r.git("checkout", "-q", "-b", "side")
	r.add("side 1", "1")
	side := r.add("side 2", "2")
	r.git("checkout", "-q", "main")
	r.add("two", "2")
	r.git("merge", "-q", "--no-ff", "-m", "a merge", "side")
	r.add("three", "3")
	l, err := r.line(good, "main")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"two", "a merge", "three"}; !slices.Equal(l.subjects(), want) {
		t.Fatalf("line of %q, want %q", l.subjects(), want)
	}
	if m := l.Commits[1]; !m.Merge || !slices.Equal(m.Files, []string{"side 1", "side 2"}) {
		t.Errorf("the merge is %+v", m)
	}

	// From a commit that came with the merge the line begins where its branch left.
	if l, err = r.line(side, "main"); err != nil {
		t.Fatal(err)
	}
	if l.Asked != side || l.Good != good || len(l.Commits) != 3 {
		t.Errorf("from the side the line is %+v, want it from %s", l, good)
	}
}

// TestLineFromARelease proves that a good end on a branch of its own is replaced by where
// that branch left the line.
func TestLineFromARelease(t *testing.T) {
	r := newRepo(t)
	left := r.add("one", "1")
	r.git("checkout", "-q", "-b", "release")
	release := r.add("a fix", "1")
	r.git("checkout", "-q", "main")
	r.add("two", "2")
	l, err := r.line("release", "main")
	if err != nil {
		t.Fatal(err)
	}
	if l.Asked != release || l.Good != left || !slices.Equal(l.subjects(), []string{"two"}) {
		t.Errorf("line %+v, want two after %s", l, left)
	}
}

// TestNoLine proves that ends between which nothing can be searched are told with what to do.
func TestNoLine(t *testing.T) {
	r := newRepo(t)
	first := r.add("one", "1")
	r.add("two", "2")
	last := r.add("three", "3")
	r.git("checkout", "-q", "--orphan", "other")
	r.add("elsewhere", "1")
	r.git("checkout", "-q", "main")
	r.command(r.dir, nil, "git", "clone", "-q", "--depth", "1", "--no-single-branch", "file://"+r.dir, "../shallow")
	shallow := &repo{t, strings.TrimSuffix(r.dir, "repo") + "shallow"}
	r.git("branch", "start", first)
	shallow.git("fetch", "-q", "--depth", "1", "origin", "start:start")
	for _, c := range []struct {
		in              *repo
		good, bad, want string
	}{
		{r, "main", last, "are the same commit"},
		{r, "main", first, "the good end comes first, and then the bad one: benchrun bisect " + first + " main"},
		{r, "nothing", "main", `"nothing" is no commit of this repository`},
		{r, first, "nothing", `"nothing" is no commit of this repository`},
		{r, "mian", "main", `"mian" is no commit of this repository; did you mean main?`},
		{r, first, "Strat~2^2", `did you mean start~2^2?`},
		{r, "HEDA~1", "main", `did you mean HEAD~1?`},
		{r, "other", "main", "have no history in common"},
		{shallow, "main~1", "main", "no commit of this clone, which is shallow: git fetch --unshallow gets the rest"},
		{shallow, "start", "main", "no history in common in this clone, which is shallow: git fetch --unshallow gets the rest"},
	} {
		if _, err := c.in.line(c.good, c.bad); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s to %s: %v, want %q", c.good, c.bad, err, c.want)
		}
	}
	// What is there, and has no such parent, is not meant otherwise.
	if _, err := r.line("main~99", "main"); err == nil || strings.Contains(err.Error(), "mean") {
		t.Errorf("main~99: %v", err)
	}
}

// TestNoRepository proves that why git knows no versions of a folder is told in git's words: it may be
// there, and belong to somebody else, as in containers.
func TestNoRepository(t *testing.T) {
	r := newRepo(t)
	r.write("../plain/go.mod", "module example.com/plain\n\ngo 1.23\n")
	r.git("clone", "-q", "--bare", ".", "../bare")
	for _, c := range []struct{ dir, key, value, want string }{
		{dir: "plain", want: "fatal: not a git repository"},
		{dir: "bare", want: "must be run in a work tree"},
		{dir: "repo", key: "GIT_TEST_ASSUME_DIFFERENT_OWNER", value: "1", want: "git config --global --add safe.directory"},
		{dir: "repo", key: "PATH", value: t.TempDir(), want: ": it is not installed"},
	} {
		t.Run(c.dir+c.key, func(t *testing.T) {
			if c.key != "" {
				t.Setenv(c.key, c.value)
			}
			d, err := Open(context.Background(), strings.TrimSuffix(r.dir, "repo")+c.dir)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			_, line := d.Line(context.Background(), "good", "bad")
			_, lay := d.Lay(context.Background(), "HEAD", "old")
			for begins, err := range map[string]error{"bisect searches commits: git has no work tree at ": line, `"HEAD" is not a folder, and without git not a revision`: lay} {
				if err == nil || !strings.HasPrefix(err.Error(), begins) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("says %v, want %s … %s", err, begins, c.want)
				}
			}
		})
	}
}

// TestFilesOf proves that a file of a commit is another line if what is in it is other, and
// the same one if it is not.
func TestFilesOf(t *testing.T) {
	r := newRepo(t)
	first := r.add("testdata/x", "1")
	r.add("code", "1")
	same := r.git("rev-parse", "HEAD")
	other := r.add("testdata/x", "2")
	d := r.open(".")
	files := func(commit string) []string {
		t.Helper()
		lines, err := d.Files(context.Background(), commit, func(file string) bool { return strings.HasPrefix(file, "testdata/") })
		if err != nil || len(lines) != 1 {
			t.Fatalf("%s has %q, %v", commit, lines, err)
		}
		return lines
	}
	if !slices.Equal(files(first), files(same)) || slices.Equal(files(first), files(other)) {
		t.Errorf("files are %q, %q and %q", files(first), files(same), files(other))
	}
}

// TestRemove proves that a tree is gone before the workspace is closed, and only that one.
func TestRemove(t *testing.T) {
	r := newRepo(t)
	r.add("one", "1")
	d := r.open(".")
	kept, err := d.Lay(context.Background(), "main", "kept")
	if err != nil {
		t.Fatal(err)
	}
	gone := r.lay(d, "main")
	if err := d.Remove(context.Background(), gone); err != nil {
		t.Fatal(err)
	}
	if trees := r.git("worktree", "list"); strings.Contains(trees, gone.Root) || !strings.Contains(trees, kept.Root) {
		t.Errorf("of %s and %s there are left\n%s", gone.Root, kept.Root, trees)
	}
	if err := d.Remove(context.Background(), gone); err != nil {
		t.Errorf("once more: %v", err)
	}
}
