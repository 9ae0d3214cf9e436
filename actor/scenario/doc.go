// Package scenario tells rules of package actor as scripts that can be read aloud: its .txt files. Those
// that only its core can break are the core's tests, run on a synchronous dispatcher and on
// a concurrent one; those of [Turns] each implementation has to keep; a board runs both.
// Package conformance carries them out, each script in a system of its own whose clock only
// the script moves.
//
//	for failure                           once with each way to fail: error, panic, …
//	spawn p quiet supervise default       an actor p, and a child of it
//	spawn a under p
//	a: tell self 1 2; fail                in a turn of a; and waits until it is done
//	failed a                              one failure was reported: a's
//	log a1.start a1.stop a2.start a2:1 a2:2
//
// A script is a line a step; what follows a # is for people, and 1..3 stands for 1 2 3. Every actor logs what
// happens to it, with the number of its life: a1.start, a1:hello, a2.stop. Numbers are
// messages of type int, other words strings.
//
// # What is offered
//
//	for mailbox [CAPACITY]     once with each mailbox, which the option "mailbox each" means
//	for failure                once with each way to fail
//	for NAME in WORD …         once with each word in the place of $NAME
//	[WORD …] STEP              only if one of these words was chosen
//	exact                      only where it is known when nothing more happens
//	system keep NUMBER, system supervise HOW, system middleware NAME …
//
// # Steps
//
//	spawn NAME [under NAME] OPTION …
//	NAME: ACT; ACT             the actor does that in a turn; the script waits for it
//	queue NAME: ACT; ACT       the same, and the script goes on
//	when ENTRY: ACT; ACT       follows on that entry of the log; without a number of the
//	                           life, in each; also NAME.decide, in a supervisor's Decide, and
//	                           NAME2.new: nothing, or fail, in Props.New
//	hold NAME                  keeps the actor in a turn, until: release NAME
//	reached NAME               waits until the actor does the act "hold NAME"
//	time TIME                  lets everything run, and moves the clock: 10s, 1m+1ns
//	repeat NUMBER STEP; STEP
//	each WORD … do STEP; STEP  once with each word in the place of $
//	shutdown
//
// Acts without an actor, such as "tell a 1", are done from outside. An act "hold", like
// the step, asks for an implementation that runs other actors meanwhile.
//
// # What is demanded, of all since the last time
//
//	log ENTRY …                these entries, and no others; the order is each actor's.
//	                           log ordered: this order; log lives: without numbers of lives
//	events ENTRY …             the same of the event stream: a.started, a.restart-by-p, …
//	failed NAME …              these failures, in this order, on the messages and in the
//	                           ways that acts said
//	forget                     failures that do not matter here
//	dead REASON NAME MESSAGE … these dead letters, in order; "dead failed" are those on
//	                           which the actor failed, an order of the script is "order"
//	gone NAME …, alive NAME …  and found by PID and path, or not
//	refuses NAME MESSAGE REASON soon; what is still taken is a dead letter for that reason
//	letters ENTRY …            these dead letters, in order: REASON/NAME/MESSAGE, with
//	                           returned/ before it if the sender has an error to show for
//	                           it; also in the store, in the counts, and who waits for a reply
//	kept MESSAGE …             the store has these; resend [REASON] sends the newest again
//	stat NAME NUMBER …         what System.Stats counts
//	turns [NUMBER+ | NUMBER-]  so many turns at least, or at most, since the last time
//	made NAME NUMBER           so many chains of that middleware
//	backlog NAME NUMBER
//	over                       the system is done
//
// At the end no failure and no dead letter may be left that was not demanded.
//
// # Acts
//
//	tell NAME MESSAGE … [refused REASON]        forward NAME MESSAGE …
//	tell-pid, tell-ended, tell-nil              to the PID; with a context that has ended, or nil
//	ask FUTURE NAME NUMBER [within TIME]        say LEVEL TEXT
//	fail [HOW]                                  stop NAME
//	watch NAME …                                unwatch NAME …
//	suspend NAME [for TIME] [room NAME] [by outside]
//	resume NAME
//	stash [MESSAGE …]                           unstash
//	become NAME                                 unbecome [nothing]
//	timer TIME MESSAGE [as NAME]                every TIME MESSAGE [as NAME]
//	cancel NAME [nothing]                       timeout TIME
//	note WORD                                   publish MESSAGE …
//	answer QUESTION VALUE [late]                time TIME
//	spawn NAME OPTION … [refused REASON]        hold NAME
//	expect children NAME …, child NAME, childless NAME, place PARENT, stashed NUMBER, gone NAME
//
// The actor itself is self, the user guardian guardian, and the zero Ref zero. The message
// 1? is a question, 1.2 has the priority 1, and box:1 is 1 in a box of the typed layer.
//
// What follows on NAME(MESSAGE, an entry of middleware or an invoker, says what becomes of
// the message: keep, instead MESSAGE, again, succeed, or fail.
//
// # Options of spawn
//
//	quiet                      no hooks
//	restartable                PreRestart and PostRestart as well
//	anonymous                  without a name of its own
//	supervise HOW              default, restart, resume, stop, escalate, nonsense, panic,
//	                           Goexit; asked logs that it was asked, and resumes
//	all-for-one, retry, at-most NUMBER, within TIME, backoff FIRST LONGEST FACTOR
//	mailbox each, mailbox priority, mailbox urgent, mailbox drop-newest NUMBER, drop-oldest,
//	grow, block; of the actor's own: lifo, fifo, refuses NUMBER, drops NUMBER
//	throughput NUMBER, watermark NUMBER, middleware NAME, invoker NAME
//
// # Questions
//
//	future FUTURE [within TIME]                 discard FUTURE
//	answer FUTURE VALUE [late]                  fails FUTURE [late]
//	reply FUTURE VALUE                          pending FUTURE …
//	ended FUTURE REASON                         refused FUTURE NAME NUMBER REASON
//
// # Events
//
//	subscribe NAME TYPE NUMBER [to ACTOR]       listen NAME TYPE: logs NAME:EVENT
//	fetch NAME EVENT …                          these, and no others
//	lost NAME NUMBER                            unsubscribe NAME
//
// # Calls that wait
//
//	waiting FUTURE or SUBSCRIPTION [as CALL]    a goroutine in Wait or Next
//	sending CALL NAME MESSAGE                   a goroutine that sends to a full mailbox
//	shutting CALL                               a goroutine in Shutdown
//	blocked CALL …                              still
//	give-up CALL …                              its context ends
//	woken CALL RESULT                           it returns
//	one-of CALL … RESULT OTHERS                 one returns RESULT
//	await NAME RESULT, at-once NAME RESULT      now; the second with a context that has ended
package scenario
