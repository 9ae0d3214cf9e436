package workloads_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/dynolab/dyno"
	"github.com/dynolab/dyno/actor"
	"github.com/dynolab/dyno/impls/lockbased"
	"github.com/dynolab/dyno/impls/serial"
	"github.com/dynolab/dyno/workloads"
)

// An actorSaboteur is a dispatcher that is right but for one message.
type actorSaboteur struct {
	actor.Dispatcher
	do func(p *sabotagedPort, msg any, from actor.Worker) actor.SendResult // in the place of Send

	at     int64 // the message's number
	spare  func(msg any) bool
	sent   atomic.Int64
	struck atomic.Bool
	late   atomic.Bool // what was held has been accepted

	mu    sync.Mutex
	ports []*sabotagedPort
}

// A sabotagedPort is a port of a saboteur. It is no more than one, so that the
// first three, the guardians', are served well.
type sabotagedPort struct {
	actor.Port
	s  *actorSaboteur
	id int

	mu   sync.Mutex
	held any // a message to send after the next one of its order
}

func (s *actorSaboteur) Attach(cfg actor.MailboxConfig) actor.Port {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &sabotagedPort{Port: s.Dispatcher.Attach(cfg), s: s, id: len(s.ports)}
	s.ports = append(s.ports, p)
	return p
}

// another returns a port that is not p.
func (s *actorSaboteur) another(p *sabotagedPort) *sabotagedPort {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.id+1 < len(s.ports) {
		return s.ports[p.id+1]
	}
	return s.ports[p.id-1]
}

// deliver sends, and waits if need be.
func (p *sabotagedPort) deliver(msg any, from actor.Worker) actor.SendResult {
	res := p.Port.Send(msg, from)
	if res == actor.MustWait && p.Port.SendWait(context.Background(), msg, from) == nil {
		return actor.Sent
	}
	return res
}

func (p *sabotagedPort) Send(msg any, from actor.Worker) actor.SendResult {
	if p.id < 3 {
		return p.Port.Send(msg, from)
	}
	p.mu.Lock()
	if n := p.s.sent.Add(1); n >= p.s.at && !p.s.spare(msg) && p.s.struck.CompareAndSwap(false, true) {
		p.mu.Unlock()
		return p.s.do(p, msg, from)
	}
	held := p.held
	if held == nil || order(held) != order(msg) {
		p.mu.Unlock()
		return p.Port.Send(msg, from)
	}
	p.held = nil
	p.mu.Unlock()
	res := p.deliver(msg, from)
	if p.deliver(held, from) == actor.Sent {
		p.s.late.Store(true)
	}
	return res
}

// order returns in what order a message belongs: those of different senders,
// and those of different priorities, are in no order among each other.
func order(msg any) string {
	s := fmt.Sprintf("%T", msg)
	v := reflect.ValueOf(msg)
	if v.Kind() == reflect.Struct && v.Field(0).Kind() == reflect.Pointer {
		return fmt.Sprint(s, v.Field(0).Pointer()) // forkAnswer: the child
	}
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return s
	}
	for _, field := range []string{"from", "home", "level"} {
		if f := v.Elem().FieldByName(field); f.IsValid() {
			s += fmt.Sprint(" ", f) // of a pointer, the address
		}
	}
	return s
}

// synchronousSaboteur is an actorSaboteur of a Synchronous dispatcher.
type synchronousSaboteur struct {
	*actorSaboteur
	actor.Synchronous
}

func (s synchronousSaboteur) Attach(cfg actor.MailboxConfig) actor.Port {
	return s.actorSaboteur.Attach(cfg)
}
func (s synchronousSaboteur) Start() error             { return s.Synchronous.Start() }
func (s synchronousSaboteur) Stop(done func())         { s.Synchronous.Stop(done) }
func (s synchronousSaboteur) AddStats(st *actor.Stats) { s.Synchronous.AddStats(st) }

func (s *actorSaboteur) newDispatcher() actor.Dispatcher {
	if sync, ok := s.Dispatcher.(actor.Synchronous); ok {
		return synchronousSaboteur{s, sync}
	}
	return s
}

// actorSabotages are the wrong dispatchers.
var actorSabotages = []struct {
	name string
	says string // in the error, if more than that something is wrong is to be said
	do   func(p *sabotagedPort, msg any, from actor.Worker) actor.SendResult
	// spare are types of messages that do no harm.
	spare []string
	// later: it does no harm unless another message of the same order follows.
	later bool
}{
	{name: "a message is lost", do: func(*sabotagedPort, any, actor.Worker) actor.SendResult {
		return actor.Sent
	}},
	{name: "a message is delivered twice", do: func(p *sabotagedPort, msg any, from actor.Worker) actor.SendResult {
		p.deliver(msg, from)
		return p.deliver(msg, from)
	}},
	{
		name: "a message is overtaken by the next one",
		do: func(p *sabotagedPort, msg any, _ actor.Worker) actor.SendResult {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.held = msg
			return actor.Sent
		},
		// They are all alike: in the wrong order they are in the right one.
		spare: []string{"workloads.moreNotes"},
	},
	{
		name:  "a message comes again after the next one",
		later: true,
		do: func(p *sabotagedPort, msg any, from actor.Worker) actor.SendResult {
			p.mu.Lock()
			p.held = msg
			p.mu.Unlock()
			return p.deliver(msg, from)
		},
	},
	{name: "a message goes to another actor", do: func(p *sabotagedPort, msg any, from actor.Worker) actor.SendResult {
		return p.s.another(p).deliver(msg, from)
	}},
	{name: "a message is replaced by one that was not sent", do: func(p *sabotagedPort, _ any, from actor.Worker) actor.SendResult {
		return p.deliver(errSabotage, from)
	}},
	{name: "a message is refused because the actor has stopped", says: "the actor has stopped", do: func(*sabotagedPort, any, actor.Worker) actor.SendResult {
		return actor.Closed
	}},
	{name: "a message is refused because the mailbox is full", says: "the mailbox is full", do: func(*sabotagedPort, any, actor.Worker) actor.SendResult {
		return actor.Full
	}},
	{name: "a message is dropped", says: "dead letter", do: func(p *sabotagedPort, msg any, _ actor.Worker) actor.SendResult {
		p.Cell().Undelivered(msg, actor.ErrDropped)
		return actor.Sent
	}},
}

// actorSabotageAt are the messages to sabotage: of the beginning, the
// middle and the end.
var actorSabotageAt = []int64{1, 2, 50, 1031, 1500, 1999}

// isCurve reports whether w is a point of a curve: a workload with another number
// of actors.
func isCurve(w workloads.Workload) bool {
	key, value, _ := strings.Cut(w.Variant, "=")
	return key == "actors" || key == "shuffled" || key == "producers" && !strings.Contains(value, "/") || strings.Contains(value, "messages=")
}

// actorHosts are the implementations whose dispatchers are sabotaged. It is the workloads' own
// checks that are tested, for which one concurrent dispatcher will do by day.
func actorHosts() []dyno.Impl {
	if nightly {
		return []dyno.Impl{lockbased.Impl, serial.Impl}
	}
	return []dyno.Impl{lockbased.Impl}
}

// Every workload notices every sabotage, wherever in a run it strikes.
func TestActorSabotageIsNoticed(t *testing.T) {
	if raceEnabled {
		t.Skip("a message that is delivered twice is a race, which the detector notices first")
	}
	const n = 2000
	for _, impl := range actorHosts() {
		for _, w := range over(workloads.ActorContract) {
			if isCurve(w) && w.Variant != "shuffled=1000" && w.Variant != "producers=1" {
				continue // the same with other numbers
			}
			for _, sab := range actorSabotages {
				t.Run(w.Path()+"/impl="+impl.Name+"/"+sab.name, func(t *testing.T) {
					for _, at := range actorSabotageAt {
						if w.Name == "chameneos" && at == 1999 && sab.name == "a message goes to another actor" {
							// It may be one that says the same to each: that the day is over.
							continue
						}
						// A message that is lost is noticed after ten seconds of silence, of
						// which in here none passes.
						synctest.Test(t, func(t *testing.T) {
							s := &actorSaboteur{Dispatcher: impl.NewDispatcher(), do: sab.do, at: at, spare: func(msg any) bool {
								return sab.spare != nil && slices.Contains(sab.spare, fmt.Sprintf("%T", msg))
							}}
							wrong := impl
							wrong.NewDispatcher = s.newDispatcher
							run := w.Prepare(workloads.Setting{Impl: wrong, Ops: n})
							err := run.Do(n)
							if err == nil {
								err = run.Check()
							}
							run.Close()
							switch {
							case !s.struck.Load():
								t.Fatalf("no message number %d: the test tests nothing", at)
							case err == nil && sab.later && !s.late.Load():
							case err == nil:
								t.Fatalf("at %d: not noticed", at)
							case !strings.Contains(err.Error(), sab.says):
								t.Errorf("at %d: noticed, but not said: %v", at, err)
							}
						})
					}
				})
			}
		}
	}
}

// The saboteur's own machinery does no harm.
func TestNoActorSabotage(t *testing.T) {
	if raceEnabled {
		t.Skip("builds with invariants notice that the dispatcher is wrapped")
	}
	for _, impl := range actorHosts() {
		for _, w := range over(workloads.ActorContract) {
			if w.Actors > 10_000 {
				continue // the same with fewer
			}
			t.Run(w.Path()+"/impl="+impl.Name, func(t *testing.T) {
				st := setting(impl)
				st.Impl.NewDispatcher = func() actor.Dispatcher {
					return (&actorSaboteur{Dispatcher: impl.NewDispatcher(), at: 1 << 60}).newDispatcher()
				}
				exercise(t, []int{2000}, w.Prepare, st)
			})
		}
	}
}

// brokenDispatcher cannot be started.
type brokenDispatcher struct{ actor.Dispatcher }

func (brokenDispatcher) Start() error { return errSabotage }

// What Prepare cannot do, Do says.
func TestDispatcherThatDoesNotStart(t *testing.T) {
	for _, w := range over(workloads.ActorContract) {
		st := setting(lockbased.Impl)
		st.Impl.NewDispatcher = func() actor.Dispatcher { return brokenDispatcher{lockbased.NewDispatcher()} }
		run := w.Prepare(st)
		if err := run.Do(10); err == nil || !strings.Contains(err.Error(), "sabotage") {
			t.Errorf("%s: Do: %v", w.Path(), err)
		}
		if err := run.Check(); err == nil {
			t.Errorf("%s: Check found nothing wrong", w.Path())
		}
		run.Close()
	}
}
