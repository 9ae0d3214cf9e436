package scenario

// V2, V3, FR-020, FR-027: what is sent and waits. Implementations run these, too: each has
// mailboxes of its own. An actor in a turn fills its own mailbox, so that it is known what waits.
var mailboxes = []Scenario{
	{
		"actor/tell-in-order", "V3",
		"messages of one sender to one actor are handled in the order of sending, each once, from outside and from a turn, whatever the mailbox", `
for mailbox 300
spawn a quiet mailbox each
tell a 1..100
log a1:1..100
guardian: tell a 101..200
log a1:101..200
a: tell self 201..300
log a1:201..300`,
	},
	{
		"actor/tell-self", "V1",
		"an actor may send to itself: the message waits until the present one has been handled", `
when a1:1: tell self 2; note handled
when a1:2: tell self 3; note handled
when a1:3: tell self 4; note handled
spawn a quiet
repeat 17 tell a 1; log ordered a1:1 handled a1:2 handled a1:3 handled a1:4`,
	},
	{
		"actor/tell-wakes", "V3",
		"an actor that has gone idle is woken by the next message, every time", `
spawn a quiet
spawn from quiet
repeat 25 tell a 1; log a1:1; from: tell a 2; log a1:2`,
	},
	{
		"actor/send-error", "FR-009",
		"a message that is not accepted comes back with its receiver and the reason, in words too, and is counted", `
spawn a quiet
stop a
gone a
tell a 1 2 3 refused stopped
stat returned 3 dead 0`,
	},
	{
		"actor/send-context", "V3",
		"tell never waits unless the mailbox is full and its policy is Block: a context that has ended refuses no message for which there is room, and nil is one that never ends", `
for mailbox
spawn a quiet mailbox each
tell-ended a 1
log a1:1
guardian: tell-ended a 2
log a1:2
tell-nil a 3
log a1:3`,
	},
	{
		"actor/mailbox-drop-newest", "FR-020",
		"with DropNewest a full mailbox refuses: exactly Capacity messages wait, beside the one being handled, and the sender has the others back", `
for size in 1 5 64
spawn a quiet mailbox drop-newest $size
[1] a: tell self 1; tell self 2 refused full
[1] log a1:1
[5] a: tell self 1..5; tell self 6..10 refused full
[5] log a1:1..5
[64] a: tell self 1..64; tell self 65..128 refused full
[64] log a1:1..64`,
	},
	{
		"actor/mailbox-drop-oldest", "FR-020",
		"with DropOldest a full mailbox takes the new message and drops the one that has waited longest, which becomes a dead letter: nothing goes silently", `
for size in 1 5 64
spawn a quiet mailbox drop-oldest $size
[1] a: tell self 1..3
[1] log a1:3
[1] dead dropped a 1..2
[5] a: tell self 1..15
[5] log a1:11..15
[5] dead dropped a 1..10
[64] a: tell self 1..192
[64] log a1:129..192
[64] dead dropped a 1..128
[64] stat dropped 128 dead 128`,
	},
	{
		"actor/mailbox-grow", "FR-020",
		"with Grow the capacity is room made in advance and no bound: everything is accepted, in order", `
for size in 1 5 64
spawn a quiet mailbox grow $size
a: tell self 1..640
log a1:1..640`,
	},
	{
		"actor/mailbox-room-again", "FR-020",
		"a bounded mailbox that was full has room again for every message that was handled: a slot that is lost once is lost for ever", `
for policy in drop-newest drop-oldest block
for order in of-coming priority
[of-coming] spawn a quiet mailbox $policy 3
[priority] spawn a quiet mailbox priority mailbox $policy 3
[drop-newest block] when a1:go: tell self 1..3; tell self 0 refused full
[drop-oldest] when a1:go: tell self 1..3
repeat 20 tell a go; log a1:go a1:1..3`,
	},
	{
		"actor/block-self", "FR-020",
		"an actor that fills its own mailbox is told so: it would wait for itself", `
for size in 1 5 64
spawn a quiet mailbox block $size
[1] a: tell self 1; tell self 0 refused full; tell-nil self 0 refused full
[1] log a1:1
[5] a: tell self 1..5; tell self 0 refused full; tell-nil self 0 refused full
[5] log a1:1..5
[64] a: tell self 1..64; tell self 0 refused full; tell-nil self 0 refused full
[64] log a1:1..64`,
	},
	{
		"actor/block-waits", "FR-020",
		"with Block a sender waits while Capacity messages wait, goes on when there is room, and its message comes after those", `
for size in 1 5 64
for order in of-coming priority
[of-coming] spawn a quiet mailbox block $size
[priority] spawn a quiet mailbox priority mailbox block $size
hold a
[1] tell a 1
[5] tell a 1..5
[64] tell a 1..64
sending s a last
release a
woken s sent
[1] log a1:1 a1:last
[5] log a1:1..5 a1:last
[64] log a1:1..64 a1:last`,
	},
	{
		"actor/block-first-served", "FR-020",
		"of those who wait for room the one that came first is served first: otherwise a sender may wait for ever while others come and go", `
for order in of-coming priority
exact
[of-coming] spawn a quiet mailbox block 1
[priority] spawn a quiet mailbox priority mailbox block 1
hold a
tell a 1
each 2..7 do sending s$ a $
release a
each s2..7 do woken $ sent
log a1:1..7`,
	},
	{
		"actor/block-context", "FR-020",
		"a sender that waits gives up with its context and has its message back; the message is not handled as well, and leaves no gap", `
for order in of-coming priority
[of-coming] spawn a quiet mailbox block 2
[priority] spawn a quiet mailbox priority mailbox block 2
hold a
tell a 1 2
tell-ended a 3 refused canceled
sending s4 a 4
sending s5 a 5
sending s6 a 6
give-up s4 s6
woken s4 canceled
woken s6 canceled
blocked s5
release a
woken s5 sent
log a1:1 a1:2 a1:5
tell a 7
log a1:7`,
	},
	{
		"actor/block-stop", "FR-020",
		"senders that wait are released when the actor stops, with their messages; what waits in the mailbox is a dead letter", `
for order in of-coming priority
[of-coming] spawn a quiet mailbox block 2
[priority] spawn a quiet mailbox priority mailbox block 2
spawn from quiet
hold a
tell a 1 2
sending s3 a 3
sending s4 a 4
queue from: note begins; tell a 5 refused stopped; note returned
log begins
blocked s3 s4
stop a
blocked s3     # the actor has not heard of its stop
release a
woken s3 stopped
woken s4 stopped
dead stopped a 1 2
log returned`,
	},
	{
		"actor/priority-stable", "V2",
		"messages of equal priority stay in the order of sending: without that a priority mailbox breaks the order per sender", `
for levels in one two
spawn a quiet mailbox urgent
[one] a: tell self 0.1..100
[one] log a1:0.1..100
[two] a: tell self 0.1..9 1.10..19 0.20..29 1.30..39 0.40..49
[two] log a1:0.1..9 a1:0.20..29 a1:0.40..49 a1:1.10..19 a1:1.30..39`,
	},
	{
		"actor/priority-overtakes", "V2",
		"an urgent message that comes while others wait overtakes them, from one message to the next", `
when a1:9.0: tell self 1.0
when a1:9.1: tell self 1.1
when a1:9.2: tell self 1.2
spawn a quiet mailbox urgent
a: tell self 9.0..4
log a1:9.0 a1:1.0 a1:9.1 a1:1.1 a1:9.2 a1:1.2 a1:9.3 a1:9.4`,
	},
	{
		"actor/priority-drop-newest", "V2",
		"a full priority mailbox with DropNewest refuses whatever comes, however urgent", `
spawn a quiet mailbox urgent mailbox drop-newest 2
a: tell self 5 6; tell self 1 refused full
log a1:5 a1:6`,
	},
	{
		"actor/priority-stop", "FR-004",
		"a system message overtakes even the most urgent user message", `
spawn a quiet mailbox urgent
a: tell self x y; stop self   # words have the most urgent priority
dead stopped a x y
log`,
	},
	{
		"actor/watermark", "FR-027",
		"a mailbox that fills to its watermark says so, once, and once that it has emptied to half of it: a warning for each message would be a flood of its own", `
for box in unbounded grow drop-oldest block priority own
[unbounded] spawn a quiet watermark 8
[grow] spawn a quiet mailbox grow 2 watermark 8
[drop-oldest] spawn a quiet mailbox drop-oldest 12 watermark 8
[block] spawn a quiet mailbox block 12 watermark 8
[priority] spawn a quiet mailbox priority watermark 8
[own] spawn a quiet mailbox fifo watermark 8
suspend a
tell a 1..7
events a.started a.suspended
tell a 8
events a.high-8
tell a 9 10
events
resume a
log a1:1..10
suspend a
events a.resumed a.suspended
tell a 11         # which finds that the mailbox is empty
events a.low-1
tell a 12..18
events a.high-8
resume a
log a1:11..18
events a.resumed`,
	},
	{
		"actor/watermark-hysteresis", "FR-027",
		"between half of the watermark and the whole nothing is said: a mailbox that swings about its watermark does not flood the stream", `
when a1:m: suspend self
spawn a quiet throughput 1 watermark 8
suspend a
tell a m m m m m m m m
events a.started a.suspended a.high-8
repeat 5 resume a; events a.resumed a.suspended; resume a; events a.resumed a.suspended; resume a; events a.resumed a.suspended; tell a m m m
repeat 6 resume a; events a.resumed a.suspended
tell a m
events a.low-3
tell a m m m m m
events a.high-8
repeat 8 resume a; events a.resumed a.suspended`,
	},
}
