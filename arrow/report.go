package vastarrow

import (
	"fmt"
	"slices"
	"unicode/utf8"
)

// mostListed is the largest length of each list in a Report.
const mostListed = 100

// Report describes what [Read] has done.
type Report struct {
	Entities int // number of entities that were made

	// Unknown lists the columns of the file that belong to no field. Missing lists the fields that have no
	// column in the file, although another field of the same component has one. Each lists at most 100 names.
	Unknown, Missing []string

	// Nulls counts the values that are null in a row where another field of the same component is not null.
	// The field is then zero.
	Nulls int
	// Refused counts three kinds of values:
	//   - values that do not fit into their field, such as 300 in an int8; the field is zero or absent,
	//   - names that another entity has; the name is absent,
	//   - links that cannot be made, such as a link to an entity that the file lacks; the link is absent,
	//     or the field of type vast.Entity is zero.
	Refused int
	// Problems describes the first 100 refused values.
	Problems []Problem
}

// Problem describes a refused value.
type Problem struct {
	Row    int // 0 for the first row
	Column string
	Text   string // what is wrong
}

// String returns a line such as "row 7, column health: 300 is out of the range of int8".
func (p Problem) String() string {
	return fmt.Sprintf("row %d, column %s: %s", p.Row, p.Column, p.Text)
}

func (r *Report) refuse(row int, column, text string) {
	if r.Refused++; len(r.Problems) < mostListed {
		r.Problems = append(r.Problems, Problem{row, column, text})
	}
}

func (r *Report) unknown(name string) {
	name = shorten(name)
	if len(r.Unknown) < mostListed && !slices.Contains(r.Unknown, name) {
		r.Unknown = append(r.Unknown, name)
	}
}

func (r *Report) missing(name string) {
	if len(r.Missing) < mostListed {
		r.Missing = append(r.Missing, name)
	}
}

// shorten cuts a text of a file for messages, between two characters.
func shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	n := most
	for n > most-utf8.UTFMax && !utf8.RuneStart(s[n]) { // bytes that are not UTF-8 may have no start
		n--
	}
	return s[:n] + "…"
}
