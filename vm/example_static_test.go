//go:build (linux || darwin) && !race && (amd64 || arm64)

package vm_test

import (
	"fmt"

	"github.com/vastgo/vast/vm"
)

type Letter byte

// large reserves addresses for a billion letters. It takes no memory until it is written.
var large = vm.Static[Letter](1 << 30)

// pages returns the number of pages of large that are in memory, as the operating system counts them.
func pages() int {
	for _, s := range vm.Snapshot(true).Purposes {
		if s.Purpose == "static Letter" {
			return s.Resident / vm.PageSize()
		}
	}
	return 0
}

// One written byte takes one page. Two bytes in different pages take two pages. The article "Pointer-stable
// Dynamic Arrays" makes the same experiments.
func ExampleStatic() {
	fmt.Println("nothing written:", pages(), "pages")

	large[0] = 1
	fmt.Println("one byte:", pages(), "page")

	large[1], large[vm.PageSize()-1] = 1, 1
	fmt.Println("more in the same page:", pages(), "page")

	large[vm.PageSize()] = 1
	fmt.Println("a byte a page further:", pages(), "pages")

	large[len(large)-1] = 1
	fmt.Println("the last of a billion:", pages(), "pages")
	// Output:
	// nothing written: 0 pages
	// one byte: 1 page
	// more in the same page: 1 page
	// a byte a page further: 2 pages
	// the last of a billion: 3 pages
}
