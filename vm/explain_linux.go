package vm

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// explain finds the limit or the policy that caused err. The kernel returns ENOMEM for most limits.
func (osBackend) explain(op string, n int, err error) (detail string, sentinel error) {
	switch {
	case errors.Is(err, unix.EAGAIN) && op == "reserve":
		return "the process locks all its memory (mlockall): raise RLIMIT_MEMLOCK (ulimit -l) or do not " +
			"lock future memory", err
	case errors.Is(err, unix.ENOMEM), errors.Is(err, unix.EAGAIN):
		if detail, sentinel := shortage(op, n, ReadFacts(), ReadUsage()); sentinel != nil {
			return detail, sentinel
		}
		return "the kernel has no memory left for this", err
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.ENOSYS):
		if call := callOf[op]; call != "" {
			return "a sandbox (seccomp) or a security policy refuses " + call + ": allow it", err
		}
	}
	return "", err
}

var callOf = map[string]string{"reserve": "mmap", "commit": "mprotect", "protect": "mprotect",
	"decommit": "mprotect",
	"discard":  "mmap", "resident": "mincore", "pages": "mincore"}

// shortage returns the limit that most likely refused a request of n bytes. If shortage finds no such limit,
// sentinel is ErrAddressSpace for the operation reserve, and nil for other operations.
func shortage(op string, n int, f Facts, u Usage) (detail string, sentinel error) {
	// A change inside a mapping adds up to two mappings.
	if f.MaxMappings > 0 && u.Mappings+2 >= f.MaxMappings {
		return fmt.Sprintf("the process has %d of %d: raise vm.max_map_count, or keep fewer regions and "+
			"fewer gaps between committed pages", u.Mappings, f.MaxMappings), ErrMappings
	}
	switch op {
	case "reserve":
		// For the alignment, a reservation briefly takes the addresses of one more huge page.
		if f.AddressLimit > 0 && n > f.AddressLimit-u.AddressSpace-f.HugePageSize {
			return fmt.Sprintf("%s of the %s that RLIMIT_AS allows are taken: raise it (ulimit -v) or "+
				"reserve less (a smaller capacity)", Bytes(u.AddressSpace),
				Bytes(f.AddressLimit)), ErrAddressSpace
		}
		return fmt.Sprintf("%s of addresses are taken: reserve less (a smaller capacity)",
			Bytes(u.AddressSpace)), ErrAddressSpace
	case "mirror":
		// A new mirror briefly has its memory at another address, too. Shared memory does not count towards
		// RLIMIT_DATA.
		if f.AddressLimit > 0 && n > f.AddressLimit-u.AddressSpace {
			return shortage("reserve", n, f, u)
		}
		f.DataLimit = 0
		return shortage("commit", n, f, u)
	case "commit", "protect":
		if f.DataLimit > 0 && n > f.DataLimit-u.Data {
			return fmt.Sprintf("%s of the %s that RLIMIT_DATA allows are taken: raise it (ulimit -d) or "+
				"close what is not needed", Bytes(u.Data), Bytes(f.DataLimit)), ErrDataLimit
		}
		if f.OvercommitMode == 2 {
			return fmt.Sprintf("the system has promised %s of %s (vm.overcommit_memory=2): raise "+
				"vm.overcommit_ratio, add swap, or close what is not "+
				"needed", Bytes(u.CommitCharge), Bytes(f.CommitLimit)), ErrCommitCharge
		}
		if f.OvercommitMode == 0 && n > f.Memory+f.Swap {
			return fmt.Sprintf("the machine has %s with swap: commit less in one call, or set "+
				"vm.overcommit_memory=1", Bytes(f.Memory+f.Swap)), ErrOvercommit
		}
	}
	return "", nil
}
