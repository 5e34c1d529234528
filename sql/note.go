package vastsql

import (
	"context"

	"github.com/vastgo/vast/internal/sqlnote"
)

// WithNotes returns a context for statements that pass their notes to the function receive. If a statement
// reaches a limit of [Options] and therefore reads a checkpoint, the statement calls receive with a sentence
// that names the checkpoint's tick. The statement makes the call on an arbitrary goroutine, when the first
// row is read. Clients of package postgres get the sentence as a notice.
func WithNotes(ctx context.Context, receive func(note string)) context.Context {
	return sqlnote.With(ctx, receive)
}
