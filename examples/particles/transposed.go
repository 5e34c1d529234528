package main

import "github.com/vastgo/vast/bulk"

type column = *bulk.Temporary[float32]

// transposed holds structs. Each calculation copies the fields that it needs into temporary columns.
type transposed struct {
	pooled
	life               column
	position, velocity [3]column
	color              [3]column
	ticks, moves       *bulk.Transpose[particle]
	fades              *bulk.Transpose[particle]
}

func newTransposed(capacity int) (system, error) {
	p, err := bulk.NewPool[particle](bulk.Options{Capacity: capacity})
	s := &transposed{pooled: pooled{p}}
	s.ticks = bulk.NewTranspose[particle](bulk.TransposeOptions{})
	s.moves = bulk.NewTranspose[particle](bulk.TransposeOptions{})
	s.fades = bulk.NewTranspose[particle](bulk.TransposeOptions{})
	s.life = bulk.ColumnOf(s.ticks, func(p *particle) *float32 { return &p.life }).Safe(1)
	for i := range 3 {
		s.position[i] = bulk.ColumnOf(s.moves, func(p *particle) *float32 { return &p.position[i] })
		s.velocity[i] = bulk.InputOf(s.moves, func(p *particle) *float32 { return &p.velocity[i] })
		s.color[i] = bulk.ColumnOf(s.fades, func(p *particle) *float32 { return &p.color[i] })
	}
	return s, err
}

func (s *transposed) tick() {
	for range s.ticks.Pool(s.pool) {
		tick(s.life.Slice()) // the length is a multiple of 64, so also of 8, as tick requires
	}
}

func (s *transposed) move() {
	for range s.moves.Pool(s.pool) {
		for i := range 3 {
			move(s.position[i].Slice(), s.velocity[i].Slice())
		}
	}
}

func (s *transposed) fade() {
	for range s.fades.Pool(s.pool) {
		for i := range 3 {
			fade(s.color[i].Slice())
		}
	}
}

func (s *transposed) cull() {
	for rows := range s.ticks.Pool(s.pool) {
		life := s.life.Slice()
		for row := range rows {
			if life[row] <= 0 {
				s.pool.Remove(s.ticks.HandleAt(row))
			}
		}
	}
}
