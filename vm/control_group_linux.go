package vm

import (
	"math"
	"os"
	"path/filepath"
	"strings"
)

// controlGroupLimits returns the smallest memory.max and the smallest memory.high of the process's control
// group and its parents, or 0 for no limit. Control groups of version 1 have memory.limit_in_bytes in place
// of memory.max, and no memory.high. Above memory.high, the kernel slows a group down. root is the root of
// the file system, or a test's directory.
//
// In a container, the kernel may report a path that is not visible there. The visible root then has the
// container's limit.
func controlGroupLimits(root string) (limit, high int) {
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
			limit = smallest(limit, upwards(dir, parts[2], "memory.max"))
			high = smallest(high, upwards(dir, parts[2], "memory.high"))
		case strings.Contains(","+parts[1]+",", ",memory,"):
			limit = smallest(limit, upwards(filepath.Join(root, "sys/fs/cgroup/memory"), parts[2],
				"memory.limit_in_bytes"))
		}
	}
	return limit, high
}

// upwards returns the smallest limit in the files called name of group and its parents up to top.
func upwards(top, group, name string) (limit int) {
	for dir := filepath.Join("/", group); ; dir = filepath.Dir(dir) {
		// For no limit, control groups of version 1 have a number near the maximum. Version 2 has the word
		// max, for which readNumber returns 0.
		if n := readNumber(filepath.Join(top, dir, name)); n < math.MaxInt>>2 {
			limit = smallest(limit, n)
		}
		if dir == "/" {
			return limit
		}
	}
}

// smallest returns the smaller of two limits. Zero and negative numbers mean no limit.
func smallest(a, b int) int {
	if b <= 0 || a > 0 && a < b {
		return a
	}
	return b
}
