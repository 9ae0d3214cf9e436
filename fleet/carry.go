package fleet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/machinelock"
)

// errFull is the error of a job for which the disk has no room.
var errFull = errors.New("the disk is full")

// StatusFull is the exit status of benchrun carry if the disk is full: sysexits' EX_TEMPFAIL.
const StatusFull = 75

func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// carry has the job carried out, and returns what was said. What it starts has the machine's
// lock, too, so that the machine is not free before the last of it has ended. If ctx ends
// because the job is cancelled, or processes does, it is killed with all that it has started;
// when the agent is only to leave, it goes on to its end.
func (t *task) carry(ctx, processes context.Context, lock *machinelock.Lock) (said string, err error) {
	out := t.resultsPath()
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return "", err
	}
	args := append(t.o.Carry[1:len(t.o.Carry):len(t.o.Carry)], "--machine", t.o.Machine)
	cmd, err := t.o.Sandbox.command(t.o.Carry[0], args, t.folder, lock.File())
	if err != nil {
		return "", err
	}
	read, write, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer read.Close()
	var stderr child.Buffer
	complaints, err := child.NewPipe(&stderr)
	if err != nil {
		write.Close()
		return "", err
	}
	cmd.Stdout, cmd.Stderr = write, complaints.Write
	err = child.Start(cmd)
	write.Close()
	if err != nil {
		complaints.End()
		return "", err
	}
	complaints.Write.Close()
	ended := make(chan error, 1)
	go t.reports(read)
	go func() {
		err := cmd.Wait()
		child.KillGroup(cmd) // what is left of it
		ended <- err
	}()
	err = t.await(ctx, processes, cmd, ended)
	complaints.End()
	return tail(stderr.String(), mostSaid), err
}

// await waits for what carries a job out, and ends it if there is a reason to.
func (t *task) await(ctx, processes context.Context, cmd *exec.Cmd, ended <-chan error) error {
	limit := time.NewTimer(t.limit())
	defer limit.Stop()
	done := ctx.Done()
	for {
		select {
		case err := <-ended:
			var exit *exec.ExitError
			if errors.As(err, &exit) && exit.ExitCode() == StatusFull {
				return errFull
			}
			return err
		case <-done:
			if t.isCancelled(t.order.Job) {
				child.KillGroup(cmd)
				return errors.Join(context.Canceled, <-ended)
			}
			t.say("job %.12s is finished before this machine leaves; interrupt again to leave at once", t.order.Job)
			done = t.cancelledAfter()
		case <-processes.Done():
			child.KillGroup(cmd)
			return errors.Join(context.Cause(processes), <-ended)
		case <-limit.C:
			child.KillGroup(cmd)
			<-ended
			return fmt.Errorf("it was ended after %v", t.limit())
		}
	}
}

// cancelledAfter returns a channel that is closed when the job is cancelled from here on.
func (t *task) cancelledAfter() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	ctx, cancel := context.WithCancel(context.Background())
	if t.cancel = cancel; t.cancelled[t.order.Job] { // by now
		cancel()
	}
	return ctx.Done()
}

// limit is how long the job may take.
func (t *task) limit() time.Duration {
	limit := t.o.Longest
	if t.order.Expected > 0 {
		limit = min(limit, 5*t.order.Expected+15*time.Minute)
	}
	return limit
}
