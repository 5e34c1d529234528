package inspect

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// mostListed bounds the columns that an error message lists.
const mostListed = 8

// columnNamed returns the column that a request names. The parameter by is the kind of the text: "id" for
// the number of a column, "name" for a name, and "" for either of these. Several columns may share a name,
// and the name of one column may be the number of another column. columnNamed refuses a text that fits
// several columns, because an edit could change the wrong component. If by is "id", a text fits at most one
// column.
func columnNamed(columns []column, text, by string) (*column, error) {
	if by != "" && by != "id" && by != "name" {
		return nil, badRequest("by is %.40q: give id for the column's number, or name for its name", by)
	}
	number, err := strconv.Atoi(text)
	isNumber := err == nil && by != "name"
	if by == "id" && !isNumber {
		return nil, badRequest("by=id takes the number of a column, not %.40q", text)
	}
	var named []*column
	for i := range columns {
		if c := &columns[i]; by != "id" && c.Name == text && !c.info.Private {
			named = append(named, c)
		}
	}
	var numbered *column
	if isNumber && number >= 0 && number < len(columns) {
		numbered = &columns[number]
	}
	// numbered may be a private column, which holds no components. If the text is both the number and the
	// name of numbered, the text is not ambiguous.
	others := slices.DeleteFunc(slices.Clone(named), func(c *column) bool { return c == numbered })
	switch {
	case numbered != nil && len(others) > 0:
		return nil, ambiguous("%.80q is the number of %.80q and the name of %s: add by=id for the number, "+
			"or by=name for the name", text, numbered.Name, numbersOf(others))
	case numbered != nil && !numbered.info.Private:
		return numbered, nil
	case len(named) > 1:
		return nil, ambiguous("%d components are called %.80q, %s: give the number of the column, with by=id",
			len(named), text, numbersOf(named))
	case len(named) == 1:
		return named[0], nil
	case isNumber:
		return nil, notFound("the world has no component with the number %d", number)
	}
	return nil, notFound("the world has no component %.80q", text)
}

// ambiguous is the error for a text that fits several columns.
func ambiguous(format string, args ...any) error {
	return &problem{Status: http.StatusBadRequest, Code: "ambiguous", Message: fmt.Sprintf(format, args...)}
}

// numbersOf lists the numbers of columns for a message.
func numbersOf(columns []*column) string {
	var list []string
	for _, c := range columns[:min(len(columns), mostListed)] {
		list = append(list, strconv.Itoa(c.ID))
	}
	text := "number " + strings.Join(list, ", ")
	if len(columns) > 1 {
		text = "the numbers " + strings.Join(list, ", ")
	}
	if len(columns) > mostListed {
		text += " and others"
	}
	return text
}
