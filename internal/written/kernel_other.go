//go:build !linux || mips || mipsle || mips64 || mips64le || ppc64 || ppc64le

package written

import "runtime"

func openKernel() (kernel, error) {
	return nil, unsupported("no system call finds written pages on " + runtime.GOOS + "/" + runtime.GOARCH)
}
