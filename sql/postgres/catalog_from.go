package postgres

// translateUnnest writes unnest(array) AS alias(column) in a FROM clause.
func (c *catalogTranslator) translateUnnest(i int) int {
	inside, end := c.inside(i + 1)
	alias, columns, last := c.tableAlias(end, "unnest")
	c.symbol("(")
	c.add(token{tokenSpace, "SELECT value AS " + columns[0] + ordinality(columns, "key + 1") +
		" FROM json_each(pg_array_json("})
	c.add(c.sub(inside))
	c.add(token{tokenSpace, "))"})
	c.symbol(")")
	c.word(" AS " + alias)
	return last
}

// translateSeries writes generate_series(first, last) AS alias(column) in a FROM clause.
func (c *catalogTranslator) translateSeries(i int) int {
	inside, end := c.inside(i + 1)
	arguments := splitArguments(inside)
	if len(arguments) != 2 {
		c.add(c.tokens[i])
		return i
	}
	alias, columns, last := c.tableAlias(end, "generate_series")
	column := columns[0]
	from, to := c.sub(arguments[0]).text, c.sub(arguments[1]).text
	c.symbol("(")
	c.add(token{tokenSpace, "WITH RECURSIVE pg_series(" + column + ") AS (SELECT " + from + " WHERE " + from +
		" <= " + to + " UNION ALL SELECT " + column + " + 1 FROM pg_series WHERE " + column + " < " + to +
		") SELECT " + column + " FROM pg_series"})
	c.symbol(")")
	c.word(" AS " + alias)
	return last
}

// startsFromItem reports whether what follows tokens is an item of a FROM clause.
func startsFromItem(tokens []token) bool {
	tokens = trimTokens(tokens)
	if len(tokens) == 0 {
		return false
	}
	if last := tokens[len(tokens)-1]; !last.is(",") {
		return last.is("from") || last.is("join")
	}
	depth := 0
	for i := len(tokens) - 1; i >= 0 && depth <= 0; i-- {
		switch t := tokens[i]; {
		case t.is(")"):
			depth--
		case t.is("("):
			depth++
		case depth < 0:
		case t.is("from") || t.is("join"):
			return true
		case t.is("select") || t.is("by") || t.is("where") || t.is("values") || t.is("in") || t.is("with"):
			return false
		}
	}
	return false
}

// translateRow writes function(arguments) AS alias in a FROM clause, where the function returns one value.
func (c *catalogTranslator) translateRow(i int) int {
	inside, end := c.inside(i + 1)
	function := c.tokens[i].text
	alias, columns, last := c.tableAlias(end, function)
	c.symbol("(")
	c.add(token{tokenSpace, "SELECT " + function + "("})
	c.add(c.sub(inside))
	c.add(token{tokenSpace, ") AS " + columns[0] + ordinality(columns, "1")})
	c.symbol(")")
	c.word(" AS " + alias)
	return last
}

// splitArguments cuts the arguments of a call at their commas.
func splitArguments(tokens []token) [][]token {
	var arguments [][]token
	start := 0
	for i := 0; i < len(tokens); i++ {
		switch {
		case tokens[i].is("(") || tokens[i].is("["):
			i = closing(tokens, i)
		case tokens[i].is(","):
			arguments = append(arguments, tokens[start:i])
			start = i + 1
		}
	}
	return append(arguments, tokens[start:])
}

// ordinality returns the column that WITH ORDINALITY adds, if the alias names it.
func ordinality(columns []string, value string) string {
	if len(columns) < 2 {
		return ""
	}
	return ", " + value + " AS " + columns[1]
}

// tableAlias reads [WITH ORDINALITY] [AS] alias[(columns)] after a function in a FROM clause, whose call ends
// at end. It returns the position of the last token of the alias. A function without alias has its own name,
// and its column has the name of the function or of the alias.
func (c *catalogTranslator) tableAlias(end int, function string) (alias string, columns []string, last int) {
	at := nextSignificant(c.tokens, end+1)
	if at < len(c.tokens) && c.tokens[at].is("with") && c.follows(at, "ordinality") {
		end = nextSignificant(c.tokens, at+1)
		at = nextSignificant(c.tokens, end+1)
	}
	if at < len(c.tokens) && c.tokens[at].is("as") {
		at = nextSignificant(c.tokens, at+1)
	}
	if at >= len(c.tokens) || !c.tokens[at].isName() || c.tokens[at].kind == tokenWord &&
		c.tokens[at].endsAlias() {
		return function, []string{function}, end
	}
	alias = c.tokens[at].text
	if c.follows(at, "(") {
		inside, end := c.inside(at + 1)
		for _, name := range significant(inside) {
			if name.isName() {
				columns = append(columns, name.text)
			}
		}
		at = end
	}
	if len(columns) == 0 {
		columns = []string{alias}
	}
	return alias, columns, at
}

// endsAlias reports whether a word after a function in a FROM clause is no alias.
func (t token) endsAlias() bool {
	name := t.name()
	return operandKeywords[name] || endsSelect[name] || joinKeywords[name]
}

// joinKeywords are the words that may start a join.
var joinKeywords = map[string]bool{
	"left": true, "right": true, "inner": true, "outer": true, "full": true, "cross": true, "natural": true,
}
