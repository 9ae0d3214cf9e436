package onemutex

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dynolab/dyno/actor"
)

// reading is a message for a mailbox of the latest.
type reading struct {
	sensor string
	value  int
}

func sensor(msg any) string { return msg.(reading).sensor }

// do is a message: something for the guardian to do.
type do func(ctx *actor.Context) error

// system starts a system on this dispatcher whose guardian does what it is
// told.
func system(t *testing.T) *actor.System {
	t.Helper()
	sys, err := actor.NewSystem(actor.Config{
		Dispatcher: NewDispatcher(),
		Guardian: actor.Props{New: func() actor.Actor {
			return actor.ReceiveFunc(func(ctx *actor.Context, msg any) error { return msg.(do)(ctx) })
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sys.Shutdown(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return sys
}

// spawn has the guardian spawn an actor. It is called in a bubble.
func spawn(t *testing.T, sys *actor.System, p actor.Props) (r actor.Ref) {
	t.Helper()
	tell(t, sys.UserGuardian(), do(func(ctx *actor.Context) (err error) {
		r, err = ctx.Spawn(p)
		return err
	}))
	synctest.Wait()
	if r.IsZero() {
		t.Fatal(sys.Err())
	}
	return r
}

func tell(t *testing.T, r actor.Ref, msgs ...any) {
	t.Helper()
	for _, m := range msgs {
		if err := r.Tell(m); err != nil {
			t.Error(err)
		}
	}
}

// recorder is an actor that keeps the readings it gets.
type recorder struct{ got *[]reading }

func (r recorder) Receive(_ *actor.Context, msg any) error {
	*r.got = append(*r.got, msg.(reading))
	return nil
}

func latest() actor.Mailbox { return NewLatest(sensor) }

func TestLatest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sys := system(t)
		var got []reading
		r := spawn(t, sys, actor.Props{
			New:     func() actor.Actor { return recorder{&got} },
			Mailbox: actor.MailboxConfig{New: latest},
		})
		sys.Suspend(r, actor.Suspension{Reason: "to see what waits"})
		synctest.Wait()
		tell(t, r, reading{"a", 1}, reading{"b", 2}, reading{"a", 3}, reading{"c", 4}, reading{"a", 5})
		if n := r.Backlog(); n != 3 {
			t.Errorf("%d readings wait, want one of each sensor", n)
		}
		sys.Resume(r)
		synctest.Wait()
		if want := []reading{{"a", 5}, {"b", 2}, {"c", 4}}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		var dropped []any
		for _, l := range sys.DeadLetters() {
			if l.Reason != actor.ErrDropped || l.To != r {
				t.Errorf("a dead letter for %v with the reason %v", l.To, l.Reason)
			}
			dropped = append(dropped, l.Msg)
		}
		if want := []any{reading{"a", 1}, reading{"a", 3}}; !slices.Equal(dropped, want) {
			t.Errorf("dropped %v, want %v", dropped, want)
		}
		// What has been dequeued is replaced no more, and waits no more.
		sys.Suspend(r, actor.Suspension{})
		synctest.Wait()
		tell(t, r, reading{"a", 6})
		sys.Stop(r)
		synctest.Wait()
		if ls := sys.DeadLetters(); len(ls) != 3 || ls[2].Reason != actor.ErrStopped || ls[2].Msg != any(reading{"a", 6}) {
			t.Errorf("dead letters %v", ls)
		}
	})
}

// TestLatestLosesNothing: with senders that race, every message is handled or
// dropped, and what is handled of a sensor is in order and ends with the last.
func TestLatestLosesNothing(t *testing.T) {
	const senders, each = 4, 2000
	sys := system(t)
	var got []reading
	done := make(chan struct{})
	ref := make(chan actor.Ref, 1)
	tell(t, sys.UserGuardian(), do(func(ctx *actor.Context) error {
		r, err := ctx.Spawn(actor.Props{
			New: func() actor.Actor {
				last := map[string]int{}
				return actor.ReceiveFunc(func(_ *actor.Context, msg any) error {
					m := msg.(reading)
					if got = append(got, m); m.value == each {
						if last[m.sensor] = each; len(last) == senders {
							close(done)
						}
					}
					return nil
				})
			},
			Mailbox: actor.MailboxConfig{New: latest},
		})
		ref <- r
		return err
	}))
	r := <-ref
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"}[:senders] {
		wg.Go(func() {
			for i := range each {
				tell(t, r, reading{name, i + 1})
			}
		})
	}
	wg.Wait()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the last reading of some sensor has not come")
	}
	if err := sys.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	last := map[string]int{}
	for _, m := range got {
		if m.value <= last[m.sensor] {
			t.Errorf("%v came after value %d", m, last[m.sensor])
		}
		last[m.sensor] = m.value
	}
	if st := sys.Stats(); uint64(len(got))+st.Dropped != senders*each {
		t.Errorf("%d handled and %d dropped of %d", len(got), st.Dropped, senders*each)
	}
}

var (
	errPassing = errors.New("try again")
	errLasting = errors.New("never")
)

func TestRetrier(t *testing.T) {
	for _, c := range []struct {
		name         string
		fails        int // calls
		with         error
		calls        int
		letters, bad uint64
	}{
		{"no error", 0, nil, 1, 0, 0},
		{"passes", 2, errPassing, 3, 0, 0},
		{"does not pass in time", 3, errPassing, 3, 1, 1},
		{"will not pass", 1, errLasting, 1, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sys := system(t)
				calls := 0
				r := spawn(t, sys, actor.Props{
					New: func() actor.Actor {
						return actor.ReceiveFunc(func(_ *actor.Context, msg any) error {
							if msg != "work" {
								t.Errorf("got the message %v", msg)
							}
							if calls++; calls <= c.fails {
								return c.with
							}
							return nil
						})
					},
					Invoker: &Retrier{Times: 3, Passing: func(err error) bool { return errors.Is(err, errPassing) }},
				})
				tell(t, r, "work")
				synctest.Wait()
				if st := sys.Stats(); calls != c.calls || st.Failed != c.bad || st.DeadLetters != c.letters {
					t.Errorf("%d calls, %d failures, %d dead letters; want %d, %d, %d", calls, st.Failed, st.DeadLetters, c.calls, c.bad, c.letters)
				}
				if _, alive := sys.Lookup(r.PID()); alive != (c.bad == 0) {
					t.Errorf("the actor is alive: %v", alive)
				}
			})
		})
	}
}

// TestDispatcherServesOneSystem: a second one is told so.
func TestDispatcherServesOneSystem(t *testing.T) {
	d := NewDispatcher()
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); !errors.Is(err, actor.ErrStarted) {
		t.Errorf("Start returned %v, want %v", err, actor.ErrStarted)
	}
}
