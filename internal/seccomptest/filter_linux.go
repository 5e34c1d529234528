package seccomptest

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Rule describes system calls that fail.
type Rule struct {
	Call     uint32 // for example unix.SYS_MREMAP
	Argument int    // number of the argument to compare with Value, from 1 on; 0 if each call fails
	Value    uint32 // a call fails if the low 32 bits of the argument have this value
	Errno    unix.Errno
}

// Offsets in struct seccomp_data, the input of a filter.
const (
	offsetNumber    = 0
	offsetArguments = 16
)

// Refuse makes the calls of the rules fail from now on, in all threads of the process and in its later
// children. This cannot be undone. Refuse returns an error if the kernel accepts no filters.
func Refuse(rules ...Rule) error {
	const (
		load      = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		jumpEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		answer    = unix.BPF_RET | unix.BPF_K
	)
	lowHalf := uint32(0)
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 { // on big-endian systems, the high half comes first
		lowHalf = 4
	}
	var program []unix.SockFilter
	for _, r := range rules {
		fail := unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ERRNO | uint32(r.Errno)}
		program = append(program, unix.SockFilter{Code: load, K: offsetNumber})
		if r.Argument == 0 {
			program = append(program, unix.SockFilter{Code: jumpEqual, K: r.Call, Jf: 1}, fail)
			continue
		}
		program = append(program,
			unix.SockFilter{Code: jumpEqual, K: r.Call, Jf: 3},
			unix.SockFilter{Code: load, K: offsetArguments + 8*uint32(r.Argument-1) + lowHalf},
			unix.SockFilter{Code: jumpEqual, K: r.Value, Jf: 1}, fail)
	}
	program = append(program, unix.SockFilter{Code: answer, K: unix.SECCOMP_RET_ALLOW})
	runtime.LockOSThread() // one thread must make both system calls
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("PR_SET_NO_NEW_PRIVS: %w", err)
	}
	filter := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	thread, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER,
		unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&filter)))
	switch {
	case errno != 0:
		return fmt.Errorf("SECCOMP_SET_MODE_FILTER: %w", errno)
	case thread != 0:
		return fmt.Errorf("SECCOMP_SET_MODE_FILTER: thread %d has a filter of its own", thread)
	}
	return nil
}
