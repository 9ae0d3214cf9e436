package hw

import (
	"debug/elf"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// smallTree is a checkout in small: enough for an image, with what must not get into
// it.
var smallTree = withParts(map[string]string{
	"go.mod": "module github.com/dynolab/dyno\n\ngo 1.26.0\n\nrequire example.com/dep v0.0.0\n\nreplace example.com/dep => ./dep\n",
	"dyno.go": `package dyno

type Impl struct{ Name string }
`,
	"hw/firmware/firmware.go": `package firmware

import "github.com/dynolab/dyno"

type Board struct{ Name string }

type Build struct{ Commit, Toolchain string }

func Main(b Board, impl dyno.Impl, build Build, parts ...string) {
	print(b.Name, " ", impl.Name, " ", build.Commit, " ", build.Toolchain)
	for _, p := range parts {
		print(" ", p)
	}
	println()
}
`,
	"hw/firmware/firmware_test.go": "package firmware\n\nimport _ \"example.com/nowhere\"\n",
	"hw/boards/toy/board.go":       "package board\n\nimport \"github.com/dynolab/dyno/hw/firmware\"\n\nfunc Board() firmware.Board { return firmware.Board{Name: \"toy\"} }\n",
	"hw/boards/toy/gen.go":         "//go:build ignore\n\npackage main\n\nimport _ \"example.com/nowhere\"\n\nfunc main() {}\n",
	"hw/gcroots/doc.go":            "package gcroots\n",
	"hw/boards/toy/README.txt":     "about\n",
	"impls/serial/impl.go":         "package serial\n\nimport (\n\t\"example.com/dep/suffix\"\n\n\t\"github.com/dynolab/dyno\"\n)\n\nvar Impl = dyno.Impl{Name: \"serial\" + suffix.Of()}\n",
	"impls/broken/impl.go":         "package broken\n\nimport \"github.com/dynolab/dyno\"\n\nvar Impl = dyno.Impl{Name: 1}\n",
	"impls/typo/impl.go":           "package typo\n\nfunc {\n",
	"impls/lost/impl.go":           "package lost\n\nimport _ \"github.com/dynolab/dyno/nowhere\"\n",
	"impls/notes/notes.go":         "package notes\n",
	"dep/go.mod":                   "module example.com/dep\n\ngo 1.25\n",
	"dep/suffix/suffix.go":         "package suffix\n\nfunc Of() string { return \"!\" }\n",
	"dep/unused/unused.go":         "package unused\n",
})

// withParts adds a package for each part of the firmware.
func withParts(files map[string]string) map[string]string {
	for _, p := range Parts() {
		files["hw/firmware/"+p+"/part.go"] = "package part\n\nimport \"github.com/dynolab/dyno\"\n\nfunc Cases(impl dyno.Impl) string { return \"" + p + " of \" + impl.Name }\n"
	}
	return files
}

// checkoutOf writes files and returns the checkout that they are.
func checkoutOf(t *testing.T, files map[string]string) Checkout {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, []byte(text))
	}
	c, err := FindCheckout(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// hostBoard is a Linux board that is this machine.
func hostBoard(t *testing.T) Board {
	t.Helper()
	b, err := parseBoard([]byte(validGo))
	if err != nil {
		t.Fatal(err)
	}
	b.Name, b.GOOS, b.GOARCH, b.SSH, b.Emulator = "toy", runtime.GOOS, runtime.GOARCH, false, []string{"{image}"}
	return b
}

// TestBuildForLinux builds an image and runs it: it has the board, the implementation
// and the parts that were asked for, and knows its commit and toolchain.
func TestBuildForLinux(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("images for Linux boards are ELF files: sizes of others are not read")
	}
	checkout := checkoutOf(t, smallTree)
	if checkout.Go != "go1.26" {
		t.Errorf("the checkout's Go is %q", checkout.Go)
	}
	b := hostBoard(t)
	c, err := FindCompiler(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, goVersion string
		parts           []string
		want, lang      string
	}{
		{"all parts", c.Go, nil, strings.Join(Parts(), " of serial! ") + " of serial!", "go 1.26\n"},
		{"one part", c.Go, []string{"conform/group"}, "conform/group of serial!", "go 1.26\n"},
		// An older compiler gets sources that it takes.
		{"older Go", "go1.23.4", []string{"bench"}, "bench of serial!", "go 1.23\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := *c
			c.Go = tt.goVersion
			dir := t.TempDir()
			im, err := Build(t.Context(), b, &c, BuildOptions{Checkout: checkout, Impl: "serial", Parts: tt.parts, Commit: "0123abcd+dirty", Dir: dir})
			if err != nil {
				t.Fatalf("%v\n%s", err, err.(*Error).Output)
			}
			out, err := exec.Command(im.Path).CombinedOutput()
			want := "toy serial! 0123abcd+dirty " + tt.goVersion + " " + tt.want + "\n"
			if err != nil || string(out) != want {
				t.Errorf("the image says %q, %v, want %q", out, err, want)
			}
			for _, mod := range []string{"go.mod", "dyno/go.mod", "module1/go.mod"} {
				text, err := os.ReadFile(filepath.Join(dir, mod))
				if err != nil || !strings.Contains(string(text), tt.lang) {
					t.Errorf("%s: %v, %q, want %q", mod, err, text, tt.lang)
				}
			}
			for _, none := range []string{"dyno/hw/firmware/firmware_test.go", "dyno/hw/boards/toy/gen.go", "module1/unused", "dyno/impls/broken"} {
				if exists(filepath.Join(dir, none)) {
					t.Errorf("%s was copied", none)
				}
			}
			if im.Sizes.Flash() == 0 || len(im.Hash) != 64 || im.Toolchain != tt.goVersion {
				t.Errorf("%+v", im)
			}
		})
	}

	build := func(impl string, change func(*Board)) (*Image, error) {
		b := b
		if change != nil {
			change(&b)
		}
		return Build(t.Context(), b, c, BuildOptions{Checkout: checkout, Impl: impl, Dir: t.TempDir()})
	}
	t.Run("does not compile", func(t *testing.T) {
		_, err := build("broken", nil)
		e := wantOutcome(t, err, BuildFailed, "toy with broken", filepath.FromSlash("impls/broken/impl.go:5"))
		if strings.Contains(e.Output, os.TempDir()) || strings.Contains(e.Output, "dyno/impls/broken/impl.go") {
			t.Errorf("the compiler's message names a file of ours:\n%s", e.Output)
		}
	})
	t.Run("does not parse", func(t *testing.T) {
		_, err := build("typo", nil)
		wantOutcome(t, err, BuildFailed, filepath.FromSlash("impls/typo/impl.go:3"))
	})
	t.Run("imports what is not there", func(t *testing.T) {
		_, err := build("lost", nil)
		wantOutcome(t, err, BuildFailed, "no package github.com/dynolab/dyno/nowhere")
	})
	t.Run("no board package", func(t *testing.T) {
		_, err := build("serial", func(b *Board) { b.Name = "unwritten" })
		wantOutcome(t, err, BuildFailed, "hw/boards/unwritten")
	})
	t.Run("unknown implementation", func(t *testing.T) {
		if _, err := build("seriel", nil); err == nil || !strings.Contains(err.Error(), `did you mean "serial"?`) {
			t.Errorf("%v", err)
		}
		if _, err := build("notes", nil); err == nil || !strings.Contains(err.Error(), "broken, lost, serial, typo") {
			t.Errorf("%v", err)
		}
	})
	t.Run("unknown part", func(t *testing.T) {
		_, err := Build(t.Context(), b, c, BuildOptions{Checkout: checkout, Impl: "serial", Parts: []string{"benhc"}, Dir: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), `did you mean "bench"?`) {
			t.Errorf("%v", err)
		}
	})
	t.Run("too big", func(t *testing.T) {
		im, err := build("serial", func(b *Board) { b.Flash = 1000 })
		wantOutcome(t, err, TooBig, "bytes of flash", "more than it has", "runtime\n")
		if im == nil || im.Sizes == nil || im.Sizes.Flash() < 1000 {
			t.Errorf("%+v", im)
		}
		_, err = build("serial", func(b *Board) { b.RAM = 1000 })
		e := wantOutcome(t, err, TooBig, "bytes of RAM")
		if strings.Contains(e.What, "flash") {
			t.Errorf("%v", e)
		}
	})
}

// TestBuildForTinyGo: TinyGo gets the flags of the board, and what it or the linker
// refuses has its outcome.
func TestBuildForTinyGo(t *testing.T) {
	needsSymlinks(t)
	program(t, "tinygo")
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv(tinygoLog, log)
	t.Setenv(tinygoELF, elfFile(t))
	checkout := checkoutOf(t, smallTree)
	b := toy(t)
	b.Flags = []string{"-panic=print"}
	c, err := FindCompiler(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	build := func(b Board) (*Image, error) {
		return Build(t.Context(), b, c, BuildOptions{Checkout: checkout, Impl: "serial", Commit: "0123abcd", Dir: t.TempDir()})
	}
	im, err := build(b)
	if err != nil {
		t.Fatal(err)
	}
	text := readFile(t, log)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	want := "build -o " + im.Path + " -target=toy-target -ldflags=-X main.commit=0123abcd -X main.toolchain=tinygo0.41.0-go1.26.8 -extldflags=--wrap=tinygo_scanCurrentStack " +
		"-stack-size=1KB -gc=conservative -scheduler=tasks -opt=2 -panic=print ."
	if got := lines[len(lines)-1]; got != want {
		t.Errorf("tinygo %s\nwant   %s", got, want)
	}

	t.Run("fails", func(t *testing.T) {
		t.Setenv(tinygoFailsAt, "build")
		t.Setenv(tinygoFails, "# github.com/dynolab/dyno/actor\ndyno/actor/ref.go:7:2: undefined: x")
		_, err := build(b)
		wantOutcome(t, err, BuildFailed, "toy with serial does not compile: actor/ref.go:7:2: undefined: x")
	})
	t.Run("linker overflow", func(t *testing.T) {
		t.Setenv(tinygoFailsAt, "build")
		t.Setenv(tinygoFails, "program too large for this chip (flash overflowed by 4416 bytes)\n\toptimization guide")
		root := t.TempDir()
		t.Setenv(tinygoRoot, root)
		for name, text := range map[string]string{
			"toy-target.json": `{"inherits": ["toy-chip"]}`,
			"toy-chip.json":   `{"linkerscript": "targets/toy.ld"}`,
			"toy.ld":          "MEMORY\n{\n  FLASH (rw) : ORIGIN = 0, LENGTH = 256K - 256 /* boot */\n  RAM : ORIGIN = 0x20000000, LENGTH=64K}\n",
		} {
			if err := os.MkdirAll(filepath.Join(root, "targets"), 0o755); err != nil {
				t.Fatal(err)
			}
			writeFile(t, filepath.Join(root, "targets", name), []byte(text))
		}
		// With a table, of an image for a target with more room.
		small := b
		small.Flash = 1000
		im, err := build(small)
		wantOutcome(t, err, TooBig, "bytes of flash, ", "more than it has", "overflowed by 4416 bytes", "package\n")
		if im == nil || im.Sizes == nil {
			t.Fatal("no sizes")
		}
		script, err := os.ReadFile(filepath.Join(im.Source, "roomy.ld"))
		want := "MEMORY\n{\n  FLASH (rw) : ORIGIN = 0, LENGTH = 64M/* boot */\n  RAM : ORIGIN = 0x20000000, LENGTH = 64M}\n"
		if err != nil || string(script) != want {
			t.Errorf("%v, %s", err, script)
		}
		// The linker has the last word if the limits of board.json are larger than its.
		_, err = build(b)
		wantOutcome(t, err, TooBig, "toy with serial (bench and conform) does not fit: program too large for this chip (flash overflowed by 4416 bytes)", "package\n")
		// Without the target's linker script there is no table, and still a reason.
		t.Setenv(tinygoRoot, t.TempDir())
		im, err = build(small)
		wantOutcome(t, err, TooBig, "toy with serial (bench and conform) does not fit", "overflowed by 4416 bytes")
		if im == nil || im.Sizes != nil {
			t.Errorf("%+v", im)
		}
	})
	t.Run("no ELF", func(t *testing.T) {
		t.Setenv(tinygoELF, log)
		_, err := build(b)
		wantOutcome(t, err, BuildFailed, "no ELF file")
	})
}

// TestInCheckout: a compiler's message names files as they are in the checkout.
func TestInCheckout(t *testing.T) {
	dir := filepath.FromSlash("/tmp/x")
	for said, want := range map[string]string{
		"/tmp/x/dyno/actor/ref.go:7:2: undefined: x":           "actor/ref.go:7:2: undefined: x",
		"dyno/actor/ref.go:7:2: undefined: x":                  "actor/ref.go:7:2: undefined: x",
		"a\n./dyno/actor/ref.go:7:2: undefined: x":             "a\nactor/ref.go:7:2: undefined: x",
		`function '"(*github.com/dynolab/dyno/actor.Cell).x"'`: `function '"(*github.com/dynolab/dyno/actor.Cell).x"'`,
	} {
		if got := inCheckout(filepath.FromSlash(said), dir); got != filepath.FromSlash(want) {
			t.Errorf("%q: %q, want %q", said, got, want)
		}
	}
}

// TestFindCheckout: outside a checkout it says so.
func TestFindCheckout(t *testing.T) {
	if _, err := FindCheckout(t.Context(), t.TempDir()); err == nil || !strings.Contains(err.Error(), "checkout of dyno") {
		t.Errorf("%v", err)
	}
	c, err := FindCheckout(t.Context(), "")
	if err != nil || !exists(filepath.Join(c.Dir, "dyno.go")) {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestMainFile: all that an image is made of is in its main package.
func TestMainFile(t *testing.T) {
	want := `// Command firmware is what pico runs. It is made by benchrun.
package main

import (
	board "github.com/dynolab/dyno/hw/boards/pico"
	firmware "github.com/dynolab/dyno/hw/firmware"
	bench "github.com/dynolab/dyno/hw/firmware/bench"
	impl "github.com/dynolab/dyno/impls/serial"
	_ "github.com/dynolab/dyno/hw/gcroots"
)

var commit, toolchain string // by -ldflags=-X

func main() {
	firmware.Main(board.Board(), impl.Impl, firmware.Build{Commit: commit, Toolchain: toolchain}, bench.Cases(impl.Impl))
}
`
	if got := mainFile(Board{Name: "pico", Kind: kindTinyGo}, "serial", []string{"bench"}); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	// The go command's collector loses nothing.
	if got := mainFile(Board{Name: "linux-arm-ssh", Kind: kindGo}, "serial", []string{"bench"}); strings.Contains(got, gcroots) {
		t.Errorf("%s\nfor the go command imports %s", got, gcroots)
	}
}

// TestMainFileOfParts: parts whose packages may have one name are told apart.
func TestMainFileOfParts(t *testing.T) {
	got := mainFile(Board{Name: "pico", Kind: kindTinyGo}, "serial", []string{"conform/group", "conform/actor"})
	for _, want := range []string{
		"\tconform_group \"github.com/dynolab/dyno/hw/firmware/conform/group\"\n",
		"\tconform_actor \"github.com/dynolab/dyno/hw/firmware/conform/actor\"\n",
		", conform_group.Cases(impl.Impl), conform_actor.Cases(impl.Impl))",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
}

// TestSelectParts: a name is a part's, or that of a folder of parts; and back.
func TestSelectParts(t *testing.T) {
	clauses := []string{"conform/group", "conform/task", "conform/actor"}
	for _, tt := range []struct {
		names, want []string
		called      string
	}{
		{nil, append([]string{"bench"}, clauses...), "bench and conform"},
		{[]string{"bench"}, []string{"bench"}, "bench"},
		{[]string{"conform"}, clauses, "conform"},
		{[]string{"conform/actor", "conform/group"}, []string{"conform/group", "conform/actor"}, "conform/group and conform/actor"},
		{[]string{"conform/task", "bench", "conform/task"}, []string{"bench", "conform/task"}, "bench and conform/task"},
	} {
		got, err := SelectParts(tt.names)
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, %v, want %q", tt.names, got, err, tt.want)
		}
		if called := NameParts(got); called != tt.called {
			t.Errorf("%q are called %q, want %q", got, called, tt.called)
		}
	}
	for name, want := range map[string]string{
		"brench": `no part "brench" of the firmware; did you mean "bench"?`,
		"x":      `no part "x" of the firmware; the parts are conform, bench, `,
		"conf":   `did you mean "conform"`,
		"":       `the parts are`,
	} {
		if _, err := SelectParts([]string{name}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}

// TestPartsAreThere: the parts are the packages of this tree that have cases. That of
// the conformance suite as a whole is the sum of those below it.
func TestPartsAreThere(t *testing.T) {
	c, err := FindCheckout(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(c.Dir, "hw", "firmware")
	found := make(map[string]bool)
	if err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(file, ".go") {
			return err
		}
		text, err := os.ReadFile(file)
		if strings.Contains(string(text), "\nfunc Cases(impl dyno.Impl) firmware.Cases {") {
			part, _ := filepath.Rel(root, filepath.Dir(file)) // it is below
			found[filepath.ToSlash(part)] = true
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	delete(found, "conform")
	if got, want := slices.Sorted(maps.Keys(found)), slices.Sorted(slices.Values(Parts())); !slices.Equal(got, want) {
		t.Errorf("the packages with cases are %q, and the parts %q", got, want)
	}
}

// TestHashImage: the same sources in two folders are the same image, although what
// debuggers are told has the folder; what is loaded counts to the last byte.
func TestHashImage(t *testing.T) {
	source := "package main\n\nvar table = [...]byte{1, 2, 3}\n\nfunc main() { println(table[len(table)-1]) }\n"
	build := func(source string, more ...string) (path, hash string) {
		t.Helper()
		dir := t.TempDir()
		path = filepath.Join(dir, "x")
		writeFile(t, path+".go", []byte(source))
		cmd := exec.Command("go", append(append([]string{"build", "-buildvcs=false", "-o", path}, more...), path+".go")...)
		cmd.Env = append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0", "GOFLAGS=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		hash, err := hashImage(path)
		if err != nil {
			t.Fatal(err)
		}
		return path, hash
	}
	one, first := build(source, "-trimpath")
	_, again := build(source, "-trimpath")
	if first != again {
		t.Error("two folders give two images")
	}
	if _, other := build(strings.Replace(source, "3}", "4}", 1), "-trimpath"); other == first {
		t.Error("another program is the same image")
	}
	f, err := elf.Open(one)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	data := readFile(t, one)
	for name, same := range map[string]bool{".text": false, ".rodata": false, ".data": false, ".symtab": true, ".strtab": true} {
		s := f.Section(name)
		if s == nil || s.FileSize == 0 {
			t.Fatalf("there is no %s", name)
		}
		changed := slices.Clone(data)
		changed[s.Offset+s.FileSize-1] ^= 1
		path := filepath.Join(t.TempDir(), "x")
		writeFile(t, path, changed)
		if hash, err := hashImage(path); err != nil || (hash == first) != same {
			t.Errorf("with a bit of %s changed it is the same image: %v, want %v (%v)", name, hash == first, same, err)
		}
	}
	if _, err := hashImage(one + ".go"); err == nil {
		t.Error("a file that is no ELF file has a hash")
	}
}
