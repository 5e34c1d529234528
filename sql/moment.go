package vastsql

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/vastgo/vast"
)

// moment is the copy of the tables of one statement.
type moment struct {
	images map[*table]*image
	one    *image // instead of images, for a statement that reads one row
	lease  lease
}

// reader reads a world for statements.
type reader struct {
	world   *vast.World
	o       Options
	buffers buffers
	lists   []*table // of Options.Lists
	past    *past
	tooLong error // the error of a statement that reaches Options.MaxTime
}

// take copies the needed tables at one moment.
func (r *reader) take(ctx context.Context, needs map[*table]need) (*moment, error) {
	m := &moment{images: map[*table]*image{}, lease: lease{from: &r.buffers}}
	c := copier{world: r.world, buffers: &m.lease, bytes: r.o.MaxCopyBytes, limit: r.o.MaxCopyBytes}
	if err := r.prepare(ctx, &c, needs); err != nil {
		return nil, err
	}
	var copyErr error
	err := r.world.Visit(ctx, func() bool {
		c.until = time.Now().Add(r.o.MaxPause)
		for t, n := range needs {
			if m.images[t], copyErr = c.copy(t, n); copyErr != nil {
				break
			}
		}
		return true
	})
	if err == nil {
		err = copyErr
	}
	if err != nil {
		m.lease.release()
		return nil, err
	}
	return m, nil
}

// prepare makes buffers for a large copy before the world waits for the copy. It returns an error if the copy
// has too many bytes.
func (r *reader) prepare(ctx context.Context, c *copier, needs map[*table]need) error {
	const small = 1 << 20
	sizes := map[*table]int{}
	total := 0
	for t, n := range needs {
		if n.gens || n.parts != 0 {
			sizes[t] = 0
		}
	}
	if len(sizes) == 0 {
		return nil
	}
	err := r.world.Visit(ctx, func() bool {
		for t := range sizes {
			rows, bytes := c.size(t, needs[t])
			sizes[t] = rows
			total += bytes
		}
		return true
	})
	if err != nil {
		return err
	}
	if total > c.limit {
		return tooManyBytes(total, c.limit)
	}
	if total < small {
		return nil
	}
	ahead := lease{from: &r.buffers}
	for t, rows := range sizes {
		if needs[t].gens && t.list == nil {
			touch(&ahead, 4*rows)
		}
		for i := range t.parts {
			if needs[t].has(i) && t.list == nil && t.parts[i].copied() {
				touch(&ahead, t.parts[i].size*rows)
			}
		}
	}
	ahead.release()
	return nil
}

// touch takes memory, with some room for new rows, and writes to each page.
func touch(l *lease, n int) {
	const page = 512 // words
	l.take(n + n/16)
	if n > 0 {
		for b, i := l.taken[len(l.taken)-1], 0; i < len(b); i += page {
			b[i] = 0
		}
	}
}

// takeOne copies the row of one entity.
func (r *reader) takeOne(ctx context.Context, t *table, id int64) (*moment, error) {
	m := &moment{}
	err := r.world.Visit(ctx, func() bool {
		c := copier{world: r.world}
		m.one = c.copyOne(t, id)
		return true
	})
	return m, err
}

// update adds tables for new columns of the world to a schema, and counts the rows of its tables. The first
// update of a schema also adds the tables of Options.
func (r *reader) update(ctx context.Context, s *schema) error {
	return r.world.Visit(ctx, func() bool {
		var first []*table
		if s.byName == nil {
			for _, name := range slices.Sorted(maps.Keys(r.o.Tables)) {
				first = append(first, newTable(r.world, name, r.o.Tables[name]...))
			}
			first = append(first, r.lists...)
		}
		s.update(r.world, first)
		for _, t := range s.tables {
			if t.list == nil {
				t.rows.Store(int64(t.query.Count()))
			}
		}
		return true
	})
}
