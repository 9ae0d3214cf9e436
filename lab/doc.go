// Package lab measures Go benchmarks and compares the results. It knows nothing
// of what is measured: a subject is the test binary of any package, and what it
// says are lines in the Go benchmark format.
//
// A run goes through these steps, each with a file of its own:
//
//  1. [Build] compiles packages into subjects: go test -c (subject.go).
//  2. [Subject.Cases] asks a subject for its benchmarks, by running each once
//     (cases.go).
//  3. A [Plan] says which cases are measured, how often, and in which order. A
//     block has every case once, each in a fresh process, in random order; what is
//     compared later is compared within blocks (plan.go).
//  4. [Describe] notes the circumstances: machine, toolchain, commit, load
//     (machine.go). [CheckIdle] looks whether the machine is busy (idle.go).
//  5. [Run] carries the plan out and tells its [Progress] (run.go). Cases that are
//     compared with one another take turns, slice by slice, in processes that live
//     side by side (turns.go, warmup.go, package driven); others have a process
//     to themselves (process.go). A [Forecast] says how long the rest takes. A plan
//     may look in between what is decided (looks.go).
//  6. A [Store] keeps what the subjects print, in the Go benchmark format,
//     append-only and synced row by row, so that a run that is interrupted
//     or killed can be read, and resumed (store.go). What they say of units stands
//     before the first figure that needs it (units.go).
//  7. [Compare] reads results and judges them (compare*.go).
//
// Besides, [Conform] runs the conformance suite and collects what its clauses
// say (conform.go).
//
// The package prints nothing and has no globals: everything a caller may want to
// know comes back as a value, or goes to a writer the caller gives.
package lab
