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

// frequency is the number of counts per second, and begin is the count at the start of the process. Reading
// the counter and its frequency cannot fail since Windows XP.
var frequency, begin = query(queryPerformanceFrequency), query(queryPerformanceCounter)

var coarse atomic.Bool // whether Now uses package time

func byPackageTime() (stop func()) {
	coarse.Store(true)
	return func() { coarse.Store(false) }
}

func now() time.Duration {
	if coarse.Load() {
		return time.Since(epoch)
	}
	passed := query(queryPerformanceCounter) - begin
	// At the usual 10 MHz, passed*int64(time.Second) would overflow after 15 minutes.
	return time.Duration(passed/frequency)*time.Second +
		time.Duration(passed%frequency*int64(time.Second)/frequency)
}

func query(counter *windows.LazyProc) (n int64) {
	_, _, _ = syscall.SyscallN(counter.Addr(), uintptr(unsafe.Pointer(&n)))
	return n
}
