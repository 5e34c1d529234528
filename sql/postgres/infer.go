package postgres

import "strings"

// A columnTypes returns the type of a column by its name in lower case, or oidUnspecified.
type columnTypes func(name string) oid

// SQLite knows no type of an expression before the expression has a value. The functions of this file derive
// the type from the text, so that clients see the types of results and parameters before they execute a
// statement.

// inferColumns returns the types of the columns of a query. items are the result of columnItems. A column
// that inferColumns does not understand has the type oidUnspecified.
func inferColumns(items [][]token, columns columnTypes) []oid {
	types := make([]oid, len(items))
	for i, item := range items {
		types[i] = inferType(withoutAlias(item), columns, 0)
	}
	return types
}

// maxInferDepth bounds the recursion into nested expressions.
const maxInferDepth = 64

var comparisons = map[string]bool{
	"and": true, "or": true, "not": true, "=": true, "==": true, "<": true, ">": true, "<=": true, ">=": true,
	"<>": true, "!=": true, "like": true, "glob": true, "in": true, "is": true, "isnull": true,
	"notnull": true,
	"between": true, "exists": true, "regexp": true, "match": true,
}

var arithmetic = map[string]bool{"+": true, "-": true, "*": true, "/": true, "%": true}

// inferType returns the type of the expression e, which contains no spaces.
func inferType(e []token, columns columnTypes, depth int) oid {
	if len(e) == 0 || depth > maxInferDepth {
		return oidUnspecified
	}
	if e[0].is("case") && matching(e, len(e)-1, "case", "end") == 0 {
		return inferCase(e, columns, depth+1)
	}
	var compares, concatenates, unknown bool
	var operands [][]token
	start := 0
	for i := 0; i < len(e); i++ {
		t := e[i]
		name := strings.ToLower(t.text)
		switch {
		case t.is("(") || t.is("["):
			i = closing(e, i)
		case t.is("case"):
			i = caseEnd(e, i)
		case t.kind == tokenWord && comparisons[name] || t.kind == tokenSymbol && comparisons[name]:
			compares = true
		case t.is("||"):
			concatenates = true
		case t.kind == tokenSymbol && arithmetic[name]:
			if i > start {
				operands = append(operands, e[start:i])
			}
			start = i + 1
		case t.kind == tokenSymbol && !strings.Contains(". :: , )", name):
			unknown = true
		}
	}
	switch {
	case compares:
		return oidBool
	case unknown:
		return oidUnspecified
	case concatenates:
		return oidText
	case start > 0:
		return inferArithmetic(append(operands, e[min(start, len(e)):]), columns, depth+1)
	}
	return inferOperand(e, columns, depth+1)
}

func inferArithmetic(operands [][]token, columns columnTypes, depth int) oid {
	result := oidInt8
	for _, operand := range operands {
		switch inferType(operand, columns, depth) {
		case oidInt2, oidInt4, oidInt8, oidBool:
		case oidFloat4, oidFloat8:
			result = oidFloat8
		default:
			return oidUnspecified
		}
	}
	return result
}

// caseEnd returns the position of the END of the CASE at start.
func caseEnd(e []token, start int) int {
	depth := 0
	for i := start; i < len(e); i++ {
		if e[i].is("case") {
			depth++
		} else if e[i].is("end") {
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(e)
}

// inferCase returns the type of the results of a CASE if all results of a known type have the same type.
func inferCase(e []token, columns columnTypes, depth int) oid {
	result, start := oidUnspecified, -1
	for i := 1; i < len(e); i++ {
		switch {
		case e[i].is("("):
			i = closing(e, i)
		case e[i].is("case"):
			i = caseEnd(e, i)
		case e[i].is("then"):
			start = i + 1
		case start >= 0 && (e[i].is("when") || e[i].is("else") || e[i].is("end")):
			o := inferType(e[start:i], columns, depth)
			if o != oidUnspecified && result != oidUnspecified && o != result {
				return oidUnspecified
			}
			if o != oidUnspecified {
				result = o
			}
			start = -1
			if e[i].is("else") {
				start = i + 1
			}
		}
	}
	return result
}

// inferOperand returns the type of an expression that has no operators except ::.
func inferOperand(e []token, columns columnTypes, depth int) oid {
	n := len(e)
	cast := 0 // position of the last :: outside of parentheses
	for i := 0; i < n; i++ {
		switch {
		case e[i].is("(") || e[i].is("["):
			i = closing(e, i)
		case e[i].is("::"):
			cast = i
		}
	}
	if cast > 0 {
		if t, next, ok := parseType(e, cast+1); ok && next == n && !t.array {
			return typeNames[t.name]
		}
		return oidUnspecified
	}
	if n == 1 {
		return inferLiteral(e[0], columns)
	}
	switch {
	case e[0].is("(") && closing(e, 0) == n-1:
		if n > 2 && (e[1].is("select") || e[1].is("with")) {
			if items := selectItems(e[1 : n-1]); len(items) == 1 {
				return inferType(withoutAlias(items[0]), columns, depth)
			}
			return oidUnspecified
		}
		return inferType(e[1:n-1], columns, depth)
	case e[0].is("cast") && e[1].is("("):
		for i := n - 2; i > 1; i-- {
			if e[i].is("as") {
				t, _, _ := parseType(e, i+1)
				return castResult(t)
			}
		}
	case e[0].isName() && e[1].is("("):
		end := closing(e, 1)
		return inferFunction(e[0].name(), e[2:max(2, min(end, n))], columns, depth)
	case e[n-1].isName() && e[n-2].is("."):
		return columns(e[n-1].name())
	}
	return oidUnspecified
}

// castResult returns the type of CAST(x AS t). SQLite has no numbers shorter than eight bytes.
func castResult(t typeReference) oid {
	switch o := typeNames[t.name]; {
	case t.name == "blob":
		return oidBytea
	case o == oidInt4 || o == oidInt2:
		return oidInt8
	case o == oidFloat4:
		return oidFloat8
	default:
		return o
	}
}

func inferLiteral(t token, columns columnTypes) oid {
	switch {
	case t.kind == tokenNumber && strings.ContainsAny(t.text, ".eE") && !strings.HasPrefix(t.text, "0x"):
		return oidFloat8
	case t.kind == tokenNumber:
		return oidInt8
	case t.kind == tokenString && t.text[0]|0x20 == 'x':
		return oidBytea
	case t.kind == tokenString:
		return oidText
	case t.is("true") || t.is("false"):
		return oidBool
	case t.isName():
		return columns(t.name())
	}
	return oidUnspecified
}

// functionTypes maps the name of a function to the type of its result, if this type does not depend on the
// arguments.
var functionTypes = map[string]oid{
	"count": oidInt8, "length": oidInt8, "octet_length": oidInt8, "instr": oidInt8, "unicode": oidInt8,
	"random": oidInt8, "sign": oidInt8, "row_number": oidInt8, "rank": oidInt8, "dense_rank": oidInt8,
	"ntile": oidInt8, "unixepoch": oidInt8, "changes": oidInt8, "total_changes": oidInt8,
	"parent": oidInt8, "depth": oidInt8, "to_timestamp": oidTimestampTZ,
	"avg": oidFloat8, "total": oidFloat8, "round": oidFloat8, "sqrt": oidFloat8, "exp": oidFloat8,
	"ln": oidFloat8, "log": oidFloat8, "log10": oidFloat8, "log2": oidFloat8, "sin": oidFloat8,
	"cos": oidFloat8, "tan": oidFloat8, "asin": oidFloat8, "acos": oidFloat8, "atan": oidFloat8,
	"atan2": oidFloat8, "pow": oidFloat8, "power": oidFloat8, "pi": oidFloat8, "radians": oidFloat8,
	"degrees": oidFloat8, "percentile": oidFloat8, "median": oidFloat8,
	"extract": oidFloat8, "percent_rank": oidFloat8, "cume_dist": oidFloat8, "julianday": oidFloat8,
	"lower": oidText, "upper": oidText, "substr": oidText, "substring": oidText, "trim": oidText,
	"ltrim": oidText, "rtrim": oidText, "replace": oidText, "printf": oidText, "format": oidText,
	"hex": oidText, "quote": oidText, "char": oidText, "typeof": oidText, "group_concat": oidText,
	"string_agg": oidText, "date": oidText, "time": oidText, "datetime": oidText, "strftime": oidText,
	"concat": oidText, "concat_ws": oidText, "json_array": oidText, "json_object": oidText,
	"json_group_array": oidText, "json_group_object": oidText, "json": oidText, "sqlite_version": oidText,
	"version": oidText, "randomblob": oidBytea, "zeroblob": oidBytea, "exists": oidBool,
	"pg_is_in_recovery": oidBool, "pg_table_is_visible": oidBool, "pg_type_is_visible": oidBool,
	"has_table_privilege": oidBool, "has_schema_privilege": oidBool, "has_database_privilege": oidBool,
	"has_column_privilege": oidBool, "has_any_column_privilege": oidBool, "pg_has_role": oidBool,
	"starts_with": oidBool, "current_setting": oidText, "current_database": oidText,
	"current_schema": oidText,
}

// sameTypeFunctions are functions whose result has the type of an argument.
var sameTypeFunctions = map[string]bool{
	"sum": true, "min": true, "max": true, "abs": true, "coalesce": true, "ifnull": true, "nullif": true,
	"lag": true, "lead": true, "first_value": true, "last_value": true, "nth_value": true, "ceil": true,
	"floor": true, "trunc": true,
}

func inferFunction(name string, arguments []token, columns columnTypes, depth int) oid {
	if name == "date_trunc" || name == "time_bucket" {
		return inferTime(arguments, columns, depth)
	}
	if !sameTypeFunctions[name] {
		return functionTypes[name]
	}
	nesting, start := 0, 0
	for i, t := range arguments {
		switch {
		case t.is("("):
			nesting++
		case t.is(")"):
			nesting--
		case t.is(",") && nesting == 0:
			if o := inferType(arguments[start:i], columns, depth); o != oidUnspecified {
				return o
			}
			start = i + 1
		}
	}
	if start == 0 && len(arguments) > 0 && arguments[0].is("distinct") {
		start = 1
	}
	switch o := inferType(arguments[start:], columns, depth); {
	case name == "sum" && (o == oidBool || o == oidInt2 || o == oidInt4):
		return oidInt8
	case name == "sum" && o != oidInt8 && o != oidFloat8:
		return oidUnspecified
	default:
		return o
	}
}

// inferTime returns the type of the result of date_trunc or time_bucket, which are functions of vastsql. The
// last argument of these functions is a time, as text or in seconds. The result has the same form. Clients
// see a text as a time.
func inferTime(arguments []token, columns columnTypes, depth int) oid {
	start := 0
	for i := 0; i < len(arguments); i++ {
		switch t := arguments[i]; {
		case t.is("("):
			i = closing(arguments, i)
		case t.is(","):
			start = i + 1
		}
	}
	switch o := inferType(arguments[start:], columns, depth); o {
	case oidText, oidDate, oidTimestamp, oidTimestampTZ:
		return oidTimestampTZ
	case oidInt2, oidInt4, oidInt8:
		return oidInt8
	case oidFloat4, oidFloat8:
		return oidFloat8
	}
	return oidUnspecified
}
