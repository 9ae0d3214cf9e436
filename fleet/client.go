package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/dynolab/dyno/internal/console"
	"github.com/dynolab/dyno/internal/jobs"
)

// Options say how a fleet is reached.
type Options struct {
	Home string // the user's folder
	URL  string // of the server; "" is the one that this user has started
	CA   string // path of the certificate that the server's is signed with; "" asks the system
	// Patient waits for a server that is not there yet, as what runs for long has to.
	Patient bool
}

// A Client is a connection to a fleet. It lasts: what is lost is connected to again.
type Client struct {
	Key *Key
	URL string

	conn *nats.Conn
	js   jetstream.JetStream

	mu    sync.Mutex    // guards again
	again chan struct{} // is closed when the connection was lost and is there again
}

// reconnected returns a channel that is closed when the connection was lost and is there again:
// what was asked of the server before is not answered any more.
func (c *Client) reconnected() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.again
}

// wasAway reports whether the server was away at some time since reconnected returned again, or
// is: what failed meanwhile may have failed for that.
func (c *Client) wasAway(again <-chan struct{}) bool {
	select {
	case <-again:
		return true
	default:
		return !c.conn.IsConnected()
	}
}

func (c *Client) isReconnected(*nats.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.again)
	c.again = make(chan struct{})
}

// ServerURL returns where the user's server listens, or the default.
func ServerURL(home string) string {
	b, err := os.ReadFile(filepath.Join(home, urlName))
	if url := strings.TrimSpace(string(b)); err == nil && url != "" {
		return url
	}
	return "nats://" + DefaultListen
}

// Connect connects to a fleet.
func Connect(o Options) (*Client, error) {
	key, err := OwnKey(o.Home)
	if err != nil {
		return nil, err
	}
	if o.URL == "" {
		o.URL = ServerURL(o.Home)
	}
	c := &Client{Key: key, URL: o.URL, again: make(chan struct{})}
	options := []nats.Option{
		nats.ReconnectHandler(c.isReconnected),
		nats.Name("benchfleet"), nats.MaxReconnects(-1), nats.ReconnectWait(soon), nats.ReconnectJitter(soon/10, soon), nats.RetryOnFailedConnect(o.Patient),
		nats.Nkey(key.Public, key.pair.Sign), nats.CustomInboxPrefix(inbox(key.Public)), nats.PingInterval(leaseTime / 3), nats.MaxPingsOutstanding(2),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // what matters comes back as an error of a call
	}
	local := filepath.Join(o.Home, certName)
	switch _, missing := os.Stat(local); {
	case o.CA != "":
		options = append(options, nats.RootCAs(o.CA))
	case missing == nil && strings.HasPrefix(o.URL, "tls://"): // of this user's own server
		options = append(options, nats.RootCAs(local))
	}
	if c.conn, err = nats.Connect(o.URL, options...); err != nil {
		return nil, unreached(o.URL, key, err)
	}
	c.js, err = jetstream.New(c.conn)
	return c, err
}

// unreached says what to do if there is no connection.
func unreached(url string, key *Key, err error) error {
	if errors.Is(err, nats.ErrAuthorization) || strings.Contains(strings.ToLower(err.Error()), "authorization") {
		return fmt.Errorf("%s does not know this user's key: there, benchfleet key allow agent|sender %s lets it in (%w)", url, key.Public, err)
	}
	return fmt.Errorf("there is no fleet at %s: benchfleet serve starts one, and --server names another (%w)", url, err)
}

// Close ends the connection.
func (c *Client) Close() { c.conn.Close() }

// errLost is the error of an object that the server does not have, or has no whole copy of.
var errLost = errors.New("the server has lost it")

// errLarger is the error of an object that has more bytes than it may.
var errLarger = errors.New("it is larger")

// find returns an object that the server has all of. Of one that was being sent when the disk was
// full there may be a name, for which there was room, without the pieces.
func (c *Client) find(ctx context.Context, store jetstream.ObjectStore, digest string) (*jetstream.ObjectInfo, error) {
	info, err := store.GetInfo(ctx, digest)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, errLost
	}
	if err != nil {
		return nil, err
	}
	stream, err := c.js.Stream(ctx, partsStream)
	if err != nil {
		return nil, err
	}
	pieces := piecesSubject + info.NUID
	state, err := stream.Info(ctx, jetstream.WithSubjectFilter(pieces))
	if err == nil && state.State.Subjects[pieces] < uint64(info.Chunks) {
		err = errLost
	}
	return info, err
}

// object writes the object with a digest to w, and checks that it is what its digest says.
func (c *Client) object(ctx context.Context, digest string, most int64, w io.Writer) error {
	ctx, cancel := context.WithTimeout(ctx, transferTime(most))
	defer cancel()
	err := c.whileThere(ctx, func(ctx context.Context) error { return c.read(ctx, digest, most, w) })
	if err != nil {
		return fmt.Errorf("part %.12s: %w", digest, err)
	}
	return nil
}

func (c *Client) read(ctx context.Context, digest string, most int64, w io.Writer) error {
	store, err := c.js.ObjectStore(ctx, partsBucket)
	if err != nil {
		return err
	}
	if _, err := c.find(ctx, store, digest); err != nil {
		return err
	}
	o, err := store.Get(watchful{ctx}, digest)
	if err != nil {
		return err
	}
	defer o.Close()
	sum := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, sum), io.LimitReader(o, most+1))
	switch {
	case err != nil:
		return err
	case n > most:
		return fmt.Errorf("%w than %d bytes", errLarger, most)
	case hex.EncodeToString(sum.Sum(nil)) != digest:
		return errors.New("it is not what its digest says")
	}
	return nil
}

// A watchful context has an object that is read look now and then whether the context has ended:
// NATS reads until the context's deadline, even if that was cancelled long before.
type watchful struct{ context.Context }

func (watchful) Deadline() (time.Time, bool) { return time.Now().Add(time.Second), true }

// objectChunk is how much of an object is in a message: messages have a megabyte at most, and
// each is synced.
const objectChunk = 768 << 10

// transferTime is how long an object of so many bytes may take, at a quarter of a megabyte a
// second. Without a deadline the client of NATS allows five seconds for all of it.
func transferTime(size int64) time.Duration {
	return 30*time.Second + time.Duration(size)*time.Second/(256<<10)
}

// put stores what r has under its digest, unless all of it is there.
func (c *Client) put(ctx context.Context, digest string, size int64, r io.Reader) error {
	ctx, cancel := context.WithTimeout(ctx, transferTime(size))
	defer cancel()
	return c.whileThere(ctx, func(ctx context.Context) error { return c.write(ctx, digest, size, r) })
}

func (c *Client) write(ctx context.Context, digest string, size int64, r io.Reader) error {
	store, err := c.js.ObjectStore(ctx, partsBucket)
	if err != nil {
		return err
	}
	switch info, err := c.find(ctx, store, digest); {
	case err == nil && int64(info.Size) == size:
		return nil
	case err != nil && !errors.Is(err, errLost):
		return err
	}
	_, err = store.Put(ctx, jetstream.ObjectMeta{Name: digest, Opts: &jetstream.ObjectMetaOptions{ChunkSize: objectChunk}}, r)
	return err
}

// putFile is put of a file.
func (c *Client) putFile(ctx context.Context, digest, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return c.put(ctx, digest, info.Size(), f)
}

// insist does what needs the server. If that goes away meanwhile, or does not answer because its
// disk is full, it is done again when the server is back: waits, if not nil, is told why. What
// fails with a server that answers fails after a few times.
func (c *Client) insist(ctx context.Context, waits func(why error), do func(context.Context) error) error {
	for failed := 0; ; pause(ctx, soon) {
		again := c.reconnected()
		err := c.whileThere(ctx, do)
		if err == nil || ctx.Err() != nil || errors.Is(err, errClosed) {
			return err
		}
		silent := errors.Is(err, nats.ErrTimeout) || errors.Is(err, context.DeadlineExceeded)
		if last := c.conn.LastError(); silent && errors.Is(last, nats.ErrPermissionViolation) {
			return last // that is why there is no answer
		}
		if c.wasAway(again) || errors.Is(err, nats.ErrDisconnected) {
			err = nats.ErrDisconnected // whatever failed for it
		} else if !silent {
			if failed++; failed == mostTries {
				return err
			}
		}
		if waits != nil {
			waits(err)
		}
	}
}

// errClosed is the error of a connection that is not made again: its client has ended it, or the
// server has twice refused its key.
var errClosed = errors.New("the connection to the fleet was closed")

// whileThere does something that ends when the connection is lost, as nats.ErrDisconnected: what
// was asked of the server is not answered any more.
func (c *Client) whileThere(ctx context.Context, do func(context.Context) error) error {
	lost := c.conn.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	defer c.conn.RemoveStatusListener(lost)
	switch {
	case c.conn.IsClosed():
		return fmt.Errorf("%w (%v)", errClosed, c.conn.LastError())
	case !c.conn.IsConnected():
		return nats.ErrDisconnected
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-lost:
			cancel(nats.ErrDisconnected)
		case <-ctx.Done():
		}
	}()
	err := do(ctx)
	if err != nil && context.Cause(ctx) == nats.ErrDisconnected {
		return nats.ErrDisconnected
	}
	return err
}

// Sending is how far a job is sent.
type Sending struct {
	Sent, Of int64 // bytes
	Away     error // why the server is waited for, nil while it is not
}

// Submit sends the job in a folder to a machine, and returns its name. A job that was sent
// there before is not sent again, and neither are the parts that the server has: it goes on where
// it was when the server goes away meanwhile. progress, if not nil, is told how far it is.
func (c *Client) Submit(ctx context.Context, folder, machine string, progress func(Sending)) (id string, err error) {
	document, j, err := jobs.Read(folder)
	if err != nil {
		return "", err
	}
	if progress == nil {
		progress = func(Sending) {}
	}
	at := Sending{Of: j.Size()}
	id = jobs.ID(document)
	err = c.insist(ctx, func(why error) { at.Away = why; progress(at) }, func(ctx context.Context) error {
		at = Sending{Of: j.Size()}
		return c.submit(ctx, folder, machine, id, j, func(part int64) { at.Sent += part; progress(at) })
	})
	return id, err
}

// submit is Submit once. sent is told of each part how many bytes it had.
func (c *Client) submit(ctx context.Context, folder, machine, id string, j *jobs.Job, sent func(part int64)) error {
	if done, err := c.Stored(ctx, machine, id); err != nil || done != nil {
		return err
	}
	for _, p := range j.Parts {
		if err := c.putFile(ctx, p.SHA256, jobs.PartPath(folder, p.SHA256)); err != nil {
			return err
		}
		sent(p.Size)
	}
	if err := c.putFile(ctx, id, jobs.DocumentPath(folder)); err != nil {
		return err
	}
	order, err := c.Key.sign(Order{Job: id, Machine: machine, Title: j.Title, Expected: j.Expected, At: time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	_, err = c.js.Publish(ctx, jobSubject(machine, id), order, jetstream.WithExpectLastSequencePerSubject(0))
	if isStoredAlready(err) {
		return nil // it waits in the queue
	}
	return err
}

// isStoredAlready reports whether a message was refused because there is one of its subject.
func isStoredAlready(err error) bool {
	var api *jetstream.APIError
	return errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence ||
		api.ErrorCode == codeNotStored && api.Description == mostPerSubject)
}

// What the server says of a stream that takes one message of a subject, and has it. The code is
// that of all limits, and the text says which one it was.
const codeNotStored = jetstream.ErrorCode(server.JSStreamStoreFailedF)

var mostPerSubject = server.ErrMaxMsgsPerSubject.Error()

// fetchTime is how long a request for a message waits on the server: while there is none, who
// has asked does nothing else.
const fetchTime = 30 * time.Second

// A queue is what a consumer that lasts takes from a stream, one message at a time. Who takes
// from it has at most one in hand, and what it has in hand when it asks for the next is of an
// earlier life: see next.
type queue struct {
	stream, consumer string
	subject          string // a filter; "" is all of them
}

// next returns the next message of a queue, nil if none comes soon. Who has one keeps it by
// signs of life, else it is back in the queue after leaseTime.
//
// A message that was not acknowledged when its taker was killed comes at once: it is not waited
// until the lease ends, which takes an hour if the server's clock was set back by an hour.
func (c *Client) next(ctx context.Context, q queue) (m jetstream.Msg, err error) {
	err = c.whileThere(ctx, func(ctx context.Context) error {
		m, err = c.ask(ctx, q)
		return err
	})
	return m, err
}

func (c *Client) ask(ctx context.Context, q queue) (jetstream.Msg, error) {
	again := c.reconnected() // which is said after the connection is there
	consumer, err := c.consumer(ctx, q)
	if err == nil && consumer.CachedInfo().NumAckPending > 0 {
		// The new one has all that was not acknowledged: the stream keeps it until then.
		if err = c.js.DeleteConsumer(ctx, q.stream, q.consumer); err == nil {
			consumer, err = c.consumer(ctx, q)
		}
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
	defer cancel()
	batch, err := consumer.Fetch(1, jetstream.FetchContext(ctx))
	if err != nil {
		return nil, err
	}
	select {
	case m := <-batch.Messages():
		return m, batch.Error()
	case <-again:
	case <-ctx.Done():
	}
	return nil, nil
}

// consumer returns that of a queue. It is made if it is not there.
func (c *Client) consumer(ctx context.Context, q queue) (jetstream.Consumer, error) {
	return c.js.CreateOrUpdateConsumer(ctx, q.stream, jetstream.ConsumerConfig{
		Durable: q.consumer, FilterSubject: q.subject, AckPolicy: jetstream.AckExplicitPolicy, AckWait: leaseTime, MaxAckPending: 1, MaxDeliver: -1,
	})
}

// Stored returns what became of a job, nil if that is not known yet.
func (c *Client) Stored(ctx context.Context, machine, id string) (*Stored, error) {
	bucket, err := c.js.KeyValue(ctx, storedBucket)
	if err != nil {
		return nil, err
	}
	entry, err := bucket.Get(ctx, storedKey(machine, id))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return decodeStored(entry.Value())
}

func decodeStored(data []byte) (*Stored, error) {
	s := new(Stored)
	err := json.Unmarshal(data, s)
	return s, err
}

// ErrForgotten is the error of a job that the fleet does not know any more: its store was lost,
// or it had no room to keep what it had acknowledged.
var ErrForgotten = errors.New("the fleet does not know the job any more")

// knows returns ErrForgotten if a job is neither queued nor measured, and nothing became of it.
// It looks in the order in which a job moves, so that it misses none that does.
func (c *Client) knows(ctx context.Context, machine, id string) error {
	for _, at := range []struct{ stream, subject string }{{jobsStream, jobSubject(machine, id)}, {resultsStream, resultSubject(machine, id)}} {
		stream, err := c.js.Stream(ctx, at.stream)
		if err != nil {
			return err
		}
		if _, err := stream.GetLastMsgForSubject(ctx, at.subject); !errors.Is(err, jetstream.ErrMsgNotFound) {
			return err
		}
	}
	if s, err := c.Stored(ctx, machine, id); err != nil || s != nil {
		return err
	}
	return ErrForgotten
}

// Wait waits until it is known what became of a job that was submitted. told is called with what
// the machine says meanwhile, by one goroutine at a time. Its error is ErrForgotten if the job
// has to be submitted again.
func (c *Client) Wait(ctx context.Context, machine, id string, told func(text string)) (*Stored, error) {
	var mu sync.Mutex
	noted := make(signal, 1)
	notes, err := c.conn.Subscribe(noteSubject(machine, id), func(m *nats.Msg) {
		mu.Lock()
		defer mu.Unlock()
		told(printable(string(m.Data)))
		noted.say()
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = notes.Unsubscribe() }()
	var watch jetstream.KeyWatcher
	err = c.insist(ctx, nil, func(context.Context) error { // the watch lasts longer than this
		bucket, err := c.js.KeyValue(ctx, storedBucket)
		if err == nil {
			watch, err = bucket.Watch(ctx, storedKey(machine, id))
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	defer func() { _ = watch.Stop() }()
	look := time.NewTicker(leaseTime) // beside the watch, which a server that was begun anew may have lost
	defer look.Stop()
	for {
		if s, err := c.Stored(ctx, machine, id); err == nil && s != nil {
			return s, nil
		}
		if err := c.knows(ctx, machine, id); errors.Is(err, ErrForgotten) {
			return nil, err
		}
		select {
		case entry, ok := <-watch.Updates():
			if ok && entry != nil {
				return decodeStored(entry.Value())
			}
			if !ok {
				return nil, errClosed
			}
		case <-noted:
		case <-look.C:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// printable is text of another user as a terminal may have it.
func printable(s string) string {
	if r := []rune(s); len(r) > 1000 {
		s = string(r[:1000])
	}
	return strings.ReplaceAll(console.Printable(s), "\n", " ")
}

// Fetch writes the results of a job to path, which must not be there yet.
func (c *Client) Fetch(ctx context.Context, s *Stored, path string) error {
	if s.Outcome != Done {
		return s.Err()
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	err = c.insist(ctx, nil, func(ctx context.Context) error {
		_, err := f.Seek(0, io.SeekStart)
		return errors.Join(err, f.Truncate(0), c.object(ctx, s.SHA256, mostResults, f))
	})
	if errors.Is(err, errLost) {
		err = fmt.Errorf("%w; benchfleet serve has it in its folder of results, as %s", err, s.File)
	}
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// Cancel has a machine not carry out a job, or end it.
func (c *Client) Cancel(ctx context.Context, machine, id string) error {
	return c.order(ctx, cancelKey(machine, id), true)
}

// Drain has a machine take no more jobs, or take them again. The one that it is at is
// finished.
func (c *Client) Drain(ctx context.Context, machine string, on bool) error {
	return c.order(ctx, machine+".drain", on)
}

// order sets an order, or takes it away.
func (c *Client) order(ctx context.Context, key string, on bool) error {
	bucket, err := c.js.KeyValue(ctx, ordersBucket)
	if err != nil {
		return err
	}
	if !on {
		return bucket.Delete(ctx, key)
	}
	_, err = bucket.PutString(ctx, key, c.Key.Public)
	return err
}
