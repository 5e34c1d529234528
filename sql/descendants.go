package vastsql

import (
	"errors"

	"github.com/ncruces/go-sqlite3"
)

// descendants is the table-valued function descendants(entity, relation). It has a row for each descendant of
// the entity. Each descendant comes after its target.
type descendants struct {
	session *session
}

// The columns of descendants. The last two are the arguments.
const (
	descendantEntity = iota
	descendantDepth
	descendantAncestor
	descendantRelation
)

// BestIndex asks SQLite for the arguments, and records that the statement follows links.
func (d *descendants) BestIndex(info *sqlite3.IndexInfo) error {
	given := [2]int{-1, -1} // index of the constraint that gives each argument; -1 if there is none
	for i, c := range info.Constraint {
		if c.Column < descendantAncestor || c.Op != sqlite3.INDEX_CONSTRAINT_EQ {
			continue
		}
		if !c.Usable {
			return sqlite3.CONSTRAINT // SQLite tries another order of the tables
		}
		given[c.Column-descendantAncestor] = i
	}
	if given[0] < 0 {
		return errNoAncestor
	}
	for i, constraint := range given {
		if constraint >= 0 {
			info.ConstraintUsage[constraint] = sqlite3.IndexConstraintUsage{ArgvIndex: i + 1, Omit: true}
		}
	}
	info.EstimatedCost, info.EstimatedRows = 1000, 1000
	d.session.needRelations()
	return nil
}

var errNoAncestor = errors.New("vastsql: descendants needs an entity: descendants(entity) or " +
	"descendants(entity, 'relation')")

// Open makes a cursor.
func (d *descendants) Open() (sqlite3.VTabCursor, error) {
	return &descendantsCursor{session: d.session}, nil
}

// descendantsCursor is a cursor over the descendants of an entity, in depth-first order.
type descendantsCursor struct {
	session  *session
	tree     *tree
	ancestor int64
	stack    []descendant // entities that the cursor has not left; the current one is the last
	sources  []int        // buffer that push reuses: the rows of an entity's sources
	row      int64        // number of the current descendant, from 0
}

type descendant struct {
	id    int64
	depth int64
}

// Filter moves the cursor to the first descendant.
func (d *descendantsCursor) Filter(_ int, _ string, arg ...sqlite3.Value) (err error) {
	d.stack, d.row = d.stack[:0], 0
	if anyNull(arg) {
		return nil
	}
	if d.tree, err = d.session.tree(arg[1:]); err != nil {
		return err
	}
	d.ancestor, _ = idOf(arg[0])
	d.push(descendant{d.ancestor, 0})
	return nil
}

// push adds the sources of an entity to the stack, the first one on top.
func (d *descendantsCursor) push(of descendant) {
	t := d.tree
	d.sources = t.rowsOf(columnTarget, of.id, d.sources[:0])
	for i := len(d.sources) - 1; i >= 0; i-- {
		row := d.sources[i]
		d.stack = append(d.stack, descendant{t.entity(row, t.slot(row, t.runOf(row))), of.depth + 1})
	}
}

// Next moves the cursor to the next descendant.
func (d *descendantsCursor) Next() error {
	e := d.stack[len(d.stack)-1]
	d.stack = d.stack[:len(d.stack)-1]
	if d.row++; d.row > int64(d.tree.rows) { // more descendants than links
		return d.tree.circleError(d.ancestor)
	}
	d.push(e)
	return nil
}

// EOF reports whether the cursor has passed the last descendant.
func (d *descendantsCursor) EOF() bool { return len(d.stack) == 0 }

// Column sets the value of a column of the current descendant.
func (d *descendantsCursor) Column(ctx sqlite3.Context, n int) error {
	switch n {
	case descendantEntity:
		ctx.ResultInt64(d.stack[len(d.stack)-1].id)
	case descendantDepth:
		ctx.ResultInt64(d.stack[len(d.stack)-1].depth)
	case descendantAncestor:
		ctx.ResultInt64(d.ancestor)
	case descendantRelation:
		ctx.ResultText(d.tree.table.name)
	}
	return nil
}

// RowID returns the number of the current descendant.
func (d *descendantsCursor) RowID() (int64, error) { return d.row, nil }
