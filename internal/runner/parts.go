package runner

import (
	"context"
	"fmt"

	"github.com/dynolab/dyno/internal/jobs"
	"github.com/dynolab/dyno/internal/program"
	"github.com/dynolab/dyno/internal/program/subject"
	"github.com/dynolab/dyno/internal/testbin"
)

// parts are what a plan is carried out with.
type parts struct {
	binaries []testbin.Binary
	programs []subject.Program
}

// take makes p what j measures. Processes end with ctx.
func (j *job) take(ctx context.Context, p parts) {
	tests := testbin.NewBinaries(ctx, j.plan, p.binaries)
	tests.Linking = j.linking
	j.parts, j.subject = p, tests
	if j.tool != nil {
		j.subject = testbin.NewCounted(ctx, j.plan, p.binaries, j.tool)
	}
	if len(p.programs) > 0 {
		j.subject = subject.New(ctx, j.plan, p.programs, j.subject)
	}
}

// pack adds them to what is sent.
func (p parts) pack(to *jobs.Packer, j *jobs.Job) error {
	folders := make(map[string]string) // their digests
	for _, b := range p.binaries {
		packed := jobs.Binary{Pkg: b.Pkg, Side: b.Side, Env: b.Env, Source: b.Source}
		if b.Undrivable != nil {
			packed.Undrivable = b.Undrivable.Error()
		}
		var err error
		if packed.Image, err = to.File(b.Path); err != nil {
			return err
		}
		for _, l := range b.Layouts {
			digest, err := to.File(l.Path)
			if err != nil {
				return err
			}
			packed.Layouts = append(packed.Layouts, digest)
		}
		if folders[b.Dir] == "" {
			if folders[b.Dir], err = to.Folder(b.Dir); err != nil {
				return fmt.Errorf("%s: %w", b.Pkg, err)
			}
		}
		packed.Folder = folders[b.Dir]
		j.Binaries = append(j.Binaries, packed)
	}
	for _, one := range p.programs {
		image, err := to.File(one.Path)
		if err != nil {
			return err
		}
		j.Programs = append(j.Programs, jobs.Program{Name: one.Name, Pkg: one.Pkg, Units: one.Units, Cases: one.Cases, Image: image})
	}
	return nil
}

// unpacked are those of a job that has arrived.
func unpacked(o *jobs.Opened) (p parts) {
	for _, b := range o.Binaries {
		binary := testbin.Binary{Pkg: b.Pkg, Side: b.Side, Env: b.Env, Source: b.Source, Hash: b.Image, Path: o.Image(b.Image), Dir: o.Dir(b.Folder)}
		for _, l := range b.Layouts {
			binary.Layouts = append(binary.Layouts, testbin.Image{Path: o.Image(l), Hash: l})
		}
		p.binaries = append(p.binaries, testbin.Kept(binary, b.Undrivable))
	}
	for _, one := range o.Programs {
		p.programs = append(p.programs, subject.Program{
			Name: one.Name, Pkg: one.Pkg, Units: one.Units, Cases: one.Cases,
			File: program.File{Path: o.Image(one.Image), Dir: o.Dir(""), Hash: one.Image},
		})
	}
	return p
}
