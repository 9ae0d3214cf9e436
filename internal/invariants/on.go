//go:build race || dynocheck

package invariants

// Enabled is true in builds with -race or -tags dynocheck.
const Enabled = true
