package vastsql

import (
	"errors"

	"github.com/ncruces/go-sqlite3"
)

// descendants is the table-valued function descendants(entity, relation). Its rows are the entities below an
// entity, each one after its target.
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

// BestIndex asks for the arguments, and notes that the statement follows links.
func (d *descendants) BestIndex(info *sqlite3.IndexInfo) error {
	given := [2]int{-1, -1} // constraints with the arguments
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
func (d *descendants) Open() (sqlite3.VTabCursor, error) { return &descent{session: d.session}, nil }

// descent is a cursor over the descendants of an entity.
type descent struct {
	session  *session
	tree     *tree
	ancestor int64
	left     []descendant // the next entities, the next one last
	sources  []int        // rows of the sources of an entity
	row      int64
}

type descendant struct {
	id    int64
	depth int64
}

// Filter moves the cursor to the first descendant.
func (d *descent) Filter(_ int, _ string, arg ...sqlite3.Value) (err error) {
	d.left, d.row = d.left[:0], 0
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

// push adds the sources of an entity to the next entities.
func (d *descent) push(of descendant) {
	t := d.tree
	d.sources = t.rowsOf(columnTarget, of.id, d.sources[:0])
	for i := len(d.sources) - 1; i >= 0; i-- {
		row := d.sources[i]
		d.left = append(d.left, descendant{t.entity(row, t.slot(row, t.runOf(row))), of.depth + 1})
	}
}

// Next moves the cursor to the next descendant.
func (d *descent) Next() error {
	e := d.left[len(d.left)-1]
	d.left = d.left[:len(d.left)-1]
	if d.row++; d.row > int64(d.tree.rows) { // more than there are links
		return d.tree.circle(d.ancestor)
	}
	d.push(e)
	return nil
}

// EOF reports whether the cursor has passed the last descendant.
func (d *descent) EOF() bool { return len(d.left) == 0 }

// Column sets the value of a column of the current descendant.
func (d *descent) Column(ctx sqlite3.Context, n int) error {
	switch n {
	case descendantEntity:
		ctx.ResultInt64(d.left[len(d.left)-1].id)
	case descendantDepth:
		ctx.ResultInt64(d.left[len(d.left)-1].depth)
	case descendantAncestor:
		ctx.ResultInt64(d.ancestor)
	case descendantRelation:
		ctx.ResultText(d.tree.table.name)
	}
	return nil
}

// RowID returns the number of the current descendant.
func (d *descent) RowID() (int64, error) { return d.row, nil }
