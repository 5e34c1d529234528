package vm

import "golang.org/x/sys/unix"

func readFacts(f *Facts) {
	if n, err := unix.SysctlUint64("hw.memsize"); err == nil {
		f.Memory = int(n)
	}
	f.AddressLimit = resourceLimit(unix.RLIMIT_AS)
	f.DataLimit = resourceLimit(unix.RLIMIT_DATA)
}

// ReadUsage asks the operating system what is taken of the limits.
func ReadUsage() Usage { return Usage{} }
