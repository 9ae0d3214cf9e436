package scenario

// V8: what a supervisor decides.
var supervision = []Scenario{
	{
		"actor/supervise-directives", "V8",
		"an actor that has failed, in whatever way, is restarted, resumed or stopped as its supervisor decides; the message it failed on becomes a dead letter with the cause, and nobody else notices", `
for decision in default restart resume stop nonsense
for failure
spawn p quiet supervise $decision
spawn a under p
spawn b under p
tell a 1
a: tell self 2 3; fail
failed a
dead failed a order
[default restart] log a1.start b1.start a1:1 a1.stop a2.start a2:2 a2:3
[resume] log a1.start b1.start a1:1 a1:2 a1:3
[stop nonsense] log a1.start b1.start a1:1 a1.stop
[stop nonsense] dead stopped a 2 3
[stop nonsense] gone a
[default restart] stat restarts 1
[resume stop nonsense] stat restarts 0
stat failures 1 failed 1
tell b 4
p: note well
log b1:4 well`,
	},
	{
		"actor/supervise-told", "V8",
		"Decide is asked once for each failure, with the actor, the message and the error, and not about those that have not failed", `
for failure
spawn p quiet supervise asked
spawn a quiet under p
spawn b quiet under p
a: fail
failed a
log p.asked-about-a
b: fail
failed b
a: fail
failed a
log p.asked-about-b p.asked-about-a`,
	},
	{
		"actor/supervise-waits", "V8",
		"an actor that has failed handles nothing until its parent has had a turn to decide, and then goes on where it was", `
spawn p quiet supervise default
spawn a under p
hold p
queue a: fail
tell a 1 2
failed a
tell a 3
log a1.start
release p
log a1.stop a2.start a2:1 a2:2 a2:3`,
	},
	{
		"actor/supervise-fatal", "FR-018",
		"after a fatal error, returned or panicked with, wrapped or not, the actor is stopped without being asked about: its message is a dead letter, and the stop an event", `
for how in fatal wrapped-fatal fatal-panic
spawn p quiet supervise asked
spawn a under p
a: tell self 1; fail $how
dead stopped a 1
gone a
failed a
dead failed a order
log a1.start a1.stop
events p.started a.started a.failed a.stop-by-p a.stopped`,
	},
	{
		"actor/supervise-undecided", "V8",
		"a Decide that panics stops the child, and the panic is the supervisor's own failure, which its parent decides about", `
spawn top quiet supervise resume
spawn m under top supervise panic
spawn a under m
a: fail
gone a
failed a m
log m1.start a1.start a1.stop
tell m 1
log m1:1`,
	},
	{
		"actor/supervise-exits", "V8",
		"a Decide that ends its goroutine stops the child, which was not decided about, and is the supervisor's own failure", `
spawn top quiet supervise resume
spawn m under top supervise Goexit
spawn a under m
a: fail
gone a
failed a m
log m1.start a1.start a1.stop
tell m 1
log m1:1`,
	},
	{
		"actor/exits-keep-order", "S4",
		"system messages keep their order when a Decide ends its goroutine while some wait: a Suspend that came before a Resume is ended by it", `
spawn top quiet supervise resume
spawn p under top supervise Goexit
spawn c quiet under p
when p.decide: resume p
hold p
queue c: fail
failed c
guardian: suspend p
release p
tell p 1
gone c
log p1.start p1:1
failed p
stat suspends 1 resumes 1`,
	},
	{
		"actor/supervise-one-for-one", "V8",
		"with one-for-one only the child that failed is concerned, and each has restarts of its own", `
spawn p quiet supervise default at-most 1
spawn a under p
spawn b under p
spawn c under p
a: fail
failed a
b: fail
failed b
a: fail
failed a
gone a
tell b 1
tell c 1
log a1.start a1.stop a2.start a2.stop b1.start b1.stop b2.start b2:1 c1.start c1:1
events p.started a.started a.failed a.restart-by-p a.restarted-1 a.failed a.stop-by-p-exhausted a.stopped b.started b.failed b.restart-by-p b.restarted-1 c.started`,
	},
	{
		"actor/supervise-all-for-one", "V8",
		"with all-for-one a restart or stop is that of all children, with the failure of the one as the cause, and their messages are kept; a resume concerns the one", `
for decision in restart resume stop
spawn p quiet supervise $decision all-for-one
spawn a restartable under p
spawn b restartable under p
spawn c restartable under p
spawn uncle
b: fail
failed b
[restart resume] tell a x
[restart resume] tell b x
[restart resume] tell c x
[stop] gone a b c
tell uncle x
[restart] log a1.start a1.prerestart a2.postrestart a2:x b1.start b1.prerestart b2.postrestart b2:x c1.start c1.prerestart c2.postrestart c2:x uncle1.start uncle1:x
[resume] log a1.start a1:x b1.start b1:x c1.start c1:x uncle1.start uncle1:x
[stop] log a1.start a1.stop b1.start b1.stop c1.start c1.stop uncle1.start uncle1:x
p: note well`,
	},
	{
		"actor/supervise-all-limit", "V8",
		"with all-for-one the restarts of all children count together: the failure beyond the limit stops every one", `
spawn p quiet supervise default all-for-one at-most 2
spawn a under p
spawn b under p
spawn c under p
a: fail
failed a
b: fail
failed b
c: fail
failed c
gone a b c
log a1.start a1.stop a2.start a2.stop a3.start a3.stop b1.start b1.stop b2.start b2.stop b3.start b3.stop c1.start c1.stop c2.start c2.stop c3.start c3.stop
events p.started a.started a.failed a.restart-by-p a.restarted-1 a.restarted-2 a.stopped b.started b.restarted-1 b.failed b.restart-by-p b.restarted-2 b.stopped c.started c.restarted-1 c.restarted-2 c.failed c.stop-by-p-exhausted c.stopped`,
	},
	{
		"actor/supervise-all-fail", "V8",
		"children that fail before the supervisor has decided about the first are restarted like it, and lose no message that waits", `
spawn p quiet supervise default all-for-one at-most any
spawn a quiet under p
spawn b quiet under p
spawn c quiet under p
hold p
queue a: fail
queue b: fail
queue c: fail
tell a x y
tell b x y
tell c x y
stat failures 3
forget
release p
log lives a:x a:y b:x b:y c:x c:y
alive a b c`,
	},
	{
		"actor/supervise-escalate", "V8",
		"escalating makes the failure that of the parent, level by level, each reported, until one decides; then all who waited are treated alike: resumed, or stopped below the one that is restarted or stopped", `
for decision in resume restart stop
for failure
spawn p quiet supervise $decision
spawn k under p supervise escalate
spawn l under k supervise escalate
spawn m under l
log k1.start l1.start m1.start
m: tell self 1; fail
failed m l k
[resume] log m1:1
[resume] tell k 2
[resume] tell l 2
[resume] tell m 2
[resume] log k1:2 l1:2 m1:2
[restart stop] dead stopped m 1
[restart stop] gone m l
[restart] tell k 2
[restart] log ordered m1.stop l1.stop k1.stop k2.start k2:2
[stop] gone k
[stop] log ordered m1.stop l1.stop k1.stop
p: note well`,
	},
	{
		"actor/supervise-escalate-start", "V8",
		"an actor whose PreStart failed has nothing to go on with, also if it was escalated and resumed with its parent: it is started anew", `
for failure
when a1.start: fail
when a2.start: fail
spawn top quiet supervise resume
spawn p quiet under top supervise escalate
spawn a under p
tell a 1
log a1.start a2.start a3.start a3:1
failed a p a p`,
	},
	{
		"actor/supervise-events", "FR-007",
		"the event stream tells an actor's life in order: started when it has started, failed, what was decided by whom, restarted, stopped, and children before their parents; each event with a time", `
when a1.start: fail
spawn b supervise default at-most 2
spawn a under b
events ordered b.started a.failed a.restart-by-b a.restarted-1
a: become other; unbecome
queue a: fail
events ordered a.depth-1 a.depth-0 a.failed a.restart-by-b a.restarted-2
a: fail
gone a
forget
events ordered a.failed a.stop-by-b-exhausted a.stopped
when a1.start: note again
spawn a under b
events ordered a.started
stop b
events ordered a.stopped b.stopped`,
	},
	{
		"actor/supervise-stopped-undecided", "V7",
		"an actor that is told to stop while it waits for its parent's decision stops: what it failed on and what waits are dead letters, and what is decided later is not carried out", `
spawn p quiet supervise default
spawn a under p
hold p
queue a: fail
tell a 1
failed a
stop a
gone a
dead failed a order
dead stopped a 1
release p
p: note well
log a1.start a1.stop well`,
	},
	{
		"actor/supervise-stopped-restarting", "V7",
		"an actor that is told to stop while it waits for its children in a restart stops, and there is no new value of it", `
spawn p quiet supervise default
spawn a under p
spawn c quiet under a
hold c
queue a: fail
tell a 1
failed a
dead failed a order
stop a
dead stopped a 1
log a1.start
release c
gone c a
p: note well
log a1.stop well`,
	},
	{
		"actor/supervise-stopped-meanwhile", "V7",
		"an actor that is stopping, which a child holds up, when the decision about it comes, stops: the decision is not carried out", `
spawn p quiet supervise default
spawn a under p
spawn c quiet under a
hold p
hold c
queue a: fail
tell a 1
failed a
stop a
dead stopped a 1
release p
p: note well
release c
gone c a
dead failed a order
log a1.start well a1.stop`,
	},
	{
		"actor/supervise-stopping-sibling", "V7",
		"an actor that is stopping when a sibling's failure restarts all stops", `
spawn p quiet supervise default all-for-one
spawn a under p
spawn b quiet under p
spawn c quiet under a
hold c
stop a
stat failures 0
b: fail
b: note restarted
forget
release c
gone c a
log a1.start restarted a1.stop`,
	},
	{
		"actor/supervise-to-the-end", "V8",
		"a failure that climbs to the root ends the system, children before parents, and System.Err is the error", `
for failure
for who in guardian a b c
system supervise escalate
spawn a supervise escalate
spawn b under a supervise escalate
spawn c under b supervise escalate
queue $who: fail
over failed
log ordered a1.start b1.start c1.start c1.stop b1.stop a1.stop
[guardian] stat failures 1
[a] stat failures 2
[b] stat failures 3
[c] stat failures 4
forget`,
	},
}
