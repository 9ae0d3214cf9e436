// Package scale forecasts how the work-stealing scheduler behaves on more processors
// than there are here. It is a simulation of discrete events, whose costs are measured on one
// and two processors and read from a results file.
//
// A forecast is no measurement. What the model has is named in [Machine]; what it has not
// (the memory's bandwidth, clocks that depend on the load, the operating system's scheduler,
// garbage collections) makes large machines slower than it says, never faster.
package scale
