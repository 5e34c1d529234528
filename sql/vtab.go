package vastsql

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// vtab is a virtual table of SQLite: the rows of a table, or one row of aggregates over it.
type vtab struct {
	session    *session
	table      *table
	aggregates []aggregate // nil for a table of rows
}

// The plans that BestIndex chooses. A plan's text lists its conditions: first for people, and after the last
// # as numbers of columns with comparisons, which vtab.bounds reads. Names of columns may contain anything.
const (
	planScan   = iota
	planLookup // the first condition is entity = ?
)

// aggregatesOf begins the text of a plan that computes aggregates.
const aggregatesOf = "aggregates of rows with "

const maxConditions = 32

// opCodes are the comparisons that a plan may have, as they stand in its text.
var opCodes = map[sqlite3.IndexConstraintOp]string{
	sqlite3.INDEX_CONSTRAINT_EQ: "=",
	sqlite3.INDEX_CONSTRAINT_GT: ">",
	sqlite3.INDEX_CONSTRAINT_GE: ">=",
	sqlite3.INDEX_CONSTRAINT_LT: "<",
	sqlite3.INDEX_CONSTRAINT_LE: "<=",
}

// BestIndex chooses a plan. It also notes which columns the statement uses.
func (v *vtab) BestIndex(info *sqlite3.IndexInfo) error {
	n := need{}
	for c := range min(64, len(v.table.fields)+len(v.aggregates)) {
		if info.ColumnsUsed>>c&1 != 0 {
			n.add(v.uses(c))
		}
	}
	if info.ColumnsUsed>>63 != 0 {
		n.parts |= 1 << 63
	}
	rows := float64(v.session.estimate(v.table))
	info.EstimatedCost = rows + 10
	var conditions, codes []string
	consume := func(i int) {
		c := info.Constraint[i]
		conditions = append(conditions, v.table.fields[c.Column].name+opCodes[c.Op]+"?")
		codes = append(codes, strconv.Itoa(c.Column)+opCodes[c.Op])
		info.ConstraintUsage[i].ArgvIndex = len(conditions)
		info.ConstraintUsage[i].Omit = v.aggregates != nil || c.Column > 0 && isNumber(info, i)
		n.add(v.uses(c.Column))
	}
	lookup := -1
	for i, c := range info.Constraint {
		if c.Usable && c.Column == 0 && c.Op == sqlite3.INDEX_CONSTRAINT_EQ {
			lookup = i
			break
		}
	}
	if lookup >= 0 {
		info.IdxNum = planLookup
		info.IdxFlags = sqlite3.INDEX_SCAN_UNIQUE
		rows = 1
		info.EstimatedCost = 2
		consume(lookup)
		n.gens = true
	}
	for i, c := range info.Constraint {
		_, known := opCodes[c.Op]
		if i == lookup || !c.Usable || !known || c.Column < 1 || c.Column >= len(v.table.fields) ||
			len(conditions) == maxConditions {
			continue
		}
		if f := v.table.fields[c.Column]; !f.kind.isNumber() || f.part < 0 {
			continue
		}
		if consume(i); rows > 1 {
			rows /= 4
		}
	}
	if v.aggregates != nil {
		// SQLite evaluates the conditions after the 16th itself, which only a table of rows allows.
		if len(conditions) != v.session.conditions || len(conditions) > 16 {
			return sqlite3.CONSTRAINT // conn.prepare then takes the statement as it was written
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

// isNumber reports whether a constraint compares with a constant number. SQLite need not evaluate such a
// condition again.
func isNumber(info *sqlite3.IndexInfo, constraint int) bool {
	v, err := info.RHSValue(constraint)
	return err == nil && (v.Type() == sqlite3.INTEGER || v.Type() == sqlite3.FLOAT)
}

// uses returns what a column of the virtual table needs.
func (v *vtab) uses(column int) need {
	if column >= len(v.table.fields) {
		a := v.aggregates[column-len(v.table.fields)]
		if a.field == nil {
			return need{}
		}
		column = a.column
	}
	f := v.table.fields[column]
	if f.part < 0 {
		return need{gens: true}
	}
	return need{parts: 1 << min(f.part, 63)}
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
	run     int // index into image.runs
	row     int
	end     int              // row after the last one
	results map[int]*figures // aggregates by the column of their field
	done    bool             // the row of aggregates was read
}

// Filter moves the cursor to the first row that meets the conditions of a plan.
func (c *cursor) Filter(plan int, text string, args ...sqlite3.Value) error {
	c.results, c.done = nil, false
	lookup := plan == planLookup
	var id int64
	whole := true
	if lookup {
		v := args[0]
		switch v.NumericType() {
		case sqlite3.INTEGER:
			id = v.Int64()
		case sqlite3.FLOAT:
			id = int64(v.Float())
			whole = float64(id) == v.Float()
		}
	}
	var err error
	if c.image, err = c.vtab.session.image(c.vtab.table, lookup, id); err != nil {
		return err
	}
	m := c.image
	c.run, c.row, c.end, c.selects = 0, 0, m.rows, nil
	var conditions []string
	if at := strings.LastIndexByte(text, '#'); at >= 0 {
		conditions = strings.Fields(text[at+1:])
	}
	if lookup {
		conditions, args = conditions[1:], args[1:]
		var ok bool
		if c.run, c.row, ok = m.find(id); !ok || !whole {
			c.row, c.end, c.selects = 0, 0, make(selection, (m.rows+63)/64)
			return nil
		}
		c.end = c.row + 1
	}
	all, err := c.vtab.bounds(conditions, args)
	if err != nil {
		return err
	}
	if lookup {
		c.selectOne(all)
		return nil
	}
	if c.selects = selectRows(m, all); c.selects != nil && c.vtab.aggregates == nil {
		c.row--
		c.next()
	}
	return nil
}

// selectOne drops the row of a lookup if it does not meet the other conditions.
func (c *cursor) selectOne(all []bounds) {
	meets := true
	for i := range all {
		meets = meets && all[i].contain(c.image, c.row)
	}
	if c.vtab.aggregates != nil {
		c.selects = make(selection, (c.image.rows+63)/64)
		if meets {
			c.selects[c.row/64] = 1 << (c.row % 64)
		}
	} else if !meets {
		c.end = c.row
	}
}

// bounds returns the conditions of a plan. args are the values that its columns are compared with.
func (v *vtab) bounds(conditions []string, args []sqlite3.Value) (all []bounds, err error) {
	for i, text := range conditions {
		f, op := v.condition(text)
		at := -1
		for j := range all {
			if all[j].field == f {
				at = j
			}
		}
		if at < 0 {
			at = len(all)
			all = append(all, newBounds(f))
		}
		if !all[at].narrow(op, args[i]) && v.aggregates != nil {
			return nil, errors.New("vastsql: a number is compared with a text or a blob")
		}
	}
	return all, nil
}

// condition reads a condition of a plan, such as "2>=".
func (v *vtab) condition(text string) (*field, sqlite3.IndexConstraintOp) {
	digits := strings.TrimRight(text, "<=>")
	if column, err := strconv.Atoi(digits); err == nil && column < len(v.table.fields) {
		for op, code := range opCodes {
			if text[len(digits):] == code {
				return &v.table.fields[column], op
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
	c.row++
	if c.vtab.aggregates != nil {
		c.done = true
		return
	}
	if c.selects != nil {
		c.row = c.selects.from(c.row)
	}
	for c.run < len(c.image.runs) && c.row >= c.image.runs[c.run].row+c.image.runs[c.run].rows {
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

// Column sets the value of a column of the current row.
func (c *cursor) Column(ctx sqlite3.Context, n int) error {
	if n >= len(c.vtab.table.fields) {
		return c.aggregate(ctx, n-len(c.vtab.table.fields))
	}
	if c.vtab.aggregates != nil {
		ctx.ResultNull() // only conditions name such a column, and Filter has evaluated them
		return nil
	}
	return c.image.result(ctx, n, c.row, c.run)
}

// RowID returns the number of the current row.
func (c *cursor) RowID() (int64, error) { return int64(c.row), nil }
