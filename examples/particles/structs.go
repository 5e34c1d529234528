package main

import "github.com/vastgo/vast/bulk"

// pooled holds structs that never move. A removed struct leaves a hole.
type pooled struct{ pool *bulk.Pool[particle] }

func newPooled(capacity int) (system, error) {
	p, err := bulk.NewPool[particle](bulk.Options{Capacity: capacity})
	return &pooled{p}, err
}

func (s *pooled) spawn(p particle) { s.pool.Insert(p) }

func (s *pooled) tick() {
	for _, run := range s.pool.Runs() {
		for i := range run {
			run[i].tick()
		}
	}
}

func (s *pooled) move() {
	for _, run := range s.pool.Runs() {
		for i := range run {
			run[i].move()
		}
	}
}

func (s *pooled) fade() {
	for _, run := range s.pool.Runs() {
		for i := range run {
			run[i].fade()
		}
	}
}

func (s *pooled) cull() {
	for h, p := range s.pool.All() {
		if p.life <= 0 {
			s.pool.Remove(h)
		}
	}
}

func (s *pooled) sum() (live int, state uint64) {
	for _, p := range s.pool.All() {
		live++
		state += p.state()
	}
	return live, state
}

func (s *pooled) close() error { return s.pool.Close() }

// packed holds structs without holes: the last struct moves into the place of a removed struct.
type packed struct{ array *bulk.Array[particle] }

func newPacked(capacity int) (system, error) {
	a, err := bulk.NewArray[particle](bulk.Options{Capacity: capacity})
	return &packed{a}, err
}

func (s *packed) spawn(p particle) { s.array.Append(p) }

func (s *packed) tick() {
	all := s.array.Slice()
	for i := range all {
		all[i].tick()
	}
}

func (s *packed) move() {
	all := s.array.Slice()
	for i := range all {
		all[i].move()
	}
}

func (s *packed) fade() {
	all := s.array.Slice()
	for i := range all {
		all[i].fade()
	}
}

func (s *packed) cull() {
	all := s.array.Slice()
	n := len(all)
	// The loop begins at the end, so that a struct that moves was already checked.
	for i := n - 1; i >= 0; i-- {
		if all[i].life <= 0 {
			n--
			all[i] = all[n]
		}
	}
	s.array.Truncate(n)
}

func (s *packed) sum() (live int, state uint64) {
	for _, p := range s.array.Slice() {
		live++
		state += p.state()
	}
	return live, state
}

func (s *packed) close() error { return s.array.Close() }
