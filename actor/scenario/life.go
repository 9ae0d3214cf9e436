package scenario

// V1, V7, FR-002, FR-023, FR-025: hooks, behaviours, families and names.
var life = []Scenario{
	{
		"actor/hooks-in-order", "V1",
		"PreStart comes before the first message, PostStop after the last, each once: what one acquires the other lets go", `
spawn a
tell a 1 2
log a1.start a1:1 a1:2
stop a
stop a
log a1.stop
stop a
shutdown
log`,
	},
	{
		"actor/prestart-first", "V1",
		"messages sent before PreStart has run, by whomever, wait for it", `
when a1.start: tell self 1..10; hold a; tell self 21..30
spawn a
reached a
tell a 11..20
log a1.start
release a
log a1:1..30`,
	},
	{
		"actor/prestart-of-many", "V1",
		"messages that are sent as soon as an actor is spawned wait for its PreStart, however fast they come", `
guardian: spawn a; tell a 1; spawn b; tell b 1; spawn c; tell c 1
tell a 2
tell b 2
tell c 2
log lives a.start a:1 a:2 b.start b:1 b:2 c.start c:1 c:2`,
	},
	{
		"actor/prestart-without-message", "V1",
		"PreStart runs although no message comes: an actor may be there to act, not to be told", `
spawn a
log a1.start
shutdown
log a1.stop`,
	},
	{
		"actor/poststop-fails", "V1",
		"a PostStop that fails is reported and holds up nothing: the actor has stopped, and its parent goes on", `
for failure
when a1.stop: fail
spawn a
tell a 1
log a1.start a1:1
stop a
gone a
failed a
log a1.stop
guardian: expect children`,
	},
	{
		"actor/poststop-tells", "V1",
		"in PostStop an actor may still send, and its own mailbox takes nothing any more", `
when a1.stop: tell to goodbye; tell self me refused stopped; expect place guardian
spawn to quiet
spawn a
stop a
gone a
log a1.start a1.stop to1:goodbye`,
	},
	{
		"actor/become", "FR-002",
		"behaviours are a stack: Become puts one on top for the messages that follow, Unbecome takes it off, and the actor's own is at the bottom", `
when a1:up: become one
when one:up: become two
when two:up: become three
when three:down: unbecome
when two:down: unbecome
when one:down: unbecome
when a1:down: unbecome nothing
spawn a quiet
tell a up x up up down x down down down x up x
log ordered a1:up one:x one:up two:up three:down two:x two:down one:down a1:down a1:x a1:up one:x`,
	},
	{
		"actor/become-keeps-hooks", "FR-002",
		"the hooks are the actor's and not a behaviour's: PostStop lets go what PreStart acquired, whatever the actor has become", `
spawn a
a: become one; become two; become three
tell a 1
log a1.start three:1
stop a
log a1.stop`,
	},
	{
		"actor/become-in-prestart", "FR-002",
		"an actor may become something before its first message, and also while messages wait", `
when a1.start: become first; tell self 1 2 3
when first:1: become second
spawn a
log ordered a1.start first:1 second:2 second:3
stop a
log a1.stop`,
	},
	{
		"actor/failure-while-stopping", "FR-018",
		"an actor that fails in the message during which it was told to stop, stops: no decision is needed", `
for failure
spawn a
a: stop self; fail
failed a
gone a
log a1.start a1.stop`,
	},
	{
		"actor/spawn-family", "FR-023",
		"an actor knows its parent and its children, the newest first, by Ref and by name; those that have stopped are none", `
guardian: spawn a quiet; spawn b quiet; spawn c quiet; spawn d quiet; spawn e quiet
a: expect place guardian
e: expect place guardian
guardian: expect children e d c b a; expect child a; expect child c; expect child e
stop c
gone c
guardian: expect children e d b a; expect childless c
stop e
stop a
gone e a
guardian: expect children d b; expect childless a; expect child d`,
	},
	{
		"actor/spawn-new-each", "FR-010",
		"each Spawn calls the factory once: actors share no state", `
spawn a
spawn b
tell a 1
tell b 1
tell a 2
log a1.start a1:1 a1:2 b1.start b1:1`,
	},
	{
		"actor/spawn-when-stopping", "V7",
		"an actor on its way out makes no more children: they would outlive it", `
when a1.stop: spawn x refused stopping; spawn y anonymous refused stopping
spawn a
a: spawn b quiet; stop self
gone a b
log a1.start a1.stop`,
	},
	{
		"actor/name-unique", "FR-025",
		"a name means one child of its parent; children of others may have the same", `
spawn a quiet
guardian: spawn b quiet; spawn b refused name-taken; expect child b; expect childless c
alive b
a: spawn b quiet; spawn b refused name-taken; expect child b; expect childless c
alive b
guardian: expect children b a`,
	},
	{
		"actor/name-free-again", "FR-025",
		"the name of an actor that has stopped is free, also after a failure and after a PreStart that failed", `
repeat 20 spawn a; stop a; gone a
repeat 20 spawn a; a: fail; gone a
forget
when a1.start: fail
spawn a
failed a
gone a
when a1.start: note again
spawn a
alive a`,
	},
	{
		"actor/ref-nobody", "V6",
		"the zero Ref is no actor's: what is sent to it comes back, and to stop it does nothing", `
tell nobody 1 refused nobody
stop nobody
guardian: tell nobody 2 refused nobody; stop nobody; forward nobody 3
dead nobody nobody 3
suspend nobody
resume nobody`,
	},
	{
		"actor/forward", "FR-030",
		"what is forwarded arrives as it is; what cannot be is a dead letter with the reason, since its sender has long gone on", `
spawn to quiet
spawn away quiet
stop away
gone away
spawn r quiet
when r1:2: forward to 2
r: forward to 1; forward away 4
tell r 2
log to1:1 to1:2 r1:2
dead stopped away 4
spawn full quiet mailbox drop-newest 1
full: forward self 5 6
dead full full 6
log full1:5
stat returned 0`,
	},
	{
		"actor/stop-before-start", "V1",
		"an actor that is told to stop as soon as it is spawned starts and stops: the start was asked for first", `
guardian: spawn a; stop a; stop nobody
log a1.start a1.stop
guardian: expect children`,
	},
}
