package vast

import (
	"io"
	"math/rand/v2"
	"testing"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/vm"
)

// TestWorldFaults runs streams of the combined model, in which everything meets, once for each memory call that they make,
// and has that call fail. What it refuses changes nothing, and is done when it is asked for again.
func TestWorldFaults(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	n, storages := 900, []Storage{StorageDense, StorageSparse, StorageHeap}
	if testing.Short() || raceEnabled {
		n = 300
	}
	for i, storage := range storages {
		o := combinedOptions{slots: 1 << 13, pages: vm.PagesSmall, storage: storage, hooks: i == 1, roads: OnDelete(i), faults: true}
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		stream := randomStream(r, n)
		refused := 0
		calls := faulttest.EachCall(t, func() error {
			m := newCombinedModel(t, o, io.Discard)
			m.run(stream)
			if m.fault != nil {
				refused++
			}
			return m.fault
		})
		t.Logf("%v: a stream of %d bytes, %d calls, of which %d refuse something", storage, len(stream), calls, refused)
		least := 20
		if vm.PageSize() > 4096 {
			least = 8 // fewer and larger pages
		}
		if calls < least || refused == 0 {
			t.Errorf("%v: %d calls, %d of which refused something", storage, calls, refused)
		}
	}
}
