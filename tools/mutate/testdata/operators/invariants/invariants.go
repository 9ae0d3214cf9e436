// Package invariants has the switch.
package invariants

// Enabled is the switch.
const Enabled = false

// Window is nothing.
func Window() {}
