package vastarrow

import (
	"database/sql"
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// sqlRows is the Source of the result of a SQL statement.
type sqlRows struct {
	rows   *sql.Rows
	schema *arrow.Schema
	first  []any // values of the first batch, which Rows has read to find the types of columns
	err    error // the error that ended the first batch, or nil
}

// sqlTimestamp is the type of times in results. Databases hold years such as 9999, which do not fit into an
// int64 of nanoseconds.
var sqlTimestamp = &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}

// sqlBatch is the largest number of rows in a batch of a sqlRows.
const sqlBatch = 8 << 10

// Rows returns a source with those rows of a SQL statement that the caller has not read yet. A column has the
// type that the driver reports. If the driver reports none, as SQLite does for expressions, or if values of
// the first 8,192 rows have another type, Rows chooses a type that can hold all these values: text if nothing
// else fits. Times are in microseconds. If a later value does not fit, the source yields an error that names
// the column.
//
// Rows and the source call rows.Next. The caller closes rows afterwards. The source can be read only once.
func Rows(rows *sql.Rows) (Source, error) {
	s, err := readRows(rows)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// readRows does the work of Rows. It reads the first batch, so the caller can look at sqlRows.err.
func readRows(rows *sql.Rows) (*sqlRows, error) {
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, fmt.Errorf("vastarrow: the columns of the rows cannot be read: %w", err)
	}
	s := &sqlRows{rows: rows}
	s.first, s.err = s.next(len(types))
	list := make([]arrow.Field, len(types))
	seen := map[string]bool{}
	for i, t := range types {
		k := declaredKind(t)
		for at := i; at < len(s.first); at += len(types) {
			k = k.with(s.first[at])
		}
		name := t.Name()
		for n := 2; seen[name]; n++ {
			name = t.Name() + "#" + strconv.Itoa(n)
		}
		seen[name] = true
		list[i] = arrow.Field{Name: name, Type: k.arrowType(), Nullable: true}
	}
	s.schema = arrow.NewSchema(list, nil)
	return s, nil
}

func (s *sqlRows) Schema() *arrow.Schema { return s.schema }

func (s *sqlRows) Records() iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		b := array.NewRecordBuilder(memory.DefaultAllocator, s.schema)
		defer b.Release()
		columns := s.schema.NumFields()
		values, err := s.first, s.err
		s.first = nil
		for {
			for i, v := range values {
				if err := appendSQL(b.Field(i%columns), v); err != nil {
					yield(nil, fmt.Errorf("vastarrow: column %q of the rows: %w",
						s.schema.Field(i%columns).Name, err))
					return
				}
			}
			if len(values) > 0 && !yieldBatch(yield, b.NewRecordBatch()) {
				return
			}
			if err != nil {
				yield(nil, fmt.Errorf("vastarrow: reading the rows: %w", err))
				return
			}
			if len(values) < sqlBatch*columns || columns == 0 {
				return
			}
			values, err = s.next(columns)
		}
	}
}

// next returns the values of the next sqlBatch rows, or of fewer rows at the end or at an error.
func (s *sqlRows) next(columns int) ([]any, error) {
	var values []any
	for range sqlBatch {
		if !s.rows.Next() {
			return values, s.rows.Err()
		}
		row, to := make([]any, columns), make([]any, columns)
		for i := range row {
			to[i] = &row[i]
		}
		if err := s.rows.Scan(to...); err != nil {
			return values, err
		}
		values = append(values, row...)
	}
	return values, nil
}

// sqlKind is the type of a column of a result.
type sqlKind uint8

const (
	sqlUnknown sqlKind = iota // neither the driver nor a value has told the type
	sqlBool
	sqlInt
	sqlUint
	sqlFloat
	sqlTime
	sqlBytes
	sqlText
)

func (k sqlKind) arrowType() arrow.DataType {
	return [...]arrow.DataType{sqlUnknown: arrow.BinaryTypes.String, sqlBool: arrow.FixedWidthTypes.Boolean,
		sqlInt: arrow.PrimitiveTypes.Int64, sqlUint: arrow.PrimitiveTypes.Uint64,
		sqlFloat: arrow.PrimitiveTypes.Float64, sqlTime: sqlTimestamp, sqlBytes: arrow.BinaryTypes.Binary,
		sqlText: arrow.BinaryTypes.String}[k]
}

// with returns the kind of a column that holds v and values of kind k.
func (k sqlKind) with(v any) sqlKind {
	other := kindOfValue(v)
	switch {
	case other == sqlUnknown || k == other:
		return k
	case k == sqlUnknown:
		return other
	case k == sqlFloat && (other == sqlInt || other == sqlUint):
		return k
	case k == sqlInt && other == sqlFloat || k == sqlUint && other == sqlFloat:
		return sqlFloat
	case k == sqlBool && other == sqlInt && (v == int64(0) || v == int64(1)):
		return k
	case k == sqlUint && other == sqlInt && v.(int64) >= 0:
		return k
	case other == sqlBytes && k == sqlText: // drivers return texts as bytes
		return k
	}
	return sqlText
}

func kindOfValue(v any) sqlKind {
	switch v.(type) {
	case nil:
		return sqlUnknown
	case bool:
		return sqlBool
	case int64:
		return sqlInt
	case uint64:
		return sqlUint
	case float64, float32:
		return sqlFloat
	case time.Time:
		return sqlTime
	case []byte:
		return sqlBytes
	}
	return sqlText
}

// declaredKind returns the kind that a driver reports for a column.
func declaredKind(t *sql.ColumnType) sqlKind {
	name := strings.ToUpper(t.DatabaseTypeName())
	has := func(parts ...string) bool {
		for _, p := range parts {
			if strings.Contains(name, p) {
				return true
			}
		}
		return false
	}
	switch scan := t.ScanType(); {
	case scan == nil || scan.Kind() == reflect.Interface:
	case scan == reflect.TypeFor[sql.NullBool]() || scan.Kind() == reflect.Bool:
		return sqlBool
	case scan == reflect.TypeFor[sql.NullTime]() || scan == timeType:
		return sqlTime
	case scan == reflect.TypeFor[sql.NullFloat64]() || scan.Kind() == reflect.Float64 ||
		scan.Kind() == reflect.Float32:
		return sqlFloat
	case scan == reflect.TypeFor[sql.NullString]() || scan.Kind() == reflect.String:
		return sqlText
	case scan == reflect.TypeFor[sql.NullInt64](), scan == reflect.TypeFor[sql.NullInt32](),
		scan == reflect.TypeFor[sql.NullInt16](), scan == reflect.TypeFor[sql.NullByte](),
		scan.Kind() >= reflect.Int && scan.Kind() <= reflect.Int64:
		return sqlInt
	case scan.Kind() >= reflect.Uint && scan.Kind() <= reflect.Uint64:
		return sqlUint
	case scan.Kind() == reflect.Slice && has("CHAR", "TEXT", "JSON", "DECIMAL", "NUMERIC", "ENUM"):
		return sqlText
	case scan.Kind() == reflect.Slice:
		return sqlBytes
	}
	switch {
	case has("BOOL"):
		return sqlBool
	case has("INT") && !has("POINT", "INTERVAL"):
		return sqlInt
	case has("CHAR", "TEXT", "CLOB", "JSON"):
		return sqlText
	case has("REAL", "FLOA", "DOUB"):
		return sqlFloat
	case has("BLOB", "BYTEA", "BINARY"):
		return sqlBytes
	case has("TIMESTAMP", "DATETIME"):
		return sqlTime
	}
	return sqlUnknown
}

func appendSQL(b array.Builder, v any) error {
	if v == nil {
		b.AppendNull()
		return nil
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		switch v := v.(type) {
		case bool:
			b.Append(v)
			return nil
		case int64:
			if v == 0 || v == 1 {
				b.Append(v == 1)
				return nil
			}
		}
	case *array.Int64Builder:
		if v, ok := v.(int64); ok {
			b.Append(v)
			return nil
		}
	case *array.Uint64Builder:
		switch v := v.(type) {
		case uint64:
			b.Append(v)
			return nil
		case int64:
			if v >= 0 {
				b.Append(uint64(v))
				return nil
			}
		}
	case *array.Float64Builder:
		if v := reflect.ValueOf(v); v.CanConvert(reflect.TypeFor[float64]()) {
			b.Append(v.Convert(reflect.TypeFor[float64]()).Float())
			return nil
		}
	case *array.TimestampBuilder:
		if v, ok := v.(time.Time); ok {
			b.Append(arrow.Timestamp(v.UnixMicro()))
			return nil
		}
	case *array.BinaryBuilder:
		if v, ok := v.([]byte); ok {
			b.Append(v)
			return nil
		}
	case *array.StringBuilder:
		b.Append(textOf(v))
		return nil
	}
	return fmt.Errorf("the value %.40v of type %T does not fit into a column of %s, which the first rows "+
		"and the driver suggest: convert the column with CAST in the statement", v, v, b.Type())
}

func textOf(v any) string {
	switch v := v.(type) {
	case []byte:
		return string(v)
	case time.Time:
		return v.Format(time.RFC3339Nano)
	}
	return fmt.Sprint(v)
}
