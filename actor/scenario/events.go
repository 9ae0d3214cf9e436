package scenario

// FR-007, FR-022, FR-032: the event stream.
var events = []Scenario{
	{
		"actor/events-by-type", "FR-032",
		"who subscribes to a type gets the events of that type, of an interface those that implement it, and nothing else, in the order of publishing", `
subscribe ints int 8
subscribe errs error 8
subscribe all any 8
subscribe never order 1
publish 1 error-A text 2 error-B
fetch ints 1 2
fetch errs error-A error-B
fetch all 1 error-A text 2 error-B
fetch never`,
	},
	{
		"actor/events-unsubscribe", "FR-032",
		"after Unsubscribe nothing more comes, what had come can still be fetched, and waiting callers return; the others go on", `
subscribe s int 8
subscribe other int 8
publish 1
unsubscribe s
publish 2
unsubscribe s
at-once s 1      # it had come before the end
at-once s unsubscribed
await s unsubscribed
fetch other 1 2
waiting other
unsubscribe other
woken other unsubscribed`,
	},
	{
		"actor/events-over", "FR-032",
		"when the system is over every subscription has ended, once the last event is fetched, so that no caller waits for ever; a later one has ended from the start", `
spawn a quiet
subscribe s stopped 16
waiting s
shutdown
woken s a.stopped
await s user.stopped
await s unsubscribed
subscribe late any 1
publish 1
await late unsubscribed`,
	},
	{
		"actor/events-next", "FR-032",
		"Next waits for an event until its context ends, and an event that is there wins over a context that has ended: giving up loses nothing", `
subscribe s int 8
at-once s canceled
waiting s
publish 1
woken s 1
waiting s
give-up s
woken s canceled
publish 2
at-once s 2`,
	},
	{
		"actor/events-slow", "FR-032",
		"a subscriber that does not fetch loses the oldest of its own events, and they are counted; no other subscriber loses any, and publishing does not wait", `
spawn a quiet
subscribe slow int 3
subscribe quick int 64
a: publish 0..19
lost slow 17
lost quick 0
fetch slow 17..19
fetch quick 0..19
publish 20
fetch slow 20
lost slow 17`,
	},
	{
		"actor/events-func", "FR-032",
		"a function that has subscribed is called by who publishes; one that panics is counted, and hurts neither the publisher nor other subscribers", `
when bad:1: fail panic
when bad:2: fail panic
when bad:4: fail panic
spawn a quiet
listen bad int
listen good int
a: publish 1; note next; publish text 2
log ordered bad:1 good:1 next bad:2 good:2
lost bad 2
lost good 0
unsubscribe good
unsubscribe good
publish 4
log bad:4
lost bad 3`,
	},
	{
		"actor/events-actor", "FR-032",
		"an actor that has subscribed is sent the events as messages, as many as it lets wait; those beyond are lost and counted, publishers do not wait for it, and it ends when it stops", `
for box in unbounded block drop-newest
[unbounded] spawn r quiet
[block] spawn r quiet mailbox block 3
[drop-newest] spawn r quiet mailbox drop-newest 3
subscribe s int 3 to r
publish 1 text
log r1:1
suspend r
publish 2..6
lost s 2
resume r
log r1:2..4
unsubscribe s
publish 9
log
subscribe s int 3 to r
stop r
gone r
publish 10
stat dead 0 returned 0`,
	},
	{
		"actor/events-life", "FR-007",
		"an actor's life is on the event stream: its start, its failures, what was decided, its restarts and its end, in that order, with who and when", `
for decision in restart resume stop
spawn p quiet supervise $decision
time 1s
spawn a under p
events p.started a.started
time 1s
a: fail error
failed a
[restart] events a.failed a.restart-by-p a.restarted-1
[resume] events a.failed a.resume-by-p
[stop] events a.failed a.stop-by-p a.stopped
[restart resume] time 1s
[restart resume] a: fail error
[restart resume] failed a
[restart] events a.failed a.restart-by-p a.restarted-2
[resume] events a.failed a.resume-by-p
[restart resume] stop a
[restart resume] events a.stopped`,
	},
	{
		"actor/events-behaviour", "FR-007",
		"a change of behaviour is an event, which says how many Unbecome can undo", `
spawn a quiet
a: become x; become y; unbecome; unbecome; unbecome nothing
events a.started a.depth-1 a.depth-2 a.depth-1 a.depth-0`,
	},
	{
		"actor/events-log", "FR-022",
		"what an actor logs is an event with its level, its actor and the time, for whichever logger has subscribed, and not for one that comes later", `
spawn a quiet
a: say error early
subscribe s log 16
a: say warn hot; say debug cold
fetch s a.WARN-hot a.DEBUG-cold
events a.started a.ERROR-early a.WARN-hot a.DEBUG-cold`,
	},
	{
		"actor/supervise-events-true", "FR-007",
		"what an event says is so when it comes: who has started or was restarted is found by its path below its parent, who has stopped is not, its name is free and all below it are gone", `
spawn p quiet supervise default
spawn a under p
spawn b under a
spawn c quiet under a
c: note well
a: fail
failed a
log a1.start b1.start well b1.stop a1.stop a2.start
stop p
gone p
events p.started a.started a.failed a.restart-by-p a.restarted-1 a.stopped b.started b.stopped c.started c.stopped p.stopped`,
	},
	{
		"actor/suspend-event", "S2",
		"that an actor is suspended, why, until when, and that it has been resumed is on the event stream, in order, with the time", `
spawn r quiet
suspend r for 1m
time 1m
events r.started r.suspended-for-1m0s r.resumed
spawn full quiet mailbox drop-newest 1
spawn other quiet
suspend full
tell full 0
suspend other room full
resume full
log full1:0
events full.started full.suspended full.resumed other.started other.suspended-room-full other.resumed`,
	},
	{
		"actor/suspend-metrics", "S5",
		"suspensions and their ends are counted, and how long it took from being asked to go on until that: the sum and the longest", `
spawn r quiet
r: suspend self; resume self; time 1s   # while it is in its turn
r: suspend self; resume self; time 5s
r: suspend self; resume self; time 2s
events r.started r.suspended r.resumed-after-1s r.suspended r.resumed-after-5s r.suspended r.resumed-after-2s
stat suspends 3 resumes 3 resume-total 8 resume-max 5
suspend r
stop r
gone r
stat suspends 4 resumes 3`,
	},
}
