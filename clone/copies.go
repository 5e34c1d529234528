package clone

import (
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/vastgo/vast"
)

// Copies holds the entities that a call of [Cloner.CloneN] has made. Later changes of the world do not change
// Copies. Several goroutines may use Copies at the same time. Copies takes 8 bytes for each original and for
// each copy. The first call of [Copies.Of] adds an index of the originals.
type Copies struct {
	originals, copies []vast.Entity // copies[i*len(originals)+row] is copy i of originals[row]
	once              sync.Once
	rows              map[vast.Entity]int // nil before the first call of Of
}

func newCopies(originals, copies []vast.Entity) *Copies {
	return &Copies{originals: slices.Clone(originals), copies: slices.Clone(copies)}
}

// Len returns the number of copies of the root.
func (c *Copies) Len() int {
	if len(c.originals) == 0 {
		return 0
	}
	return len(c.copies) / len(c.originals)
}

// Root returns copy number i of the root, from 0 to Len()-1.
func (c *Copies) Root(i int) vast.Entity { return c.of(i)[0] }

// Of returns copy number i of an original, or the zero Entity if the entity is no original. The first call
// makes an index of the originals. Complexity: that of a map.
func (c *Copies) Of(original vast.Entity, i int) vast.Entity {
	copies := c.of(i)
	c.once.Do(func() {
		c.rows = make(map[vast.Entity]int, len(c.originals))
		for row, e := range c.originals {
			c.rows[e] = row
		}
	})
	row, ok := c.rows[original]
	if !ok {
		return vast.Entity{}
	}
	return copies[row]
}

// All yields each original together with its copy number i. The root comes first.
func (c *Copies) All(i int) iter.Seq2[vast.Entity, vast.Entity] {
	copies := c.of(i)
	return func(yield func(original, copied vast.Entity) bool) {
		for row, e := range c.originals {
			if !yield(e, copies[row]) {
				return
			}
		}
	}
}

// of returns copy number i of each original.
func (c *Copies) of(i int) []vast.Entity {
	if i < 0 || i >= c.Len() {
		panic(fmt.Sprintf("clone: Copies has %d copies and no copy number %d: use 0 to Len()-1",
			c.Len(), i))
	}
	return c.copies[i*len(c.originals):][:len(c.originals)]
}
