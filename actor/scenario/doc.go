// Package scenario tells the rules of package actor that only its core can break, as
// scripts that can be read aloud. They are the core's tests, run on a synchronous
// dispatcher and on a concurrent one, and a board runs them too; package conformance
// carries them out, each script in a system of its own whose clock only the script moves.
//
//	for failure                           once with each way to fail: error, panic, …
//	spawn p quiet supervise default       an actor p, and a child of it
//	spawn a under p
//	a: tell self 1 2; fail                in a turn of a; and waits until it is done
//	failed a                              one failure was reported: a's
//	log a1.start a1.stop a2.start a2:1 a2:2
//
// A script is a line a step; what follows a # is for people. Every actor logs what
// happens to it, with the number of its life: a1.start, a1:hello, a2.stop. Numbers are
// messages of type int, other words strings.
//
// # What is offered
//
//	for mailbox                once with each mailbox, which the option "mailbox each" means
//	for failure                once with each way to fail
//	for NAME in WORD …         once with each word in the place of $NAME
//	[WORD …] STEP              only if one of these words was chosen
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
//	stat NAME NUMBER …         what System.Stats counts
//	backlog NAME NUMBER
//	over                       the system is done
//
// At the end no failure and no dead letter may be left that was not demanded.
//
// # Acts
//
//	tell NAME MESSAGE … [refused REASON]        forward NAME MESSAGE …
//	fail [HOW]                                  stop NAME
//	watch NAME …                                unwatch NAME …
//	suspend NAME [for TIME] [room NAME]         resume NAME
//	stash [MESSAGE …]                           unstash
//	become NAME                                 unbecome [nothing]
//	timer TIME MESSAGE [as NAME]                every TIME MESSAGE [as NAME]
//	cancel NAME [nothing]                       timeout TIME
//	note WORD                                   publish MESSAGE …
//	answer QUESTION VALUE                       time TIME
//	spawn NAME OPTION … [refused REASON]        hold NAME
//	expect children NAME …, child NAME, childless NAME, place PARENT, stashed NUMBER, gone NAME
//
// The actor itself is self, the user guardian guardian, and the zero Ref nobody.
//
// # Options of spawn
//
//	quiet                      no hooks
//	restartable                PreRestart and PostRestart as well
//	anonymous                  without a name of its own
//	supervise HOW              default, restart, resume, stop, escalate, nonsense, panic,
//	                           Goexit; asked logs that it was asked, and resumes
//	all-for-one, retry, at-most NUMBER, within TIME, backoff FIRST LONGEST FACTOR
//	mailbox each, mailbox priority, mailbox drop-newest NUMBER, drop-oldest, grow, block
//	throughput NUMBER
//
// # Questions
//
//	ask FUTURE NAME NUMBER [within TIME]        future FUTURE [within TIME]
//	answer FUTURE VALUE [late]                  fails FUTURE
//	reply FUTURE VALUE                          pending FUTURE …
//	ended FUTURE REASON                         discard FUTURE
//	waiting FUTURE, woken FUTURE REASON         a goroutine in Wait, which returns
package scenario
