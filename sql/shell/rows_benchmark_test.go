package shell

import (
	"io"
	"testing"
)

// BenchmarkRows writes rows of four columns, and reports the time of a row. The case "none" only reads them.
func BenchmarkRows(b *testing.B) {
	const rows = 100_000
	const query = `WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 100000)
SELECT n, n * 0.5 AS half, 'town ' || n AS name, NULL AS empty FROM i`
	db := open(b)
	b.Run("none", func(b *testing.B) {
		for b.Loop() {
			all, err := db.Query(query)
			if err != nil {
				b.Fatal(err)
			}
			var values [4]any
			for all.Next() {
				if err := all.Scan(&values[0], &values[1], &values[2], &values[3]); err != nil {
					b.Fatal(err)
				}
			}
			all.Close()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
	})
	for _, format := range []Format{Table, CSV, JSON, JSONLines} {
		b.Run(string(format), func(b *testing.B) {
			for b.Loop() {
				o := Options{Statement: query, Format: format}
				if status := Run(b.Context(), db, o, nil, io.Discard, io.Discard); status != Success {
					b.Fatal(status)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/row")
		})
	}
}
