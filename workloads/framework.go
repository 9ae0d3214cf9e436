package workloads

import "github.com/dynolab/dyno/actor"

// A Framework runs actors that are not dyno's: those of a framework that other people have
// built, for its columns to do the same work, with the same checks. What dyno's contract
// promises beyond that messages of one sender arrive once and in order, it need not keep.
type Framework interface {
	// Spawn makes an actor, which handles messages by receive, one after the other. Any
	// goroutine may call it.
	Spawn(receive Receive) Address

	// Send sends to an actor from a goroutine that is none.
	Send(to Address, m any)

	// Stop stops actors that have nothing to do, and waits until all of them have stopped.
	Stop(all []Address)

	// Close stops all actors and releases what the framework keeps.
	Close()
}

// Address is an actor of a Framework, as the framework has it.
type Address any

// Receive handles a message. It is called in a turn of the actor that it is of.
type Receive func(t Turn, m any)

// Turn is what an actor of a Framework has while it handles a message.
type Turn interface {
	// Send sends to another actor.
	Send(to Address, m any)

	// Request sends to an actor that answers by Reply.
	Request(to Address, m any)

	// Reply answers the message that is being handled, which was sent by Request.
	Reply(m any)
}

// onFramework makes a run of a protocol whose actors f runs. What begins a Do is begun, which
// the caller sets.
func onFramework(f Framework) *handRun {
	run := newHandRun()
	run.let = f.Close
	return run
}

// take is a Receive for messages of type M. What handle finds to be wrong ends the run.
func take[M any](run *handRun, handle func(t Turn, m M) error) Receive {
	return func(t Turn, msg any) {
		m, ok := msg.(M)
		if !ok {
			run.fail(errStray())
			return
		}
		if err := handle(t, m); err != nil {
			run.fail(err)
		}
	}
}

// onFramework runs rings by a framework.
func (k ringKind) onFramework(st Setting, f Framework) Run {
	run := onFramework(f)
	r := k.new(&run.progress, st)
	run.protocol = r
	nodes := make([]Address, len(r.nodes))
	for i := range r.nodes {
		n := &r.nodes[i]
		nodes[i] = f.Spawn(take(run, func(turn Turn, t *token) error {
			more, err := n.visit(t)
			switch {
			case err != nil:
				return err
			case more:
				turn.Send(nodes[n.next.index], t)
			default:
				run.part()
			}
			return nil
		}))
	}
	run.begun = func() {
		for i := range r.moving {
			t := r.token(r.first + i)
			f.Send(nodes[t.at.index], t)
		}
	}
	_ = run.Do(len(r.nodes)) // every actor's first message; what is wrong the next Do will say
	return run
}

// onFramework runs a funnel by a framework.
func (k funnelKind) onFramework(_ Setting, f Framework) Run {
	run := onFramework(f)
	run.most = k.flood
	fun := newFunnel(&run.progress, k.senders, k.window())
	run.protocol = fun
	senders := make([]Address, k.senders)
	sink := f.Spawn(take(run, func(t Turn, m *note) error {
		if k.flood == 0 && fun.sink.owes(m) {
			t.Send(senders[m.from], creditNote)
		}
		return fun.sink.take(m)
	}))
	for i := range senders {
		s := &fun.senders[i]
		senders[i] = f.Spawn(func(t Turn, m any) {
			part, err := s.hear(m)
			if err != nil {
				run.fail(err)
				return
			}
			for s.left > 0 && s.free > 0 {
				s.left--
				s.free--
				t.Send(sink, s.pick())
			}
			if part {
				s.part()
			}
		})
	}
	run.begun = func() {
		for i := range fun.senders {
			if fun.senders[i].quota > 0 { // another could hear of this Do in the next one
				f.Send(senders[i], beginNotes)
			}
		}
	}
	return run
}

// networkOn runs a network by a framework.
func networkOn[M any](f Framework, newNetwork func(s *progress) network[M]) Run {
	run := onFramework(f)
	n := newNetwork(&run.progress)
	run.protocol = n
	var nodes []Address
	n.nodes(func(actor.Actor, *actor.Ref) {
		var turn Turn // of this node
		send := func(to int, m M) { turn.Send(nodes[to], m) }
		at := len(nodes)
		nodes = append(nodes, f.Spawn(take(run, func(t Turn, m M) error {
			turn = t
			return n.handle(at, m, send)
		})))
	})
	run.begun = func() {
		_ = n.start(func(to int, m M) error {
			f.Send(nodes[to], m)
			return nil
		})
	}
	return run
}

// askOn runs ask by a framework.
func askOn(f Framework) Run {
	run := onFramework(f)
	a := asker{progress: &run.progress}
	run.protocol = &a
	server := f.Spawn(take(run, func(t Turn, q *question) error {
		a.served++
		t.Reply(q.respond())
		return nil
	}))
	client := f.Spawn(take(run, func(t Turn, r *answer) error {
		switch {
		case r == nil && (a.open || a.left == 0):
			return errTwice
		case r != nil:
			if err := a.take(r); err != nil {
				return err
			}
			if a.left == 0 {
				run.part()
				return nil
			}
		}
		t.Request(server, a.request())
		return nil
	}))
	run.begun = func() { f.Send(client, (*answer)(nil)) }
	return run
}

// onFramework runs an open loop by a framework.
func (p pace) onFramework(st Setting, f Framework) Run {
	g := newGoroutines()
	g.let = f.Close
	l := newOpenLoop(&g.progress, st, p)
	receiver := f.Spawn(func(_ Turn, m any) {
		if err := l.Receive(nil, m); err != nil {
			g.fail(err)
		}
	})
	return l.byHand(g, func(m *timed) error {
		f.Send(receiver, m)
		return nil
	})
}

// spawnOnFramework runs spawnCrowd by a framework.
func spawnOnFramework(st Setting, f Framework) Run {
	r, g := newSpawnByHand(st)
	g.let = f.Close
	made := make([]Address, len(r.hellos))
	return r.byHand(g,
		func(k int) {
			for i := range k {
				a := &spawned{id: i}
				made[i] = f.Spawn(func(_ Turn, m any) {
					if err := a.Receive(nil, m); err != nil {
						g.fail(err)
					}
				})
				f.Send(made[i], &r.hellos[i])
			}
		},
		func(k int) {
			f.Stop(made[:k])
			clear(made[:k])
			g.wg.Add(-k) // which a reference's goroutines do
		})
}
