// Package measure measures prepared workloads without package testing: what a
// board's firmware measures with, and the arithmetic that the host's benchmarks
// have in common with it. What comes out are lines of Go's benchmark format.
//
// How a figure comes about:
//
//  1. The caller prepares a workload; a prepared one is a [Run].
//  2. [Measure] lets it do its operations once unmeasured, so that queues have grown
//     and workers are there, collects garbage, and lets it do them again between
//     two looks at a [Clock] and at the allocator.
//  3. The run is checked. If a result is wrong or missing there is an error and no
//     figure: a runtime that loses work must not win.
//  4. [Figure.AppendLine] prints what was found, and [Metric.AppendUnit] which way it is
//     better.
//
// It does no statistics: how often to measure, and what several figures of one thing
// say, is for the collector of results. And it knows no workload: a Run is whatever
// can do n operations.
//
// # Clocks
//
// A real clock counts nanoseconds. An emulator may have one that counts the
// instructions it has executed, which is exact: the same program takes the same
// number every time, whatever else the machine is doing. That is a unit of
// its own, "insns", since how long an instruction takes on real silicon
// the emulator does not know. Figures of the two are never compared.
//
// The package is board-safe: it imports neither testing nor fmt, and text is built
// by hand.
package measure
