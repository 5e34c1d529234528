package postgres

// A catalogType is a row of pg_type.
type catalogType struct {
	oid      oid
	name     string
	title    string // the name of the type in SQL
	length   int
	category string
	element  oid
	array    oid
}

// catalogTypes are the rows of pg_type.
var catalogTypes = []catalogType{
	{16, "bool", "boolean", 1, "B", 0, 1000},
	{17, "bytea", "bytea", -1, "U", 0, 1001},
	{18, "char", `"char"`, 1, "Z", 0, 1002},
	{19, "name", "name", 64, "S", 18, 1003},
	{20, "int8", "bigint", 8, "N", 0, 1016},
	{21, "int2", "smallint", 2, "N", 0, 1005},
	{23, "int4", "integer", 4, "N", 0, 1007},
	{25, "text", "text", -1, "S", 0, 1009},
	{26, "oid", "oid", 4, "N", 0, 1028},
	{114, "json", "json", -1, "U", 0, 199},
	{700, "float4", "real", 4, "N", 0, 1021},
	{701, "float8", "double precision", 8, "N", 0, 1022},
	{705, "unknown", "unknown", -2, "X", 0, 0},
	{1042, "bpchar", "character", -1, "S", 0, 1014},
	{1043, "varchar", "character varying", -1, "S", 0, 1015},
	{1082, "date", "date", 4, "D", 0, 1182},
	{1083, "time", "time without time zone", 8, "D", 0, 1183},
	{1114, "timestamp", "timestamp without time zone", 8, "D", 0, 1115},
	{1184, "timestamptz", "timestamp with time zone", 8, "D", 0, 1185},
	{1186, "interval", "interval", 16, "T", 0, 1187},
	{1700, "numeric", "numeric", -1, "N", 0, 1231},
	{2205, "regclass", "regclass", 4, "N", 0, 2210},
	{2950, "uuid", "uuid", 16, "U", 0, 2951},
	{3802, "jsonb", "jsonb", -1, "U", 0, 3807},
	{1000, "_bool", "boolean[]", -1, "A", 16, 0},
	{1001, "_bytea", "bytea[]", -1, "A", 17, 0},
	{1005, "_int2", "smallint[]", -1, "A", 21, 0},
	{1007, "_int4", "integer[]", -1, "A", 23, 0},
	{1009, "_text", "text[]", -1, "A", 25, 0},
	{1016, "_int8", "bigint[]", -1, "A", 20, 0},
	{1021, "_float4", "real[]", -1, "A", 700, 0},
	{1022, "_float8", "double precision[]", -1, "A", 701, 0},
}

// typeTitle returns the name of a type in SQL, or "" for an unknown type.
func typeTitle(o oid) string {
	for _, t := range catalogTypes {
		if t.oid == o {
			return t.title
		}
	}
	return ""
}

// typeOfTitle returns the type that has this name in SQL or in the catalog, or 0.
func typeOfTitle(name string) oid {
	for _, t := range catalogTypes {
		if t.name == name || t.title == name {
			return t.oid
		}
	}
	return 0
}
