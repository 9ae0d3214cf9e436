// Package session measures: it has the only loop that carries out a plan.
//
//  1. [Describe] notes the circumstances: machine, toolchain, commit, load
//     (machine.go). [CheckIdle] looks whether the machine is busy (idle.go).
//  2. [Size] chooses how much is measured, as far as that is not given (size.go).
//  3. [Run] carries the plan out on a [Subject] and tells its [Progress] (run.go).
//     Cases that are compared with one another take turns, slice by slice, in
//     processes that live side by side: they are warmed up (warmup.go), it is found
//     how long their slices have to be (calls.go), and then they do a slice each,
//     round by round (turns.go). All others are measured one by one. An interrupt ends
//     it in two stages, see [Interruptible] (interrupt.go).
//  4. Each record goes to a [record.Store] as soon as it is complete. A [Forecast] says
//     how long the rest takes. A plan may look in between what is decided; who calls
//     Run says how that is judged.
//
// Package runner has the steps around it, from flags to a results file.
//
// The package prints nothing and has no globals: everything a caller may want to
// know comes back as a value, or goes to its Progress.
package session
