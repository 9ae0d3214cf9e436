//go:build race || dynocheck

package benchtest

// checked builds have the invariants of internal/invariants.
const checked = true
