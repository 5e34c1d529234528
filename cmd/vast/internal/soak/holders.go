package soak

import (
	"fmt"
	"maps"
	"slices"

	"github.com/vastgo/vast/vm"
)

// holders maps the names of regions to the number of open regions with this name.
type holders map[string]int

func readHolders() holders {
	h := holders{}
	for _, p := range vm.Snapshot(false).Purposes {
		h[p.Purpose] += p.Regions
	}
	return h
}

// more returns a line for each name with more regions than before.
func (h holders) more(before holders) (lines []string) {
	for _, purpose := range slices.Sorted(maps.Keys(h)) {
		if n := h[purpose]; n > before[purpose] {
			lines = append(lines, fmt.Sprintf("regions named %s: %d open, %d at the baseline", purpose, n,
				before[purpose]))
		}
	}
	return lines
}
