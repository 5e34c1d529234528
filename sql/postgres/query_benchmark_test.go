package postgres_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/vastgo/vast/sql/postgres"
)

// BenchmarkQuery measures queries of one row.
func BenchmarkQuery(b *testing.B) {
	s := listen(b, postgres.Options{})
	for _, mode := range []string{"cache_statement", "exec", "simple_protocol"} {
		b.Run(mode, func(b *testing.B) {
			c, err := pgx.Connect(b.Context(), url(s, "default_query_exec_mode="+mode))
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close(b.Context())
			for b.Loop() {
				var x float64
				if err := c.QueryRow(b.Context(), "SELECT x FROM position WHERE entity = $1 LIMIT 1",
					1).Scan(&x); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRows measures results of 100,000 rows with three columns.
func BenchmarkRows(b *testing.B) {
	const rowCount = 100_000
	c, err := pgx.Connect(b.Context(), url(listen(b, postgres.Options{}), ""))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(b.Context())
	for b.Loop() {
		rows, err := c.Query(b.Context(),
			"SELECT p.entity, p.x, q.y FROM position p, (SELECT y FROM position LIMIT 100) q")
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for rows.Next() {
			n++
		}
		if rows.Err() != nil || n != rowCount {
			b.Fatalf("got %d rows and error %v, want %d rows", n, rows.Err(), rowCount)
		}
	}
	b.ReportMetric(float64(b.N)*rowCount/b.Elapsed().Seconds(), "rows/s")
}

// BenchmarkCatalog measures a query of the catalog like those of psql's \d.
func BenchmarkCatalog(b *testing.B) {
	c, err := pgx.Connect(b.Context(), url(listen(b, postgres.Options{}),
		"default_query_exec_mode=simple_protocol"))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(b.Context())
	for b.Loop() {
		rows, err := c.Query(b.Context(),
			"SELECT c.relname FROM pg_catalog.pg_class c WHERE c.relname ~ '^pos'")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
			b.Fatal(err)
		}
	}
}
