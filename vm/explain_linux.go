package vm

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// explain finds out which limit an ENOMEM stands for: the kernel has one code for all of them. It reads the limits and
// what the process uses of them, and takes the first that the request would pass.
func (osBackend) explain(op string, n int, err error) (error, string) {
	if !errors.Is(err, unix.ENOMEM) && !errors.Is(err, unix.EAGAIN) {
		return err, ""
	}
	f := ReadFacts()
	size, data := processSize()
	if f.MaxMappings > 0 {
		// A change inside a mapping needs up to two more.
		if have := countMappings(); have+2 >= f.MaxMappings {
			return ErrMappings, fmt.Sprintf("the process has %d of %d: raise vm.max_map_count, or keep fewer regions",
				have, f.MaxMappings)
		}
	}
	if op == "reserve" {
		if f.AddressLimit > 0 && size+n > f.AddressLimit {
			return ErrAddressSpace, fmt.Sprintf("%s of the %s that RLIMIT_AS allows are taken: raise it (ulimit -v) or "+
				"reserve less (a smaller capacity)", Bytes(size), Bytes(f.AddressLimit))
		}
		return ErrAddressSpace, fmt.Sprintf("%s of addresses are taken: reserve less (a smaller capacity)", Bytes(size))
	}
	if f.DataLimit > 0 && data+n > f.DataLimit {
		return ErrDataLimit, fmt.Sprintf("%s of the %s that RLIMIT_DATA allows are taken: raise it (ulimit -d)",
			Bytes(data), Bytes(f.DataLimit))
	}
	if f.OvercommitMode == 2 {
		limit, used := memInfo("CommitLimit"), memInfo("Committed_AS")
		return ErrCommitCharge, fmt.Sprintf("the system has promised %s of %s: raise vm.overcommit_ratio or add swap",
			Bytes(used), Bytes(limit))
	}
	if f.OvercommitMode == 0 && n > memInfo("MemTotal")+memInfo("SwapTotal") {
		return ErrOvercommit, "ask for less at once, or set vm.overcommit_memory=1"
	}
	return err, "the kernel has no memory for its own tables"
}

// processSize returns the process's addresses and its private writable memory, in bytes.
func processSize() (size, data int) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0
	}
	f := strings.Fields(string(b))
	if len(f) < 6 {
		return 0, 0
	}
	size, _ = strconv.Atoi(f[0])
	data, _ = strconv.Atoi(f[5])
	return size * pageSize, data * pageSize
}

// memInfo returns a field of /proc/meminfo in bytes, or 0.
func memInfo(field string) int {
	f, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, rest, ok := strings.Cut(s.Text(), ":"); ok && name == field {
			kib, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			return kib << 10
		}
	}
	return 0
}
