package scenario

// S, V1, FR-002: suspension, timers, receive timeouts and stashes. The clock stands
// still unless the script moves it.
var times = []Scenario{
	{
		"actor/suspend-system-messages", "S3",
		"a suspended actor still handles system messages: it is stopped, watched and restarted, and its hooks run", `
spawn a
spawn w quiet
suspend a for 1h
w: watch a
tell a 1 2
stop a
dead stopped a 1 2
gone a
log a1.start a1.stop w1:a.gone
tell a 3 refused stopped
resume a
log`,
	},
	{
		"actor/suspend-restart", "S3",
		"a restart ends a suspension, since it was the old value's: the new one handles what waits, and need not be resumed", `
spawn p quiet supervise default all-for-one
spawn a quiet under p
spawn b quiet under p
suspend a for 1h
tell a 1
log
b: fail
failed b
log a2:1
suspend a
tell a 2
time 2h      # the old suspension's
log
resume a
log a2:2`,
	},
	{
		"actor/suspend-failed", "S3",
		"a suspension and a failure are two reasons not to run: the end of one does not end the other", `
spawn p quiet supervise resume
spawn a quiet under p
a: suspend self; tell self 1; fail
failed a
log
resume a
log a1:1`,
	},
	{
		"actor/resume-failed", "S3",
		"an actor that waits for its parent's decision about a failure goes on waiting when it is resumed", `
spawn p quiet supervise resume
spawn a quiet under p
hold p
a: suspend self; tell self 1; fail
resume a
log
release p
log a1:1
failed a`,
	},
	{
		"actor/resume-idle", "S2",
		"to resume an actor that is not suspended does nothing and is not remembered: the next suspension holds", `
spawn a quiet
resume a
a: resume self
suspend a
tell a 1
log
stat suspends 1 resumes 0
resume a
resume a
log a1:1`,
	},
	{
		"actor/suspend-anew", "S2",
		"a suspension belongs to its own condition: who is suspended anew waits for the new one, and the time of an earlier one does not end it", `
spawn a quiet
suspend a for 1m
suspend a for 1h
tell a 1
time 1h-1ns
log
time 1ns
log a1:1
suspend a for 1m
resume a            # before its time, and then suspended without one
suspend a
tell a 2
time 1h
log
resume a
log a1:2
queue a: suspend self for 1s; resume self; suspend self
tell a 3
time 1h
log
resume a
log a1:3`,
	},
	{
		"actor/suspend-stale", "S4",
		"the end of a suspension that comes when the actor has been suspended anew, by time or by room, belongs to the past and does not end the new one", `
for condition in time room
spawn full quiet mailbox drop-newest 1
suspend full
tell full 0
[time] when r.decide: suspend r; time 1m
[room] when r.decide: suspend r; stop full
spawn r quiet supervise resume
spawn c quiet under r
[time] suspend r for 1m
[room] suspend r room full
tell r 1
c: fail
failed c
stat suspends 3
log
resume r
log r1:1
[time] resume full
[time] log full1:0
[room] dead stopped full 0`,
	},
	{
		"actor/suspend-room-last-moment", "S4",
		"who begins to wait for room in the mailbox of an actor that has not stopped yet goes on at once if that waits for its children, whatever others do, and in the end if it is in its PostStop, after which it looks at nothing any more", `
spawn p quiet mailbox drop-newest 1
spawn child quiet under p
hold child
stop p
when first1:1: hold first
spawn first quiet
suspend first
tell first 1
suspend first room p
reached first
spawn second quiet
suspend second room p
tell second 2
log first1:1 second1:2
release first
release child
gone p
when r.stop: hold r
spawn who quiet
spawn r mailbox drop-newest 1
stop r
reached r
suspend who room r
tell who 1
log r1.start r1.stop
release r
gone r
log who1:1`,
	},
	{
		"actor/timer-once", "V1",
		"a timer's message comes when its time has passed on the system's clock, not before and once, the one that is due first before the others", `
spawn a quiet
a: timer 3s 3; timer 1s 1; timer 2s 2; timer 2s 2b; timer 0s 0
time 0s
log a1:0
time 1s-1ns
log
time 1ns
log a1:1
time 1s
log a1:2 a1:2b
time 1h
log a1:3
stat dead 0`,
	},
	{
		"actor/timer-ahead", "FR-004",
		"a timer's message comes ahead of the mailbox and takes no room in it, as a system message does: it is neither late nor lost because an actor is behind", `
for mailbox
spawn a quiet mailbox each
a: timer 1s tick; tell self 1 2; time 1s
log a1:tick a1:1 a1:2`,
	},
	{
		"actor/timer-periodic", "V1",
		"a periodic timer comes after each period, and keeps to its times although its messages are handled late", `
when a1:tick: become quick; time 1300ms   # which it takes to handle
when quick:tick: time 50ms
spawn a quiet
a: every 1s tick as t
time 999ms
log
time 1ms
log a1:tick quick:tick                    # the second is late: it is 2350 ms
time 649ms
log
time 1ms
log quick:tick
time 950ms
log quick:tick
a: cancel t
time 1h
log`,
	},
	{
		"actor/timer-coalesced", "V1",
		"an actor that is behind has one message of a periodic timer waiting, however many periods pass: to be slow must not make it slower", `
spawn a quiet
a: every 1s tick
suspend a
repeat 5 time 1s
time 5500ms
log
resume a
log a1:tick
time 499ms
log
time 1ms
log a1:tick`,
	},
	{
		"actor/timer-stop", "V1",
		"a timer that was stopped does not come, not even if its time was up already, and Stop says whether there was anything to come", `
spawn a quiet
a: timer 1s done as d; timer 1s no as n; every 1s no as e; cancel n; cancel n nothing; cancel e; cancel e nothing
time 1s
log a1:done
a: cancel d nothing; timer 1s once as o; every 1s often as f; time 1s; cancel o; cancel f   # both are due, and wait for this turn to end
time 1h
log
when a1:first: cancel second                                                              # which is next
a: timer 1s first; timer 1s second as second; time 1s
log a1:first`,
	},
	{
		"actor/timer-suspended", "S3",
		"while an actor is suspended its timers' messages wait, in order, and come before its mailbox when it goes on", `
spawn a quiet
a: timer 2s late; timer 1s early
suspend a
tell a 1
time 1m
log
resume a
log a1:early a1:late a1:1`,
	},
	{
		"actor/timer-ends", "V1",
		"when an actor stops or is restarted its timers are gone, those that were due as well, and do not become dead letters", `
for hook in stop Goexit
spawn p quiet supervise default
[Goexit] when a1.prerestart: fail Goexit
spawn a restartable under p
a: timer 1s once; every 1s often; timeout 1s; time 1s; fail
time 1h
forget
log a1.start a1.prerestart a2.postrestart
a: timer 1s once; every 1s often; timeout 1s; time 1s; stop self
gone a
time 1h
log a2.stop
stat dead 1 returned 0`,
	},
	{
		"actor/receive-timeout", "V1",
		"an actor is told that nothing has come for a while, neither before that nor if something has, again after each such while, and not after it has ended that", `
spawn a quiet
a: timeout 10s
time 6s
tell a 1
log a1:1
time 9s
log
time 1s
log a1:silence
time 9s
log
time 1s
log a1:silence
a: timeout 1s
time 1s
log a1:silence
a: timeout 0s
time 1h
log`,
	},
	{
		"actor/receive-timeout-suspended", "S3",
		"a suspended actor that nothing was told is told so when it goes on, once", `
spawn a quiet
a: timeout 1s
suspend a
repeat 5 time 1s
log
resume a
log a1:silence`,
	},
	{
		"actor/stash-order", "FR-002",
		"what an actor has stashed comes next when it is unstashed, in the order in which it came and before all that waits, whatever the mailbox", `
for mailbox
for throughput in 1 300
when a1:1: stash
when a1:2: stash
spawn a quiet mailbox each throughput $throughput
tell a 1
tell a 2
log a1:1 a1:2
a: expect stashed 2
a: tell self 3 4; become open; unstash; expect stashed 0; unstash
log open:1 open:2 open:3 open:4`,
	},
	{
		"actor/stash-restart", "FR-002",
		"a restart unstashes: the new value has all that the old one put off, after what it is to try again, and before what waits", `
for retry in never retry
[never] spawn p quiet supervise default
[retry] spawn p quiet supervise default retry
when a1:1: stash
when a1:2: stash
when a1:bad: tell self 3; fail
spawn a quiet under p
tell a 1 2 bad
[never] log a1:1 a1:2 a1:bad a2:1 a2:2 a2:3
[retry] log a1:1 a1:2 a1:bad a2:bad a2:1 a2:2 a2:3
failed a`,
	},
	{
		"actor/stash-stop", "FR-002",
		"what was unstashed and not handled, what is stashed, what waits, and what is stashed in PostStop are dead letters when the actor stops, in that order", `
when a1.stop: stash late
spawn a
a: tell self 3; stash 1; unstash; stash 2; stop self
dead stopped a 1 2 3 late
log a1.start a1.stop`,
	},
}
