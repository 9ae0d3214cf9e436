package conformtest

// mutants says of every change to the core which clauses must notice it. A line
// more is all that another one takes; old and new are text of the file, with
// its tabs, and enough of it to be there once. A clause that a mutant keeps from
// ending is none to name: each of its runs takes until it is stopped.
var mutants = []mutant{
	// Hooks.
	{
		name: "PostStop left out", file: "cell.go",
		old:     "if h, ok := c.self().(PostStopper); ok {",
		new:     "if h, ok := c.self().(PostStopper); ok && h == nil {",
		clauses: "hooks-in-order restart-hooks",
	},
	{
		name: "PostStop before the children", file: "cell.go",
		old:     "\tif c.children != nil {\n\t\tif c.parent == nil {",
		new:     "\tif c.children != nil && c.parent == nil {\n\t\tif c.parent == nil {",
		clauses: "poststop-after-children stop-family",
	},
	{
		name: "PostStop not in the place of PreRestart", file: "supervise.go",
		old:     "\t\t\thook = h.PostStop\n",
		new:     "\t\t\thook = nil\n",
		clauses: "restart-hooks supervise-directives",
	},
	{
		name: "PostStop called again for a value that is gone", file: "supervise.go",
		old:     "\tif c.started {\n\t\tc.started = false\n\t\tvar hook",
		new:     "\tif c.started {\n\t\tvar hook",
		clauses: "restart-backoff-stopped",
	},
	{
		name: "PreRestart without its cause", file: "supervise.go",
		old:     "return h.PreRestart(ctx, cause) }",
		new:     "return h.PreRestart(ctx, nil) }",
		clauses: "restart-hooks",
	},
	{
		name: "PostRestart left out", file: "supervise.go",
		old:     "return func(ctx *Context) error { return h.PostRestart(ctx, cause) }",
		new:     "return nil",
		clauses: "restart-hooks",
	},
	{
		name: "PreStart not in the place of PostRestart", file: "supervise.go",
		old:     "\tcase PreStarter:\n\t\treturn h.PreStart\n",
		new:     "\tcase PreStarter:\n\t\treturn nil\n",
		clauses: "restart-hooks restart-of-a-start",
	},
	{
		name: "failure of PostRestart overlooked", file: "supervise.go",
		old:     "\t\t\terr = c.protect(first)\n",
		new:     "\t\t\t_ = c.protect(first)\n",
		clauses: "restart-begin-fails",
	},
	{
		name: "PreRestart's failure ends the restart", file: "supervise.go",
		old:     "\t\t\t\tc.system.failed(&Failure{Actor: Ref{c}, Err: err, Time: c.now()})\n",
		new:     "\t\t\t\tc.fail(nil, err, false)\n\t\t\t\tc.signal(c, sigStop)\n",
		clauses: "restart-end-fails",
	},

	// What a supervisor decides.
	{
		name: "failed actor goes on before the decision", file: "cell.go",
		old:     "\tm.broken, m.failed, m.failedOn = f, sent, msg\n\tc.suspend(holdFailed)\n",
		new:     "\tm.broken, m.failed, m.failedOn = f, sent, msg\n",
		clauses: "supervise-waits",
	},
	{
		name: "Resume is Restart", file: "supervise.go",
		old:     "\t\tif d == Resume && f.early {",
		new:     "\t\tif d == Resume {",
		clauses: "supervise-directives",
	},
	{
		name: "Decide is not asked", file: "supervise.go",
		old:     "\t\tif s.Decide != nil {",
		new:     "\t\tif s.Decide != nil && f == nil {",
		clauses: "supervise-directives supervise-told",
	},
	{
		name: "nonsense is Restart", file: "supervise.go",
		old:     "\tif err != nil || d > Escalate {\n\t\td = Stop",
		new:     "\tif err != nil || d > Escalate {\n\t\td = Restart",
		clauses: "supervise-directives supervise-undecided",
	},
	{
		name: "panic of Decide overlooked", file: "supervise.go",
		old:     "\tif oops != nil {\n",
		new:     "\tif oops != nil && s == nil {\n",
		clauses: "supervise-undecided",
	},
	{
		name: "fatal errors are like all others", file: "supervise.go",
		old:     "\tif s != nil && !isFatal(f.Err) {",
		new:     "\tif s != nil {",
		clauses: "supervise-fatal",
	},
	{
		name: "restart of what started only", file: "supervise.go",
		old:     "\tif m.broken.early {\n\t\tc.restart(",
		new:     "\tif m.broken.early && c == nil {\n\t\tc.restart(",
		clauses: "supervise-escalate-start",
	},
	{
		name: "stopping actor restarted", file: "supervise.go",
		old:     "\tif State(c.state.Load()) == StateStopping {\n\t\treturn\n\t}\n\tm := c.extra()\n\tif o.fail",
		new:     "\tm := c.extra()\n\tif o.fail",
		clauses: "supervise-stopping-sibling",
	},
	{
		name: "one-for-one is all-for-one", file: "supervise.go",
		old:     "\tall := s != nil && s.Strategy == AllForOne\n",
		new:     "\tall := s != nil\n",
		clauses: "supervise-directives supervise-one-for-one",
	},
	{
		name: "all-for-one restarts one", file: "supervise.go",
		old:     "\t\tif all {\n\t\t\tfor o := c.children; o != nil; o = o.older {\n\t\t\t\tif o != child {\n\t\t\t\t\tc.send(",
		new:     "\t\tif all && f == nil {\n\t\t\tfor o := c.children; o != nil; o = o.older {\n\t\t\t\tif o != child {\n\t\t\t\t\tc.send(",
		clauses: "supervise-all-for-one supervise-all-limit",
	},
	{
		name: "all-for-one stops one", file: "supervise.go",
		old:     "\t\tif all {\n\t\t\tfor o := c.children; o != nil; o = o.older {\n\t\t\t\tif o != child {\n\t\t\t\t\tc.signal(",
		new:     "\t\tif all && f == nil {\n\t\t\tfor o := c.children; o != nil; o = o.older {\n\t\t\t\tif o != child {\n\t\t\t\t\tc.signal(",
		clauses: "supervise-all-for-one supervise-all-limit",
	},
	{
		name: "all-for-one counts each child alone", file: "supervise.go",
		old:     "\tif s.Strategy == AllForOne {\n\t\tchild = nil",
		new:     "\tif s.Strategy > AllForOne {\n\t\tchild = nil",
		clauses: "supervise-all-limit",
	},
	{
		name: "one-for-one counts all children", file: "supervise.go",
		old:     "\tif s.Strategy == AllForOne {\n\t\tchild = nil",
		new:     "\tif s.Strategy <= AllForOne {\n\t\tchild = nil",
		clauses: "supervise-one-for-one",
	},
	{
		name: "escalation stops at the parent", file: "supervise.go",
		old:     "\t\tm.escalated = append(m.escalated, child)\n\t\tc.fail(nil, f.Err, false)\n",
		new:     "\t\tm.escalated = append(m.escalated, child)\n",
		clauses: "supervise-escalate supervise-to-the-end",
	},
	{
		name: "escalated failure with the child's message", file: "supervise.go",
		old:     "\t\tc.fail(nil, f.Err, false)\n",
		new:     "\t\tc.fail(f.Msg, f.Err, false)\n",
		clauses: "supervise-escalate",
	},
	{
		name: "escalated child not resumed", file: "supervise.go",
		old:     "\tfor _, child := range m.escalated {",
		new:     "\tfor _, child := range m.escalated[:0] {",
		clauses: "supervise-escalate",
	},
	{
		name: "root forgets the failure", file: "supervise.go",
		old:     "\t\tc.system.err = f.Err\n",
		new:     "\t\tc.system.err = nil\n",
		clauses: "supervise-to-the-end guardian-fails-system",
	},
	{
		name: "failed message forgotten by the core", file: "supervise.go",
		old:     "\tdefault:\n\t\tc.system.deadLetter(",
		new:     "\tcase c == nil:\n\t\tc.system.deadLetter(",
		clauses: "supervise-directives supervise-fatal",
	},
	{
		name: "dead letter without its cause", file: "supervise.go",
		old:     "Reason: ErrFailed, Cause: f.Err})",
		new:     "Reason: ErrFailed, Time: f.Time})",
		clauses: "supervise-directives restart-limit",
	},
	{
		name: "failed message of a stopped actor forgotten", file: "cell.go",
		old:     "\tc.recovered(false)\n\tc.unpause()\n",
		new:     "\tc.unpause()\n",
		clauses: "supervise-directives supervise-stopped-meanwhile",
	},
	{
		name: "no event of a decision", file: "supervise.go",
		old:     "\tif e := c.system.events; e.active() {\n\t\te.Publish(Supervised{",
		new:     "\tif e := c.system.events; e.active() && f == nil {\n\t\te.Publish(Supervised{",
		clauses: "supervise-events supervise-fatal restart-limit",
	},
	{
		name: "no event of a restart", file: "supervise.go",
		old:     "\tif e := c.system.events; e.active() {\n\t\te.Publish(ActorRestarted{",
		new:     "\tif e := c.system.events; e.active() && v == nil {\n\t\te.Publish(ActorRestarted{",
		clauses: "supervise-events",
	},
	{
		name: "no event of a start", file: "cell.go",
		old:     "\tc.state.Store(uint32(StateRunning))\n\tc.announce()\n",
		new:     "\tc.state.Store(uint32(StateRunning))\n",
		clauses: "supervise-events",
	},
	{
		name: "event of a start that failed", file: "cell.go",
		old:     "\t\tc.fail(nil, err, false)\n\t\treturn\n\t}\n\tc.started = true\n\tc.state",
		new:     "\t\tc.fail(nil, err, false)\n\t\tc.announce()\n\t\treturn\n\t}\n\tc.started = true\n\tc.state",
		clauses: "supervise-events",
	},
	{
		name: "restarts not counted", file: "supervise.go",
		old:     "\t\tc.system.restarts.Add(1)\n",
		new:     "",
		clauses: "supervise-directives",
	},

	// What a restart leaves.
	{
		name: "restart does not wait for the children", file: "supervise.go",
		old:     "\tif c.children != nil || v.waiting {",
		new:     "\tif v.waiting {",
		clauses: "restart-children-first restart-waits-for-children",
	},
	{
		name: "children not stopped by a restart", file: "supervise.go",
		old:     "\tfor child := c.children; child != nil; child = child.older {\n\t\tc.signal(child, sigStop)\n\t}\n\tc.renew()",
		new:     "\tc.children = nil\n\tc.renew()",
		clauses: "restart-children-first",
	},
	{
		name: "timers survive a restart", file: "timer.go", // restart stops them in two places
		old:     "\tfor c.more.timers != nil {",
		new:     "\tfor c.more.timers != nil && State(c.state.Load()) == StateStopping {",
		clauses: "restart-resets",
	},
	{
		name: "behaviours survive a restart", file: "supervise.go",
		old:     "\tm := c.more\n\tc.uncover()\n",
		new:     "\tm := c.more\n",
		clauses: "restart-resets",
	},
	{
		name: "stash lost in a restart", file: "supervise.go",
		old:     "\tc.unstash()\n\tc.recovered(o.retry)",
		new:     "\tm.stash = nil\n\tc.recovered(o.retry)",
		clauses: "restart-resets",
	},
	{
		name: "suspension survives a restart", file: "supervise.go",
		old:     "\tc.unpause()\n\tm.hold &^= holdFailed\n",
		new:     "\tm.hold &^= holdFailed\n",
		clauses: "restart-ends-suspension",
	},
	{
		name: "messages handled during a restart", file: "supervise.go",
		old:     "\tc.suspend(holdRestart)\n",
		new:     "\tc.release(0)\n",
		clauses: "restart-waits-for-children restart-backoff",
	},
	{
		name: "old value used again", file: "supervise.go",
		old:     "a = m.fresh(); return nil })",
		new:     "a = c.self(); return nil })",
		clauses: "restart-hooks restart-keeps-messages supervise-directives",
	},
	{
		name: "Retry ignored", file: "supervise.go",
		old:     "\tcase retry:\n",
		new:     "\tcase retry && c == nil:\n",
		clauses: "restart-retries restart-retries-first",
	},
	{
		name: "always Retry", file: "supervise.go",
		old:     "\tcase retry:\n",
		new:     "\tcase retry || c != nil:\n",
		clauses: "supervise-directives",
	},
	{
		name: "retried message before nothing", file: "more.go",
		old:     "\tq.prepend(msg)\n\tq.list[0].again = true\n",
		new:     "\tq.list = append(q.list, notice{msg: msg, sent: true, again: true})\n",
		clauses: "restart-retries-first",
	},
	{
		name: "stash before a message to be tried again", file: "more.go",
		old:     "\tif !q.empty() && q.list[first].again {\n\t\tfirst++\n\t}\n",
		new:     "",
		clauses: "restart-keeps-a-retry-first",
	},
	{
		name: "watches lost in a restart", file: "supervise.go",
		old:     "\tm.lastErr = cause\n",
		new:     "\tm.lastErr, m.watching = cause, nil\n",
		clauses: "restart-keeps-identity watch-restart",
	},
	{
		name: "watchers lost in a restart", file: "supervise.go",
		old:     "\tm.lastErr = cause\n",
		new:     "\tm.lastErr, m.watchers = cause, watchers{}\n",
		clauses: "restart-keeps-identity watch-restart",
	},
	{
		name: "a restart is an end", file: "supervise.go",
		old:     "\tm.lastErr = cause\n",
		new:     "\tm.lastErr = cause\n\tc.tellWatchers()\n",
		clauses: "restart-keeps-identity watch-restart",
	},
	{
		name: "notices lost in a restart", file: "supervise.go",
		old:     "\tm.verdict = nil\n\tvar a Actor",
		new:     "\tm.verdict, m.notices = nil, noticeQueue{}\n\tvar a Actor",
		clauses: "watch-restart restart-resets",
	},

	// Limits and delays.
	{
		name: "one restart too many", file: "supervise.go",
		old:     "\tif len(b.times) >= s.limit() {",
		new:     "\tif len(b.times) > s.limit() {",
		clauses: "restart-limit restart-limits supervise-one-for-one",
	},
	{
		name: "limit without a window", file: "supervise.go",
		old:     "\tfor w > 0 && old < len(b.times)",
		new:     "\tfor w < 0 && old < len(b.times)",
		clauses: "restart-limit restart-limits",
	},
	{
		name: "window a moment too short", file: "supervise.go",
		old:     "now.Sub(b.times[old]) > w {",
		new:     "now.Sub(b.times[old]) >= w {",
		clauses: "restart-limit restart-limits",
	},
	{
		name: "window that is never moved", file: "supervise.go",
		old:     "\tb.times = append(b.times[:0], b.times[old:]...)\n",
		new:     "\tif old == len(b.times) {\n\t\tb.times = nil\n\t}\n",
		clauses: "restart-limit",
	},
	{
		name: "refused restart not said to be one", file: "supervise.go",
		old:     "\t\t\t\td, exhausted = Stop, true\n",
		new:     "\t\t\t\td = Stop\n",
		clauses: "restart-limit supervise-all-limit",
	},
	{
		name: "no backoff", file: "supervise.go",
		old:     "\t\tif v.delay > 0 {",
		new:     "\t\tif v.delay > 0 && c == nil {",
		clauses: "restart-backoff",
	},
	{
		name: "backoff before the old value is let go", file: "supervise.go",
		old:     "\t\tv.clean = true\n\t\tc.letGo(v.cause)\n",
		new:     "\t\tif v.delay == 0 {\n\t\t\tv.clean = true\n\t\t\tc.letGo(v.cause)\n\t\t}\n",
		clauses: "restart-backoff",
	},
	{
		name: "backoff that does not grow", file: "supervise.go",
		old:     "\t\td *= factor\n",
		new:     "\t\td *= 1\n",
		clauses: "restart-backoff",
	},
	{
		name: "backoff without an end", file: "supervise.go",
		old:     "\t\td = most\n",
		new:     "",
		clauses: "restart-backoff",
	},
	{
		name: "backoff that is not begun anew", file: "supervise.go",
		old:     "\t\tif w > 0 && now.Sub(b.last) > w {",
		new:     "\t\tif w < 0 && now.Sub(b.last) > w {",
		clauses: "restart-backoff",
	},
	{
		name: "jitter without its seed", file: "supervise.go",
		old:     "rand.NewPCG(b.Seed, ",
		new:     "rand.NewPCG(rand.Uint64(), ",
		clauses: "restart-jitter",
	},
	{
		name: "jitter of one seed", file: "supervise.go",
		old:     "rand.NewPCG(b.Seed, ",
		new:     "rand.NewPCG(0, ",
		clauses: "restart-jitter",
	},
	{
		name: "jitter the same for all actors", file: "supervise.go",
		old:     "uint64(p.slot)<<32^uint64(p.gen)<<16^uint64(n)",
		new:     "uint64(n)",
		clauses: "restart-jitter",
	},
	{
		name: "jitter too large", file: "supervise.go",
		old:     "\t\td -= d * b.Jitter * rng.Float64()\n",
		new:     "\t\td -= d * (b.Jitter + 1) / 2 * (rng.Float64() + 1) / 2\n",
		clauses: "restart-jitter",
	},

	// Watching.
	{
		name: "the dead not told of", file: "watch.go",
		old:     "\tc.signals.push(&signal{kind: sigTerminated, arg: &Terminated{Actor: r}})\n",
		new:     "",
		clauses: "watch-the-dead unwatch-the-next",
	},
	{
		name: "watch at the last moment unanswered", file: "cell.go",
		old:     "\t\tc.send(s.arg.(*Cell), &signal{kind: sigTerminated, arg: &Terminated{Actor: Ref{c}}})\n",
		new:     "",
		clauses: "watch-the-last-moment",
	},
	{
		name: "Unwatch keeps the watch", file: "watch.go",
		old:     "\tdelete(c.more.watching, t)\n\tc.send",
		new:     "\tc.send",
		clauses: "unwatch unwatch-after-the-end",
	},
	{
		name: "end told after Unwatch", file: "more.go",
		old:     "\t\tif _, ok := c.more.watching[n.from]; !ok {\n\t\t\treturn false\n\t\t}\n",
		new:     "",
		clauses: "unwatch-the-next",
	},
	{
		name: "watch not over with the end", file: "more.go",
		old:     "\t\tdelete(c.more.watching, n.from)\n",
		new:     "",
		clauses: "watch-the-dead",
	},
	{
		name: "other watcher forgotten by Unwatch", file: "watch.go",
		old:     "\tw.list[i] = w.list[last]\n",
		new:     "",
		clauses: "watch-apart",
	},
	{
		name: "place of a watcher forgotten", file: "watch.go",
		old:     "\tw.at[w.list[i]] = i\n",
		new:     "",
		clauses: "watch-apart",
	},
	{
		name: "one watcher told", file: "watch.go",
		old:     "range c.more.watchers.list {",
		new:     "range c.more.watchers.list[:min(1, len(c.more.watchers.list))] {",
		clauses: "watch-many watch-apart",
	},
	{
		name: "end without its reason", file: "watch.go",
		old:     "&Terminated{Ref{c}, c.more.lastErr}",
		new:     "&Terminated{Ref{c}, nil}",
		clauses: "watch-reason watch-children",
	},
	{
		name: "end told when it begins", file: "cell.go",
		old:     "\t\tc.port.Close()\n\t\tif c.parent != nil {",
		new:     "\t\tc.port.Close()\n\t\tif c.more != nil {\n\t\t\tc.tellWatchers()\n\t\t}\n\t\tif c.parent != nil {",
		clauses: "watch-the-dying",
	},
	{
		name: "end published while the name is taken", file: "cell.go",
		old:     "\tc.system.remove(c) // before the queue is closed, which tells those who begin to watch it that it has gone\n\trest := c.signals.close()\n\tif e := c.system.events; e.active() && !c.private() {\n\t\te.Publish(ActorStopped{Actor: Ref{c}, Time: c.now()})\n\t}\n",
		new:     "\trest := c.signals.close()\n\tif e := c.system.events; e.active() && !c.private() {\n\t\te.Publish(ActorStopped{Actor: Ref{c}, Time: c.now()})\n\t}\n\tc.system.remove(c)\n",
		clauses: "supervise-events-true",
	},
	{
		name: "failure on an end blamed on a sender", file: "more.go",
		old:     "c.fail(n.msg, err, n.sent)",
		new:     "c.fail(n.msg, err, true)",
		clauses: "watch-behaviour",
	},
	{
		name: "notices outside the turn's share", file: "more.go",
		old:     "\t\tc.left--\n\t\tif err := c.notify",
		new:     "\t\tif err := c.notify",
		clauses: "restart-throughput",
	},

	// What stands before an actor.
	{
		name: "actor's middleware before the system's", file: "middleware.go",
		old:     "[2][]Middleware{inner, outer}",
		new:     "[2][]Middleware{outer, inner}",
		clauses: "middleware-order",
	},
	{
		name: "last middleware first", file: "middleware.go",
		old:     "for i := len(part) - 1; i >= 0; i-- {",
		new:     "for i := range part {",
		clauses: "middleware-order",
	},
	{
		name: "invoker ignored", file: "middleware.go",
		old:     "\tif inv != nil {\n",
		new:     "\tif inv != nil && a == nil {\n",
		clauses: "invoker middleware-order",
	},
	{
		name: "invoker given the first behaviour", file: "middleware.go",
		old:     "inv.Invoke(ctx, f.behaviour, msg)",
		new:     "inv.Invoke(ctx, a, msg)",
		clauses: "invoker",
	},
	{
		name: "notices pass by the middleware", file: "more.go",
		old:     "c.actor.Receive(ctx, n.msg)",
		new:     "(*c.behaviour()).Receive(ctx, n.msg)",
		clauses: "middleware-everything",
	},
	{
		name: "behaviours pass by the middleware", file: "middleware.go",
		old:     "\tif c.more != nil && c.more.front != nil {\n\t\treturn",
		new:     "\tif c.more != nil && c.more.front == nil {\n\t\treturn",
		clauses: "middleware-everything invoker",
	},
	{
		name: "middleware lost in a restart", file: "supervise.go",
		old:     "\tif f := c.more.front; f != nil {",
		new:     "\tif f := c.more.front; f != nil && a == nil {",
		clauses: "middleware-everything invoker",
	},

	// What was taken and not begun.
	{
		name: "what a Goexit interrupts comes behind what came later", file: "signal.go",
		old:     "\t\t\tlast.next, newest = newest, since\n",
		new:     "\t\t\ttail := newest\n\t\t\tfor tail.next != nil {\n\t\t\t\ttail = tail.next\n\t\t\t}\n\t\t\ttail.next = since\n",
		clauses: "exits-keep-order",
	},
	{
		name: "what a Goexit interrupts is lost", file: "cell.go",
		old:     "defer func() { c.signals.putBack(rest) }()",
		new:     "defer func() { rest = nil }()",
		clauses: "exits-keep-order",
	},
}
