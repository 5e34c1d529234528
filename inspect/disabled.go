package inspect

import (
	"slices"

	"github.com/vastgo/vast"
)

// disabledBy returns the names of the tags that switch e off. Call it only inside Inspector.look.
func disabledBy(w *vast.World, columns []column, e vast.Entity) []string {
	return tagsOf(w, columns, e, func(c *column) bool { return c.info.Disables == nil })
}

// componentDisabledBy returns the names of the tags that switch off e's component in a column. Call it only
// inside Inspector.look.
func componentDisabledBy(w *vast.World, columns []column, id int, e vast.Entity) []string {
	return tagsOf(w, columns, e, func(c *column) bool { return slices.Contains(c.info.Disables, id) })
}

// tagsOf returns the names of the tags of vast.Disabled that e has and that f accepts.
func tagsOf(w *vast.World, columns []column, e vast.Entity, f func(c *column) bool) []string {
	names := []string{} // not nil: the JSON is a list
	for i := range columns {
		if c := &columns[i]; c.info.Disabled && f(c) && has(w, c.col, e) {
			names = append(names, c.Name)
		}
	}
	return names
}
