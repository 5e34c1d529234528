// Package invariants switches the checks that are too dear for every build.
//
// Built with the tag `invariants`, containers check their own bookkeeping after changes and poison memory that holds no
// element any more. Without the tag [Enabled] is a false constant and the compiler removes every check behind it.
package invariants

// PoisonByte fills memory that holds no element any more, so that a read through a stale pointer is seen at once.
const PoisonByte = 0xDB

// Poison overwrites b, which must hold no live element.
func Poison(b []byte) {
	for i := range b {
		b[i] = PoisonByte
	}
}
