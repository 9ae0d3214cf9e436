package scenario

// V1, V4, V7, FR-004, FR-018, S: turns, their ends, and who is in the way of whom.
// Implementations run these, too.
var turns = []Scenario{
	{
		"actor/prestart-fails", "V1",
		"an actor whose PreStart fails was never started: it handles nothing, PostStop is not called, it stops, and what waited is undelivered", `
for failure
when a1.start: tell self 1 2; fail
spawn a
failed a
dead stopped a 1 2
gone a
log a1.start
tell a 3 refused stopped
guardian: note well`,
	},
	{
		"actor/poststop-after-children", "V1",
		"an actor's PostStop comes when its children have stopped: what it lets go they may be using", `
spawn a
spawn b under a
spawn c under b
log a1.start b1.start c1.start
stop a
gone a b c
log ordered c1.stop b1.stop a1.stop`,
	},
	{
		"actor/stop-overtakes", "FR-004",
		"system messages come before user messages: an actor that is told to stop handles none of the 1,000 that wait, and each becomes a dead letter, in order", `
for by in itself another outside
spawn a quiet
[itself] a: tell self 0..999; stop self
[another] a: tell self 0..999; stop self by another
[outside] a: tell self 0..999; stop self by outside
dead stopped a 0..999
gone a
log`,
	},
	{
		"actor/stop-overtakes-from-outside", "FR-004",
		"the same when messages and stop come from outside while the actor is busy", `
spawn a quiet
hold a
tell a 0..999
stop a
time 0s
release a
dead stopped a 0..999
gone a
log`,
	},
	{
		"actor/stop-idle", "V7",
		"an actor with nothing to do stops too when it is told, by its parent, by another actor, from outside, also if it has never had a message", `
for used in never used
for by in parent other outside
spawn other quiet
spawn a quiet
[used] a: note x
time 0s
[parent] guardian: stop a
[other] other: stop a
[outside] stop a
gone a`,
	},
	{
		"actor/stop-last-message", "V7",
		"the message during which an actor stops itself is its last, and it is handled to the end", `
when a1:2: tell self 3; stop self; stop self; tell self 4; note handled
spawn a quiet
tell a 1
log a1:1
tell a 2
dead stopped a 3 4
log a1:2 handled`,
	},
	{
		"actor/stop-refuses", "FR-009",
		"a sender to an actor that has stopped gets the message back, from outside and from a turn, with and without a context", `
for mailbox
spawn a quiet mailbox each
stop a
gone a
repeat 2 tell a 1 refused stopped; tell-ended a 1 refused stopped; tell-nil a 1 refused stopped
guardian: tell a 1 refused stopped; tell-ended a 1 refused stopped; forward a 2
dead stopped a 2
stat returned 8`,
	},
	{
		"actor/stop-waiting-letters", "FR-009",
		"what waits in a mailbox when its actor stops becomes a dead letter, with its receiver and reason, whatever the mailbox", `
for mailbox
spawn a quiet mailbox each
a: tell self 1..3; stop self
dead stopped a 1..3
gone a
backlog a 0`,
	},
	{
		"actor/stop-holds-messages", "FR-004",
		"an actor whose children are still stopping handles no user message and takes none, but is there until the last child is gone", `
spawn a quiet
spawn b quiet under a
hold b
stop a
refuses a x stopped
alive a
log
release b
gone b a
log`,
	},
	{
		"actor/guardian-stops-system", "FR-001",
		"when the user guardian has stopped there is no actor left to spawn any: the system ends, in order, without an error", `
spawn a
queue guardian: stop self
over
log a1.start a1.stop
tell a 1 refused stopped
shutdown`,
	},
	{
		"actor/guardian-fails-system", "FR-018",
		"the user guardian's failure ends the system, and Err says which it was: nothing else could", `
spawn a quiet
queue guardian: fail error
over failed
failed guardian
tell a 1 refused stopped`,
	},
	{
		"actor/failure-stops", "FR-018",
		"an actor that fails, by an error, a panic, a run-time error or Goexit, is reported with its message and stops as if it had been told to; the message is not handled again", `
for mailbox
for failure
when a1:fail: tell self 1..3; fail
spawn a mailbox each
tell a well
log a1.start a1:well
tell a fail
failed a
dead stopped a 1..3
dead failed a fail
gone a
log a1:fail a1.stop
tell a 4 refused stopped`,
	},
	{
		"actor/failure-spares-others", "FR-018",
		"a failure is one actor's: its parent, its siblings and all others go on, also on the worker on which it happened", `
for failure
spawn p quiet
spawn bad quiet under p
spawn other quiet under p
bad: tell other 1; fail     # it may wait for this very worker
failed bad
gone bad
tell other 2
log other1:1 other1:2
p: expect children other`,
	},
	{
		"actor/failure-takes-children", "FR-018",
		"the children of an actor that fails stop with it, before it", `
spawn a
spawn b under a
log a1.start b1.start
a: fail error
failed a
gone a b
log ordered b1.stop a1.stop`,
	},
	{
		"actor/blocked-order", "V4",
		"messages to an actor whose handler blocks wait in order, and are handled when it goes on", `
spawn a quiet
hold a
tell a 1..50
log
release a
log a1:1..50`,
	},
	{
		"actor/suspend-self", "S3",
		"the message in which an actor suspends itself is the last: it takes what comes, handles none of it, and then all in order, whatever its mailbox", `
for mailbox
spawn a quiet mailbox each
a: tell self 1; suspend self; tell self 2
tell a 3
log
backlog a 3
resume a
log a1:1..3`,
	},
	{
		"actor/suspend-spares-others", "S3",
		"a suspended actor holds up no other: not its children, its parent, nor those on its worker", `
spawn p quiet
spawn a quiet under p
suspend p
tell a 1
guardian: note well
log a1:1 well
stop a
gone a         # whose parent hears of that
resume p
p: expect children`,
	},
	{
		"actor/suspend-unregistered", "S1",
		"a suspended actor is not in the ready queue: messages do not give it turns, however many come, and its end of suspension does", `
spawn a quiet
spawn from quiet
suspend a
time 0s
turns
repeat 60 tell a m; time 0s    # or one turn might be for several
from: tell a 0..59
turns 10-
log
resume a
backlog a 0`,
	},
	{
		"actor/suspend-policy", "S3",
		"the mailbox of a suspended actor keeps its policy: it refuses, drops or grows as ever, and nothing is lost silently", `
for order in of-coming priority
for policy in drop-newest drop-oldest grow
[of-coming] spawn a quiet mailbox $policy 2
[priority] spawn a quiet mailbox priority mailbox $policy 2
suspend a
tell a 1 2
[drop-newest] tell a 3 refused full
[drop-oldest grow] tell a 3
[drop-oldest] dead dropped a 1
log
resume a
[drop-newest] log a1:1 a1:2
[drop-oldest] log a1:2 a1:3
[grow] log a1:1 a1:2 a1:3`,
	},
	{
		"actor/suspend-block", "S3",
		"who sends to a full mailbox with Block waits while its owner is suspended, and goes on when that has been resumed", `
for order in of-coming priority
[of-coming] spawn a quiet mailbox block 1
[priority] spawn a quiet mailbox priority mailbox block 1
suspend a
tell a 1
sending s a 2
log
resume a
woken s sent
log a1:1 a1:2`,
	},
	{
		"actor/suspend-outside", "S3",
		"another may suspend an actor: an idle one handles nothing more, one in a turn nothing after the message in hand", `
spawn r quiet
spawn other quiet
suspend r
tell r 1
log
resume r
log r1:1
r: tell self 2; suspend self by outside
log
resume r
log r1:2
other: suspend r
stat suspends 3
tell r 3
log
other: resume r
log r1:3
suspend nobody
resume nobody`,
	},
	{
		"actor/shutdown-waiting-letters", "FR-009",
		"what waits anywhere when the system is shut down becomes a dead letter", `
spawn older quiet
spawn r quiet
hold r
spawn younger quiet
tell r 1 2 3
shutting s
gone older younger # whichever is told first, r has been told, too
tell r 4           # it is in a turn and has not heard of it
release r
dead stopped r 1 2 3 4
woken s over
over
log`,
	},
	{
		"actor/suspend-after", "S2",
		"a suspension for a time ends when that has passed on the system's clock, not before, and the one that is due first goes on first", `
each a b c d e f g h do spawn $ quiet
suspend f for 6m
suspend b for 2m
suspend h for 8m
suspend a for 1m
suspend e for 5m
suspend g for 7m
suspend d for 4m
suspend c for 3m
each a b c d e f g h do tell $ 1
each a b c d e f g h do time 1m-1ns; log; time 1ns; log $1:1`,
	},
	{
		"actor/suspend-capacity-bound", "S2",
		"as many waiters go on as there is room for, and the others go on waiting: who is resumed for room finds some", `
spawn slow quiet throughput 1 mailbox drop-newest 1
suspend slow
queue slow: suspend self
spawn a quiet
spawn b quiet
spawn c quiet
a: suspend self room slow
queue a: tell slow 1; note sends
b: suspend self room slow
queue b: tell slow 2; note sends
c: suspend self room slow
queue c: tell slow 3; note sends
log
resume slow            # handles one message, and is suspended again
log sends
backlog slow 1
resume slow
log sends sends slow1:1..3`,
	},
	{
		"actor/suspend-capacity-at-once", "S2",
		"who waits for room where there is some, in a mailbox without a bound, or of an actor that has stopped or stops, does not wait: what it waits for would never come", `
spawn away quiet
stop away
gone away
spawn any quiet
spawn roomy quiet mailbox drop-newest 1
spawn grows quiet mailbox grow 1
suspend grows
tell grows 4 5 6
spawn a quiet
spawn b quiet
spawn c quiet
spawn d quiet
a: suspend self room away
b: suspend self room any
c: suspend self room roomy
d: suspend self room grows
tell a on
tell b on
tell c on
tell d on
log a1:on b1:on c1:on d1:on
spawn full quiet mailbox drop-newest 1
suspend full
tell full 0
a: suspend self room full
b: suspend self room full
c: suspend self room full
tell a on
tell b on
tell c on
log
stop full
dead stopped full 0
log a1:on b1:on c1:on
resume grows
log grows1:4..6`,
	},
	{
		"actor/suspend-capacity-left", "S4",
		"room that the first in line does not take is for the next one: who has gone on otherwise, has stopped, or does not send after all, keeps none waiting", `
for first in resumed due stopped suspended suspended-for-a-time silent
spawn full quiet mailbox drop-newest 1
suspend full
tell full 0
spawn a quiet
spawn b quiet
spawn c quiet
suspend a for 1h room full
b: suspend self room full
tell b on
c: suspend self room full
tell c on
[resumed] resume a
[due] time 1h
[stopped] stop a
[suspended] suspend a
[suspended-for-a-time] suspend a for 1h
time 0s
log
resume full
log full1:0 b1:on c1:on
resume a`,
	},
}
