package workloads

import (
	"time"

	"github.com/dynolab/dyno/actor"
)

const (
	pressureSenders = 4
	pressureRoom    = 64
	pressureWork    = 64 // rounds of filler work, about a hundred nanoseconds
)

// Backpressure is a receiver that is slower than its senders, with a mailbox
// that makes them wait: four goroutines that are no actors send, as servers'
// connections do, and an actor takes its time for each message.
func Backpressure() Actor {
	return Actor{
		Name:    "backpressure",
		Doc:     "4 goroutines send to an actor that is slower, with room for 64 messages: what making senders wait costs",
		Prepare: pressureOnActors,
		Refs:    funnelRefs(pressureSenders, pressureWork, pressureRoom),
	}
}

// pressureSink is the actor that receives. It gives no credit: senders are told
// by having to wait.
type pressureSink struct{ *funnelSink }

// Receive implements [actor.Actor].
func (k pressureSink) Receive(_ *actor.Context, msg any) error {
	m, ok := msg.(*note)
	if !ok {
		return errStray()
	}
	return k.take(m)
}

// pressureRun is Backpressure run by an implementation.
type pressureRun struct {
	*stage
	senders *funnelByHand // who send to the actor
	funnel  *funnel
	sent    chan struct{} // a sender has sent its quota, or given up
	busy    int           // senders that have not said so
}

func pressureOnActors(st Setting) Run {
	r := &pressureRun{sent: make(chan struct{}, pressureSenders)}
	var sink actor.Ref
	r.senders = newFunnelByHand(pressureSenders, pressureWork,
		func(s *funnelSender) {
			for range s.quota {
				if err := sink.Tell(s.pick()); err != nil {
					r.fail(err)
					break
				}
			}
			r.sent <- struct{}{}
		},
		func() {})
	r.funnel = r.senders.funnel
	r.stage = newStage(st, func(s *stage, ctx *actor.Context) (err error) {
		r.funnel.score = &s.score // not that of the senders' crew
		sink, err = ctx.Spawn(actor.Props{
			New:     func() actor.Actor { return pressureSink{&r.funnel.sink} },
			Mailbox: actor.MailboxConfig{Capacity: pressureRoom, Policy: actor.Block},
		})
		return err
	})
	return r
}

func (r *pressureRun) Do(n int) error {
	if err := r.err(); err != nil {
		return err
	}
	r.funnel.deal(n)
	r.timer.Reset(patience)
	defer r.timer.Stop()
	for r.busy = r.senders.release(); r.busy > 0; r.busy-- {
		select {
		case <-r.sent:
		case <-r.over:
			// Either the actor was faster than a sender's word that it is done,
			// or something is wrong.
			if err := r.err(); err != nil {
				return err
			}
			r.end()
			<-r.sent
		}
	}
	return r.wait()
}

func (r *pressureRun) Check() error {
	if err := r.senders.stop(); err != nil {
		return err
	}
	if err := r.stop(); err != nil {
		return err
	}
	return r.funnel.check()
}

// Close stops what Check has not.
func (r *pressureRun) Close() {
	r.stage.Close()
	late := time.NewTimer(parting)
	defer late.Stop()
	for ; r.busy > 0; r.busy-- { // the run has failed
		select {
		case <-r.sent:
		case <-late.C:
			return // they wait in Tell for ever
		}
	}
	r.senders.Close()
	if !r.stopped() {
		r.stage.Close() // now that no sender runs the actors, where senders do
	}
}
