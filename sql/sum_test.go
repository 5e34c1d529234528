package vastsql

import (
	"database/sql"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/longtest"
)

// TestSumsAreThoseOfSQLite compares sums with SQLite's total, to the last bit. Many values are large,
// infinite or NaN, and many sums of integers overflow.
func TestSumsAreThoseOfSQLite(t *testing.T) {
	type row struct {
		Entity vast.Entity
		I      int64
		F      float64
		G      float32
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	own, err := driver.Open(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	own.SetMaxOpenConns(1)
	limits := []float64{1e308, -1e308, math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64,
		5e-324, 0, math.Copysign(0, -1), math.NaN()}
	float := func(odd bool) float64 {
		switch n := rng.IntN(5); {
		case n == 0 && odd:
			return limits[rng.IntN(len(limits))]
		case n == 1 && odd:
			return math.Float64frombits(rng.Uint64())
		case n == 2:
			return rng.Float64() - 0.5
		}
		return math.Ldexp(rng.Float64()-0.5, rng.IntN(120)-60)
	}
	for round := range longtest.Pick(100, 5000) {
		rows := make([]row, 1+rng.IntN(200))
		for i := range rows {
			rows[i] = row{I: int64(rng.Uint64()) >> rng.IntN(64), F: float(round%3 == 0),
				G: float32(float(round%2 == 0))}
		}
		_, err := own.Exec("DROP TABLE IF EXISTS n; CREATE TABLE n(i INTEGER, f REAL, g REAL)")
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if _, err := own.Exec("INSERT INTO n VALUES (?, ?, ?)", r.I, r.F, float64(r.G)); err != nil {
				t.Fatal(err)
			}
		}
		list := newList("n", rows)
		c := cursor{image: list.list.image}
		for i := range list.fields[1:] {
			f := &list.fields[1+i]
			r := c.figures(f)
			var want sql.NullFloat64
			if err := own.QueryRow("SELECT total(" + f.name + ") FROM n").Scan(&want); err != nil {
				t.Fatal(err)
			}
			got := r.float(f.kind.isInt())
			if math.IsNaN(got) == want.Valid ||
				want.Valid && math.Float64bits(got) != math.Float64bits(want.Float64) {
				t.Fatalf("round %d: the sum of %s is %x, want %x: %v", round, f.name, got, want.Float64, rows)
			}
		}
	}
}
