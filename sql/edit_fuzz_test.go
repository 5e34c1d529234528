package vastsql

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/vastgo/vast"
)

// FuzzEdit decodes inputs, encodes them again, and applies them.
func FuzzEdit(f *testing.F) {
	e := worldEdit{number: 7, verb: verbInsert, onConflict: conflictReplace,
		columns: []columnName{{"Position", 0}, {"Road", 3}}, fields: []string{"x", "home.city"},
		entities: []uint64{0, 1 << 60}, values: []value{{typ: sqlite3.INTEGER, bits: 1 << 63},
			{typ: sqlite3.FLOAT, bits: math.Float64bits(math.Inf(1))}, {typ: sqlite3.TEXT, text: "\xff"},
			{typ: sqlite3.NULL}}}
	f.Add(e.encode())
	e = worldEdit{verb: verbDelete, entities: []uint64{5}}
	f.Add(e.encode())
	f.Add([]byte(editMagic +
		"\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\x7f"))
	w := newWritten(f, vast.Options{MaxEntities: 1 << 10})
	f.Cleanup(func() { w.world.Close() })
	entity := w.world.Archetype(w.units, w.memos).New()
	e = worldEdit{verb: verbUpdate, columns: []columnName{{name: "unit"}, {name: "memo"}},
		fields: []string{"unit.a", "memo.raw"}, entities: []uint64{entity.ID()},
		values: []value{{typ: sqlite3.FLOAT, bits: math.Float64bits(3)}, {typ: sqlite3.BLOB, text: "x"}}}
	f.Add(e.encode())
	w.trades.Add(entity, entity, trade{})
	e = worldEdit{verb: verbUpdate, columns: []columnName{{name: "Trades"}},
		fields: []string{"target", "target", "amount"}, entities: []uint64{entity.ID()},
		values: []value{{typ: sqlite3.INTEGER, bits: entity.ID()}, {typ: sqlite3.INTEGER, bits: entity.ID()},
			{typ: sqlite3.INTEGER, bits: 7}}}
	f.Add(e.encode())
	e.verb, e.fields, e.values = verbDelete, e.fields[:1], e.values[:1]
	f.Add(e.encode())
	e.verb, e.entities, e.onConflict = verbInsert, []uint64{0}, conflictReplace
	f.Add(e.encode())
	f.Fuzz(func(t *testing.T, input []byte) {
		decoded, err := decodeEdit(input)
		if err != nil {
			return
		}
		again, err := decodeEdit(decoded.encode())
		if err != nil || !reflect.DeepEqual(decoded, again) {
			t.Fatalf("%+v becomes %+v: %v", decoded, again, err)
		}
		if err := Apply(w.world, input); err != nil && strings.Contains(fmt.Sprint(err), "panicked") {
			t.Fatal(err)
		}
	})
}
