package vastarrow

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/vastgo/vast"
)

// ReadOptions are the options of [Read]. The zero value works.
type ReadOptions struct {
	// Columns are the columns of the world that Read fills. Default: all columns that files can hold.
	Columns []vast.AnyColumn
	// MaxBytes is the largest size of an Arrow or a Parquet file, which Read holds in memory, and of a line
	// of JSON. Default: 1 GiB.
	MaxBytes int
	// MaxRows is the largest number of rows. It bounds the entities that a small file with repeated values
	// can make. Default: 16,777,216.
	MaxRows int
}

// Read makes an entity for each row of a file. The names of the columns in the file are those that [Entities]
// makes from the fields. Read fills each field from the column with the field's name. A name that differs in
// upper case or underscores, such as HomeTown.X for home_town.x, is accepted if it fits only one field.
// Numbers are converted if the field can hold the value; a float32 may round. An entity gets the components
// that have a value in its row, and the tags that are true. Fields without a column are zero.
//
// The column with the name entity holds the IDs that the entities had when the file was written. The new
// entities have new IDs. Read replaces the old IDs by the new ones in the targets of relations and in fields
// of type vast.Entity.
//
// The Report says what did not fit. If Read returns an error, the Report still counts the entities that Read
// has made. Read returns the errors of r and of the context. It also returns an error if the file is damaged,
// too large or in an encoding that Read does not know, if [Entities] returns an error for a column in o, or
// if the world cannot grow.
//
// Call Read on the goroutine that owns the world, at a point where the structure may change. Read calls hooks
// as Archetype.NewN and Column.Add do. Complexity: linear in the number of values. Read makes up to 8,192
// entities at once, with those components of a Column or a Tag that all of these entities have. Each other
// component and each field that refers to an entity costs some hundred nanoseconds.
func Read(ctx context.Context, w *vast.World, r io.Reader, f Format, o ReadOptions) (Report, error) {
	f.check("Read")
	if o.MaxBytes < 0 || o.MaxRows < 0 {
		panic("vastarrow: Read: an option is negative: use 0 for the default")
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 1 << 30
	}
	o.MaxBytes = min(o.MaxBytes, math.MaxInt-1) // readWhole adds 1
	if o.MaxRows == 0 {
		o.MaxRows = 16 << 20
	}
	m, err := newImporter(ctx, w, o)
	if err != nil {
		return Report{}, err
	}
	switch f {
	case CSV:
		err = m.readCSV(r)
	case JSONLines:
		err = m.readJSON(r, o.MaxBytes)
	default:
		err = m.readWhole(r, f, o.MaxBytes)
	}
	if err == nil {
		err = m.end()
	}
	return m.report, err
}

// readWhole reads a format that needs the whole file in memory.
func (m *importer) readWhole(r io.Reader, f Format, most int) error {
	var b bytes.Buffer
	if _, err := b.ReadFrom(io.LimitReader(r, int64(most)+1)); err != nil {
		return unreadable(err)
	}
	if b.Len() > most {
		return fmt.Errorf("vastarrow: the file is larger than %d bytes: set ReadOptions.MaxBytes to read it",
			most)
	}
	if f == Parquet {
		return m.readParquet(b.Bytes())
	}
	return m.readArrow(b.Bytes(), f)
}

// unreadable returns the error for an error of the io.Reader.
func unreadable(err error) error { return fmt.Errorf("vastarrow: reading the file: %w", err) }

// damaged returns the error for a file that cannot be decoded.
func damaged(f Format, err error) error {
	return fmt.Errorf("vastarrow: the input is no valid %s: %w", f, err)
}

// decode calls f, which decodes a file with a library, and returns a panic of f as an error. f must not
// change the world.
func decode(format Format, f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = damaged(format, fmt.Errorf("%v", r))
		}
	}()
	if err := f(); err != nil {
		return damaged(format, err)
	}
	return nil
}
