package main

// Bugs of what actors do with messages beyond handling them: put them off, lose
// them, wait for them, publish what happens.
var messageBugs = []bug{
	// Suspension.
	plant("resume of an earlier suspension obeyed", "actor (*Cell).resumed", "suspend-stale",
		"if m == nil || m.pause == nil || epoch != 0 && epoch != m.pause.epoch {",
		"if m == nil || m.pause == nil {"),
	plant("time of a suspension ignored", "actor (*Cell).suspended", "suspend-after",
		"if p.After > 0 {",
		"if p.After > 0 && c == nil {"),
	plant("suspension has no reason", "actor (*Cell).suspended", "suspend-event",
		"Suspension: p.Suspension, Time",
		"Suspension: Suspension{}, Time"),
	plant("suspension ends with a failure", "actor (*Cell).release", "suspend-failed",
		"if m.hold == 0 && State(c.state.Load())",
		"if State(c.state.Load())"),
	plant("resume latency not measured", "actor (*Cell).resumed", "suspend-metrics",
		"c.system.resumed(now.Sub(asked))",
		"c.system.resumed(0)"),
	plant("room not looked for", "actor (*Cell).ended", "suspend-capacity",
		"if len(m.seekers) > 0 {",
		"if len(m.seekers) > 100 {"),
	plant("last in line for room first", "actor (*Cell).seek", "suspend-capacity",
		"append(m.seekers, seeker{cell: from, epoch: epoch})",
		"append([]seeker{{cell: from, epoch: epoch}}, m.seekers...)"),
	plant("room promised that is not there", "actor (*Cell).room", "suspend-capacity-bound",
		"max(m.granted, m.capacity-c.port.Len())",
		"max(m.granted, m.capacity)"),
	plant("room not handed on", "actor (*Cell).ended", "suspend-capacity-left",
		`c.handOn()
	if len(m.seekers) > 0 {`,
		"if len(m.seekers) > 0 {"),
	plant("line for room not left", "actor (*Cell).unpause", "suspend-capacity-left",
		"if t := m.pause.Capacity.cell; t != nil {",
		"if t := m.pause.Capacity.cell; t != nil && m.pause.epoch == 0 {"),
	plant("end of an actor keeps those who wait for room", "actor (*Cell).finish", "suspend-capacity-at-once",
		`c.room(true)
		c.drained(0)`,
		"c.drained(0)"),
	plant("room of an actor that has stopped waited for", "actor (*Cell).suspended", "suspend-capacity-at-once",
		"resume(c, p.epoch, c.worker) // it has stopped",
		"_ = t"),

	plant("room of an actor waited for that has looked for the last time", "actor (*Cell).decline", "suspend-room-last-moment",
		"resume(s.arg.(*Cell), s.epoch, c.workerFor(s.arg.(*Cell)))",
		""),

	// Dead letters.
	plant("stash forgotten at the end", "actor (*Cell).spill", "letter-stashed",
		`c.Undelivered(msg, ErrStopped)
	}
	m.stash = nil`,
		`_ = msg
	}
	m.stash = nil`),
	plant("unstashed messages forgotten at the end", "actor (*Cell).spill", "letter-left",
		"if n := m.notices.pop(); n.sent {",
		"if n := m.notices.pop(); n.sent && c == nil {"),
	plant("failed message without its cause", "actor (*Cell).recovered", "letter-failed",
		"Reason: ErrFailed, Cause: f.Err})",
		"Reason: ErrFailed, Time: f.Time})"),
	plant("failed message forgotten", "actor (*Cell).recovered", "letter-failed letters-account",
		"c.system.deadLetter(DeadLetter{Msg: msg, To: Ref{c}, Reason: ErrFailed, Cause: f.Err})",
		"_, _ = msg, f"),
	plant("store of dead letters keeps old ones", "actor (*letterBox).add", "letters-kept",
		"b.oldest = (b.oldest + 1) % b.keep",
		"b.oldest = 0"),
	plant("returned message not published", "actor (*System).show", "letter-returned",
		`if s.events.active() {
		s.events.Publish(l)`,
		`if s.events.active() && !l.Returned {
		s.events.Publish(l)`),
	plant("who waits for a reply not recorded", "actor (*System).deadLetter", "letter-left letter-dropped",
		"if r, ok := l.Msg.(Requester); ok {",
		"if r, ok := l.Msg.(Requester); ok && l.Returned {"),
	plant("question that is left leaves who waits", "actor (ReplyTo).unanswered", "ask-left ask-of-stopping",
		"r.promise.complete(r.ticket, reason)",
		"_ = reason"),
	plant("box recorded for what is in it", "actor (*System).deadLetter", "letter-boxed",
		"if b, ok := l.Msg.(Boxed); ok {",
		"if b, ok := l.Msg.(Boxed); ok && b == nil {"),
	plant("late reply not recorded", "actor (*System).late", "ask-late ask-fail",
		`s.deadLetter(DeadLetter{Msg: msg, Reason: ErrLate})
	return`,
		"return"),

	// Events.
	plant("full subscription loses the newest", "actor (*Subscription).offer", "events-slow",
		`s.ring[s.head] = x
		s.head = (s.head + 1) % len(s.ring)
		s.lost++`,
		"s.lost++"),
	plant("lost event not counted", "actor (*Subscription).offer", "events-slow events-race",
		"s.lost++",
		""),
	plant("panic of a listener goes on", "actor SubscribeFunc", "events-func",
		"_ = recover()",
		""),
	plant("backlog of an actor's subscription ignored", "actor SubscribeActor", "events-actor",
		"if to.cell.port.Len() < backlog {",
		"if to.cell.port.Len() < 1<<30 {"),
	plant("event after the end of a subscription", "actor (*Subscription).Unsubscribe", "events-unsubscribe",
		`s.stream.remove(s)
	s.end()`,
		"s.stream.remove(s)"),
	plant("watermark said again and again", "actor (*marked).look", "watermark",
		"case !above && n >= p.mark && p.above.CompareAndSwap(false, true):",
		"case !above && n >= p.mark:"),
	plant("low watermark without a distance", "actor (*marked).look", "watermark-hysteresis",
		"n < (p.mark+1)/2",
		"n < p.mark"),

	// Asking.
	plant("refused question waits", "actor Future.unasked", "ask-refused",
		"f.promise.complete(f.ticket, f.promise.system.giveBack(to, msg, reason))",
		"_ = f.promise.system.giveBack(to, msg, reason)"),
	plant("deadline too soon", "actor (*System).NewFuture", "ask-timeout",
		"s.timers.startAs(&p.timer, timeout, f.ticket)",
		"s.timers.startAs(&p.timer, timeout-1, f.ticket)"),
	plant("end of the system not looked for", "actor (*promise).look", "ask-over",
		"if !ok && p.system.futures.ended.Load() {",
		"if !ok && p == nil {"),
	plant("ticket used again", "actor (*promise).recycle", "ask-late",
		`p.state.Store(next)
	p.system`,
		`p.state.Store(next - oneTicket)
	p.system`),
	plant("discarded reply forgotten", "actor (*promise).discard", "ask-discard",
		"if r.sent {",
		"if r.sent && p == nil {"),

	// Timers and stashes.
	plant("stopped timer comes", "actor (*Timer).fire", "timer-stop",
		`case t.ended:
		return false`,
		`case t.ended:
		return true`),
	plant("ticks not coalesced", "actor (*Cell).rings", "timer-coalesced",
		"if !t.fired {",
		"if t != nil {"),
	plant("periodic timer drifts", "actor (*Cell).rings", "timer-periodic",
		"c.system.timers.start(&t.timer, t.next.Sub(now))",
		"c.system.timers.start(&t.timer, t.period)"),
	plant("message does not end the silence", "actor (*Cell).ended", "receive-timeout",
		"if m.idle != nil && left < c.quantum {",
		"if m.idle != nil && left > c.quantum {"),
	plant("timers of one time out of order", "actor timerEntry.before", "timer-order timer-once",
		"a.when == b.when && a.x.seq < b.x.seq",
		"a.when == b.when && a.x.seq > b.x.seq"),
	plant("stash not undone by a restart", "actor (*Cell).restart", "stash-restart",
		`c.unstash()
	c.recovered(o.retry)`,
		"c.recovered(o.retry)"),
	plant("stash handed over newest first", "actor (*Context).Stash", "stash-order stash-restart",
		"m.stash = append(m.stash, msg)",
		"m.stash = append([]any{msg}, m.stash...)"),

	// Own mailboxes and invokers.
	plant("message dropped by an own mailbox forgotten", "actor (*custom).Send", "own-mailbox-full",
		"p.cell.Undelivered(d, ErrDropped)",
		"_ = d"),
	plant("rest of an own mailbox forgotten", "actor (*custom).Close", "own-mailbox",
		"p.cell.Undelivered(msg, ErrStopped)",
		"_ = msg"),
	plant("turn of an own mailbox without a bound", "actor (*Cell).deliver", "own-mailbox-turns",
		"if c.left <= 0 {",
		"if c.left <= -1000 {"),
}
