package vastsql

import (
	"errors"
	"fmt"
	"os"
	"testing"
)

// TestMemoryIsFreed checks that a connection whose statement takes too much memory frees SQLite's memory,
// which lies outside of Go's heap.
func TestMemoryIsFreed(t *testing.T) {
	size := func() int {
		text, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Skip("the size of the address space is unknown: ", err)
		}
		var pages int
		if _, err := fmt.Sscan(string(text), &pages); err != nil {
			t.Fatal(err)
		}
		return pages * os.Getpagesize()
	}
	const each = 128 << 20 // bytes of address space that SQLite reserves for a connection
	f := newFixture(t, 5, Options{MaxMemoryBytes: each})
	before := 0
	for i := range 12 {
		var limit *LimitError
		if _, err := tryRead(f.db, "SELECT zeroblob(400000000)"); !errors.As(err, &limit) {
			t.Fatal(err)
		}
		if i == 1 {
			before = size()
		}
	}
	if grown := size() - before; grown > 5*each {
		t.Errorf("after 10 statements that took too much memory, the address space has grown by %d MB",
			grown>>20)
	}
}
