package vm

// Refusal is a system call that regions make use of where they can, and that this process may not make: in containers and
// sandboxes a filter (seccomp) or a policy may forbid it.
type Refusal struct {
	Call    string // its name
	Err     error  // what the system answers
	Instead string // what happens without it, in a sentence
}

// Refusals tries each of these calls on addresses of its own, which go back to the system at once, and returns those that
// are refused. It is meant for diagnosis: nothing goes by it. A call that the kernel is too old for counts as allowed. On
// systems other than Linux there are none.
func Refusals() []Refusal { return refusals() }
