// Package conformtest runs the conformance suite under package testing.
//
// An implementation's test is ten lines, wherever it lives:
//
//	func TestConformance(t *testing.T) { conformtest.Run(t, lockbased.Impl) }
//
// Every clause is a sub-test that has the clause's name, so that one is run
// with
//
//	go test -run 'TestConformance/group/next-completion-order' ./impls/lockbased
//
// The clauses of package group are run on an implementation that has task
// groups, those of package actor on one that runs actors, and those of package
// task on one that has an executor. What only the actor core can break is for the
// core's own tests, by [RunCore].
//
// # How a clause is run
//
// An implementation that promises Parks runs in a testing/synctest bubble of
// its own for every clause. In a bubble it is known when nothing can happen any
// more: a call that should have returned by then is reported, with the stacks
// of the bubble's goroutines, and so is a goroutine that is left at the end.
// Neither ends the test binary. Other implementations run outside, where the
// suite asks the Go scheduler whether anything is runnable, and bounds every
// clause by real time.
//
// Beside the clauses of package conformance there are some that need a host:
//
//	group/linearizable         recorded histories of concurrent calls are linearizable (porcupine)
//	group/panic-ends-process   without panic-to-error a panic ends the process (a child process)
//	group/dropped-groups       many groups, used and dropped, leave no goroutine and no memory
//	actor/context-outside-turn a Context outside its turn panics (with -race)
//	actor/system-collected     nothing keeps a system that is done (weak pointers)
//	actor/stopped-collected    a Ref keeps of a stopped actor a shell only
//	actor/messages-collected   an idle mailbox keeps no message
//	actor/blocked-for-real     handlers that sleep, lock or sit in system calls stop no other
//	actor/waits-are-idle       who waits burns no processor time
//	actor/flood-of-a-million   a flood is handled to the last; reports what a quiet actor waits
//	actor/model                random programs for one actor against a sequential model, shrunk (rapid)
//	actor/cycles-leak-nothing  suspensions, at night a million, and asks, timers, restarts, watches … over and over leave nothing behind
//	task/linearizable          histories of one task, with its beginning and its end, are linearizable (porcupine)
//	task/deep-joins            waits inside waits, 20,000 deep, at night 100,000; reports time and memory a level
//	task/waiters-forgotten     who gave up waiting leaves nothing with a task that goes on
//	task/futures-collected     futures without waiters, and closed executors, leave no memory and no goroutine
//	task/blocked-for-real      tasks that sleep, lock or sit in system calls stop no other
//	task/waits-are-idle        who waits for a task burns no processor time
//
// The linearizability checks have three answers. A history that could not be
// decided in time is neither good nor bad: the clause is then reported as
// skipped, with the number of undecided histories, and not as passed.
//
// # Seeds and length
//
// These environment variables are read:
//
//	DYNO_SEED=n   random choices start from n instead of from a random seed. A
//	              failure prints the seed and the command that repeats it.
//	DYNO_SOAK=n   the long version: every clause n times with different seeds,
//	              and the random programs, histories and dropped groups in
//	              proportion (1,000,000 groups from n = 1000 on);
//	              actor/cycles-leak-nothing has 1000 cycles n times, at most
//	              1,000,000. The second half of the runs is made while other
//	              processes load every core. The suite's own tests then run
//	              wrong groups 40 times.
//
//	DYNO_STRESS=t stochastic clauses are repeated with seeds of their own for the
//	              duration t each, such as 10s, instead of 100 ms; with -short each is
//	              run once.
//	DYNO_NIGHTLY=1
//	              the full sizes: a million of each cycle in actor/cycles-leak-nothing,
//	              or of the slow ones 100,000, and waits, futures and groups by the
//	              100,000.
//
//	DYNO_SCHEDULE=step:index,…
//	              Explore runs this one schedule, as a failure prints it.
//
// An implementation whose order comes from a seed is run through many of them
// by [RunSeeds] and [RunTaskSeeds].
//
// With -short the stochastic clauses repeat less, and fewer groups are dropped.
//
// # What a failure says
//
// The rule, what was seen, the seed and the command that repeats it. A check that
// waits in vain says so within seconds, of processor time if something spins: what for, how every actor is that has not
// stopped and how many messages wait for it, and the stacks. If the process ends while
// a clause runs, because a goroutine of the implementation panics, a line on standard
// error names the clause, the seed and the command. Failures that have seen the same
// are listed together at the end of a contract.
//
// # Output
//
// For every clause there is one line in the test's output, for programs:
//
//	conform: clause=group/close-keeps-results rule=G3 result=pass
//	conform: clause=… rule=… result=skip why="needs Eager, which serial does not promise"
//	conform: clause=… rule=… result=fail seed=7 why="…" repeat="DYNO_SEED=7 go test …"
//
// Strings are in the form of strconv.Quote. Figures are on lines that begin
// with "conform-metric:". Use go test -v or -json to see the lines of clauses
// that pass. What an implementation keeps where the contract leaves room, such as
// the bound of actor/flood in turns, is among the figures.
package conformtest
