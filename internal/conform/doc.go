// Package conform runs a conformance suite as go test does, and collects what its
// clauses say of each implementation.
package conform
