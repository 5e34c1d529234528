package vm

// Refusal describes a system call of regions that the system refuses or ignores. In containers and sandboxes,
// a filter (seccomp) or a policy may forbid system calls.
type Refusal struct {
	Call    string // the call's name
	Err     error  // the system's answer
	Instead string // the consequence, as one or more sentences
}

// Refusals tries the system calls of regions on new addresses, which it releases, and returns the refused
// calls. Refusals is for diagnosis: this package does not use the result. A kind of advice or an option that
// an old kernel does not know (EINVAL) counts as allowed. A call that the kernel does not have (ENOSYS)
// counts as refused, because sandboxes return ENOSYS too. The result is empty on other systems than Linux.
func Refusals() []Refusal {
	if b, ok := any(osBackend{}).(interface{ refusals() []Refusal }); ok {
		return b.refusals()
	}
	return nil
}
