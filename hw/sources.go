package hw

import (
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"go/version"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// module is dyno's path.
const module = "github.com/dynolab/dyno"

// A Checkout is the tree that firmware is built from.
type Checkout struct {
	Dir string // the root of the module
	// Go is the language version that its go.mod asks for, such as "go1.26".
	Go string
}

// FindCheckout returns the checkout of dyno that dir is in, or that the module of dir
// depends on; an empty dir is the working directory.
func FindCheckout(ctx context.Context, dir string) (Checkout, error) {
	dir, lang, said, err := goList(ctx, dir, "-m", "-f", "{{.Dir}}\n{{.GoVersion}}", module)
	if err != nil || lang == "" {
		if said != "" {
			said = ": " + said
		}
		return Checkout{}, fmt.Errorf("firmware is built from a checkout of dyno, and this folder is in none%s", said)
	}
	return Checkout{Dir: dir, Go: version.Lang("go" + lang)}, nil
}

// goList returns the two lines that go list prints in dir, and what it says on standard
// error if it fails.
func goList(ctx context.Context, dir string, args ...string) (first, second, said string, err error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		said = strings.TrimSpace(string(exit.Stderr))
	}
	first, second, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first, second, said, err
}

// Implementations returns the names of the implementations in the checkout, sorted:
// the folders of impls that are packages.
func (c Checkout) Implementations() ([]string, error) {
	folders, err := os.ReadDir(filepath.Join(c.Dir, "impls"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, f := range folders {
		if _, err := os.Stat(filepath.Join(c.Dir, "impls", f.Name(), "impl.go")); f.IsDir() && err == nil {
			names = append(names, f.Name())
		}
	}
	return names, nil
}

// Parts are what an image can be made of, besides the firmware's core: the packages
// of these names in hw/firmware.
func Parts() []string {
	return []string{"bench", "conform/group", "conform/task", "conform/actor"}
}

// SelectParts returns the parts that are meant by some names, in the order of Parts and
// each once: a name is that of a part, or of the folder of several, so that "conform"
// means all clauses. No name at all means all parts.
func SelectParts(names []string) ([]string, error) {
	all := Parts()
	if len(names) == 0 {
		return all, nil
	}
	var chosen []string
	for _, name := range names {
		meant := partsOf(name)
		if len(meant) == 0 {
			return nil, fmt.Errorf("no part %q of the firmware; %s", name, suggest(name, append(folders(all), all...), "the parts are"))
		}
		chosen = append(chosen, meant...)
	}
	return slices.DeleteFunc(all, func(p string) bool { return !slices.Contains(chosen, p) }), nil
}

// NameParts names parts, those of a whole folder by the folder: "bench and conform".
func NameParts(parts []string) string { return strings.Join(shortParts(parts), " and ") }

// shortParts replaces the parts of a whole folder by the folder, the largest that it
// can. parts are in the order of Parts, in which those of a folder follow one another.
func shortParts(parts []string) []string {
	short := slices.Clone(parts)
	for _, folder := range folders(Parts()) {
		below := partsOf(folder)
		if at := slices.Index(short, below[0]); at >= 0 && at+len(below) <= len(short) && slices.Equal(short[at:at+len(below)], below) {
			short = slices.Replace(short, at, at+len(below), folder)
		}
	}
	return short
}

// partsOf returns the parts that a name means: that of a part, or of the folder of several.
func partsOf(name string) []string {
	return slices.DeleteFunc(Parts(), func(p string) bool { return p != name && !strings.HasPrefix(p, name+"/") })
}

// folders returns the folders that the parts are in, each once and before those in it.
func folders(parts []string) (all []string) {
	for _, p := range parts {
		for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
			all = append(all, dir)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// write makes a module in the folder dir whose main package is the firmware for the
// board, with the implementation and the parts. It compiles with the language
// version goVersion and nothing but the standard library.
//
// The packages are copied, each module of them into a folder of its own, instead of
// naming the checkout in a replace directive: a TinyGo that is a year old has a Go
// that refuses the checkout's go.mod, and that of other modules, although the
// packages for boards use nothing that is new. And an image is then of sources that
// is not edited in the meantime.
func (c Checkout) write(ctx context.Context, dir string, b Board, impl string, parts []string, goVersion string) error {
	imports := []string{module + "/hw/firmware", module + "/hw/boards/" + b.Name, module + "/impls/" + impl}
	if b.Kind == kindTinyGo {
		imports = append(imports, module+gcroots)
	}
	for _, p := range parts {
		imports = append(imports, module+"/hw/firmware/"+p)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(mainFile(b, impl, parts)), 0o644); err != nil {
		return err
	}
	w := &copier{
		ctx: ctx, from: c, to: dir, done: make(map[string]bool),
		modules: map[string]string{module: c.Dir}, folders: map[string]string{module: "dyno"},
	}
	for _, i := range imports {
		if err := w.take(i); err != nil {
			return err
		}
	}
	lang := strings.TrimPrefix(goVersion, "go")
	var mod strings.Builder
	fmt.Fprintf(&mod, "module firmware\n\ngo %s\n", lang)
	for _, m := range w.order {
		fmt.Fprintf(&mod, "\nrequire %s v0.0.0\n\nreplace %s => ./%s\n", m, m, w.folders[m])
		gomod := fmt.Sprintf("module %s\n\ngo %s\n", m, lang)
		if err := os.WriteFile(filepath.Join(dir, w.folders[m], "go.mod"), []byte(gomod), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod.String()), 0o644)
}

// gcroots is where, below the module, the function is that buildFlags has TinyGo's
// linker wrap around its collector's.
const gcroots = "/hw/gcroots"

// mainFile is the main package of an image.
func mainFile(board Board, impl string, parts []string) string {
	var b strings.Builder
	b.WriteString("// Command firmware is what " + board.Name + " runs. It is made by benchrun.\npackage main\n\nimport (\n")
	line := func(name, path string) { b.WriteString("\t" + name + " " + strconv.Quote(module+path) + "\n") }
	line("board", "/hw/boards/"+board.Name)
	line("firmware", "/hw/firmware")
	for _, p := range parts {
		line(identifier(p), "/hw/firmware/"+p)
	}
	line("impl", "/impls/"+impl)
	if board.Kind == kindTinyGo {
		line("_", gcroots)
	}
	b.WriteString(")\n\nvar commit, toolchain string // by -ldflags=-X\n\nfunc main() {\n")
	b.WriteString("\tfirmware.Main(board.Board(), impl.Impl, firmware.Build{Commit: commit, Toolchain: toolchain}")
	for _, p := range parts {
		b.WriteString(", " + identifier(p) + ".Cases(impl.Impl)")
	}
	b.WriteString(")\n}\n")
	return b.String()
}

// identifier is what the main package calls a part: two of them may have the same
// package name.
func identifier(part string) string { return strings.ReplaceAll(part, "/", "_") }

// A copier copies packages, with all that they import.
type copier struct {
	ctx     context.Context
	from    Checkout
	to      string
	done    map[string]bool   // by import path
	modules map[string]string // the folder of a module's sources, by its path
	folders map[string]string // and that of the copy, below to
	order   []string          // modules of which something was copied
}

// take copies a package and what it imports, but for the standard library.
func (w *copier) take(importPath string) error {
	if w.done[importPath] {
		return nil
	}
	w.done[importPath] = true
	m, err := w.module(importPath)
	if err != nil {
		return err
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(importPath, m), "/")
	source := filepath.Join(w.modules[m], filepath.FromSlash(rel))
	target := filepath.Join(w.to, w.folders[m], filepath.FromSlash(rel))
	entries, err := os.ReadDir(source)
	if errors.Is(err, fs.ErrNotExist) {
		return failed(BuildFailed, fmt.Sprintf("there is no package %s in %s", importPath, w.modules[m]), nil)
	}
	if err != nil {
		return err
	}
	if !slices.Contains(w.order, m) {
		w.order = append(w.order, m)
	}
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(source, e.Name()))
		if err != nil {
			return err
		}
		if strings.HasSuffix(e.Name(), ".go") {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(source, e.Name()), data, parser.ImportsOnly)
			if err != nil {
				return failed(BuildFailed, err.Error(), nil)
			}
			if f.Name.Name == "main" {
				continue // a generator
			}
			// All files count, whatever their build constraints: TinyGo's tags are its
			// own affair.
			for _, spec := range f.Imports {
				p, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					continue // the parser has accepted it
				}
				if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") {
					if err := w.take(p); err != nil {
						return err
					}
				}
			}
		}
		if err := os.WriteFile(filepath.Join(target, e.Name()), data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// module returns the path of the module that a package is in, and notes its folders.
func (w *copier) module(importPath string) (string, error) {
	for m := importPath; m != "." && m != "/"; m = path.Dir(m) {
		if w.modules[m] != "" {
			return m, nil
		}
	}
	m, dir, said, err := goList(w.ctx, w.from.Dir, "-f", "{{with .Module}}{{.Path}}\n{{.Dir}}{{end}}", importPath)
	if err != nil || dir == "" {
		return "", &Error{Outcome: BuildFailed, What: "the package " + importPath + " is not to be found", Output: said, Err: err}
	}
	w.modules[m] = dir
	w.folders[m] = "module" + strconv.Itoa(len(w.folders))
	return m, nil
}
