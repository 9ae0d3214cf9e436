package scenario

// FR-009, SC-004: dead letters.
var letters = []Scenario{
	{
		"actor/letter-returned", "SC-004",
		"a message that is given back is recorded as well, with its receiver, the reason and who waits for a reply: to find what went wrong the sender need not be asked", `
spawn away quiet
stop away
gone away
spawn full quiet mailbox drop-newest 1
suspend full
tell full 0
tell away 1? refused stopped
tell full 1? refused full
tell-pid away 1? refused unknown
tell-pid nobody 1? refused unknown
letters returned/stopped/away/1? returned/full/full/1? returned/unknown/nobody/1? returned/unknown/nobody/1?
spawn from quiet
from: tell nobody 1? refused nobody; tell away 1? refused stopped
spawn own quiet mailbox block 1
own: tell self 0; tell self 1? refused full
letters returned/nobody/nobody/1? returned/stopped/away/1? returned/full/own/1?
resume full
log full1:0 own1:0
letters`,
	},
	{
		"actor/tell-pid", "FR-003",
		"a message can be sent to a PID: it arrives while the actor is there, and comes back, as one for an unknown actor, when it is not", `
spawn r quiet
tell-pid r 1
log r1:1
stop r
gone r
tell-pid r 2 refused unknown
spawn other quiet   # perhaps in its place
tell-pid r 3 refused unknown
log`,
	},
	{
		"actor/letter-dropped", "FR-020",
		"what DropOldest drops is recorded, every message of it, with who waits for a reply: a policy that drops is no excuse for silence", `
for order in of-coming priority
[of-coming] spawn a quiet mailbox drop-oldest 2
[priority] spawn a quiet mailbox priority mailbox drop-oldest 2
suspend a
tell a 0? 1? 2? 3? 4? 5?
letters dropped/a/0? dropped/a/1? dropped/a/2? dropped/a/3?
resume a
log a1:4? a1:5?`,
	},
	{
		"actor/letter-left", "SC-004",
		"what an actor has taken and not handled when it stops is recorded, all of it: what it has unstashed, what it has stashed, and what waits in its mailbox", `
for mailbox
when a1:0?: stash
when a1:1?: stash
spawn a quiet mailbox each
tell a 0? 1?
log a1:0? a1:1?
a: unstash; stash 2?; stop self; tell self 3? 4?
letters stopped/a/0? stopped/a/1? stopped/a/2? stopped/a/3? stopped/a/4?`,
	},
	{
		"actor/letter-stashed", "SC-004",
		"what an actor still has stashed when it stops is recorded, in the order in which it came, and before what waits in its mailbox", `
when a1:1: stash
when a1:2: stash
when a1:3: stash
spawn a quiet
tell a 1..3
log a1:1..3
a: expect stashed 3
suspend a
tell a 4
letters
stop a
letters stopped/a/1..4`,
	},
	{
		"actor/letter-failed", "FR-018",
		"a message on which an actor fails is recorded with what it failed with, once it is decided what becomes of the actor, whatever is decided; one that succeeds when it is tried again is not", `
for decision in restart resume stop
for retry in never retry
[never] spawn p quiet supervise $decision
[retry] spawn p quiet supervise $decision retry
when a1:1?: become second; fail
spawn a quiet under p
tell a 1?
failed a
[retry] [restart] log a1:1? a2:1?
[retry] [resume] log a1:1? second:1?
[retry] [stop] log a1:1?
[never] log a1:1?
[retry] [restart resume] letters
[retry] [stop] letters failed/a/1?
[never] letters failed/a/1?`,
	},
	{
		"actor/letter-forwarded", "FR-009",
		"what cannot be forwarded is recorded with the reason for which it could not be sent, and the one who waits for the reply", `
spawn away quiet
stop away
gone away
spawn from quiet
from: forward away 1?; forward nobody 1?
letters stopped/away/1? nobody/nobody/1?`,
	},
	{
		"actor/letter-shutdown", "SC-004",
		"what waits when the system is shut down is recorded, and so is what is sent during that: the last messages are lost no more silently than others", `
when r1.stop: tell guardian late refused stopped; forward self later
spawn first quiet
guardian: watch first
spawn r
suspend r
tell r 0..4
shutdown
letters stopped/r/0..4 returned/stopped/user/late stopped/r/later
kept
tell r last refused stopped
log r1.start r1.stop
stat dead 6 returned 2`,
	},
	{
		"actor/letter-boxed", "FR-012",
		"a dead letter shows what was sent, not the box in which the typed layer carries it", `
spawn away quiet
stop away
gone away
tell away box:7? refused stopped
letters returned/stopped/away/7?`,
	},
	{
		"actor/letter-resend", "FR-009",
		"a dead letter can be sent again: it is handled if the actor can now, and is a dead letter once more if not", `
spawn r quiet mailbox drop-oldest 1
suspend r
tell r 1 2
letters dropped/r/1
resume r
log r1:2
resend
log r1:1
letters
stop r
gone r
resend stopped
letters returned/stopped/r/1`,
	},
	{
		"actor/letters-kept", "FR-009",
		"the system keeps as many of the newest dead letters as it was told to, the oldest of them first; all are counted and published", `
for keep in 3 1 0 -1
system keep $keep
spawn away quiet
stop away
gone away
tell away 0 refused stopped
[3 1 0] kept 0
[-1] kept
tell away 1..4 refused stopped
[3] kept 2..4
[1] kept 4
[0] kept 0..4
tell away 5..69 refused stopped
[3] kept 67..69
[1] kept 69
[0] kept 6..69    # 64 are the default
[-1] kept
letters returned/stopped/away/0..69`,
	},
	{
		"actor/letters-passed-on", "FR-009",
		"dead letters can be passed on to an actor, also one that does not keep up or has stopped: what becomes of them is counted, and makes no further ones without end", `
spawn away quiet
stop away
gone away
spawn r quiet mailbox drop-oldest 2
listen l letter
when l:letter: pass r
suspend r
tell away 0..4 refused stopped
log l:letter l:letter l:letter l:letter l:letter
stat dropped 3
resume r
log r1:letter r1:letter
stop r
gone r
tell away 6 refused stopped
log l:letter`,
	},
}
