package scenario

// V6, FR-008: asking. A question is logged with a question mark.
var asking = []Scenario{
	{
		"actor/ask-reply", "V6",
		"who asks gets the reply to that very question, from whichever actor: the one asked, at once or later, or one to which it has left that", `
when s1:1?: answer 1 one
when s1:3?: answer 2 two; answer 3 three; answer 2 again late
spawn s quiet
ask f s 1
ask g s 2
reply f one
pending g
ask h s 3
reply h three
reply g two
future k      # given away by hand
pending k
answer k four
reply k four
dead late nobody again
log s1:1? s1:2? s1:3?`,
	},
	{
		"actor/ask-fail", "V6",
		"an answer may be that there is none: the future ends with the very error, and no reply comes after it", `
future f
fails f
answer f afterwards late
ended f error
answer f error-B late
future g
answer g 1
fails g late
reply g 1
future h
fails h
discard h
ended h taken
dead late nobody afterwards error-B error-A error-A`,
	},
	{
		"actor/ask-timeout", "V6",
		"a future with a deadline ends at it by the system's clock, neither before nor after; a reply that comes in time stops that, and one that comes late is refused and recorded", `
future f within 1m
future g within 1m
future never
answer g early
time 1m-1ns
pending f
time 1ns
answer f afterwards late
ended f timeout
reply g early
time 1h
pending never
discard never
future over within ever
ended over timeout
dead late nobody afterwards
future w within 1m
waiting w
time 1m
woken w timeout`,
	},
	{
		"actor/ask-timeout-of-another", "V6",
		"a deadline is that of one question: when what stands behind a future is used again, the old deadline does not end the new one", `
repeat 50 future f within 1m; answer f 1; reply f 1; future g; future h within 1h; time 1m; pending g h; discard g; discard h`,
	},
	{
		"actor/ask-discard", "FR-008",
		"a future that is discarded has ended: who waits is told, and its reply, whether it had come or comes later, is a dead letter", `
future f
waiting f
discard f
woken f taken
answer f 1 late
ended f taken
future g
answer g 2
discard g
discard g
ended g taken
dead late nobody 1 2`,
	},
	{
		"actor/ask-over", "FR-008",
		"when the system is over every future without a reply has ended, so that no caller waits for ever; a reply that had come can be taken, and one that comes then is refused", `
future f
future g within 1h
future h
answer h early
waiting f
shutdown
woken f over
ended g over
reply h early
future l
answer l 1 late
ended l over
dead late nobody 1`,
	},
	{
		"actor/request-reply", "FR-029",
		"an answer goes to the one that came in the message: there is no hidden sender", `
when s1:1?: answer 1 one
when s1:2?: answer 2 two
spawn s quiet
spawn c quiet
spawn d quiet
c: tell s 1?
d: tell s 2?
log s1:1? s1:2? c1:one d1:two`,
	},
	{
		"actor/ask-from-actor", "V6",
		"an actor can ask, too: it polls for the reply in later turns, and gives its own ReplyTo where it wants the reply as a message", `
when s1:5?: answer 5 25
when s1:6?: answer 6 36
spawn s quiet
spawn c quiet
c: ask f s 5; tell s 6?
log s1:5? s1:6? c1:36
reply f 25`,
	},
	{
		"actor/ask-refused", "V6",
		"a question that is not accepted is answered at once, by the error of sending: no caller waits for a reply that cannot come", `
spawn away quiet
stop away
gone away
spawn full quiet mailbox drop-newest 1
suspend full
tell full 0
spawn from quiet
ask f away 1 within 1h
refused f away 1 stopped
answer f afterwards late
ask f full 1 within 1h
refused f full 1 full
answer f afterwards late
ask f nobody 1 within 1h
refused f nobody 1 nobody
answer f afterwards late
letters returned/stopped/away/1? late/nobody/afterwards returned/full/full/1? late/nobody/afterwards returned/nobody/nobody/1? late/nobody/afterwards
from: ask f away 1 within 1h; ask g full 1 within 1h; ask h nobody 1 within 1h
refused f away 1 stopped
refused g full 1 full
refused h nobody 1 nobody
answer h afterwards late
letters returned/stopped/away/1? returned/full/full/1? returned/nobody/nobody/1? late/nobody/afterwards
resume full`,
	},
	{
		"actor/ask-left", "V6",
		"a question that its actor leaves behind, in its mailbox or stashed, is a dead letter, and its future ends with the letter's reason: no caller waits for a reply that cannot come", `
when r1:1?: stash
spawn r quiet
ask f r 1
log r1:1?
suspend r
ask g r 2 within 1h
ask h r 3
waiting h
pending f g
stop r
gone r
woken h stopped
ended f stopped
ended g stopped
answer h afterwards late
letters stopped/r/1? stopped/r/2? stopped/r/3? late/nobody/afterwards
spawn b quiet mailbox drop-oldest 1
suspend b
ask f b 4
ask g b 5
ended f dropped
letters dropped/b/4?
resume b
answer g 6
reply g 6`,
	},
	{
		"actor/ask-poll", "FR-008",
		"Poll never waits: it says that there is no reply yet, delivers it once, and says then that it has been taken", `
future f
pending f f f
answer f nil        # which is an answer, too
reply f nil
at-once f taken
discard f
ended f taken
ended zero taken    # the zero future
at-once zero taken
discard zero`,
	},
	{
		"actor/ask-wait", "FR-008",
		"Wait waits until there is an end; of several who wait one gets it, and the others are told that it has been taken; who has given up before gets nothing", `
for end in reply discard timeout shutdown
future f within 1h
each w1..6 do waiting f as $
give-up w2
woken w2 canceled
[reply] answer f 1
[reply] one-of w1 w3..6 1 taken
[discard] discard f
[discard] each w1 w3..6 do woken $ taken
[timeout] time 1h
[timeout] one-of w1 w3..6 timeout taken
[shutdown] shutdown
[shutdown] one-of w1 w3..6 over taken
ended f taken`,
	},
	{
		"actor/ask-context", "FR-008",
		"a Wait that is given up loses nothing: the future is as it was, the reply is found later, and one that is there wins over a context that has ended", `
future f
at-once f canceled
waiting f
give-up f
woken f canceled
answer f reply
at-once f reply`,
	},
	{
		"actor/ask-late", "SC-004",
		"only the first reply is one: every other, however late, is refused and recorded, and never reaches another question that uses the same place", `
future a within 1h
answer a 1
answer a twice late
reply a 1
answer a after late
letters late/nobody/twice late/nobody/after
repeat 20 future b within 1h; answer a old late; pending b; answer b 2; answer a old late; reply b 2; answer b after late; letters late/nobody/old late/nobody/old late/nobody/after
future c within 1h
answer a old late
answer b old late
pending c
answer c 3
answer b old late
reply c 3
letters late/nobody/old late/nobody/old late/nobody/old`,
	},
	{
		"actor/ask-drives", "FR-034",
		"where actors run only on demand, Wait runs them: a board asks and has the answer, without a goroutine", `
when s1:1?: answer 1 2
spawn s quiet
ask f s 1
await f 2`,
	},
}
