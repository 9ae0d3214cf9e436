// Package invariants says whether this build checks invariants.
//
// It is a constant, so that what stands behind `if invariants.Enabled` is not
// compiled into builds that are measured.
package invariants

// Violated reports a broken invariant by panicking. where names the package
// and rule states what should have held.
func Violated(where, rule string) {
	panic(where + ": invariant violated: " + rule)
}
