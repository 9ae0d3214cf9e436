package fleet

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dynolab/dyno/internal/jobs"
	"github.com/dynolab/dyno/internal/machinelock"
	"github.com/dynolab/dyno/internal/runner"
)

// mostTries is how often a job may fail that was not interrupted.
const mostTries = 3

// retryAfter is how long a job waits that could not be carried out for now, such as on a full
// disk, unless it was the server that was away: then, until that is there again.
var retryAfter = leaseTime // tests have less patience

// A task is a job that this machine was ordered to carry out.
type task struct {
	*Agent
	order  Order
	m      jetstream.Msg
	folder string // with the job, its work and its results
}

// take carries an order out, and acknowledges it when its result is stored by the server. An
// agent that ends in between gets it again, and goes on.
func (a *Agent) take(ctx, processes context.Context, m jetstream.Msg) {
	o, err := a.allowed(m)
	t := &task{a, o, m, filepath.Join(a.folder, o.Job)}
	if err != nil {
		a.say("refused: %v", err)
		t.note("refused: " + err.Error())
		_ = m.Term() // it would be refused again
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.begin(o, cancel)
	defer a.now(processes, func(l *Live) { *l = Live{Instance: l.Instance, State: StateFree} })
	alive, stop := context.WithCancel(processes)
	var keeping sync.WaitGroup
	keeping.Go(func() { t.keep(alive) })
	defer func() { stop(); keeping.Wait() }()
	again := a.client.reconnected()
	result, err := t.do(ctx, processes)
	switch {
	case err == nil:
		t.conclude(processes, result)
	case errors.Is(err, errEnding):
		a.say("job %.12s goes on when this machine joins again", o.Job)
		_ = m.Nak()
	case errors.Is(err, errLost):
		a.say("job %.12s has to be sent again: %v", o.Job, err)
		if m.DoubleAck(processes) == nil {
			t.note(err.Error())
		}
	default:
		a.say("job %.12s: %v; tried again in %v", o.Job, err, retryAfter)
		t.note(fmt.Sprintf("%v; tried again in %v", err, retryAfter))
		select { // here, and not by a clock of the server, which may be set
		case <-again:
		case <-ctx.Done():
		case <-time.After(retryAfter):
		}
		_ = m.Nak()
	}
}

// errEnding is the error of a job that is left because the agent ends.
var errEnding = errors.New("the agent ends")

// begin notes what is carried out, and how that is ended if it is cancelled.
func (a *Agent) begin(o Order, cancel func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.live.Job, a.live.Title, a.live.Since = o.Job, o.Title, time.Now().UTC().Truncate(time.Second)
	a.live.Left, a.cancel = o.Expected.Seconds(), cancel
}

// note tells the sender, if it listens.
func (t *task) note(text string) {
	if t.order.Job != "" {
		_ = t.client.conn.Publish(noteSubject(t.o.Machine, t.order.Job), []byte(text[:min(len(text), 1000)]))
	}
}

// keep keeps the order this machine's while it works.
func (t *task) keep(ctx context.Context) {
	for {
		pause(ctx, beat)
		if ctx.Err() != nil {
			return
		}
		_ = t.m.InProgress()
	}
}

// do returns what became of the job. Its error says that it is not known yet, and is to be
// tried again.
func (t *task) do(ctx, processes context.Context) (Result, error) {
	if s, err := t.client.Stored(processes, t.o.Machine, t.order.Job); err != nil {
		return Result{}, err
	} else if s != nil {
		return s.Result, nil
	}
	if t.isCancelled(t.order.Job) {
		return Result{Outcome: Cancelled}, nil
	}
	lock, err := machinelock.Wait(ctx, "job "+t.order.Job[:12]+": "+t.order.Title, func(held *machinelock.HeldError) {
		t.say("job %.12s waits: %v", t.order.Job, held)
		t.note("waiting: " + held.Error())
		t.now(processes, func(l *Live) { l.State, l.Waits = StateWaiting, held.Holder })
	})
	if err != nil {
		return t.ended()
	}
	defer lock.Unlock()
	t.now(processes, func(l *Live) { l.State, l.Waits = StateFetching, "" })
	if err := t.bring(processes); err != nil {
		return t.failed(err)
	}
	if t.isCancelled(t.order.Job) {
		return Result{Outcome: Cancelled}, nil
	}
	t.say("job %.12s: %s", t.order.Job, t.order.Title)
	t.note("measuring")
	t.now(processes, func(l *Live) { l.State = StateMeasuring })
	said, err := t.carry(ctx, processes, lock)
	if err != nil {
		if errors.Is(err, errFull) {
			return Result{}, err
		}
		if ctx.Err() != nil || processes.Err() != nil {
			return t.ended()
		}
		return t.failed(fmt.Errorf("%w\n%s", err, said))
	}
	t.now(processes, func(l *Live) { l.State = StateSending })
	return t.upload(processes)
}

// ended is what became of a job that was ended before its time.
func (t *task) ended() (Result, error) {
	if t.isCancelled(t.order.Job) {
		return Result{Outcome: Cancelled}, nil
	}
	return Result{}, errEnding
}

// failed counts a try that failed; the last one is the job's result. A full disk, and a server
// that is away or has lost a part, are no fault of the job.
func (t *task) failed(err error) (Result, error) {
	if isFull(err) || errors.Is(err, errLost) || !t.client.conn.IsConnected() || errors.Is(err, nats.ErrDisconnected) || errors.Is(err, context.Canceled) {
		return Result{}, err
	}
	path := filepath.Join(t.folder, "tries")
	text, _ := os.ReadFile(path) // there is none yet
	n, _ := strconv.Atoi(string(text))
	if n++; n >= mostTries {
		return Result{Outcome: Failed, Said: tail(err.Error(), mostSaid)}, nil
	}
	return Result{}, errors.Join(err, os.MkdirAll(t.folder, 0o755), os.WriteFile(path, []byte(strconv.Itoa(n)), 0o644))
}

// bring gets what of the job is not there yet.
func (t *task) bring(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(jobs.PartPath(t.folder, "x")), 0o755); err != nil {
		return err
	}
	if err := t.bringFile(ctx, t.order.Job, jobs.MostDocument, jobs.DocumentPath(t.folder)); err != nil {
		return err
	}
	document, j, err := jobs.Read(t.folder)
	if err != nil {
		return err
	}
	if id := jobs.ID(document); id != t.order.Job {
		return errors.Join(fmt.Errorf("the document is of job %.12s", id), os.Remove(jobs.DocumentPath(t.folder)))
	}
	for _, p := range j.Parts {
		if jobs.CheckPart(t.folder, p) == nil {
			continue
		}
		if err := t.bringFile(ctx, p.SHA256, p.Size, jobs.PartPath(t.folder, p.SHA256)); err != nil {
			return err
		}
	}
	return nil
}

// bringFile gets an object, whole or not at all.
func (t *task) bringFile(ctx context.Context, digest string, most int64, path string) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	err = t.client.object(ctx, digest, most, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(path+".new"))
	}
	return os.Rename(path+".new", path)
}

// resultsPath is where the job's results are written.
func (t *task) resultsPath() string { return filepath.Join(t.folder, "out", "results.bench") }

// reports takes in how far the job is.
func (t *task) reports(r io.Reader) {
	defer func() { _, _ = io.Copy(io.Discard, r) }() // a job that writes anything else is not to wait for a reader
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		var done runner.CarryReport
		if json.Unmarshal(lines.Bytes(), &done) != nil {
			continue
		}
		t.mu.Lock() // the next heartbeat says it: nothing is sent while it is measured
		t.live.Block, t.live.Left = done.Block, done.Left
		if done.Of > 0 {
			t.live.Of = done.Of
		}
		t.mu.Unlock()
	}
}

// results opens the results, which a job of another user has written: a link to another file
// of this machine is an error, and so is what is not a file.
func (t *task) results() (*os.File, error) {
	root, err := os.OpenRoot(filepath.Dir(t.resultsPath()))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name := filepath.Base(t.resultsPath())
	info, err := root.Lstat(name)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > mostResults) {
		err = fmt.Errorf("the results are %v of %d bytes", info.Mode().Type(), info.Size())
	}
	if err != nil {
		return nil, err
	}
	return root.Open(name)
}

// upload sends the results.
func (t *task) upload(ctx context.Context) (Result, error) {
	f, err := t.results()
	if err != nil {
		return t.failed(err)
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return Result{}, err
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return Result{}, err
	}
	if err := t.client.put(ctx, digest, size, f); err != nil {
		return Result{}, err
	}
	return Result{Outcome: Done, SHA256: digest, Size: size}, nil
}

// conclude publishes the result, until the server has it, and then acknowledges the order: if
// the machine fails in between, the order comes again, and the second result is refused.
func (t *task) conclude(ctx context.Context, r Result) {
	t.mu.Lock()
	r.Fence = t.fence
	t.mu.Unlock()
	r.At = time.Now().UTC().Truncate(time.Second)
	text, err := json.Marshal(r)
	if err != nil {
		t.say("job %.12s: %v", t.order.Job, err) // it holds nothing that could not be written
		return
	}
	for first := true; ctx.Err() == nil; first = false {
		err := t.client.whileThere(ctx, func(ctx context.Context) error {
			_, err := t.client.js.Publish(ctx, resultSubject(t.o.Machine, t.order.Job), text, jetstream.WithExpectLastSequencePerSubject(0))
			return err
		})
		if err == nil || isStoredAlready(err) {
			if err != nil {
				t.say("job %.12s: the result was there already, and this copy is dropped", t.order.Job)
			}
			t.say("job %.12s: %s", t.order.Job, r.Outcome)
			_ = t.m.DoubleAck(ctx) // if it is lost, the order comes again, and nothing is measured
			t.tidy()
			return
		}
		if errors.Is(err, errClosed) {
			return
		}
		if first {
			t.say("job %.12s: the result waits for the server: %v", t.order.Job, err)
		}
		_ = t.m.InProgress()
		pause(ctx, soon)
	}
}

// tidy removes what a job needed that is done; its results stay until there are too many.
func (t *task) tidy() {
	for _, name := range []string{"parts", "work", "tries"} {
		_ = os.RemoveAll(filepath.Join(t.folder, name))
	}
	const keep = 50
	folders, err := filepath.Glob(filepath.Join(t.Agent.folder, "*", "job.json"))
	if err != nil || len(folders) <= keep {
		return
	}
	oldest, when := "", time.Now()
	for _, f := range folders {
		if info, err := os.Stat(f); err == nil && info.ModTime().Before(when) {
			oldest, when = filepath.Dir(f), info.ModTime()
		}
	}
	if oldest != "" && oldest != t.folder {
		_ = os.RemoveAll(oldest)
	}
}

// tail is the end of a text.
func tail(s string, most int) string {
	if len(s) > most {
		s = "…" + strings.ToValidUTF8(s[len(s)-most:], "")
	}
	return s
}

// isFull reports whether err says that there is no room on a disk.
func isFull(err error) bool { return errors.Is(err, errFull) || isNoSpace(err) }
