package vast

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGoldenAnswers runs a stream of operations of the combined model. It hashes all answers and the final
// state: the entities of each query in order, and their slots, generations, components and links. The hash
// must be the same on every system, processor and page size. If you change the operations of the model or the
// choice of slots, write the new hash here. If you change the choice of slots, note the change in
// CHANGELOG.md.
func TestGoldenAnswers(t *testing.T) {
	const want = 0x9b45e1b7aea3693d
	h := fnv.New64a()
	m := newCombinedModel(t, combinedOptions{slots: 1024, hooks: true, roads: Orphan}, h)
	b := &byteStream{randomStream(rand.New(rand.NewPCG(1, 7)), 8000)}
	for len(b.rest) > 0 {
		m.apply(b)
		m.step++
		m.opened++
		m.checkSome()
	}
	m.checkAll()
	for i, c := range m.columns {
		fmt.Fprintln(h, c.Name(), m.world.Query(c).Count())
		for e := range m.world.Query(c).All() {
			fmt.Fprintln(h, e.Slot(), e.Generation())
			if i < combinedValues {
				v, _ := m.values[i].get(e)
				fmt.Fprintln(h, v)
			}
		}
	}
	for _, r := range m.relations {
		for e := range m.world.Query(r).All() {
			to, _ := r.Target(e)
			fmt.Fprintln(h, e.Slot(), to.Slot(), slices.Collect(r.Sources(to)))
		}
	}
	living := m.world.Len()
	m.close()
	if got := h.Sum64(); got != want || living < 100 {
		t.Errorf("hash %#x after %d steps with %d entities, want %#x", got, m.step, living, uint64(want))
	}
}
