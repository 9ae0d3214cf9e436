package firmware_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/hw/firmware"
	"github.com/dynolab/dyno/hw/firmware/internal/porttest"
	"github.com/dynolab/dyno/impls"
	"github.com/dynolab/dyno/impls/serial"
)

// pump is an actor that fails on a message, and logs a text before.
type pump struct{}

func (pump) Receive(ctx *actor.Context, msg any) error {
	ctx.System().Events().Publish(actor.LogEvent{Level: actor.LevelWarn, Actor: ctx.Self(), Text: msg.(string)})
	return errors.New("no pressure")
}

// logged has a board run a case in which a pump fails, with a Log of that room and
// level, and returns the lines of the log that the host receives.
func logged(t *testing.T, impl dyno.Impl, capacity int, least actor.Level) (lines []string) {
	t.Helper()
	b, port := board("run bench/Log\n")
	firmware.Main(b, impl, build, func(yield func(firmware.Case) bool) {
		yield(firmware.Case{Part: "bench", Name: "Log", Run: func(r *firmware.Report) error {
			failed := make(chan struct{}, 1)
			sys, err := actor.NewSystem(actor.Config{
				Dispatcher: impl.NewDispatcher(),
				Guardian:   actor.Props{New: func() actor.Actor { return pump{} }},
				Failures:   func(actor.Failure) { failed <- struct{}{} },
			})
			if err != nil {
				return err
			}
			log := r.Log(sys.Events(), capacity, least)
			if err := sys.UserGuardian().Tell("the pressure\nis high"); err != nil {
				return err
			}
			if sys.Synchronous() {
				sys.RunUntilIdle()
			}
			<-failed
			if err := sys.Shutdown(context.Background()); err != nil {
				return err
			}
			log.Close()
			sys.Events().Publish(actor.LogEvent{Level: actor.LevelError, Text: "too late"})
			log.Close()
			return nil
		}})
	})
	said := porttest.Texts(t, port.Out.String())
	if last := said[len(said)-1]; last != "end run bench/Log ok" {
		t.Errorf("the case ends with %q", last)
	}
	for _, text := range said {
		if rest, ok := strings.CutPrefix(text, "note log "); ok {
			lines = append(lines, rest)
		}
	}
	return lines
}

// TestLogOverTheLine: what happens to actors arrives at the host, in the order in which
// it happened, and from the level on that was asked for.
func TestLogOverTheLine(t *testing.T) {
	want := []string{"WARN /user: the pressure is high", "ERROR /user: actor failed: no pressure"}
	for _, impl := range impls.All() {
		t.Run(impl.Name, func(t *testing.T) {
			if got := logged(t, impl, 64, actor.LevelError); !slices.Equal(got, want[1:]) {
				t.Errorf("errors only: %q, want %q", got, want[1:])
			}
			got := logged(t, impl, 64, actor.LevelDebug)
			at := slices.Index(got, want[0])
			if at < 0 || !slices.Contains(got[at:], want[1]) || !slices.Contains(got[at:], "DEBUG /user: actor stopped") {
				t.Errorf("everything: %q, want %q among it, and then that the actor stopped", got, want)
			}
		})
	}
}

// TestLogLosesTheOldest: what there is no room for is counted, and what came last is there.
func TestLogLosesTheOldest(t *testing.T) {
	for _, impl := range impls.All() {
		t.Run(impl.Name, func(t *testing.T) {
			got := logged(t, impl, 1, actor.LevelDebug)
			if len(got) != 2 || !strings.HasPrefix(got[0], "WARN: events lost: ") || !strings.HasPrefix(got[1], "DEBUG /") {
				t.Errorf("%q, want the number of lost events and the last one", got)
			}
		})
	}
}

// TestLogCountsOnce: each lost event is reported once, and none again.
func TestLogCountsOnce(t *testing.T) {
	b, port := board("run bench/Log\n")
	firmware.Main(b, serial.Impl, build, func(yield func(firmware.Case) bool) {
		yield(firmware.Case{Part: "bench", Name: "Log", Run: func(r *firmware.Report) error {
			var events actor.EventStream
			log := r.Log(&events, 2, actor.LevelWarn)
			for _, n := range []int{5, 2, 3, 0} {
				for range n {
					events.Publish(actor.LogEvent{Level: actor.LevelDebug})
				}
				log.Send()
			}
			return nil
		}})
	})
	want := []string{"note log WARN: events lost: 3", "note log WARN: events lost: 1", "end run bench/Log ok"}
	if said := porttest.Texts(t, port.Out.String())[2:]; !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}
