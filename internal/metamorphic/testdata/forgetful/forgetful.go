// Package forgetful has a column that makes a mistake, for the test of what finds mistakes.
package forgetful

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/metamorphic"
)

// column forgets the value of what is added to an entity for the second time.
type column struct {
	metamorphic.Column
	removed map[vast.Entity]bool
}

// Add is wrong now and then.
func (c *column) Add(e vast.Entity, v uint64) bool {
	if c.removed[e] {
		v = 0
	}
	return c.Column.Add(e, v)
}

// Remove notes who must come back for the mistake.
func (c *column) Remove(e vast.Entity) bool {
	ok := c.Column.Remove(e)
	if ok {
		c.removed[e] = true
	}
	return ok
}

// Configurations are one that is right and one that is not.
func Configurations() []metamorphic.Configuration {
	wrong := metamorphic.Configuration{Workers: 1, Wrap: func(c metamorphic.Column) metamorphic.Column {
		return &column{c, map[vast.Entity]bool{}}
	}}
	return []metamorphic.Configuration{{Workers: 1}, wrong}
}
