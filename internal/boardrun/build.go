package boardrun

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/report"
	"github.com/dynolab/dyno/internal/session"
)

// A Built image is what came of building it.
type Built struct {
	Board     string           `json:"board"`
	Impl      string           `json:"implementation"`
	Parts     []string         `json:"parts"`
	Outcome   string           `json:"outcome"`
	Why       string           `json:"why,omitempty"`
	Path      string           `json:"path,omitempty"`
	Toolchain string           `json:"toolchain,omitempty"`
	Flash     *Used            `json:"flash,omitempty"`
	RAM       *Used            `json:"ram,omitempty"`
	Packages  []hw.PackageSize `json:"packages,omitempty"`
}

// Used is how much of a memory an image needs, in bytes.
type Used struct {
	Used  int64 `json:"used"`
	Limit int64 `json:"limit"` // 0: none
}

// BuildOptions say what becomes of images.
type BuildOptions struct {
	Out  string // the folder in which they are kept; "" is none
	JSON bool   // print what they need for programs
}

// Build makes an image of each implementation for each kind of board, and prints what
// they need. The hardware map plays no part.
func (c *Command) Build(ctx context.Context, o BuildOptions) error {
	if err := c.check(); err != nil {
		return err
	}
	ctx, _, stop := session.Interruptible(ctx, func() {})
	defer stop()
	boards, err := hw.Boards()
	if err != nil {
		return err
	}
	var kinds []hw.Board
	for _, name := range c.Boards {
		b, err := boards.Find(name)
		if err != nil {
			return err
		}
		kinds = append(kinds, b)
	}
	checkout, err := hw.FindCheckout(ctx, "")
	if err != nil {
		return err
	}
	if o.Out != "" {
		if err := os.MkdirAll(o.Out, 0o755); err != nil {
			return err
		}
	}
	impls, err := c.implementations(checkout)
	if err != nil {
		return err
	}
	b := &builder{c: c, BuildOptions: o, image: hw.BuildOptions{Checkout: checkout, Parts: c.Parts, Commit: commitOf(ctx, checkout)}}
	for _, kind := range kinds {
		compiler, missing := hw.FindCompiler(ctx, kind)
		for _, impl := range impls {
			if err := b.add(ctx, kind, impl, compiler, missing); err != nil {
				return err
			}
		}
	}
	return b.conclude()
}

// A builder builds images, one after the other.
type builder struct {
	c *Command
	BuildOptions
	image hw.BuildOptions // of each, but for its implementation and folder

	all   []Built
	worst hw.Outcome // of those that count
	built bool       // there is an image
}

// add builds an image, unless its compiler is missing.
func (b *builder) add(ctx context.Context, board hw.Board, impl string, compiler *hw.Compiler, missing error) error {
	im, err := (*hw.Image)(nil), missing
	if err == nil && ctx.Err() == nil {
		fmt.Fprintf(b.c.Con, "building %s with %s\n", board.Name, impl)
		im, err = b.build(ctx, board, impl, compiler)
	}
	if ctx.Err() != nil {
		fmt.Fprintln(b.c.Con, "interrupted")
		return session.ErrInterrupted
	}
	return b.note(board, impl, im, err)
}

// note says what came of an image, and keeps it in mind.
func (b *builder) note(board hw.Board, impl string, im *hw.Image, err error) error {
	one := Built{Board: board.Name, Impl: impl, Parts: b.c.Parts}
	if err != nil {
		one.Why = console.Printable(err.Error())
	}
	o, err := Tell(b.c.Con, err)
	if err != nil {
		return err
	}
	switch {
	case o == hw.OK:
		b.built = true
	case o != hw.TooBig || len(b.c.Impls) > 0: // what was not asked for by name may be too big
		b.worst = max(b.worst, o)
	}
	one.Outcome = o.String()
	if im != nil {
		one.describe(im)
	}
	if o == hw.OK && b.Out != "" {
		one.Path = im.Path
	}
	b.all = append(b.all, one)
	if o == hw.OK && !b.JSON {
		return writeImage(b.c.Out, im, one.Path)
	}
	return nil
}

// build builds an image in a folder of its own, and keeps it if it is to be kept.
func (b *builder) build(ctx context.Context, board hw.Board, impl string, compiler *hw.Compiler) (im *hw.Image, err error) {
	dir, remove, err := imageFolder()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	o := b.image
	o.Impl, o.Dir = impl, dir
	if im, err = hw.Build(ctx, board, compiler, o); err != nil || b.Out == "" {
		return im, err
	}
	return im, keep(im, b.Out)
}

// keep copies an image into a folder.
func keep(im *hw.Image, folder string) error {
	data, err := os.ReadFile(im.Path)
	if err != nil {
		return err
	}
	im.Path = filepath.Join(folder, im.Board.Name+"-"+im.Impl+".elf")
	return os.WriteFile(im.Path, data, 0o755)
}

// conclude prints what there is to say of all images.
func (b *builder) conclude() error {
	var err error
	if b.JSON {
		err = report.WriteJSON(b.c.Out, b.all)
	} else if len(b.all) > 1 {
		err = compareImages(b.all).Text(b.c.Out, b.c.Text)
	}
	switch {
	case err != nil:
		return err
	case b.worst == hw.OK && !b.built:
		return Ended(hw.TooBig)
	}
	return ended(b.worst)
}

func (b *Built) describe(im *hw.Image) {
	b.Parts, b.Toolchain = im.Parts, im.Toolchain
	if im.Sizes == nil {
		return
	}
	b.Flash = &Used{im.Sizes.Flash(), im.Board.Flash}
	b.RAM = &Used{im.Sizes.RAM(), im.Board.RAM}
	b.Packages = im.Sizes.Packages
}

// writeImage writes the table of an image, what it leaves of its board, and where it is
// kept.
func writeImage(w io.Writer, im *hw.Image, path string) error {
	if path != "" {
		path = "image: " + path + "\n"
	}
	_, err := fmt.Fprintf(w, "%s with %s, %s, %s\n\n%s\nflash: %s\nRAM:   %s, before anything is allocated\n%s\n", im.Board.Name, im.Impl, hw.NameParts(im.Parts),
		im.Toolchain, im.Sizes.Table(), room(im.Sizes.Flash(), im.Board.Flash), room(im.Sizes.RAM(), im.Board.RAM), path)
	return err
}

// room says how much of a limit is used and left.
func room(used, limit int64) string {
	switch {
	case limit == 0:
		return fmt.Sprintf("%d bytes, of which there is no limit", used)
	case used > limit:
		return fmt.Sprintf("%d of %d bytes, %d too many", used, limit, used-limit)
	}
	return fmt.Sprintf("%d of %d bytes, %d left (%d %%)", used, limit, limit-used, 100*(limit-used)/limit)
}

// compareImages has a line for each image.
func compareImages(all []Built) report.Doc {
	t := table("board", "implementation", "flash", "RAM", "")
	for _, b := range all {
		flash, ram := "-", "-"
		if b.Flash != nil {
			flash, ram = room(b.Flash.Used, b.Flash.Limit), room(b.RAM.Used, b.RAM.Limit)
		}
		addRow(&t, b.Board, b.Impl, flash, ram, b.Outcome)
	}
	return report.Doc{Blocks: []report.Block{t}}
}
