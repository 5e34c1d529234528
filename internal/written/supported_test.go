package written_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/vastgo/vast/internal/written"
	"github.com/vastgo/vast/vm"
)

// TestSupported: New and Supported agree. If regions are Go heap memory, New returns no watch.
func TestSupported(t *testing.T) {
	err := written.Supported()
	if vm.HeapStandIn() && (err == nil || !strings.Contains(err.Error(), "Go heap memory")) {
		t.Errorf("regions are Go heap memory: error %v, want an error that says so", err)
	}
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	w, errNew := written.New()
	if (w == nil) != (err != nil) || (errNew == nil) != (err == nil) ||
		err != nil && errNew.Error() != err.Error() {
		t.Errorf("New: %v, Supported: %v", errNew, err)
	}
	if w == nil {
		t.Skip(err)
	}
	if err := errors.Join(w.Close(), w.Close()); err != nil {
		t.Error(err)
	}
}
