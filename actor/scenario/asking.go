package scenario

// V6, FR-008: asking. A question is logged with a question mark.
var asking = []Scenario{
	{
		"actor/ask-reply", "V6",
		"who asks gets the reply to that very question, from whichever actor: the one asked, at once or later, or one to which it has left that", `
when s1:1?: answer 1 one
when s1:3?: answer 2 two; answer 3 three
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
dead late nobody afterwards error-B`,
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
}
