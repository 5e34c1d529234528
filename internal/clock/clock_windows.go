package clock

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

var (
	kernel32                  = windows.NewLazySystemDLL("kernel32.dll")
	queryPerformanceCounter   = kernel32.NewProc("QueryPerformanceCounter")
	queryPerformanceFrequency = kernel32.NewProc("QueryPerformanceFrequency")
)

// frequency is the number of counts in a second, and begin is the first count. Since Windows XP, reading the
// counter and its frequency cannot fail.
var frequency, begin = ask(queryPerformanceFrequency), ask(queryPerformanceCounter)

var coarse atomic.Bool // whether the function now uses package time

func byPackageTime() (stop func()) {
	coarse.Store(true)
	return func() { coarse.Store(false) }
}

func now() time.Duration {
	if coarse.Load() {
		return time.Since(epoch)
	}
	passed := ask(queryPerformanceCounter) - begin
	// Multiplying the whole count would overflow within a quarter of an hour.
	return time.Duration(passed/frequency)*time.Second +
		time.Duration(passed%frequency*int64(time.Second)/frequency)
}

func ask(counter *windows.LazyProc) (n int64) {
	_, _, _ = syscall.SyscallN(counter.Addr(), uintptr(unsafe.Pointer(&n)))
	return n
}
