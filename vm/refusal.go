package vm

// Refusal is a system call of regions that this process may not make. In containers and sandboxes a filter
// (seccomp) or a policy may forbid system calls.
type Refusal struct {
	Call    string // the call's name
	Err     error  // the system's answer
	Instead string // the consequence, in a sentence
}

// Refusals tries the system calls of regions, and returns the refused calls. It tries the calls on new
// addresses, which then go back to the system. It is meant for diagnosis: this package does not use its
// result. A kind of advice or an option that an old kernel does not know (EINVAL) counts as allowed. A
// call that the kernel does not have (ENOSYS) counts as refused, because sandboxes return ENOSYS too. On
// systems other than Linux the result is empty.
func Refusals() []Refusal {
	if be, ok := any(osBackend{}).(interface{ refusals() []Refusal }); ok {
		return be.refusals()
	}
	return nil
}
