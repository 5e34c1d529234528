package vm_test

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/vastgo/vast/vm"
)

// A region reserves many addresses, and takes memory only for the pages that are committed.
func Example() {
	budget := vm.NewLimit(1 << 20)
	r, err := vm.Reserve(64<<20, vm.Options{Name: "grid", Limit: budget})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()

	if err := r.Commit(0, 512<<10); err != nil {
		fmt.Println(err)
		return
	}
	cells := unsafe.Slice((*uint64)(r.Base()), 512<<10/8)
	cells[1000] = 7
	fmt.Println("cell:", cells[1000], "committed:", vm.Bytes(r.Committed()), "of", vm.Bytes(r.Size()))

	// A commit beyond the budget is an error, and does not change the region.
	err = r.Commit(512<<10, 1<<20)
	fmt.Println(errors.Is(err, vm.ErrLimit), vm.Bytes(budget.Used()))

	// Discard gives the memory back; the pages are usable and zero.
	if err := r.Discard(0, 512<<10); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("cell:", cells[1000])
	// Output:
	// cell: 7 committed: 512 KiB of 64 MiB
	// true 512 KiB
	// cell: 0
}

// A Span commits ahead, so that system calls are rare.
func ExampleSpan_CommitTo() {
	r, err := vm.Reserve(64<<20, vm.Options{Name: "columns"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	s, err := r.Carve(16<<20, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, need := range []int{1, 64 << 10, 320 << 10, 1 << 20} {
		if err := s.CommitTo(need, 256<<10); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(vm.Bytes(need), "->", vm.Bytes(s.Committed()))
	}
	fmt.Println(s.CommitTo(17<<20, 0))
	// Output:
	// 1 B -> 256 KiB
	// 64 KiB -> 256 KiB
	// 320 KiB -> 512 KiB
	// 1 MiB -> 1 MiB
	// vm: grow 17 MiB for columns: capacity reached: made for 16 MiB
}
