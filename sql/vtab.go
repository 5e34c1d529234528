package vastsql

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// vtab is a virtual table of SQLite. It has the rows of a table, or a single row with aggregates of these
// rows.
type vtab struct {
	session    *session
	table      *table
	aggregates []aggregate // nil for a table of rows
}

// The plans that BestIndex chooses. The text of a plan lists its conditions twice: first for people, with
// names of columns, and after the last # for vtab.bounds, with indexes of columns. vtab.bounds cannot read
// the first list, because names of columns may contain any character.
const (
	planScan   = iota
	planLookup // the first condition is column = ?, where the column holds entities
)

// aggregatesOf is the prefix of the text of a plan that computes aggregates.
const aggregatesOf = "aggregates of rows with "

// maxConditions limits the conditions of a plan. SQLite evaluates the others.
const maxConditions = 32

// opCodes has the comparisons that a plan may contain, as the plan's text writes them.
var opCodes = map[sqlite3.IndexConstraintOp]string{
	sqlite3.INDEX_CONSTRAINT_EQ: "=",
	sqlite3.INDEX_CONSTRAINT_GT: ">",
	sqlite3.INDEX_CONSTRAINT_GE: ">=",
	sqlite3.INDEX_CONSTRAINT_LT: "<",
	sqlite3.INDEX_CONSTRAINT_LE: "<=",
}

// BestIndex chooses a plan, and records which columns the statement uses.
func (v *vtab) BestIndex(info *sqlite3.IndexInfo) error {
	n := need{}
	for c := range min(64, len(v.table.fields)+1+len(v.aggregates)) {
		if info.ColumnsUsed>>c&1 != 0 {
			n.add(v.uses(c))
		}
	}
	if info.ColumnsUsed>>63 != 0 {
		n.add(need{parts: 1 << 63, texts: 1 << 63})
	}
	switch {
	case !v.session.write.updatesOrDeletes(v.table):
	case v.table.edges != nil:
		n.add(need{parts: 1<<partSource | 1<<partTarget}) // for vtab.note
	default:
		n.gens = true // for cursor.RowID
	}
	rows := float64(v.session.estimate(v.table))
	info.EstimatedCost = rows + 10
	var mark int64
	first := 0 // index of the first condition among the arguments of Filter
	if v.aggregates != nil {
		var ok bool
		if mark, ok = v.mark(info); !ok {
			// There is no mark, so the user named the table of aggregates in the statement. The statements
			// that the function rewrite makes always have a mark.
			return sqlite3.CONSTRAINT
		}
		first = 1
	}
	var conditions, codes []string
	consume := func(i int) {
		c := info.Constraint[i]
		conditions = append(conditions, v.table.fields[c.Column].name+opCodes[c.Op]+"?")
		codes = append(codes, strconv.Itoa(c.Column)+opCodes[c.Op])
		info.ConstraintUsage[i].ArgvIndex = first + len(conditions)
		info.ConstraintUsage[i].Omit = v.aggregates != nil || v.table.fields[c.Column].summable()
		n.add(v.uses(c.Column))
	}
	lookup := v.lookup(info)
	if lookup >= 0 {
		info.IdxNum = planLookup
		if v.table.unique(info.Constraint[lookup].Column) {
			info.IdxFlags = sqlite3.INDEX_SCAN_UNIQUE
			rows = 1
			info.EstimatedCost = 2
		} else {
			rows = math.Sqrt(rows) // a guess
			info.EstimatedCost = rows + 10
		}
		consume(lookup)
	}
	for i, c := range info.Constraint {
		_, known := opCodes[c.Op]
		if i == lookup || !c.Usable || !known || c.Column < 0 || c.Column >= len(v.table.fields) ||
			len(conditions) == maxConditions {
			continue
		}
		if !v.table.fields[c.Column].summable() {
			continue
		}
		if consume(i); rows > 1 {
			rows /= 4
		}
	}
	if v.aggregates != nil {
		if len(conditions) != conditionsOf(mark) {
			v.session.misfit = mark // tells conn.prepareRewritten to leave this SELECT as the user wrote it
			return sqlite3.CONSTRAINT
		}
		rows = 1
	}
	info.IdxStr = strings.Join(conditions, " AND ")
	if len(codes) > 0 {
		info.IdxStr += " #" + strings.Join(codes, " ")
	}
	if v.aggregates != nil {
		info.IdxStr = aggregatesOf + info.IdxStr
	}
	info.EstimatedRows = max(1, int64(rows))
	info.EstimatedCost += rows
	v.session.need(v.table, n)
	return nil
}

// lookup returns the constraint by which a cursor looks rows up, or -1.
func (v *vtab) lookup(info *sqlite3.IndexInfo) int {
	found := -1
	for i, c := range info.Constraint {
		if !c.Usable || c.Op != sqlite3.INDEX_CONSTRAINT_EQ || c.Column < 0 ||
			c.Column >= len(v.table.fields) {
			continue
		}
		if v.table.unique(c.Column) {
			return i
		}
		if found < 0 && v.table.fields[c.Column].kind == kindEntity {
			found = i
		}
	}
	return found
}

// unique reports whether a column holds entities, and each entity has at most one row.
func (t *table) unique(column int) bool { return column == 0 && t.edges == nil && t.report == nil }

// uses returns what a statement needs to read a column of the virtual table.
func (v *vtab) uses(column int) need {
	if column == len(v.table.fields) {
		return need{} // the mark
	}
	if column > len(v.table.fields) {
		a := v.aggregates[column-len(v.table.fields)-1]
		if a.field == nil {
			return need{}
		}
		column = a.column
	}
	return v.table.uses(column)
}

// Open makes a cursor.
func (v *vtab) Open() (sqlite3.VTabCursor, error) {
	return &cursor{vtab: v}, nil
}

// cursor walks over the rows that meet the conditions of a plan.
type cursor struct {
	vtab    *vtab
	image   *image
	selects selection
	lookup  bool  // the plan looks rows up
	found   []int // the rows that the lookup has found
	at      int   // index into found
	run     int   // index into image.runs
	row     int
	end     int              // row after the last one
	results map[int]*figures // aggregates by the index of their field
	done    bool             // the row of aggregates was read

	text       string   // of the last plan
	conditions []string // the conditions in text for vtab.bounds
}

// Filter moves the cursor to the first row that meets the conditions of a plan.
func (c *cursor) Filter(plan int, text string, args ...sqlite3.Value) error {
	c.results, c.done, c.lookup = nil, false, plan == planLookup
	if text != c.text { // a join calls Filter many times with the same plan
		c.text, c.conditions = text, nil
		if at := strings.LastIndexByte(text, '#'); at >= 0 {
			c.conditions = strings.Fields(text[at+1:])
		}
	}
	conditions := c.conditions
	if c.vtab.aggregates != nil {
		args = args[1:] // without the mark
	}
	column, id, ok := -1, int64(0), false
	if c.lookup {
		column, _ = strconv.Atoi(strings.TrimSuffix(conditions[0], "=")) // BestIndex has written it
		id, ok = idOf(args[0])
		conditions, args = conditions[1:], args[1:]
	}
	m, err := c.vtab.session.image(c.vtab.table, column, id)
	if err != nil {
		return err
	}
	all := c.vtab.bounds(conditions, args)
	c.image, c.run, c.row, c.end, c.selects = m, 0, 0, m.rows, nil
	c.found, c.at = c.found[:0], -1
	if !c.lookup {
		if c.selects = selectRows(m, all); c.selects != nil && c.vtab.aggregates == nil {
			c.row--
			c.next()
		}
		return nil
	}
	if ok {
		c.lookUp(column, id)
	}
	for i := range all {
		c.found = slices.DeleteFunc(c.found, func(row int) bool { return !all[i].contain(m, row) })
	}
	if c.vtab.aggregates == nil {
		c.next()
	}
	return nil
}

// idOf returns v as the ID of an entity, and whether v is an integer or a float without a fraction.
func idOf(v sqlite3.Value) (id int64, ok bool) {
	switch v.NumericType() {
	case sqlite3.INTEGER:
		return v.Int64(), true
	case sqlite3.FLOAT:
		id = int64(v.Float())
		return id, float64(id) == v.Float()
	}
	return 0, false
}

// lookUp finds the rows that have the entity id in a column.
func (c *cursor) lookUp(column int, id int64) {
	if !c.vtab.table.unique(column) {
		c.found = c.image.rowsOf(column, id, c.found)
	} else if r, row, ok := c.image.find(id); ok {
		c.run, c.found = r, append(c.found, row)
	}
}

// bounds returns the bounds of each field in the conditions of a plan. args[i] is the value in conditions[i].
func (v *vtab) bounds(conditions []string, args []sqlite3.Value) (all []bounds) {
	for i, text := range conditions {
		column, op := v.condition(text)
		f, at := &v.table.fields[column], -1
		for j := range all {
			if all[j].field == f {
				at = j
			}
		}
		if at < 0 {
			at = len(all)
			all = append(all, newBounds(f))
		}
		all[at].narrow(op, args[i])
	}
	return all
}

// condition reads a condition of a plan, such as "2>=".
func (v *vtab) condition(text string) (column int, op sqlite3.IndexConstraintOp) {
	digits := strings.TrimRight(text, "<=>")
	if column, err := strconv.Atoi(digits); err == nil && column < len(v.table.fields) {
		for op, code := range opCodes {
			if text[len(digits):] == code {
				return column, op
			}
		}
	}
	panic(fmt.Sprintf("vastsql: the plan has the unknown condition %q: BestIndex and Filter differ", text))
}

// Next steps to the next row.
func (c *cursor) Next() error {
	c.next()
	return nil
}

func (c *cursor) next() {
	switch {
	case c.vtab.aggregates != nil:
		c.done = true
		return
	case c.lookup:
		if c.at++; c.at == len(c.found) {
			c.row = c.end
			return
		}
		c.row = c.found[c.at]
		if runs := c.image.runs; len(runs) > 0 && (c.row < runs[c.run].row || c.row >= runs[c.run].end()) {
			c.run = c.image.runOf(c.row)
		}
		return
	}
	if c.row++; c.selects != nil {
		c.row = c.selects.from(c.row)
	}
	for c.run < len(c.image.runs) && c.row >= c.image.runs[c.run].end() {
		c.run++
	}
}

// EOF reports whether the cursor has passed the last row.
func (c *cursor) EOF() bool {
	if c.vtab.aggregates != nil {
		return c.done
	}
	return c.row >= c.end
}

// errUnpassed is returned if SQLite itself evaluates a condition on a table of aggregates.
var errUnpassed = errors.New("vastsql: SQLite did not pass a condition to this package, which is a defect " +
	"of this package: write column + 0 in the condition instead of column")

// Column sets the value of a column of the current row.
func (c *cursor) Column(ctx sqlite3.Context, n int) error {
	if c.vtab.session.write != nil && ctx.VTabNoChange() {
		return nil // the UPDATE does not set this column
	}
	if n > len(c.vtab.table.fields) {
		return c.aggregate(ctx, n-len(c.vtab.table.fields)-1)
	}
	if c.vtab.aggregates != nil {
		return errUnpassed
	}
	return c.image.result(ctx, n, c.row, c.run)
}

// RowID returns the number of the current row. If the statement is an UPDATE or DELETE of the table, RowID
// returns the ID of the row's entity, except in a table of edges: see vtab.Update.
func (c *cursor) RowID() (int64, error) {
	if t := c.vtab.table; t.edges == nil && c.vtab.session.write.updatesOrDeletes(t) {
		return c.image.entity(c.row, c.image.slot(c.row, c.run)), nil
	}
	return int64(c.row), nil
}
