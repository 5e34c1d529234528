package vastsql

import (
	"reflect"
	"unsafe"

	"github.com/vastgo/vast"
)

// kind is the representation of a field's value in memory.
type kind uint8

const (
	kindInt8 kind = iota
	kindInt16
	kindInt32
	kindInt64
	kindUint8
	kindUint16
	kindUint32
	kindUint64
	kindFloat32
	kindFloat64
	kindBool
	kindText   // a Go string
	kindBlob   // a Go []byte
	kindEntity // a vast.Entity; the zero Entity is NULL
	kindJSON   // any other Go value; clients see JSON
	kindTime   // a time.Time in the rows of a report: see type report
)

// decl returns the type that SQL clients see.
func (k kind) decl() string {
	switch k {
	case kindFloat32, kindFloat64:
		return "REAL"
	case kindBool:
		return "BOOLEAN"
	case kindText, kindJSON:
		return "TEXT"
	case kindBlob:
		return "BLOB"
	case kindTime:
		return "TIMESTAMP"
	}
	return "INTEGER"
}

// isInt reports whether the kind is bool, or a type of integers that all fit an integer of SQLite. A uint64
// may be too large.
func (k kind) isInt() bool { return k <= kindUint32 || k == kindBool }

func (k kind) isFloat() bool { return k == kindFloat32 || k == kindFloat64 }

// isNumber reports whether this package can evaluate conditions on values of the kind and compute aggregates
// of them.
func (k kind) isNumber() bool { return k.isInt() || k.isFloat() }

var (
	entityType = reflect.TypeFor[vast.Entity]()
	bytesType  = reflect.TypeFor[[]byte]()
)

func kindOf(t reflect.Type) kind {
	switch {
	case t == entityType:
		return kindEntity
	case t == bytesType:
		return kindBlob
	}
	switch t.Kind() {
	case reflect.Int8:
		return kindInt8
	case reflect.Int16:
		return kindInt16
	case reflect.Int32:
		return kindInt32
	case reflect.Int64:
		return kindInt64
	case reflect.Int:
		return map[uintptr]kind{4: kindInt32, 8: kindInt64}[t.Size()]
	case reflect.Uint8:
		return kindUint8
	case reflect.Uint16:
		return kindUint16
	case reflect.Uint32:
		return kindUint32
	case reflect.Uint64:
		return kindUint64
	case reflect.Uint, reflect.Uintptr:
		return map[uintptr]kind{4: kindUint32, 8: kindUint64}[t.Size()]
	case reflect.Float32:
		return kindFloat32
	case reflect.Float64:
		return kindFloat64
	case reflect.Bool:
		return kindBool
	case reflect.String:
		return kindText
	}
	return kindJSON
}

// intAt returns the integer of a kind at an address. k.isInt must be true.
func (k kind) intAt(p unsafe.Pointer) int64 {
	switch k {
	case kindInt8:
		return int64(*(*int8)(p))
	case kindInt16:
		return int64(*(*int16)(p))
	case kindInt32:
		return int64(*(*int32)(p))
	case kindUint8, kindBool:
		return int64(*(*uint8)(p))
	case kindUint16:
		return int64(*(*uint16)(p))
	case kindUint32:
		return int64(*(*uint32)(p))
	}
	return *(*int64)(p)
}

// floatAt returns the float of a kind at an address. k.isFloat must be true.
func (k kind) floatAt(p unsafe.Pointer) float64 {
	if k == kindFloat32 {
		return float64(*(*float32)(p))
	}
	return *(*float64)(p)
}
