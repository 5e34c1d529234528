package vm

import (
	"bytes"
	"math"
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
		f.HugeMode = "disabled" // the kernel ignores the advice by which regions request huge pages
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

// ReadUsage returns the current usage. All numbers except Kept come from the operating system.
func ReadUsage() Usage {
	u := Usage{Mappings: countMappings(), CommitCharge: memoryInfo()["Committed_AS"], Kept: keptPages.total()}
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
			info[name] = min(kib, math.MaxInt>>10) << 10 // 32-bit ints are too small for large machines
		}
	}
	return info
}

// readNumber returns the number in a file of the kernel, or 0.
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

// hugeModeHere returns the mode of huge pages for this process. mode is the system's mode. The process or its
// parent may have turned huge pages off with prctl(PR_SET_THP_DISABLE). From Linux 6.18 on, this call can
// keep the huge pages that advice requests: hugeModeHere then returns madvise.
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

// countMappings returns the number of the process's mappings, or 0 if it is unknown. It reads the list
// through a small buffer: the list may have megabytes, and at the mapping limit, Go's heap may be unable to
// grow.
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
