//go:build !race && !dynocheck

package invariants

// Enabled is true in builds with -race or -tags dynocheck.
const Enabled = false

// Window is nothing in builds that do not check invariants.
func Window() {}

// Within is for builds that have windows.
func Within(func()) (end func()) { return func() {} }
