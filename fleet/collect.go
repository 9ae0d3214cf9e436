package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dynolab/dyno/internal/jobs"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/runner"
)

// A Collector stores what machines send in a folder, by machine and job.
type Collector struct {
	client *Client
	folder string
	log    io.Writer
	failed map[string]int // how often results could not be stored for now, by their subject
}

// Collect stores results below folder until ctx ends. Several collectors with one folder do no harm.
func Collect(ctx context.Context, c *Client, folder string, log io.Writer) error {
	k := &Collector{client: c, folder: folder, log: log, failed: make(map[string]int)}
	if err := k.remember(ctx); err != nil && ctx.Err() == nil {
		return err
	}
	again, swept := c.reconnected(), time.Time{}
	for ctx.Err() == nil {
		if time.Since(swept) > time.Hour {
			swept = time.Now()
			if err := k.sweep(ctx, swept); err != nil && ctx.Err() == nil {
				k.say("what is not needed any more stays for another hour: %v", err)
			}
		}
		select {
		case <-again: // to a server that may have begun anew: what it had in memory only is gone
			if next := c.reconnected(); c.whileThere(ctx, c.Found) == nil {
				again = next
			} else {
				pause(ctx, soon)
			}
		default:
		}
		m, err := k.client.next(ctx, queue{stream: resultsStream, consumer: "collector"})
		if m != nil {
			k.take(ctx, m)
		} else if errors.Is(err, errClosed) {
			return err
		} else if err != nil {
			pause(ctx, soon)
		}
	}
	return nil
}

func (k *Collector) say(format string, args ...any) {
	fmt.Fprintf(k.log, "%s  %s\n", time.Now().Format("15:04:05"), printable(fmt.Sprintf(format, args...)))
}

// storeAgainAfter is how long a result waits that could not be stored for now, such as on a full
// disk.
var storeAgainAfter = 5 * time.Second // tests have less patience

// take stores a result, says so, and only then acknowledges it: who ends in between gets it
// again, and finds it stored.
func (k *Collector) take(ctx context.Context, m jetstream.Msg) {
	machine, job, err := splitSubject(m.Subject(), "result")
	if err != nil {
		k.say("dropped: %v", err)
		_ = m.Term()
		return
	}
	again := k.client.reconnected()
	s, err := k.keep(ctx, machine, job, m.Data())
	if err == nil {
		delete(k.failed, m.Subject())
		k.say("job %.12s on %s: %s %s", job, machine, s.Outcome, s.File)
		_ = m.DoubleAck(ctx)
		return
	}
	if k.failed[m.Subject()] == 0 {
		k.say("job %.12s on %s is not stored yet: %v", job, machine, err)
	}
	k.failed[m.Subject()]++
	var unread *unreadError
	switch {
	case !errors.As(err, &unread) || k.client.wasAway(again):
		k.failed[m.Subject()] = 1 // it is no fault of this result
		pause(ctx, storeAgainAfter)
		_ = m.Nak()
	case k.failed[m.Subject()] < mostTries:
		k.putBack(ctx, m)
	default:
		k.forget(ctx, m, machine, job, unread)
	}
}

// keep stores what a machine says became of a job, and tells it.
func (k *Collector) keep(ctx context.Context, machine, job string, said []byte) (s Stored, err error) {
	if err := json.Unmarshal(said, &s.Result); err != nil {
		s.Result = Result{Outcome: Refused, Said: err.Error()}
	}
	if s.Outcome == Done {
		s.File, err = k.store(ctx, machine, job, &s.Result)
		var bad *badResultError
		if errors.As(err, &bad) {
			s.Result, err = Result{Outcome: Refused, Said: bad.why, At: s.At}, nil
		}
	}
	if err == nil {
		err = k.tell(ctx, machine, job, &s)
	}
	return s, err
}

// An unreadError says that a part could not be had of the server.
type unreadError struct {
	digest string
	err    error
}

func (e *unreadError) Error() string { return e.err.Error() }
func (e *unreadError) Unwrap() error { return e.err }

// putBack puts a result behind all others that wait: they are not to wait for it.
func (k *Collector) putBack(ctx context.Context, m jetstream.Msg) {
	at, err := m.Metadata()
	if err != nil {
		return // it came from a stream
	}
	if at.NumPending == 0 {
		pause(ctx, storeAgainAfter)
	}
	last := &nats.Msg{Subject: m.Subject(), Data: m.Data(), Header: nats.Header{jetstream.MsgRollup: {jetstream.MsgRollupSubject}}}
	_, err = k.client.js.PublishMsg(ctx, last, jetstream.WithExpectLastSequencePerSubject(at.Sequence.Stream))
	if err == nil {
		_ = m.Term() // the server has removed it
		return
	}
	_ = m.Nak()
}

// forget drops a result with a part that the server cannot give, so that its sender is told to
// send the job again, and no one takes the part for whole: the machine still has the results, and
// sends them then.
func (k *Collector) forget(ctx context.Context, m jetstream.Msg, machine, job string, unread *unreadError) {
	store, err := k.client.js.ObjectStore(ctx, partsBucket)
	if err == nil {
		err = store.Delete(ctx, unread.digest)
	}
	if err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		k.putBack(ctx, m)
		return
	}
	delete(k.failed, m.Subject())
	k.say("job %.12s on %s has to be sent again: %v", job, machine, unread)
	if m.DoubleAck(ctx) == nil {
		_ = k.client.conn.Publish(noteSubject(machine, job), []byte(unread.Error())) // who waits looks anyway
	}
}

// tell says what became of a job. The first word counts: results that are there are never
// taken back.
func (k *Collector) tell(ctx context.Context, machine, job string, s *Stored) error {
	bucket, err := k.client.js.KeyValue(ctx, storedBucket)
	if err != nil {
		return err
	}
	s.Said = tail(s.Said, mostSaid)
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	_, err = bucket.Create(ctx, storedKey(machine, job), text)
	if err != nil && !errors.Is(err, jetstream.ErrKeyExists) {
		return err
	}
	orders, err := k.client.js.KeyValue(ctx, ordersBucket)
	if err != nil {
		return err
	}
	return orders.Purge(ctx, cancelKey(machine, job)) // it was followed, or came too late
}

// A badResultError says why what a machine has sent is not a result of its job.
type badResultError struct{ why string }

func (e *badResultError) Error() string { return e.why }

// store writes a results file, and returns its path below the folder. It is there, whole and
// synced, when store returns. If there is one already, the first stays.
func (k *Collector) store(ctx context.Context, machine, job string, r *Result) (file string, err error) {
	if !jobs.IsID(r.SHA256) || r.Size < 0 || r.Size > mostResults {
		return "", &badResultError{"it names no results file"}
	}
	var document, data bytes.Buffer
	if err := k.read(ctx, job, jobs.MostDocument, &document); err != nil {
		return "", err
	}
	if err := k.read(ctx, r.SHA256, r.Size, &data); err != nil {
		return "", err
	}
	j, err := jobs.Decode(document.Bytes())
	if err != nil {
		return "", &badResultError{err.Error()}
	}
	if err := check(data.Bytes(), machine, job, j); err != nil {
		return "", &badResultError{err.Error()}
	}
	file = filepath.Join(machine, j.Name+"-"+job[:12]+".bench")
	return file, k.write(filepath.Join(k.folder, file), data.Bytes())
}

// read reads a part that a result needs.
func (k *Collector) read(ctx context.Context, digest string, most int64, w io.Writer) error {
	err := k.client.object(ctx, digest, most, w)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLarger):
		return &badResultError{err.Error()}
	}
	return &unreadError{digest, err}
}

// check returns an error unless data are whole results of a job on a machine.
func check(data []byte, machine, job string, j *jobs.Job) error {
	run, err := record.Complete("what the machine sent", data)
	if err != nil {
		return err
	}
	switch err := j.CheckPlan(run.Plan); {
	case err != nil:
		return err
	case run.Config[runner.JobKey] != job:
		return fmt.Errorf("it is of the job %.12s", run.Config[runner.JobKey])
	case run.Config["machine"] != machine:
		return fmt.Errorf("it is of the machine %.60q", run.Config["machine"])
	}
	return nil
}

// write writes a file that stays: synced, under a name that it has only when it is whole.
func (k *Collector) write(path string, data []byte) error {
	if there, err := os.ReadFile(path); err == nil {
		if !bytes.Equal(there, data) {
			k.say("%s is there with other figures: a second measurement of the job is dropped", path)
		}
		return nil
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	temp, err := os.CreateTemp(dir, ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(data)
	if err := errors.Join(err, temp.Chmod(0o644), temp.Sync(), temp.Close()); err != nil {
		return err
	}
	if err := os.Link(temp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return errors.Join(syncFolder(dir), syncFolder(k.folder))
}

// syncFolder makes the names in a folder stay.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// remember says of all results in the folder that they are stored: it is the truth, whatever
// became of the server's store.
func (k *Collector) remember(ctx context.Context) error {
	leftovers, _ := filepath.Glob(filepath.Join(k.folder, "*", ".new-*")) // of a collector that was killed
	for _, path := range leftovers {
		_ = os.Remove(path)
	}
	files, err := filepath.Glob(filepath.Join(k.folder, "*", "*.bench"))
	if err != nil {
		return err
	}
	for _, path := range files {
		machine, job := k.of(path)
		if CheckMachine(machine) != nil || !jobs.IsID(job) {
			continue
		}
		if known, err := k.client.Stored(ctx, machine, job); err != nil || known != nil {
			continue
		}
		if err := k.rememberOne(ctx, path, machine, job); err != nil {
			return err
		}
	}
	return nil
}

// rememberOne says that a file is stored, which the server does not know any more.
func (k *Collector) rememberOne(ctx context.Context, path, machine, job string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	s := Stored{Result: Result{Outcome: Done, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(data))}}
	if s.File, err = filepath.Rel(k.folder, path); err != nil {
		return err
	}
	if err := k.client.put(ctx, s.SHA256, s.Size, bytes.NewReader(data)); err != nil {
		return err
	}
	return k.tell(ctx, machine, job, &s)
}

// of returns of which machine and job a results file is, by its first lines.
func (k *Collector) of(path string) (machine, job string) {
	f, err := os.Open(path)
	if err != nil {
		return "", ""
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 64<<10))
	if err != nil {
		return "", ""
	}
	for l := range record.Lines(string(head)) {
		switch {
		case l.Key == runner.JobKey && job == "":
			job = l.Value
		case l.Key == "machine" && machine == "":
			machine = l.Value
		case l.Key == "block":
			return machine, job
		}
	}
	return machine, job
}
