package testbin

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/build"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
)

// A Binary is a compiled test binary.
type Binary struct {
	Pkg  string // import path
	Dir  string // the package's folder, where its tests run
	Path string // of the binary
	Hash string // SHA-256 of the binary, in hexadecimal

	// Source is a digest of the sources of what its benchmarks do and are compared to; ""
	// if it is not known. See sourcesOf.
	Source string

	Side string // which of two versions this is, as in Case; "" if there is one

	// Env is added to the environment of its processes, as "KEY=value".
	Env []string

	// Layouts are the same program, linked with its functions in different orders;
	// the first one is Path. Empty means that there is only that.
	Layouts []Image

	made       *builder // that can link it anew; nil if it was built already
	importPath string   // import path by which that knows it

	// Undrivable says why its benchmarks cannot be driven; nil if they can. It
	// wraps program.ErrUnsupported.
	Undrivable error
}

// An Image is a binary.
type Image struct{ Path, Hash string }

// Prebuilt reports whether the subject was built already, and so is not built or linked
// anew.
func (s Binary) Prebuilt() bool { return s.made == nil }

// in returns the subject in the given layout.
func (s Binary) in(layout int) Binary {
	if layout < len(s.Layouts) {
		s.Path, s.Hash = s.Layouts[layout].Path, s.Layouts[layout].Hash
	}
	return s
}

// ID tells the subjects of a run apart: by package, and side if there are two.
func (s Binary) ID() string { return record.SubjectID(s.Pkg, s.Side) }

// Hashes returns the hash of each of the subject's binaries: of Path by the
// subject's ID, of other layouts by that and their number.
func (s Binary) Hashes() map[string]string {
	name := s.ID()
	hashes := map[string]string{name: s.Hash}
	for i, l := range s.Layouts {
		if i > 0 {
			hashes[name+" layout="+strconv.Itoa(i)] = l.Hash
		}
	}
	return hashes
}

// A BuildProblem says why a package gave no subject.
type BuildProblem struct {
	Pkg    string
	Reason string // one line
	Output string // what the compiler said, if it did; ends with a newline

	// Untested means that the package has no tests, so that nothing was due, and
	// Unknown that there is no such package.
	Untested, Unknown bool
}

// String is what is to be said of it, once: the reason is mostly the first line of the output.
func (p BuildProblem) String() string {
	if said := strings.TrimSpace(p.Output); said == "" || said == p.Reason {
		return p.Reason
	}
	return p.Reason + "\n" + strings.TrimRight(p.Output, "\n")
}

// BuildOptions say what kind of subjects are built. The zero value is for
// subjects that are measured in processes of their own.
type BuildOptions struct {
	// Driven asks for subjects whose benchmarks can be driven. Where that is not
	// possible they say why in Undrivable.
	Driven bool
	// Side is that of the subjects.
	Side string

	// Env is what the go command gets in addition to the environment, as
	// "KEY=value", and RunEnv what the subjects' processes get.
	Env, RunEnv []string

	// Cache keeps binaries for the next Build; nil means that nothing does.
	Cache *BuildCache
	// Source identifies the sources of all packages and of what they import. If it is "",
	// or GOFLAGS have no -trimpath, only layouts come from the cache as they are; the go command
	// is asked whether the program is what was built last.
	Source string
}

// A builder is the go command in a folder, as BuildOptions have it.
type builder struct {
	dir      string
	goTool   string // the go command; "" is that of PATH
	options  BuildOptions
	settings map[string]string // what go env says
	overlay  string            // path, "" for none
	sources  string            // all that decides what is compiled, "" if that is not known
}

// readSettings asks the go command once for all that is to be known of it.
func (b *builder) readSettings(ctx context.Context) error {
	said, err := child.GoEnv(ctx, b.dir, append(os.Environ(), b.options.Env...), cmp.Or(b.goTool, "go"))
	if err != nil {
		return err
	}
	b.settings = said
	return nil
}

// std is the folder of a package of the standard library.
func (b *builder) std(pkg string) string {
	return filepath.Join(b.settings["GOROOT"], "src", filepath.FromSlash(pkg))
}

// goCommand returns the go command with args, to be run in the builder's folder.
func (b *builder) goCommand(ctx context.Context, args ...string) *exec.Cmd {
	return child.Command(ctx, b.dir, append(os.Environ(), b.options.Env...), cmp.Or(b.goTool, "go"), args...)
}

// says runs the go command with args, and returns what it prints.
func (b *builder) says(ctx context.Context, args ...string) (string, error) {
	return child.Says(ctx, b.dir, append(os.Environ(), b.options.Env...), cmp.Or(b.goTool, "go"), args...)
}

// Build compiles the tests of the packages that match patterns, as the go
// command in dir understands them, into the folder out, which no other Build
// must use. A package that cannot be built, or has no tests, is a problem and not
// an error: the others are built all the same. It is an error if the patterns
// match nothing.
//
// Patterns may also name files that are built already, as record.Files has them: what is
// wrong with one of those is an error. They are not linked anew.
//
// A pattern that begins with a dot, or is an absolute path, may lead into another module than
// that of dir: its packages are compiled there.
func Build(ctx context.Context, dir, out string, patterns []string, o BuildOptions) ([]Binary, []BuildProblem, error) {
	for _, p := range patterns {
		if strings.HasPrefix(p, "-") {
			return nil, nil, fmt.Errorf("package %q begins with a hyphen; flags come before packages", p)
		}
		if strings.HasSuffix(p, ".go") {
			return nil, nil, fmt.Errorf("%s is a file; name the package it is in, such as ./%s", p, filepath.ToSlash(filepath.Dir(p)))
		}
	}
	patterns, files := record.SplitFiles(patterns)
	if len(files.Programs) > 0 {
		return nil, nil, fmt.Errorf("%s is a program that speaks the driving protocol: what needs a Go package, such as profiles, is not to be had of it", files.Programs[0])
	}
	ready, err := Prebuilt(files.Binaries, files.Dir)
	for i := range ready {
		ready[i].Env = o.RunEnv
	}
	if err != nil || len(patterns) == 0 && len(ready) > 0 {
		return ready, nil, err
	}
	var built []Binary
	var problems []BuildProblem
	for i, part := range byModule(dir, patterns) {
		in := out
		if i > 0 { // each has its overlay, and numbers its packages
			in = filepath.Join(out, "module"+strconv.Itoa(i))
			if err := os.Mkdir(in, 0o755); err != nil {
				return nil, nil, err
			}
		}
		more, faults, err := buildModule(ctx, part.dir, in, part.patterns, o)
		if err != nil {
			return nil, nil, err
		}
		built, problems = append(built, more...), append(problems, faults...)
	}
	for _, s := range ready {
		if slices.ContainsFunc(built, func(o Binary) bool { return o.Pkg == s.Pkg }) {
			return nil, nil, fmt.Errorf("%s is of the package %s, which is measured itself: a run has one binary of each", s.Path, s.Pkg)
		}
	}
	return append(built, ready...), problems, nil
}

// inModule are patterns, as the go command in dir understands them.
type inModule struct {
	dir      string
	patterns []string
}

// byModule tells patterns apart by the module that they lead into. The first is that of dir,
// as long as a pattern is left to it.
func byModule(dir string, patterns []string) []inModule {
	all := []inModule{{dir: dir}}
	own := moduleAbove(dir)
	for _, p := range patterns {
		root, rest := elsewhere(dir, own, p)
		if root == "" {
			all[0].patterns = append(all[0].patterns, p)
			continue
		}
		at := slices.IndexFunc(all, func(m inModule) bool { return m.dir == root })
		if at < 0 {
			at = len(all)
			all = append(all, inModule{dir: root})
		}
		all[at].patterns = append(all[at].patterns, rest)
	}
	if len(all[0].patterns) == 0 && len(all) > 1 {
		return all[1:]
	}
	return all
}

// elsewhere returns the root of the module that a pattern leads into, and what the packages
// are called there; "" if that is own, the module of dir, or none.
func elsewhere(dir, own, pattern string) (root, rest string) {
	if !build.IsLocalImport(pattern) && !filepath.IsAbs(pattern) {
		return "", ""
	}
	folder, end, wild := strings.Cut(pattern, "...")
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(dir, folder)
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return "", ""
	}
	if root = moduleAbove(folder); root == own || root == "" {
		return "", ""
	}
	rest, err = filepath.Rel(root, folder)
	if err != nil {
		return "", ""
	}
	rest = "./" + filepath.ToSlash(rest)
	if wild {
		rest += "/..." + end
	}
	return root, rest
}

// moduleAbove returns the nearest folder with a go.mod, of folder and those above it, as an
// absolute path; "" if there is none.
func moduleAbove(folder string) string {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		above := filepath.Dir(folder)
		if above == folder {
			return ""
		}
		folder = above
	}
}

// buildModule is Build for packages of one module.
func buildModule(ctx context.Context, dir, out string, patterns []string, o BuildOptions) ([]Binary, []BuildProblem, error) {
	b := &builder{dir: dir, options: o}
	pkgs, err := b.list(ctx, patterns)
	if err != nil {
		return nil, nil, err
	}
	if err := b.readSettings(ctx); err != nil {
		return nil, nil, err
	}
	var undrivable error
	if o.Driven {
		b.overlay, undrivable = b.writeOverlay(ctx, out)
		if undrivable != nil && !errors.Is(undrivable, program.ErrUnsupported) {
			return nil, nil, undrivable
		}
	}
	sources := b.sourcesOf(ctx, pkgs)
	built, faults, err := b.compile(ctx, out, pkgs)
	if err != nil {
		return nil, nil, err
	}
	if b.overlay != "" && slices.ContainsFunc(faults, (*BuildProblem).compiling) {
		// It may be the overlay that does not compile. That is looked at here, and not
		// before: it takes as long as compiling a small package does.
		if undrivable = b.fits(ctx); undrivable != nil && !errors.Is(undrivable, program.ErrUnsupported) {
			return nil, nil, undrivable
		}
		if undrivable != nil {
			b.overlay = ""
			if built, faults, err = b.compile(ctx, out, pkgs); err != nil {
				return nil, nil, err
			}
		}
	}
	var subjects []Binary
	var problems []BuildProblem
	for i, s := range built {
		if faults[i] != nil {
			problems = append(problems, *faults[i])
		} else {
			s.Source, s.Undrivable = sources[pkgs[i].ImportPath], cmp.Or(undrivable, s.Undrivable)
			subjects = append(subjects, s)
		}
	}
	return subjects, problems, nil
}

// compile compiles the tests of pkgs into the folder out: of each there is a subject, or a
// fault.
func (b *builder) compile(ctx context.Context, out string, pkgs []goPackage) ([]Binary, []*BuildProblem, error) {
	built := make([]Binary, len(pkgs))
	faults := make([]*BuildProblem, len(pkgs))
	b.sources = b.describe()
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i, p := range pkgs {
		if p.Error != nil {
			_, err := os.Stat(p.Dir)
			said := p.Error.Err
			if p.Error.Pos != "" && !strings.HasPrefix(said, p.Error.Pos) {
				said = p.Error.Pos + ": " + said
			}
			faults[i] = &BuildProblem{Pkg: p.ImportPath, Reason: firstLine(said), Output: withNewline(said), Unknown: err != nil}
			continue
		}
		if len(p.TestGoFiles)+len(p.XTestGoFiles) == 0 {
			faults[i] = &BuildProblem{Pkg: p.ImportPath, Reason: "has no test files, so no benchmarks", Untested: true}
			continue
		}
		work.Go(func() (err error) {
			s := Binary{Pkg: p.ImportPath, Dir: p.Dir, Side: b.options.Side, Env: b.options.RunEnv, made: b, importPath: p.ImportPath}
			image, said, err := b.goTest(ctx, s, filepath.Join(out, "subject"+strconv.Itoa(i)))
			if said != "" {
				faults[i] = &BuildProblem{Pkg: p.ImportPath, Reason: doesNotBuild, Output: said}
			}
			s.Path, s.Hash = image.Path, image.Hash
			if err == nil && said == "" {
				s.Undrivable, err = b.notApplied(s.Path)
			}
			built[i] = s
			return err
		})
	}
	return built, faults, work.Wait()
}

// doesNotBuild is the Reason of what the compiler does not take.
const doesNotBuild = "does not build"

// compiling reports whether p is of the compiler.
func (p *BuildProblem) compiling() bool { return p != nil && p.Reason == doesNotBuild }

// Link makes layouts of subjects that Build has made, in the folders where these are: n of
// each, from number first on. Number 0 is the one that is there. Those that were built
// already stay as they are.
//
// It takes linking only, because the go command's cache has the rest, and half of that
// work is left out with what debuggers read. Profiles do not need it. It may take longer than
// measuring does, so progress, if it is not nil, is called with how many of how many are
// linked, by one goroutine at a time.
func Link(ctx context.Context, subjects []Binary, first, n int, progress func(linked, of int)) error {
	made := slices.IndexFunc(subjects, func(s Binary) bool { return !s.Prebuilt() })
	if first == 0 && n <= 1 || made < 0 {
		return nil
	}
	// A flag of ours takes the place of one in GOFLAGS.
	ldflags := flagIn(subjects[made].made.settings["GOFLAGS"], "-ldflags")
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	all := 0
	for _, s := range subjects {
		if !s.Prebuilt() {
			all += n
			if first == 0 {
				all--
			}
		}
	}
	var mu sync.Mutex // guards linked, and calls progress
	linked := 0
	one := func() {
		mu.Lock()
		defer mu.Unlock()
		if linked++; progress != nil {
			progress(linked, all)
		}
	}
	for i, s := range subjects {
		if s.Prebuilt() {
			continue
		}
		layouts := make([]Image, n)
		subjects[i].Layouts = layouts
		path := strings.TrimSuffix(strings.TrimSuffix(s.Path, ".exe"), ".test")
		for l := range layouts {
			number := strconv.Itoa(first + l)
			if number == "0" {
				layouts[l] = Image{s.Path, s.Hash}
				continue
			}
			work.Go(func() error {
				flag := "-ldflags=" + strings.TrimSpace(ldflags+" -s -w -randlayout="+number)
				image, said, err := s.made.goTest(ctx, s, path+"-"+number, flag)
				if said != "" {
					return fmt.Errorf("linking %s with its functions in another order: %s", s.Pkg, said)
				}
				layouts[l] = image
				if err == nil {
					one()
				}
				return err
			})
		}
	}
	return work.Wait()
}

// goTest compiles the tests of s as path with an ending, or if they are compiled
// already, links them with other flags. said is what the go command says if it
// fails.
func (b *builder) goTest(ctx context.Context, s Binary, path string, flags ...string) (image Image, said string, err error) {
	image.Path = path + ".test"
	if runtimeIsWindows {
		image.Path += ".exe"
	}
	key, cached := b.key(s.importPath, s.Hash, flags)
	if cached {
		if image.Hash = b.options.Cache.get(key, image.Path); image.Hash != "" {
			return image, "", nil
		}
	}
	last := ""
	if b.options.Cache != nil && !cached && len(flags) == 0 {
		// The go command links nothing where it finds what it would link.
		key, cached = b.lastKey(s.importPath), true
		last = b.options.Cache.get(key, image.Path)
	}
	// What vet finds is no reason not to measure, and an old version may well have it.
	args := append([]string{"test", "-c", "-vet=off", "-o", image.Path}, flags...)
	if b.overlay != "" {
		args = append(args, "-overlay", b.overlay)
	}
	cmd := b.goCommand(ctx, append(args, s.importPath)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return Image{}, "", context.Cause(ctx)
		}
		return Image{}, cmp.Or(out.String(), err.Error()+"\n"), nil
	}
	if image.Hash, err = program.HashFile(image.Path); err != nil {
		return image, "", err
	}
	if cached && image.Hash != last {
		b.options.Cache.put(key, image.Path)
	}
	return image, "", nil
}

// flagIn returns the value of a flag in GOFLAGS, which is quoted where it has
// spaces: a=b '-ldflags=-s -w'.
func flagIn(goflags, flag string) string {
	value := ""
	for goflags = strings.TrimSpace(goflags); goflags != ""; goflags = strings.TrimSpace(goflags) {
		var word string
		if q := goflags[0]; q == '\'' || q == '"' {
			word, goflags, _ = strings.Cut(goflags[1:], string(q))
		} else {
			word, goflags, _ = strings.Cut(goflags, " ")
		}
		if v, ok := strings.CutPrefix(word, flag+"="); ok {
			value = v
		} else if v, ok := strings.CutPrefix(word, "-"+flag+"="); ok {
			value = v
		}
	}
	return value
}

// ErrNoPackage is the error of patterns that match nothing, wrapped.
var ErrNoPackage = errors.New("no package matches")

// goPackage is what go list says of a package.
type goPackage struct {
	ImportPath, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
	Error                              *struct{ Pos, Err string }
}

func (b *builder) list(ctx context.Context, patterns []string) ([]goPackage, error) {
	args := append([]string{"list", "-e", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports,Error", "--"}, patterns...)
	said, err := b.says(ctx, args...)
	if err != nil {
		return nil, err
	}
	var pkgs []goPackage
	for dec := json.NewDecoder(strings.NewReader(said)); ; {
		var p goPackage
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			if len(pkgs) == 0 {
				return nil, fmt.Errorf("%w %s", ErrNoPackage, strings.Join(patterns, " "))
			}
			return pkgs, nil
		case err != nil:
			return nil, fmt.Errorf("reading the output of go list: %w", err)
		}
		pkgs = append(pkgs, p)
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

func withNewline(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}
