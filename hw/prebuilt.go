package hw

import (
	"context"
	"fmt"
	"slices"
)

// A Prebuilt is what was built for a board on one machine, to be run on another.
type Prebuilt struct {
	// Commit and Differs are what session.Commit says of the sources.
	Commit, Differs string
	Compiler        Compiler // that has made the images; its Path and Env are of no use elsewhere
	Impls           []string
	All             bool // Plan.All
	Images          []PrebuiltImage
}

// A PrebuiltImage is what came of building one image.
type PrebuiltImage struct {
	Impl  string
	Parts []string
	Path  string // of the ELF file
	Hash  string // Image.Hash
	Err   *Error // why there is none; nil if there is one
}

// Prebuild builds in the folder dir what Run would build for the one device of o. An image that
// cannot be built is told to o.Progress, and is a result of the run, as ever. An error is
// about all of them.
func Prebuild(ctx context.Context, o RunOptions, dir string) (*Prebuilt, error) {
	return prebuild(ctx, o, dir, systemDeps)
}

// prebuild is Prebuild with other deps.
func prebuild(ctx context.Context, o RunOptions, dir string, h deps) (*Prebuilt, error) {
	r := &deviceRun{deps: h, o: o, d: o.Devices[0], s: new(Summary), folder: dir}
	if b := r.d.Board; b.Kit() == "serial" {
		return nil, failedBut(FlashFailed, b.Name+" is flashed from sources, and what is sent to another machine are images",
			"run it on the machine that it is connected to; emulators and Linux boards take images")
	}
	var err error
	if r.plan, err = r.asked(); err != nil {
		return nil, err
	}
	if err := r.look(ctx); err != nil {
		return nil, err
	}
	p := &Prebuilt{Commit: r.source, Differs: r.differs, Compiler: *r.compiler, Impls: r.plan.Impls, All: r.plan.All}
	r.deps.build = func(ctx context.Context, b Board, c *Compiler, o BuildOptions) (*Image, error) {
		im, err := h.build(ctx, b, c, o)
		e, other := outcome(err)
		if other != nil {
			return nil, other
		}
		one := PrebuiltImage{Impl: o.Impl, Parts: o.Parts, Err: e}
		if e == nil {
			one.Path, one.Hash = im.Path, im.Hash
		}
		p.Images = append(p.Images, one)
		return im, err
	}
	for _, impl := range p.Impls {
		if err := r.build(ctx, impl, r.plan.Parts); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// deps are those of a run whose images are there.
func (p *Prebuilt) deps(h deps) deps {
	h.compiler = func(context.Context, Board) (*Compiler, error) { return &p.Compiler, nil }
	h.commit = func(context.Context, string, string) (string, string) { return p.Commit, p.Differs }
	h.build = p.image
	return h
}

// image takes the place of Build. What was sent is looked at, and not believed.
func (p *Prebuilt) image(_ context.Context, b Board, c *Compiler, o BuildOptions) (*Image, error) {
	i := slices.IndexFunc(p.Images, func(im PrebuiltImage) bool { return im.Impl == o.Impl && slices.Equal(im.Parts, o.Parts) })
	if i < 0 {
		return nil, failed(BuildFailed, fmt.Sprintf("there is no image of %s with %s (%s)", b.Name, o.Impl, NameParts(o.Parts)), nil)
	}
	from := p.Images[i]
	if from.Err != nil {
		return nil, from.Err
	}
	im := &Image{Board: b, Impl: o.Impl, Parts: o.Parts, Path: from.Path, Commit: o.Commit, Toolchain: c.String(), Compiler: c}
	var err error
	if im.Sizes, err = readSizes(im.Path); err == nil {
		im.Hash, err = hashImage(im.Path)
	}
	switch {
	case err != nil:
		return nil, failed(BuildFailed, im.String()+" is no ELF file to be read", err)
	case im.Hash != from.Hash:
		return nil, failed(BuildFailed, fmt.Sprintf("%s is the image %s, and was to be %s", im, short(im.Hash), short(from.Hash)), nil)
	}
	if e := im.tooBig(); e != nil {
		return im, e
	}
	return im, nil
}
