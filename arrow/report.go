package vastarrow

import (
	"fmt"
	"slices"
)

// mostListed is the largest number of names and problems that a Report lists.
const mostListed = 100

// Report says what [Read] made of a file.
type Report struct {
	Entities int // number of entities that were made

	// Unknown lists the columns of the file that belong to no field, and Missing the fields without a column
	// whose components have another column. Each lists at most 100 names.
	Unknown, Missing []string

	// Nulls counts fields that are null in the file while another field of the component is not. Such fields
	// are zero.
	Nulls int
	// Refused counts values that did not fit into their field, such as 300 in an int8, names that another
	// entity has, and links to entities that the file lacks. Such fields are zero, such names and links are
	// absent.
	Refused int
	// Problems describes the first 100 refused values.
	Problems []Problem
}

// Problem describes a value that did not fit.
type Problem struct {
	Row    int // 0 for the first row
	Column string
	Text   string // what is wrong
}

// String returns a line such as row 7, column Health: 300 is out of the range of int8.
func (p Problem) String() string {
	return fmt.Sprintf("row %d, column %s: %s", p.Row, p.Column, p.Text)
}

func (r *Report) refuse(row int, column, text string) {
	if r.Refused++; len(r.Problems) < mostListed {
		r.Problems = append(r.Problems, Problem{row, column, text})
	}
}

func (r *Report) unknown(name string) {
	if len(r.Unknown) < mostListed && !slices.Contains(r.Unknown, name) {
		r.Unknown = append(r.Unknown, shorten(name))
	}
}

func (r *Report) missing(name string) {
	if len(r.Missing) < mostListed {
		r.Missing = append(r.Missing, name)
	}
}

// shorten cuts a text of a file for messages.
func shorten(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return s[:most] + "…"
}
