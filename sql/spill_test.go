package vastsql

import (
	"errors"
	"testing"
)

// TestSortedRowsAreLimited sorts more rows than Options.MaxMemoryBytes allows, and then fewer.
func TestSortedRowsAreLimited(t *testing.T) {
	f := newFixture(t, 4, Options{MaxMemoryBytes: 1 << 20})
	f.db.SetMaxOpenConns(1)
	const rows = `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		SELECT count(*) FROM (SELECT i FROM n ORDER BY i * 7919 % 100003, i LIMIT -1 OFFSET 1)`
	for range 2 {
		var n int
		var limit *LimitError
		if err := f.db.QueryRow(rows, 400_000).Scan(&n); !errors.As(err, &limit) ||
			limit.Option != "MaxMemoryBytes" {
			t.Errorf("sorted %d rows with %v, want a LimitError", n, err)
		}
		if err := f.db.QueryRow(rows, 40_000).Scan(&n); err != nil || n != 40_000 {
			t.Errorf("sorted %d rows with %v, want 40,000", n, err)
		}
	}
}
