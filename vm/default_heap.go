//go:build !(linux || darwin || freebsd || windows) || race || !(amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x || loong64 || mips64 || mips64le)

package vm

// heapByDefault is true: package vm does not reserve addresses on this platform (32-bit systems, WebAssembly
// and rarer platforms), or the build has the race detector, which ignores memory outside Go's heap.
const heapByDefault = true
