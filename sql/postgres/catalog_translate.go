package postgres

import (
	"strconv"
	"strings"
)

// catalogNames are names that make a statement read the catalog, like all names that start with pg_.
var catalogNames = map[string]bool{
	"information_schema": true, "current_user": true, "session_user": true, "current_role": true,
	"current_catalog": true, "current_schema": true,
}

// catalogCalls are functions whose calls make a statement read the catalog.
var catalogCalls = map[string]bool{
	"version": true, "current_database": true, "current_schema": true, "current_schemas": true,
	"current_setting": true, "set_config": true, "format_type": true, "obj_description": true,
	"shobj_description": true, "col_description": true, "array_to_string": true, "to_regclass": true,
	"quote_ident": true, "txid_current": true, "inet_server_addr": true, "inet_server_port": true,
	"inet_client_addr": true, "inet_client_port": true, "has_table_privilege": true,
	"has_schema_privilege": true, "has_database_privilege": true, "has_column_privilege": true,
	"has_any_column_privilege": true, "getdatabaseencoding": true,
}

// readsCatalog reports whether a statement reads the catalog instead of the user's tables. A statement that
// names a user's table in a FROM clause does not read the catalog.
func readsCatalog(text string, user *schema) bool {
	tokens := significant(scan(text, dialectPostgres))
	starts := fromItems(tokens)
	reads := false
	for i, t := range tokens {
		name := t.name()
		if name == "" {
			continue
		}
		if i > 1 && tokens[i-1].is(".") {
			if q := tokens[i-2].name(); q != "pg_catalog" && q != "public" {
				continue // a column, or a table of information_schema; the loop has seen information_schema
			}
		}
		if _, ok := user.byName[name]; ok && starts[i] {
			return false
		}
		called := i+1 < len(tokens) && tokens[i+1].is("(")
		reads = reads || strings.HasPrefix(name, "pg_") || catalogNames[name] || called && catalogCalls[name]
	}
	return reads
}

// A catalogTranslator translates a statement for the catalog.
type catalogTranslator struct {
	editor
	tokens  []token
	starts  []bool // fromItems(tokens)
	session sessionValues
	depth   int // number of calls of sub around this translator
}

// sessionValues are what functions such as current_user return.
type sessionValues interface {
	user() string
	processID() uint32
	setting(name string) (value string, ok bool)
}

// translateCatalog translates a statement for the catalog from the dialect of PostgreSQL to that of SQLite.
func translateCatalog(text string, session sessionValues) string {
	c := &catalogTranslator{tokens: scan(text, dialectPostgres), session: session}
	return c.run()
}

func (c *catalogTranslator) run() string {
	c.starts = fromItems(c.tokens)
	for i := 0; i < len(c.tokens); i++ {
		i = c.translate(i)
	}
	return c.text()
}

// translate writes the translation of the token at position i and of the tokens that belong to it. It returns
// the position of the last of these tokens.
func (c *catalogTranslator) translate(i int) int {
	t := c.tokens[i]
	switch {
	case t.kind == tokenSpace:
		c.add(token{tokenSpace, " "})
	case t.kind == tokenParam:
		c.add(token{tokenParam, "?" + t.text[1:]})
	case t.kind == tokenString:
		c.add(translateString(t))
	case t.kind == tokenSymbol:
		return c.translateSymbol(i)
	case t.name() == "tableoid":
		c.word("oid") // any number will do: clients compare it with pg_description, which is empty
	case t.isName() && c.follows(i, ".") && !c.qualified():
		return c.translateQualifier(i)
	case t.kind == tokenWord && !c.qualified():
		return c.translateWord(i)
	default:
		c.add(t)
	}
	return i
}

// follows reports whether text follows the token at position i, with or without spaces between them.
func (c *catalogTranslator) follows(i int, text string) bool {
	next := nextSignificant(c.tokens, i+1)
	return next < len(c.tokens) && c.tokens[next].is(text)
}

// qualified reports whether the output ends with a qualifier, so that the next name belongs to it.
func (c *catalogTranslator) qualified() bool {
	last := len(c.out) - 1
	for last >= 0 && c.out[last].kind == tokenSpace {
		last--
	}
	return last >= 0 && c.out[last].is(".")
}

// inside returns the tokens inside of parentheses or brackets, and the position of the closing one. The
// opening one is at i, or after spaces at i.
func (c *catalogTranslator) inside(i int) (tokens []token, end int) {
	open := nextSignificant(c.tokens, i)
	end = closing(c.tokens, open)
	return c.tokens[min(open+1, end):end], min(end, len(c.tokens)-1)
}

// maxTranslateDepth bounds the recursion into nested expressions.
const maxTranslateDepth = 32

// sub returns the translation of tokens inside of a construct. Beyond maxTranslateDepth, which no client
// needs, it returns the tokens untranslated.
func (c *catalogTranslator) sub(tokens []token) token {
	if c.depth == maxTranslateDepth {
		return token{tokenSpace, joinTokens(tokens)}
	}
	inner := &catalogTranslator{tokens: tokens, session: c.session, depth: c.depth + 1}
	return token{tokenSpace, inner.run()}
}

// operators maps operators of PostgreSQL to those of SQLite. The catalog defines MATCH as ILIKE.
var operators = map[string]string{
	"~": "REGEXP", "!~": "NOT REGEXP", "~*": "REGEXP '(?i)' ||", "!~*": "NOT REGEXP '(?i)' ||",
	"~~": "LIKE", "!~~": "NOT LIKE", "~~*": "MATCH", "!~~*": "NOT MATCH",
}

func (c *catalogTranslator) translateSymbol(i int) int {
	t := c.tokens[i]
	switch {
	case t.is("::"):
		return translateCast(&c.editor, c.tokens, i, castCatalog)
	case t.is("["):
		end := closing(c.tokens, i)
		index := c.sub(c.tokens[min(i+1, end):end])
		c.enclose([]token{{tokenWord, "pg_subscript"}, {tokenSymbol, "("}},
			[]token{{tokenSymbol, ","}, index, {tokenSymbol, ")"}})
		return min(end, len(c.tokens)-1)
	case operators[t.text] != "" && operandStart(trimTokens(c.out)) >= 0:
		c.word(" " + operators[t.text] + " ")
	default:
		c.add(t)
	}
	return i
}

// translateQualifier removes the qualifiers pg_catalog and public, and translates information_schema.
func (c *catalogTranslator) translateQualifier(i int) int {
	dot := nextSignificant(c.tokens, i+1)
	switch c.tokens[i].name() {
	case "pg_catalog", "public":
		return dot
	case "information_schema":
		next := nextSignificant(c.tokens, dot+1)
		if next < len(c.tokens) && c.tokens[next].isName() {
			c.word("information_schema_" + c.tokens[next].name())
			return next
		}
	}
	c.add(c.tokens[i])
	return i
}

func (c *catalogTranslator) translateWord(i int) int {
	t := c.tokens[i]
	call := c.follows(i, "(")
	switch name := t.name(); {
	case name == "operator" && call:
		return c.translateOperator(i)
	case name == "collate":
		if _, next, ok := parseType(c.tokens, i+1); ok {
			return next - 1 // drops COLLATE and the name of the collation
		}
	case name == "any" && call || name == "some" && call:
		return c.translateAny(i, "=", "IN")
	case name == "all" && call && !endsWith(c.out, "union"):
		return c.translateAny(i, "<>", "NOT IN")
	case name == "array" && (call || c.follows(i, "[")):
		return c.translateArray(i)
	case name == "unnest" && call:
		return c.translateUnnest(i)
	case name == "trim" && call:
		return c.translateTrim(i)
	case name == "generate_series" && call:
		return c.translateSeries(i)
	case call && !operandKeywords[name] && c.starts[i]:
		return c.translateRow(i)
	case name == "ilike":
		c.word("MATCH")
		return i
	case name == "lateral" || name == "only" && endsWith(c.out, "from"):
		return i
	case name == "current_user" || name == "session_user" || name == "current_role" || name == "user" &&
		!call:
		c.add(token{tokenString, quoteString(c.session.user())})
		return i
	case name == "current_catalog":
		c.add(token{tokenString, quoteString(databaseName)})
		return i
	case name == "current_schema" && !call:
		c.add(token{tokenString, quoteString("public")})
		return i
	case name == "pg_backend_pid" && call:
		_, end := c.inside(i + 1)
		c.add(token{tokenNumber, strconv.FormatUint(uint64(c.session.processID()), 10)})
		return end
	case name == "current_setting" && call:
		return c.translateSetting(i)
	}
	c.add(t)
	return i
}

// endsWith reports whether out ends with the keyword, apart from spaces.
func endsWith(out []token, keyword string) bool {
	out = trimTokens(out)
	return len(out) > 0 && out[len(out)-1].is(keyword)
}

// translateOperator translates an operator of the form OPERATOR(pg_catalog.~).
func (c *catalogTranslator) translateOperator(i int) int {
	inside, end := c.inside(i + 1)
	inside = significant(inside)
	if len(inside) == 0 {
		c.add(c.tokens[i])
		return i
	}
	operator := inside[len(inside)-1].text
	if replaced, ok := operators[operator]; ok {
		operator = replaced
	}
	c.word(" " + operator + " ")
	return end
}

// translateAny writes x = ANY (array) as x IN (…), and x <> ALL (array) as x NOT IN (…). comparison
// is the operator, = or <>. After any other token, translateAny only writes the word ANY, SOME or ALL.
func (c *catalogTranslator) translateAny(i int, comparison, in string) int {
	if !endsWith(c.out, comparison) {
		c.add(c.tokens[i])
		return i
	}
	c.dropSpace()
	c.out = c.out[:len(c.out)-1]
	inside, end := c.inside(i + 1)
	c.word(" " + in + " ")
	c.symbol("(")
	if content := significant(inside); len(content) > 0 && (content[0].is("select") ||
		content[0].is("with")) {
		c.add(c.sub(inside))
	} else {
		c.add(token{tokenSpace, "SELECT value FROM json_each(pg_array_json("})
		c.add(c.sub(inside))
		c.add(token{tokenSpace, "))"})
	}
	c.symbol(")")
	return end
}

// translateArray translates ARRAY[a, b] and ARRAY(SELECT …).
func (c *catalogTranslator) translateArray(i int) int {
	inside, end := c.inside(i + 1)
	if c.follows(i, "[") {
		c.word("pg_array")
		c.symbol("(")
		c.add(c.sub(inside))
	} else {
		c.symbol("(")
		c.add(token{tokenSpace, "WITH pg_items(item) AS ("})
		c.add(c.sub(inside))
		c.add(token{tokenSpace, ") SELECT array_agg(item) FROM pg_items"})
	}
	c.symbol(")")
	return end
}

// trims maps the first word inside of trim to the function of SQLite.
var trims = map[string]string{"leading": "ltrim", "trailing": "rtrim", "both": "trim"}

// translateTrim translates trim(trailing characters from text).
func (c *catalogTranslator) translateTrim(i int) int {
	inside, end := c.inside(i + 1)
	inside = trimTokens(inside)
	function, from := "", -1
	if len(inside) > 0 {
		function = trims[inside[0].name()]
	}
	for at, t := range inside {
		if t.is("from") && from < 0 {
			from = at
		}
	}
	if function == "" || from < 0 {
		c.add(c.tokens[i])
		return i
	}
	c.word(function)
	c.symbol("(")
	c.add(c.sub(inside[from+1:]))
	if characters := trimTokens(inside[1:from]); len(characters) > 0 {
		c.symbol(",")
		c.add(c.sub(characters))
	}
	c.symbol(")")
	return end
}

// translateSetting writes the value that current_setting('name') returns.
func (c *catalogTranslator) translateSetting(i int) int {
	inside, end := c.inside(i + 1)
	content := significant(inside)
	if len(content) == 0 || content[0].kind != tokenString {
		c.add(c.tokens[i])
		return i
	}
	if value, ok := c.session.setting(stringValue(content[0])); ok {
		c.add(token{tokenString, quoteString(value)})
	} else {
		c.word("NULL")
	}
	return end
}

// castCatalog casts the operand at the end of e.
func castCatalog(e *editor, t typeReference) {
	e.dropSpace()
	switch {
	case t.array:
	case t.name == "regclass":
		e.call("pg_regclass")
	case t.name == "regtype":
		e.call("pg_regtype")
	case t.name == "regnamespace":
		e.call("pg_regnamespace")
	case t.name == "oid":
		e.call("pg_oid")
	default:
		castQuery(e, t)
	}
}
