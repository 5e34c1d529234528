package vastsql

import (
	"context"
	"fmt"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// report makes the rows of a table anew for each statement. It must not run in World.Visit. A nil value is
// NULL.
type report func(context.Context, *reader) (rows [][]any, err error)

// reportRows is the number of rows that the planner expects in a report.
const reportRows = 100

// reportsPrefix is the prefix of the names of reports' tables.
const reportsPrefix = "vast_"

// newReports makes the table of each report.
func newReports() []*table {
	return []*table{newReport("systems", systemsFields, systems), newReport("memory", memoryFields, memory),
		newReport("checkpoints", checkpointsFields, listCheckpoints)}
}

func newReport(name string, fields []field, r report) *table {
	t := &table{name: reportsPrefix + name, report: r}
	for _, f := range fields {
		f.part = -1
		t.fields = append(t.fields, f)
	}
	return t
}

// resultOf passes a value of a report to SQLite.
func resultOf(ctx sqlite3.Context, v any) error {
	switch v := v.(type) {
	case nil:
		ctx.ResultNull()
	case int64:
		ctx.ResultInt64(v)
	case float64:
		ctx.ResultFloat(v)
	case bool:
		ctx.ResultBool(v)
	case string:
		ctx.ResultText(v)
	case time.Time:
		ctx.ResultTime(v, sqlite3.TimeFormatDefault)
	default:
		return fmt.Errorf("vastsql: a report has a %T", v)
	}
	return nil
}
