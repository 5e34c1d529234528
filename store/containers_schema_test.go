package store_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/vastgo/vast/bulk"
	"github.com/vastgo/vast/store"
)

func saveContainers(t *testing.T, containers map[string]any) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := store.Save(world(t), &b, store.Options{Containers: containers}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func loadContainers(t *testing.T, file []byte, o store.Options) *store.Report {
	t.Helper()
	report, err := store.Load(world(t), bytes.NewReader(file), o)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

var small = bulk.Options{Capacity: 1000}

// closing closes c when the test ends, and returns c.
func closing[C interface{ Close() error }](t *testing.T, c C) C {
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

type partV1 struct {
	Gone  int8
	Size  int16
	Depth float32
}

type partV2 struct {
	Depth float64
	Width int32
	New   uint8
}

func TestContainersOfAnotherType(t *testing.T) {
	array := closing(t, made(bulk.NewArray[partV1](small)))
	pool := closing(t, made(bulk.NewPool[partV1](small)))
	dense := closing(t, made(bulk.NewDense[partV1](small)))
	old, want := partV1{1, 2, 1.5}, partV2{Depth: 1.5, Width: 2}
	array.Append(old)
	hole, _ := pool.Insert(partV1{})
	h, _ := pool.Insert(old)
	pool.Remove(hole)
	other, _ := dense.Insert(partV1{})
	d, _ := dense.Insert(old)
	dense.Remove(other)
	file := saveContainers(t, map[string]any{"a": array, "p": pool, "d": dense})

	newArray := closing(t, made(bulk.NewArray[partV2](small)))
	newPool := closing(t, made(bulk.NewPool[partV2](small)))
	newDense := closing(t, made(bulk.NewDense[partV2](small)))
	report := loadContainers(t, file, store.Options{
		Containers: map[string]any{"a": newArray, "p": newPool, "d": newDense},
		Renamed:    map[string]string{"a.Size": "a.Width", "p.Size": "p.Width", "d.Size": "d.Width"}})
	if got := *newArray.At(0); got != want {
		t.Error(got)
	}
	if got := newPool.Get(bulk.HandleOf[partV2](h.ID())); got == nil || *got != want || newPool.Len() != 1 {
		t.Error(got, newPool.Len())
	}
	if got := newDense.Get(bulk.HandleOf[partV2](d.ID())); got == nil || *got != want || newDense.Len() != 1 {
		t.Error(got, newDense.Len())
	}
	again, _ := pool.Insert(old)
	next, _ := newPool.Insert(want)
	if next.ID() != again.ID() || newPool.Valid(bulk.HandleOf[partV2](hole.ID())) {
		t.Error(next, again)
	}
	if !slices.Contains(report.Dropped, "p.Gone") || !slices.Contains(report.Added, "d.New") ||
		!slices.Contains(report.Converted, "a.Depth from float32 to float64") {
		t.Errorf("%+v", *report)
	}

	wrong := closing(t, made(bulk.NewArray[string8](small)))
	_, err := store.Load(world(t), bytes.NewReader(file), store.Options{
		Containers: map[string]any{"a": wrong}})
	if err == nil || wrong.Len() != 0 ||
		!strings.Contains(err.Error(), "a is store_test.partV1 in the saved data and store_test.string8 in") {
		t.Error(err)
	}
}

type string8 [8]byte

func TestTableFields(t *testing.T) {
	for layout := range bulk.LayoutBlocksPage + 1 {
		a := closing(t, bulk.NewTable(bulk.TableOptions{Layout: layout}))
		age, speed := bulk.NewField[int16](a, "age"), bulk.NewField[float32](a, "speed")
		bulk.NewField[uint8](a, "gone")
		for i := range 1000 {
			row := a.Append()
			*age.At(row), *speed.At(row) = int16(i), float32(i)/2
		}
		file := saveContainers(t, map[string]any{"t": a})
		b := closing(t, bulk.NewTable(bulk.TableOptions{Layout: bulk.LayoutBlocksPage - layout}))
		mass := bulk.NewField[float64](b, "mass").Safe(7)
		velocity := bulk.NewField[float64](b, "velocity")
		days := bulk.NewField[int16](b, "age")
		report := loadContainers(t, file, store.Options{Containers: map[string]any{"t": b},
			Renamed: map[string]string{"t.speed": "t.velocity"}})
		if !slices.Equal(report.Dropped, []string{"t.gone"}) ||
			!slices.Equal(report.Added, []string{"t.mass"}) ||
			!slices.Equal(report.Converted, []string{"t.velocity from float32 to float64"}) {
			t.Errorf("%+v", *report)
		}
		if b.Len() != 1000 {
			t.Fatal(b.Len())
		}
		for row := range 1000 {
			if *days.At(row) != int16(row) || *velocity.At(row) != float64(row)/2 || *mass.At(row) != 7 {
				t.Fatal(layout, row, *days.At(row), *velocity.At(row), *mass.At(row))
			}
		}
		if row := b.Append(); *mass.At(row) != 7 || *days.At(row) != 0 {
			t.Error(row, *mass.At(row), *days.At(row))
		}
	}
}

func TestListsOfAnotherSize(t *testing.T) {
	type before struct{ A, B uint16 }
	type after struct{ B, A uint16 }
	type longer struct{ A, B, C uint16 }
	a := closing(t, made(bulk.NewLists[before](small)))
	var l bulk.List[before]
	for i := range uint16(500) {
		a.Append(&l, before{i, 1})
	}
	type owner struct{ List bulk.List[before] }
	owners := closing(t, made(bulk.NewArray[owner](small)))
	owners.Append(owner{l})
	file := saveContainers(t, map[string]any{"l": a, "o": owners})
	b := closing(t, made(bulk.NewLists[after](bulk.Options{Capacity: 1 << 22})))
	type newOwner struct{ List bulk.List[after] }
	newOwners := closing(t, made(bulk.NewArray[newOwner](small)))
	loadContainers(t, file, store.Options{Containers: map[string]any{"l": b, "o": newOwners}})
	s := b.Slice(newOwners.At(0).List)
	if len(s) != 500 || s[77] != (after{1, 77}) {
		t.Error(len(s))
	}
	for i := range uint16(100) {
		b.Append(&newOwners.At(0).List, after{2, i})
	}
	c := closing(t, made(bulk.NewLists[longer](small)))
	_, err := store.Load(world(t), bytes.NewReader(file), store.Options{Containers: map[string]any{"l": c}})
	if err == nil || !strings.Contains(err.Error(), "has 4 bytes in the file and 6 in the program") {
		t.Error(err)
	}
	tiny := closing(t, made(bulk.NewLists[before](bulk.Options{MaxBytes: 1 << 10})))
	_, err = store.Load(world(t), bytes.NewReader(file), store.Options{Containers: map[string]any{"l": tiny}})
	if err == nil || !strings.Contains(err.Error(), "raise Options.MaxBytes") {
		t.Error(err)
	}
}

func TestIndexKeysOfAnotherType(t *testing.T) {
	a := closing(t, made(bulk.NewHashIndex[int16, uint32](small)))
	o := closing(t, made(bulk.NewOrderedIndex[int16, uint32](small)))
	for i := range 300 {
		a.Add(int16(i%20-10), uint32(i))
		o.Add(int16(i%20-10), uint32(i))
	}
	file := saveContainers(t, map[string]any{"hash": a, "ordered": o})
	b := closing(t, made(bulk.NewHashIndex[int64, uint32](small)))
	p := closing(t, made(bulk.NewOrderedIndex[int64, uint32](small)))
	report := loadContainers(t, file, store.Options{Containers: map[string]any{"hash": b, "ordered": p}})
	if !slices.Contains(report.Converted, "hash.Key from int16 to int64") {
		t.Errorf("%+v", *report)
	}
	if b.Len() != 300 || p.Len() != 300 {
		t.Error(b.Len(), p.Len())
	}
	for k, v := range o.All() {
		if !b.Has(int64(k), v) || !p.Has(int64(k), v) {
			t.Error(k, v)
		}
	}
	wrong := closing(t, made(bulk.NewHashIndex[string8, uint32](small)))
	_, err := store.Load(world(t), bytes.NewReader(file), store.Options{
		Containers: map[string]any{"hash": wrong}})
	if err == nil ||
		!strings.Contains(err.Error(), "hash.Key is int16 in the saved data and store_test.string8 in") ||
		!strings.Contains(err.Error(), "add its pairs after Load") {
		t.Error(err)
	}
}

func TestIndicesFollowTheirPool(t *testing.T) {
	type shipV2 struct {
		Owner uint64
		Speed float32
		Cargo bulk.List[item]
	}
	pool := closing(t, made(bulk.NewPool[ship](small)))
	byOwner := closing(t, made(bulk.NewHashIndex[uint32, bulk.Handle[ship]](small)))
	fleet := bulk.NewIndexed(pool)
	if err := bulk.Attach(fleet, byOwner, func(s *ship) uint32 { return s.Owner }); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		fleet.Insert(ship{Owner: uint32(i % 9), Speed: float32(i)})
	}
	withIndex := saveContainers(t, map[string]any{"fleet": fleet})
	withoutIndex := saveContainers(t, map[string]any{"fleet": pool})
	for _, file := range [][]byte{withIndex, withoutIndex} {
		same := closing(t, made(bulk.NewPool[ship](small)))
		bySpeed := closing(t, made(bulk.NewHashIndex[uint32, bulk.Handle[ship]](small)))
		otherKey := bulk.NewIndexed(same)
		keyOf := func(s *ship) uint32 { return uint32(s.Speed) }
		if err := bulk.Attach(otherKey, bySpeed, keyOf); err != nil {
			t.Fatal(err)
		}
		loadContainers(t, file, store.Options{Containers: map[string]any{"fleet": otherKey}})
		wide := closing(t, made(bulk.NewPool[shipV2](small)))
		owners := closing(t, made(bulk.NewHashIndex[uint64, bulk.Handle[shipV2]](small)))
		speeds := closing(t, made(bulk.NewOrderedIndex[float32, bulk.Handle[shipV2]](small)))
		otherTypes := bulk.NewIndexed(wide)
		if err := bulk.Attach(otherTypes, owners, func(s *shipV2) uint64 { return s.Owner }); err != nil {
			t.Fatal(err)
		}
		if err := bulk.Attach(otherTypes, speeds, func(s *shipV2) float32 { return s.Speed }); err != nil {
			t.Fatal(err)
		}
		report := loadContainers(t, file, store.Options{Containers: map[string]any{"fleet": otherTypes}})
		if !slices.Equal(report.Converted, []string{"fleet.Owner from uint32 to uint64"}) {
			t.Errorf("%+v", *report)
		}
		if bySpeed.Len() != 200 || owners.Len() != 200 || speeds.Len() != 200 {
			t.Fatal(bySpeed.Len(), owners.Len(), speeds.Len())
		}
		for h, s := range same.All() {
			if !bySpeed.Has(uint32(s.Speed), h) {
				t.Fatal(h, *s)
			}
		}
		for h, s := range wide.All() {
			if !owners.Has(s.Owner, h) || !speeds.Has(s.Speed, h) {
				t.Fatal(h, *s)
			}
		}
	}
	alone := closing(t, made(bulk.NewPool[ship](small)))
	loadContainers(t, withIndex, store.Options{Containers: map[string]any{"fleet": alone}})
	if alone.Len() != 200 {
		t.Errorf("a pool without indices has %d elements, want 200", alone.Len())
	}
}

func TestTrimmedContainers(t *testing.T) {
	many := bulk.Options{Capacity: 100_000}
	pool := closing(t, made(bulk.NewPool[stone](many)))
	dense := closing(t, made(bulk.NewDense[stone](many)))
	var h bulk.Handle[stone]
	for range 70_000 {
		h, _ = pool.Insert(stone{})
		dense.Insert(stone{})
	}
	pool.Clear(nil)
	dense.Clear(nil)
	if err := pool.Trim(); err != nil {
		t.Fatal(err)
	}
	if err := dense.Trim(); err != nil {
		t.Fatal(err)
	}
	file := saveContainers(t, map[string]any{"p": pool, "d": dense})
	p := closing(t, made(bulk.NewPool[stone](many)))
	d := closing(t, made(bulk.NewDense[stone](many)))
	loadContainers(t, file, store.Options{Containers: map[string]any{"p": p, "d": d}})
	for range 70_000 {
		p.Insert(stone{})
		d.Insert(stone{})
	}
	if p.Valid(h) || d.Valid(h) {
		t.Error("a handle from before Trim has become valid")
	}
}
