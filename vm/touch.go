//go:build darwin || windows

package vm

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"unsafe"
)

// touch makes the system supply memory for each page. It adds zero to a word of the page atomically, so that
// no write of another goroutine is lost. touch returns an error if a page is not ReadWrite.
func touch(p unsafe.Pointer, n int) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("a page is not ReadWrite: %v", fault)
		}
	}()
	for end := unsafe.Add(p, n); p != end; p = unsafe.Add(p, pageSize) {
		atomic.AddUint32((*uint32)(p), 0)
	}
	return nil
}
