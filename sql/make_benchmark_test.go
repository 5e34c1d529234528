package vastsql

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// BenchmarkConnect makes connections to a world of 200 columns and 100 archetypes.
func BenchmarkConnect(b *testing.B) {
	f := &fixture{w: vast.NewWorld(vast.Options{})}
	var columns []vast.AnyColumn
	for i := range 200 {
		columns = append(columns, probe.NewColumn(f.w, fmt.Sprint("Component", i), probe.StorageDense,
			reflect.TypeFor[Position]()))
	}
	for i := range 100 {
		f.w.Archetype(columns[i : i+5]...)
	}
	f.serve(b)
	db, err := Open(f.w, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxIdleConns(0)
	for b.Loop() {
		if err := db.Ping(); err != nil {
			b.Fatal(err)
		}
	}
}
