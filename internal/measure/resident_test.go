//go:build linux && !race

package measure

import "testing"

// TestResidentGrowsByWhatIsTouched does not run under the race detector, which adds memory of its own for
// each byte.
func TestResidentGrowsByWhatIsTouched(t *testing.T) {
	Settle()
	before, err := Resident()
	if err != nil {
		t.Skip(err)
	}
	const size = 64 << 20
	memory := make([]byte, size)
	for i := range memory {
		memory[i] = 1
	}
	after, err := Resident()
	if err != nil || after-before < size*9/10 || after-before > size*12/10 {
		t.Errorf("%d bytes became resident for %d touched bytes; error %v", after-before, size, err)
	}
	if memory[size-1] != 1 {
		t.Error("the memory was freed early")
	}
	memory = nil
	Settle()
	if last, err := Resident(); err != nil || last > after-size*8/10 {
		t.Errorf("after Settle, %d of %d bytes are still resident; error %v", last-before, size, err)
	}
}
