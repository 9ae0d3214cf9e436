package boardrun

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/dynolab/dyno/hw"
	"github.com/dynolab/dyno/hw/firmware/line"
	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/jobs"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/runner"
	"github.com/dynolab/dyno/internal/session"
)

// A Fleet has machines that are boards.
type Fleet struct {
	// Boards returns the machines that are boards of a kind, as a selector names them.
	Boards func(ctx context.Context, kind string) ([]runner.Machine, error)
	Send   runner.Send
}

// RunOn is Run on boards of other machines: images are built here, and sent. What comes back are
// results files like any other, one of each machine.
func (c *Command) RunOn(ctx context.Context, o RunOptions, f Fleet) error {
	if o.Resume != "" {
		return errors.New("a run that was begun here is gone on with here: leave out --on")
	}
	r, err := c.plan(&o)
	if err != nil {
		return err
	}
	ctx, _, stop := session.Interruptible(ctx, func() {})
	defer stop()
	if err := c.sources(ctx, &r); err != nil {
		return err
	}
	boards, err := hw.Boards()
	if err != nil {
		return err
	}
	all := new(hw.Summary)
	for _, name := range c.Boards {
		b, err := boards.Find(name)
		if err != nil {
			return err
		}
		one := r
		one.Devices = []hw.Device{{Board: b, Entry: hw.Entry{ID: b.Name, Board: b.Name}}}
		if err := c.runOn(ctx, one, f, all); err != nil {
			return err
		}
	}
	if err := c.present(all); err != nil {
		return err
	}
	return ended(all.Worst)
}

// runOn has all machines that are boards of one kind run what r says, and adds what came of it.
func (c *Command) runOn(ctx context.Context, r hw.RunOptions, f Fleet, all *hw.Summary) error {
	machines, err := f.Boards(ctx, r.Devices[0].Board.Name) // before what takes time
	if err != nil {
		return err
	}
	if r.Out != "" && len(machines) > 1 {
		return fmt.Errorf("--out is one file, and these are %d machines: leave it out", len(machines))
	}
	dir, remove, err := imageFolder()
	if err != nil {
		return err
	}
	defer func() { _ = remove() }()
	p := &progress{con: c.Con}
	r.Progress = p
	built, err := hw.Prebuild(ctx, r, dir)
	p.flush()
	if err != nil {
		return interruptedOr(ctx, err)
	}
	return c.send(ctx, r, f.Send, machines, dir, built, all)
}

// send has the machines carry out what was built, in the folder dir, and adds what came of it.
func (c *Command) send(ctx context.Context, r hw.RunOptions, send runner.Send, machines []runner.Machine, dir string, built *hw.Prebuilt, all *hw.Summary) error {
	if !anyImage(built) {
		return Ended(worstOf(built))
	}
	name := fmt.Sprintf("%s-%s", time.Now().UTC().Format("20060102-150405"), (built.Commit + "nocommit")[:8])
	folder := filepath.Join(dir, "job")
	if err := c.pack(folder, name, r, built); err != nil {
		return err
	}
	sent, err := runner.SendAll(ctx, send, folder, machines, func(m runner.Machine) string {
		if r.Out != "" {
			return r.Out
		}
		return filepath.Join(r.Checkout.Dir, "results", m.Name, name+".bench")
	})
	for _, path := range sent {
		err = errors.Join(err, c.add(ctx, r, path, all))
	}
	return interruptedOr(ctx, err)
}

// interruptedOr is err, or that of an interrupt.
func interruptedOr(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return session.ErrInterrupted
	}
	return err
}

func anyImage(p *hw.Prebuilt) bool {
	for _, im := range p.Images {
		if im.Err == nil {
			return true
		}
	}
	return false
}

// worstOf is the greatest outcome of images of which none could be built.
func worstOf(p *hw.Prebuilt) (o hw.Outcome) {
	for _, im := range p.Images {
		o = max(o, im.Err.Outcome)
	}
	return o
}

// add adds what a results file says that is complete.
func (c *Command) add(ctx context.Context, r hw.RunOptions, path string, all *hw.Summary) (err error) {
	r.Out = ""
	if r.Resume, err = record.ReadInterruptedBoard(path); err != nil {
		return err
	}
	r.Devices[0].Entry.ID = r.Resume.Config["machine"]
	s, err := hw.Run(ctx, r)
	if err != nil {
		return err
	}
	all.Files, all.Results, all.Worst = append(all.Files, s.Files...), append(all.Results, s.Results...), max(all.Worst, s.Worst)
	return nil
}

// pack packs what was built as a job into folder.
func (c *Command) pack(folder, name string, r hw.RunOptions, built *hw.Prebuilt) error {
	if err := os.Mkdir(folder, 0o755); err != nil {
		return err
	}
	to, err := jobs.NewPacker(folder)
	if err != nil {
		return err
	}
	parts, err := hw.SelectParts(r.Parts)
	if err != nil {
		return err
	}
	kind := r.Devices[0].Board.Name
	b := &jobs.Board{
		Kind: kind, Commit: built.Commit, Dirty: built.Differs, Impls: built.Impls, All: built.All, Parts: parts, Case: r.Case.String(),
		Compiler: jobs.Compiler{Kind: string(built.Compiler.Kind), Version: built.Compiler.Version, Go: built.Compiler.Go},
		Count:    r.Count, Timeout: r.Limits.Case, Silence: r.Limits.Silence,
	}
	for _, im := range built.Images {
		one := jobs.Image{Impl: im.Impl, Parts: im.Parts, Hash: im.Hash}
		if im.Err != nil {
			one.Outcome, one.Why = int(im.Err.Outcome), im.Err.What
		} else if one.File, err = to.File(im.Path); err != nil {
			return err
		}
		b.Images = append(b.Images, one)
	}
	title := strings.Join(append([]string{"board run", kind, "with"}, built.Impls...), " ")
	j := &jobs.Job{Title: title, Name: name, Platform: jobs.BoardPlatform(kind), Board: b}
	id, err := to.Finish(j)
	if err == nil {
		fmt.Fprintf(c.Con, "packed %s: job %s, %.1f MB\n", console.Count(len(b.Images), "image"), id[:12], float64(j.Size())/1e6)
	}
	return err
}

// Carry has a board of this machine run the images of a job, or goes on with it. The results are
// those of a local run, with the machine's name. A job for another board is an error, and so
// are images of which none can be run.
func (c *Command) Carry(ctx context.Context, j runner.Carriage) error {
	o, err := jobs.Open(j.Job, j.Work)
	if err != nil {
		return err
	}
	devices, err := c.devices()
	if err != nil {
		return err
	}
	d := devices[0]
	if o.Platform != jobs.BoardPlatform(d.Board.Name) {
		return fmt.Errorf("the job is for %s, and this machine is %s", o.Platform, jobs.BoardPlatform(d.Board.Name))
	}
	ctx, _, stop := session.Interruptible(ctx, func() {})
	defer stop()
	unlock, err := runner.LockMachine(ctx, c.Con, "benchrun carry "+o.ID[:12])
	if err != nil {
		return err
	}
	defer unlock()
	r, err := c.carriage(ctx, j, o, d)
	if err != nil {
		return err
	}
	p := &carrying{progress: &progress{con: c.Con}, to: j, count: r.Count, begun: time.Now()}
	r.Progress = p
	s, err := hw.Run(ctx, r)
	p.flush()
	switch {
	case err != nil:
		return err
	case len(s.Files) == 0:
		return Ended(max(s.Worst, hw.WrongResult)) // why was told
	}
	return nil
}

// carriage is the run of a job on a device of this machine, which may have begun.
func (c *Command) carriage(ctx context.Context, j runner.Carriage, o *jobs.Opened, d hw.Device) (hw.RunOptions, error) {
	r, err := carried(o)
	if err != nil {
		return r, err
	}
	d.Entry.ID = j.Machine
	r.Devices, r.Out = []hw.Device{d}, j.Out
	r.Settings = []record.Setting{{Key: "machine", Values: []string{j.Machine}}, {Key: runner.JobKey, Values: []string{o.ID}}}
	if d.Board.Emulated { // it is as fast as its host
		r.Settings = append(r.Settings, session.Identity(ctx)...)
	}
	if r.Resume, err = runner.Begun(c.Con, j.Out, record.ReadInterruptedBoard); r.Resume != nil {
		r.Out = ""
	}
	return r, err
}

// carried is the run of a job.
func carried(o *jobs.Opened) (r hw.RunOptions, err error) {
	r, err = (&Command{Parts: o.Board.Parts}).plan(&RunOptions{
		Case: o.Board.Case, Count: o.Board.Count, Timeout: o.Board.Timeout, Silence: o.Board.Silence,
	})
	b := o.Board
	r.Prebuilt = &hw.Prebuilt{
		Commit: b.Commit, Differs: b.Dirty, Impls: b.Impls, All: b.All,
		Compiler: hw.Compiler{Kind: hw.Kind(b.Compiler.Kind), Version: b.Compiler.Version, Go: b.Compiler.Go},
	}
	for _, im := range b.Images {
		one := hw.PrebuiltImage{Impl: im.Impl, Parts: im.Parts, Hash: im.Hash}
		if im.File != "" {
			one.Path = o.Image(im.File)
		} else {
			one.Err = &hw.Error{Outcome: hw.Outcome(min(im.Outcome, int(hw.WrongResult))), What: im.Why}
		}
		r.Prebuilt.Images = append(r.Prebuilt.Images, one)
	}
	return r, err
}

// A carrying is the progress of a job: it also reports how many cases are done.
type carrying struct {
	*progress
	to       runner.Carriage
	count    int
	done, of int
	begun    time.Time
}

// Build and Built say nothing: the images are there.
func (c *carrying) Build(hw.Device, string, []string)         {}
func (c *carrying) Built(hw.Device, string, *hw.Image, error) {}
func (c *carrying) Split(hw.Device, string, []string, error)  {}

func (c *carrying) Cases(d hw.Device, im *hw.Image, hello line.Hello, n int) {
	c.progress.Cases(d, im, hello, n)
	c.of += n * c.count
}

func (c *carrying) Case(d hw.Device, im *hw.Image, name string, block int) {
	c.progress.Case(d, im, name, block)
	c.report()
}

func (c *carrying) Had(im *hw.Image, block int) {
	c.progress.Had(im, block)
	c.report()
}

// report tells how many cases are done when the next one begins.
func (c *carrying) report() {
	left := 0.0
	if c.done > 0 {
		left = time.Since(c.begun).Seconds() / float64(c.done) * float64(c.of-c.done)
	}
	c.to.Report(runner.CarryReport{Block: c.done, Of: c.of, Left: left})
	c.done++
}
