package vm

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func readFacts(f *Facts) {
	const thp = "/sys/kernel/mm/transparent_hugepage/"
	f.HugeMode = "never"
	if b, err := os.ReadFile(thp + "enabled"); err == nil {
		if _, rest, ok := strings.Cut(string(b), "["); ok {
			f.HugeMode, _, _ = strings.Cut(rest, "]")
		}
	}
	if f.HugeMode != "never" {
		f.HugePageSize = readNumber(thp + "hpage_pmd_size")
	}
	f.OvercommitMode = readNumber("/proc/sys/vm/overcommit_memory")
	f.MaxMappings = readNumber("/proc/sys/vm/max_map_count")
	f.AddressLimit = resourceLimit(unix.RLIMIT_AS)
	f.DataLimit = resourceLimit(unix.RLIMIT_DATA)
	f.ControlGroup = controlGroupLimit()
	memory := memoryInfo()
	f.Memory, f.Swap, f.CommitLimit = memory["MemTotal"], memory["SwapTotal"], memory["CommitLimit"]
}

// ReadUsage asks the operating system what is taken of the limits.
func ReadUsage() Usage {
	u := Usage{Mappings: countMappings(), CommitCharge: memoryInfo()["Committed_AS"]}
	if b, err := os.ReadFile("/proc/self/statm"); err == nil {
		if f := strings.Fields(string(b)); len(f) >= 6 {
			pages, _ := strconv.Atoi(f[0])
			u.AddressSpace = pages * systemPage
			pages, _ = strconv.Atoi(f[5])
			u.Data = pages * systemPage
		}
	}
	return u
}

// memoryInfo returns the fields of /proc/meminfo in bytes.
func memoryInfo() map[string]int {
	info := make(map[string]int)
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return info
	}
	for line := range strings.Lines(string(b)) {
		if name, rest, ok := strings.Cut(line, ":"); ok {
			kib, _ := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			info[name] = kib << 10
		}
	}
	return info
}

// readNumber returns the number that a file of the kernel holds, or 0.
func readNumber(path string) int {
	b, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(string(bytes.TrimSpace(b)))
	if err != nil {
		return 0
	}
	return n
}

// controlGroupLimit returns the smallest memory limit on the way from this process's control group to the root, for
// version 2 of control groups, and the limit of the memory controller for version 1.
func controlGroupLimit() int {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0
	}
	limit := 0
	consider := func(path string) {
		// Version 1 says "no limit" by a number near the largest.
		if n := readNumber(path); n > 0 && n < math.MaxInt>>2 && (limit == 0 || n < limit) {
			limit = n
		}
	}
	for line := range strings.Lines(string(b)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[0] == "0":
			for dir := parts[2]; ; dir = filepath.Dir(dir) {
				consider(filepath.Join("/sys/fs/cgroup", dir, "memory.max"))
				if dir == "/" || dir == "." {
					break
				}
			}
		case strings.Contains(","+parts[1]+",", ",memory,"):
			consider(filepath.Join("/sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes"))
			consider("/sys/fs/cgroup/memory/memory.limit_in_bytes")
		}
	}
	return limit
}

// countMappings returns how many mappings the process has, or 0. The list is read through one small buffer: it can be
// megabytes long, and at the mapping limit Go's heap may be unable to grow.
func countMappings() int {
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		return 0
	}
	defer f.Close()
	buffer := make([]byte, 16<<10)
	count := 0
	for {
		n, err := f.Read(buffer)
		count += bytes.Count(buffer[:n], []byte{'\n'})
		if err != nil {
			return count
		}
	}
}
