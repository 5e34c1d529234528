package vast

import (
	"io"
	"math/rand/v2"
	"testing"

	"github.com/vastgo/vast/internal/faulttest"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/internal/probing"
	"github.com/vastgo/vast/vm"
)

// TestWorldFaults lets each memory call of a stream of operations fail, one call in each run of the stream.
// The combined model checks that the refused operation changes nothing, and that it succeeds when it is
// repeated.
func TestWorldFaults(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	n, storages := 900, []probing.Storage{probing.StorageDense, probing.StorageSparse, probing.StorageHeap}
	if !longtest.Enabled() {
		n = 300
	}
	for i, storage := range storages {
		o := combinedOptions{slots: 1 << 13, pages: vm.PagesSmall, storage: storage, hooks: i == 1,
			roads: OnDelete(i), faults: true}
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		// A stream may make only a few memory calls, so the test runs streams until it has enough calls.
		const minCalls, maxStreams = 40, 20
		calls, refused, streams := 0, 0, 0
		for ; calls < minCalls && streams < maxStreams; streams++ {
			stream := randomStream(r, n)
			calls += faulttest.EachCall(t, func() error {
				m := newCombinedModel(t, o, io.Discard)
				m.run(stream)
				if m.fault != nil {
					refused++
				}
				return m.fault
			})
		}
		t.Logf("%v: %d streams of %d bytes; %d memory calls failed, and %d made an operation fail", storage,
			streams, n, calls, refused)
		if calls < minCalls || refused == 0 {
			t.Errorf("%v: %d memory calls in %d streams, want at least %d calls; %d calls made an operation "+
				"fail, want at least one", storage, calls, streams, minCalls, refused)
		}
	}
}
