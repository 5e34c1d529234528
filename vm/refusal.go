package vm

// Refusal is a system call that regions use if they can, and that this process may not make: in containers
// and sandboxes a filter (seccomp) or a policy may forbid it.
type Refusal struct {
	Call    string // the call's name
	Err     error  // the system's answer
	Instead string // the consequence, in a sentence
}

// Refusals tries each system call that regions use if they can. It tries the calls on new addresses, which go
// back to the system at once, and returns the refused calls. It is meant for diagnosis: nothing else uses its
// result. A kind of advice or an option that an old kernel does not know (EINVAL) counts as allowed. A call
// that the kernel does not have (ENOSYS) counts as refused, because sandboxes answer so too. On systems other
// than Linux the result is empty.
func Refusals() []Refusal {
	if be, ok := any(osBackend{}).(interface{ refusals() []Refusal }); ok {
		return be.refusals()
	}
	return nil
}
