package versions

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Commit is one of a line of commits.
type Commit struct {
	Hash    string
	Parent  string // the first one; "" if it has none
	Merge   bool
	Author  string
	Date    time.Time
	Subject string
	Files   []string // that it changes against Parent, relative to the repository's root
}

// A Line is the commits from a good one, which is not among them, to a bad one, the oldest
// first: each has the one before as its first parent.
type Line struct {
	Good    string // where the line begins
	Asked   string // the good commit that was asked for; another one if that is on another branch
	Commits []Commit
}

// Line returns the commits between two revisions, along first parents: a merge stands for
// all that came with it. If the good one is on another branch, such as a release's, the line
// begins where that left it.
func (w *Workspace) Line(ctx context.Context, good, bad string) (*Line, error) {
	if w.top == "" {
		return nil, fmt.Errorf("bisect searches commits: %w", w.noTop)
	}
	asked, err := w.end(ctx, good)
	if err != nil {
		return nil, err
	}
	end, err := w.end(ctx, bad)
	if err != nil {
		return nil, err
	}
	if asked == end {
		return nil, fmt.Errorf("%s and %s are the same commit, %s", good, bad, end)
	}
	if _, err := w.git(ctx, w.top, "merge-base", "--is-ancestor", end, asked); err == nil {
		return nil, fmt.Errorf("%s is older than %s: the good end comes first, and then the bad one: benchrun bisect %s %s", bad, good, bad, good)
	}
	l := &Line{Asked: asked}
	if l.Commits, err = w.firstParents(ctx, asked, end); err != nil {
		return nil, err
	}
	if len(l.Commits) > 0 {
		l.Good = l.Commits[0].Parent
	}
	switch {
	case l.Good != "":
		return l, nil
	case w.shallow(ctx):
		return nil, fmt.Errorf("%s and %s have no history in common in this clone, which is shallow: git fetch --unshallow gets the rest", good, bad)
	}
	return nil, fmt.Errorf("%s and %s have no history in common", good, bad)
}

// end resolves one end of a line.
func (w *Workspace) end(ctx context.Context, name string) (string, error) {
	commit, err := w.commit(ctx, name)
	switch {
	case err == nil:
		return commit, nil
	case ctx.Err() != nil:
		return "", context.Cause(ctx)
	case w.shallow(ctx):
		return "", fmt.Errorf("%q is no commit of this clone, which is shallow: git fetch --unshallow gets the rest", name)
	}
	if near := w.nearestRef(ctx, name); near != "" {
		return "", fmt.Errorf("%q is no commit of this repository; did you mean %s?", name, near)
	}
	return "", fmt.Errorf("%q is no commit of this repository", name)
}

// firstParents returns the commits along first parents that lead to bad and not to good,
// the oldest first.
func (w *Workspace) firstParents(ctx context.Context, good, bad string) (all []Commit, err error) {
	out, err := w.git(ctx, w.top, "-c", "log.showSignature=false", "log", "--first-parent", "--diff-merges=first-parent", "--reverse", "--no-color",
		"--no-renames", "--ignore-submodules=none", "--name-only", "-z", "--format=%x01%H%x00%P%x00%an%x00%aI%x00%s", "^"+good, bad, "--")
	if err != nil {
		return nil, err
	}
	for _, text := range strings.Split(out, "\x01")[1:] {
		f := strings.Split(text, "\x00")
		if len(f) < 5 {
			return nil, fmt.Errorf("git log says %q of a commit", text)
		}
		c := Commit{Hash: f[0], Author: f[2], Subject: f[4]}
		if parents := strings.Fields(f[1]); len(parents) > 0 {
			c.Parent, c.Merge = parents[0], len(parents) > 1
		}
		c.Date, _ = time.Parse(time.RFC3339, f[3]) // a date that makes no sense is none
		for _, file := range f[5:] {
			if file = strings.TrimLeft(file, "\n"); file != "" {
				c.Files = append(c.Files, file)
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// Files returns what a commit has of the files for which wanted holds: of each a line that
// is another one if the file is.
func (w *Workspace) Files(ctx context.Context, commit string, wanted func(file string) bool) (lines []string, err error) {
	out, err := w.git(ctx, w.top, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(out, "\x00") {
		if _, file, ok := strings.Cut(line, "\t"); ok && wanted(file) {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// Remove removes a tree that Lay has checked out, before Close does.
func (w *Workspace) Remove(ctx context.Context, t *Tree) error {
	i := slices.Index(w.trees, t.Root)
	if t.Root == "" || i < 0 {
		return nil
	}
	w.trees = slices.Delete(w.trees, i, i+1)
	return w.forget(ctx, t.Root)
}
