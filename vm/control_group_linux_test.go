package vm

import (
	"os"
	"path/filepath"
	"testing"
)

func TestControlGroupLimits(t *testing.T) {
	const top = "sys/fs/cgroup/"
	for _, c := range []struct {
		what        string
		files       map[string]string
		limit, high int
	}{
		{"nothing", nil, 0, 0},
		{"no limits", map[string]string{"proc/self/cgroup": "0::/a/b\n", top + "a/b/memory.max": "max\n",
			top + "a/memory.high": "max\n"}, 0, 0},
		{"the group's own limit", map[string]string{"proc/self/cgroup": "0::/a/b\n", top +
			"a/b/memory.max": "1000000\n", top + "a/memory.max": "max\n"},
			1000000, 0},
		{"a smaller limit of a parent group", map[string]string{"proc/self/cgroup": "0::/a/b/c\n", top +
			"a/b/c/memory.max": "3000000\n",
			top + "a/b/memory.max": "2000000\n", top + "a/memory.max": "4000000\n", top +
				"a/b/memory.high": "1500000\n"}, 2000000, 1500000},
		{"in a namespace of its own", map[string]string{"proc/self/cgroup": "0::/\n", top +
			"memory.max": "1000000\n"}, 1000000, 0},
		{"a group outside of the visible tree", map[string]string{"proc/self/cgroup": "0::/../../x\n", top +
			"memory.max": "1000000\n"}, 1000000, 0},
		{"a path of the host", map[string]string{"proc/self/cgroup": "0::/docker/12ab\n", top +
			"memory.max": "1000000\n"}, 1000000, 0},
		{"version 1", map[string]string{"proc/self/cgroup": "5:cpu:/\n4:memory:/a/b\n0::/\n",
			top + "memory/a/b/memory.limit_in_bytes":      "9223372036854771712\n",
			top + "memory/a/memory.limit_in_bytes":        "2000000\n",
			top + "memory/memory.limit_in_bytes":          "9223372036854771712\n",
			top + "unified/a/memory.max":                  "7\n",
			top + "memory/a/b/c/memory.limit_in_bytes":    "8\n",
			top + "memory/a/b/memory.soft_limit_in_bytes": "9\n"}, 2000000, 0},
		{"version 1 in a container", map[string]string{"proc/self/cgroup": "4:hugetlb,memory:/docker/12ab\n",
			top + "memory/memory.limit_in_bytes": "3000000\n"}, 3000000, 0},
		{"lines that name no group", map[string]string{"proc/self/cgroup": "\n0\n0:\nmemory\n:::::\n", top +
			"memory.max": "5\n"}, 0, 0},
		{"wrong values", map[string]string{"proc/self/cgroup": "0::/a\n", top + "a/memory.max": "lots\n",
			top + "memory.max": "-5\n"}, 0, 0},
	} {
		root := t.TempDir()
		for name, text := range c.files {
			path := filepath.Join(root, name)
			must(t, os.MkdirAll(filepath.Dir(path), 0o755))
			must(t, os.WriteFile(path, []byte(text), 0o644))
		}
		if limit, high := controlGroupLimits(root); limit != c.limit || high != c.high {
			t.Errorf("%s: limits %d (max) and %d (high), want %d and %d", c.what, limit, high, c.limit,
				c.high)
		}
	}
}
