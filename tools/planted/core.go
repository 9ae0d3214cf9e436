package main

import "slices"

// bugs are all that are planted: what is wrong, in which function, and which clauses and tests
// must notice it; what stands there, as much of it as says where, and what stands there instead.
// A clause that a bug keeps from ending is none to name: each of its runs takes until it is
// stopped.
var bugs = slices.Concat(coreBugs, messageBugs, independentBugs)

// Bugs of what only the core decides: hooks, supervisors, restarts, the rest of an actor's life.
var coreBugs = []bug{
	// Hooks.
	plant("PostStop left out", "actor (*Cell).finish", "hooks-in-order restart-hooks",
		"if h, ok := c.self().(PostStopper); ok {",
		"if h, ok := c.self().(PostStopper); ok && h == nil {"),
	plant("PostStop before the children", "actor (*Cell).settle", "poststop-after-children stop-family",
		`if c.children != nil {
		if c.parent == nil {`,
		`if c.children != nil && c.parent == nil {
		if c.parent == nil {`),
	plant("PostStop not in the place of PreRestart", "actor (*Cell).letGo", "restart-hooks supervise-directives",
		"hook = h.PostStop",
		"hook = nil"),
	plant("PostStop called again for a value that is gone", "actor (*Cell).letGo", "restart-backoff-stopped",
		`if c.started {
		c.started = false
		var hook`,
		`if c.started {
		var hook`),
	plant("PreRestart without its cause", "actor (*Cell).letGo", "restart-hooks",
		"return h.PreRestart(ctx, cause) }",
		"return h.PreRestart(ctx, nil) }"),
	plant("PostRestart left out", "actor (*Cell).install", "restart-hooks",
		"return func(ctx *Context) error { return h.PostRestart(ctx, cause) }",
		"return nil"),
	plant("PreStart not in the place of PostRestart", "actor (*Cell).install", "restart-hooks restart-of-a-start",
		`case PreStarter:
		return h.PreStart`,
		`case PreStarter:
		return nil`),
	plant("failure of PostRestart overlooked", "actor (*Cell).renew", "restart-begin-fails",
		"err = c.protect(first)",
		"_ = c.protect(first)"),
	plant("PreRestart's failure ends the restart", "actor (*Cell).letGo", "restart-end-fails",
		"c.system.failed(&Failure{Actor: Ref{c}, Err: err, Time: c.now()})",
		`c.fail(nil, err, false)
				c.signal(c, sigStop)`),

	// What a supervisor decides.
	plant("failed actor goes on before the decision", "actor (*Cell).fail", "supervise-waits",
		`m.broken, m.failed, m.failedOn = f, sent, msg
	c.suspend(holdFailed)`,
		"m.broken, m.failed, m.failedOn = f, sent, msg"),
	plant("Resume is Restart", "actor (*Cell).decide", "supervise-directives",
		"if d == Resume && f.early {",
		"if d == Resume {"),
	plant("Decide is not asked", "actor (*Cell).decide", "supervise-directives supervise-told",
		"if s.Decide != nil {",
		"if s.Decide != nil && f == nil {"),
	plant("nonsense is Restart", "actor (*Cell).ask", "supervise-directives supervise-undecided",
		`if err != nil || d > Escalate {
		d = Stop`,
		`if err != nil || d > Escalate {
		d = Restart`),
	plant("panic of Decide overlooked", "actor (*Cell).decide", "supervise-undecided",
		"if oops != nil {",
		"if oops != nil && s == nil {"),
	plant("fatal errors are like all others", "actor (*Cell).decide", "supervise-fatal",
		"if s != nil && !isFatal(f.Err) {",
		"if s != nil {"),
	plant("restart of what started only", "actor (*Cell).goOn", "supervise-escalate-start",
		`if m.broken.early {
		c.restart(`,
		`if m.broken.early && c == nil {
		c.restart(`),
	plant("stopping actor restarted", "actor (*Cell).restart", "supervise-stopping-sibling",
		`if State(c.state.Load()) == StateStopping {
		return
	}
	m := c.extra()
	if o.fail`,
		`m := c.extra()
	if o.fail`),
	plant("one-for-one is all-for-one", "actor (*Cell).decide", "supervise-directives supervise-one-for-one",
		"all := s != nil && s.Strategy == AllForOne",
		"all := s != nil"),
	plant("all-for-one restarts one", "actor (*Cell).decide", "supervise-all-for-one supervise-all-limit",
		`if all {
			for o := c.children; o != nil; o = o.older {
				if o != child {
					c.send(`,
		`if all && f == nil {
			for o := c.children; o != nil; o = o.older {
				if o != child {
					c.send(`),
	plant("all-for-one stops one", "actor (*Cell).decide", "supervise-all-for-one supervise-all-limit",
		`if all {
			for o := c.children; o != nil; o = o.older {
				if o != child {
					c.signal(`,
		`if all && f == nil {
			for o := c.children; o != nil; o = o.older {
				if o != child {
					c.signal(`),
	plant("all-for-one counts each child alone", "actor (*Cell).budget", "supervise-all-limit",
		`if s.Strategy == AllForOne {
		child = nil`,
		`if s.Strategy > AllForOne {
		child = nil`),
	plant("one-for-one counts all children", "actor (*Cell).budget", "supervise-one-for-one",
		`if s.Strategy == AllForOne {
		child = nil`,
		`if s.Strategy <= AllForOne {
		child = nil`),
	plant("escalation stops at the parent", "actor (*Cell).decide", "supervise-escalate supervise-to-the-end",
		`m.escalated = append(m.escalated, child)
		c.fail(nil, f.Err, false)`,
		"m.escalated = append(m.escalated, child)"),
	plant("escalated failure with the child's message", "actor (*Cell).decide", "supervise-escalate",
		"c.fail(nil, f.Err, false)",
		"c.fail(f.Msg, f.Err, false)"),
	plant("escalated child not resumed", "actor (*Cell).goOn", "supervise-escalate",
		"for _, child := range m.escalated {",
		"for _, child := range m.escalated[:0] {"),
	plant("root forgets the failure", "actor (*Cell).decide", "supervise-to-the-end guardian-fails-system",
		"c.system.err = f.Err",
		"c.system.err = nil"),
	plant("failed message forgotten by the core", "actor (*Cell).recovered", "supervise-directives supervise-fatal",
		`default:
		c.system.deadLetter(`,
		`case c == nil:
		c.system.deadLetter(`),
	plant("dead letter without its cause", "actor (*Cell).recovered", "supervise-directives restart-limit",
		"Reason: ErrFailed, Cause: f.Err})",
		"Reason: ErrFailed, Time: f.Time})"),
	plant("failed message of a stopped actor forgotten", "actor (*Cell).quit", "supervise-directives supervise-stopped-meanwhile",
		`c.recovered(false)
	c.unpause()`,
		"c.unpause()"),
	plant("no event of a decision", "actor (*Cell).decide", "supervise-events supervise-fatal restart-limit",
		`if e := c.system.events; e.active() {
		e.Publish(Supervised{`,
		`if e := c.system.events; e.active() && f == nil {
		e.Publish(Supervised{`),
	plant("no event of a restart", "actor (*Cell).renew", "supervise-events",
		`if e := c.system.events; e.active() {
		e.Publish(ActorRestarted{`,
		`if e := c.system.events; e.active() && v == nil {
		e.Publish(ActorRestarted{`),
	plant("no event of a start", "actor (*Cell).start", "supervise-events",
		`c.state.Store(uint32(StateRunning))
	c.announce()`,
		"c.state.Store(uint32(StateRunning))"),
	plant("event of a start that failed", "actor (*Cell).start", "supervise-events",
		`c.fail(nil, err, false)
		return
	}
	c.started = true
	c.state`,
		`c.fail(nil, err, false)
		c.announce()
		return
	}
	c.started = true
	c.state`),
	plant("restarts not counted", "actor (*Cell).renew", "supervise-directives",
		"c.system.restarts.add(1)",
		""),

	// What a restart leaves.
	plant("restart does not wait for the children", "actor (*Cell).renew", "restart-children-first restart-waits-for-children",
		"if c.children != nil || v.waiting {",
		"if v.waiting {"),
	plant("children not stopped by a restart", "actor (*Cell).restart", "restart-children-first",
		`for child := c.children; child != nil; child = child.older {
		c.signal(child, sigStop)
	}
	c.renew()`,
		`c.children = nil
	c.renew()`),
	plant("timers survive a restart", "actor (*Cell).stopTimers", "restart-resets",
		"for c.more.timers != nil {",
		"for c.more.timers != nil && State(c.state.Load()) == StateStopping {"),
	plant("behaviours survive a restart", "actor (*Cell).letGo", "restart-resets",
		`c.uncover()
	a := c.self()`,
		"a := c.self()"),
	plant("stash lost in a restart", "actor (*Cell).restart", "restart-resets",
		`c.unstash()
	c.recovered(o.retry)`,
		`m.stash = nil
	c.recovered(o.retry)`),
	plant("suspension survives a restart", "actor (*Cell).restart", "restart-ends-suspension",
		`c.unpause()
	m.hold &^= holdFailed`,
		"m.hold &^= holdFailed"),
	plant("messages handled during a restart", "actor (*Cell).restart", "restart-waits-for-children restart-backoff",
		"c.suspend(holdRestart)",
		"c.release(0)"),
	plant("old value used again", "actor (*Cell).renew", "restart-hooks restart-keeps-messages supervise-directives",
		"a = m.fresh(); return nil })",
		"a = c.self(); return nil })"),
	plant("Retry ignored", "actor (*Cell).recovered", "restart-retries restart-retries-first",
		"case retry:",
		"case retry && c == nil:"),
	plant("always Retry", "actor (*Cell).recovered", "supervise-directives",
		"case retry:",
		"case retry || c != nil:"),
	plant("retried message before nothing", "actor (*noticeQueue).retry", "restart-retries-first",
		`q.prepend(msg)
	q.list[0].again = true`,
		"q.list = append(q.list, notice{msg: msg, sent: true, again: true})"),
	plant("stash before a message to be tried again", "actor (*noticeQueue).prepend", "restart-keeps-a-retry-first",
		`if !q.empty() && q.list[first].again {
		first++
	}`,
		""),
	plant("a sibling's failure in the end", "actor (*Cell).letGo", "watch-reason",
		`c.uncover()
	a := c.self()`,
		`c.more.lastErr = cause
	c.uncover()
	a := c.self()`),
	plant("watches lost in a restart", "actor (*Cell).letGo", "restart-keeps-identity watch-restart",
		`c.uncover()
	a := c.self()`,
		`c.more.watching = nil
	c.uncover()
	a := c.self()`),
	plant("watchers lost in a restart", "actor (*Cell).letGo", "restart-keeps-identity watch-restart",
		`c.uncover()
	a := c.self()`,
		`c.more.watchers = watchers{}
	c.uncover()
	a := c.self()`),
	plant("a restart is an end", "actor (*Cell).letGo", "restart-keeps-identity watch-restart",
		`c.uncover()
	a := c.self()`,
		`c.tellWatchers()
	c.uncover()
	a := c.self()`),
	plant("notices lost in a restart", "actor (*Cell).renew", "watch-restart restart-resets",
		`m.verdict = nil
	var a Actor`,
		`m.verdict, m.notices = nil, noticeQueue{}
	var a Actor`),

	// Limits and delays.
	plant("one restart too many", "actor (*budget).spend", "restart-limit restart-limits supervise-one-for-one",
		"if len(b.times) >= s.limit() {",
		"if len(b.times) > s.limit() {"),
	plant("limit without a window", "actor (*budget).spend", "restart-limit restart-limits",
		"for w > 0 && old < len(b.times)",
		"for w < 0 && old < len(b.times)"),
	plant("window a moment too short", "actor (*budget).spend", "restart-limit restart-limits",
		"now.Sub(b.times[old]) > w {",
		"now.Sub(b.times[old]) >= w {"),
	plant("window that is never moved", "actor (*budget).spend", "restart-limit",
		"b.times = append(b.times[:0], b.times[old:]...)",
		`if old == len(b.times) {
		b.times = nil
	}`),
	plant("refused restart not said to be one", "actor (*Cell).decide", "restart-limit supervise-all-limit",
		"d, exhausted = Stop, true",
		"d = Stop"),
	plant("no backoff", "actor (*Cell).renew", "restart-backoff",
		"if v.delay > 0 {",
		"if v.delay > 0 && c == nil {"),
	plant("backoff before the old value is let go", "actor (*Cell).renew", "restart-backoff",
		`v.clean = true
		c.letGo(v.cause)`,
		`if v.delay == 0 {
			v.clean = true
			c.letGo(v.cause)
		}`),
	plant("backoff that does not grow", "actor (*Backoff).delay", "restart-backoff",
		"d *= factor",
		"d *= 1"),
	plant("backoff without an end", "actor (*Backoff).delay", "restart-backoff",
		"d = most",
		""),
	plant("backoff that is not begun anew", "actor (*budget).spend", "restart-backoff",
		"if w > 0 && now.Sub(b.last) > w {",
		"if w < 0 && now.Sub(b.last) > w {"),
	plant("jitter without its seed", "actor (*Backoff).delay", "restart-jitter",
		"rand.NewPCG(b.Seed,",
		"rand.NewPCG(rand.Uint64(),"),
	plant("jitter of one seed", "actor (*Backoff).delay", "restart-jitter",
		"rand.NewPCG(b.Seed,",
		"rand.NewPCG(0,"),
	plant("jitter the same for all actors", "actor (*Backoff).delay", "restart-jitter",
		"uint64(p.slot)<<32^uint64(p.gen)<<16^uint64(n)",
		"uint64(n)"),
	plant("jitter too large", "actor (*Backoff).delay", "restart-jitter",
		"d -= d * b.Jitter * rng.Float64()",
		"d -= d * (b.Jitter + 1) / 2 * (rng.Float64() + 1) / 2"),

	// Watching.
	plant("the dead not told of", "actor (*Context).Watch", "watch-the-dead unwatch-the-next",
		"c.signals.push(&signal{kind: sigTerminated, arg: &Terminated{Actor: r}})",
		""),
	plant("watch at the last moment unanswered", "actor (*Cell).decline", "watch-the-last-moment",
		"c.send(s.arg.(*Cell), &signal{kind: sigTerminated, arg: &Terminated{Actor: Ref{c}}})",
		""),
	plant("Unwatch keeps the watch", "actor (*Context).Unwatch", "unwatch unwatch-after-the-end",
		`delete(c.more.watching, t)
	c.send`,
		"c.send"),
	plant("end told after Unwatch", "actor (*Cell).due", "unwatch-the-next",
		`if _, ok := c.more.watching[n.from]; !ok {
			return false
		}`,
		""),
	plant("watch not over with the end", "actor (*Cell).due", "watch-the-dead",
		"delete(c.more.watching, n.from)",
		""),
	plant("other watcher forgotten by Unwatch", "actor (*watchers).remove", "watch-apart",
		"w.list[i] = w.list[last]",
		""),
	plant("place of a watcher forgotten", "actor (*watchers).remove", "watch-apart",
		"w.at[w.list[i]] = i",
		""),
	plant("one watcher told", "actor (*Cell).tellWatchers", "watch-apart",
		"range c.more.watchers.list {",
		"range c.more.watchers.list[:min(1, len(c.more.watchers.list))] {"),
	plant("end without its reason", "actor (*Cell).tellWatchers", "watch-reason watch-children",
		"&Terminated{Ref{c}, c.more.lastErr}",
		"&Terminated{Ref{c}, nil}"),
	plant("end told when it begins", "actor (*Cell).settle", "watch-the-dying",
		`c.port.Close()
		if c.parent != nil {`,
		`c.port.Close()
		if c.more != nil {
			c.tellWatchers()
		}
		if c.parent != nil {`),
	plant("end published while the name is taken", "actor (*Cell).finish", "supervise-events-true",
		`c.system.remove(c) // before the queue is closed, which tells those who begin to watch it that it has gone
	rest := c.signals.close()
	if e := c.system.events; e.active() && !c.private() {
		e.Publish(ActorStopped{Actor: Ref{c}, Time: c.now()})
	}`,
		`rest := c.signals.close()
	if e := c.system.events; e.active() && !c.private() {
		e.Publish(ActorStopped{Actor: Ref{c}, Time: c.now()})
	}
	c.system.remove(c)`),
	plant("failure on an end blamed on a sender", "actor (*Cell).deliver", "watch-behaviour",
		"c.fail(n.msg, err, n.sent)",
		"c.fail(n.msg, err, true)"),
	plant("notices outside the turn's share", "actor (*Cell).deliver", "restart-throughput",
		`c.left--
		if err := c.notify`,
		"if err := c.notify"),

	// What stands before an actor.
	plant("actor's middleware before the system's", "actor newFront", "middleware-order",
		"[2][]Middleware{inner, outer}",
		"[2][]Middleware{outer, inner}"),
	plant("last middleware first", "actor newFront", "middleware-order",
		"for i := len(part) - 1; i >= 0; i-- {",
		"for i := range part {"),
	plant("invoker ignored", "actor newFront", "invoker middleware-order",
		"if inv != nil {",
		"if inv != nil && a == nil {"),
	plant("invoker given the first behaviour", "actor newFront", "invoker",
		"inv.Invoke(ctx, f.behaviour, msg)",
		"inv.Invoke(ctx, a, msg)"),
	plant("notices pass by the middleware", "actor (*Cell).notify", "middleware-everything",
		"c.actor.Receive(ctx, n.msg)",
		"(*c.behaviour()).Receive(ctx, n.msg)"),
	plant("behaviours pass by the middleware", "actor (*Cell).behaviour", "middleware-everything invoker",
		`if c.more != nil && c.more.front != nil {
		return`,
		`if c.more != nil && c.more.front == nil {
		return`),
	plant("middleware lost in a restart", "actor (*Cell).install", "middleware-everything invoker",
		"if f := c.more.front; f != nil {",
		"if f := c.more.front; f != nil && a == nil {"),

	// What was taken and not begun.
	plant("what a Goexit interrupts comes behind what came later", "actor (*signals).putBack", "exits-keep-order",
		"last.next, newest = newest, since",
		`tail := newest
			for tail.next != nil {
				tail = tail.next
			}
			tail.next = since`),
	plant("what a Goexit interrupts is lost", "actor (*Cell).takeSignals", "exits-keep-order",
		"defer func() { c.signals.putBack(rest) }()",
		"defer func() { rest = nil }()"),
}
