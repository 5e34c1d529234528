package vastsql

import (
	"context"

	"github.com/vastgo/vast/internal/sqlnote"
)

// WithNotes returns a context for statements that tell how they ran. A statement that reads a checkpoint,
// because it reaches a limit of [Options], calls receive with a sentence that names the checkpoint's tick. The
// call happens when the first row is asked for, on an arbitrary goroutine. The clients of package postgres get
// the sentence as a notice.
func WithNotes(ctx context.Context, receive func(note string)) context.Context {
	return sqlnote.With(ctx, receive)
}
