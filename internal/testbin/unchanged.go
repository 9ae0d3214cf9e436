package testbin

import (
	"bytes"
	"cmp"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/dynolab/dyno/internal/program"
)

// A Choice is benchmarks of a package, by the names of their functions.
type Choice struct {
	Old, New   Binary // of one package, which differ
	Benchmarks []string

	Unchanged []string // of Benchmarks, those of which nothing that they can reach differs
	Why       string   // why that cannot be told, or why it is none; "" if there is no more to say
}

// Unchanged finds, of each choice, the benchmarks of which nothing that they can reach differs in
// the two binaries. Its files go into the folder out, which nothing else must use. Whenever it is in
// doubt a benchmark is not among them. It is an error only if ctx ends.
//
// What a benchmark can reach is what the linker does not leave out of a program that has this
// benchmark and nothing else of the package's tests: package initialization, TestMain, and by the
// linker's own rules methods that are called through interfaces or by reflection. Such programs
// are linked of both sides, and are equal to the byte or not. Of what is linked the line numbers
// are taken out, which move with any line above.
//
// That says all of what the benchmark executes but for three things. Two decide for the whole
// package: the size of all variables of the program, which the collector looks at, reached or not;
// and maps of package level, which the linker leaves out of the small program and not of the large
// one, so the compiler is told that it must not. The third, files that a benchmark may read, is left to the caller.
func Unchanged(ctx context.Context, out string, choices []Choice) error {
	var sides [2]map[string]*sifter
	work, linking := errgroup.WithContext(ctx)
	for i := range sides {
		work.Go(func() error {
			var binaries []Binary
			for _, c := range choices {
				binaries = append(binaries, []Binary{c.Old, c.New}[i])
			}
			var err error
			sides[i], err = sift(linking, filepath.Join(out, strconv.Itoa(i)), binaries)
			return err
		})
	}
	err := work.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for i := range choices {
		c := &choices[i]
		if err != nil {
			c.Why = firstLine(err.Error())
			continue
		}
		if c.find(ctx, sides[0][c.Old.importPath], sides[1][c.New.importPath]); ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// find fills in Unchanged, or Why.
func (c *Choice) find(ctx context.Context, old, now *sifter) {
	switch {
	case c.Old.importPath != c.New.importPath:
		c.Why = "the package has another path"
		return
	case old == nil || now == nil:
		c.Why = "its tests cannot be linked anew"
		return
	}
	if err := sameRoots(c.Old.Path, c.New.Path); err != nil {
		c.Why = err.Error()
		return
	}
	if !maps.Equal(old.foreign, now.foreign) {
		c.Why = "it is built of other packages"
		return
	}
	equal := func(names []string) bool {
		var hashes [2]string
		var work errgroup.Group
		for i, s := range []*sifter{old, now} {
			work.Go(func() (err error) {
				hashes[i], err = s.link(ctx, names)
				return err
			})
		}
		if err := work.Wait(); err != nil {
			c.Why = firstLine(err.Error())
			return false
		}
		return hashes[0] == hashes[1]
	}
	if !equal(nil) {
		c.Why = cmp.Or(c.Why, "what all of its tests share differs, such as the initialization of packages")
		return
	}
	c.Unchanged = halve(c.Benchmarks, equal)
}

// halve returns those of names of which equal holds. If it holds of several it holds of each.
func halve(names []string, equal func([]string) bool) []string {
	switch {
	case len(names) == 0 || equal(names):
		return names
	case len(names) == 1:
		return nil
	}
	half := len(names) / 2
	return slices.Concat(halve(names[:half], equal), halve(names[half:], equal))
}

// fewRoots is by how many bytes the variables of two programs may differ: to look at as many takes
// a collection a microsecond, and it has more to do than that.
const fewRoots = 4 << 10

// sameRoots returns an error if the collector looks at more variables in one of the programs.
func sameRoots(old, now string) error {
	var size [2]int64
	for i, path := range []string{old, now} {
		f, err := elf.Open(path)
		if err != nil {
			return errors.New("the size of its variables cannot be read") // on another system
		}
		for _, name := range []string{".data", ".bss"} {
			if s := f.Section(name); s != nil {
				size[i] += int64(s.Size)
			}
		}
		_ = f.Close()
	}
	if d := size[1] - size[0]; d < -fewRoots || d > fewRoots {
		return fmt.Errorf("its variables take %d bytes in one version and %d in the other, which collections look at", size[0], size[1])
	}
	return nil
}

// A sifter links the tests of a package anew, with some of its benchmarks.
type sifter struct {
	b       *builder
	dir     string            // of its files
	main    string            // the test main that the go command makes
	config  string            // the path of what the linker is given to link
	whole   bool              // its tests are kept: it may run itself
	foreign map[string]string // content of the packages that are not of the module, by import path
}

// plainFlags are those of GOFLAGS that are known to change nothing that is done here by hand: -s and
// -w are of the linker.
var plainFlags = regexp.MustCompile(`^--?((trimpath|mod|modfile|tags|buildvcs|p|vet)(=.*)?|ldflags=-[sw]|[sw])$`)

// sift returns the sifters of binaries that Build has made together, by import path.
func sift(ctx context.Context, out string, binaries []Binary) (map[string]*sifter, error) {
	b := binaries[0].made
	var pkgs []string
	for _, s := range binaries {
		if s.made != b || b == nil {
			return nil, errors.New("the packages are of several modules, or were built already")
		}
		pkgs = append(pkgs, s.importPath)
	}
	if !strings.Contains(b.settings["GOFLAGS"], "-trimpath") {
		return nil, errors.New("without -trimpath the programs know in which folder they were built")
	}
	for flag := range strings.FieldsSeq(b.settings["GOFLAGS"]) {
		if !plainFlags.MatchString(strings.Trim(flag, `'"`)) {
			return nil, fmt.Errorf("GOFLAGS has %s", flag)
		}
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	all, err := b.listAll(ctx, pkgs)
	if err != nil {
		return nil, err
	}
	lines, err := b.withoutLines(out, all)
	if err != nil {
		return nil, err
	}
	args := []string{"-export", "-overlay=" + lines.overlay}
	for _, path := range lines.modules {
		// A map that nothing reaches is not made in the small program, and is in the large one.
		args = append(args, "-gcflags="+path+"/...=-d=wrapglobalmapctl=1")
	}
	built, err := b.listAll(ctx, pkgs, args...)
	if err != nil {
		return nil, err
	}
	sifters := make(map[string]*sifter)
	for i, pkg := range pkgs {
		s := &sifter{b: b, dir: filepath.Join(out, strconv.Itoa(i)), whole: lines.runItself, foreign: make(map[string]string)}
		main, ok := built[pkg+".test"]
		if !ok || len(main.GoFiles) != 1 {
			continue
		}
		if err := os.Mkdir(s.dir, 0o755); err != nil {
			return nil, err
		}
		text, err := os.ReadFile(in(main.Dir, main.GoFiles[0]))
		if err != nil {
			return nil, err
		}
		s.main, s.config = string(text), filepath.Join(s.dir, "importcfg")
		var config strings.Builder
		for _, dep := range main.Deps {
			p := built[dep]
			path, _, _ := strings.Cut(dep, " ") // "x [y.test]" is x, compiled for the tests of y
			if p.Export == "" {
				continue // unsafe
			}
			fmt.Fprintf(&config, "packagefile %s=%s\n", path, p.Export)
			if !lines.own[path] {
				_, s.foreign[path], _ = strings.Cut(p.BuildID, "/")
			}
		}
		if err := os.WriteFile(s.config, []byte(config.String()), 0o644); err != nil {
			return nil, err
		}
		sifters[pkg] = s
	}
	return sifters, nil
}

// in is a path in a folder, unless it is absolute.
func in(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// A sifted is what go list says of a package that is to be linked anew.
type sifted struct {
	ImportPath, Dir, ForTest           string
	GoFiles, TestGoFiles, XTestGoFiles []string
	CgoFiles                           []string
	Deps                               []string
	Standard                           bool
	Module                             *struct {
		Path    string
		Main    bool
		Replace *struct{ Version string }
	}

	Export, BuildID string // of what is compiled
}

// listAll lists what the tests of pkgs are built of, by import path.
func (b *builder) listAll(ctx context.Context, pkgs []string, args ...string) (map[string]sifted, error) {
	fields := "-json=ImportPath,Dir,ForTest,GoFiles,TestGoFiles,XTestGoFiles,CgoFiles,Deps,Standard,Module,Export,BuildID"
	said, err := b.says(ctx, slices.Concat([]string{"list", "-deps", "-test", fields}, args, []string{"--"}, pkgs)...)
	if err != nil {
		return nil, err
	}
	all := make(map[string]sifted)
	for dec := json.NewDecoder(strings.NewReader(said)); ; {
		var p sifted
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("reading the output of go list: %w", err)
		}
		all[p.ImportPath] = p
	}
}

// A lineless is sources without line numbers.
type lineless struct {
	overlay   string          // the path of an overlay of them, and of the builder's
	modules   []string        // paths of the modules that have them
	own       map[string]bool // import paths of the packages that have them
	runItself bool            // some of them may start the program that they are in
}

// withoutLines writes the sources of the packages that are not of a fixed version of a module, in
// which each declaration begins with line 1, into the folder out.
func (b *builder) withoutLines(out string, all map[string]sifted) (l lineless, err error) {
	var o struct{ Replace map[string]string }
	if b.overlay != "" {
		text, err := os.ReadFile(b.overlay)
		if err == nil {
			err = json.Unmarshal(text, &o)
		}
		if err != nil {
			return l, err
		}
	}
	if o.Replace == nil {
		o.Replace = make(map[string]string)
	}
	l.own = make(map[string]bool)
	n := 0
	for _, path := range slices.Sorted(maps.Keys(all)) {
		p := all[path]
		if m := p.Module; p.Standard || p.ForTest != "" || strings.HasSuffix(path, ".test") || m == nil || !m.Main && (m.Replace == nil || m.Replace.Version != "") {
			continue
		}
		if len(p.CgoFiles) > 0 {
			return l, fmt.Errorf("%s has C code", path)
		}
		l.own[path], l.own[path+"_test"] = true, true
		if !slices.Contains(l.modules, p.Module.Path) {
			l.modules = append(l.modules, p.Module.Path)
		}
		for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			file := in(p.Dir, name)
			text, err := os.ReadFile(file)
			if err != nil {
				return l, err
			}
			if _, ok := o.Replace[file]; ok {
				return l, fmt.Errorf("GOFLAGS has an overlay of %s", name)
			}
			for _, reads := range readsSources {
				if bytes.Contains(text, []byte(reads)) {
					return l, fmt.Errorf("%s imports %s, so it may read what differs", path, strings.Trim(reads, `"`))
				}
			}
			l.runItself = l.runItself || bytes.Contains(text, []byte("os.Executable")) || bytes.Contains(text, []byte("os.Args"))
			n++
			o.Replace[file] = filepath.Join(out, fmt.Sprintf("lineless%d.go", n))
			if err := os.WriteFile(o.Replace[file], fromLineOne(text), 0o644); err != nil {
				return l, err
			}
		}
	}
	text, err := json.Marshal(o)
	if err != nil {
		return l, err
	}
	l.overlay = filepath.Join(out, "lineless.json")
	return l, os.WriteFile(l.overlay, text, 0o644)
}

// readsSources are imports of programs that may read Go files.
var readsSources = []string{`"go/parser"`, `"go/build"`, `"golang.org/x/tools/go/packages"`}

// fromLineOne returns a Go file in which each declaration begins with line 1: it is the same
// whatever stands above. What cannot be parsed stays as it is.
func fromLineOne(text []byte) []byte {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "", text, parser.SkipObjectResolution)
	if err != nil {
		return text
	}
	var starts []int // offsets
	add := func(n ast.Node) {
		p := set.PositionFor(n.Pos(), false)
		if p.Column == 1 || len(bytes.TrimSpace(text[p.Offset-p.Column+1:p.Offset])) == 0 {
			starts = append(starts, p.Offset-p.Column+1)
		}
	}
	for _, d := range f.Decls {
		group, ok := d.(*ast.GenDecl)
		switch {
		case !ok:
			add(d)
		case group.Tok == token.VAR && group.Lparen.IsValid():
			for _, s := range group.Specs {
				add(s)
			}
		case group.Tok != token.IMPORT:
			add(d)
		}
	}
	var b bytes.Buffer
	last := 0
	for _, at := range starts {
		b.Write(text[last:at])
		b.WriteString("//line x:1\n")
		last = at
	}
	b.Write(text[last:])
	return b.Bytes()
}

// entry matches a line of the lists of a test main: its groups are the name and the package's.
var entry = regexp.MustCompile(`^\s*\{"(\w+)", (_x?test)\.\w+[,}]`)

// testMain returns the test main with these benchmarks, and without tests unless they are kept.
func (s *sifter) testMain(benchmarks []string) string {
	var b strings.Builder
	used := make(map[string]bool)
	var imports []string
	for line := range strings.Lines(s.main) {
		m := entry.FindStringSubmatch(line)
		switch {
		case strings.TrimSpace(line) == "": // there are more around more tests
			continue
		case m != nil && strings.HasPrefix(m[1], "Benchmark") && !slices.Contains(benchmarks, m[1]):
			continue
		case m != nil && !strings.HasPrefix(m[1], "Benchmark") && !s.whole:
			continue
		}
		for _, name := range []string{"_test", "_xtest"} {
			if strings.HasPrefix(strings.TrimSpace(line), name+" ") {
				imports = append(imports, name)
			} else if strings.Contains(line, name+".") {
				used[name] = true
			}
		}
		b.WriteString(line)
	}
	text := b.String()
	for _, name := range imports {
		if !used[name] {
			text = strings.Replace(text, "\t"+name+" ", "\t_ ", 1)
		}
	}
	return text
}

// link links the tests with these benchmarks, and returns the hash of the program.
func (s *sifter) link(ctx context.Context, benchmarks []string) (hash string, err error) {
	source, object, binary := filepath.Join(s.dir, "_testmain.go"), filepath.Join(s.dir, "main.a"), filepath.Join(s.dir, "main.exe")
	if err := os.WriteFile(source, []byte(s.testMain(benchmarks)), 0o644); err != nil {
		return "", err
	}
	if _, err := s.b.says(ctx, "tool", "compile", "-p", "main", "-complete", "-pack", "-trimpath", s.dir, "-importcfg", s.config, "-o", object, source); err != nil {
		return "", err
	}
	if _, err := s.b.says(ctx, "tool", "link", "-s", "-w", "-buildid=", "-importcfg", s.config, "-o", binary, object); err != nil {
		return "", err
	}
	return program.HashFile(binary)
}
