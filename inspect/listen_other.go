//go:build !windows

package inspect

import "syscall"

// errTaken is what listening at another program's address ends with.
const errTaken = syscall.EADDRINUSE
