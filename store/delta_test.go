package store_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/disk"
	"github.com/vastgo/vast/internal/disk/sim"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/store"
)

// changing is a world to which a test makes random changes.
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

// checkpointsIn returns the numbers of all checkpoints in a folder, and the numbers of the deltas.
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
	seeds, rounds := uint64(longtest.Pick(1, 5)), 40
	if !longtest.Enabled() {
		rounds = 16
	}
	merges, tiers, deltas, watched, can := 0, 0, 0, 0, false
	for name, makeOne := range makers {
		for n := range 3 * seeds {
			seed, way := n/3, []string{store.ByTheKernel, store.Exactly, store.ByComparison}[n%3]
			t.Run(name+strconv.FormatUint(seed, 10)+"-"+way, func(t *testing.T) {
				defer store.FindWritten(way)()
				r := rand.New(rand.NewPCG(seed, 3))
				d := sim.New(seed)
				d.RefuseOpen()
				a := makeOne(t, seed%2 == 1)
				st, err := store.OpenFolder(d.Folder(), a.world(), a.storeOptions())
				if err != nil {
					t.Fatal(err)
				}
				defer st.Close()
				a.change(seed, 200)
				if err := st.Recover(nil, nil); err != nil {
					t.Fatal(err)
				}
				most, before := 1+r.IntN(6), 0
				for round := range rounds {
					if r.IntN(12) == 0 {
						st.LongChains(0)
					} else if seed%4 < 3 {
						st.LongChains(most)
					}
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
					} else if len(some) <= before {
						tiers++
					}
					if before = len(some); before > 0 && r.IntN(4) == 0 {
						if err := store.CompactFile(f, numbers[len(numbers)-1]); err != nil {
							t.Fatal(err)
						}
					}
					if way == store.ByTheKernel {
						var n int
						n, can = st.Protected()
						watched += n
					}
					sameWorld(t, f, a, makeOne(t, seed%2 == 1), makeOne(t, seed%2 == 1))
				}
			})
		}
	}
	t.Logf("%d merges of all files, %d merges of the newest files, %d deltas, %d protected blocks", merges,
		tiers, deltas, watched)
	if can && watched == 0 {
		t.Error("the kernel never protected a block")
	}
	if merges < 2 || tiers < 2 || deltas < 50 {
		t.Errorf("%d merges of all files, want at least 2; %d merges of the newest files, want at least 2; "+
			"%d deltas, want at least 50", merges, tiers, deltas)
	}
}

// sameWorld loads b from a folder and c from a file of a, and compares b with c.
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
	if !equalBytes {
		if x, y := c.seen(), b.seen(); x != y {
			t.Fatalf("the worlds differ:\n%s", difference(x, y))
		}
	} else if !bytes.Equal(b.saved(t), c.saved(t)) {
		t.Fatalf("the worlds differ: %s", difference(c.seen(), b.seen()))
	}
}

type narrow struct {
	Depth int16
	Of    vast.Entity
	Flag  bool
}

type wide struct {
	Flag  bool
	Depth int64
	New   uint32
	Of    vast.Entity
}

func TestChainsAreConverted(t *testing.T) {
	o := store.Options{Every: time.Hour, Renamed: map[string]string{"narrow": "wide", "thin": "thick"}}
	d := sim.New(1)
	w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
	defer w.Close()
	dense := vast.NewColumn[narrow](w)
	sparse := vast.NewSparseColumn[narrow](w).Named("thin")
	st, err := store.OpenFolder(d.Folder(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	st.LongChains(100)
	r := rand.New(rand.NewPCG(1, 1))
	var all []vast.Entity
	change := func() {
		for i := range 300 {
			switch e := pick(r, all); r.IntN(5) {
			case 0, 1:
				e = w.Archetype(dense).New()
				all = append(all, e)
				dense.Set(e, narrow{int16(i), e, true})
			case 2:
				dense.Set(e, narrow{-int16(i), pick(r, all), i%2 == 0})
			case 3:
				sparse.Add(e, narrow{int16(i), e, false})
			case 4:
				w.Delete(e)
			}
		}
	}
	change()
	if err := st.Recover(nil, nil); err != nil {
		t.Fatal(err)
	}
	for range 6 {
		change()
		if r.IntN(3) == 0 {
			for _, e := range all[:len(all)/2] {
				w.Delete(e)
			}
		}
		if err := st.Checkpoint(); err != nil {
			t.Fatal(err)
		}
		later := func() (*vast.World, func() string) {
			w := vast.NewWorld(vast.Options{MaxEntities: 1 << 12})
			t.Cleanup(func() { w.Close() })
			dense := vast.NewColumn[wide](w)
			sparse := vast.NewSparseColumn[wide](w).Named("thick")
			return w, func() string {
				var b strings.Builder
				for e := range w.Query(dense).All() {
					fmt.Fprint(&b, e, *dense.Get(e), "\n")
				}
				for e, v := range sparse.All() {
					fmt.Fprint(&b, e, *v, "\n")
				}
				return b.String()
			}
		}
		fromChain, inChain := later()
		copied := d.Copy(1)
		copied.Kill()
		if numbers, deltas := checkpointsIn(t, copied); len(deltas) != len(numbers)-1 {
			t.Fatalf("%d of %d checkpoints are deltas", len(deltas), len(numbers))
		}
		again, err := store.OpenFolder(copied.Restart(), fromChain, o)
		if err != nil {
			t.Fatal(err)
		}
		fromFile, inFile := later()
		var file bytes.Buffer
		if err := store.Save(w, &file, o); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Load(fromFile, &file, o); err != nil {
			t.Fatal(err)
		}
		if a, b := inChain(), inFile(); a != b || len(a) == 0 {
			t.Fatalf("the world from the chain differs from the world from a file: %s", difference(a, b))
		}
		if err := again.Close(); err != nil {
			t.Error(err)
		}
	}
}
