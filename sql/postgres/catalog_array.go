package postgres

import (
	"encoding/json"
	"errors"
	"iter"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// SQLite has no arrays. The catalog keeps them as text in the form of PostgreSQL: {a,b}.

func arrayText(elements []any) string {
	texts := make([]string, len(elements))
	for i, element := range elements {
		texts[i] = "NULL"
		if element != nil {
			texts[i] = quoteElement(textOf(element))
		}
	}
	return "{" + strings.Join(texts, ",") + "}"
}

func quoteElement(s string) string {
	if s != "" && !strings.ContainsAny(s, "{}\",\\ \t\r\n") && !strings.EqualFold(s, "null") {
		return s
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// elementsOf returns the elements of an array, or of a vector of numbers such as "1 2".
func elementsOf(s string) []any {
	if !strings.HasPrefix(s, "{") {
		var elements []any
		for field := range strings.FieldsSeq(s) {
			elements = append(elements, field)
		}
		return elements
	}
	s = strings.TrimSuffix(s[1:], "}")
	var elements []any
	for len(s) > 0 {
		var element any
		element, s = cutElement(s)
		elements = append(elements, element)
	}
	return elements
}

// cutElement returns the first element of s, and the text after the comma that follows the element. s is the
// text between the braces of an array.
func cutElement(s string) (element any, rest string) {
	if s[0] != '"' {
		text, rest, _ := strings.Cut(s, ",")
		if strings.EqualFold(text, "null") {
			return nil, rest
		}
		return text, rest
	}
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
		case s[i] == '"':
			return b.String(), strings.TrimPrefix(s[i+1:], ",")
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String(), ""
}

// arrayJSON returns an array as JSON, which SQLite's json_each reads. Texts of integers become numbers.
func arrayJSON(argument any) any {
	if argument == nil {
		return "[]"
	}
	elements := elementsOf(textOf(argument))
	for i, element := range elements {
		if text, ok := element.(string); ok {
			if v, err := strconv.ParseInt(text, 10, 64); err == nil {
				elements[i] = v
			}
		}
	}
	if elements == nil {
		return "[]"
	}
	b, err := json.Marshal(elements)
	if err != nil {
		return err
	}
	return string(b)
}

// subscript returns the element of an array at an index from 1 on.
func subscript(a []any) any {
	at, ok := a[1].(int64)
	elements := elementsOf(textOf(a[0]))
	if !ok || at < 1 || at > int64(len(elements)) {
		return nil
	}
	return elements[at-1]
}

func lengthOfArray(argument any) any {
	if argument == nil {
		return nil
	}
	return int64(len(elementsOf(textOf(argument))))
}

// splitText returns an array of the parts of a text between separators. An empty text has no parts, an empty
// separator cuts nothing, and NULL cuts the text into characters.
func splitText(a []any) any {
	if a[0] == nil {
		return nil
	}
	text, separator := textOf(a[0]), ""
	if a[1] != nil {
		separator = textOf(a[1])
	}
	var elements []any
	switch {
	case text == "":
	case a[1] != nil && separator == "":
		elements = append(elements, text)
	default:
		for part := range strings.SplitSeq(text, separator) {
			elements = append(elements, part)
		}
	}
	return arrayText(elements)
}

// parseIdent returns an array of the parts of a qualified name, such as public."My table". Parts without
// quotes are in lower case.
func parseIdent(a []any) any {
	if a[0] == nil {
		return nil
	}
	var parts []any
	tokens := significant(scan(textOf(a[0]), dialectPostgres))
	valid := len(tokens)%2 == 1 // a name, and a dot and a name for each further part
	for i, t := range tokens {
		if i%2 == 0 {
			parts, valid = append(parts, t.name()), valid && t.isName()
		} else {
			valid = valid && t.is(".")
		}
	}
	if !valid {
		return errors.New("the text is not a valid name: " + textOf(a[0]))
	}
	return arrayText(parts)
}

// removeElement returns an array without the elements that are equal to the second argument. NULL is equal to
// NULL.
func removeElement(a []any) any {
	if a[0] == nil {
		return nil
	}
	var kept []any
	for _, element := range elementsOf(textOf(a[0])) {
		same := element == nil && a[1] == nil || element != nil && a[1] != nil && element == textOf(a[1])
		if !same {
			kept = append(kept, element)
		}
	}
	return arrayText(kept)
}

// joinArray returns the elements of an array with a separator between them. The third argument replaces
// elements that are NULL. If the third argument is absent or NULL, such elements are left out.
func joinArray(a []any) any {
	if a[0] == nil || a[1] == nil {
		return nil
	}
	var texts []string
	for _, element := range elementsOf(textOf(a[0])) {
		switch {
		case element != nil:
			texts = append(texts, textOf(element))
		case len(a) == 3 && a[2] != nil:
			texts = append(texts, textOf(a[2]))
		}
	}
	return strings.Join(texts, textOf(a[1]))
}

// aggregateArray is the aggregate function array_agg.
func aggregateArray(ctx *sqlite3.Context, rows iter.Seq[[]sqlite3.Value]) {
	var elements []any
	for row := range rows {
		elements = append(elements, valueOf(row[0]))
	}
	setResult(*ctx, arrayText(elements))
}
