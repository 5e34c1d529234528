package vastsql

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ncruces/go-sqlite3"
	"github.com/vastgo/vast/vm"
)

// registerPercentiles adds percentile(x, p), with p from 0 to 100, and median(x). The results are those of
// SQLite's percentile extension. The extension itself would keep values without a limit.
func (s *session) registerPercentiles(db *sqlite3.Conn) error {
	const flags = sqlite3.DETERMINISTIC | sqlite3.INNOCUOUS
	percentiles := func() sqlite3.AggregateFunction { return &percentile{session: s, percent: -1} }
	medians := func() sqlite3.AggregateFunction { return &percentile{session: s, percent: 50} }
	return errors.Join(db.CreateWindowFunction("percentile", 2, flags, percentiles),
		db.CreateWindowFunction("median", 1, flags, medians))
}

// percentile collects the values of a group of rows.
type percentile struct {
	session *session
	percent float64 // -1 before the first row
	values  []float64
}

var errPercent = errors.New("vastsql: percentile(x, p): p must be the same number from 0 to 100 in all rows")

// Step adds the value of a row.
func (p *percentile) Step(ctx sqlite3.Context, arg ...sqlite3.Value) {
	if len(arg) > 1 {
		percent := arg[1].Float()
		if t := arg[1].NumericType(); t != sqlite3.INTEGER && t != sqlite3.FLOAT ||
			!(percent >= 0 && percent <= 100) || p.percent >= 0 && percent != p.percent {
			ctx.ResultError(errPercent)
			return
		}
		p.percent = percent
	}
	switch arg[0].Type() {
	case sqlite3.NULL:
		return
	case sqlite3.INTEGER, sqlite3.FLOAT:
	default:
		ctx.ResultError(fmt.Errorf("vastsql: percentile of %q: the value must be a number", arg[0].Text()))
		return
	}
	if math.IsInf(arg[0].Float(), 0) { // as in SQLite's extension: infinity cannot be interpolated
		ctx.ResultError(fmt.Errorf("vastsql: percentile of %v: the value must be finite", arg[0].Float()))
		return
	}
	if len(p.values) == cap(p.values) {
		if err := p.grow(); err != nil {
			ctx.ResultError(err)
			return
		}
	}
	p.values = append(p.values, arg[0].Float())
}

// grow doubles the room for values, within MaxMemoryBytes.
func (p *percentile) grow() error {
	more := max(64, cap(p.values))
	limit := p.session.reader.o.MaxMemoryBytes
	if p.session.kept+8*more > limit {
		err := &LimitError{"MaxMemoryBytes", fmt.Sprintf("the values of percentile or median need more than "+
			"%s: select fewer rows, or raise the limit", vm.Bytes(limit))}
		p.session.err = err
		return err
	}
	p.session.kept += 8 * more
	p.values = append(make([]float64, 0, cap(p.values)+more), p.values...)
	return nil
}

// Inverse removes the value of a row that has left the window.
func (p *percentile) Inverse(_ sqlite3.Context, arg ...sqlite3.Value) {
	if arg[0].Type() == sqlite3.NULL {
		return
	}
	if i := slices.Index(p.values, arg[0].Float()); i >= 0 {
		last := len(p.values) - 1
		p.values[i] = p.values[last]
		p.values = p.values[:last]
	}
}

// Value passes the percentile to SQLite, interpolated between the two nearest values.
func (p *percentile) Value(ctx sqlite3.Context) {
	if len(p.values) == 0 {
		ctx.ResultNull()
		return
	}
	slices.Sort(p.values)
	at := p.percent / 100 * float64(len(p.values)-1)
	i := int(at)
	low := p.values[i]
	if float64(i) != at {
		low += (p.values[i+1] - low) * (at - float64(i))
	}
	ctx.ResultFloat(low)
}

// Close releases the memory of the values.
func (p *percentile) Close() error {
	p.session.kept -= 8 * cap(p.values)
	p.values = nil
	return nil
}
