package scenario

// FR-005, FR-010, FR-015, FR-026: what stands around an actor, and what it can bring of its
// own: middleware, an invoker, a mailbox.
var around = []Scenario{
	{
		"actor/middleware-order", "FR-026",
		"every message passes the system's middleware, then the actor's, each the first first, then the invoker, and comes back the other way round", `
system middleware A B
spawn a middleware c middleware d invoker i
tell a 1
log a1.start A(1 B(1 c(1 d(1 i(1 a1:1 i)1 d)1 c)1 B)1 A)1
spawn b quiet    # a's own is its own
tell b 2
log ordered A(2 B(2 b1:2 B)2 A)2
tell a 3
log ordered A(3 B(3 c(3 d(3 i(3 a1:3 i)3 d)3 c)3 B)3 A)3
stop a
log a1.stop`,
	},
	{
		"actor/middleware-everything", "FR-026",
		"the chain is made once for each actor and serves for its life, after Become and after a restart; messages of timers, of those it watches and after a stash pass it, hooks do not", `
when b:fail: unbecome; fail
spawn p quiet supervise default retry
spawn x quiet
spawn a under p middleware m
a: watch x; timer 1m tick; timeout 1h; stash stashed; unstash
log ordered a1.start m(stashed a1:stashed m)stashed
stop x
log ordered m(x.gone a1:x.gone m)x.gone
time 1m
log ordered m(tick a1:tick m)tick
time 90m         # less than two timeouts
log ordered m(silence a1:silence m)silence
a: timeout 0s; become b
tell a 1 fail
failed a
log ordered m(1 b:1 m)1 m(fail b:fail m)fail a1.stop a2.start m(fail a2:fail m)fail
tell a 2
log ordered m(2 a2:2 m)2
made m 1`,
	},
	{
		"actor/middleware-decides", "FR-026",
		"what the outermost middleware returns is what the actor has returned: it may change the message, keep it, fail for the actor, and succeed in its place", `
when m(keep: keep
when m(change: instead changed
when m(bad: succeed
when a1:bad: fail
when m(fail: fail
when m(panic: fail panic
spawn p quiet supervise resume
spawn a quiet under p middleware m
tell a keep change bad 1
log ordered m(keep m(change a1:changed m)change m(bad a1:bad m)bad m(1 a1:1 m)1
stat failures 0
forget
tell a fail
failed a
dead failed a fail
tell a panic
failed a
dead failed a panic
tell a 2
log ordered m(fail m(panic m(2 a1:2 m)2`,
	},
	{
		"actor/middleware-fails", "FR-026",
		"middleware that panics or ends its goroutine is a failure of the actor, like one of its own, and of no other", `
for failure
when m(fail: fail
spawn a quiet middleware m
spawn b quiet middleware m
tell a fail
failed a
gone a
dead failed a fail
b: note well
log m(fail well`,
	},
	{
		"actor/invoker", "FR-005",
		"an invoker of one's own decides about every message: it is given the behaviour in force, decides whether and how often that is called, and what is an error", `
when i(never: keep
when i(twice: again
when i(fail: fail
spawn p quiet supervise default
spawn a under p invoker i
tell a never twice 1
log ordered a1.start i(never i(twice a1:twice a1:twice i)twice i(1 a1:1 i)1
a: become b
tell a twice fail twice never
failed a
dead failed a fail
log ordered i(twice b:twice b:twice i)twice i(fail a1.stop a2.start i(twice a2:twice a2:twice i)twice i(never`,
	},
	{
		"actor/invoker-inside", "FR-015",
		"an actor may bring its own invoker: it is given the behaviour in force and the message, inside all middleware, and decides whether, how often and with what the actor is called", `
when i(no: keep
when i(retry: again; again; instead again
when i(fail: fail
spawn a quiet middleware m invoker i
tell a no retry
log ordered m(no i(no m)no m(retry i(retry a1:again a1:again a1:again i)retry m)retry
a: timer 1s no; become b
time 1s
log ordered m(no i(no m)no
tell a 5
log ordered m(5 i(5 b:5 i)5 m)5
tell a fail
failed a
gone a`,
	},
	{
		"actor/own-mailbox", "FR-005",
		"an actor may bring its own mailbox, and is given messages in the order of that: here the newest first; system messages pass it by", `
spawn a quiet mailbox lifo
a: tell self 1 2 3; timer 1s tick; time 1s
log a1:tick a1:3 a1:2 a1:1
suspend a
tell a 4 5
backlog a 2
log
resume a
log a1:5 a1:4
suspend a
tell a 6 7
stop a
dead stopped a 7 6
gone a
tell a 8 refused stopped`,
	},
	{
		"actor/own-mailbox-full", "FR-005",
		"what a mailbox of one's own refuses goes back to its sender, and what it drops is a dead letter: it can lose nothing silently", `
spawn refuses quiet mailbox refuses 2
spawn drops quiet mailbox drops 2
suspend refuses
suspend drops
tell refuses 1 2
tell refuses 3 refused full
tell drops 1 2 3
letters returned/full/refuses/3 dropped/drops/2
resume refuses
resume drops
log refuses1:2 refuses1:1 drops1:3 drops1:1`,
	},
	{
		"actor/own-mailbox-turns", "FR-028",
		"an actor with a mailbox of its own has turns like any other: at most its throughput, and then others have theirs", `
spawn a quiet throughput 4 mailbox fifo
suspend a
tell a 1..50
turns
resume a
log a1:1..50
turns 12+`,
	},
	{
		"actor/restart-throughput", "FR-028",
		"a message that is retried and those that were stashed count as messages of a turn: an actor that is restarted does not keep others from running", `
spawn p quiet supervise default
spawn a under p throughput 1
a: stash 1..60; fail
log a1.start a1.stop a2.start a2:1..60
failed a
shutdown
turns 60+`,
	},
}
