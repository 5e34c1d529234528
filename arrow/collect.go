package vastarrow

import (
	"github.com/vastgo/vast"
	"github.com/vastgo/vast/probe"
)

// collect appends the components of the entities [lo, lo+n) of a run to one filler for each leaf. Entities
// without the component get nulls, or false for a tag.
func (c *component) collect(fillers []filler, run vast.Run, lo, n int) error {
	switch c.role {
	case roleRelation:
		for i := range n {
			if target, ok := c.relation.Target(run.Entity(lo + i)); ok {
				fillers[0].addNumber(target.ID())
			} else {
				fillers[0].addNulls(1)
			}
		}
		return nil
	case roleNames:
		for i := range n {
			if name, ok := c.names.Of(run.Entity(lo + i)); ok {
				fillers[0].addText(name)
			} else {
				fillers[0].addNulls(1)
			}
		}
		return nil
	case roleTag:
		c.eachPart(run, lo, n, func(_ vast.Run, n int, present bool) {
			fillers[0].addBool(present, n)
		})
		return nil
	case roleBoxed:
		for i := range n {
			if err := c.collectValue(fillers, run.Entity(lo+i)); err != nil {
				return err
			}
		}
		return nil
	}
	if n == run.Len() && c.has(run, lo, n) == n { // probe.Bytes needs the component in the whole run
		c.collectBytes(fillers, probe.Bytes(c.col, run), n)
		return nil
	}
	c.eachPart(run, lo, n, func(part vast.Run, n int, present bool) {
		if present {
			c.collectBytes(fillers, probe.Bytes(c.col, part), n)
			return
		}
		for i := range fillers {
			fillers[i].addNulls(n)
		}
	})
	return nil
}

func (c *component) collectBytes(fillers []filler, b []byte, n int) {
	for i := range fillers {
		fillers[i].addRows(b, c.stride, n)
	}
}

func (c *component) collectValue(fillers []filler, e vast.Entity) error {
	v, ok := probe.Value(c.col, e)
	if !ok {
		for i := range fillers {
			fillers[i].addNulls(1)
		}
		return nil
	}
	for i := range fillers {
		if err := fillers[i].addValue(v); err != nil {
			return err
		}
	}
	return nil
}

// has returns how many of the entities [lo, lo+n) of a run have the component.
func (c *component) has(run vast.Run, lo, n int) int {
	return probe.Occupied(c.world, c.col, run.Start()+lo, run.Start()+lo+n)
}

// eachPart divides the entities [lo, lo+n) of a run into parts and calls f for each part. Either all entities
// of a part have the component, or they all lack it. f gets the zero Run for a part whose entities lack the
// component.
func (c *component) eachPart(run vast.Run, lo, n int, f func(part vast.Run, n int, present bool)) {
	at := run.Start() + lo
	end := at + n
	for part := range probe.All(c.world.Query(c.col)).Between(at, end).Runs() {
		if gap := part.Start() - at; gap > 0 {
			f(vast.Run{}, gap, false)
		}
		f(part, part.Len(), true)
		at = part.Start() + part.Len()
	}
	if at < end {
		f(vast.Run{}, end-at, false)
	}
}
