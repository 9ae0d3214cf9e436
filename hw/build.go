package hw

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/version"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/child"
)

// BuildOptions say what an image is made of.
type BuildOptions struct {
	Checkout Checkout
	Impl     string   // name of the implementation
	Parts    []string // as SelectParts takes them; empty means all
	// Commit is what the firmware says of its sources; "" if that is not known.
	Commit string
	// Dir is where the image and its sources go: a folder that is there, empty, and
	// the caller's to remove.
	Dir string
	// NoTable says that the error of an image that is too big need not have its sizes:
	// where the linker refuses it, they take another build.
	NoTable bool
}

// An Image is firmware for one kind of board: an implementation and some parts.
type Image struct {
	Board     Board
	Impl      string
	Parts     []string // of Parts, in that order
	Path      string   // of the ELF file
	Hash      string   // SHA-256 of what of it is loaded, in hexadecimal: see hashImage
	Sizes     *Sizes   // nil if the linker refused to make an image
	Commit    string
	Toolchain string // as Compiler.String has it

	// Source is the folder of the main package it was made of: TinyGo's flasher
	// compiles anew, with the same Flags.
	Source   string
	Flags    []string
	Compiler *Compiler
}

// String names what the image is of: "pico with serial (bench and conform)".
func (im *Image) String() string {
	return im.Board.Name + " with " + im.Impl + " (" + NameParts(im.Parts) + ")"
}

// Build makes an image. If it needs more flash or RAM than the board has, it returns
// the image, with its sizes, and an error with the outcome TooBig; the image is then
// not to be run.
func Build(ctx context.Context, b Board, c *Compiler, o BuildOptions) (*Image, error) {
	parts, err := SelectParts(o.Parts)
	if err != nil {
		return nil, err
	}
	impls, err := o.Checkout.Implementations()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(impls, o.Impl) {
		return nil, fmt.Errorf("no implementation %q; %s", o.Impl, suggest(o.Impl, impls, "the implementations are"))
	}
	if err := o.Checkout.write(ctx, o.Dir, b, o.Impl, parts, languageFor(o.Checkout, c)); err != nil {
		return nil, err
	}
	im := &Image{
		Board: b, Impl: o.Impl, Parts: parts, Commit: o.Commit, Toolchain: c.String(),
		Path: filepath.Join(o.Dir, "firmware.elf"), Source: o.Dir, Compiler: c,
	}
	im.Flags = buildFlags(b, o.Commit, im.Toolchain)
	said, err := im.compile(ctx, im.Flags)
	if err != nil {
		said = inCheckout(said, o.Dir)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !linkerOverflow.MatchString(said) {
			return nil, &Error{
				Outcome: BuildFailed, What: fmt.Sprintf("%s with %s does not compile: %s", b.Name, o.Impl, firstLine(said)),
				Output: said, Err: err,
			}
		}
		return im.overflow(ctx, said, !o.NoTable)
	}
	if im.Sizes, err = readSizes(im.Path); err != nil {
		return nil, &Error{Outcome: BuildFailed, What: "what the compiler made is no ELF file to be read", Err: err}
	}
	if im.Hash, err = hashImage(im.Path); err != nil {
		return nil, err
	}
	if e := im.tooBig(); e != nil {
		return im, e
	}
	return im, nil
}

// copied is how a path into the copy of the checkout begins, at the beginning of a
// word.
var copied = regexp.MustCompile(`(^|[\s:("'])(\./)?dyno[/\\]`)

// inCheckout changes paths into the copy of the checkout, in the folder dir, to what
// they are in the checkout.
func inCheckout(said, dir string) string {
	said = strings.ReplaceAll(said, filepath.Join(dir, "dyno")+string(filepath.Separator), "")
	return copied.ReplaceAllString(said, "$1")
}

// linkerOverflow is what linkers say if an image does not fit into the memory that
// the target's linker script has.
var linkerOverflow = regexp.MustCompile(`will not fit in region|overflowed by \d+ bytes`)

// overflow makes the error of an image that the linker refuses because of its size.
// For its table, if that is wanted, an image is made for a board that has room.
func (im *Image) overflow(ctx context.Context, said string, wantTable bool) (*Image, error) {
	why := failed(TooBig, fmt.Sprintf("%s does not fit: %s", im, overflowLine(said)), nil)
	var table string
	if wantTable {
		if flags, err := im.roomy(ctx); err == nil {
			if _, err := im.compile(ctx, flags); err == nil {
				im.Sizes, _ = readSizes(im.Path) // without a table if that cannot be read
			}
		}
	}
	if im.Sizes != nil {
		table = im.Sizes.Table()
		if e := im.tooBig(); e != nil {
			why.What = e.What
		}
	}
	why.Output = strings.TrimSpace(table + "\n" + said)
	return im, why
}

// memoryLength is the length of a memory in a linker script.
var memoryLength = regexp.MustCompile(`(?i)\bLENGTH\s*=\s*[^\n,};/]+`)

// roomy returns the flags of the image for a target that is the board's but for its
// memories, which have 64 MiB each: it needs a linker script of its own for that, which
// is the target's with other lengths.
func (im *Image) roomy(ctx context.Context) (flags []string, err error) {
	root, err := im.Compiler.say(ctx, "env", "TINYGOROOT")
	if err != nil {
		return nil, err
	}
	flags = slices.Clone(im.Flags)
	target := ""
	for i, f := range flags {
		if t, ok := strings.CutPrefix(f, "-target="); ok {
			target, flags[i] = t, "-target=roomy.json" // the last one counts
		}
	}
	script, err := linkerScript(root, im.Source, target)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(script)
	if err != nil {
		return nil, err
	}
	spec, err := json.Marshal(map[string]any{"inherits": []string{target}, "linkerscript": "roomy.ld"})
	if err != nil {
		return nil, err
	}
	return flags, errors.Join(
		os.WriteFile(filepath.Join(im.Source, "roomy.ld"), memoryLength.ReplaceAll(text, []byte("LENGTH = 64M")), 0o644),
		os.WriteFile(filepath.Join(im.Source, "roomy.json"), spec, 0o644),
	)
}

// linkerScript returns the path of the linker script of a TinyGo target: a name below
// root, or the path of a JSON file in dir. It is the one that the target names, or else
// one of those that it inherits from.
func linkerScript(root, dir, target string) (string, error) {
	path := filepath.Join(root, "targets", target+".json")
	if strings.HasSuffix(target, ".json") {
		path = filepath.Join(dir, target)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var spec struct {
		Inherits     []string
		LinkerScript string
	}
	if err := json.Unmarshal(data, &spec); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if s := spec.LinkerScript; s != "" {
		if own := filepath.Join(dir, s); exists(own) {
			return own, nil
		}
		return filepath.Join(root, s), nil
	}
	for _, parent := range slices.Backward(spec.Inherits) {
		if s, err := linkerScript(root, dir, parent); err == nil {
			return s, nil
		}
	}
	return "", fmt.Errorf("the target %s has no linker script", target)
}

// overflowLine returns the line of what a linker said in which the region is.
func overflowLine(said string) string {
	for line := range strings.Lines(said) {
		if linkerOverflow.MatchString(line) {
			return strings.TrimSpace(line)
		}
	}
	return firstLine(said)
}

// tooBig returns the error of an image that is larger than its board; nil if it is
// not.
func (im *Image) tooBig() *Error {
	if im.Sizes == nil {
		return nil
	}
	var over []string
	check := func(what string, used, limit int64) {
		if limit > 0 && used > limit {
			over = append(over, fmt.Sprintf("%d bytes of %s, %d more than it has", used, what, used-limit))
		}
	}
	check("flash", im.Sizes.Flash(), im.Board.Flash)
	check("RAM", im.Sizes.RAM(), im.Board.RAM)
	if len(over) == 0 {
		return nil
	}
	return &Error{
		Outcome: TooBig,
		What:    fmt.Sprintf("%s needs %s", im, strings.Join(over, ", and ")),
		Output:  im.Sizes.Table(),
	}
}

// languageFor returns the language version for an image: the checkout's, or the
// compiler's if that is older.
func languageFor(c Checkout, compiler *Compiler) string {
	lang := version.Lang(compiler.Go)
	if lang == "" || version.Compare(lang, c.Go) > 0 { // a development version has none
		return c.Go
	}
	return lang
}

// buildFlags are the flags of a build, without those that say where the result goes.
func buildFlags(b Board, commit, toolchain string) []string {
	set := "-X main.commit=" + cmp.Or(commit, "unknown") + " -X main.toolchain=" + toolchain
	if b.Kind == kindGo {
		return append([]string{"-trimpath", "-buildvcs=false", "-ldflags=" + set}, b.Flags...)
	}
	// What is wrapped and why, package gcroots says, which the main package imports.
	flags := []string{"-target=" + b.Target, "-ldflags=" + set + " -extldflags=--wrap=tinygo_scanCurrentStack"}
	for _, f := range []struct{ flag, value string }{
		{"-stack-size=", b.Stack}, {"-gc=", b.GC}, {"-scheduler=", b.Scheduler}, {"-opt=", b.Opt},
	} {
		if f.value != "" {
			flags = append(flags, f.flag+f.value)
		}
	}
	return append(flags, b.Flags...)
}

// compile makes the image with these flags, and returns what the compiler says.
func (im *Image) compile(ctx context.Context, flags []string) (said string, err error) {
	return im.run(ctx, append(append([]string{"build", "-o", im.Path}, flags...), "."))
}

// run runs the image's compiler in its folder.
func (im *Image) run(ctx context.Context, args []string) (said string, err error) {
	cmd := exec.CommandContext(ctx, im.Compiler.Path, args...)
	cmd.Dir = im.Source
	// The module is complete as it is, and the user's flags are for other modules.
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off", "GO111MODULE=on")
	cmd.Env = append(cmd.Env, im.Compiler.Env...)
	if b := im.Board; b.Kind == kindGo {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=0", "GOOS="+b.GOOS, "GOARCH="+b.GOARCH)
		if b.GOARM != "" {
			cmd.Env = append(cmd.Env, "GOARM="+b.GOARM)
		}
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.Cancel = func() error { child.KillGroup(cmd); return nil }
	cmd.WaitDelay = 10 * time.Second
	if err := child.Start(cmd); err != nil {
		return "", err
	}
	err = cmd.Wait()
	return strings.TrimSpace(out.String()), err
}

// hashImage returns the SHA-256 of what is loaded of an ELF file, in hexadecimal: its
// sections, where they go, and where the program starts. Information for debuggers is
// none of that; TinyGo's has the folder that the image was built in, and the same sources
// in another folder give the same image.
func hashImage(path string) (string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	fmt.Fprintf(sum, "%v %x\n", f.Machine, f.Entry)
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		fmt.Fprintf(sum, "%s %v %v %x %d\n", s.Name, s.Type, s.Flags, s.Addr, s.Size)
		if s.Type == elf.SHT_NOBITS {
			continue
		}
		if _, err := io.Copy(sum, s.Open()); err != nil {
			return "", fmt.Errorf("%s, section %s: %w", path, s.Name, err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// firstLine returns the first line of s that is not a headline of the go command.
func firstLine(s string) string {
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return strings.TrimSpace(s)
}
