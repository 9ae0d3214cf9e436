// Package plants is a suite of changes of which the truth can be found out by plain
// go test: what becomes slower or faster where a Go programmer changes this or that.
//
// There are two versions of it, of which this is the old one: package truth lays out
// both, each as a module of its own. They differ in the constant planted only, and in
// all that follows from it. A benchmark whose name begins with Control does not use
// it, so it is the same in both, in a test binary that is another.
//
// Benchmarks whose name ends in N count to b.N, as most do that there are, and those
// whose name ends in Loop call b.Loop. The first sentence of each comment goes into
// docs/calibration.md.
//
// It imports the standard library only.
package plants
