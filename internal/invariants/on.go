//go:build invariants

package invariants

// Enabled reports that this build checks invariants.
const Enabled = true
