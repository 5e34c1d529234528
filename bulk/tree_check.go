package bulk

import (
	"cmp"
	"fmt"
)

// checkInvariants panics when the tree contradicts itself. Complexity: one step for each pair.
func (t *tree[K, V]) checkInvariants(name string) {
	fail := func(format string, args ...any) {
		panic("bulk: " + name + ": broken invariant: " + fmt.Sprintf(format, args...))
	}
	if t.height == 0 {
		if t.nodes != 0 || t.len != 0 {
			fail("an empty tree has %d nodes for %d pairs", t.nodes, t.len)
		}
		return
	}
	if t.nodes > t.room || t.room*bytesNode > t.span.committed {
		fail("%d nodes in use, room for %d, %d bytes committed", t.nodes, t.room, t.span.committed)
	}
	c := treeCheck[K, V]{t: t, fail: fail, seen: make([]bool, t.nodes)}
	c.node(t.root, t.height-1, -1, nil, nil)
	if c.pairs != t.len || c.nodes != t.nodes {
		fail("the tree notes %d pairs in %d nodes, but has %d pairs in %d nodes", t.len, t.nodes, c.pairs,
			c.nodes)
	}
	if c.leaf == 0 || c.leaf-1 != t.last || t.head(t.last).next != 0 {
		fail("the walk ends with leaf %d, the tree notes %d as the last leaf, and the next of that leaf is "+
			"%d (0 for none)", c.leaf-1, t.last, t.head(t.last).next)
	}
}

// treeCheck is the state of a walk over all nodes.
type treeCheck[K cmp.Ordered, V any] struct {
	t            *tree[K, V]
	fail         func(string, ...any)
	seen         []bool
	leaf         uint32 // 1 + the previous leaf
	nodes, pairs int
}

// pair is a key with a value, or an end of a range of pairs. A nil *pair is an open end.
type pair[K cmp.Ordered, V any] struct {
	key   K
	value V
}

func (a *pair[K, V]) compare(b *pair[K, V]) int {
	if c := cmp.Compare(a.key, b.key); c != 0 && a.key != b.key {
		return c
	}
	return cmp.Compare(bitsOf(a.value), bitsOf(b.value))
}

// node checks node i, whose pairs must be in [low, high), and the nodes below it. at is the index of node i
// in its parent; -1 for the root.
func (c *treeCheck[K, V]) node(i uint32, level, at int, low, high *pair[K, V]) {
	if int(i) >= len(c.seen) || c.seen[i] {
		c.fail("node %d is reached twice, or is not one of the %d nodes in use", i, len(c.seen))
	}
	c.seen[i] = true
	c.nodes++
	h := c.t.head(i)
	if int(h.level) != level || h.count == 0 || int(h.count) > c.t.form.maxEntries(level) {
		c.fail("node %d on level %d has level %d in its head and %d entries", i, level, h.level, h.count)
	}
	r := c.t.entries(i)
	var last *pair[K, V]
	for j := range int(h.count) {
		p := &pair[K, V]{r.keys[j], r.values[j]}
		if level == 0 || j > 0 {
			if low != nil && p.compare(low) < 0 || high != nil && p.compare(high) >= 0 ||
				last != nil && p.compare(last) <= 0 {
				c.fail("entry %d of node %d, %v, is out of order", j, i, *p)
			}
			last = p
		} else if at > 0 && p.compare(low) != 0 {
			c.fail("node %d begins with %v, but its parent has %v", i, *p, *low)
		}
	}
	if level == 0 {
		c.pairs += int(h.count)
		if h.prev != c.leaf || c.leaf == 0 && c.t.first != i || c.leaf > 0 && c.t.head(c.leaf-1).next != i+1 {
			c.fail("leaf %d is not linked with leaf %d", i, int(c.leaf)-1)
		}
		c.leaf = i + 1
		return
	}
	for j := range int(h.count) {
		from, to := low, high
		if j > 0 {
			from = &pair[K, V]{r.keys[j], r.values[j]}
		}
		if j+1 < int(h.count) {
			to = &pair[K, V]{r.keys[j+1], r.values[j+1]}
		}
		c.node(r.children[j], level-1, j, from, to)
	}
}
