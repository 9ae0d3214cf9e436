// Package why says what lies behind a difference that was measured: it takes
// profiles and counters of both sides, in processes of their own, and compares
// them. None of these processes gives a figure of a report: a profile disturbs
// what it looks at.
//
//  1. A [File] says which comparison is explained, and prints what is found (file.go).
//     The cells that are to be explained, and the benchmarks behind them, are its
//     pairs (pairs.go).
//  2. Both sides of a pair run side by side in slices for the counters of
//     the runtime and the system (counters.go), of which the CPU time says whether
//     the difference is computing or waiting (cputime.go). Then they run with
//     the same number of operations, once for each kind of profile, because each
//     kind disturbs the others (explain.go).
//  3. [Diff] compares two profiles per operation: by function, and by what the
//     runtime does there, such as scheduling or allocating (groups.go).
//     The difference is kept as a profile, which pprof shows (profile.go).
//  4. Rules make one sentence of it (sentence.go), with where CPU time goes
//     (where.go).
//  5. All of it is kept beside the results: the profiles, and an [Index] that
//     other programs read (index.go).
//
// docs/why.md describes what the figures mean, and what they cannot say.
package why
