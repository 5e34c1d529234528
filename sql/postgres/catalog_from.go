package postgres

// translateUnnest translates unnest(array) AS alias(column) in a FROM clause.
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

// translateSeries translates generate_series(first, last) AS alias(column) in a FROM clause. A call with
// another number of arguments stays as it is.
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

// fromItems tells for each token whether it is a name that starts an item of a FROM clause. If a name that
// starts an item is a qualifier, the name after its dot is marked, too.
func fromItems(tokens []token) []bool {
	starts := make([]bool, len(tokens))
	var outer []bool // inFrom outside of each parenthesis that is open
	inFrom := false  // a comma starts an item
	next := false    // the next token starts an item
	last := -1       // the last token that is no space
	for i, t := range tokens {
		if t.kind == tokenSpace {
			continue
		}
		starts[i] = next && t.isName()
		switch {
		case t.is("lateral") || t.is("only"): // the item follows
		case t.is("."):
			next = last >= 0 && starts[last]
		case t.is(","):
			next = inFrom
		case t.is("("):
			outer = append(outer, inFrom)
			inFrom, next = false, false
		case t.is(")"):
			inFrom, next = false, false
			if n := len(outer); n > 0 {
				inFrom, outer = outer[n-1], outer[:n-1]
			}
		case t.is("from") || t.is("join"):
			inFrom, next = true, true
		case t.is("select") || t.is("by") || t.is("where") || t.is("values") || t.is("in") ||
			t.is("with") && !isOrdinality(tokens, i+1):
			inFrom, next = false, false
		default:
			next = false
		}
		last = i
	}
	return starts
}

// isOrdinality reports whether the first token from position at, apart from spaces, is the word ORDINALITY.
func isOrdinality(tokens []token, at int) bool {
	at = nextSignificant(tokens, at)
	return at < len(tokens) && tokens[at].is("ordinality")
}

// translateRow translates function(arguments) AS alias in a FROM clause. The function returns one value.
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

// ordinality returns the text of the column that WITH ORDINALITY adds, or "" if the alias does not name it.
func ordinality(columns []string, value string) string {
	if len(columns) < 2 {
		return ""
	}
	return ", " + value + " AS " + columns[1]
}

// tableAlias reads [WITH ORDINALITY] [AS] alias[(columns)] after the call of a function in a FROM clause. end
// is the position of the last token of the call. last is the position of the last token that belongs to the
// call or its alias. If there is no alias, tableAlias returns the function's name. If there are no columns,
// it returns the alias as the only column.
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
		c.tokens[at].cannotBeAlias() {
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

// cannotBeAlias reports whether the word t cannot be the alias of a function in a FROM clause.
func (t token) cannotBeAlias() bool {
	name := t.name()
	return operandKeywords[name] || endsSelect[name] || joinKeywords[name]
}

// joinKeywords are the words that may stand before JOIN.
var joinKeywords = map[string]bool{
	"left": true, "right": true, "inner": true, "outer": true, "full": true, "cross": true, "natural": true,
}
