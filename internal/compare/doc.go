// Package compare judges what is on record.
//
//  1. Files are read once, as [Data], which is compared as often as need be (read.go).
//  2. They are arranged as a grid for each unit: rows are benchmarks, columns what is
//     compared (grid.go).
//  3. Each cell is estimated and tested against its row's base (evaluate.go, slices.go).
//  4. What is claimed of a whole report is corrected for the number of its
//     comparisons; only then there are verdicts (conclude.go).
//  5. A [Comparison] is plain data; [Comparison.Gate] says what of it fails a build
//     (gate.go), [Table.Curves] which rows differ in a number only (curve.go), and
//     [Data.SideBySide] sets results of several machines beside one another
//     (sidebyside.go). [Machines] counts on how many machines the same comparison says
//     the same (machines.go).
//
// docs/method.md argues the method; package stats has its arithmetic.
package compare
