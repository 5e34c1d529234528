package store_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/internal/longtest"
	"github.com/vastgo/vast/store"
)

type stone struct {
	Weight float32
	Kind   uint8
}

type ship struct {
	Owner uint32
	Speed float32
	Cargo bulk.List[item]
}

type item struct{ Name, Count uint16 }

type box [3]uint32

// yard is a world with a container of each kind that a store can save.
type yard struct {
	w       *vast.World
	cargo   vast.Column[bulk.Handle[ship]]
	stones  *bulk.Array[stone]
	ships   *bulk.Pool[ship] // the pool of fleet
	fleet   *bulk.Indexed[ship]
	byOwner *bulk.HashIndex[uint32, bulk.Handle[ship]]
	bySpeed *bulk.OrderedIndex[float32, bulk.Handle[ship]]
	items   *bulk.Lists[item]
	plain   *bulk.Pool[stone]
	dense   *bulk.Dense[stone]
	marks   *bulk.Dense[struct{}]
	table   *bulk.Table
	age     *bulk.Field[uint8]
	x       *bulk.Field[float64]
	place   *bulk.Field[box]
	words   *bulk.HashIndex[uint16, uint64]
	boxes   *bulk.HashIndex[box, uint32]
	scores  *bulk.OrderedIndex[int32, uint64]

	// All handles that the containers have returned, including handles of removed elements.
	fleetHandles []bulk.Handle[ship]
	denseHandles []bulk.Handle[stone]
	markHandles  []bulk.Handle[struct{}]
	plainHandles []bulk.Handle[stone]
}

// yardOptions may differ between the program that saves a yard and the program that loads the yard.
type yardOptions struct {
	layout   bulk.Layout
	capacity int // capacity of the Lists items, which decides the size of a slab: see bulk.Lists
}

func made[T any](c T, err error) T {
	if err != nil {
		panic(err)
	}
	return c
}

func makeYard(o yardOptions) *yard {
	n := bulk.Options{Capacity: 1 << 14}
	y := &yard{w: vast.NewWorld(vast.Options{Name: "yard", MaxEntities: 1 << 12})}
	y.cargo = vast.NewColumn[bulk.Handle[ship]](y.w).Named("cargo")
	y.stones = made(bulk.NewArray[stone](n))
	y.ships = made(bulk.NewPool[ship](n))
	y.fleet = bulk.NewIndexed(y.ships)
	y.byOwner = made(bulk.NewHashIndex[uint32, bulk.Handle[ship]](n))
	y.bySpeed = made(bulk.NewOrderedIndex[float32, bulk.Handle[ship]](n))
	if err := cmp.Or(bulk.Attach(y.fleet, y.bySpeed, func(s *ship) float32 { return s.Speed }),
		bulk.Attach(y.fleet, y.byOwner, func(s *ship) uint32 { return s.Owner })); err != nil {
		panic(err)
	}
	y.items = made(bulk.NewLists[item](bulk.Options{Capacity: max(o.capacity, 1<<17)}))
	y.plain = made(bulk.NewPool[stone](n))
	y.dense = made(bulk.NewDense[stone](n))
	y.marks = made(bulk.NewDense[struct{}](n))
	y.table = bulk.NewTable(bulk.TableOptions{Layout: o.layout, Capacity: 1 << 14})
	y.age = bulk.NewField[uint8](y.table, "age")
	y.x = bulk.NewField[float64](y.table, "x").Safe(1)
	y.place = bulk.NewField[box](y.table, "place")
	y.words = made(bulk.NewHashIndex[uint16, uint64](n))
	y.boxes = made(bulk.NewHashIndex[box, uint32](n))
	y.scores = made(bulk.NewOrderedIndex[int32, uint64](n))
	return y
}

func newYard(t *testing.T, o yardOptions) *yard {
	t.Helper()
	y := makeYard(o)
	t.Cleanup(func() { y.close(t) })
	return y
}

// close closes the world and the containers. With the build tag invariants, Close of a container also checks
// the container.
func (y *yard) close(t *testing.T) {
	for _, c := range []interface{ Close() error }{y.w, y.stones, y.ships, y.byOwner, y.bySpeed, y.items,
		y.plain, y.dense, y.marks, y.table, y.words, y.boxes, y.scores} {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

func (y *yard) options() store.Options {
	return store.Options{Containers: map[string]any{"stones": y.stones, "fleet": y.fleet, "items": y.items,
		"plain": y.plain, "dense": y.dense, "marks": y.marks, "table": y.table, "words": y.words,
		"boxes": y.boxes, "scores": y.scores}}
}

func pick[T any](r *rand.Rand, s []T) (v T) {
	if len(s) > 0 {
		v = s[r.IntN(len(s))]
	}
	return v
}

// live makes random changes, which depend only on the seed and on the state of the yard.
func (y *yard) live(seed uint64, steps int) {
	r := rand.New(rand.NewPCG(seed, 11))
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	stoneOf := func() stone { return stone{float32(r.IntN(1000)), uint8(r.IntN(256))} }
	for i := range steps {
		switch r.IntN(36) {
		case 0, 1:
			for range r.IntN(30) {
				y.stones.Append(stoneOf())
			}
		case 2:
			y.stones.Truncate(y.stones.Len() - min(y.stones.Len(), r.IntN(40)))
		case 3, 4:
			for range r.IntN(20) {
				h, _ := y.fleet.Insert(ship{Owner: r.Uint32N(60), Speed: float32(r.IntN(90))})
				y.fleetHandles = append(y.fleetHandles, h)
				if r.IntN(3) == 0 {
					y.cargo.Set(y.w.Archetype(y.cargo).New(), h)
				}
			}
		case 5, 6, 7, 8:
			for range 4 {
				if h := pick(r, y.fleetHandles); y.ships.Valid(h) {
					y.items.Free(&y.ships.Get(h).Cargo)
					y.fleet.Remove(h)
				}
			}
		case 9:
			y.fleet.Update(pick(r, y.fleetHandles), func(s *ship) {
				s.Owner, s.Speed = r.Uint32N(60), float32(i)
			})
		case 10, 11, 12, 13:
			if s := y.ships.Get(pick(r, y.fleetHandles)); s != nil {
				for range r.IntN(1 << r.IntN(9)) {
					y.items.Append(&s.Cargo, item{uint16(i), uint16(r.IntN(9))})
				}
			}
		case 14:
			if s := y.ships.Get(pick(r, y.fleetHandles)); s != nil {
				y.items.Truncate(s.Cargo, r.IntN(len(y.items.Slice(s.Cargo))+1))
			}
		case 15:
			if s := y.ships.Get(pick(r, y.fleetHandles)); s != nil && r.IntN(9) == 0 {
				_ = y.items.Grow(&s.Cargo, r.IntN(40000))
			}
		case 16:
			if r.IntN(40) == 0 {
				must(y.items.Compact(func(yield func(*bulk.List[item]) bool) {
					for _, s := range y.ships.All() {
						if !yield(&s.Cargo) {
							return
						}
					}
				}))
			}
		case 17, 18:
			for range r.IntN(60) {
				h, _ := y.plain.Insert(stoneOf())
				y.plainHandles = append(y.plainHandles, h)
			}
		case 19, 20:
			for range r.IntN(60) {
				y.plain.Remove(pick(r, y.plainHandles))
			}
		case 21:
			for range r.IntN(60) {
				h, _ := y.dense.Insert(stoneOf())
				y.denseHandles = append(y.denseHandles, h)
				m, _ := y.marks.Insert(struct{}{})
				y.markHandles = append(y.markHandles, m)
			}
		case 22:
			for range r.IntN(60) {
				y.dense.Remove(pick(r, y.denseHandles))
				y.marks.Remove(pick(r, y.markHandles))
			}
		case 23, 24:
			for range r.IntN(40) {
				row := y.table.Append()
				*y.age.At(row), y.place.At(row)[1] = uint8(i), uint32(i)
			}
		case 25:
			for range min(y.table.Len(), r.IntN(50)) {
				y.table.RemoveSwap(r.IntN(y.table.Len()))
			}
		case 26:
			if r.IntN(20) == 0 {
				y.table.Truncate(y.table.Len() / 2)
			}
		case 27, 28, 29:
			for range r.IntN(90) {
				y.words.Add(uint16(r.IntN(1<<r.IntN(14))), r.Uint64N(500))
				y.boxes.Add(box{r.Uint32N(50), 3, r.Uint32N(3)}, r.Uint32N(50))
				y.scores.Add(int32(r.IntN(99)-50), r.Uint64N(50))
			}
		case 30, 31:
			for range r.IntN(120) {
				y.words.Remove(uint16(r.IntN(1<<r.IntN(14))), r.Uint64N(500))
				y.scores.Remove(int32(r.IntN(99)-50), r.Uint64N(50))
			}
			y.words.RemoveAll(uint16(r.IntN(9)))
			y.boxes.RemoveAll(box{r.Uint32N(50), 3, r.Uint32N(3)})
		case 32:
			if r.IntN(9) == 0 {
				must(cmp.Or(y.plain.Trim(), y.dense.Trim(), y.words.Trim(), y.scores.Trim(), y.ships.Trim()))
			}
		case 33:
			switch r.IntN(90) {
			case 0:
				y.plain.Clear(nil)
			case 1:
				y.dense.Clear(nil)
			case 2:
				y.words.Clear()
			case 3:
				y.stones.Truncate(0)
				y.table.Clear()
			case 4:
				must(y.words.Grow(300))
			}
		case 34:
			e := y.w.Archetype(y.cargo).New()
			if h := *y.cargo.Get(e); y.ships.Get(h) == nil {
				y.cargo.Set(e, pick(r, y.fleetHandles))
			}
		}
	}
}

// dump returns the visible state of the yard, in the order of the iterators except for boxes.
func (y *yard) dump() string {
	var b bytes.Buffer
	for e := range y.w.Query(y.cargo).All() {
		h := *y.cargo.Get(e)
		fmt.Fprintln(&b, "entity", e, h.ID(), y.ships.Valid(h))
	}
	fmt.Fprintln(&b, "stones", y.stones.Slice())
	for h, s := range y.ships.All() {
		fmt.Fprintf(&b, "ship %x %v %v\n", h.ID(), *s, y.items.Slice(s.Cargo))
	}
	for _, h := range y.fleetHandles {
		fmt.Fprint(&b, y.ships.Valid(h), " ")
	}
	fmt.Fprintln(&b, y.items.Len())
	for l, s := range y.items.All() {
		fmt.Fprintln(&b, "list", l, len(s))
	}
	for h, s := range y.plain.All() {
		fmt.Fprintf(&b, "plain %x %v\n", h.ID(), *s)
	}
	for _, h := range y.plainHandles {
		fmt.Fprint(&b, y.plain.Valid(h), " ")
	}
	fmt.Fprintln(&b)
	for h, s := range y.dense.All() {
		fmt.Fprintf(&b, "dense %x %v\n", h.ID(), *s)
	}
	fmt.Fprintln(&b, y.dense.Slice())
	for _, h := range y.denseHandles {
		fmt.Fprint(&b, y.dense.Index(h), " ")
	}
	for h := range y.marks.All() {
		fmt.Fprintf(&b, "mark %x ", h.ID())
	}
	fmt.Fprintln(&b)
	for row := range y.table.Len() {
		fmt.Fprintln(&b, "row", *y.age.At(row), *y.x.At(row), *y.place.At(row))
	}
	for k, v := range y.byOwner.All() {
		fmt.Fprintln(&b, "owner", k, v.ID())
	}
	for k, v := range y.bySpeed.All() {
		fmt.Fprintln(&b, "speed", k, v.ID())
	}
	for k, v := range y.words.All() {
		fmt.Fprintln(&b, "word", k, v)
	}
	for k := range uint16(100) {
		fmt.Fprintln(&b, k, slices.Collect(y.words.Values(k)))
	}
	for k, v := range y.scores.All() {
		fmt.Fprintln(&b, "score", k, v)
	}
	var pairs []string
	for k, v := range y.boxes.All() { // the order depends on a random hash seed
		pairs = append(pairs, fmt.Sprint("box ", k, v))
	}
	slices.Sort(pairs)
	fmt.Fprintln(&b, strings.Join(pairs, "\n"))
	return b.String()
}

func saveYard(t *testing.T, y *yard) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := store.Save(y.w, &b, y.options()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// saveReproducible saves everything except the container boxes, whose order depends on a random hash seed.
func (y *yard) saveReproducible(t *testing.T) []byte {
	t.Helper()
	o := y.options()
	delete(o.Containers, "boxes")
	var b bytes.Buffer
	if err := store.Save(y.w, &b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (y *yard) copyHandles(other *yard) {
	y.fleetHandles, y.denseHandles = slices.Clone(other.fleetHandles), slices.Clone(other.denseHandles)
	y.markHandles, y.plainHandles = slices.Clone(other.markHandles), slices.Clone(other.plainHandles)
}

func TestContainersRunSaveLoadRun(t *testing.T) {
	seeds := uint64(longtest.Pick(2, 12))
	for seed := range seeds {
		layout := bulk.Layout(seed % 4)
		a := newYard(t, yardOptions{layout: layout, capacity: 1 << (17 + seed%5*2)})
		a.live(seed, 1500)
		file := saveYard(t, a)
		b := newYard(t, yardOptions{layout: bulk.Layout(seed / 2 % 4), capacity: 1 << (17 + (seed+2)%5*2)})
		report, err := store.Load(b.w, bytes.NewReader(file), b.options())
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(report.Dropped)+len(report.Added)+len(report.Converted) > 0 {
			t.Fatalf("seed %d: %+v", seed, *report)
		}
		b.copyHandles(a)
		for round := range uint64(3) {
			if x, y := a.dump(), b.dump(); x != y {
				t.Fatalf("seed %d, round %d: the containers differ:\n%s", seed, round, difference(x, y))
			}
			if equalBytes && !bytes.Equal(a.saveReproducible(t), b.saveReproducible(t)) {
				t.Fatalf("seed %d, round %d: two yards in the same state give different bytes", seed, round)
			}
			a.live(seed*100+round, 800)
			b.live(seed*100+round, 800)
		}
	}
}

func TestContainersDamage(t *testing.T) {
	n := newYard(t, yardOptions{})
	n.live(3, 300)
	file := saveYard(t, n)
	tries := longtest.Pick(20, 150)
	for i := range tries {
		at := len(file) * i / tries
		damaged := bytes.Clone(file)
		damaged[at] ^= 1 << (at % 8)
		for _, f := range [][]byte{damaged, file[:at]} {
			y := makeYard(yardOptions{layout: bulk.Layout(i % 4)})
			if _, err := store.Load(y.w, bytes.NewReader(f), y.options()); err == nil {
				t.Fatalf("byte %d of %d: no error", at, len(file))
			}
			y.mustBeEmpty(t)
			if i%8 == 0 {
				if err := y.w.Close(); err != nil {
					t.Error(err)
				}
				y.w = vast.NewWorld(vast.Options{Name: "yard", MaxEntities: 1 << 12})
				y.cargo = vast.NewColumn[bulk.Handle[ship]](y.w).Named("cargo")
				if i%16 == 0 { // the containers can be loaded again
					if _, err := store.Load(y.w, bytes.NewReader(file), y.options()); err != nil {
						t.Fatal(err)
					}
					y.copyHandles(n)
					if a, b := n.dump(), y.dump(); a != b {
						t.Fatalf("byte %d: %s", at, difference(a, b))
					}
				}
				y.live(uint64(i), 200)
			}
			y.close(t)
		}
	}
}

func (y *yard) mustBeEmpty(t *testing.T) {
	t.Helper()
	for i, c := range []interface{ Len() int }{y.stones, y.ships, y.byOwner, y.bySpeed, y.items, y.plain,
		y.dense, y.marks, y.table, y.words, y.boxes, y.scores} {
		if c.Len() != 0 {
			t.Fatalf("container %d, a %T, has %d elements, want none", i, c, c.Len())
		}
	}
}

func TestContainersRefused(t *testing.T) {
	shared := made(bulk.NewSharedPool[stone](bulk.Options{Capacity: 100}))
	defer shared.Close()
	pool := made(bulk.NewPool[stone](bulk.Options{Capacity: 100}))
	defer pool.Close()
	for says, containers := range map[string]map[string]any{
		"a *bulk.SharedPool[github.com/vastgo/vast/store_test.stone] cannot be saved: give the pointer to": {
			"x": shared},
		"a map[int]int cannot be saved": {"x": map[int]int{}},
		"a <nil> cannot be saved":       {"x": nil},
		"is nil: make it first":         {"x": (*bulk.Pool[stone])(nil)},
		`the name "" of a container`:    {"": pool},
		`the name "cargo" of a container is empty, or a column has this name: give`: {"cargo": pool},
		`"a" and "b" are the same`: {"a": pool, "b": bulk.NewIndexed(pool)},
	} {
		y := newYard(t, yardOptions{})
		o := store.Options{Containers: containers}
		err := store.Save(y.w, new(bytes.Buffer), o)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Save: %v, want %s", err, says)
		}
		file := saveYard(t, y)
		_, err = store.Load(y.w, bytes.NewReader(file), o)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("Load: %v, want %s", err, says)
		}
	}
	n := newYard(t, yardOptions{})
	n.live(1, 300)
	file := saveYard(t, n)
	for name, use := range map[string]func(y *yard){
		"stones": func(y *yard) { y.stones.Append(stone{}) },
		"fleet":  func(y *yard) { h, _ := y.fleet.Insert(ship{}); y.fleet.Remove(h) },
		"items":  func(y *yard) { var l bulk.List[item]; y.items.Append(&l, item{}); y.items.Free(&l) },
		"plain":  func(y *yard) { h, _ := y.plain.Insert(stone{}); y.plain.Remove(h) },
		"dense":  func(y *yard) { h, _ := y.dense.Insert(stone{}); y.dense.Remove(h) },
		"table":  func(y *yard) { y.table.Append() },
		"words":  func(y *yard) { y.words.Add(1, 2) },
		"scores": func(y *yard) { y.scores.Add(1, 2) },
	} {
		y := newYard(t, yardOptions{})
		use(y)
		before := y.dump()
		_, err := store.Load(y.w, bytes.NewReader(file), y.options())
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("container %q: bulk.", name)) ||
			!strings.Contains(err.Error(), "has or had elements: load into a new container") {
			t.Errorf("%s: %v", name, err)
		}
		if after := y.dump(); before != after {
			t.Errorf("%s: Load returns an error and changes the containers: %s", name,
				difference(before, after))
		}
		y.live(5, 50)
	}
	y := newYard(t, yardOptions{})
	o := y.options()
	o.Containers["plain"], o.Containers["dense"] = o.Containers["dense"], o.Containers["plain"]
	says := `"dense" is of the kind "dense" in the file and "pool" in the program`
	_, err := store.Load(y.w, bytes.NewReader(file), o)
	if err == nil || !strings.Contains(err.Error(), says) {
		t.Error(err)
	}
}

func TestContainersByName(t *testing.T) {
	n := newYard(t, yardOptions{})
	n.live(2, 500)
	file := saveYard(t, n)
	y := newYard(t, yardOptions{})
	if err := cmp.Or(y.stones.Grow(10), y.plain.Grow(500), y.dense.Grow(3), y.table.Grow(9),
		y.words.Grow(900), y.boxes.Grow(5), y.scores.Grow(7), y.fleet.Grow(8)); err != nil {
		t.Fatal(err)
	}
	other := made(bulk.NewArray[int](bulk.Options{Capacity: 100}))
	defer other.Close()
	o := y.options()
	delete(o.Containers, "words")
	delete(o.Containers, "stones")
	o.Containers["rocks"], o.Containers["other"] = y.stones, other
	o.Renamed = map[string]string{"stones": "rocks"}
	report, err := store.Load(y.w, bytes.NewReader(file), o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(report.Dropped, []string{"words"}) || !slices.Equal(report.Added, []string{"other"}) {
		t.Errorf("%+v", *report)
	}
	if y.words.Len() != 0 || other.Len() != 0 || !slices.Equal(y.stones.Slice(), n.stones.Slice()) {
		t.Error(y.words.Len(), other.Len(), y.stones.Len(), n.stones.Len())
	}
	without := newYard(t, yardOptions{})
	if report, err = store.Load(without.w, bytes.NewReader(file), store.Options{}); err != nil ||
		len(report.Dropped) != 10 {
		t.Errorf("%+v %v", report, err)
	}
	without.mustBeEmpty(t)
}

func FuzzLoadContainers(f *testing.F) {
	f.Add(uint8(0), []byte{})
	f.Add(uint8(1), []byte{1, 2, 3, 4, 200, 3, 4, 1})
	files := make(map[uint8][]byte)
	f.Fuzz(func(t *testing.T, seed uint8, patches []byte) {
		seed %= 4
		if files[seed] == nil {
			n := makeYard(yardOptions{})
			n.live(uint64(seed), 60)
			files[seed] = saveYard(t, n)
			n.close(t)
		}
		y := makeYard(yardOptions{layout: bulk.Layout(seed)})
		defer y.close(t)
		if _, err := store.Load(y.w, bytes.NewReader(forge(files[seed], patches)), y.options()); err != nil {
			y.mustBeEmpty(t)
			return
		}
		for h := range y.ships.All() {
			y.fleetHandles = append(y.fleetHandles, h)
		}
		for h := range y.plain.All() {
			y.plainHandles = append(y.plainHandles, h)
		}
		for h := range y.dense.All() {
			y.denseHandles = append(y.denseHandles, h)
		}
		for _, s := range y.ships.All() {
			if !y.items.Valid(s.Cargo) {
				s.Cargo = bulk.List[item]{} // the program must check Lists, because Load does not
			}
		}
		y.dump()
		y.live(uint64(seed), 60)
		if err := store.Save(y.w, new(bytes.Buffer), y.options()); err != nil {
			t.Error(err)
		}
	})
}
