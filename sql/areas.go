package vastsql

import (
	"context"

	"github.com/vastgo/vast/internal/snake"
	"github.com/vastgo/vast/probe"
	"github.com/vastgo/vast/vm"
)

// memoryFields are the columns of the table vast_memory.
var memoryFields = []field{
	{name: "name", kind: kindText}, {name: "area", kind: kindText}, {name: "number", kind: kindInt64},
	{name: "reserved_bytes", kind: kindInt64}, {name: "committed_bytes", kind: kindInt64},
	{name: "resident_bytes", kind: kindInt64},
}

// memory reports the areas of the world's memory.
func memory(ctx context.Context, r *reader) (rows [][]any, err error) {
	var areas []probe.Area
	var reservations []probe.Reservation
	err = r.world.Visit(ctx, func() bool {
		areas, reservations = probe.Areas(r.world), probe.Reservations(r.world)
		for _, a := range areas {
			rows = append(rows, []any{nil, a.Kind.String(), int64(a.Number), int64(a.Bytes),
				int64(a.Committed), nil})
			if a.Column == nil {
				continue
			}
			row, info := rows[len(rows)-1], probe.Describe(a.Column)
			row[0] = tableName(info)
			switch {
			case info.Private:
				row[0], row[1] = snake.Case(info.Linked), "target "+a.Kind.String()
			case info.ID < len(r.known.nameOf):
				row[0] = r.known.nameOf[info.ID]
			}
		}
		return true
	})
	for i, a := range areas {
		if err == nil && a.Reservation >= 0 { // probe tells no page states of other areas
			rows[i][5], err = resident(ctx, reservations[a.Reservation], a.CommittedAt, a.Committed)
		}
	}
	return rows, err
}

// resident returns the number of bytes in [off, off+n) of a reservation that are in physical memory.
func resident(ctx context.Context, r probe.Reservation, off, n int) (bytes int64, err error) {
	const atOnce = 256 << 20 // limits the memory for page states, and the time between two checks of ctx
	var runs []vm.PageRun
	for end := off + n; off < end; off += atOnce {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		to := min(off+atOnce, end)
		if runs, err = r.Pages(off, to-off, runs[:0]); err != nil {
			return 0, err
		}
		for _, run := range runs {
			if run.State&vm.PageResident != 0 {
				bytes += int64(min(run.Offset+run.Bytes, to) - max(run.Offset, off))
			}
		}
	}
	return bytes, nil
}
