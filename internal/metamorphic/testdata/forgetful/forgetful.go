// Package forgetful has a faulty column, for a test that must find the fault.
package forgetful

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/internal/metamorphic"
)

// column loses the value when a component is added to an entity for the second time.
type column struct {
	metamorphic.Column
	removed map[vast.Entity]bool
}

// Add adds the component with v, or with 0 if it was removed from the entity before.
func (c *column) Add(e vast.Entity, v uint64) bool {
	if c.removed[e] {
		v = 0
	}
	return c.Column.Add(e, v)
}

// Remove records the entity for Add.
func (c *column) Remove(e vast.Entity) bool {
	ok := c.Column.Remove(e)
	if ok {
		c.removed[e] = true
	}
	return ok
}

// Configurations returns a correct configuration and a faulty one.
func Configurations() []metamorphic.Configuration {
	wrong := metamorphic.Configuration{Workers: 1, Wrap: func(c metamorphic.Column) metamorphic.Column {
		return &column{c, map[vast.Entity]bool{}}
	}}
	return []metamorphic.Configuration{{Workers: 1}, wrong}
}
