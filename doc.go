// Package dyno is a dynamometer for Go concurrency runtimes: the same runtime
// built several ways, one conformance suite that proves each keeps the
// contract, one set of workloads that puts all of them on the same rollers.
//
// How the pieces follow one another:
//
//  1. A contract is a package. There are three: task groups
//     ([github.com/dynolab/dyno/group]), executors
//     ([github.com/dynolab/dyno/task]) and actors
//     ([github.com/dynolab/dyno/actor]). Each holds an interface, its errors and
//     its options. Package actor also holds the core of actors, which is written
//     once: where messages wait, and who runs an actor when, is what
//     implementations fill in.
//  2. An implementation is a folder under impls/ that fills the contracts with
//     one idea: locks, a manager loop, channels, work stealing, or a single
//     deterministic thread. Implementations share the contract, never
//     mechanism: two that share a queue would be one measurement.
//  3. An [Impl] bundles an implementation's factories with what it [Promises].
//     Tests and measurements ask for the promises, never for the name.
//  4. Package conformance holds the contracts' clauses as functions of an
//     Impl; conformtest runs them under testing and testing/synctest.
//  5. Package workloads holds programs over the contracts, each with a checked
//     result and with the code a good engineer would write by hand today.
//  6. The engine below internal/, and the command benchrun on top of it, know
//     neither contracts nor implementations: a subject is a test binary that
//     prints Go benchmark lines, so that any package's benchmarks can be measured.
//
// This package holds contracts only. It is not a framework to write
// applications in, and not a second benchstat: statistics that benchstat has
// are benchstat's.
package dyno
