package vastsql

import (
	"context"
	"strings"

	"github.com/vastgo/vast/internal/snake"
	"github.com/vastgo/vast/sched"
)

// systemsFields are the columns of the table vast_systems.
var systemsFields = []field{
	{name: "schedule", kind: kindInt64}, {name: "position", kind: kindInt64}, {name: "name", kind: kindText},
	{name: "phase", kind: kindText}, {name: "exclusive", kind: kindBool}, {name: "reads", kind: kindText},
	{name: "writes", kind: kindText}, {name: "calls", kind: kindInt64},
	{name: "total_seconds", kind: kindFloat64}, {name: "mean_seconds", kind: kindFloat64},
	{name: "last_seconds", kind: kindFloat64}, {name: "p50_seconds", kind: kindFloat64},
	{name: "p99_seconds", kind: kindFloat64}, {name: "max_seconds", kind: kindFloat64},
}

// The function systems returns a row for each system of the world's schedules, in the order in which one
// worker runs the systems.
func systems(_ context.Context, r *reader) (rows [][]any, err error) {
	for _, s := range sched.Of(r.world) {
		times := map[string]sched.Times{}
		for _, system := range s.Stats().Systems {
			times[system.Name] = system.Times
		}
		for i, system := range s.Graph().Systems {
			t := times[system.Name]
			row := []any{int64(s.ID()), int64(i + 1), system.Name, string(system.Phase), system.Exclusive,
				tablesOf(system.Reads), tablesOf(system.Writes), int64(t.Count), t.Total.Seconds(),
				nil, nil, nil, nil, nil}
			if t.Count > 0 {
				row = append(row[:9], t.Total.Seconds()/float64(t.Count), t.Last.Seconds(), t.P50.Seconds(),
					t.P99.Seconds(), t.Max.Seconds())
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// tablesOf returns the names of columns in snake case, separated by commas. A table has such a name unless
// schema.add gave it another one.
func tablesOf(columns []string) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = snake.Case(c)
	}
	return strings.Join(names, ",")
}
