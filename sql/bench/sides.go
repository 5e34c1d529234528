package main

import (
	"database/sql"
	"math/rand/v2"
	"time"

	"github.com/ncruces/go-sqlite3/driver"
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/measure"
	vastsql "github.com/vastgo/vast/sql"
)

// The components of the world.
type (
	// Position is read by most statements.
	Position struct{ X, Y float64 }
	// Trip leads a traveller to a place.
	Trip struct {
		Place vast.Entity
		Spent float64
	}
	// Place is looked up by the join.
	Place struct {
		Country    uint16
		Population uint32
	}
)

const (
	travellers = 1_000_000
	places     = 200_000
)

// sides are a world and SQLite's own tables with the same rows.
type sides struct {
	w          *vast.World
	someone    int64
	world, own *sql.DB
	work       chan func() // for the goroutine that owns the world; closed at the end
	ended      chan struct{}
}

func newSides() (*sides, error) {
	s := &sides{w: vast.NewWorld(vast.Options{MaxEntities: 1 << 21}), work: make(chan func()),
		ended: make(chan struct{})}
	positions, trips := vast.NewColumn[Position](s.w), vast.NewColumn[Trip](s.w)
	towns := vast.NewColumn[Place](s.w)
	rng := rand.New(rand.NewPCG(1, 2))
	var list []vast.Entity
	a := s.w.Archetype(towns)
	for range places {
		e := a.New()
		towns.Set(e, Place{uint16(rng.IntN(240)), uint32(rng.IntN(1_000_000))})
		list = append(list, e)
	}
	b := s.w.Archetype(positions, trips)
	for i := range travellers {
		e := b.New()
		positions.Set(e, Position{rng.Float64() * 1000, rng.Float64() * 1000})
		trips.Set(e, Trip{list[rng.IntN(places)], rng.Float64() * 100})
		if i == travellers/2 {
			s.someone = int64(e.ID())
		}
	}
	go s.serve()
	var err error
	if s.world, err = vastsql.Open(s.w, vastsql.Options{}); err != nil {
		return nil, err
	}
	s.world.SetMaxOpenConns(1)
	if s.own, err = driver.Open(":memory:"); err != nil {
		return nil, err
	}
	s.own.SetMaxOpenConns(1)
	return s, s.copyTables()
}

// serve owns the world, and lets visitors in.
func (s *sides) serve() {
	defer close(s.ended)
	for {
		var work func()
		s.w.Idle(func() { work = <-s.work })
		if work == nil {
			return
		}
		work()
	}
}

// copyTables makes SQLite's own tables, and copies the world's rows into them.
func (s *sides) copyTables() error {
	for _, t := range []struct{ create, read, insert string }{
		{"CREATE TABLE position(entity INTEGER PRIMARY KEY, x REAL, y REAL)",
			"SELECT entity, x, y FROM position", "INSERT INTO position VALUES (?, ?, ?)"},
		{"CREATE TABLE trip(entity INTEGER PRIMARY KEY, place INTEGER, spent REAL)",
			"SELECT entity, place, spent FROM trip", "INSERT INTO trip VALUES (?, ?, ?)"},
		{"CREATE TABLE place(entity INTEGER PRIMARY KEY, country INTEGER, population INTEGER)",
			"SELECT entity, country, population FROM place", "INSERT INTO place VALUES (?, ?, ?)"},
	} {
		if _, err := s.own.Exec(t.create); err != nil {
			return err
		}
		if err := s.copyTable(t.read, t.insert); err != nil {
			return err
		}
	}
	_, err := s.own.Exec("ANALYZE")
	return err
}

func (s *sides) copyTable(from, into string) error {
	rows, err := s.world.Query(from)
	if err != nil {
		return err
	}
	defer rows.Close()
	tx, err := s.own.Begin()
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after Commit, Rollback does nothing
	insert, err := tx.Prepare(into)
	if err != nil {
		return err
	}
	var a, b, c any
	for rows.Next() {
		if err := rows.Scan(&a, &b, &c); err != nil {
			return err
		}
		if _, err := insert.Exec(a, b, c); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return tx.Commit()
}

func (s *sides) works() []work {
	return []work{
		{"count", "SELECT count(*) FROM position", nil, 5, 50},
		{"sum", "SELECT sum(x) FROM position", nil, 20, 1},
		{"min-max", "SELECT min(x), max(x) FROM position", nil, 20, 1},
		{"sum-range", "SELECT sum(x) FROM position WHERE y > 100 AND y < 600", nil, 20, 1},
		{"group", "SELECT p.country, avg(t.spent) FROM trip t JOIN place p ON p.entity = t.place " +
			"GROUP BY p.country ORDER BY p.country", nil, 1, 1},
		{"point", "SELECT x, y FROM position WHERE entity = ?", []any{s.someone}, 1, 500},
		{"filter", "SELECT entity, y FROM position WHERE x < 10", nil, 10, 1},
	}
}

// pause measures how long the owner of the world waits for a statement that uses 16 MB of columns. The figure
// is the median over the rounds of the longest wait in a round.
func (s *sides) pause(rounds int) (row, error) {
	r := row{Work: "pause", What: "longest wait of the world for SELECT sum(x) over 16 MB", Unit: "ms",
		Goal: 3, Most: true}
	statement, err := s.world.Prepare("SELECT sum(x) FROM position WHERE y > 0")
	if err != nil {
		return r, err
	}
	defer statement.Close()
	var samples measure.Samples
	for range rounds {
		begun, end, longest := make(chan struct{}), make(chan struct{}), make(chan time.Duration)
		s.work <- func() {
			close(begun)
			longest <- s.longestVisit(end)
		}
		// Before begun is closed, the statement could visit the idle world, which would not wait for it.
		<-begun
		_, err := read(statement, nil)
		close(end)
		if samples = append(samples, (<-longest).Seconds()*1000); err != nil {
			return r, err
		}
	}
	r.Ours = samples.Median()
	r.Figure = r.Ours
	return r, nil
}

// longestVisit admits visitors until end is closed, and returns the duration of the longest call of Admit.
func (s *sides) longestVisit(end <-chan struct{}) (longest time.Duration) {
	for {
		select {
		case <-end:
			return longest
		default:
			began := time.Now()
			s.w.Admit(0)
			longest = max(longest, time.Since(began))
		}
	}
}

func (s *sides) close() {
	_ = s.world.Close()
	_ = s.own.Close()
	close(s.work)
	<-s.ended
	_ = s.w.Close()
}
