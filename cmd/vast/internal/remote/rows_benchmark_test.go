package remote

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// BenchmarkRows reads rows of an integer, a float and a text.
func BenchmarkRows(b *testing.B) {
	const n = 100_000
	var text strings.Builder
	text.WriteString(`{"columns":[{"name":"a"},{"name":"b"},{"name":"c"}]}` + "\n")
	for i := range n {
		fmt.Fprintf(&text, "[%d,%d.25,\"place %d\"]\n", i*1000, i, i)
	}
	fmt.Fprintf(&text, `{"rows":%d}`+"\n", n)
	db := sql.OpenDB(canned{text.String()})
	defer db.Close()
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		rows, err := db.QueryContext(b.Context(), "")
		if err != nil {
			b.Fatal(err)
		}
		var id int64
		var x float64
		var name string
		for rows.Next() {
			if err := rows.Scan(&id, &x, &name); err != nil {
				b.Fatal(err)
			}
		}
		if err := rows.Err(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
}
