package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A Status is what a fleet does at a moment.
type Status struct {
	At       time.Time       `json:"at"`
	Server   string          `json:"server"`
	Machines []MachineStatus `json:"machines"` // sorted by name
	Results  uint64          `json:"results"`  // that are known
}

// A MachineStatus is a machine with what it does.
type MachineStatus struct {
	Machine
	Live    *Live   `json:"live"` // nil: it is away
	Drained bool    `json:"drained,omitempty"`
	Queue   []Order `json:"queue,omitempty"` // what it has not begun
	// For is how long its job has been going on, in seconds, by the clock of who asks.
	For float64 `json:"for,omitempty"`
}

// Status asks what the fleet does.
func (c *Client) Status(ctx context.Context) (*Status, error) {
	s := &Status{At: time.Now().UTC().Truncate(time.Second), Server: c.URL}
	machines, err := c.values(ctx, machinesBucket)
	if err != nil {
		return nil, err
	}
	live, err := c.values(ctx, liveBucket)
	if err != nil {
		return nil, err
	}
	orders, err := c.values(ctx, ordersBucket)
	if err != nil {
		return nil, err
	}
	queued, err := c.queue(ctx)
	if err != nil {
		return nil, err
	}
	for name, entry := range machines {
		m := MachineStatus{Queue: queued[name]}
		if CheckMachine(name) != nil || json.Unmarshal(entry.Value(), &m.Machine) != nil {
			continue
		}
		m.Name = name
		if lease := live[name]; lease != nil {
			m.Live = new(Live)
			if json.Unmarshal(lease.Value(), m.Live) != nil {
				m.Live = nil
			} else if job := m.Live.Job; job != "" {
				m.For = s.At.Sub(m.Live.Since).Seconds()
				m.Live.Left = max(0, m.Live.Left-time.Since(lease.Created()).Seconds())
				m.Queue = slices.DeleteFunc(m.Queue, func(o Order) bool { return o.Job == job })
			}
		}
		_, m.Drained = orders[name+".drain"]
		s.Machines = append(s.Machines, m)
	}
	slices.SortFunc(s.Machines, func(a, b MachineStatus) int { return strings.Compare(a.Name, b.Name) })
	if bucket, err := c.js.KeyValue(ctx, storedBucket); err == nil {
		if state, err := bucket.Status(ctx); err == nil {
			s.Results = state.Values()
		}
	}
	return s, nil
}

// values returns the entries of a bucket by key.
func (c *Client) values(ctx context.Context, name string) (map[string]jetstream.KeyValueEntry, error) {
	bucket, err := c.js.KeyValue(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, errors.New("the server is there, and has no fleet yet: benchfleet serve makes one")
	}
	if err != nil {
		return nil, err
	}
	watch, err := bucket.WatchAll(ctx, jetstream.IgnoreDeletes())
	if err != nil {
		return nil, err
	}
	defer func() { _ = watch.Stop() }()
	all := make(map[string]jetstream.KeyValueEntry)
	for {
		select {
		case entry, ok := <-watch.Updates():
			if !ok || entry == nil {
				return all, nil
			}
			all[entry.Key()] = entry
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// mostQueued is how many orders are shown.
const mostQueued = 200

// queue returns the orders that are not carried out, by machine, the first first.
func (c *Client) queue(ctx context.Context) (map[string][]Order, error) {
	stream, err := c.js.Stream(ctx, jobsStream)
	if err != nil {
		return nil, err
	}
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter("dyno.job.>"))
	if err != nil {
		return nil, err
	}
	type placed struct {
		Order
		sequence uint64
	}
	var all []placed
	for subject := range info.State.Subjects {
		m, err := stream.GetLastMsgForSubject(ctx, subject)
		if err != nil {
			continue // it is done by now
		}
		if o, err := readOrder(m.Data); err == nil {
			all = append(all, placed{o, m.Sequence})
		}
		if len(all) == mostQueued {
			break
		}
	}
	slices.SortFunc(all, func(a, b placed) int { return int(a.sequence) - int(b.sequence) })
	queued := make(map[string][]Order)
	for _, o := range all {
		queued[o.Machine] = append(queued[o.Machine], o.Order)
	}
	return queued, nil
}

// JSON writes the status for programs.
func (s *Status) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(s)
}
