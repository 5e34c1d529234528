package written_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/written"
	"github.com/vastgo/vast/vm"
)

// TestSupported: New and Supported agree. With the heap stand-in, New returns no watch on any system.
func TestSupported(t *testing.T) {
	err := written.Supported()
	if vm.HeapStandIn() && (err == nil || !strings.Contains(err.Error(), "Go heap memory")) {
		t.Errorf("on the heap stand-in: error %v, want one about Go heap memory", err)
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	w, again := written.New()
	if (w == nil) != (err != nil) || (again == nil) != (err == nil) ||
		err != nil && again.Error() != err.Error() {
		t.Errorf("New: %v, Supported: %v", again, err)
	}
	if w == nil {
		t.Skip(err)
	}
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Error(err)
	}
}
