// Package testbin makes subjects of Go packages: their compiled tests.
//
//  1. [Build] compiles packages: go test -c, with a package testing that can be
//     driven where that is asked for (binary.go). [Link] links them with their
//     functions in other orders. A [BuildCache] keeps what was linked (cache.go).
//     [Prebuilt] takes binaries that are there already (prebuilt.go). [For] builds them
//     again for another system (foreign.go).
//  2. [Binary.Cases] asks a binary for its benchmarks, by running each once (list.go).
//  3. [Binaries] are what a session runs a plan on (subject.go): one process for each
//     step (process.go), or processes that take turns: [Drive] starts a binary as package
//     program starts any program, if it was built with the [Overlay], which adds
//     the Go side of the driving protocol to package testing (overlay.go, _drive.go).
package testbin
