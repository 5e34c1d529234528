//go:build (linux || darwin || freebsd || windows) && !race && (amd64 || arm64 || ppc64 || ppc64le || riscv64 || s390x || loong64 || mips64 || mips64le)

package guard_test

import (
	"fmt"
	"log"
	"unsafe"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/guard"
	"github.com/vastgo/vast/vm"
)

func ExampleFault() {
	p, err := guard.NewPool[[10]byte](bulk.Options{Name: "names"}) // was: bulk.NewPool
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()

	_, name := p.Insert([10]byte{})
	defer func() {
		f := recover().(*guard.Fault)
		fmt.Printf("%v of %s: %d byte behind its %d\n", f.Kind, f.Allocator, f.Distance, f.Size)
	}()
	vm.Do(func() {
		for i := range 11 {
			*(*byte)(unsafe.Add(unsafe.Pointer(name), i)) = 'x'
		}
	})
	// Output: access past the end of names: 1 byte behind its 10
}
