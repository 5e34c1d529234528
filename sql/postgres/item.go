package postgres

// columnItems returns an item for each of the count columns of a statement: the expression of the column,
// with its alias, in RETURNING or in the first SELECT. The item is nil if columnItems does not find the
// expression, for example because the column comes from a star.
func columnItems(text string, count int) [][]token {
	columns := make([][]token, count)
	tokens := significant(scan(text, dialectSQLite))
	if newStatement(text).returning {
		tokens = append([]token{{tokenWord, "select"}}, returningClause(tokens)...)
	}
	items := selectItems(tokens)
	star := -1
	for i, item := range items {
		if len(item) > 0 && item[len(item)-1].is("*") && (len(item) == 1 || item[len(item)-2].is(".")) {
			if star >= 0 {
				return columns
			}
			star = i
		}
	}
	if star < 0 && len(items) != count || len(items)-1 > count {
		return columns
	}
	for i, item := range items {
		switch {
		case star < 0 || i < star:
			columns[i] = item
		case i > star:
			columns[count-len(items)+i] = item
		}
	}
	return columns
}

// selectItems returns the expressions of the first SELECT outside of parentheses, with their aliases.
func selectItems(tokens []token) [][]token {
	depth, start := 0, -1
	var items [][]token
	for i, t := range tokens {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case depth != 0:
		case t.is("select") && start < 0:
			start = i + 1
			if start < len(tokens) && (tokens[start].is("distinct") || tokens[start].is("all")) {
				start++
			}
		case start >= 0 && t.is(","):
			items = append(items, tokens[start:i])
			start = i + 1
		case start >= 0 && endsSelect[t.name()] && t.kind == tokenWord:
			return append(items, tokens[min(start, i):i])
		}
	}
	if start >= 0 {
		items = append(items, tokens[start:])
	}
	return items
}

var endsSelect = map[string]bool{
	"from": true, "where": true, "group": true, "having": true, "window": true, "union": true,
	"intersect": true,
	"except":    true, "order": true, "limit": true,
}

// withoutAlias removes an alias at the end of an item: AS and a name, or a name that follows an operand.
func withoutAlias(item []token) []token {
	n := len(item)
	switch {
	case n >= 3 && item[n-2].is("as"):
		return item[:n-2]
	case n >= 2 && item[n-1].isName() && !item[n-1].is("end") && !item[n-2].is(".") &&
		!item[n-2].is("::") && operandStart(item[:n-1]) >= 0:
		return item[:n-1]
	}
	return item
}

// unnamed is the name that PostgreSQL gives to a column without a better name.
const unnamed = "?column?"

// columnName returns the name that PostgreSQL gives to a column with the expression item, for example the
// name of a column, of a function, or of the type of a cast. It returns "" if the item has an alias.
func columnName(item []token) string {
	if len(withoutAlias(item)) != len(item) {
		return ""
	}
	return expressionName(item, 0)
}

func expressionName(e []token, depth int) string {
	n := len(e)
	if n == 0 || depth > maxInferDepth {
		return unnamed
	}
	for i := 0; i < n; i++ {
		switch {
		case e[i].is("(") || e[i].is("["):
			i = closing(e, i)
		case e[i].is("::"):
			if name := expressionName(e[:i], depth+1); name != unnamed {
				return name
			}
			t, _, _ := parseType(e, i+1)
			return t.name
		case e[i].is("case"):
			i = caseEnd(e, i)
		case e[i].kind == tokenSymbol && !e[i].is("."):
			return unnamed
		}
	}
	switch last := e[n-1]; {
	case e[0].is("case"):
		return "case"
	case e[0].is("("):
		inside := e[1:max(1, n-1)]
		if items := selectItems(inside); len(items) == 1 {
			inside = withoutAlias(items[0])
		}
		return expressionName(inside, depth+1)
	case last.is(")"):
		if start := matching(e, n-1, "(", ")"); start > 0 && e[start-1].isName() && nameStart(e, start) == 0 {
			return e[start-1].name()
		}
	case last.isName() && nameStart(e, n) == 0 && !last.is("null") && !last.is("true") && !last.is("false"):
		return last.name()
	}
	return unnamed
}
