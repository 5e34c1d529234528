//go:build (linux || darwin || freebsd || windows) && !race && (amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x || loong64 || mips64 || mips64le)

package vm

// heapByDefault is false: this build reserves address space.
const heapByDefault = false
