package postgres

import (
	"encoding/hex"
	"strconv"
	"strings"
)

// translateQuery returns a statement for the user's database. It replaces syntax that SQLite lacks or reads
// differently: parameters ($1), casts (x::text), strings of the forms E'text' and $$text$$, INTERVAL before a
// string, the schema public, now(), and extract(field FROM time). All other text stays as it is.
func translateQuery(text string) string {
	tokens := scan(text, dialectSQLite)
	var e editor
	ends := map[int]string{} // what to write instead of closing parentheses
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		if end, ok := ends[i]; ok {
			e.write(end)
			continue
		}
		switch {
		case t.kind == tokenParam:
			e.add(token{tokenParam, "?" + t.text[1:]})
		case t.is("::"):
			i = translateCast(&e, tokens, i, castQuery)
		case t.kind == tokenString:
			e.add(translateString(t))
		case t.is("extract"):
			if call, from, end, ok := findExtract(tokens, i); ok {
				e.write(call[0])
				ends[end] = call[1]
				i = nextSignificant(tokens, from+1) - 1
			} else {
				e.add(t)
			}
		case t.is("interval"):
			if next := nextSignificant(tokens, i+1); next < len(tokens) && tokens[next].kind == tokenString {
				i = next - 1
			} else {
				e.add(t)
			}
		case t.is("now"):
			if end, ok := isNow(tokens, i); ok {
				e.write(nowCall)
				i = end
			} else {
				e.add(t)
			}
		case t.name() == "public":
			if at, ok := qualifiedName(tokens, i); ok {
				i = at - 1
			} else {
				e.add(t)
			}
		default:
			e.add(t)
		}
	}
	return e.text()
}

// qualifiedName returns the position of the name that the qualifier at position i belongs to. It returns ok
// false if the token at i is no qualifier.
func qualifiedName(tokens []token, i int) (at int, ok bool) {
	dot := nextSignificant(tokens, i+1)
	at = nextSignificant(tokens, dot+1)
	return at, at < len(tokens) && tokens[dot].is(".") && tokens[at].isName()
}

// translateString returns a string of PostgreSQL as a string of SQLite.
func translateString(t token) token {
	if t.text[0] == '$' || t.text[0]|0x20 == 'e' {
		return token{tokenString, quoteString(stringValue(t))}
	}
	return t
}

// translateCast writes the cast whose :: is tokens[at], and returns the position of the last token of the
// cast. The caller has already written the operand.
func translateCast(e *editor, tokens []token, at int, cast func(*editor, typeReference)) int {
	t, next, ok := parseType(tokens, at+1)
	if !ok {
		e.add(tokens[at]) // SQLite reports the error
		return at
	}
	cast(e, t)
	return next - 1
}

// castQuery casts the operand at the end of e.
func castQuery(e *editor, t typeReference) {
	if castLiteral(e, t) {
		return
	}
	if to := castType(t); to != "" {
		e.cast(to)
	}
}

// castLiteral replaces a string by the Boolean or the blob that it stands for, such as 't'::bool. It returns
// false for other operands, other types and invalid strings.
func castLiteral(e *editor, t typeReference) bool {
	e.dropSpace()
	if len(e.out) == 0 || e.out[len(e.out)-1].kind != tokenString {
		return false
	}
	last := &e.out[len(e.out)-1]
	switch typeNames[t.name] {
	case oidBool:
		if value, err := parseBool(stringValue(*last)); err == nil {
			*last = token{tokenWord, strings.ToUpper(strconv.FormatBool(value))}
			return true
		}
	case oidBytea:
		if value, err := parseBytea(stringValue(*last)); err == nil {
			*last = token{tokenString, "x'" + hex.EncodeToString(value) + "'"}
			return true
		}
	}
	return false
}
