package main

import (
	"fmt"

	"github.com/vastgo/vast/bulk"
)

type field = *bulk.Field[float32]

type tabled struct {
	table    *bulk.Table
	life     field
	position [3]field
	velocity [3]field
	color    [3]field
}

func inTable(l bulk.Layout) func(capacity int) (system, error) {
	return func(capacity int) (system, error) {
		t := bulk.NewTable(bulk.TableOptions{Name: "particles", Layout: l, Capacity: capacity})
		s := &tabled{table: t, life: bulk.NewField[float32](t, "life").Safe(1)}
		for i := range 3 {
			s.position[i] = bulk.NewField[float32](t, fmt.Sprint("position ", i))
			s.velocity[i] = bulk.NewField[float32](t, fmt.Sprint("velocity ", i))
			s.color[i] = bulk.NewField[float32](t, fmt.Sprint("color ", i))
		}
		return s, t.Grow(1)
	}
}

func (s *tabled) spawn(p particle) {
	row := s.table.Append()
	*s.life.At(row) = p.life
	for i := range 3 {
		*s.position[i].At(row), *s.velocity[i].At(row) = p.position[i], p.velocity[i]
		*s.color[i].At(row) = p.color[i]
	}
}

// tick includes the padding of the blocks, because the function tick needs a multiple of eight values. The
// padding holds safe values: see inTable.
func (s *tabled) tick() {
	for b := range s.table.PaddedBlocks() {
		tick(s.life.Slice(b))
	}
}

func (s *tabled) move() {
	for b := range s.table.Blocks() {
		for i := range 3 {
			move(s.position[i].Slice(b), s.velocity[i].Slice(b))
		}
	}
}

func (s *tabled) fade() {
	for b := range s.table.Blocks() {
		for i := range 3 {
			fade(s.color[i].Slice(b))
		}
	}
}

func (s *tabled) cull() {
	for row := s.table.Len() - 1; row >= 0; row-- {
		if *s.life.At(row) <= 0 {
			s.table.RemoveSwap(row)
		}
	}
}

func (s *tabled) sum() (live int, state uint64) {
	for row := range s.table.Len() {
		p := particle{life: *s.life.At(row)}
		for i := range 3 {
			p.position[i], p.velocity[i] = *s.position[i].At(row), *s.velocity[i].At(row)
			p.color[i] = *s.color[i].At(row)
		}
		live++
		state += p.state()
	}
	return live, state
}

func (s *tabled) close() error { return s.table.Close() }
