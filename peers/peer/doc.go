// Package peer makes frameworks of other people columns beside dyno's implementations.
//
// A peer is used as its authors recommend. What stands between it and a workload is what
// every program that uses it writes too, and costs no more than a tenth; where that cannot be
// had, the workload is left out for the peer.
package peer

// Prefix begins the names of columns that are peers.
const Prefix = "peer-"
