package store_test

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/invariants"
	"github.com/vastgo/vast/store"
	"github.com/vastgo/vast/store/internal/disk"
	"github.com/vastgo/vast/store/internal/disk/sim"
)

// changing is a world that random operations change.
type changing interface {
	world() *vast.World
	change(seed uint64, steps int)
	saved(t *testing.T) []byte
	seen() string
	storeOptions() store.Options
}

type keptTown struct {
	*town
	clock *clock
}

func (k keptTown) world() *vast.World { return k.w }

func (k keptTown) change(seed uint64, steps int) {
	k.live(seed, steps)
	if seed%3 == 0 {
		k.clock.Tick++
	}
}

func (k keptTown) seen() string { return k.dump() }

func (k keptTown) saved(t *testing.T) []byte { return save(t, k.town, k.storeOptions()) }

func (k keptTown) storeOptions() store.Options {
	o := optionsOfKept()
	return o
}

type keptYard struct{ *yard }

func (k keptYard) world() *vast.World            { return k.w }
func (k keptYard) change(seed uint64, steps int) { k.live(seed, steps) }
func (k keptYard) seen() string                  { return k.dump() }
func (k keptYard) saved(t *testing.T) []byte     { return k.saveReproducible(t) }

func (k keptYard) storeOptions() store.Options {
	o := k.options()
	o.Every = time.Hour
	return o
}

// checkpoints returns the numbers of the checkpoints in a folder, and of those the deltas.
func checkpointsIn(t *testing.T, d *sim.Disk) (all, deltas []uint64) {
	t.Helper()
	for _, name := range d.Names() {
		number, err := strconv.ParseUint(strings.TrimPrefix(name, "checkpoint-"), 10, 64)
		if err != nil {
			continue
		}
		all = append(all, number)
		if d.Bytes(name)[14] == 2 {
			deltas = append(deltas, number)
		}
	}
	return all, deltas
}

// TestChains keeps a world that changes at random by chains of deltas: after each checkpoint, and after each
// merge, the folder holds the world that lives, byte for byte.
func TestChains(t *testing.T) {
	makers := map[string]func(t *testing.T, other bool) changing{
		"town": func(t *testing.T, other bool) changing {
			n := newTown(t, other)
			return keptTown{n, vast.SetResource(n.w, clock{})}
		},
		"yard": func(t *testing.T, other bool) changing {
			return keptYard{newYard(t, yardOptions{layout: map[bool]bulk.Layout{true: 1}[other]})}
		},
	}
	seeds, rounds := uint64(8), 40
	if testing.Short() {
		seeds, rounds = 1, 16
	}
	merges, deltas := 0, 0
	for name, makeOne := range makers {
		for seed := range seeds {
			t.Run(name+strconv.FormatUint(seed, 10), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 3))
				d := sim.New(seed)
				a := makeOne(t, seed%2 == 1)
				st, err := store.OpenFolder(d.Folder(), a.world(), a.storeOptions())
				if err != nil {
					t.Fatal(err)
				}
				defer st.Close()
				if seed%4 < 3 {
					st.LongChains(1 + r.IntN(12))
				}
				a.change(seed, 200)
				if err := st.Recover(nil, nil); err != nil {
					t.Fatal(err)
				}
				for round := range rounds {
					a.change(seed*1000+uint64(round), r.IntN(1<<r.IntN(9)))
					if err := st.Checkpoint(); err != nil {
						t.Fatal(err)
					}
					copied := d.Copy(1)
					copied.Kill()
					f := copied.Restart()
					numbers, some := checkpointsIn(t, copied)
					if deltas += len(some); len(some) == 0 {
						merges++
					} else if r.IntN(4) == 0 {
						if err := store.CompactFile(f, numbers[len(numbers)-1]); err != nil {
							t.Fatal(err)
						}
					}
					sameWorld(t, f, a, makeOne(t, seed%2 == 1), makeOne(t, seed%2 == 1))
				}
			})
		}
	}
	t.Logf("%d merges, %d deltas", merges, deltas)
	if merges < 2 || deltas < 50 {
		t.Errorf("%d merges and %d deltas are too few", merges, deltas)
	}
}

// sameWorld reads b from a folder and c from a file that it saves of a, and compares them.
func sameWorld(t *testing.T, f disk.Folder, a, b, c changing) {
	t.Helper()
	var file bytes.Buffer
	if err := store.Save(a.world(), &file, a.storeOptions()); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Load(c.world(), &file, c.storeOptions()); err != nil {
		t.Fatal(err)
	}
	st, err := store.OpenFolder(f, b.world(), b.storeOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	if invariants.Enabled { // poison fills the unused bytes of elements
		if x, y := c.seen(), b.seen(); x != y {
			t.Fatalf("the worlds differ:\n%s", difference(x, y))
		}
	} else if !bytes.Equal(b.saved(t), c.saved(t)) {
		t.Fatalf("the worlds differ: %s", difference(c.seen(), b.seen()))
	}
}
