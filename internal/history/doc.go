// Package history reads what was measured of one machine, run after run, and says what
// changed, and since when.
//
//  1. [Read] reads results files as [Run]s (run.go): when each was measured, of which
//     commit, and in which circumstances.
//  2. What the runs say of one benchmark is a [Series] (series.go). Its points are ratios
//     to the reference that was measured in the same run, so that what the machine does
//     cancels. They stand in the order of commits (order.go). Where the circumstances
//     change a series is cut into [Piece]s; a run on a machine that is not as fast as it
//     was takes no part (speed.go).
//  3. In each piece a step is looked for by a test that knows that it looked everywhere
//     (suspect.go; the arithmetic is [stats.Sequence]). Such a step is suspected.
//  4. A comparison of both sides of a suspected step, measured for it and kept, proves it
//     or does not (prove.go). That is independent of how the step was chosen, so its level
//     is that of the claim.
//
// docs/history.md says how to read it, testdata/simulated.txt what was simulated.
package history
