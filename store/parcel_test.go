package store_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/store"
	"github.com/vastgo/vast/vm"
)

func packer(t testing.TB, w *vast.World, o store.Options) *store.Packer {
	t.Helper()
	p, err := store.NewPacker(w, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func pack(t testing.TB, p *store.Packer, roots ...vast.Entity) []byte {
	t.Helper()
	b, err := p.Pack(nil, roots)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func unpack(t testing.TB, p *store.Packer, parcel []byte) []vast.Entity {
	t.Helper()
	roots, err := p.Unpack(parcel)
	if err != nil {
		t.Fatal(err)
	}
	return roots
}

func (n *town) nameAll(t *testing.T) {
	t.Helper()
	for i, e := range slices.Collect(n.w.Query().All()) {
		if _, err := n.names.Set(e, fmt.Sprint("number ", i)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestParcelRoundTrip(t *testing.T) {
	for seed := range uint64(8) {
		a, b := newTown(t, false), newTown(t, seed%2 == 0)
		b.live(seed+100, 300)
		b.w.DeleteAll(b.w.Query().Without(b.awake))
		b.w.DeleteAll(b.w.Query())
		a.live(seed, 2500)
		a.nameAll(t)
		from, to := packer(t, a.w, store.Options{}), packer(t, b.w, store.Options{})
		if from.Schema() != to.Schema() {
			t.Fatalf("seed %d: the schemas differ:\n%s\n%s", seed, from.Schema(), to.Schema())
		}
		roots := slices.Collect(a.w.Query().All())
		parcel := pack(t, from, roots...)
		made := unpack(t, to, parcel)
		if x, y := a.named(), b.named(); x != y || len(made) != len(roots) || len(made) < 100 {
			t.Fatalf("seed %d: Pack got %d roots and Unpack returned %d, or the worlds differ: %s", seed,
				len(roots), len(made), difference(x, y))
		}
		for i, e := range made {
			x, _ := a.names.Of(roots[i])
			if y, _ := b.names.Of(e); x != y {
				t.Fatalf("seed %d: root %d is %q, want %q", seed, i, y, x)
			}
		}
		if again := pack(t, to, made...); !bytes.Equal(again, parcel) {
			t.Fatalf("seed %d: the unpacked entities give another parcel, with %d bytes instead of %d",
				seed, len(again), len(parcel))
		}
		load(t, newTown(t, true), save(t, b, store.Options{}), store.Options{}) // Load checks all invariants
		b.order = slices.Clone(made)
		b.live(seed, 500)
	}
}

func TestParcelOfSubtree(t *testing.T) {
	a, b := newTown(t, false), newTown(t, true)
	b.walkers.NewN(100, nil)
	ship, cabin, sailor, shore := a.walkers.New(), a.carriers.New(), a.carriers.New(), a.walkers.New()
	gone := a.walkers.New()
	a.w.Delete(gone)
	a.childOf.Set(sailor, cabin)
	a.childOf.Set(cabin, ship)
	*a.burden.Get(cabin) = burden{Of: sailor, Weight: [3]uint32{7, 8, 9}}
	*a.burden.Get(sailor) = burden{Of: gone}
	a.diary.Add(sailor, diary{Title: "log", Seen: map[vast.Entity]int{ship: 3, gone: 4, {}: 5}})
	a.aimsAt.Set(cabin, cabin)
	a.aimsAt.Set(shore, ship)
	a.roads.Add(sailor, ship, 12)
	a.roads.Add(shore, ship, 13)
	a.position.Set(ship, position{1, 2})
	parcel := pack(t, packer(t, a.w, store.Options{}), ship)
	made := unpack(t, packer(t, b.w, store.Options{}), parcel)
	if len(made) != 1 || b.w.Len() != 103 || a.w.Len() != 4 {
		t.Fatalf("%d roots were made, and the worlds have %d and %d entities; want 1, and 4 and 103",
			len(made), a.w.Len(), b.w.Len())
	}
	ship = made[0]
	cabins := slices.Collect(b.childOf.Sources(ship))
	if len(cabins) != 1 {
		t.Fatalf("the ship has the sources %v, want one cabin", cabins)
	}
	cabin = cabins[0]
	sailor = slices.Collect(b.childOf.Sources(cabin))[0]
	if *b.burden.Get(cabin) != (burden{sailor, [3]uint32{7, 8, 9}}) || !b.burden.Get(sailor).Of.IsZero() {
		t.Errorf("the cabin has %+v, and the sailor has %+v", *b.burden.Get(cabin), *b.burden.Get(sailor))
	}
	want := diary{Title: "log", Seen: map[vast.Entity]int{ship: 3, {}: 5}}
	if got := b.diary.Get(sailor); !reflect.DeepEqual(*got, want) {
		t.Errorf("the diary is %+v, want %+v", *got, want)
	}
	if target, _ := b.aimsAt.Target(cabin); target != cabin || b.aimsAt.Len() != 1 {
		t.Errorf("the cabin aims at %v, want itself; aimsAt has %d links, want 1", target, b.aimsAt.Len())
	}
	if p := b.roads.Get(sailor, ship); p == nil || *p != 12 || b.roads.Len() != 1 {
		t.Errorf("the world has %d roads, want one of length 12 from the sailor to the ship", b.roads.Len())
	}
	if *b.position.Get(ship) != (position{1, 2}) || !b.awake.Has(cabin) || b.age.Has(cabin) {
		t.Errorf("the ship is at %v, or the components of the cabin differ", *b.position.Get(ship))
	}
}

// TestParcelKeepsOrders packs three roots. The first two are descendants of the last.
func TestParcelKeepsOrders(t *testing.T) {
	a, b := newTown(t, false), newTown(t, true)
	var e []vast.Entity
	for i := range 6 {
		if i%2 == 0 {
			e = append(e, a.walkers.New())
		} else {
			e = append(e, a.carriers.New())
		}
	}
	for _, source := range []int{4, 1, 3, 2} {
		a.childOf.Set(e[source], e[0])
	}
	a.childOf.Set(e[5], e[4])
	for _, source := range []int{5, 0, 3} {
		a.aimsAt.Set(e[source], e[5])
	}
	for _, ends := range [][2]int{{3, 1}, {1, 2}, {3, 2}, {1, 1}, {0, 2}, {3, 0}} {
		a.roads.Add(e[ends[0]], e[ends[1]], uint16(10*ends[0]+ends[1]))
	}
	a.nameAll(t)
	parcel := pack(t, packer(t, a.w, store.Options{}), e[5], e[2], e[0])
	made := unpack(t, packer(t, b.w, store.Options{}), parcel)
	if x, y := a.named(), b.named(); x != y {
		t.Error(difference(x, y))
	}
	if len(made) != 3 {
		t.Fatalf("Unpack returned the roots %v, want 3 roots", made)
	}
	for i, want := range []vast.Entity{e[5], e[2], e[0]} {
		x, _ := a.names.Of(want)
		if y, _ := b.names.Of(made[i]); x != y {
			t.Errorf("root %d is %s, want %s", i, y, x)
		}
	}
}

func TestPackErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(n *town, in, out vast.Entity)
		says   string
	}{
		"reference": {func(n *town, in, out vast.Entity) { n.burden.Get(in).Of = out },
			"entity 64.1: burden.Of refers to entity 0.1, which lives outside of the parcel: pack it, too, " +
				"or store an ID of your own in the component instead of the Entity"},
		"in a map": {func(n *town, in, out vast.Entity) {
			n.diary.Add(in, diary{Seen: map[vast.Entity]int{out: 1}})
		}, "entity 64.1: diary refers to entity 0.1, which lives outside"},
		"relation": {func(n *town, in, out vast.Entity) { n.childOf.Set(in, out) },
			"entity 64.1: the link in childOf leads to entity 0.1, which lives outside of the parcel: pack " +
				"it, too, or remove the link first"},
		"circles": {func(n *town, in, out vast.Entity) { n.aimsAt.Set(in, out) },
			"the link in aimsAt leads to"},
		"edges": {func(n *town, in, out vast.Entity) { n.roads.Add(in, out, 1) },
			"the link in roads leads to"},
		"stale": {func(n *town, in, _ vast.Entity) { n.w.Delete(in) },
			"the root 64.1 is not a living entity"},
		"commands": {func(n *town, in, out vast.Entity) {
			vast.NewCommands(n.w, vast.CommandsOptions{}).New(n.walkers)
		}, "commands have been recorded and not applied"},
	} {
		n := newTown(t, false)
		out, in := n.walkers.New(), n.carriers.New()
		p := packer(t, n.w, store.Options{})
		tt.change(n, in, out)
		b, err := p.Pack([]byte("before"), []vast.Entity{in})
		mustSay(t, err, `store: packing entities of world "town": `)
		mustSay(t, err, tt.says)
		if string(b) != "before" {
			t.Errorf("%s: Pack returned %q with the error, want dst unchanged", name, b)
		}
		if name == "reference" { // the failed call does not affect the next call
			unpack(t, packer(t, newTown(t, false).w, store.Options{}), pack(t, p, out, in))
		}
	}
	n := newTown(t, false)
	e := n.walkers.New()
	_, err := packer(t, n.w, store.Options{}).Pack(nil, []vast.Entity{e, e})
	mustSay(t, err, "entity 0.1 comes twice among the roots")
}

func TestNewPackerErrors(t *testing.T) {
	w := world(t)
	vast.NewHeapColumn[struct{ P *int }](w).Named("pointer")
	_, err := store.NewPacker(w, store.Options{})
	mustSay(t, err, "pointer.P is a ptr, which cannot be saved")
	twins := world(t)
	vast.NewColumn[uint8](twins).Named("x")
	vast.NewColumn[uint16](twins).Named("x")
	_, err = store.NewPacker(twins, store.Options{})
	mustSay(t, err, `two columns have the name "x"`)
	late := world(t)
	p := packer(t, late, store.Options{})
	vast.NewTag(late, "late")
	defer func() {
		mustSay(t, fmt.Errorf("%v", recover()), `store.Packer.Pack: world "world" has 1 columns, and had 0 `+
			"when the Packer was made: make the Packer after the last column")
	}()
	_, _ = p.Pack(nil, nil)
}

func TestParcelBytes(t *testing.T) {
	type small struct {
		A uint8
		B uint64
		_ uint32
		C bool
	}
	w := world(t)
	x, y := vast.NewColumn[position](w), vast.NewColumn[[3]uint64](w).Named("y")
	z := vast.NewColumn[small](w)
	r := vast.NewRelation(w, "r", vast.RelationOptions{})
	var roots []vast.Entity
	w.Archetype(x, y).NewN(16, func(run vast.Run) {
		for _, e := range run.All() {
			roots = append(roots, e)
		}
	})
	p := packer(t, w, store.Options{})
	if n := len(pack(t, p, roots...)); n > 16*40*13/10 {
		t.Errorf("the parcel has %d bytes for 16 entities with 40 bytes each", n)
	}
	for _, e := range roots[1:] {
		r.Set(e, roots[0])
	}
	if n := len(pack(t, p, roots[0])); n > 16*40*13/10 {
		t.Errorf("the parcel has %d bytes for 16 entities with 40 bytes and a link each", n)
	}
	e, f := w.Archetype(z).New(), w.Archetype(z).New()
	for i, s := range []*small{z.Get(e), z.Get(f)} {
		for k := range unsafe.Sizeof(small{}) { // the padding of the two components differs
			*(*byte)(unsafe.Add(unsafe.Pointer(s), k)) = byte(i + 1)
		}
		s.A, s.B, s.C = 5, 6, true
	}
	if a, b := pack(t, p, e), pack(t, p, f); !bytes.Equal(a, b) || len(a) > 30 {
		t.Errorf("the parcels %x\nand %x\ndiffer, or are too long", a, b)
	}
}

type loadV3 struct {
	Mass  int64
	Extra uint16
	Parts [2]struct{ Y, Z int32 }
	Of    [2]vast.Entity
}

type loadOld struct {
	Gone   float64
	Weight int16
	Parts  [1]struct{ X int32 }
	Of     [1]vast.Entity
}

type note struct {
	Text  string
	Count int64
	To    []vast.Entity
}

type noteOld struct {
	Body  string
	Count int8
	To    []vast.Entity
	Old   map[string]int
}

type versions struct {
	old   *vast.World
	load  vast.Column[loadOld]
	notes vast.HeapColumn[noteOld]
	roads vast.Edges[int8]

	now   *vast.World
	body  vast.SparseColumn[loadV3]
	later vast.HeapColumn[note]
	ways  vast.Edges[int32]
}

func newVersions(t *testing.T) *versions {
	v := &versions{old: world(t), now: world(t)}
	v.load = vast.NewColumn[loadOld](v.old).Named("Load")
	v.notes = vast.NewHeapColumn[noteOld](v.old).Named("note")
	v.roads = vast.NewEdges[int8](v.old, "roads", vast.EdgesOptions{})
	vast.NewTag(v.old, "gone")
	vast.NewRelation(v.old, "under", vast.RelationOptions{})
	vast.NewHeapColumn[[]string](v.old).Named("dropped")
	v.ways = vast.NewEdges[int32](v.now, "ways", vast.EdgesOptions{})
	v.later, v.body = vast.NewHeapColumn[note](v.now), vast.NewSparseColumn[loadV3](v.now).Named("Body")
	vast.NewTag(v.now, "new")
	return v
}

func TestAcceptSchemaOfOtherVersion(t *testing.T) {
	v := newVersions(t)
	o := store.Options{Renamed: map[string]string{"Load": "Body", "Body.Weight": "Body.Mass",
		"Body.Parts[].X": "Body.Parts[].Y", "note.Body": "note.Text", "roads": "ways"}}
	from, to := packer(t, v.old, store.Options{}), packer(t, v.now, o)
	e, f := v.old.Archetype(v.load, v.notes).New(), v.old.Archetype(v.load).New()
	v.load.Set(e, loadOld{1.5, -3, [1]struct{ X int32 }{{4}}, [1]vast.Entity{f}})
	v.notes.Set(e, noteOld{"hello", -5, []vast.Entity{e, f, {}}, map[string]int{"a": 1}})
	v.roads.Add(f, e, -7)
	parcel := pack(t, from, e, f)
	_, err := to.Unpack(parcel)
	mustSay(t, err, "the parcel has a schema with the mark")
	mustSay(t, err, "give this schema to Packer.Accept")
	report, err := to.Accept(from.Schema())
	if err != nil {
		t.Fatal(err)
	}
	want := store.Report{
		Dropped: []string{"Body.Gone", "dropped", "gone", "note.Old", "under"},
		Added:   []string{"Body.Extra", "Body.Parts[].Z", "new"},
		Converted: []string{"Body.Mass from int16 to int64", "note.Count from int8 to int64",
			"ways from int8 to int32"},
	}
	for _, list := range []*[]string{&report.Dropped, &report.Added, &report.Converted} {
		slices.Sort(*list)
	}
	if !reflect.DeepEqual(*report, want) {
		t.Errorf("%+v\nwant\n%+v", *report, want)
	}
	made := unpack(t, to, parcel)
	e, f = made[0], made[1]
	wantBody := loadV3{Mass: -3, Of: [2]vast.Entity{f}}
	wantBody.Parts[0].Y = 4
	if got := *v.body.Get(e); got != wantBody || v.body.Len() != 2 {
		t.Errorf("%+v", got)
	}
	if got := *v.later.Get(e); !reflect.DeepEqual(got, note{"hello", -5, []vast.Entity{e, f, {}}}) {
		t.Errorf("%+v", got)
	}
	if p := v.ways.Get(f, e); p == nil || *p != -7 {
		t.Error(p)
	}
	if report, err := to.Accept(to.Schema()); err != nil || !reflect.DeepEqual(*report, store.Report{}) {
		t.Error(report, err)
	}
	made = unpack(t, to, pack(t, to, made...)) // the Packer still unpacks its own parcels
	if v.body.Get(made[0]).Mass != -3 || v.now.Len() != 4 {
		t.Error(*v.body.Get(made[0]))
	}
	// The old program cannot accept the new schema: an array of 2 elements does not fit into an array of 1.
	back := packer(t, v.old, store.Options{Renamed: map[string]string{"Body": "Load",
		"Load.Mass": "Load.Weight", "Load.Parts[].Y": "Load.Parts[].X", "note.Text": "note.Body",
		"ways": "roads"}})
	_, err = back.Accept(to.Schema())
	mustSay(t, err, "Load.Parts has 2 elements in the saved data and 1 in the program")
}

func TestUnpackTooLargeNumber(t *testing.T) {
	old, now := world(t), world(t)
	wide, narrow := vast.NewColumn[[2]uint32](old).Named("x"), vast.NewColumn[[2]uint8](now).Named("x")
	from, to := packer(t, old, store.Options{}), packer(t, now, store.Options{})
	if _, err := to.Accept(from.Schema()); err != nil {
		t.Fatal(err)
	}
	e := old.Archetype(wide).New()
	wide.Set(e, [2]uint32{3, 255})
	if made := unpack(t, to, pack(t, from, e)); *narrow.Get(made[0]) != [2]uint8{3, 255} {
		t.Error(*narrow.Get(made[0]))
	}
	wide.Set(e, [2]uint32{3, 256})
	_, err := to.Unpack(pack(t, from, e))
	mustSay(t, err, "x[] is 256 in the saved data, which a uint8 cannot hold")
	if now.Len() != 1 {
		t.Error(now.Len())
	}

	old, now = world(t), world(t)
	signed, unsigned := vast.NewColumn[int64](old).Named("x"), vast.NewColumn[uint64](old).Named("y")
	vast.NewColumn[int8](now).Named("x")
	vast.NewColumn[int64](now).Named("y")
	from, to = packer(t, old, store.Options{}), packer(t, now, store.Options{})
	if _, err := to.Accept(from.Schema()); err != nil {
		t.Fatal(err)
	}
	e = old.Archetype(signed).New()
	signed.Set(e, -129)
	_, err = to.Unpack(pack(t, from, e))
	mustSay(t, err, "x is -129 in the saved data, which a int8 cannot hold")
	e = old.Archetype(unsigned).New()
	unsigned.Set(e, 1<<63)
	_, err = to.Unpack(pack(t, from, e))
	mustSay(t, err, "y is 9223372036854775808 in the saved data, which a int64 cannot hold")
}

func TestAcceptErrors(t *testing.T) {
	n := newTown(t, false)
	p := packer(t, n.w, store.Options{})
	column := func(c string) string { return `{"parcel":1,"columns":[` + c + `]}` }
	value := func(typ string) string { return column(`{"name":"a","form":"value","type":` + typ + `}`) }
	for text, says := range map[string]string{
		"":                                    "unexpected end of JSON input",
		`{"parcel":2}`:                        "the schema has version 2, and this program reads version 1",
		column(`{"name":"a"}`):                `column a: the form "" is unknown, or must not have a type`,
		column(`{"name":"a","form":"value"}`): "column a: the description of a type is incomplete",

		column(`{"name":"a","form":"tag","type":{"kind":"bool","size":1}}`): `the form "tag" is`,
		column(`{"name":"b","form":"tag"},{"name":"a","form":"tag"}`):       "not in the order of",
		column(`{"name":"a","form":"tag"},{"name":"a","form":"tag"}`):       "not in the order of",

		value(`{"kind":"string"}`):                       `the kind "string" of 0 bytes is unknown`,
		value(`{"kind":"int","size":4}`):                 "the type is not portable",
		value(`{"kind":"struct","size":9}`):              "the type is not portable",
		value(`{"kind":"array","elem":{"fields":[{}]}}`): "the type is not portable",

		column(`{"name":"age","form":"tag"}`): `column age has the form "tag" in the schema and "value" in ` +
			"the program: keep the storage, or give the new column another name",
		column(`{"name":"burden","form":"value","type":{"kind":"struct","size":1,"fields":[{"name":"Of",` +
			`"offset":0,"type":{"kind":"int8","size":1}}]}}`): "burden.Of is int8 in the saved data and vast",
	} {
		_, err := p.Accept(text)
		mustSay(t, err, says)
		mustSay(t, err, `store: accepting a schema for world "town": `)
	}
	renamed := packer(t, n.w, store.Options{Renamed: map[string]string{"a": "awake"}})
	_, err := renamed.Accept(column(`{"name":"a","form":"tag"},{"name":"awake","form":"tag"}`))
	mustSay(t, err, `two columns of the schema are "awake" in the program`)
}

// seal corrects the checksum of a parcel.
func seal(parcel []byte) []byte {
	if len(parcel) >= 4 {
		table, end := crc32.MakeTable(crc32.Castagnoli), len(parcel)-4
		binary.LittleEndian.PutUint32(parcel[end:], crc32.Checksum(parcel[:end], table))
	}
	return parcel
}

// TestUnpackDamagedParcel damages parcels, at first without and then with a corrected checksum. With a
// corrected checksum, Unpack need not notice the damage.
func TestUnpackDamagedParcel(t *testing.T) {
	a, b := newTown(t, false), newTown(t, true)
	a.live(3, 150)
	b.live(4, 50)
	parcel := pack(t, packer(t, a.w, store.Options{}), slices.Collect(a.w.Query().All())...)
	p := packer(t, b.w, store.Options{})
	before := b.dump()
	step := len(parcel)/400 + 1
	for i := 0; i < len(parcel); i += step {
		damaged := slices.Clone(parcel)
		damaged[i] ^= 1 << (i % 8)
		for _, one := range [][]byte{damaged, parcel[:i]} {
			if made, err := p.Unpack(one); err == nil {
				t.Fatalf("byte %d: Unpack returned %d roots and no error", i, len(made))
			}
		}
	}
	if _, err := p.Unpack(append(slices.Clone(parcel), 0)); err == nil {
		t.Error("Unpack returned no error for a parcel with an added byte")
	}
	if now := b.dump(); now != before {
		t.Fatal(difference(before, now))
	}
	refused := 0
	for i := 0; i < len(parcel); i += step {
		damaged := slices.Clone(parcel)
		damaged[i] ^= 1 << (i % 8)
		for _, one := range [][]byte{seal(damaged), seal(slices.Clone(parcel[:i]))} {
			n := b.w.Len()
			if _, err := p.Unpack(one); err == nil {
				b.w.Reset()
			} else if refused++; b.w.Len() != n {
				t.Fatalf("byte %d: after the error %v, the world has %d entities, want %d", i, err,
					b.w.Len(), n)
			}
		}
	}
	if refused < len(parcel)/step {
		t.Errorf("%d parcels were refused, want at least %d", refused, len(parcel)/step)
	}
	b.dump()
}

func TestFailedUnpackChangesNothing(t *testing.T) {
	type big struct{ Bytes [1 << 12]byte }
	type port struct {
		w     *vast.World
		x     vast.Column[big]
		y     vast.SparseColumn[big]
		r     vast.Relation
		roads vast.Edges[big]
		names *vast.Names
	}
	newPort := func(o vast.Options) *port {
		n := &port{w: vast.NewWorld(o)}
		t.Cleanup(func() { n.w.Close() })
		n.x, n.y = vast.NewColumn[big](n.w), vast.NewSparseColumn[big](n.w).Named("y")
		n.r = vast.NewRelation(n.w, "r", vast.RelationOptions{})
		n.roads = vast.NewEdges[big](n.w, "roads", vast.EdgesOptions{Capacity: 1 << 8})
		n.names = n.w.Names()
		return n
	}
	from := newPort(vast.Options{MaxEntities: 1 << 12})
	plain, dense, sparse := from.w.Archetype(), from.w.Archetype(from.x), from.w.Archetype(from.y)
	var few, wide, many, linked []vast.Entity
	for i := range 200 {
		few = append(few, plain.New())
		wide = append(wide, dense.New(), sparse.New())
		linked = append(linked, plain.New())
		from.roads.Add(linked[i], linked[0], big{})
	}
	for range 2000 {
		many = append(many, plain.New())
	}
	if _, err := from.names.Set(few[7], "seven"); err != nil {
		t.Fatal(err)
	}
	p := packer(t, from.w, store.Options{})
	for name, tt := range map[string]struct {
		roots []vast.Entity
		limit int
		taken bool
	}{
		"slots": {append(slices.Clone(wide[:10]), many...), 16 << 20, false},
		"bytes": {append(slices.Clone(few), wide...), 1 << 20, false},
		"edges": {linked, 1 << 19, false},
		"name":  {few, 16 << 20, true},
	} {
		to := newPort(vast.Options{MaxEntities: 1 << 10, Limit: vm.NewLimit(tt.limit)})
		to.x.OnAdd(func(vast.Entity, *big) { t.Errorf("%s: a callback was called", name) })
		q := packer(t, to.w, store.Options{})
		if tt.taken {
			if _, err := to.names.Set(to.w.Archetype().New(), "seven"); err != nil {
				t.Fatal(err)
			}
		}
		before, changes := to.w.Len(), to.w.Changes()
		parcel := pack(t, p, tt.roots...)
		_, err := q.Unpack(parcel)
		var refused *vm.Error
		var taken *vast.NameTaken
		if tt.taken && !errors.As(err, &taken) || !tt.taken && !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
		if to.w.Len() != before || to.w.Changes() != changes || to.w.Slots() > 64 {
			t.Errorf("%s: %d new entities, %d changes, %d slots; want 0, 0, and at most 64", name,
				to.w.Len()-before, to.w.Changes()-changes, to.w.Slots())
		}
		to.w.Archetype().New()
	}
}

func TestUnpackCallbacks(t *testing.T) {
	a, n := newTown(t, false), newTown(t, false)
	e, f := a.carriers.New(), a.carriers.New()
	*a.burden.Get(e) = burden{Of: f, Weight: [3]uint32{1}}
	a.childOf.Set(e, f)
	a.position.Set(f, position{3, 0})
	parcel := pack(t, packer(t, a.w, store.Options{}), e, f)
	n.tracker.Next()
	var added []string
	n.burden.OnAdd(func(e vast.Entity, b *burden) {
		added = append(added, fmt.Sprint(b.Weight[0], n.w.Alive(b.Of), n.childOf.Has(e)))
	})
	n.childOf.OnAdd(func(source, target vast.Entity) {
		added = append(added, fmt.Sprint("child of ", n.position.Get(target).X))
	})
	p := packer(t, n.w, store.Options{})
	made := unpack(t, p, parcel)
	if !slices.Equal(added, []string{"1 true false", "0 false false", "child of 3"}) {
		t.Errorf("%q", added)
	}
	if got := slices.Collect(n.tracker.Added(n.burden)); !slices.Equal(got, made) {
		t.Error(got, made)
	}
	// A callback that panics leaves no entities.
	n.burden.OnAdd(func(vast.Entity, *burden) { panic("no") })
	func() {
		defer func() {
			if v := recover(); v != "no" {
				t.Error(v)
			}
		}()
		_, _ = p.Unpack(parcel)
	}()
	if n.w.Len() != 2 {
		t.Error(n.w.Len())
	}
	// Entities that had different archetypes may get the same archetype.
	u, v := world(t), world(t)
	x, y := vast.NewColumn[uint8](u).Named("x"), vast.NewColumn[uint16](u).Named("y")
	u.Archetype(x).NewN(100, nil)
	u.Archetype(x, y).New()
	roots := slices.Collect(u.Query().All())
	rx, ry := vast.NewColumn[uint8](v).Named("x"), vast.NewColumn[uint16](v).Named("y")
	v.Require(rx, ry)
	made = unpack(t, packer(t, v, store.Options{}), pack(t, packer(t, u, store.Options{}), roots...))
	if len(made) != 101 || ry.Len() != 101 || v.Archetype(rx).Len() != 101 {
		t.Error(len(made), ry.Len())
	}
}

func TestParcelSchema(t *testing.T) {
	type inner struct {
		A bool
		_ uint32
		B int
	}
	w := world(t)
	vast.NewHeapColumn[map[string]vast.Entity](w).Named("m")
	vast.NewSparseColumn[struct {
		E vast.Entity
		I [2]inner
	}](w).Named("a")
	vast.NewRelation(w, "r", vast.RelationOptions{})
	vast.NewEdges[struct{}](w, "e", vast.EdgesOptions{})
	vast.NewTag(w, "t")
	w.Names()
	const want = `{"parcel":1,"columns":[{"name":"Name","form":"names"},{"name":"a","form":"value","type":` +
		`{"kind":"struct","size":22,"fields":[{"name":"E","offset":0,"type":{"kind":"entity","size":4}},` +
		`{"name":"I","offset":4,"type":{"kind":"array","size":18,"len":2,"elem":{"kind":"struct","size":9,` +
		`"fields":[{"name":"A","offset":0,"type":{"kind":"bool","size":1}},{"name":"B","offset":1,"type":` +
		`{"kind":"int","size":8}}]}}}]}},{"name":"e","form":"edges","type":{"kind":"struct"}},` +
		`{"name":"m","form":"encoded","type":{"kind":"map","key":{"kind":"string"},` +
		`"elem":{"kind":"opaque"}}},` +
		`{"name":"r","form":"relation"},{"name":"t","form":"tag"}]}`
	if got := packer(t, w, store.Options{}).Schema(); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// TestTakeAndRefuse: Take takes entities that refuse each other's deletion, and returns an error if an entity
// that stays refuses a deletion.
func TestTakeAndRefuse(t *testing.T) {
	w := world(t)
	in := vast.NewRelation(w, "in", vast.RelationOptions{OnDelete: vast.Refuse})
	near := vast.NewRelation(w, "near", vast.RelationOptions{OnDelete: vast.Refuse, Cyclic: true})
	owes := vast.NewEdges[uint32](w, "owes", vast.EdgesOptions{OnDelete: vast.Refuse})
	var e []vast.Entity
	for range 6 {
		e = append(e, w.Archetype().New())
	}
	in.Set(e[1], e[0])
	in.Set(e[2], e[1])
	near.Set(e[2], e[0])
	near.Set(e[0], e[2])
	owes.Add(e[1], e[2], 7)
	p := packer(t, w, store.Options{})
	near.Set(e[4], e[1])
	_, err := p.Take(nil, e[:1])
	mustSay(t, err, "which the parcel lacks, links to it in near, which has vast.Refuse")
	near.Remove(e[4])
	owes.Add(e[5], e[2], 8)
	_, err = p.Take(nil, e[:1])
	mustSay(t, err, "which the parcel lacks, links to it in owes, which has vast.Refuse")
	if w.Len() != 6 {
		t.Errorf("%d entities are left after errors, want 6", w.Len())
	}
	owes.Remove(e[5], e[2])
	if _, err := p.Take(nil, e[:1]); err != nil || w.Len() != 3 {
		t.Errorf("Take returned the error %v and left %d entities, want 3", err, w.Len())
	}
}

func TestTake(t *testing.T) {
	w := vast.NewWorld(vast.Options{})
	defer w.Close()
	tag := vast.NewTag(w, "tag")
	in := vast.NewRelation(w, "in", vast.RelationOptions{})
	on := vast.NewRelation(w, "on", vast.RelationOptions{OnDelete: vast.Cascade})
	of := w.Archetype(tag)
	var e []vast.Entity
	for range 7 {
		e = append(e, of.New())
	}
	in.Set(e[1], e[0])
	in.Set(e[2], e[0])
	on.Set(e[3], e[1])
	in.Set(e[4], e[3])
	in.Set(e[5], e[6])
	p := packer(t, w, store.Options{})
	roots := p.Roots([]vast.Entity{e[4], e[5], e[1], e[2]})
	if !slices.Equal(roots, []vast.Entity{e[5], e[1], e[2]}) {
		t.Errorf("Roots returned %v", roots)
	}
	on.Set(e[6], e[5]) // entities 5 and 6 form a circle of two relations
	if roots := p.Roots([]vast.Entity{e[5], e[6]}); !slices.Equal(roots, []vast.Entity{e[6]}) {
		t.Errorf("Roots of a circle returned %v", roots)
	}
	on.Remove(e[6])
	// Entity 1 is in 0, which is not packed.
	if _, err := p.Take(nil, []vast.Entity{e[1]}); err == nil || w.Len() != 7 {
		t.Errorf("Take of entity 1 returned the error %v and left %d entities, want an error and 7", err,
			w.Len())
	}
	want := pack(t, p, e[0])
	got, err := p.Take(nil, []vast.Entity{e[0]})
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("Take returned the parcel %x and the error %v, want the parcel of Pack, %x", got, err, want)
	}
	if w.Len() != 2 || !w.Alive(e[5]) || !w.Alive(e[6]) {
		t.Errorf("Take left %d entities, want only the entities 5 and 6", w.Len())
	}
	unpack(t, p, got)
	if w.Len() != 7 {
		t.Errorf("the world has %d entities after Unpack, want 7", w.Len())
	}
}
