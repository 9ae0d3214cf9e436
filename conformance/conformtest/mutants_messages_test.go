package conformtest

// Mutants of what actors do with messages beyond handling them: put them off, lose
// them, wait for them, publish what happens.
func init() { mutants = append(mutants, messageMutants...) }

var messageMutants = []mutant{
	// Suspension.
	{
		name: "resume of an earlier suspension obeyed", file: "suspend.go",
		old:     "if m == nil || m.pause == nil || epoch != 0 && epoch != m.pause.epoch {",
		new:     "if m == nil || m.pause == nil {",
		clauses: "suspend-stale",
	},
	{
		name: "time of a suspension ignored", file: "suspend.go",
		old:     "\tif p.After > 0 {\n",
		new:     "\tif p.After > 0 && c == nil {\n",
		clauses: "suspend-after",
	},
	{
		name: "suspension has no reason", file: "suspend.go",
		old:     "Suspension: p.Suspension, Time",
		new:     "Suspension: Suspension{}, Time",
		clauses: "suspend-event",
	},
	{
		name: "suspension ends with a failure", file: "more.go",
		old:     "if m.hold == 0 && State(c.state.Load())",
		new:     "if State(c.state.Load())",
		clauses: "suspend-failed",
	},
	{
		name: "resume latency not measured", file: "suspend.go",
		old:     "c.system.resumed(now.Sub(asked))",
		new:     "c.system.resumed(0)",
		clauses: "suspend-metrics",
	},
	{
		name: "room not looked for", file: "cell.go",
		old:     "if len(m.seekers) > 0 {",
		new:     "if len(m.seekers) > 100 {",
		clauses: "suspend-capacity",
	},
	{
		name: "last in line for room first", file: "suspend.go",
		old:     "append(m.seekers, seeker{cell: from, epoch: epoch})",
		new:     "append([]seeker{{cell: from, epoch: epoch}}, m.seekers...)",
		clauses: "suspend-capacity",
	},
	{
		name: "room promised that is not there", file: "suspend.go",
		old:     "max(m.granted, m.capacity-c.port.Len())",
		new:     "max(m.granted, m.capacity)",
		clauses: "suspend-capacity-bound",
	},
	{
		name: "room not handed on", file: "cell.go",
		old:     "\tc.handOn()\n\tif len(m.seekers) > 0 {",
		new:     "\tif len(m.seekers) > 0 {",
		clauses: "suspend-capacity-left",
	},
	{
		name: "line for room not left", file: "suspend.go",
		old:     "if t := m.pause.Capacity.cell; t != nil {",
		new:     "if t := m.pause.Capacity.cell; t != nil && m.pause.epoch == 0 {",
		clauses: "suspend-capacity-left",
	},
	{
		name: "end of an actor keeps those who wait for room", file: "cell.go",
		old:     "\t\tc.room(true)\n\t\tc.drained(0)",
		new:     "\t\tc.drained(0)",
		clauses: "suspend-capacity-at-once",
	},
	{
		name: "room of an actor that has stopped waited for", file: "suspend.go",
		old:     "\t\tresume(c, p.epoch, c.worker) // it has stopped\n",
		new:     "\t\t_ = t\n",
		clauses: "suspend-capacity-at-once",
	},

	{
		name: "room of an actor waited for that has looked for the last time", file: "cell.go",
		old:     "\t\tresume(s.arg.(*Cell), s.epoch, c.workerFor(s.arg.(*Cell)))\n",
		new:     "",
		clauses: "suspend-room-last-moment",
	},

	// Dead letters.
	{
		name: "stash forgotten at the end", file: "stash.go",
		old:     "\t\tc.Undelivered(msg, ErrStopped)\n\t}\n\tm.stash = nil",
		new:     "\t\t_ = msg\n\t}\n\tm.stash = nil",
		clauses: "letter-stashed",
	},
	{
		name: "unstashed messages forgotten at the end", file: "stash.go",
		old:     "if n := m.notices.pop(); n.sent {",
		new:     "if n := m.notices.pop(); n.sent && c == nil {",
		clauses: "letter-left",
	},
	{
		name: "failed message without its cause", file: "supervise.go",
		old:     "Reason: ErrFailed, Cause: f.Err})",
		new:     "Reason: ErrFailed, Time: f.Time})",
		clauses: "letter-failed",
	},
	{
		name: "failed message forgotten", file: "supervise.go",
		old:     "\t\tc.system.deadLetter(DeadLetter{Msg: msg, To: Ref{c}, Reason: ErrFailed, Cause: f.Err})\n",
		new:     "\t\t_, _ = msg, f\n",
		clauses: "letter-failed letters-account",
	},
	{
		name: "store of dead letters keeps old ones", file: "letters.go",
		old:     "b.oldest = (b.oldest + 1) % b.keep",
		new:     "b.oldest = 0",
		clauses: "letters-kept",
	},
	{
		name: "returned message not published", file: "system.go",
		old:     "\tif s.events.active() {\n\t\ts.events.Publish(l)",
		new:     "\tif s.events.active() && !l.Returned {\n\t\ts.events.Publish(l)",
		clauses: "letter-returned",
	},
	{
		name: "who waits for a reply not recorded", file: "system.go",
		old:     "if r, ok := l.Msg.(Requester); ok {",
		new:     "if r, ok := l.Msg.(Requester); ok && l.Returned {",
		clauses: "letter-left letter-dropped",
	},
	{
		name: "box recorded for what is in it", file: "system.go",
		old:     "if b, ok := l.Msg.(Boxed); ok {",
		new:     "if b, ok := l.Msg.(Boxed); ok && b == nil {",
		clauses: "letter-boxed",
	},
	{
		name: "late reply not recorded", file: "future.go",
		old:     "\ts.deadLetter(DeadLetter{Msg: msg, Reason: ErrLate})\n\treturn",
		new:     "\treturn",
		clauses: "ask-late ask-fail",
	},

	// Events.
	{
		name: "full subscription loses the newest", file: "events.go",
		old:     "\t\ts.ring[s.head] = x\n\t\ts.head = (s.head + 1) % len(s.ring)\n\t\ts.lost++",
		new:     "\t\ts.lost++",
		clauses: "events-slow",
	},
	{
		name: "lost event not counted", file: "events.go",
		old:     "\t\ts.lost++\n",
		new:     "",
		clauses: "events-slow events-race",
	},
	{
		name: "panic of a listener goes on", file: "events.go",
		old:     "\t\t\t\t_ = recover()\n",
		new:     "",
		clauses: "events-func",
	},
	{
		name: "backlog of an actor's subscription ignored", file: "events.go",
		old:     "if to.cell.port.Len() < backlog {",
		new:     "if to.cell.port.Len() < 1<<30 {",
		clauses: "events-actor",
	},
	{
		name: "event after the end of a subscription", file: "events.go",
		old:     "\ts.stream.remove(s)\n\ts.end()",
		new:     "\ts.stream.remove(s)",
		clauses: "events-unsubscribe",
	},
	{
		name: "watermark said again and again", file: "mailbox.go",
		old:     "case !above && n >= p.mark && p.above.CompareAndSwap(false, true):",
		new:     "case !above && n >= p.mark:",
		clauses: "watermark",
	},
	{
		name: "low watermark without a distance", file: "mailbox.go",
		old:     "n < (p.mark+1)/2",
		new:     "n < p.mark",
		clauses: "watermark-hysteresis",
	},

	// Asking.
	{
		name: "refused question waits", file: "future.go",
		old:     "\t\tf.promise.complete(f.ticket, f.promise.system.giveBack(to, msg, reason))\n",
		new:     "\t\t_ = f.promise.system.giveBack(to, msg, reason)\n",
		clauses: "ask-refused",
	},
	{
		name: "deadline too soon", file: "future.go",
		old:     "s.timers.startAs(&p.timer, timeout, f.ticket)",
		new:     "s.timers.startAs(&p.timer, timeout-1, f.ticket)",
		clauses: "ask-timeout",
	},
	{
		name: "end of the system not looked for", file: "future.go",
		old:     "\tif !ok && p.system.futures.ended.Load() {",
		new:     "\tif !ok && p == nil {",
		clauses: "ask-over",
	},
	{
		name: "ticket used again", file: "future.go",
		old:     "\tp.state.Store(next)\n\tp.system",
		new:     "\tp.state.Store(next - oneTicket)\n\tp.system",
		clauses: "ask-late",
	},
	{
		name: "discarded reply forgotten", file: "future.go",
		old:     "\t\t\t\tif r.sent {\n",
		new:     "\t\t\t\tif r.sent && p == nil {\n",
		clauses: "ask-discard",
	},

	// Timers and stashes.
	{
		name: "stopped timer comes", file: "timer.go",
		old:     "\tcase t.ended:\n\t\treturn false\n",
		new:     "\tcase t.ended:\n\t\treturn true\n",
		clauses: "timer-stop",
	},
	{
		name: "ticks not coalesced", file: "timer.go",
		old:     "\tif !t.fired {\n",
		new:     "\tif t != nil {\n",
		clauses: "timer-coalesced",
	},
	{
		name: "periodic timer drifts", file: "timer.go",
		old:     "c.system.timers.start(&t.timer, t.next.Sub(now))",
		new:     "c.system.timers.start(&t.timer, t.period)",
		clauses: "timer-periodic",
	},
	{
		name: "message does not end the silence", file: "cell.go",
		old:     "if m.idle != nil && left < c.quantum {",
		new:     "if m.idle != nil && left > c.quantum {",
		clauses: "receive-timeout",
	},
	{
		name: "timers of one time out of order", file: "timers.go",
		old:     "a.when == b.when && a.x.seq < b.x.seq",
		new:     "a.when == b.when && a.x.seq > b.x.seq",
		clauses: "timer-order timer-once",
	},
	{
		name: "stash not undone by a restart", file: "supervise.go",
		old:     "\tc.unstash()\n\tc.recovered(o.retry)",
		new:     "\tc.recovered(o.retry)",
		clauses: "stash-restart",
	},
	{
		name: "stash handed over newest first", file: "stash.go",
		old:     "m.stash = append(m.stash, msg)",
		new:     "m.stash = append([]any{msg}, m.stash...)",
		clauses: "stash-order stash-restart",
	},

	// Own mailboxes and invokers.
	{
		name: "message dropped by an own mailbox forgotten", file: "mailbox.go",
		old:     "\t\tp.cell.Undelivered(d, ErrDropped)\n",
		new:     "\t\t_ = d\n",
		clauses: "own-mailbox-full",
	},
	{
		name: "rest of an own mailbox forgotten", file: "mailbox.go",
		old:     "\t\tp.cell.Undelivered(msg, ErrStopped)\n",
		new:     "\t\t_ = msg\n",
		clauses: "own-mailbox",
	},
	{
		name: "turn of an own mailbox without a bound", file: "more.go",
		old:     "\t\tif c.left <= 0 {\n",
		new:     "\t\tif c.left <= -1000 {\n",
		clauses: "own-mailbox-turns",
	},
}
