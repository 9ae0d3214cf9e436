package versions

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// A move is a version of a repository that lies in root, while the work tree lies in home.
type move struct{ root, home string }

// to returns where path, which is relative to the folder dir of the work tree, leads for
// the version, and whether that is a part of it.
func (m move) to(dir, path string) (target string, own bool) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	rel, err := filepath.Rel(m.home, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path, false
	}
	return filepath.Join(m.root, rel), true
}

// redirect makes what t's go.mod and its go.work say of other folders lead where it
// should, after the version was moved:
//
//   - A relative path that stays within the repository is the version's own
//     business: it leads to that version of the other folder.
//   - One that leaves it led to a neighbour of the work tree, and has to lead there still.
//
// Whatever lies outside can be edited at any time, so such a tree has no Source.
func (w *Workspace) redirect(ctx context.Context, t *Tree, m move) error {
	mod, err := w.moduleRoot(ctx, t)
	if err != nil {
		return err
	}
	used, err := w.goWork(ctx, t, m)
	if err != nil {
		return err
	}
	others := slices.DeleteFunc(slices.Clone(used), func(folder string) bool { return folder == mod })
	for _, folder := range append([]string{mod}, others...) {
		if err := t.replacements(folder, m, len(used) > 0); err != nil {
			return err
		}
	}
	if rel, err := filepath.Rel(m.root, mod); err == nil && vendored(filepath.Join(m.home, rel)) && !vendored(mod) {
		t.Notes = append(t.Notes, "the work tree has a folder vendor, and "+t.Name+" has none: its dependencies are from the module cache")
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// vendored reports whether the module in a folder has its dependencies beside it.
func vendored(module string) bool { return exists(filepath.Join(module, "vendor", "modules.txt")) }

// isFolder reports whether a replacement is a folder.
func isFolder(v module.Version) bool { return v.Version == "" && modfile.IsDirectoryPath(v.Path) }

// replacements redirects those in the go.mod of a folder that leave the tree.
func (t *Tree) replacements(folder string, m move, inWorkspace bool) error {
	if vendored(folder) && !inWorkspace {
		return nil // what is vendored is not looked for elsewhere
	}
	rel, err := filepath.Rel(m.root, folder)
	if err != nil {
		return err
	}
	name := filepath.Join(folder, "go.mod")
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	file, err := modfile.Parse(name, data, nil)
	if err != nil {
		return err
	}
	for _, r := range slices.Clone(file.Replace) {
		target, own := r.New.Path, false
		if !filepath.IsAbs(target) {
			target, own = m.to(filepath.Join(m.home, rel), target)
		}
		if own || !isFolder(r.New) {
			continue
		}
		t.Source = ""
		t.Notes = append(t.Notes, fmt.Sprintf("%s replaces %s by the folder %s, which is outside of the repository and the same for both versions", t.Name, r.Old.Path, target))
		if err := file.AddReplace(r.Old.Path, r.Old.Version, target, ""); err != nil {
			return err
		}
	}
	if data, err = file.Format(); err != nil {
		return err
	}
	// The file is the tree's own, which is removed in the end.
	return os.WriteFile(name, data, 0o644)
}

// goWork gives t the go.work that governs the work tree, with those of its modules
// that the work tree has in t's version. A file that is part of the version
// needs nothing: the go command finds it. It returns the folders of the tree's
// modules that are used.
func (w *Workspace) goWork(ctx context.Context, t *Tree, m move) (modules []string, err error) {
	file, err := w.goEnv(ctx, w.dir, nil, "GOWORK")
	if err != nil || file == "" || file == "off" {
		return nil, err
	}
	file = realPath(file)
	if mine, inside := m.to("", file); inside {
		if _, err := w.git(ctx, m.home, "ls-files", "--error-unmatch", "--", file); err == nil {
			return t.ownGoWork(mine, m)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	work, err := parseGoWork(file)
	if err != nil {
		return nil, err
	}
	uses, modules, outside := m.used(work)
	work.SetUse(uses)
	for _, r := range slices.Clone(work.Replace) {
		if isFolder(r.New) {
			path, own := m.to(filepath.Dir(file), r.New.Path)
			if !own {
				outside = append(outside, path)
			}
			if err := work.AddReplace(r.Old.Path, r.Old.Version, path, ""); err != nil {
				return nil, err
			}
		}
	}
	mine := filepath.Join(m.root+"-workspace", "go.work")
	if err := writeGoWork(mine, work); err != nil {
		return nil, err
	}
	t.Env = append(t.Env, "GOWORK="+mine)
	t.Source = "" // the go.work is no part of the version
	if len(outside) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s is built in the workspace %s, of which %s is the same for both versions", t.Name, file, strings.Join(outside, ", ")))
	}
	return modules, nil
}

// used returns what a go.work uses, where the version has it: all of it, and the folders
// of the version's own modules and of those outside.
func (m move) used(work *modfile.WorkFile) (all []*modfile.Use, modules, outside []string) {
	for _, u := range work.Use {
		path, own := m.to(filepath.Dir(work.Syntax.Name), u.Path)
		switch {
		case !own:
			outside = append(outside, path)
		case !exists(filepath.Join(path, "go.mod")):
			continue // a module that this version does not have
		default:
			modules = append(modules, path)
		}
		all = append(all, &modfile.Use{Path: path, ModulePath: u.ModulePath})
	}
	return all, modules, outside
}

func parseGoWork(file string) (*modfile.WorkFile, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return modfile.ParseWork(file, data, nil)
}

// writeGoWork writes work to the new folder of file, with the sums of where it was.
func writeGoWork(file string, work *modfile.WorkFile) error {
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if sums, err := os.ReadFile(work.Syntax.Name + ".sum"); err == nil {
		if err := os.WriteFile(file+".sum", sums, 0o644); err != nil {
			return err
		}
	}
	work.Cleanup()
	return os.WriteFile(file, modfile.Format(work.Syntax), 0o644)
}

// ownGoWork is goWork for a file that is part of the repository. The version may have
// none.
func (t *Tree) ownGoWork(file string, m move) (modules []string, err error) {
	named := os.Getenv("GOWORK") != "" // then it is the work tree's file
	if !exists(file) {
		if named {
			t.Env = append(t.Env, "GOWORK=off")
		}
		return nil, nil
	}
	if named {
		t.Env = append(t.Env, "GOWORK="+file)
	}
	work, err := parseGoWork(file)
	if err != nil {
		return nil, err
	}
	_, modules, _ = move{root: m.root, home: m.root}.used(work)
	return modules, nil
}
