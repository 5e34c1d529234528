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
	one    *image           // replaces images if the statement reads only the rows of one entity
	trees  map[string]*tree // by the name of the relation as the statement writes it
	lease  lease
}

// reader reads a world for statements.
type reader struct {
	world   *vast.World
	o       Options
	buffers buffers
	lists   []*table // of Options.Lists
	known   schema   // the tables of all connections; used only in World.Visit
	past    *past
	tooLong error // returned by a statement that reaches Options.MaxTime

	readOnly error // returned by a statement that writes; nil if statements may write
}

// stored reports whether the world is a stored moment, which does not change.
func (r *reader) stored() bool { return r.readOnly == errStoredMoment }

// take computes the needed reports, and then copies the other needed tables at one moment.
func (r *reader) take(ctx context.Context, needs map[*table]need) (*moment, error) {
	m := &moment{images: map[*table]*image{}, lease: lease{from: &r.buffers}}
	for t := range needs {
		if t.report != nil {
			values, err := t.report(ctx, r)
			if err != nil {
				return nil, err
			}
			m.images[t] = &image{table: t, rows: len(values), values: values}
		}
	}
	if len(m.images) > 0 && len(m.images) == len(needs) {
		return m, nil // a statement that reads only reports does not wait for the world
	}
	c := copier{world: r.world, buffers: &m.lease, bytes: r.o.MaxCopyBytes, limit: r.o.MaxCopyBytes,
		still: r.stored()}
	if !c.still {
		if err := r.prepare(ctx, &c, needs); err != nil {
			return nil, err
		}
	}
	var copyErr error
	err := r.world.Visit(ctx, func() bool {
		c.until = time.Now().Add(r.o.MaxPause)
		for t, n := range needs {
			if t.report != nil {
				continue
			}
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

// prepare makes the buffers for a large copy, so that the world does not wait for them during the copy. It
// returns an error if the copy has too many bytes.
func (r *reader) prepare(ctx context.Context, c *copier, needs map[*table]need) error {
	const small = 1 << 20
	sizes := map[*table]int{}
	total := 0
	for t, n := range needs {
		// copyEdges counts the edges: a count here would delay the owner a second time.
		if t.report == nil && t.edges == nil && (n.gens || n.parts != 0) {
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

// touch takes n bytes and some room for new rows, and writes to each page, so that the operating system
// provides the page now.
func touch(l *lease, n int) {
	const page = 512 // words
	l.take(n + n/16)
	if n > 0 {
		for b, i := l.taken[len(l.taken)-1], 0; i < len(b); i += page {
			b[i] = 0
		}
	}
}

// takeOne copies the rows that have the entity id in a column: see copier.copyOne.
func (r *reader) takeOne(ctx context.Context, t *table, column int, id int64, n need) (*moment, error) {
	m := &moment{lease: lease{from: &r.buffers}}
	var copyErr error
	err := r.world.Visit(ctx, func() bool {
		c := copier{world: r.world, buffers: &m.lease, bytes: r.o.MaxCopyBytes, limit: r.o.MaxCopyBytes,
			until: time.Now().Add(r.o.MaxPause)}
		m.one, copyErr = c.copyOne(t, column, id, n)
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

// updateTime is the time after which a visit that updates a schema ends. The next visit continues the update.
const updateTime = 300 * time.Microsecond

// update adds tables for new columns and archetypes of the world to r.known, estimates the rows of all
// tables, and gives the tables to s.
func (r *reader) update(ctx context.Context, s *schema) error {
	counted := 0
	return r.world.Visit(ctx, func() bool {
		until := time.Now().Add(updateTime)
		if !r.known.update(r.world, until, r.first) {
			return false
		}
		for ; counted < len(r.known.tables); counted++ {
			if time.Now().After(until) {
				return false
			}
			r.known.tables[counted].estimate(r.world)
		}
		s.adopt(&r.known)
		return true
	})
}

// first returns the tables of reports, of Options.Tables and of Options.Lists.
func (r *reader) first() (all []*table) {
	all = newReports()
	for _, name := range slices.Sorted(maps.Keys(r.o.Tables)) {
		all = append(all, newTable(r.world, name, r.o.Tables[name]...))
	}
	return append(all, r.lists...)
}
