package vm

import (
	"fmt"
	"sync/atomic"
)

// Limit is a budget of committed bytes that any number of regions share. A commit beyond the budget returns
// an error. Without a budget, the kernel ends a process that exceeds the limit of its control group.
//
// A Limit may be used from many goroutines. It must not be copied.
type Limit struct {
	max    atomic.Int64
	used   atomic.Int64
	source string // the environment variable and its value; empty if the program set the limit
	wrong  string // why this package began the limit with 0 bytes; empty for other limits
}

// NewLimit returns a budget of max bytes. It panics when max is negative.
func NewLimit(max int) *Limit {
	if max < 0 {
		panic(fmt.Sprintf("vm: NewLimit(%d): a limit is a number of bytes, zero or more", max))
	}
	l := &Limit{}
	l.max.Store(int64(max))
	return l
}

// Max returns the budget in bytes.
func (l *Limit) Max() int { return int(l.max.Load()) }

// SetMax changes the budget. Committed memory stays committed. While Used exceeds max, every commit of more
// memory fails. SetMax panics when max is negative.
func (l *Limit) SetMax(max int) {
	if max < 0 {
		panic(fmt.Sprintf("vm: Limit.SetMax(%d): a limit is a number of bytes, zero or more", max))
	}
	l.max.Store(int64(max))
}

// Used returns the number of bytes that regions under this limit have committed.
func (l *Limit) Used() int { return int(l.used.Load()) }

// take charges n bytes if they fit, and reports whether they fit. A nil limit allows everything.
func (l *Limit) take(n int) bool {
	if l == nil {
		return true
	}
	for {
		used := l.used.Load()
		if int64(n) > l.max.Load()-used {
			return false
		}
		if l.used.CompareAndSwap(used, used+int64(n)) {
			return true
		}
	}
}

func (l *Limit) give(n int) {
	if l != nil {
		l.used.Add(-int64(n))
	}
}

// exceeded returns the error of an operation for which n bytes do not fit.
func (l *Limit) exceeded(op, purpose string, n int) *Error {
	e := &Error{Op: op, Purpose: purpose, Bytes: n, Err: ErrLimit, Detail: l.wrong}
	if l.wrong == "" || l.Max() > 0 {
		source := ""
		if l.source != "" {
			source = " (" + l.source + ")"
		}
		e.Detail = fmt.Sprintf("%s of %s%s are in use: raise the limit (Limit.SetMax) or close what is not "+
			"needed", Bytes(l.Used()), Bytes(l.Max()),
			source)
	}
	return e
}
