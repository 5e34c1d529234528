package clock

import (
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

// frequency is how often the counter counts in a second, epoch where it was. Since Windows XP asking for them cannot fail.
var frequency, epoch = ask(queryPerformanceFrequency), ask(queryPerformanceCounter)

func now() time.Duration {
	passed := ask(queryPerformanceCounter) - epoch
	// The product of the whole count would be too large within a quarter of an hour.
	return time.Duration(passed/frequency)*time.Second + time.Duration(passed%frequency*int64(time.Second)/frequency)
}

func ask(counter *windows.LazyProc) (n int64) {
	_, _, _ = syscall.SyscallN(counter.Addr(), uintptr(unsafe.Pointer(&n)))
	return n
}
