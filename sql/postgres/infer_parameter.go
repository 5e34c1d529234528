package postgres

import "strconv"

// maxParameters is the highest number of parameters that the protocol admits.
const maxParameters = 1<<16 - 1

// inferParameters returns the types of the parameters of a statement. declared are the types that the client
// gives, where zero stands for no type. The error says that the number of a parameter is out of range.
func inferParameters(text string, declared []uint32, columns columnTypes) ([]oid, error) {
	tokens := significant(scan(text, dialectSQLite))
	types := make([]oid, len(declared))
	for i, o := range declared {
		types[i] = oid(o)
	}
	listType := oidUnspecified
	list := -1 // position of the "(" of a list of parameters and literals after IN, or -1
	// found tells whether the list had a parameter already. listType is the type of this parameter. Later
	// parameters of the list have the same type, unless the client declares another one.
	found := false
	for at, t := range tokens {
		switch {
		case t.is("(") && at > 0 && tokens[at-1].is("in"):
			list, found = at, false
		case t.kind != tokenParam && t.kind != tokenString && t.kind != tokenNumber && !t.is(","):
			list = -1
		}
		if t.kind != tokenParam {
			continue
		}
		n, err := strconv.Atoi(t.text[1:])
		if err != nil || n < 1 || n > maxParameters {
			return nil, failWithHint("42P02", "there is no parameter "+t.text,
				"Number parameters from $1 on.")
		}
		for len(types) < n {
			types = append(types, oidUnspecified)
		}
		switch {
		case list >= 0 && found:
			if types[n-1] == oidUnspecified {
				types[n-1] = listType
			}
		case types[n-1] == oidUnspecified:
			types[n-1] = inferParameter(tokens, at, list, columns)
		}
		if list >= 0 && !found {
			listType, found = types[n-1], true
		}
	}
	return types, nil
}

// inferParameter derives the type of the parameter tokens[at] from the tokens before and after it. If the
// parameter is in a list after IN, list is the position of the "(" of this list, otherwise -1.
func inferParameter(tokens []token, at, list int, columns columnTypes) oid {
	if at+2 < len(tokens) && tokens[at+1].is("::") {
		t, _, _ := parseType(tokens, at+2)
		return parameterType(typeNames[t.name])
	}
	if at > 2 && tokens[at-1].is("(") && tokens[at-2].is("cast") && at+2 < len(tokens) &&
		tokens[at+1].is("as") {
		t, _, _ := parseType(tokens, at+2)
		return parameterType(castResult(t))
	}
	if at > 0 {
		if o := inferFromLeft(tokens, at, list, columns); o != oidUnspecified {
			return parameterType(o)
		}
	}
	if at+2 < len(tokens) && isOperator(tokens[at+1]) {
		return parameterType(inferType(tokens[at+2:operandEnd(tokens, at+2)], columns, 0))
	}
	return oidUnspecified
}

// parameterType returns the type of a parameter if the text around it suggests the type o. For times it
// returns oidUnspecified, because SQLite stores times in many forms.
func parameterType(o oid) oid {
	switch o {
	case oidDate, oidTimestamp, oidTimestampTZ:
		return oidUnspecified
	case oidInt2, oidInt4:
		return oidInt8
	case oidFloat4:
		return oidFloat8
	}
	return o
}

func isOperator(t token) bool {
	return t.kind == tokenSymbol && (comparisons[t.text] || arithmetic[t.text])
}

func inferFromLeft(tokens []token, at, list int, columns columnTypes) oid {
	before := tokens[at-1]
	switch {
	case before.is("limit") || before.is("offset"):
		return oidInt8
	case before.is("like") || before.is("glob") || before.is("regexp") || before.is("||"):
		return oidText
	case before.is("between") || isOperator(before):
		return typeBefore(tokens, at-1, columns)
	case before.is("and"):
		for i := at - 2; i >= 0 && !tokens[i].is("and") && !tokens[i].is("where") && !tokens[i].is("("); i-- {
			if tokens[i].is("between") {
				return typeBefore(tokens, i, columns)
			}
		}
	case list >= 0:
		return typeBefore(tokens, list-1, columns)
	}
	return oidUnspecified
}

// typeBefore returns the type of the operand before position end.
func typeBefore(tokens []token, end int, columns columnTypes) oid {
	if end > 0 && tokens[end-1].is("not") {
		end--
	}
	start := operandStart(tokens[:end])
	if start < 0 {
		return oidUnspecified
	}
	return inferType(tokens[start:end], columns, 0)
}

// operandEnd returns the end of the operand that starts at start.
func operandEnd(tokens []token, start int) int {
	end := start + 1
	if tokens[start].is("(") {
		return min(closing(tokens, start)+1, len(tokens))
	}
	for end+1 < len(tokens) && tokens[end].is(".") {
		end += 2
	}
	if end < len(tokens) && tokens[end].is("(") && tokens[start].isName() {
		return min(closing(tokens, end)+1, len(tokens))
	}
	return end
}
