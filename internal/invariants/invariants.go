// Package invariants turns on checks that are too expensive for every build.
//
// In a build with the tag `invariants`, containers check their own bookkeeping after changes, and poison
// memory without a live element. In other builds, [Enabled] is a false constant, and the compiler removes
// every check that depends on it.
package invariants

// PoisonByte fills memory without a live element, so that a read through a stale pointer returns odd values.
const PoisonByte = 0xDB

// Poison overwrites b, which must not hold a live element.
func Poison(b []byte) {
	for i := range b {
		b[i] = PoisonByte
	}
}
