package vastsql

import (
	"fmt"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/vastgo/vast"
)

// BenchmarkChange measures the time in which the owner of a world applies the rows of one statement.
func BenchmarkChange(b *testing.B) {
	for _, rows := range []int{1, 1000, 100_000} {
		w := newWritten(b, vast.Options{})
		a := w.world.Archetype(w.units)
		a.NewN(max(rows, 100_000), nil)
		t := newTable(w.world, "", w.units)
		tag := newTable(w.world, "", w.frozen)
		var ids []uint64
		for e := range w.world.Query(w.units).All() {
			if ids = append(ids, e.ID()); len(ids) == rows {
				break
			}
		}
		values := make([]value, rows)
		for i := range values {
			values[i] = value{typ: sqlite3.INTEGER, bits: uint64(i)}
		}
		run := func(t *table, e worldEdit, fields ...int) {
			if o := newChange(w.world, &e, t, fields).apply(); o.err != nil {
				b.Fatal(o.err)
			}
		}
		measure := func(name string, change, undo func()) {
			b.Run(fmt.Sprintf("%s/rows=%d", name, rows), func(b *testing.B) {
				for b.Loop() {
					change()
					b.StopTimer()
					undo()
					b.StartTimer()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
			})
		}
		measure("update", func() {
			run(t, worldEdit{verb: verbUpdate, fields: []string{"b"}, entities: ids, values: values}, 2)
		}, func() {})
		measure("insert", func() {
			run(t, worldEdit{verb: verbInsert, fields: []string{"b"}, entities: make([]uint64, rows),
				values: values}, 2)
		}, func() {})
		measure("add tag", func() { run(tag, worldEdit{verb: verbInsert, entities: ids}) },
			func() { run(tag, worldEdit{verb: verbDelete, entities: ids}) })
		if err := w.world.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
