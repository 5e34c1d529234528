package vastsql

import (
	"context"

	"github.com/vastgo/vast/store"
)

// checkpointsFields are the columns of the table vast_checkpoints.
var checkpointsFields = []field{
	{name: "number", kind: kindInt64}, {name: "tick", kind: kindInt64}, {name: "taken", kind: kindTime},
	{name: "base", kind: kindInt64}, {name: "bytes", kind: kindInt64}, {name: "file", kind: kindText},
	{name: "error", kind: kindText},
}

// listCheckpoints reports the checkpoints in the folder of Options.Store.
func listCheckpoints(_ context.Context, r *reader) (rows [][]any, err error) {
	if r.o.Store == "" {
		return nil, nil
	}
	files, err := store.Files(r.o.Store)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		if f.Kind != store.FileCheckpoint {
			continue
		}
		row := []any{int64(f.Number), int64(f.Tick), nil, nil, f.Bytes, f.Name, nil}
		if !f.Taken.IsZero() {
			row[2] = f.Taken.UTC()
		}
		if f.Base != 0 {
			row[3] = int64(f.Base)
		}
		if f.Err != nil {
			row[1], row[6] = nil, f.Err.Error()
		}
		rows = append(rows, row)
	}
	return rows, nil
}
