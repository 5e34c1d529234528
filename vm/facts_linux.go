package vm

import (
	"bytes"
	"os"
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
	f.HugeMode = hugeModeHere(f.HugeMode)
	if f.HugeMode != "never" && !heedsAdvice() {
		f.HugeMode = "disabled" // asking for huge pages is advice too
	}
	if f.HugeMode == "always" || f.HugeMode == "madvise" {
		f.HugePageSize = readNumber(thp + "hpage_pmd_size")
	}
	f.OvercommitMode = readNumber("/proc/sys/vm/overcommit_memory")
	f.MaxMappings = readNumber("/proc/sys/vm/max_map_count")
	f.AddressLimit = resourceLimit(unix.RLIMIT_AS)
	f.DataLimit = resourceLimit(unix.RLIMIT_DATA)
	f.ControlGroup, f.ControlGroupHigh = controlGroupLimits("/")
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

// hugeModeHere is the system's mode of huge pages as it holds for this process, which may have none by its own wish or
// that of who started it (prctl(PR_SET_THP_DISABLE)), or, from Linux 6.18 on, none but those it asks for.
func hugeModeHere(mode string) string {
	disabled, err := unix.PrctlRetInt(unix.PR_GET_THP_DISABLE, 0, 0, 0, 0)
	switch {
	case err != nil || disabled == 0 || mode == "never":
		return mode
	case disabled == 1:
		return "disabled"
	}
	return "madvise"
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
