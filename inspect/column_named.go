package inspect

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// maxListed bounds the columns that an error message lists.
const maxListed = 8

// columnNamed returns the column that a request names. If by is "id", text is the number of the column; if by
// is "name", text is its name; if by is "", text is its number or name. Several columns may share a name, and
// the name of one column may be the number of another column. columnNamed refuses a text that fits several
// columns, because an edit could change the wrong component.
func columnNamed(columns []column, text, by string) (*column, error) {
	if by != "" && by != "id" && by != "name" {
		return nil, badRequest("by is %.40q: give id for the column's number, or name for its name", by)
	}
	number, err := strconv.Atoi(text)
	isNumber := err == nil && by != "name"
	if by == "id" && !isNumber {
		return nil, badRequest("by=id takes the number of a column, not %.40q", text)
	}
	var byName []*column
	for i := range columns {
		if c := &columns[i]; by != "id" && c.Name == text && !c.info.Private {
			byName = append(byName, c)
		}
	}
	var byNumber *column
	if isNumber && number >= 0 && number < len(columns) {
		byNumber = &columns[number]
	}
	// A text that is both the number and the name of one column is not ambiguous. byNumber may be a private
	// column, which holds no components.
	others := slices.DeleteFunc(slices.Clone(byName), func(c *column) bool { return c == byNumber })
	switch {
	case byNumber != nil && len(others) > 0:
		return nil, ambiguous("%.80q is the number of %.80q and the name of %s: add by=id for the number, "+
			"or by=name for the name", text, byNumber.Name, numbersOf(others))
	case byNumber != nil && !byNumber.info.Private:
		return byNumber, nil
	case len(byName) > 1:
		return nil, ambiguous("%d components are called %.80q, %s: give the number of the column, with by=id",
			len(byName), text, numbersOf(byName))
	case len(byName) == 1:
		return byName[0], nil
	case isNumber:
		return nil, notFound("the world has no component with the number %d", number)
	}
	return nil, notFound("the world has no component %.80q", text)
}

func ambiguous(format string, args ...any) error {
	return &problem{Status: http.StatusBadRequest, Code: "ambiguous", Message: fmt.Sprintf(format, args...)}
}

func numbersOf(columns []*column) string {
	var list []string
	for _, c := range columns[:min(len(columns), maxListed)] {
		list = append(list, strconv.Itoa(c.ID))
	}
	text := "number " + strings.Join(list, ", ")
	if len(columns) > 1 {
		text = "the numbers " + strings.Join(list, ", ")
	}
	if len(columns) > maxListed {
		text += " and others"
	}
	return text
}
