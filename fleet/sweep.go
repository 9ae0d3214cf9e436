package fleet

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/dynolab/dyno/internal/jobs"
)

// How long the server keeps what nothing needs: parts may be of a job that is being sent, and
// results of one whose sender asks for them later. The folder of results has those for good.
const (
	keepParts   = 24 * time.Hour
	keepResults = 30 * 24 * time.Hour
)

// sweep removes the parts of jobs from the server that are not queued any more, and results that
// were stored long ago. now is the time by which objects are old.
func (k *Collector) sweep(ctx context.Context, now time.Time) error {
	store, err := k.client.js.ObjectStore(ctx, partsBucket)
	if err != nil {
		return err
	}
	pieces, err := k.oldPieces(ctx, now)
	if err != nil {
		return err
	}
	objects, err := store.List(ctx) // looked up after the pieces: an object has its name last
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return err
	}
	for _, o := range objects {
		delete(pieces, piecesSubject+o.NUID)
	}
	if err := k.purge(ctx, pieces); err != nil {
		return err
	}
	needed, err := k.needed(ctx) // looked up after the list: what has been queued since is not in it
	if err != nil {
		return err
	}
	results, err := k.client.values(ctx, storedBucket)
	if err != nil {
		return err
	}
	isResult := make(map[string]bool)
	for _, entry := range results {
		var s Stored
		if json.Unmarshal(entry.Value(), &s) == nil {
			isResult[s.SHA256] = true
		}
	}
	for _, o := range objects {
		keep := keepParts
		if isResult[o.Name] {
			keep = keepResults
		}
		if needed[o.Name] || now.Sub(o.ModTime) < keep {
			continue
		}
		if err := store.Delete(ctx, o.Name); err != nil {
			return err
		}
	}
	return nil
}

// oldPieces are the subjects of pieces of which the last came long ago.
func (k *Collector) oldPieces(ctx context.Context, now time.Time) (map[string]bool, error) {
	stream, err := k.client.js.Stream(ctx, partsStream)
	if err != nil {
		return nil, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(piecesSubject+">"))
	if err != nil {
		return nil, err
	}
	old := make(map[string]bool)
	for subject := range info.State.Subjects {
		last, err := stream.GetLastMsgForSubject(ctx, subject)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if now.Sub(last.Time) >= keepParts {
			old[subject] = true
		}
	}
	return old, nil
}

// purge removes pieces that are of no object. Two clients that send the same part at a time leave
// those of one: NATS looks for what it will replace before it begins.
func (k *Collector) purge(ctx context.Context, pieces map[string]bool) error {
	stream, err := k.client.js.Stream(ctx, partsStream)
	if err != nil {
		return err
	}
	for subject := range pieces {
		if err := stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return err
		}
	}
	return nil
}

// needed are the objects of all jobs that are queued, or whose results are not stored yet.
func (k *Collector) needed(ctx context.Context) (map[string]bool, error) {
	needed := make(map[string]bool)
	for _, from := range []struct{ stream, kind string }{{jobsStream, "job"}, {resultsStream, "result"}} {
		stream, err := k.client.js.Stream(ctx, from.stream)
		if err != nil {
			return nil, err
		}
		info, err := stream.Info(ctx, jetstream.WithSubjectFilter("dyno."+from.kind+".>"))
		if err != nil {
			return nil, err
		}
		for subject := range info.State.Subjects {
			_, id, err := splitSubject(subject, from.kind)
			if err != nil || needed[id] {
				continue
			}
			needed[id] = true
			var document bytes.Buffer
			err = k.client.object(ctx, id, jobs.MostDocument, &document)
			if errors.Is(err, errLost) {
				continue // its machine lets go of it
			}
			if err != nil {
				return nil, err
			}
			if j, err := jobs.Decode(document.Bytes()); err == nil { // else its machine refuses it
				for _, p := range j.Parts {
					needed[p.SHA256] = true
				}
			}
		}
	}
	return needed, nil
}
