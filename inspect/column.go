package inspect

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// mostListed is how many columns a refusal names.
const mostListed = 8

// columnNamed returns the column that a request means by a text: a number where by is id, a name where by is
// name, either where by is empty. Several columns may have one name, and the name of one may be the number of
// another. A text that may mean two columns is refused, since an edit would silently change another
// component. by=id never means two.
func columnNamed(columns []column, text, by string) (*column, error) {
	if by != "" && by != "id" && by != "name" {
		return nil, badRequest("by is %.40q: give id where the column is named by its number, or name", by)
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
	// A number may mean a column of the world's own too, which has no components: that is not the column of
	// the name.
	others := slices.DeleteFunc(slices.Clone(named), func(c *column) bool { return c == numbered })
	switch {
	case numbered != nil && len(others) > 0:
		return nil, ambiguous("%.80q is the number of %.80q, and the name of %s: add by=id for the number, or "+
			"by=name for the name", text, numbered.Name, numbersOf(others))
	case numbered != nil && !numbered.info.Private:
		return numbered, nil
	case len(named) > 1:
		return nil, ambiguous("%d components are called %.80q, with %s: give the number of one, with by=id",
			len(named), text, numbersOf(named))
	case len(named) == 1:
		return named[0], nil
	case isNumber:
		return nil, notFound("the world has no component of number %d", number)
	}
	return nil, notFound("the world has no component %.80q", text)
}

// ambiguous is the answer for what may mean several things.
func ambiguous(format string, args ...any) error {
	return &problem{Status: http.StatusBadRequest, Code: "ambiguous", Message: fmt.Sprintf(format, args...)}
}

// numbersOf returns the numbers of columns for a message.
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
