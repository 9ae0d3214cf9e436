package scenario

// FR-023: who watches another actor.
var watching = []Scenario{
	{
		"actor/watch-told-once", "FR-023",
		"who watches an actor is told that it has stopped, once, however often it watches it and however it is stopped", `
for times in never once often
for by in outside itself parent watcher
spawn who quiet
spawn r quiet
[once] who: watch r
[often] who: watch r r; watch r
log
[outside] stop r
[itself] r: stop self
[parent] guardian: stop r
[watcher] who: stop r
gone r
[never] log
[once often] log who1:r.gone`,
	},
	{
		"actor/watch-reason", "FR-023",
		"who watches an actor learns what it has failed with, if that is why it has stopped, and that nothing has if it was told to stop, also if it had failed and recovered before; of those that wait for their restart only the one that failed has", `
for failure
spawn who quiet
spawn r quiet
who: watch r
r: fail
gone r
log who1:r.failed
spawn p quiet supervise default at-most 1
spawn s quiet under p
spawn t quiet under p
who: watch s t
s: fail
t: fail
log
s: fail
gone s
log who1:s.failed
stop t
log who1:t.gone
spawn q quiet supervise default all-for-one backoff 10s 10s 1
spawn a quiet under q
spawn b quiet under q
who: watch a b
a: fail
stop a
gone a
log who1:a.failed
stop b
gone b
log who1:b.gone
failed r s t s a`,
	},
	{
		"actor/watch-the-dead", "FR-023",
		"who watches an actor that has stopped already is told at once, and again each time it watches it again", `
spawn who quiet
spawn r quiet
stop r
gone r
who: watch r r
log who1:r.gone
who: watch r r
log who1:r.gone
spawn r quiet
who: watch r
stop r
log who1:r.gone
who: watch r
log who1:r.gone`,
	},
	{
		"actor/watch-the-dying", "FR-023",
		"who watches an actor that is stopping, since before or from then on, is told when it has stopped, not before, and once", `
spawn who quiet
spawn before quiet
spawn r quiet
spawn c quiet under r
before: watch r
hold c
stop r
log
who: watch r
log
release c
gone r
log who1:r.gone before1:r.gone`,
	},
	{
		"actor/watch-the-last-moment", "FR-023",
		"who begins to watch an actor that is in its PostStop, after which it looks at nothing any more, is told all the same, once; who unwatches it then is not told", `
when r.stop: hold r
spawn who quiet
spawn other quiet
spawn r
other: watch r
stop r
reached r
who: watch r
other: unwatch r
log r1.start r1.stop
release r
gone r
log who1:r.gone`,
	},
	{
		"actor/watch-nobody", "FR-023",
		"to watch or unwatch the zero Ref, oneself, or an actor that is not watched does nothing", `
spawn who quiet
spawn r quiet
who: unwatch r; watch nobody; unwatch nobody; watch self; unwatch self; unwatch r; watch self
stop r
gone r
log
stop who
gone who
log`,
	},
	{
		"actor/unwatch", "FR-023",
		"after Unwatch nothing is reported, whether the actor is alive, has stopped, or its end is on its way; and who watches it again is told once", `
spawn who quiet
spawn r quiet
who: watch r; unwatch r
stop r
gone r
log
who: watch r; unwatch r   # its end is on its way
log
who: watch r; unwatch r; watch r
log who1:r.gone
who: unwatch r
log
spawn r quiet
who: watch r
who: unwatch r; watch r
stop r
log who1:r.gone`,
	},
	{
		"actor/unwatch-the-next", "FR-023",
		"who is told of one end, and then unwatches another actor, is not told of that one, although the messages about both were there", `
when who1:p.gone: unwatch q
spawn p quiet
spawn q quiet
stop p
stop q
gone p q
spawn who quiet
who: watch p q
log who1:p.gone
who: watch q
log who1:q.gone`,
	},
	{
		"actor/unwatch-after-the-end", "FR-023",
		"an actor that stops while who watches it is in a turn is not heard of if that turn ends with Unwatch: no message about it is in the way", `
spawn who quiet
spawn r quiet
spawn other quiet
who: watch r other
queue who: hold who; unwatch r
reached who
stop r
stop other
gone r other
release who
log who1:other.gone`,
	},
	{
		"actor/watch-apart", "FR-023",
		"each of those who watch an actor is told for itself: who unwatches, has stopped, or watches twice takes nothing from the others", `
spawn r quiet
each a b c d e f g do spawn $ quiet; $: watch r
a: unwatch r
d: unwatch r
stop f
gone f
b: watch r
stop r
log b1:r.gone c1:r.gone e1:r.gone g1:r.gone`,
	},
	{
		"actor/watch-restart", "FR-023",
		"a restart is no end, neither of what the actor watches nor of who watches it; and what it is told of while it is being restarted waits for the new value", `
spawn who quiet
spawn p quiet supervise default backoff 1ns 1ns 1
spawn a under p
spawn x quiet
spawn y quiet
spawn z quiet
a: watch x y z
who: watch a
queue a: fail
tell a 1
failed a
log a1.start a1.stop
stop x         # while a waits
gone x
log
time 1ns
log a2.start a2:x.gone a2:1
a: unwatch z
stop y
stop z
log a2:y.gone
stop a
log a2.stop who1:a.gone`,
	},
	{
		"actor/watch-name-free", "FR-023",
		"when an actor's end is told its name is free and its PID unknown: a watcher can have its place taken", `
when p1:kill: watch r; stop r
when p1:r.gone: expect gone r; expect childless r; spawn r
spawn p quiet
p: spawn r
log r1.start
repeat 20 tell p kill; log p1:kill r1.stop p1:r.gone r1.start
stat spawned 25
alive r`,
	},
	{
		"actor/watch-ahead", "FR-023",
		"an end is told ahead of the mailbox and takes no room in it, whatever the mailbox, full or not", `
for mailbox
spawn a mailbox each
spawn x quiet
stop x
gone x
a: tell self 1 2 3; watch x
log a1.start a1:x.gone a1:1 a1:2 a1:3`,
	},
	{
		"actor/watch-behaviour", "FR-023",
		"an end is handled by the behaviour in force, as a message like any other: a failure on it is the actor's failure, and there is no sent message to account for", `
for failure
when other:x.gone: fail
spawn p quiet supervise default
spawn a under p
spawn x quiet
a: watch x; become other
stop x
log ordered a1.start other:x.gone a1.stop a2.start
tell a 1
failed a
dead failed a
log a2:1`,
	},
	{
		"actor/watch-children", "FR-023",
		"a parent can learn all of its children: that one failed from its supervisor, that it was restarted from an event, that it has stopped by watching it; and Child and Children know who is left", `
when p.decide: note asked
spawn p quiet supervise restart at-most 1
p: spawn a quiet; spawn b quiet; watch a b
a: fail
a: fail
gone a
log asked asked p1:a.failed
failed a a
p: expect childless a; expect child b; expect children b
events p.started a.started a.failed a.restart-by-p a.restarted-1 a.failed a.stop-by-p-exhausted a.stopped b.started`,
	},
}
