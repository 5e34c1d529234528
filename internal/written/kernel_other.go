//go:build !linux || mips || mipsle || mips64 || mips64le || ppc64 || ppc64le

package written

import "runtime"

func openKernel() (kernel, error) {
	return nil, unsupported("written pages cannot be found on " + runtime.GOOS + "/" + runtime.GOARCH)
}
