package conformtest

// Bugs that were planted by an engineer who had not seen the suite, and that it, or all tests, did
// not notice then. Where the source has changed since they stand in what does the same now. Not
// here are these:
//
//   - The overflow's senders yield at other times (channel), a worker that parks wakes none
//     (workstealing: who found the pool full has set the watchdog's timer), and the scheduler
//     sets its timer for kept actors only (actorloop: deliver, which follows each of its events,
//     does for all others). They do what the source does, some later.
//   - A system message is handled before it is taken off what is left (takeSignals): after a
//     Goexit it is handled for ever. supervise-exits says so after a minute, each time.
//   - unseek takes the first entry of an actor, of whatever suspension: an actor has two only
//     when it was resumed in a turn and suspended for the same room again; then both are undone
//     in that turn, and what is granted to the wrong one meanwhile it ignores, as too old.
//   - Generations of a deque, counters of runners, and looks at who is stuck: there are none any more.
func init() { mutants = append(mutants, independentMutants...) }

var independentMutants = []mutant{
	{
		name: "a message for an idle actor schedules it twice", file: "impls/workstealing/bounded.go",
		old:   "if b.word.CompareAndSwap(phaseIdle, phaseScheduled) {",
		new:   "if b.word.Store(phaseScheduled); true {",
		tests: "TestTwoSendersScheduleAnActorOnce",
	},
	{
		name: "what a worker counted before its first dispatcher is lost", file: "impls/workstealing/dispatcher.go",
		old:   "\tw.tally.Parks += w.early[parks]\n",
		new:   "",
		tests: "TestCountsBeforeTheFirstDispatcher",
	},
	{
		name: "context canceled after the result can be seen", file: "impls/workstealing/group.go",
		old:   "\tg.outcome.Complete(r.Err)\n",
		new:   "\tdefer g.outcome.Complete(r.Err)\n",
		tests: "TestFailureIsSeenCanceled",
	},
	{
		name: "after a Goexit no goroutine has the worker", file: "impls/workstealing/worker.go",
		old:   "\t\t\tgo w.resume() // this",
		new:   "\t\t\t// this",
		tests: "TestGoexitKeepsTheWorker",
	},
	{
		name: "a worker that is shown hides another", file: "impls/workstealing/pool.go",
		old:   "shown&bit != 0 || r.shown.CompareAndSwap(shown, shown|bit) {",
		new:   "shown&bit != 0 {\n\t\t\treturn\n\t\t}\n\t\tif r.shown.Store(shown|bit); true {",
		tests: "TestShowAndHideAreEachWorkersOwn",
	},
	{
		name: "a worker is hidden as its job comes", file: "impls/workstealing/pool.go",
		old:   "\t\t\tr.hide(w.bit)\n\t\t\tif w.stock() {",
		new:   "\t\t\tr.hide(w.bit)\n\t\t\tif false {",
		tests: "TestJobThatComesAsAWorkerIsHidden",
	},
	{
		name: "workers not counted", file: "impls/lockbased/dispatcher.go",
		old:   "\ts.Workers += d.workers\n",
		new:   "",
		tests: "TestBlockedHandlers",
	},
	{
		name: "who waits for a canceled task gets no further slot", file: "impls/lockbased/executor.go",
		old:   "\tx.settle(h, task.Cancelled)\n\tx.watch()\n",
		new:   "\tx.settle(h, task.Cancelled)\n",
		tests: "TestSlotForAWaitThatEnds",
	},
	{
		name: "slots are added once", file: "impls/lockbased/executor.go",
		old:   "\t\t}\n\t}\n\tx.watch()\n\tx.check()\n",
		new:   "\t\t}\n\t}\n\tx.check()\n",
		tests: "TestBlockedTasks",
	},
	{
		name: "kept actors not looked for once more", file: "impls/actorloop/scheduler.go",
		old:   "\t\tif w.next.Load() != nil { // it may",
		new:   "\t\tif false && w.next.Load() != nil { // it may",
		tests: "TestKeptBeforeItWasWanted",
	},
	{
		name: "a group refuses before it has settled", file: "impls/actorloop/group.go",
		old:   "\tinvariants.Window() // a Go that comes now",
		new:   "\tg.credit.Store(withdrawn)\n\tinvariants.Window() // a Go that comes now",
		tests: "TestRefusedWhenSettled",
	},
	{
		name: "a reply left in the pool", file: "impls/actorloop/executor.go",
		old:   "\t\t<-w.reply\n\t}\n\treturn x.verdict(ctx, h)",
		new:   "\t\tx.keep(w)\n\t}\n\treturn x.verdict(ctx, h)",
		tests: "TestManagerEnds",
	},
	{
		name: "too late is said before the end is seen", file: "impls/workstealing/executor.go",
		old:   "\t\t\truntime.Gosched() // where there is one thread, it has to go on\n\t\t\tcontinue\n",
		new:   "\t\t\treturn false\n",
		tests: "TestTooLateIsSeen",
	},
	{
		name: "no look after a search", file: "impls/workstealing/worker.go",
		old:   "\tif !p.visible(nil) {\n\t\treturn true\n\t}\n\tp.search.Add(1)\n\treturn false\n",
		new:   "\treturn true\n",
		tests: "TestJobThatComesAsAWorkerResigns",
	},
	{
		name: "who finds a job wakes none for the others", file: "impls/workstealing/worker.go",
		old:   "\t\tif searching(p.search.Load()) == 0 && (w.queue.len() > 0 || p.queued()) {\n\t\t\tp.wake()\n\t\t}\n",
		new:   "",
		tests: "TestFindLeavesNothingBehind",
	},
	{
		name: "who looked for a job wakes none for the others", file: "impls/workstealing/worker.go",
		old:   "\t\t\t\tif searching(p.search.Add(^uint32(0))) == 0 && p.visible(nil) {\n\t\t\t\t\tp.wake()\n\t\t\t\t}\n",
		new:   "\t\t\t\tp.search.Add(^uint32(0))\n",
		tests: "TestExecutorGrowsWhenTasksBlock",
	},
	{
		name: "an actor rests with system messages", file: "impls/channel/overflow.go",
		old:   "if len(q.msgs) > 0 || b.cell.Pending() {\n\t\tq.mode",
		new:   "if len(q.msgs) > 0 {\n\t\tq.mode",
		tests: "TestSecondThoughts",
	},
	{
		name: "backoff of a stopped actor waited for", file: "cell.go",
		old:   "if m.verdict.waiting {",
		new:   "if !m.verdict.waiting {",
		tests: "TestStopEndsTheBackoff",
	},
	{
		name: "delay of a restart goes on", file: "cell.go",
		old:   "\t\tif m.verdict.waiting {\n\t\t\tc.system.timers.stop(&m.verdict.timer)\n\t\t}\n",
		new:   "",
		tests: "TestStopEndsTheBackoff",
	},
	{
		name: "backoff not waited for", file: "supervise.go",
		old:   "\t\t\tv.waiting = true\n",
		new:   "",
		tests: "TestStopEndsTheBackoff",
	},
	{
		name: "addresses without a PID or a path", file: "address.go",
		old:   "if a.System == \"\" || a.Boot == 0 || a.PID.slot == 0 || len(a.Path) < 2 || a.Path[0] != '/' || a.Path[len(a.Path)-1] == '/' {",
		new:   "if a.System == \"\" || a.Boot == 0 || len(a.Path) < 2 || a.Path[len(a.Path)-1] == '/' {",
		tests: "TestBadAddresses",
	},
	{
		name: "deadline goes on after the reply", file: "future.go",
		old:   "\tif p.state.Load()&useTimed != 0 {\n\t\tp.system.timers.stop(&p.timer)\n\t}\n",
		new:   "",
		tests: "TestPromiseModel",
	},
	{
		name: "patience goes on", file: "future.go",
		old:   "return p, func() { s.timers.stop(&p.timer) }",
		new:   "return p, func() {}",
		tests: "TestPatienceIsAContext",
	},
	{
		name: "a waiter leaves a result that is there", file: "future.go",
		old:   "\t\tif w&usePhases > useWriting {\n\t\t\treturn false\n\t\t}\n\t\tif p.state.CompareAndSwap(w, w-oneWaiter) {",
		new:   "\t\tif w&usePhases > useDone {\n\t\t\treturn false\n\t\t}\n\t\tif p.state.CompareAndSwap(w, w-oneWaiter) {",
		tests: "TestPromiseModel",
	},
	{
		name: "long delays overflow", file: "timers.go",
		old:   "return now + min(d, never-1-now)",
		new:   "return now + d",
		tests: "TestTimersModel",
	},
	{
		name: "an actor is told of no dead letters", file: "events.go",
		old:   "ok && d.To == to",
		new:   "ok && d != (DeadLetter{})",
		tests: "TestDeadLettersAsMessages",
	},
	{
		name: "an ended context wins over an event", file: "events.go",
		old:   "\t\t\tev, ok, _ := s.take()\n\t\t\tif ok {\n\t\t\t\treturn ev, nil\n\t\t\t}\n\t\t\treturn ev, ctx.Err()",
		new:   "\t\t\treturn ev, ctx.Err()",
		tests: "TestEventWinsOverContext",
	},
	{
		name: "subscription of a stopped actor stays", file: "events.go",
		old:   "\t\tif res == Closed {\n\t\t\tl.Unsubscribe()\n\t\t}\n",
		new:   "",
		tests: "TestSubscribedActorStops",
	},
	{
		name: "an actor is told of its own dead letters", file: "events.go",
		old:   "ok && d.To == to {",
		new:   "ok && d.To == to && d.Msg == nil {",
		tests: "TestDeadLettersAsMessages",
	},
	{
		name: "addresses that can be used are refused", file: "address.go",
		old:   "\tif !a.valid() {\n\t\treturn b, ErrBadAddress\n\t}\n\treturn a.appendText(b), nil",
		new:   "\tif a.valid() {\n\t\treturn b, ErrBadAddress\n\t}\n\treturn a.appendText(b), nil",
		tests: "TestAddresses",
	},
	{
		name: "path of an address not compared", file: "address.go",
		old:   "if c == nil || string(c.appendPath(buf[:0])) != a.Path {",
		new:   "if c == nil || len(c.appendPath(buf[:0])) == 0 {",
		tests: "TestResolveLocal",
	},
	{
		name: "other spellings of an address", file: "address.go",
		old:   " || !a.valid() || string(a.appendText(nil)) != text {",
		new:   " || !a.valid() {",
		tests: "TestBadAddresses",
	},
	{
		name: "digit of an address that is zero ends the number", file: "address.go",
		old:   "if b[i] < 0x80 {",
		new:   "if b[i] <= 0x80 {",
		tests: "TestAddresses",
	},
	{
		name: "who waits for room of a stopping actor waits in line", file: "suspend.go",
		old:     "c.room(State(c.state.Load()) == StateStopping)",
		new:     "c.room(false)",
		clauses: "suspend-room-last-moment",
	},
	{
		name: "a whole window without restarts is a moment too short", file: "supervise.go",
		old:     "now.Sub(b.last) > w {",
		new:     "now.Sub(b.last) >= w {",
		clauses: "restart-backoff",
	},
	{
		name: "large buffer given to the pool and kept", file: "impls/lockbased/box.go",
		old:     "b.in = mailbox.Discard(b.in)",
		new:     "mailbox.Discard(b.in)",
		clauses: "floods-in-turn",
	},
	{
		name: "large buffer given to the pool and kept, in any mailbox", file: "actor/mailbox/flood.go",
		old:     "\tf.give(s)\n\treturn nil\n",
		new:     "\tf.give(s)\n\treturn s\n",
		clauses: "floods-in-turn",
		impl:    "channel",
	},
	{
		name: "no limit to the depth of tasks on one goroutine", file: "impls/workstealing/executor.go",
		old:   "w.depth < deepest && ",
		new:   "",
		tests: "TestDeepJoinAlone",
	},
	{
		name: "a full pool has no watchdog", file: "impls/workstealing/pool.go",
		old:   "\t\t\tp.arm() // all are busy; or stuck\n",
		new:   "",
		tests: "TestFullPoolLeavesTheWatchdog",
	},
}
