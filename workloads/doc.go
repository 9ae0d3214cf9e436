// Package workloads holds programs over dyno's contracts that are worth
// measuring, each with the code a good engineer writes by hand for the same
// job today.
//
// The package neither reads a clock nor prints: who measures calls
//
//	run := w.Prepare(Setting{Impl: impl}) // allocate, outside the clock
//	err := run.Do(n)                      // exactly n operations, inside the clock
//	err  = run.Check()                    // every result accounted for
//	run.Close()
//
// and an error of Do or Check means that there is no figure. The same
// definition serves package benchtest on the host and anything else that can count
// to n. It is not a conformance suite: a workload notices results that are
// lost, doubled, altered or out of order, because a runtime that loses work
// must not win, but it does not look for everything that a contract rules out.
//
// One operation is one task, or one message. The tasks of groups are closures
// made by Prepare and used again and again, so that what is allocated per
// operation is the implementation's own; the caller's closure, which every real
// program adds, is the same for all. The references run the very same tasks.
// Tasks of executors are functions with an argument, and what is allocated is
// their futures; the references have closures there, as one writes them.
//
// A workload is one file, group_<name>.go, task_<name>.go or actor_<name>.go, and
// one line in list.go.
//
// Figures of two commits are of the same work as long as the sources of this package and
// of those below it are the same, which the next line tells benchrun.
//
//benchrun:workload
package workloads
