package workloads

import (
	"errors"
	"strconv"

	"github.com/dynolab/dyno/actor"
)

const (
	// restartSlots is how many actors fail, all of them children of one. Who
	// restarted a sibling by mistake would be noticed.
	restartSlots = 8

	// restartBatch is how many failures are ahead of an actor at most: twice as
	// many messages wait in its mailbox while it is restarted, and are to be
	// there afterwards.
	restartBatch = 32
)

// actorRestart is failure as a part of the work: every other message makes the actor fail that
// handles it, and its supervisor restarts it. The message that did it is a dead letter.
//
// At the end of each Do some messages are sent that cannot be handled, in each of the other ways
// there are: to an actor that stops before it comes to them, to one that has stopped, and to a
// mailbox that makes room by dropping the oldest. All of these are to be found among the dead
// letters, too.
//
// The [Meter] learns the share of failures that were "recovered" from, which is to say that a new
// value handled the next message, and of undelivered messages that were found,
// "undelivered-found". What is missing of them is their figure's to say and fails no run; what
// there is too much of does.
func actorRestart() []Workload {
	a := bareRestart()
	a.Op = "a failure with the next message, which the new value handles"
	a.Checked = "no new value but for a failure; all messages in order, none missing, none twice, though up to 63 wait meanwhile; no message that an actor " +
		"failed on twice among the dead letters; after each Do, the same of messages that an actor left behind which stopped, that a mailbox dropped, and " +
		"that came when the actor had stopped. How many failures have a new value, and how many letters are found, are figures"
	a.Refs = []Ref{
		{
			Name:    refBuffered,
			Doc:     "goroutines that receive in a loop from a buffered channel, and one around it that recovers",
			Prepare: func(st Setting) Run { return restartOnChannels(st, 2*restartBatch) },
		},
		{refUnbuffered, "the same with unbuffered channels", func(st Setting) Run { return restartOnChannels(st, 0) }},
	}
	return []Workload{a}
}

// bareRestart is restart without references.
func bareRestart() Workload {
	return Workload{
		Name:     "restart",
		Doc:      "8 actors fail at every other message and are restarted: what a failure costs, until the next message is handled",
		Messages: 2,
		Shares:   []string{shareRecovered, shareFound},
		Slicing:  Slicing{Unit: restartSlots * restartBatch},
		Prepare:  restartOnActors,
	}
}

// What the Meter learns the share of: failures that were recovered from, and undelivered
// messages that were found.
const (
	shareRecovered = "recovered"
	shareFound     = "undelivered-found"
)

// errFault is what actors fail with.
var errFault = errors.New("workloads: a failure on purpose")

// A fault is a message that makes its receiver fail.
type fault struct {
	from  *slot
	i     int // which one of the batch
	tries int // how often it was handled
	found int // how often it was found among the dead letters
}

// A request is the message after a fault.
type request struct {
	from *slot
	i    int
}

// A batchDone tells the coordinator that a slot has handled a batch.
type batchDone struct {
	from  *slot
	batch int64
}

// A slot is a place at which one value after the other works. What is in it
// outlives them. It belongs to the turns of the actor at it and, while that has
// nothing to do, to the coordinator's.
type slot struct {
	ref      actor.Ref
	faults   []fault
	requests []request
	dones    [2]batchDone // of the last two batches

	// The coordinator's.
	left   int   // pairs of fault and request to send after this batch
	sent   int64 // batches
	waits  bool  // for the end of a batch
	asked  int64 // pairs in all
	k      int   // pairs of this batch
	done   int64 // batches that were handled; the actor's
	pair   int   // of the batch: the one that is being handled
	struck bool  // its fault has been handled, or been given up

	made      int64 // values
	failures  int64
	failed    int64 // the value that was the last to fail
	recovered int64 // failures that a newer value handled the next message after
	found     int64 // faults among the dead letters

	_ [64]byte // the next one is another processor's
}

// restarts is what runs in all ways have in common.
type restarts struct {
	*progress
	meter Meter
	slots []slot

	lost, found int64 // messages that others than workers left undelivered, in all Dos
}

func newRestarts(s *progress, st Setting) *restarts {
	r := &restarts{progress: s, meter: st.Meter, slots: make([]slot, restartSlots)}
	for i := range r.slots {
		p := &r.slots[i]
		p.faults, p.requests = make([]fault, restartBatch), make([]request, restartBatch)
		for j := range p.faults {
			p.faults[j], p.requests[j] = fault{from: p, i: j}, request{p, j}
		}
		p.dones[0].from, p.dones[1].from = p, p
	}
	return r
}

// deal divides n failures among the slots.
func (r *restarts) deal(n int) {
	r.begin(n, min(n, restartSlots))
	for i := range r.slots {
		r.slots[i].left = share(n, i, restartSlots)
		r.slots[i].asked += int64(r.slots[i].left)
	}
}

// start sends the first batches of a Do.
func (r *restarts) start(send func(p *slot, msg any) error) error {
	for i := range r.slots {
		p := &r.slots[i]
		if p.waits {
			return errors.New("workloads: the coordinator was told to begin before the end")
		}
		if p.left > 0 {
			if err := r.feed(p, send); err != nil {
				return err
			}
		}
	}
	return nil
}

// feed sends a batch.
func (r *restarts) feed(p *slot, send func(p *slot, msg any) error) error {
	p.k = min(p.left, restartBatch)
	p.left -= p.k
	p.sent++
	p.waits = true
	for i := range p.k {
		b := &p.faults[i]
		b.tries, b.found = 0, 0
		if err := send(p, b); err != nil {
			return err
		}
		if err := send(p, &p.requests[i]); err != nil {
			return err
		}
	}
	return nil
}

// hear books that a batch was handled, and sends the next one.
func (r *restarts) hear(m *batchDone, send func(p *slot, msg any) error) error {
	p := m.from
	if !p.waits || m.batch != p.sent {
		return errors.New("workloads: the coordinator was told twice of the end of a batch")
	}
	p.waits = false
	if p.left == 0 {
		r.part()
		return nil
	}
	return r.feed(p, send)
}

// A worker is the value of an actor: what a restart replaces.
type worker struct {
	*restarts
	at     *slot
	number int64 // of the values at this slot
}

// replace makes the next value of a slot.
func (r *restarts) replace(p *slot) *worker {
	p.made++
	return &worker{r, p, p.made}
}

// handle handles a message. It returns the word to the coordinator after the last
// message of a batch.
func (l *worker) handle(msg any) (*batchDone, error) {
	switch m := msg.(type) {
	case *fault:
		return nil, l.failOn(m)
	case *request:
		return l.work(m)
	}
	return nil, errStray()
}

// failOn handles a fault.
func (l *worker) failOn(b *fault) error {
	p := l.at
	if b.from != p || b.i != p.pair || p.struck || b.tries > 0 {
		return errors.New("workloads: fault " + strconv.Itoa(b.i) + " came out of turn, or again")
	}
	if l.number > p.failures+1 {
		return l.errValue()
	}
	b.tries++
	p.struck = true
	p.failures++
	p.failed = l.number
	return errFault
}

// work handles the message after a fault.
func (l *worker) work(c *request) (*batchDone, error) {
	p := l.at
	if c.from != p || c.i != p.pair || !p.struck {
		return nil, errors.New("workloads: message " + strconv.Itoa(c.i) + " came out of turn, or again")
	}
	if l.number > p.failures+1 {
		return nil, l.errValue()
	}
	if n := p.faults[c.i].found; n > 1 {
		return nil, errors.New("workloads: the message that an actor failed on was found " + strconv.Itoa(n) + " times among the dead letters")
	}
	if l.number > p.failed {
		p.recovered++
	}
	p.struck = false
	if p.pair++; p.pair < p.k {
		return nil, nil
	}
	p.pair = 0
	p.done++
	m := &p.dones[p.done&1]
	m.batch = p.done
	return m, nil
}

// errValue says that the actor's value was made for no failure.
func (l *worker) errValue() error {
	return errors.New("workloads: after " + strconv.FormatInt(l.at.failures, 10) + " failures an actor has its value number " +
		strconv.FormatInt(l.number, 10) + ": there is to be one new one for each")
}

// find books a fault that was not handled.
func (r *restarts) find(b *fault) {
	b.found++
	b.from.found++
}

// check looks at what has been booked in the end, and tells the Meter.
func (r *restarts) check() error {
	var asked, failures, recovered int64
	lost, found := r.lost, r.found
	for i := range r.slots {
		p := &r.slots[i]
		asked += p.asked
		failures += p.failures
		recovered += p.recovered
		found += p.found
		if p.made > p.failures+1 {
			return errors.New("workloads: " + strconv.FormatInt(p.made, 10) + " values were made for " + strconv.FormatInt(p.failures, 10) + " failures and the beginning")
		}
	}
	if err := countCheck(asked, failures); err != nil {
		return err
	}
	lost += failures
	if found > lost {
		return errors.New("workloads: of " + strconv.FormatInt(lost, 10) + " undelivered messages " + strconv.FormatInt(found, 10) + " were found among the dead letters")
	}
	if r.meter != nil {
		r.meter.Share(shareRecovered, recovered, failures)
		if lost > 0 {
			r.meter.Share(shareFound, found, lost)
		}
	}
	return nil
}

func (l *worker) Receive(ctx *actor.Context, msg any) error {
	m, err := l.handle(msg)
	if err != nil || m == nil {
		return err
	}
	return ctx.Tell(ctx.Parent(), m)
}

// restartRun is Restart run by an implementation. It is also the coordinator, the
// actor that sends and supervises.
type restartRun struct {
	actorsRun
	work         *restarts
	policy       *actor.Supervisor
	coordinator  actor.Ref
	abandonments [2]abandoned
}

func restartOnActors(st Setting) Run {
	r := newRestartRun(st)
	r.open(st)
	return r
}

// newRestartRun makes a run without a system.
func newRestartRun(st Setting) *restartRun {
	r := &restartRun{
		policy: &actor.Supervisor{
			Decide:      decide,
			MaxRestarts: -1, // they are what is measured
		},
	}
	r.system = &system{letter: r.isLetter, failure: r.isFailure}
	r.work = newRestarts(&r.progress, st)
	r.protocol = r.work
	r.begun = func(ctx *actor.Context) error { return ctx.Tell(r.coordinator, nil) }
	r.abandonments[1].mailbox = actor.MailboxConfig{Capacity: undeliveredMost / 2, Policy: actor.DropOldest}
	return r
}

// decide is the supervisor's policy: an actor that has failed for another reason
// would, with the same message, do it again and again.
func decide(f actor.Failure) actor.Directive {
	if errors.Is(f.Err, errFault) {
		return actor.Restart
	}
	return actor.Stop
}

// open makes the system and its actors.
func (r *restartRun) open(st Setting) {
	r.raise(st, func(_ *system, ctx *actor.Context) (err error) {
		r.coordinator, err = ctx.Spawn(actor.Props{
			New:        func() actor.Actor { return r },
			Supervisor: r.policy,
		})
		return err
	})
}

func (r *restartRun) PreStart(ctx *actor.Context) (err error) {
	for i := range r.work.slots {
		p := &r.work.slots[i]
		p.ref, err = ctx.Spawn(actor.Props{New: func() actor.Actor { return r.work.replace(p) }})
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *restartRun) Receive(ctx *actor.Context, msg any) error {
	send := func(p *slot, msg any) error { return ctx.Tell(p.ref, msg) }
	if msg == nil {
		return r.work.start(send)
	}
	m, ok := msg.(*batchDone)
	if !ok {
		return errStray()
	}
	return r.work.hear(m, send)
}

// isFailure reports whether a failure is one that the run asked for.
func (r *restartRun) isFailure(f actor.Failure) bool {
	b, ok := f.Msg.(*fault)
	return ok && f.Actor == b.from.ref && errors.Is(f.Err, errFault)
}

// isLetter books a dead letter that the run has made one.
func (r *restartRun) isLetter(l actor.DeadLetter) bool {
	switch m := l.Msg.(type) {
	case *fault:
		if l.Returned || l.Reason != actor.ErrFailed || l.To != m.from.ref || !errors.Is(l.Cause, errFault) {
			return false
		}
		r.work.find(m)
		return true
	case *undelivered:
		if l.Returned != m.returned || l.Reason != m.reason || l.To != m.to {
			return false
		}
		m.found++
		return true
	}
	return false
}

// Do implements [Run].
func (r *restartRun) Do(n int) error {
	if err := r.actorsRun.Do(n); err != nil {
		return err
	}
	return r.abandon()
}

// undeliveredMost is how many messages an actor leaves behind that stops.
const undeliveredMost = 8

// abandoned is the mailbox of an actor that is made to stop, and what was in it.
type abandoned struct {
	mailbox  actor.MailboxConfig
	ref      actor.Ref
	messages [undeliveredMost + 1]undelivered // the last one comes when the actor has stopped
}

// undelivered is a message that is not handled.
type undelivered struct {
	to       actor.Ref
	reason   error // why not
	returned bool  // its sender gets it back
	found    int
}

// An abandonedActor stops with messages in its mailbox.
type abandonedActor struct{ r *restartRun }

func (abandonedActor) Receive(*actor.Context, any) error {
	return errors.New("workloads: an actor handled a message while it was suspended, before its end")
}

func (t abandonedActor) PostStop(*actor.Context) error {
	t.r.part()
	return nil
}

// abandon sends messages that cannot be handled, and sees that all of them are found.
func (r *restartRun) abandon() error {
	r.parts.Store(int64(len(r.abandonments)))
	err := r.play(func(ctx *actor.Context) error {
		for i := range r.abandonments {
			if err := r.abandonments[i].leave(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range r.abandonments {
		if err := r.abandonments[i].settle(r); err != nil {
			r.fail(err)
			return err
		}
	}
	return nil
}

// leave makes an actor that stops with messages in its mailbox.
func (e *abandoned) leave(ctx *actor.Context, r *restartRun) (err error) {
	e.ref, err = ctx.Spawn(actor.Props{
		New:     func() actor.Actor { return abandonedActor{r} },
		Mailbox: e.mailbox,
	})
	if err != nil {
		return err
	}
	// It sees this before any message, and so handles none.
	ctx.System().Suspend(e.ref, actor.Suspension{Reason: "it leaves its messages behind"})
	for i := range e.messages {
		e.messages[i] = undelivered{to: e.ref, reason: actor.ErrStopped, returned: i == undeliveredMost}
		if e.mailbox.Capacity > 0 && i < undeliveredMost-e.mailbox.Capacity {
			e.messages[i].reason = actor.ErrDropped
		}
	}
	for i := range e.messages[:undeliveredMost] {
		if err := ctx.Tell(e.ref, &e.messages[i]); err != nil {
			return err
		}
	}
	ctx.Stop(e.ref)
	return nil
}

// settle sends one more message to the actor that has stopped, and looks whether
// all were found.
func (e *abandoned) settle(r *restartRun) error {
	last := &e.messages[undeliveredMost]
	var back *actor.SendError
	if err := e.ref.Tell(last); !errors.As(err, &back) || back.Msg != any(last) {
		return errors.New("workloads: a message to an actor that has stopped did not come back: " + errText(err))
	}
	r.refused++
	for i := range e.messages {
		if e.messages[i].found > 1 {
			return errors.New("workloads: undelivered message " + strconv.Itoa(i) + " was found " + strconv.Itoa(e.messages[i].found) + " times among the dead letters")
		}
		r.work.lost++
		r.work.found += int64(e.messages[i].found)
	}
	return nil
}

// restartByHand is Restart run by a reference.
type restartByHand struct {
	*handRun
	work   *restarts
	begins chan *batchDone // nil: the Do; others: of the goroutines
	in     []chan any      // a slot's
}

// restartOnChannels has a goroutine for each slot, with a channel, and one that feeds
// them. No goroutine stops with messages left, for that is nothing that a
// goroutine with a channel could notice.
func restartOnChannels(st Setting, room int) Run {
	r := &restartByHand{
		handRun: newHandRun(),
		begins:  make(chan *batchDone, restartSlots+1),
		in:      make([]chan any, restartSlots),
	}
	r.work = newRestarts(&r.progress, st)
	r.protocol = r.work
	r.begun = func() { r.begins <- nil }
	for i := range r.in {
		r.in[i] = make(chan any, room)
		r.launch(func() {
			for p := &r.work.slots[i]; !r.live(r.work.replace(p), r.in[i]); {
			}
		})
	}
	r.launch(r.forward)
	r.let = func() {
		close(r.begins)
		for _, in := range r.in {
			close(in)
		}
	}
	return r
}

// forward is the coordinator.
func (r *restartByHand) forward() {
	send := func(p *slot, msg any) error {
		for i := range r.work.slots {
			if p == &r.work.slots[i] {
				r.in[i] <- msg
			}
		}
		return nil
	}
	for m := range r.begins {
		var err error
		if m == nil {
			err = r.work.start(send)
		} else {
			err = r.work.hear(m, send)
		}
		if err != nil {
			r.fail(err)
		}
	}
}

// live is the time of one value: from its beginning to its failure, or to the end of all.
func (r *restartByHand) live(l *worker, in <-chan any) (over bool) {
	var msg any
	defer func() {
		if v := recover(); v != nil {
			err, _ := v.(error)
			r.afterwards(msg, err)
			over = false
		}
	}()
	for msg = range in {
		m, err := l.handle(msg)
		if err != nil {
			r.afterwards(msg, err)
			return false
		}
		if m != nil {
			r.begins <- m
		}
	}
	return true
}

// afterwards books the message that a value has failed on.
func (r *restartByHand) afterwards(msg any, err error) {
	if b, ok := msg.(*fault); ok && err == errFault {
		r.work.find(b)
	} else {
		r.fail(err)
	}
}
