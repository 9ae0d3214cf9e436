package scenario

// V1, V8: what a restart does and what it leaves.
var restarts = []Scenario{
	{
		"actor/restart-hooks", "V1",
		"a restart calls PreRestart on the old value and PostRestart on the new one, with the cause, and PostStop and PreStart where there are none; PostStop still comes at the end, once", `
for failure
spawn p quiet supervise default
when a.prerestart: expect place p
when a.postrestart: expect place p
spawn a restartable under p
queue a: fail
tell a 1
log a1.start a1.prerestart a2.postrestart a2:1
failed a
stop a
gone a
log a2.stop
spawn b under p
queue b: fail
tell b 1
log b1.start b1.stop b2.start b2:1
failed b
stop b
gone b
log b2.stop`,
	},
	{
		"actor/restart-end-fails", "V1",
		"a PreRestart, or the PostStop in its place, that fails is reported, and the actor is restarted all the same", `
for failure
spawn p quiet supervise default
when a1.prerestart: fail
when b1.stop: fail
when a2.stop: fail
spawn a restartable under p
spawn b under p
queue a: fail error
tell a 1
log a1.start a1.prerestart a2.postrestart a2:1 b1.start
stat failures 2
queue b: fail error
tell b 2
log b1.stop b2.start b2:2
stat failures 4
forget
stop a
stop b
gone a b
log a2.stop b2.stop
failed a`,
	},
	{
		"actor/restart-hooks-may", "V1",
		"in the hooks of a restart an actor may send and watch: what the old value sends to itself the new one is given, after what waits", `
spawn x quiet
spawn to quiet
spawn p quiet supervise default
when a1.prerestart: tell self legacy; tell to bye; watch x
when a2.postrestart: tell self hope; tell to hello
spawn a restartable under p
a: tell self 1; fail
log a1.start a1.prerestart a2.postrestart a2:1 a2:legacy a2:hope to1:bye to1:hello
failed a
stop x
log a2:x.gone`,
	},
	{
		"actor/restart-keeps-messages", "V8",
		"a restart keeps the mailbox: what waits is handled by the new value in its order, whatever the mailbox, and what is sent meanwhile after that", `
for mailbox
for failure
spawn p quiet supervise default
spawn a under p mailbox each
a: tell self 1 2 3; fail
failed a
log a1.start a1.stop a2.start a2:1 a2:2 a2:3
tell a 4
log a2:4`,
	},
	{
		"actor/restart-keeps-identity", "V8",
		"an actor that is restarted is the same actor: its Ref, PID, name, path, parent and place among the children, and whom it watches and who watches it", `
spawn p quiet supervise default
spawn w
spawn x quiet
spawn a under p
w: watch a
a: watch x
queue a: fail
tell a 1
failed a
log w1.start a1.start a1.stop a2.start a2:1
alive a
p: expect child a; expect children a; spawn a refused name-taken
a: expect place p
stop x
log a2:x.gone
stop a
log a2.stop w1:a.gone`,
	},
	{
		"actor/restart-resets", "V8",
		"what the old value had set up goes with it: behaviours, timers, the receive timeout and children; stashed messages come first for the new one", `
spawn p quiet supervise default
spawn a under p
when other:1: fail
queue a: spawn b; timer 1h late; every 1h often; timeout 1h; stash stashed too; become other; become other
tell a 1 2
failed a
dead failed a 1
log a1.start b1.start other:1 b1.stop a1.stop a2.start a2:stashed a2:too a2:2
time 10h
a: expect stashed 0; unbecome nothing; expect children
log`,
	},
	{
		"actor/restart-ends-suspension", "V8",
		"a restart ends a suspension by a call, and a resume after a failure does not: that decides about the failure", `
for decision in restart resume
spawn p quiet supervise $decision
spawn a under p
queue a: suspend self; fail
tell a 1
failed a
dead failed a order
[restart] log a1.start a1.stop a2.start a2:1
[resume] log a1.start
[resume] resume a
[resume] log a1:1`,
	},
	{
		"actor/restart-children-first", "V8",
		"the children of an actor that is restarted stop first, all below them before that, and their names are free for the new value", `
spawn p quiet supervise default
when a1.prerestart: expect children; expect gone b
when a2.postrestart: spawn b
spawn a restartable under p
spawn b under a
spawn c under b
log a1.start b1.start c1.start
a: fail
log ordered c1.stop b1.stop a1.prerestart a2.postrestart b1.start
failed a
gone c`,
	},
	{
		"actor/restart-waits-for-children", "V8",
		"while a child has not stopped its parent's restart waits: no hook, no message; what is sent meanwhile waits as well", `
spawn p quiet supervise default
spawn a restartable under p
spawn b quiet under a
spawn c quiet under a
hold b
queue a: fail
tell a 1
failed a
gone c
tell a 2
log a1.start
release b
log a1.prerestart a2.postrestart a2:1 a2:2`,
	},
	{
		"actor/restart-retries", "V8",
		"with Retry the message that failed is handled again, first, after a restart and after a resume, as often as it takes; it is a dead letter only if the actor is stopped for it", `
for decision in restart resume
for failure
spawn p quiet supervise $decision retry at-most 3
spawn a restartable under p
[restart] when a1:bad: fail
[restart] when a2:bad: fail
[restart] when a3:bad: fail
[resume] when a:bad: become second; fail
[resume] when second:bad: become third; fail
[resume] when third:bad: unbecome; unbecome
a: tell self 1 bad 2 3
[restart] log a1.start a1:1 a1:bad a1.prerestart a2.postrestart a2:bad a2.prerestart a3.postrestart a3:bad a3.prerestart a4.postrestart a4:bad a4:2 a4:3
[restart] failed a a a
[resume] log a1.start a1:1 a1:bad second:bad third:bad a1:2 a1:3
[resume] failed a a
dead failed a
[restart] when a4:bad: fail
[restart] tell a bad
[restart] gone a
[restart] failed a
[restart] dead failed a bad`,
	},
	{
		"actor/restart-retries-first", "V8",
		"the message that is retried comes before what had been stashed, and both before all that waits", `
spawn p quiet supervise default retry
when a1:bad: tell self 3; stash 1 2; fail
spawn a under p
tell a bad
log a1.start a1:bad a1.stop a2.start a2:bad a2:1 a2:2 a2:3
failed a`,
	},
	{
		"actor/restart-keeps-a-retry-first", "V8",
		"a message that is to be tried again, in an actor that was resumed and is suspended still, comes before what was stashed also if the actor is restarted meanwhile", `
spawn p quiet supervise resume retry all-for-one
when a1:bad: suspend self; stash 1 2; fail
spawn a quiet under p
tell a bad
failed a
when b1.start: fail  # a start is not resumed, so that all are restarted
spawn b under p
log a1:bad a2:bad a2:1 a2:2 b1.start b2.start
failed b`,
	},
	{
		"actor/restart-of-a-start", "V1",
		"an actor whose PreStart failed is started anew if it is to be restarted, or resumed, for it has nothing to go on with; what never started is not stopped, and messages wait for the start", `
for decision in restart resume
for failure
spawn p quiet supervise $decision
when a1.start: tell self 1; fail
when a2.start: fail
spawn a under p
log a1.start a2.start a3.start a3:1
dead failed a
failed a a
stop a
gone a
log a3.stop`,
	},
	{
		"actor/restart-begin-fails", "V8",
		"a PostRestart that fails, or a New that makes nothing or panics in a restart, is another failure: the actor is restarted again, within the same limit, and no message is lost meanwhile", `
for failure
spawn p quiet supervise default at-most 3
when a2.postrestart: fail
when a3.postrestart: fail
spawn a restartable under p
queue a: fail error
tell a 1
log a1.start a1.prerestart a2.postrestart a3.postrestart a4.postrestart a4:1
failed a a a
a: fail
gone a
failed a
log a4.stop
when b2.new: fail
when b3.new: nothing
spawn b restartable under p
queue b: fail error
tell b 1
log b1.start b1.prerestart b4.postrestart b4:1
stat failures 7
forget`,
	},
	{
		"actor/restart-limit", "V8",
		"there are as many restarts within the window as the supervisor says: the failure beyond stops the actor, with its messages to the dead letters and an event that says so; restarts that are older do not count", `
spawn p quiet supervise default at-most 2 within 1m
spawn a under p
a: fail
time 40s
a: fail
time 20s+1ns  # the first is a minute and a nanosecond old
a: fail
time 40s      # the second is
a: fail
time 20s      # the third and the fourth are not: a minute is not more than a minute
a: tell self 1; fail
gone a
dead stopped a 1
failed a a a a a
dead failed a order order order order order
tell a 2 refused stopped
log a1.start a1.stop a2.start a2.stop a3.start a3.stop a4.start a4.stop a5.start a5.stop
events p.started a.started a.failed a.restart-by-p a.restarted-1 a.failed a.restart-by-p a.restarted-2 a.failed a.restart-by-p a.restarted-2 a.failed a.restart-by-p a.restarted-2 a.failed a.stop-by-p-exhausted a.stopped
spawn a under p  # which begins with nothing on its account
a: fail
a: fail
a: fail
gone a
forget
events a.started a.failed a.restart-by-p a.restarted-1 a.failed a.restart-by-p a.restarted-2 a.failed a.stop-by-p-exhausted a.stopped`,
	},
	{
		"actor/restart-limits", "V8",
		"the default limit is ten restarts in ten seconds; a negative limit is none, and a negative window is for ever", `
spawn p quiet supervise default
spawn any quiet supervise default at-most any
spawn ever quiet supervise default at-most 3 within ever
spawn hour quiet supervise default at-most 2 within 1h
spawn a quiet under p
repeat 10 a: fail
alive a
a: fail       # the eleventh
gone a
spawn b quiet under p
repeat 10 b: fail; time 1s
time 1ns      # the first is more than ten seconds old
b: fail
alive b
b: fail
gone b
spawn c quiet under any
repeat 30 c: fail
alive c
spawn d quiet under ever
repeat 3 d: fail; time 1000h
alive d
d: fail
gone d
spawn e quiet under hour
e: fail
time 30m
e: fail
time 30m      # the first is an hour old, and not older
e: fail
gone e
spawn f quiet under hour
repeat 30 f: fail; time 31m
alive f
forget`,
	},
	{
		"actor/restart-backoff", "V8",
		"with a backoff the restart waits, longer each time up to the longest: the old value has been let go, messages wait, and nothing happens before the time is up; after a quiet window it begins anew", `
spawn p quiet supervise default at-most any within 1h backoff 10s 100s 3
spawn a restartable under p
log a1.start
events p.started a.started
queue a: fail
tell a 1
log a1.prerestart
events a.failed a.restart-by-p-after-10s
time 10s-1ns
log
time 1ns
log a2.postrestart a2:1
queue a: fail
tell a 2
events a.restarted-1 a.failed a.restart-by-p-after-30s
time 30s-1ns
log a2.prerestart
time 1ns
log a3.postrestart a3:2
a: fail
events a.restarted-2 a.failed a.restart-by-p-after-1m30s
time 90s
log a3.prerestart a4.postrestart
a: fail
events a.restarted-3 a.failed a.restart-by-p-after-1m40s
time 100s-1ns
log a4.prerestart
time 1ns
log a5.postrestart
a: fail
events a.restarted-4 a.failed a.restart-by-p-after-1m40s
time 100s
log a5.prerestart a6.postrestart
time 1h+1ns
a: fail
events a.restarted-5 a.failed a.restart-by-p-after-10s
time 10s
log a6.prerestart a7.postrestart
time 1h-10s
a: fail
events a.restarted-1 a.failed a.restart-by-p-after-30s
time 30s
log a7.prerestart a8.postrestart
forget`,
	},
	{
		"actor/restart-backoff-stopped", "V8",
		"an actor that waits for its restart can be stopped: it was let go already, so that no hook is called, what waits is a dead letter, and when the time is up nothing comes back", `
for who in a p
spawn p quiet supervise default backoff 1m 1m 1
spawn a under p
queue a: fail
tell a 1 2
failed a
log a1.start a1.stop
stop $who
gone a $who
dead stopped a 1 2
time 1h
log`,
	},
	{
		"actor/restart-anew-while-waiting", "V8",
		"an actor that waits for its restart is restarted with its siblings when one of them fails: it waits the whole time once more, and there is one new value", `
spawn p quiet supervise default all-for-one backoff 10s 10s 1
spawn a under p
spawn b under p
a: fail
log a1.start a1.stop b1.start b1.stop
time 10s
log a2.start b2.start
a: fail
time 5s
log a2.stop b2.stop
time 5s
log a3.start b3.start
failed a a`,
	},
	{
		"actor/restart-children-of-a-hook", "V8",
		"a child that a hook spawns on the way out does not keep the restart waiting, and is not the new value's", `
for wait in 0s 1ms
spawn p quiet supervise default backoff $wait $wait 1
when a1.prerestart: spawn c
when a2.postrestart: expect children
spawn a restartable under p
queue a: fail
tell a 1
time 1ms
log a1.start a1.prerestart a2.postrestart a2:1 c1.start c1.stop
failed a`,
	},
}
