// Package record is what is kept of a run: a [Plan], and a results file, which is
// written once while measuring, and read once by whatever follows.
//
//   - A [Plan] says what is measured, how often, and in which order (plan.go, order.go). It is
//     in the file, so that a run can be repeated, and resumed (planfile.go).
//   - A [Record] is what one step gave in one block: a result, or a [Hole] that says why
//     there is none, and its [Slices] (record.go).
//   - A [Store] appends records, synced row by row and block by block, so that a run
//     that is killed can be read (store.go); [ReadInterrupted] says what such a run has
//     done, and [Interrupted.Resume] goes on (resume.go).
//   - [Read] reads what a file says, for all who compare it (file.go). What kinds of lines
//     there are is in one place: [Lines] (scan.go).
//
// docs/results-format.md describes the format, FORMAT.md each line of it.
package record
