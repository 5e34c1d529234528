package bulk

import "testing"

// BenchmarkTable compares the layouts. `vast bench table` compares them with slices.
func BenchmarkTable(b *testing.B) {
	const rows = 100_000
	for _, layout := range layouts {
		made, _ := newRowsTable(TableOptions{Layout: layout, Capacity: rows}, false)
		defer made.Close()
		b.Run("append/"+layout.String(), func(b *testing.B) {
			for range b.N {
				made.Clear()
				fillRows(made, rows)
			}
		})
		b.Run("one field/"+layout.String(), func(b *testing.B) {
			for range b.N {
				stepRows(made)
			}
		})
		b.Run("rows/"+layout.String(), func(b *testing.B) {
			for range b.N {
				visitRows(made)
			}
		})
	}
}

//go:noinline
func fillRows(t rowsTable, n int) {
	for i := range n {
		row := t.Append()
		*t.a.At(row), *t.e.At(row) = float32(i), 1
	}
}

//go:noinline
func stepRows(t rowsTable) {
	for block := range t.Blocks() {
		a := t.a.Slice(block)
		for i := range a {
			a[i]++
		}
	}
}

//go:noinline
func visitRows(t rowsTable) {
	for row := range t.Len() {
		*t.a.At(row) += float32(*t.e.At(row))
	}
}
