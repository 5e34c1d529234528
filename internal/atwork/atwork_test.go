package atwork

import "testing"

//go:noinline
func work(f func()) { f() }

//go:noinline
func deep(n int, f func()) {
	if n == 0 {
		f()
		return
	}
	deep(n-1, f)
}

func TestInside(t *testing.T) {
	Mark(work)
	mine, other := new(int), new(int)
	inside := func() (is bool) {
		work(func() { deep(300, func() { is = Inside(mine) }) })
		return is
	}
	if inside() {
		t.Error("Inside is true, but no owner is at work")
	}
	Enter(mine)
	Enter(mine)
	if !inside() || Inside(mine) {
		t.Error("Inside does not distinguish the callees of a marked function from other code")
	}
	there := make(chan bool)
	work(func() { go func() { there <- Inside(mine) }() })
	if <-there {
		t.Error("Inside is true on another goroutine")
	}
	Enter(other)
	if inside() {
		t.Error("Inside is true, but the owners of two worlds are at work")
	}
	Leave(other)
	Leave(mine)
	if !inside() {
		t.Error("Inside is false, but the owner is still at work")
	}
	Leave(mine)
	Leave(mine)
	if inside() || len(busy.worlds) != 0 {
		t.Error("Inside is true, but no owner is at work any more")
	}
}
