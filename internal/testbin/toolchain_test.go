package testbin

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/record"
)

// fetched returns the environment that has the go command use a release, which it fetches. The
// test is skipped where it cannot, and by day: what another release compiles of the standard library
// takes most of a minute of a processor.
func fetched(t *testing.T, release string) string {
	t.Helper()
	if os.Getenv("DYNO_NIGHTLY") == "" {
		t.Skip("with DYNO_NIGHTLY only")
	}
	return fetchedByDay(t, release)
}

// fetchedByDay is fetched where nothing is compiled.
func fetchedByDay(t *testing.T, release string) string {
	t.Helper()
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	env := "GOTOOLCHAIN=" + release
	if said, err := (&builder{options: BuildOptions{Env: []string{env}}}).says(ctx, "version"); err != nil || !strings.Contains(said, release) {
		t.Skipf("%s cannot be fetched here: %s %v", release, said, err)
	}
	return env
}

// linksIn has links to toolchains made in a cache folder of the test's own.
func linksIn(t *testing.T) (folder string) {
	t.Helper()
	for _, key := range []string{"GOCACHE", "GOMODCACHE"} { // filling others takes minutes
		cache, err := goSays(t.Context(), "", "env", key)
		must(t, err)
		t.Setenv(key, cache)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // of macOS
	user, err := os.UserCacheDir()
	must(t, err)
	return filepath.Join(user, "benchrun", "toolchains")
}

// module makes a module of files in a folder of its own.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// builtDriven builds the package in dir, and drives BenchmarkX for a slice. It returns the
// binary, and what the benchmark logs.
func builtDriven(t *testing.T, dir string, env ...string) (Binary, string) {
	t.Helper()
	built, problems, err := Build(t.Context(), dir, t.TempDir(), []string{"."}, BuildOptions{Driven: true, Env: env})
	must(t, err)
	if len(built) != 1 || len(problems) > 0 {
		t.Fatalf("%v %+v", built, problems)
	}
	b := built[0]
	why, err := undrivable(b.Path)
	must(t, errors.Join(err, why, b.Undrivable))
	l, err := b.Cases(t.Context(), "^BenchmarkX$", 1, time.Minute)
	must(t, err)
	p, err := Drive(t.Context(), program.Config{Path: b.Path, Dir: b.Dir, Benchmark: "BenchmarkX", CPU: 1})
	must(t, err)
	defer p.Close()
	run(t, p, 5)
	finish(t, p)
	return b, l.Says[record.Case{Pkg: b.Pkg, Name: "BenchmarkX"}]
}

const benchmarkX = "package m\n\nimport \"testing\"\n\nfunc BenchmarkX(b *testing.B) {\n\tb.Log(says())\n\tfor b.Loop() {\n\t}\n}\n"

// Benchmarks are driven that are built by a toolchain that the go command has fetched into the module
// cache, whichever process asks for it, and the binary is the same wherever the link lies that leads to it.
func TestFetchedToolchain(t *testing.T) {
	for _, release := range append([]string{"go1.25.0"}, KnownReleases...) { // the first in which it takes a link
		t.Run(release, func(t *testing.T) {
			env := fetched(t, release)
			files := map[string]string{
				"go.mod":    "module example.com/m\n\ngo " + strings.TrimPrefix(release, "go") + "\n",
				"m.go":      "package m\n\nimport \"runtime\"\n\nfunc says() string { return runtime.GOROOT() + \" \" + runtime.Version() }\n",
				"x_test.go": benchmarkX,
			}
			hashes := make(map[string]bool)
			for range 2 {
				folder := linksIn(t)
				dir := module(t, files)
				b, says := builtDriven(t, dir, env, "GOFLAGS=-trimpath")
				if info, err := buildinfo.ReadFile(b.Path); err != nil || info.GoVersion != release || says != " "+release && says != release {
					t.Errorf("it is built by %v and says %q: %v", info, says, err)
				}
				hashes[b.Hash] = true
				// The paths are in the binary. That go.mod alone asks for it is as good, where the Go here is older.
				if release == KnownReleases[len(KnownReleases)-1] {
					env = "GOTOOLCHAIN=auto"
				}
				b, says = builtDriven(t, dir, env, "GOFLAGS=")
				links, _ := os.ReadDir(folder)
				root := strings.TrimSuffix(says, " "+release)
				if _, err := os.Stat(filepath.Join(root, "src", "testing")); err != nil || len(links) > 0 != strings.HasPrefix(root, folder) {
					t.Errorf("with %d links its GOROOT is %s: %v", len(links), root, err)
				}
				if again, _ := builtDriven(t, dir, env, "GOFLAGS="); again.Hash != b.Hash {
					t.Error("built again it is another binary")
				}
			}
			if len(hashes) != 1 {
				t.Errorf("with -trimpath the link is in the binary: %v", hashes)
			}
		})
	}
}

// Each process of a subject runs in its environment, however it is run, and no other does.
func TestRunEnv(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles test binaries")
	}
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	dir := module(t, map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "x_test.go": `package m

import (
	"os"
	"testing"
)

func BenchmarkX(b *testing.B) {
	b.Log(os.Getenv("GOGC"))
	for b.Loop() {
	}
	b.ReportMetric(float64(len(os.Getenv("GOGC"))), "digits")
}
`})
	t.Setenv("GOGC", "7")
	all := make(map[string]Binary)
	for _, gogc := range []string{"50", "400"} {
		o := BuildOptions{Driven: true, Side: gogc, RunEnv: []string{"GOGC=" + gogc}, Env: []string{"GOFLAGS=", "GOWORK=off"}}
		built, _, err := Build(t.Context(), dir, t.TempDir(), []string{"."}, o)
		must(t, err)
		all[gogc] = built[0]
	}
	plan := &record.Plan{CPU: []int{1}, Time: "1x", Timeout: time.Minute}
	subject := NewBinaries(t.Context(), plan, []Binary{all["50"], all["400"]})
	for gogc, b := range all {
		want := fmt.Sprintf("%d.000 digits", len(gogc))
		c := record.Case{Pkg: b.Pkg, Name: "BenchmarkX", Side: gogc}
		step := record.Step{Case: c, CPU: 1}
		l, err := b.Cases(t.Context(), ".", 1, time.Minute)
		must(t, err)
		if said := l.Says[record.Case{Pkg: b.Pkg, Name: "BenchmarkX"}]; said != gogc {
			t.Errorf("listed with GOGC=%s", said)
		}
		line, err := b.RunFixed(t.Context(), step, 1, nil, time.Minute)
		must(t, err)
		alone, err := subject.Measure(t.Context(), 1, step)
		must(t, err)
		d, err := subject.Start(1, step, nil)
		must(t, err)
		_, err = d.Run(1)
		must(t, err)
		driven, err := d.Finish()
		must(t, errors.Join(err, d.Close()))
		for how, got := range map[string]string{"fixed": line, "alone": alone.Printed, "driven": fmt.Sprint(driven)} {
			if !strings.Contains(got, want) {
				t.Errorf("GOGC=%s %s: %s, want %s", gogc, how, got, want)
			}
		}
	}
}

// All that holds of what is driven holds for the other releases that are known. Where one cannot be fetched it
// is skipped.
func TestOtherReleases(t *testing.T) {
	const variable = "DYNO_OTHER_RELEASE"
	if os.Getenv(variable) != "" {
		t.Skip("this is the other one")
	}
	for _, release := range KnownReleases {
		t.Run(release, func(t *testing.T) {
			env := fetched(t, release)
			if here, err := goSays(t.Context(), "", "env", "GOVERSION"); err != nil || here == release {
				t.Skipf("it is the one that all other tests use: %v", err)
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^(TestModes|TestAllocations|TestParallel|TestNames|TestEnvironment|TestPrints|TestEnds|TestSlow|TestCollections|TestUsageAndResources|TestInsert|TestOverlayDoesNotFit|TestOverlayAgain|TestCounters|TestProfiles|TestUnits)$")
			cmd.Env = append(os.Environ(), env, variable+"="+release)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// What is added to package testing fits that of the other known releases, as far as go/types tells: that takes a
// second, where compiling takes a minute. Where a release cannot be fetched it is skipped.
func TestFitsOtherReleases(t *testing.T) {
	for _, release := range KnownReleases {
		t.Run(release, func(t *testing.T) {
			if release == runtime.Version() {
				t.Skip("it is the one that all other tests use")
			}
			t.Parallel() // it may be fetched
			b := &builder{options: BuildOptions{Env: []string{fetchedByDay(t, release), "GOFLAGS="}}}
			must(t, b.readSettings(t.Context()))
			std := &typesOf{context: build.Default, files: token.NewFileSet(), done: make(map[string]*types.Package), added: driveGo}
			std.context.GOROOT, std.context.CgoEnabled = b.settings["GOROOT"], false
			if _, err := std.Import("testing"); err != nil {
				t.Error(err)
			}
			delete(std.done, "testing")
			std.added = bytes.Replace(driveGo, []byte("b.previousN"), []byte("b.asItWasOnceCalled"), 1)
			if _, err := std.Import("testing"); err == nil || !strings.Contains(err.Error(), "asItWasOnceCalled") {
				t.Errorf("what does not fit is not noticed: %v", err)
			}
		})
	}
}

// typesOf imports packages of the standard library from its source, and package testing with what is added.
type typesOf struct {
	context build.Context
	files   *token.FileSet
	done    map[string]*types.Package
	added   []byte
}

func (i *typesOf) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	if p := i.done[path]; p != nil {
		return p, nil
	}
	pkg, err := i.context.Import(path, filepath.Join(i.context.GOROOT, "src"), 0)
	if err != nil {
		return nil, err
	}
	var files []*ast.File
	parse := func(name string, text []byte) error {
		f, err := parser.ParseFile(i.files, name, text, parser.SkipObjectResolution)
		files = append(files, f)
		return err
	}
	for _, name := range pkg.GoFiles {
		text, err := os.ReadFile(filepath.Join(pkg.Dir, name))
		if err == nil && path == "testing" && (name == benchmarkFile || name == testingFile) {
			var inserted string
			inserted, err = insert(name, string(text))
			text = []byte(inserted)
		}
		if err := errors.Join(err, parse(name, text)); err != nil {
			return nil, err
		}
	}
	if path == "testing" {
		if err := parse(driveFile, i.added); err != nil {
			return nil, err
		}
	}
	c := types.Config{Importer: i, IgnoreFuncBodies: path != "testing", Sizes: types.SizesFor("gc", i.context.GOARCH)}
	p, err := c.Check(path, i.files, files, nil)
	i.done[path] = p
	return p, err
}

// Of goroutines with labels, which Go 1.27 prints behind their state, it is known where they crash and hang.
func TestLabels(t *testing.T) {
	env := fetched(t, "go1.27.4")
	dir := module(t, map[string]string{"go.mod": "module example.com/m\n\ngo 1.27\n", "x_test.go": `package m

import (
	"context"
	"runtime/pprof"
	"testing"
)

func labels() {
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("job", "one", "a key", "]:\n[x] {")))
}

func BenchmarkHang(*testing.B) { labels(); select {} }

func BenchmarkPanic(*testing.B) { labels(); panic("oh") }
`})
	built, _, err := Build(t.Context(), dir, t.TempDir(), []string{"."}, BuildOptions{Driven: true, Env: []string{env, "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=1"}})
	must(t, err)
	l, err := built[0].Cases(t.Context(), ".", 1, 3*time.Second)
	if err != nil || len(l.Absent) != 2 || !strings.HasSuffix(l.Absent[0].Reason, "(x_test.go:13)") || !strings.HasSuffix(l.Absent[1].Reason, "(x_test.go:15)") {
		t.Errorf("%+v: %v", l.Absent, err)
	}
}

// launcher puts a go command first in PATH that is a script, of which %s is the go command proper.
func launcher(t *testing.T, script string) {
	t.Helper()
	real, err := exec.LookPath("go")
	must(t, err)
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "go"), []byte("#!/bin/sh\n"+strings.ReplaceAll(script, "%s", real)), 0o755))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// Where the go command is a launcher, what it sets is kept with a toolchain that is fetched.
func TestLauncher(t *testing.T) {
	env := fetched(t, KnownReleases[len(KnownReleases)-1])
	linksIn(t)
	launcher(t, "export GOFLAGS=-tags=launched\nunset GOROOT\nexec %s \"$@\"\n")
	dir := module(t, map[string]string{
		"go.mod":    "module example.com/m\n\ngo 1.24\n",
		"m.go":      "//go:build launched\n\npackage m\n\nfunc says() string { return \"launched\" }\n",
		"x_test.go": benchmarkX,
	})
	if _, says := builtDriven(t, dir, env); says != "launched" {
		t.Errorf("it says %q", says)
	}
}

// An overlay that is taken and not applied is noticed.
func TestOverlayNotApplied(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles test binaries")
	}
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	root, err := goSays(t.Context(), "", "env", "GOROOT")
	must(t, err)
	other := filepath.Join(t.TempDir(), "other")
	must(t, os.Symlink(root, other))
	launcher(t, "if [ \"$1\" = env ]; then export GOROOT="+other+"; else export GOROOT="+root+"; fi\nexec %s \"$@\"\n")
	dir := module(t, map[string]string{"go.mod": "module example.com/m\n\ngo 1.24\n", "x_test.go": "package m\n\nimport \"testing\"\n\nfunc BenchmarkX(*testing.B) {}\n"})
	built, problems, err := Build(t.Context(), dir, t.TempDir(), []string{"."}, BuildOptions{Driven: true})
	must(t, err)
	if len(built) != 1 || len(problems) > 0 || !errors.Is(built[0].Undrivable, program.ErrUnsupported) || !strings.Contains(built[0].Undrivable.Error(), other+" and has not applied it") {
		t.Fatalf("%+v %+v", built, problems)
	}
	must(t, For(t.Context(), filepath.Join(t.TempDir(), "for"), built, []string{"CGO_ENABLED=0"}))
	if built[0].Undrivable == nil {
		t.Error("built for another system it is forgotten")
	}
}

// Whatever the environment has the go command do, benchmarks are driven, and what it asks for is built.
// Some compile parts of the standard library for themselves: those are of the night.
func TestBuildSettings(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles test binaries")
	}
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	const goMod = "module example.com/m\n\ngo 1.24\n"
	for _, c := range []struct {
		name  string
		says  string // which the file m.go is to return; "" has a file of its own
		env   []string
		files map[string]string
		needs string // a program
		night bool
	}{
		{name: "vendor", env: []string{"GOFLAGS=-mod=vendor"}, files: map[string]string{
			"go.mod":                    goMod + "require example.com/v v1.0.0\n",
			"m.go":                      "package m\n\nimport \"example.com/v\"\n\nfunc says() string { return v.Says }\n",
			"vendor/modules.txt":        "# example.com/v v1.0.0\n## explicit\nexample.com/v\n",
			"vendor/example.com/v/v.go": "package v\n\nconst Says = \"vendor\"\n",
		}},
		{name: "an overlay", env: []string{"GOFLAGS=-overlay=sub/o.json"}, files: map[string]string{
			"m.go":       "package m\n\nfunc says() string { return \"not the overlay\" }\n",
			"gone.go":    "package m\n\nthis does not compile\n",
			"sub/o.json": `{"Replace": {"m.go": "sub/m.txt", "gone.go": ""}}`,
			"sub/m.txt":  "package m\n\nfunc says() string { return \"an overlay\" }\n",
		}},
		{name: "trimpath", env: []string{"GOFLAGS='-trimpath' -tags=a,b"}, says: "trimpath"},
		{name: "no vcs", env: []string{"GOFLAGS=-buildvcs=false -ldflags=-s", "GOTELEMETRY=off", "GOTMPDIR=" + t.TempDir()}, says: "no vcs"},
		{name: "a file", env: []string{"GOENV=goenv"}, files: map[string]string{
			"goenv":  "GOFLAGS=-tags=ofenv\n",
			"env.go": "//go:build ofenv\n\npackage m\n\nfunc says() string { return \"a file\" }\n",
		}},
		{name: "a workspace", env: []string{"GOWORK=", "GOFLAGS="}, files: map[string]string{
			"go.work":       "go 1.24\n\nuse (\n\t.\n\t./other\n)\n",
			"other/go.mod":  "module example.com/other\n\ngo 1.24\n",
			"other/says.go": "package other\n\nconst Says = \"a workspace\"\n",
			"m.go":          "package m\n\nimport \"example.com/other\"\n\nfunc says() string { return other.Says }\n",
		}},
		{name: "a toolchain line", night: true, files: map[string]string{
			"go.mod": goMod + "toolchain " + KnownReleases[0] + "\n",
			"m.go":   "package m\n\nfunc says() string { return \"a toolchain line\" }\n",
		}},
		{name: "cgo", env: []string{"CGO_ENABLED=1"}, needs: "gcc", night: true, files: map[string]string{
			"m.go": "package m\n\n// static int one(void) { return 1; }\nimport \"C\"\n\nfunc says() string { return \"cgo\"[:2+C.one()] }\n",
		}},
		{name: "no cgo", env: []string{"CGO_ENABLED=0"}, says: "no cgo", night: true},
		{name: "covered", env: []string{"GOFLAGS=-cover"}, says: "covered", night: true},
		{name: "a link", env: []string{"GOROOT=link"}, says: "a link", night: true},
		{name: "own benchmarks", says: "own benchmarks", files: map[string]string{
			"x_test.go": "package m_test\n\nimport (\n\t\"testing\"\n\t. \"example.com/m\"\n)\n\nfunc BenchmarkX(b *testing.B) {\n\tb.Log(Says())\n\tfor range b.N {\n\t}\n}\n",
			"e_test.go": "package m\n\nfunc Says() string { return says() }\n",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.night && os.Getenv("DYNO_NIGHTLY") == "" {
				t.Skip("with DYNO_NIGHTLY only")
			}
			if c.needs != "" {
				if _, err := exec.LookPath(c.needs); err != nil {
					t.Skip(err)
				}
			}
			files := map[string]string{"go.mod": goMod, "x_test.go": benchmarkX}
			if c.says != "" {
				files["m.go"] = "package m\n\nfunc says() string { return \"" + c.says + "\" }\n"
			}
			for name, text := range c.files {
				files[name] = text
			}
			dir := module(t, files)
			env := []string{"GOFLAGS=", "GOWORK=off"}
			for _, v := range c.env {
				switch v {
				case "GOENV=goenv":
					v = "GOENV=" + filepath.Join(dir, "goenv")
					env = []string{"GOWORK=off"}
					t.Setenv("GOFLAGS", "") // what is set to nothing is not set
				case "GOROOT=link":
					root, err := goSays(t.Context(), "", "env", "GOROOT")
					must(t, err)
					v = "GOROOT=" + filepath.Join(dir, "go root")
					must(t, os.Symlink(root, filepath.Join(dir, "go root")))
				}
				env = append(env, v)
			}
			if _, says := builtDriven(t, dir, env...); says != c.name {
				t.Errorf("it says %q", says)
			}
		})
	}
}

// An overlay in GOFLAGS may replace what is driven: then that is made of what takes its place.
func TestOverlayOfTesting(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles test binaries")
	}
	if err := program.Supported(); err != nil {
		t.Skip(err)
	}
	b := &builder{}
	must(t, b.readSettings(t.Context()))
	file := filepath.Join(b.std("testing"), benchmarkFile)
	dir := t.TempDir()
	mine := filepath.Join(dir, "mine.txt")
	must(t, os.WriteFile(mine, append(readFile(t, file), "\nconst mineToo = 1\n"...), 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "o.json"), []byte(`{"Replace": {"`+file+`": "`+mine+`"}}`), 0o644))
	t.Setenv("GOFLAGS", "-overlay="+filepath.Join(dir, "o.json"))
	out := t.TempDir()
	if _, _, err := Overlay(t.Context(), "", out); err != nil {
		t.Fatal(err)
	}
	text := readFile(t, filepath.Join(out, benchmarkFile))
	if !bytes.Contains(text, []byte("mineToo")) || !bytes.Contains(text, []byte("driveLaunch")) {
		t.Error("one of them is lost")
	}
	for _, c := range []struct{ text, want string }{
		{`{"Replace": {"` + file + `": ""}}`, benchmarkFile}, {"{", "o.json"},
	} {
		must(t, os.WriteFile(filepath.Join(dir, "o.json"), []byte(c.text), 0o644))
		if _, _, err := Overlay(t.Context(), "", out); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}

// Links to toolchains are made once, by the process that comes first, and removed when they lead nowhere.
func TestLinkElsewhere(t *testing.T) {
	folder := linksIn(t)
	cache := t.TempDir()
	root := filepath.Join(cache, "golang.org", "toolchain@v0.0.1-go1.99.0.linux-amd64")
	must(t, os.MkdirAll(filepath.Join(root, "bin"), 0o755))
	must(t, os.MkdirAll(folder, 0o755))
	must(t, os.Symlink(filepath.Join(cache, "none"), filepath.Join(folder, "old")))
	const many = 8
	links, errs := make([]string, many), make(chan error, many)
	for i := range many {
		go func() {
			link, err := linkElsewhere(root, cache)
			links[i] = link
			errs <- err
		}()
	}
	for range many {
		must(t, <-errs)
	}
	for _, link := range links {
		if link != links[0] || !strings.HasPrefix(link, folder) {
			t.Errorf("a link is %s, another %s", link, links[0])
		}
	}
	if to, err := os.Readlink(links[0]); to != root {
		t.Errorf("it leads to %s: %v", to, err)
	}
	if all, err := os.ReadDir(folder); err != nil || len(all) != 1 {
		t.Errorf("there are %v: %v", all, err)
	}
	// One that leads elsewhere is replaced; and where the user's cache is the module cache, or is no folder, it is made elsewhere.
	must(t, errors.Join(os.Remove(links[0]), os.Symlink(folder, links[0])))
	if link, err := linkElsewhere(root, cache); link != links[0] || err != nil {
		t.Errorf("%s: %v", link, err)
	}
	t.Setenv("TMPDIR", t.TempDir())
	user, err := os.UserCacheDir()
	must(t, err)
	if link, err := linkElsewhere(root, user); err != nil || beneath(link, user) {
		t.Errorf("%s: %v", link, err)
	}
	must(t, os.RemoveAll(folder))
	must(t, os.WriteFile(folder, nil, 0o644))
	if link, err := linkElsewhere(root, cache); err != nil || beneath(link, user) {
		t.Errorf("%s: %v", link, err)
	}
	t.Setenv("TMPDIR", filepath.Join(folder, "no folder"))
	if link, err := linkElsewhere(root, cache); err == nil {
		t.Errorf("there is no place for it, and it is %s", link)
	}
}
