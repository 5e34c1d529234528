package vastarrow

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// Write writes all rows of a source to w. If the source is made by Entities, call Write on the goroutine that
// owns the world. A slow w delays the world: write to a file or a bytes.Buffer rather than to a network
// connection.
//
// Write returns the error of the source, of w or of the context, or an error that names a column whose type
// does not fit into the format. It checks the context once for each batch of rows. After an error, the output
// is incomplete. Write panics if f is not one of the constants. Complexity: linear in the number of values.
// Write holds one batch of rows in memory, and for Parquet the compressed columns of up to 1,048,576 rows.
func Write(ctx context.Context, w io.Writer, f Format, s Source) error {
	f.check("Write")
	out, err := newWriter(w, f, s.Schema())
	if err != nil {
		return err
	}
	for r, err := range s.Records() {
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = out.Write(r)
		}
		if err != nil {
			return err
		}
	}
	return out.Close()
}

type recordWriter interface {
	Write(r arrow.RecordBatch) error
	Close() error // does not close the io.Writer
}

func newWriter(w io.Writer, f Format, schema *arrow.Schema) (recordWriter, error) {
	switch f {
	case ArrowStream:
		return ipc.NewWriter(w, ipc.WithSchema(schema)), nil
	case ArrowFile:
		out, err := ipc.NewFileWriter(w, ipc.WithSchema(schema))
		if err != nil {
			return nil, fmt.Errorf("vastarrow: writing an Arrow file: %w", err)
		}
		return out, nil
	case Parquet:
		return newParquetWriter(w, schema)
	}
	return newTextWriter(w, schema, f == JSONLines)
}
