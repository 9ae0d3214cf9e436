package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/jobs"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
)

// A Machine is one that carries plans out for others.
type Machine struct {
	Name     string `json:"name"`
	Platform string `json:"platform"` // such as "linux/arm64"
	Cores    int    `json:"cores"`
}

// Send has a machine carry out the job that is packed in folder, and writes the results file
// to path, which is not there yet. Several run at a time, for different machines. Its error is
// session.ErrInterrupted if it was interrupted, which it has said.
type Send func(ctx context.Context, folder string, to Machine, path string) error

// away is where plans are carried out in place of this machine.
type away struct {
	machines []Machine // of one platform
	send     Send

	sent []string // paths of results
}

// SendTo has the machines, which are of one platform, measure in place of this one: all is
// prepared as ever, but what would be measured is packed and sent. It is called before
// anything else. Plans that decide as they go, such as a bisection, need one machine.
func (r *Runner) SendTo(machines []Machine, send Send) {
	r.away = &away{machines: machines, send: send}
}

// Results returns the paths of the results of a run that says that they are in path: of one
// that was sent away, a file for each machine.
func (r *Runner) Results(path string) []string {
	switch {
	case r.away != nil:
		return r.sent()
	case path == "":
		return nil
	}
	return []string{path}
}

// sent returns the paths of what came back from machines.
func (r *Runner) sent() []string {
	return slices.Sorted(slices.Values(r.away.sent))
}

// Alone reports whether one machine measures: this one, or the one that plans are sent to.
func (r *Runner) Alone() bool { return r.away == nil || len(r.away.machines) == 1 }

// build builds binaries again for the machines, if they are of another platform: what is
// listed runs here, and what is measured there.
func (a *away) build(ctx context.Context, folder string, binaries []testbin.Binary) error {
	if a == nil || a.machines[0].Platform == platform() {
		return nil
	}
	system, arch, _ := strings.Cut(a.machines[0].Platform, "/")
	return testbin.For(ctx, filepath.Join(folder, "for-"+system+"-"+arch), binaries, []string{"GOOS=" + system, "GOARCH=" + arch, "CGO_ENABLED=0"})
}

func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }

// send packs j and has all machines carry it out.
func (r *Runner) send(ctx context.Context, j *job) error {
	if j.from != nil {
		return errors.New("a run that was begun here is gone on with here: leave out --on")
	}
	folder, err := r.scratch()
	if err != nil {
		return err
	}
	if err := r.pack(j, folder); err != nil {
		return err
	}
	machines := r.away.machines
	sent, err := SendAll(ctx, r.away.send, folder, machines, func(m Machine) string {
		if len(machines) == 1 {
			return j.path
		}
		return unused(filepath.Join(filepath.Dir(filepath.Dir(j.path)), m.Name, filepath.Base(j.path)))
	})
	r.away.sent = append(r.away.sent, sent...)
	if err != nil {
		return err
	}
	j.begun = true
	return nil
}

// SendAll has machines carry out the job in folder, at the same time. path says where the results
// of each go. It returns the paths of those that came, sorted, also with an error.
func SendAll(ctx context.Context, send Send, folder string, machines []Machine, path func(Machine) string) (sent []string, err error) {
	paths, errs := make([]string, len(machines)), make([]error, len(machines))
	var work sync.WaitGroup
	for i, m := range machines {
		to := path(m)
		work.Go(func() {
			if errs[i] = os.MkdirAll(filepath.Dir(to), 0o755); errs[i] == nil {
				errs[i] = send(ctx, folder, m, to)
			}
			if errs[i] == nil {
				paths[i] = to
			}
		})
	}
	work.Wait()
	sent = slices.DeleteFunc(paths, func(p string) bool { return p == "" })
	slices.Sort(sent)
	return sent, errors.Join(errs...)
}

// pack packs j into folder.
func (r *Runner) pack(j *job, folder string) error {
	to, err := jobs.NewPacker(folder)
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(filepath.Base(j.path), ".bench")
	packed := &jobs.Job{
		Title: r.title(j), Name: name, Platform: r.away.machines[0].Platform, Plan: j.plan.Encode(),
		Settings: session.WithoutMachine(j.here), Absent: j.absent, Expected: session.NewForecast(j.plan, nil).Left(),
	}
	if err := j.parts.pack(to, packed); err != nil {
		return err
	}
	id, err := to.Finish(packed)
	if err == nil && !j.quiet {
		fmt.Fprintf(r.con, "packed %s in %s, about %v of measuring: job %s, %s\n", console.Count(len(j.plan.Cases)*len(j.plan.CPU), "benchmark"),
			console.Count(j.plan.Blocks, "block"), console.Rough(packed.Expected), id[:12], megabytes(packed.Size()))
	}
	return err
}

// title says in one line what j is.
func (r *Runner) title(j *job) string {
	words := append(strings.Fields(r.command)[1:], j.title)
	if old := j.here.Value(record.SideOld); old != "" {
		words = append(words, old, j.here.Value(record.SideNew))
	}
	words = append(words, j.plan.Packages...)
	if j.plan.Bench != "." {
		words = append(words, "--bench", console.ShellWord(j.plan.Bench))
	}
	text := []rune(strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	return string(text[:min(200, len(text))])
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
