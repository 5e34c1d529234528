package postgres

import "strings"

// An oid is the number of a data type in the catalog of PostgreSQL.
type oid uint32

const (
	oidUnspecified oid = 0
	oidBool        oid = 16
	oidBytea       oid = 17
	oidChar        oid = 18
	oidName        oid = 19
	oidInt8        oid = 20
	oidInt2        oid = 21
	oidInt4        oid = 23
	oidText        oid = 25
	oidOID         oid = 26
	oidJSON        oid = 114
	oidFloat4      oid = 700
	oidFloat8      oid = 701
	oidUnknown     oid = 705
	oidBpchar      oid = 1042
	oidVarchar     oid = 1043
	oidDate        oid = 1082
	oidTimestamp   oid = 1114
	oidTimestampTZ oid = 1184
	oidNumeric     oid = 1700
)

// size returns the length of a value in bytes, or -1 for types without a fixed length.
func (o oid) size() int16 {
	switch o {
	case oidBool, oidChar:
		return 1
	case oidInt2:
		return 2
	case oidInt4, oidFloat4, oidOID, oidDate:
		return 4
	case oidInt8, oidFloat8, oidTimestamp, oidTimestampTZ:
		return 8
	}
	return -1
}

// typeNames maps the name of a type in SQL to the type in which the server sends its values. For example, the
// server sends a uuid as text. If a name has several words, its key is the first word.
var typeNames = map[string]oid{
	"bool": oidBool, "boolean": oidBool,
	"int2": oidInt2, "smallint": oidInt2,
	"int": oidInt4, "int4": oidInt4, "integer": oidInt4,
	"int8": oidInt8, "bigint": oidInt8,
	"float4": oidFloat4, "real": oidFloat4,
	"float": oidFloat8, "float8": oidFloat8, "double": oidFloat8,
	"numeric": oidNumeric, "decimal": oidNumeric,
	"text": oidText, "varchar": oidVarchar, "character": oidText, "bpchar": oidBpchar, "char": oidText,
	"name": oidText, "uuid": oidText, "json": oidText, "jsonb": oidText,
	"bytea": oidBytea, "oid": oidOID, "xid": oidOID,
}

// ofDeclared returns the type of the values of a column with this declared type in SQLite. It returns
// oidUnspecified for a declared type that does not tell the type of the values.
func ofDeclared(declared string) oid {
	name := strings.ToUpper(declared)
	if end := strings.IndexByte(name, '('); end >= 0 {
		name = strings.TrimSpace(name[:end])
	}
	switch name {
	case "":
		return oidUnspecified
	case "BOOL", "BOOLEAN":
		return oidBool
	case "OID":
		return oidOID
	case "INT2", "SMALLINT":
		return oidInt2
	case "INT4":
		return oidInt4
	case "DATE":
		return oidDate
	case "DATETIME", "TIMESTAMP", "TIMESTAMPTZ":
		return oidTimestampTZ
	case "TIME":
		return oidText
	case "NUMERIC", "DECIMAL", "ANY":
		return oidUnspecified
	}
	// The rules of SQLite for the affinity of a column.
	switch {
	case strings.Contains(name, "INT"):
		return oidInt8
	case strings.Contains(name, "CHAR"), strings.Contains(name, "CLOB"), strings.Contains(name, "TEXT"):
		return oidText
	case strings.Contains(name, "BLOB"), name == "BYTEA":
		return oidBytea
	case strings.Contains(name, "REAL"), strings.Contains(name, "FLOA"), strings.Contains(name, "DOUB"):
		return oidFloat8
	}
	return oidUnspecified
}
