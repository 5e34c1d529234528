package bulk

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// mappingsIn returns the lines of /proc/self/maps for the addresses [base, base+n).
func mappingsIn(t *testing.T, base unsafe.Pointer, n int) (lines []string) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(maps)) {
		var lo, hi uintptr
		if k, _ := fmt.Sscanf(line, "%x-%x", &lo, &hi); k == 2 && lo >= uintptr(base) &&
			hi <= uintptr(base)+uintptr(n) {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestTableMappings checks that a table splits its region into few mappings, because the kernel limits their
// number.
func TestTableMappings(t *testing.T) {
	if heapStandIn() {
		t.Skip("the heap stand-in has no mappings of its own")
	}
	half, err := vm.Reserve(64*vm.PageSize(), vm.Options{Pages: vm.PagesSmall})
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	if err := half.Commit(0, half.Size()/2); err != nil {
		t.Fatal(err)
	}
	if len(mappingsIn(t, half.Base(), half.Size())) < 2 {
		t.Skip("/proc/self/maps does not show committed memory as a mapping of its own on this system")
	}
	for _, layout := range layouts {
		for _, pages := range []vm.Pages{vm.PagesSmall, vm.PagesAuto} {
			made, _ := newRowsTable(TableOptions{Layout: layout, Pages: pages, Capacity: 1 << 24}, false)
			tab := closeLater(t, made)
			for range 600_000 {
				tab.Append()
			}
			parts := len(tab.arranged.parts)
			most := 2*parts + 1
			if pages == vm.PagesAuto {
				most = 4*parts + 1
			}
			if lines := mappingsIn(t, tab.region.Base(), tab.region.Size()); len(lines) < 2 ||
				len(lines) > most {
				t.Errorf("%v, %v: %d mappings for %d parts, want 2 to %d:\n%s", layout, pages, len(lines),
					parts, most, strings.Join(lines, ""))
			}
			tab.Close()
		}
	}
}
