package postgres

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Formats of values in messages.
const (
	formatText   int16 = 0
	formatBinary int16 = 1
)

// epoch is the moment from which the binary format counts days and microseconds.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// ofValue returns the type that fits a value of SQLite. It returns oidUnspecified for NULL.
func ofValue(value any) oid {
	switch value.(type) {
	case int64:
		return oidInt8
	case float64:
		return oidFloat8
	case bool:
		return oidBool
	case []byte:
		return oidBytea
	case nil:
		return oidUnspecified
	}
	return oidText
}

// appendValue converts a value to the type o and appends it in the given format. The value must not be nil.
// The error says that the value does not fit the type, or that the type does not have the format.
func appendValue(b []byte, value any, o oid, format int16) ([]byte, error) {
	switch o {
	case oidBool:
		if v, ok := asBool(value); ok {
			return appendBool(b, v, format), nil
		}
	case oidInt2, oidInt4, oidInt8, oidOID:
		if v, ok := asInteger(value, o); ok {
			return appendInteger(b, v, o, format), nil
		}
	case oidFloat4, oidFloat8:
		if v, ok := asFloat(value); ok {
			return appendFloat(b, v, o, format), nil
		}
	case oidBytea:
		if v, ok := asBytes(value); ok {
			return appendBytes(b, v, format), nil
		}
	case oidDate, oidTimestamp, oidTimestampTZ:
		if v, ok := value.(time.Time); ok {
			return appendTime(b, v, o, format), nil
		}
	case oidNumeric:
		if format == formatBinary {
			return nil, failWithHint(codeNotSupported, "numeric values have no binary format here",
				"Request the text format, or cast the column to float8.")
		}
		return appendText(b, value), nil
	default:
		return appendText(b, value), nil
	}
	return nil, failWithHint(codeDatatypeMismatch,
		fmt.Sprintf("a row holds a value of the type %s in a column of the type %s", kindOf(value),
			typeName(o)),
		"Cast the column to one type, for example with ::text.")
}

func kindOf(value any) string {
	switch value.(type) {
	case int64:
		return "INTEGER"
	case float64:
		return "REAL"
	case []byte:
		return "BLOB"
	case bool:
		return "BOOLEAN"
	}
	return "TEXT"
}

func asBool(value any) (v, ok bool) {
	switch value := value.(type) {
	case bool:
		return value, true
	case int64:
		return value != 0, true
	case float64:
		return value != 0, true
	}
	return false, false
}

func asInteger(value any, o oid) (int64, bool) {
	var v int64
	switch value := value.(type) {
	case int64:
		v = value
	case bool:
		if value {
			v = 1
		}
	case float64:
		// As a float64, math.MaxInt64 is 2⁶³, which no int64 holds.
		if value != math.Trunc(value) || value < math.MinInt64 || value >= math.MaxInt64 {
			return 0, false
		}
		v = int64(value)
	default:
		return 0, false
	}
	switch o {
	case oidInt2:
		return v, v == int64(int16(v))
	case oidInt4:
		return v, v == int64(int32(v))
	case oidOID:
		return v, v == int64(uint32(v))
	}
	return v, true
}

func asFloat(value any) (float64, bool) {
	switch value := value.(type) {
	case float64:
		return value, true
	case int64:
		return float64(value), true
	case bool:
		if value {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

func asBytes(value any) ([]byte, bool) {
	switch value := value.(type) {
	case []byte:
		return value, true
	case string:
		return []byte(value), true
	}
	return nil, false
}

func appendBool(b []byte, v bool, format int16) []byte {
	switch {
	case format == formatBinary && v:
		return append(b, 1)
	case format == formatBinary:
		return append(b, 0)
	case v:
		return append(b, 't')
	}
	return append(b, 'f')
}

func appendInteger(b []byte, v int64, o oid, format int16) []byte {
	if format == formatText {
		return strconv.AppendInt(b, v, 10)
	}
	switch o.size() {
	case 2:
		return binary.BigEndian.AppendUint16(b, uint16(v))
	case 4:
		return binary.BigEndian.AppendUint32(b, uint32(v))
	}
	return binary.BigEndian.AppendUint64(b, uint64(v))
}

func appendFloat(b []byte, v float64, o oid, format int16) []byte {
	bits := 64
	if o == oidFloat4 {
		bits = 32
	}
	switch {
	case format == formatBinary && bits == 32:
		return binary.BigEndian.AppendUint32(b, math.Float32bits(float32(v)))
	case format == formatBinary:
		return binary.BigEndian.AppendUint64(b, math.Float64bits(v))
	}
	return appendFloatText(b, v, bits)
}

// appendFloatText appends the shortest text that gives the number back.
func appendFloatText(b []byte, v float64, bits int) []byte {
	switch {
	case math.IsInf(v, 1):
		return append(b, "Infinity"...)
	case math.IsInf(v, -1):
		return append(b, "-Infinity"...)
	case math.IsNaN(v):
		return append(b, "NaN"...)
	}
	// PostgreSQL writes an exponent below 1e-4, and from 1e15 (float8) or 1e6 (float4) on.
	large := 1e15
	if bits == 32 {
		large = 1e6
	}
	if magnitude := math.Abs(v); magnitude != 0 && (magnitude < 1e-4 || magnitude >= large) {
		return strconv.AppendFloat(b, v, 'e', -1, bits)
	}
	return strconv.AppendFloat(b, v, 'f', -1, bits)
}

func appendBytes(b, v []byte, format int16) []byte {
	if format == formatBinary {
		return append(b, v...)
	}
	return hex.AppendEncode(append(b, `\x`...), v)
}

func appendTime(b []byte, v time.Time, o oid, format int16) []byte {
	v = v.UTC()
	switch {
	case format == formatText && o == oidDate:
		return v.AppendFormat(b, "2006-01-02")
	case format == formatText && o == oidTimestamp:
		return v.AppendFormat(b, "2006-01-02 15:04:05.999999")
	case format == formatText:
		return v.AppendFormat(b, "2006-01-02 15:04:05.999999-07")
	case o == oidDate:
		days := math.Floor(float64(v.Unix()-epoch.Unix()) / (24 * 60 * 60))
		return binary.BigEndian.AppendUint32(b, uint32(int32(days)))
	}
	return binary.BigEndian.AppendUint64(b, uint64(v.UnixMicro()-epoch.UnixMicro()))
}

func appendText(b []byte, value any) []byte {
	switch value := value.(type) {
	case string:
		return append(b, value...)
	case []byte:
		return appendBytes(b, value, formatText)
	case int64:
		return strconv.AppendInt(b, value, 10)
	case float64:
		return appendFloatText(b, value, 64)
	case bool:
		return appendBool(b, value, formatText)
	case time.Time:
		// The driver returns some texts as times. In most columns, this format restores the exact text.
		return value.AppendFormat(b, time.RFC3339Nano)
	}
	return fmt.Append(b, value)
}
