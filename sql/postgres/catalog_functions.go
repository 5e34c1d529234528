package postgres

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/regexp"
)

// A function is a function of SQL that the catalog defines. Its arguments are int64, float64, string, []byte
// or nil.
type function struct {
	name      string
	arguments []int // the possible numbers of arguments; -1 stands for any number
	call      func(arguments []any) any
}

// register defines the functions of the catalog for a connection to it.
func (d *description) register(c *sqlite3.Conn) error {
	if err := regexp.Register(c); err != nil {
		return err
	}
	for _, f := range append(catalogFunctions, d.functions()...) {
		for _, n := range f.arguments {
			err := c.CreateFunction(f.name, n, sqlite3.DETERMINISTIC, func(ctx sqlite3.Context,
				values ...sqlite3.Value) {
				arguments := make([]any, len(values))
				for i, v := range values {
					arguments[i] = valueOf(v)
				}
				setResult(ctx, f.call(arguments))
			})
			if err != nil {
				return fmt.Errorf("the function %s: %w", f.name, err)
			}
		}
	}
	return c.CreateAggregateFunction("array_agg", 1, 0, aggregateArray)
}

func valueOf(v sqlite3.Value) any {
	switch v.Type() {
	case sqlite3.INTEGER:
		return v.Int64()
	case sqlite3.FLOAT:
		return v.Float()
	case sqlite3.TEXT:
		return v.Text()
	case sqlite3.BLOB:
		return v.Blob(nil)
	}
	return nil
}

func setResult(ctx sqlite3.Context, result any) {
	switch result := result.(type) {
	case nil:
		ctx.ResultNull()
	case bool:
		ctx.ResultBool(result)
	case int64:
		ctx.ResultInt64(result)
	case float64:
		ctx.ResultFloat(result)
	case string:
		ctx.ResultText(result)
	case error:
		ctx.ResultError(result)
	default:
		ctx.ResultText(fmt.Sprint(result))
	}
}

// catalogNamespaces are the schemas in the sense of PostgreSQL.
var catalogNamespaces = []struct {
	oid  int64
	name string
}{
	{oidCatalogNamespace, "pg_catalog"}, {oidPublicNamespace, "public"},
	{oidInformationNamespace, "information_schema"},
}

func always(result any) func([]any) any { return func([]any) any { return result } }

// textOf returns an argument as text. NULL gives "".
func textOf(argument any) string {
	if argument == nil {
		return ""
	}
	return string(appendText(nil, argument))
}

// started is the time that pg_postmaster_start_time returns.
var started = time.Now()

// catalogFunctions are the functions that do not depend on the user's tables.
var catalogFunctions = []function{
	{"version", []int{0}, always(versionText)},
	{"current_database", []int{0}, always(databaseName)},
	{"current_schema", []int{0}, always("public")},
	{"current_schemas", []int{1}, func(a []any) any {
		if include, _ := asBool(a[0]); include {
			return "{pg_catalog,public}"
		}
		return "{public}"
	}},
	{"set_config", []int{3}, func(a []any) any { return textOf(a[1]) }},
	{"pg_table_is_visible", []int{1}, always(true)},
	{"pg_type_is_visible", []int{1}, always(true)},
	{"pg_function_is_visible", []int{1}, always(true)},
	{"pg_operator_is_visible", []int{1}, always(true)},
	{"pg_opclass_is_visible", []int{1}, always(true)},
	{"pg_opfamily_is_visible", []int{1}, always(true)},
	{"pg_collation_is_visible", []int{1}, always(true)},
	{"pg_conversion_is_visible", []int{1}, always(true)},
	{"pg_statistics_obj_is_visible", []int{1}, always(true)},
	{"pg_ts_config_is_visible", []int{1}, always(true)},
	{"pg_ts_dict_is_visible", []int{1}, always(true)},
	{"pg_ts_parser_is_visible", []int{1}, always(true)},
	{"pg_ts_template_is_visible", []int{1}, always(true)},
	{"pg_relation_is_publishable", []int{1}, always(false)},
	{"pg_is_other_temp_schema", []int{1}, always(false)},
	{"pg_my_temp_schema", []int{0}, always(int64(0))},
	{"pg_is_in_recovery", []int{0}, always(false)},
	{"pg_get_userbyid", []int{1}, always(roleName)},
	{"pg_encoding_to_char", []int{1}, always("UTF8")},
	{"pg_char_to_encoding", []int{1}, always(int64(6))},
	{"getdatabaseencoding", []int{0}, always("UTF8")},
	{"pg_client_encoding", []int{0}, always("UTF8")},
	{"pg_tablespace_location", []int{1}, always("")},
	{"pg_postmaster_start_time", []int{0}, func([]any) any { return started.UTC().Format(time.RFC3339Nano) }},
	{"pg_relation_size", []int{1, 2}, always(int64(0))},
	{"pg_total_relation_size", []int{1}, always(int64(0))},
	{"pg_table_size", []int{1}, always(int64(0))},
	{"pg_indexes_size", []int{1}, always(int64(0))},
	{"pg_database_size", []int{1}, always(int64(0))},
	{"pg_size_pretty", []int{1}, func(a []any) any { return textOf(a[0]) + " bytes" }},
	{"pg_stat_get_numscans", []int{1}, always(int64(0))},
	{"txid_current", []int{0}, always(int64(1))},
	{"inet_server_addr", []int{0}, always(nil)},
	{"inet_server_port", []int{0}, always(nil)},
	{"inet_client_addr", []int{0}, always(nil)},
	{"inet_client_port", []int{0}, always(nil)},
	{"has_table_privilege", []int{2, 3}, allowsReading},
	{"has_any_column_privilege", []int{2, 3}, allowsReading},
	{"has_column_privilege", []int{3, 4}, allowsReading},
	{"has_schema_privilege", []int{2, 3}, allowsReading},
	{"has_database_privilege", []int{2, 3}, allowsReading},
	{"has_function_privilege", []int{2, 3}, allowsReading},
	{"has_sequence_privilege", []int{2, 3}, allowsReading},
	{"pg_has_role", []int{2, 3}, always(true)},
	{"obj_description", []int{1, 2}, always(nil)},
	{"shobj_description", []int{2}, always(nil)},
	{"col_description", []int{2}, always(nil)},
	{"pg_get_triggerdef", []int{1, 2}, always(nil)},
	{"pg_get_ruledef", []int{1, 2}, always(nil)},
	{"pg_get_functiondef", []int{1}, always(nil)},
	{"pg_get_function_result", []int{1}, always(nil)},
	{"pg_get_function_arguments", []int{1}, always(nil)},
	{"pg_get_function_identity_arguments", []int{1}, always(nil)},
	{"pg_get_function_sqlbody", []int{1}, always(nil)},
	{"pg_get_partkeydef", []int{1}, always(nil)},
	{"pg_get_statisticsobjdef", []int{1}, always(nil)},
	{"pg_get_statisticsobjdef_columns", []int{1}, always(nil)},
	{"pg_get_serial_sequence", []int{2}, always(nil)},
	{"pg_partition_ancestors", []int{1}, func(a []any) any { return a[0] }},
	{"pg_partition_root", []int{1}, func(a []any) any { return a[0] }},
	{"pg_get_expr", []int{2, 3}, func(a []any) any { return a[0] }},
	{"format_type", []int{2}, func(a []any) any {
		o, ok := a[0].(int64)
		if !ok {
			return nil
		}
		if title := typeTitle(oid(o)); title != "" {
			return title
		}
		return "???"
	}},
	{"pg_regtype", []int{1}, func(a []any) any {
		if o, ok := a[0].(int64); ok {
			return textOf(typeTitle(oid(o)))
		}
		if o := typeOfTitle(strings.TrimPrefix(textOf(a[0]), "pg_catalog.")); o != 0 {
			return int64(o)
		}
		return nil
	}},
	{"pg_regnamespace", []int{1}, func(a []any) any {
		for _, n := range catalogNamespaces {
			switch textOf(a[0]) {
			case n.name:
				return n.oid
			case fmt.Sprint(n.oid):
				return n.name
			}
		}
		return nil
	}},
	{"quote_ident", []int{1}, func(a []any) any { return quoteName(textOf(a[0])) }},
	{"quote_literal", []int{1}, func(a []any) any { return quoteString(textOf(a[0])) }},
	{"pg_array_json", []int{1}, func(a []any) any { return arrayJSON(a[0]) }},
	{"pg_array", []int{-1}, func(a []any) any { return arrayText(a) }},
	{"pg_subscript", []int{2}, subscript},
	{"string_to_array", []int{2}, splitText},
	{"parse_ident", []int{1, 2}, parseIdent},
	{"array_remove", []int{2}, removeElement},
	{"array_to_string", []int{2, 3}, joinArray},
	{"array_length", []int{2}, func(a []any) any { return lengthOfArray(a[0]) }},
	{"array_upper", []int{2}, func(a []any) any { return lengthOfArray(a[0]) }},
	{"array_lower", []int{2}, always(int64(1))},
	{"cardinality", []int{1}, func(a []any) any { return lengthOfArray(a[0]) }},
	{"like", []int{2}, func(a []any) any { return matchLike(a[0], a[1], false) }},
	// SQLite calls the function match for its operator MATCH, which stands for ILIKE: see operators.
	{"match", []int{2}, func(a []any) any { return matchLike(a[0], a[1], true) }},
	{"starts_with", []int{2}, func(a []any) any { return strings.HasPrefix(textOf(a[0]), textOf(a[1])) }},
	{"now", []int{0}, func([]any) any { return time.Now().UTC().Format(time.RFC3339Nano) }},
}

// allowsReading reports whether the last argument, a list of privileges, names one that every client has.
func allowsReading(a []any) any {
	for privilege := range strings.SplitSeq(textOf(a[len(a)-1]), ",") {
		switch strings.ToUpper(strings.TrimSpace(privilege)) {
		case "SELECT", "USAGE", "CONNECT", "EXECUTE":
			return true
		}
	}
	return false
}

// functions returns the functions that look up objects of the description.
func (d *description) functions() []function {
	lookUp := func(texts map[int64]string) func([]any) any {
		return func(a []any) any {
			id, _ := d.number(a[0]).(int64)
			if text, ok := texts[id]; ok {
				return text
			}
			return nil
		}
	}
	return []function{
		{"pg_get_constraintdef", []int{1, 2}, lookUp(d.constraints)},
		{"pg_get_viewdef", []int{1, 2}, lookUp(d.views)},
		{"pg_get_indexdef", []int{1, 3}, func(a []any) any {
			if len(a) == 3 {
				if at, _ := a[1].(int64); at > 0 {
					id, _ := d.number(a[0]).(int64)
					if names := d.columns[id]; at <= int64(len(names)) {
						return quoteName(names[at-1])
					}
					return nil
				}
			}
			return lookUp(d.indexes)(a)
		}},
		{"pg_regclass", []int{1}, d.relation},
		{"to_regclass", []int{1}, func(a []any) any {
			if found, ok := d.relation(a).(int64); ok {
				return found
			}
			return nil
		}},
		{"pg_oid", []int{1}, func(a []any) any { return d.number(a[0]) }},
	}
}

// relation returns the OID for the name of a relation, and the name for an OID. It returns an unknown OID as
// text. Names of the catalog and the empty name have the OID 0. Other unknown names are errors.
func (d *description) relation(a []any) any {
	switch v := a[0].(type) {
	case int64:
		if name, ok := d.names[v]; ok {
			return quoteName(name)
		}
		return strconv.FormatInt(v, 10)
	case string:
		if found := d.number(v); found != nil {
			return found
		}
		if v == "" || strings.HasPrefix(v, "pg_") || strings.HasPrefix(v, "information_schema") {
			return int64(0)
		}
		return errors.New("no such table: " + v)
	}
	return nil
}

// number returns the OID for an argument: a number, the text of a number, or the name of a relation.
func (d *description) number(argument any) any {
	s, ok := argument.(string)
	if !ok {
		return argument
	}
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		return v
	}
	var name string
	for _, t := range scan(s, dialectPostgres) {
		if t.isName() {
			name = t.name()
		}
	}
	if id, ok := d.relations[strings.ToLower(name)]; ok {
		return id
	}
	return nil
}
