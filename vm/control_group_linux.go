package vm

import (
	"math"
	"os"
	"path/filepath"
	"strings"
)

// controlGroupLimits returns the smallest memory limit from the process's control group up to the root, and
// the smallest limit beyond which a group is slowed down; 0 means no limit. root is the root of the file
// system, or a test's directory.
//
// In a container the kernel may report a path that is not visible there. Then the visible root has the
// container's limit.
func controlGroupLimits(root string) (most, high int) {
	b, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(b)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[0] == "0":
			dir := filepath.Join(root, "sys/fs/cgroup")
			most = smallest(most, upwards(dir, parts[2], "memory.max"))
			high = smallest(high, upwards(dir, parts[2], "memory.high"))
		case strings.Contains(","+parts[1]+",", ",memory,"):
			most = smallest(most, upwards(filepath.Join(root, "sys/fs/cgroup/memory"), parts[2],
				"memory.limit_in_bytes"))
		}
	}
	return most, high
}

// upwards returns the smallest limit in the files called name, from group up to top.
func upwards(top, group, name string) (limit int) {
	for dir := filepath.Join("/", group); ; dir = filepath.Dir(dir) {
		// Control groups of version 1 write "no limit" as a number near the maximum. Version 2 writes the
		// word max, which readNumber returns as 0.
		if n := readNumber(filepath.Join(top, dir, name)); n < math.MaxInt>>2 {
			limit = smallest(limit, n)
		}
		if dir == "/" {
			return limit
		}
	}
}

// smallest returns the smaller of two limits. A limit of zero or less means no limit.
func smallest(a, b int) int {
	if b <= 0 || a > 0 && a < b {
		return a
	}
	return b
}
