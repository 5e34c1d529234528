//go:build !(linux || darwin || freebsd || windows) || race || !(amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x || loong64 || mips64 || mips64le)

package vm

// heapByDefault is true: this build has no address space to reserve (32-bit, WebAssembly), or it has the race
// detector, which ignores memory outside Go's heap.
const heapByDefault = true
