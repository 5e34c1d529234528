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
		t.Error("nobody is at work")
	}
	Enter(mine)
	Enter(mine)
	if !inside() || Inside(mine) {
		t.Error("what a marked function calls is not told from what it does not")
	}
	there := make(chan bool)
	work(func() { go func() { there <- Inside(mine) }() })
	if <-there {
		t.Error("another goroutine counts as inside")
	}
	Enter(other)
	if inside() {
		t.Error("it is taken for the work of one owner where two are at work")
	}
	Leave(other)
	Leave(mine)
	if !inside() {
		t.Error("the owner is still at work")
	}
	Leave(mine)
	Leave(mine)
	if inside() || len(busy.worlds) != 0 {
		t.Error("nobody is at work any more")
	}
}
