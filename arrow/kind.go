package vastarrow

import (
	"reflect"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/vastgo/vast"
)

// kind is the type of a value in a column.
type kind uint8

const (
	kindBool kind = iota
	kindInt8
	kindInt16
	kindInt32
	kindInt64
	kindUint8
	kindUint16
	kindUint32
	kindUint64
	kindFloat32
	kindFloat64
	kindEntity // vast.Entity in memory, uint64 in columns
	kindTime   // time.Time in memory, nanoseconds since 1970 in columns
	kindText
	kindJSON // any other Go value in memory, JSON text in columns
)

var (
	entityType = reflect.TypeFor[vast.Entity]()
	timeType   = reflect.TypeFor[time.Time]()
	timestamp  = &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"}
)

var kindTypes = [...]arrow.DataType{
	kindBool:    arrow.FixedWidthTypes.Boolean,
	kindInt8:    arrow.PrimitiveTypes.Int8,
	kindInt16:   arrow.PrimitiveTypes.Int16,
	kindInt32:   arrow.PrimitiveTypes.Int32,
	kindInt64:   arrow.PrimitiveTypes.Int64,
	kindUint8:   arrow.PrimitiveTypes.Uint8,
	kindUint16:  arrow.PrimitiveTypes.Uint16,
	kindUint32:  arrow.PrimitiveTypes.Uint32,
	kindUint64:  arrow.PrimitiveTypes.Uint64,
	kindFloat32: arrow.PrimitiveTypes.Float32,
	kindFloat64: arrow.PrimitiveTypes.Float64,
	kindEntity:  arrow.PrimitiveTypes.Uint64,
	kindTime:    timestamp,
	kindText:    arrow.BinaryTypes.String,
	kindJSON:    arrow.BinaryTypes.String,
}

// size returns the number of bytes of a value in a filler or in cells. It is 0 for texts and JSON. A bool has
// a byte there, and a bit in an Arrow array.
func (k kind) size() int {
	switch k {
	case kindBool, kindInt8, kindUint8:
		return 1
	case kindInt16, kindUint16:
		return 2
	case kindInt32, kindUint32, kindFloat32:
		return 4
	case kindText, kindJSON:
		return 0
	}
	return 8
}

// sameInMemory reports whether a value has the same bytes in a component and in an Arrow buffer.
func (k kind) sameInMemory() bool { return k >= kindInt8 && k <= kindFloat64 }

// kindOf returns the kind of a Go type that is one value. It returns false for types that consist of parts:
// arrays, complex numbers, and structs other than vast.Entity and time.Time.
func kindOf(t reflect.Type) (kind, bool) {
	switch t {
	case entityType:
		return kindEntity, true
	case timeType:
		return kindTime, true
	}
	switch t.Kind() {
	case reflect.Bool:
		return kindBool, true
	case reflect.Int8:
		return kindInt8, true
	case reflect.Int16:
		return kindInt16, true
	case reflect.Int32:
		return kindInt32, true
	case reflect.Int64:
		return kindInt64, true
	case reflect.Int:
		return [...]kind{4: kindInt32, 8: kindInt64}[t.Size()], true
	case reflect.Uint8:
		return kindUint8, true
	case reflect.Uint16:
		return kindUint16, true
	case reflect.Uint32:
		return kindUint32, true
	case reflect.Uint64:
		return kindUint64, true
	case reflect.Uint, reflect.Uintptr:
		return [...]kind{4: kindUint32, 8: kindUint64}[t.Size()], true
	case reflect.Float32:
		return kindFloat32, true
	case reflect.Float64:
		return kindFloat64, true
	case reflect.String:
		return kindText, true
	case reflect.Array, reflect.Struct, reflect.Complex64, reflect.Complex128:
		return 0, false
	}
	return kindJSON, true
}
