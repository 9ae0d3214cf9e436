// Package counter counts the instructions of a process, whatever the machine does beside it.
//
//  1. [Find] looks for a tool that counts: Valgrind's cachegrind, which runs a process on a
//     simulated processor of this architecture, one thread at a time (cachegrind.go).
//  2. [Tool.Under] says how a process is started under it, and [Tool.Env] with which settings of
//     the Go runtime: those that take away what goes by the clock.
//  3. [Read] reads what it counted: a [Profile], by function, file and line (profile.go).
//
// What a benchmark costs is the difference of processes that do more and fewer operations:
// package testbin starts those. docs/counts.md says what counts can tell.
package counter
