package versions

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// lead makes what t's go.mod and its workspace say of other folders lead where it
// should: t lies in root, and is another version of what lies in home.
//
//   - A relative path that stays within the repository is the version's own
//     business: it leads to that version of the other folder.
//   - One that leaves it led to a neighbour of home, and has to lead there still.
//
// Whatever lies outside can be edited at any time, so such a tree has no Source.
func (d *Desk) lead(ctx context.Context, t *Tree, root, home string) error {
	mod, err := d.moduleRoot(ctx, t)
	if err != nil {
		return err
	}
	modules := []string{mod}
	more, err := d.workspace(ctx, t, root, home)
	if err != nil {
		return err
	}
	for _, m := range more {
		if !slices.Contains(modules, m) {
			modules = append(modules, m)
		}
	}
	for _, m := range modules {
		if err := d.replacements(ctx, t, m, root, home, len(more) > 0); err != nil {
			return err
		}
	}
	vendored := func(mod string) bool {
		_, err := os.Stat(filepath.Join(mod, "vendor", "modules.txt"))
		return err == nil
	}
	if rel, err := filepath.Rel(root, mod); err == nil && vendored(filepath.Join(home, rel)) && !vendored(mod) {
		t.Notes = append(t.Notes, "the work tree has a folder vendor, and "+t.Name+" has none: its dependencies are from the module cache")
	}
	return nil
}

// A goMod is what go mod edit -json and go work edit -json tell.
type goMod struct {
	Module  struct{ Path string }
	Use     []struct{ DiskPath string }
	Replace []struct {
		Old, New struct{ Path, Version string }
	}
}

func (d *Desk) edit(ctx context.Context, dir, verb, file string) (*goMod, error) {
	out, err := d.goCommand(ctx, dir, []string{"GOWORK=off"}, verb, "edit", "-json", file)
	if err != nil {
		return nil, err
	}
	m := new(goMod)
	if err := json.Unmarshal([]byte(out), m); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	return m, nil
}

// isLocal reports whether a replacement is a folder.
func isLocal(path, version string) bool {
	return version == "" && (filepath.IsAbs(path) || strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../") || path == "." || path == "..")
}

// below returns path relative to root, and whether it lies there.
func below(root, path string) (string, bool) {
	rel, err := filepath.Rel(root, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// replacements redirects those of mod's go.mod that leave the tree.
func (d *Desk) replacements(ctx context.Context, t *Tree, mod, root, home string, inWorkspace bool) error {
	file := filepath.Join(mod, "go.mod")
	m, err := d.edit(ctx, mod, "mod", file)
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(root, mod)
	if err != nil {
		return err
	}
	_, err = os.Stat(filepath.Join(mod, "vendor", "modules.txt"))
	vendored := err == nil
	for _, r := range m.Replace {
		if !isLocal(r.New.Path, r.New.Version) || vendored && !inWorkspace {
			continue // what is vendored is not looked for elsewhere
		}
		if !filepath.IsAbs(r.New.Path) {
			if _, inside := below(root, filepath.Join(mod, r.New.Path)); inside {
				continue
			}
			old := r.Old.Path
			if r.Old.Version != "" {
				old += "@" + r.Old.Version
			}
			target := filepath.Join(home, rel, r.New.Path)
			// The file is the tree's own, which is removed in the end.
			if _, err := d.goCommand(ctx, mod, []string{"GOWORK=off"}, "mod", "edit", "-replace="+old+"="+target, file); err != nil {
				return err
			}
			r.New.Path = target
		}
		t.Source = ""
		t.Notes = append(t.Notes, fmt.Sprintf("%s replaces %s by the folder %s, which is outside of the repository and the same for both versions", t.Name, r.Old.Path, r.New.Path))
	}
	return nil
}

// workspace gives t the workspace that governs home, with those of its modules
// that home has in t's version. A workspace file that is part of the version
// needs nothing: the go command finds it. It returns the folders of the tree's
// modules in the workspace.
func (d *Desk) workspace(ctx context.Context, t *Tree, root, home string) (modules []string, err error) {
	file, err := d.goCommand(ctx, d.dir, nil, "env", "GOWORK")
	if err != nil || file == "" || file == "off" {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real
	}
	rel, inside := below(home, file)
	if inside {
		if _, err := d.git(ctx, home, "ls-files", "--error-unmatch", "--", rel); err == nil {
			return d.ownWorkspace(ctx, t, filepath.Join(root, rel))
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	w, err := d.edit(ctx, filepath.Dir(file), "work", file)
	if err != nil {
		return nil, err
	}
	// moved is where a path of the workspace leads for this version.
	moved := func(path string) (string, bool) {
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(file), path)
		}
		if rel, inside := below(home, path); inside {
			return filepath.Join(root, rel), true
		}
		return path, false
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	folder := root + "-workspace"
	if err := os.Mkdir(folder, 0o755); err != nil {
		return nil, err
	}
	mine := filepath.Join(folder, "go.work")
	if err := os.WriteFile(mine, data, 0o644); err != nil {
		return nil, err
	}
	if sums, err := os.ReadFile(file + ".sum"); err == nil {
		if err := os.WriteFile(mine+".sum", sums, 0o644); err != nil {
			return nil, err
		}
	}
	args := []string{"work", "edit"}
	var outside []string
	for _, u := range w.Use {
		args = append(args, "-dropuse="+u.DiskPath)
		path, own := moved(u.DiskPath)
		switch _, err := os.Stat(filepath.Join(path, "go.mod")); {
		case own && err != nil:
			continue // a module that this version does not have
		case own:
			modules = append(modules, path)
		default:
			outside = append(outside, path)
		}
		args = append(args, "-use="+path)
	}
	for _, r := range w.Replace {
		if isLocal(r.New.Path, r.New.Version) {
			old := r.Old.Path
			if r.Old.Version != "" {
				old += "@" + r.Old.Version
			}
			path, own := moved(r.New.Path)
			if !own {
				outside = append(outside, path)
			}
			args = append(args, "-replace="+old+"="+path)
		}
	}
	if _, err := d.goCommand(ctx, folder, []string{"GOWORK=off"}, append(args, mine)...); err != nil {
		return nil, err
	}
	t.Env = append(t.Env, "GOWORK="+mine)
	t.Source = "" // the workspace is no part of the version
	if len(outside) > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s is built in the workspace %s, of which %s is the same for both versions", t.Name, file, strings.Join(outside, ", ")))
	}
	return modules, nil
}

// ownWorkspace is workspace for a file that is part of the repository. The
// version may have none.
func (d *Desk) ownWorkspace(ctx context.Context, t *Tree, file string) (modules []string, err error) {
	if _, err := os.Stat(file); err != nil {
		if os.Getenv("GOWORK") != "" {
			t.Env = append(t.Env, "GOWORK=off") // it names the work tree's file
		}
		return nil, nil
	}
	if os.Getenv("GOWORK") != "" {
		t.Env = append(t.Env, "GOWORK="+file)
	}
	w, err := d.edit(ctx, filepath.Dir(file), "work", file)
	if err != nil {
		return nil, err
	}
	for _, u := range w.Use {
		path := u.DiskPath
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(file), path)
		}
		if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
			modules = append(modules, path)
		}
	}
	return modules, nil
}
