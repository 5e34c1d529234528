package postgres

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
)

// assignments finds each parameter and each string that a statement assigns to a column. Parts of larger
// expressions do not count. The result maps the position of such a token to the name of the column in lower
// case. columnsOf returns the names of a table's columns.
func assignments(tokens []token, columnsOf func(table string) []string) map[int]string {
	found := map[int]string{}
	for at := 0; at < len(tokens); at++ {
		switch {
		case tokens[at].is("("):
			at = closing(tokens, at)
		case tokens[at].is("into"):
			addInserted(found, tokens, at+1, columnsOf)
			return found
		case tokens[at].is("set"):
			addUpdated(found, tokens, at+1)
			return found
		}
	}
	return found
}

// addUpdated adds the assignments of an UPDATE, which start at tokens[at].
func addUpdated(found map[int]string, tokens []token, at int) {
	for ; at+2 < len(tokens) && tokens[at].isName(); at++ {
		if tokens[at+1].is("=") && isAssigned(tokens, at+2) {
			found[at+2] = strings.ToLower(tokens[at].name())
		}
		for at < len(tokens) && !tokens[at].is(",") {
			if tokens[at].kind == tokenWord && (tokens[at].is("where") || tokens[at].is("from")) {
				return
			}
			if tokens[at].is("(") {
				at = closing(tokens, at)
			}
			at++
		}
	}
}

// isAssigned reports whether tokens[at] is a parameter or a string, and is the whole assigned value.
func isAssigned(tokens []token, at int) bool {
	if at >= len(tokens) || tokens[at].kind != tokenParam && tokens[at].kind != tokenString {
		return false
	}
	if at++; at == len(tokens) {
		return true
	}
	t := tokens[at]
	return t.is(",") || t.is(")") || t.is(";") || t.kind == tokenWord && endsSelect[t.name()]
}

// addInserted adds the assignments of an INSERT. The name of the table starts at tokens[at].
func addInserted(found map[int]string, tokens []token, at int, columnsOf func(table string) []string) {
	if at+2 < len(tokens) && tokens[at+1].is(".") {
		at += 2
	}
	if at >= len(tokens) {
		return
	}
	names := columnsOf(tokens[at].name())
	for at++; at < len(tokens) && !tokens[at].is("values") && !tokens[at].is("select"); at++ {
		if tokens[at].is("(") {
			end := min(closing(tokens, at), len(tokens))
			names = nil
			for _, t := range tokens[at+1 : end] {
				if t.isName() {
					names = append(names, t.name())
				}
			}
			at = end
		}
	}
	if at < len(tokens) && tokens[at].is("select") {
		addRow(found, tokens, at+1, names)
		return
	}
	for at++; at < len(tokens) && tokens[at].is("("); at += 2 { // a parenthesis and a comma follow the row
		at = addRow(found, tokens, at+1, names)
	}
}

// addRow adds the assignments of a row, whose values start at tokens[at]. addRow returns the index of the
// token after the row's values.
func addRow(found map[int]string, tokens []token, at int, names []string) int {
	for i := 0; at < len(tokens); i++ {
		if isAssigned(tokens, at) && i < len(names) {
			found[at] = strings.ToLower(names[i])
		}
		for at < len(tokens) && !tokens[at].is(",") {
			if tokens[at].is(")") || tokens[at].kind == tokenWord && endsSelect[tokens[at].name()] {
				return at
			}
			if tokens[at].is("(") {
				at = closing(tokens, at)
			}
			at++
		}
		at++
	}
	return at
}

// inferAssigned gives the type of a column to each parameter that has no type and is assigned to the column.
func inferAssigned(text string, types []oid, from source) {
	tokens := significant(scan(text, dialectSQLite))
	for at, name := range assignments(tokens, from.columnsOf) {
		if tokens[at].kind != tokenParam {
			continue
		}
		n, err := strconv.Atoi(tokens[at].text[1:])
		if err == nil && n >= 1 && n <= len(types) && types[n-1] == oidUnspecified {
			types[n-1] = parameterType(from.columns(name))
		}
	}
}

// typeStrings converts each string that is assigned to a column to the type of the column, as PostgreSQL
// does. For example, '1.5' becomes 1.5 for a column of numbers. A string that cannot be converted stays a
// string.
func typeStrings(text string, columns columnTypes, columnsOf func(table string) []string) string {
	all := scan(text, dialectSQLite)
	var tokens []token
	var positions []int // for each element of tokens, the index of this token in the slice all
	for i, t := range all {
		if t.kind != tokenSpace {
			tokens, positions = append(tokens, t), append(positions, i)
		}
	}
	for at, name := range assignments(tokens, columnsOf) {
		if t := tokens[at]; t.kind == tokenString && t.text[0]|0x20 != 'x' {
			all[positions[at]] = typeString(t, columns(name))
		}
	}
	return joinTokens(all)
}

// typeString converts a string to a value of type o. It returns the string if the conversion is not possible.
func typeString(t token, o oid) token {
	s := strings.TrimSpace(stringValue(t))
	switch o {
	case oidInt2, oidInt4, oidInt8:
		if v, err := strconv.ParseInt(s, 10, 64); err == nil {
			return token{tokenNumber, strconv.FormatInt(v, 10)}
		}
	case oidFloat4, oidFloat8:
		if v, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return token{tokenNumber, strconv.FormatFloat(v, 'g', -1, 64)}
		}
	case oidBool:
		if v, err := parseBool(s); err == nil {
			return token{tokenWord, strings.ToUpper(strconv.FormatBool(v))}
		}
	case oidBytea:
		if v, err := parseBytea(s); err == nil {
			return token{tokenString, "x'" + hex.EncodeToString(v) + "'"}
		}
	}
	return t
}
