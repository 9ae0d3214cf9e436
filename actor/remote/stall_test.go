package remote

import (
	"errors"
	"testing"
	"time"

	"github.com/dynolab/dyno/actor"
)

// stalling is a clock that goes on while its process stands still.
type stalling struct {
	*actor.ManualClock
	stood time.Duration
}

func (c *stalling) Now() time.Time { return c.ManualClock.Now().Add(c.stood) }

// TestStall has this process stand still for longer than a peer may be silent: what
// the peer has sent meanwhile was not read, so that it is not taken for silent, but
// it is if nothing comes after that either.
func TestStall(t *testing.T) {
	for name, before := range map[string]func(*victim){
		"a tick is late": func(*victim) {},
		"and a message is sent before it": func(v *victim) {
			v.a.mu.Lock()
			defer v.a.mu.Unlock()
			v.a.hurry()
		},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &stalling{ManualClock: actor.NewManualClock(time.Unix(1_000_000_000, 0))}
			v := newVictim(t, clock)
			reason := func() error {
				v.a.mu.Lock()
				defer v.a.mu.Unlock()
				return v.a.reason
			}
			c := v.a.node.config
			clock.Advance(c.Heartbeat) // so that ticks are slow
			clock.stood = time.Hour
			before(v)
			clock.Advance(c.Heartbeat)
			if err := reason(); err != nil {
				t.Fatalf("the peer is lost for this end's having stood still: %v", err)
			}
			clock.Advance(c.Timeout)
			if err := reason(); !errors.Is(err, ErrSilent) {
				t.Errorf("a peer that is silent is lost for %v", err)
			}
		})
	}
}
