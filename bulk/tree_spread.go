package bulk

import (
	"slices"
	"unsafe"

	"github.com/vastgo/vast/internal/invariants"
)

// maxNeighbours is the largest number of nodes whose entries are spread together.
const maxNeighbours = 3

// newNode returns the number of a new node without entries. The memory of the node must be committed.
func (t *tree[K, V]) newNode(level uint32) uint32 {
	i := uint32(t.nodes)
	t.nodes++
	*t.head(i) = nodeHead{level: level}
	return i
}

// insert puts an entry into the node at depth d of the path, at the given index.
func (t *tree[K, V]) insert(p *path, d, at int, k K, v V, child uint32) {
	i := p[d].node
	h := t.head(i)
	if int(h.count) < t.form.maxEntries(int(h.level)) {
		r := t.entries(i)
		copyRows(r, at+1, r, at, int(h.count)-at)
		r.set(at, k, v, child)
		h.count++
		return
	}
	if d == 0 {
		t.raise(p)
		d = 1
	}
	parent := p[d-1]
	if at == int(h.count) && parent.at == int(t.head(parent.node).count)-1 && t.isLast(p, d-1) {
		// The entry is the last of its level and gets a new node, so that ascending keys leave full nodes.
		n := t.newNode(h.level)
		r := t.entries(n)
		r.set(0, k, v, child)
		t.head(n).count = 1
		if h.level == 0 {
			t.link(i, n)
		}
		t.insert(p, d-1, parent.at+1, k, v, n)
		return
	}
	begin, n := t.neighbours(parent)
	total := t.gather(parent.node, begin, n)
	mine := at
	for _, c := range t.entries(parent.node).children[begin:parent.at] {
		mine += int(t.head(c).count)
	}
	s := t.scratch
	if h.level == 0 {
		s.children = nil
	}
	copyRows(s, mine+1, s, mine, total-mine)
	s.set(mine, k, v, child)
	total++
	// Leave a little room, so that the next insertion does not spread the entries again.
	if most := t.form.maxEntries(int(h.level)); total <= n*most*19/20 {
		t.spread(p, d, begin, n, n, total)
	} else {
		t.spread(p, d, begin, n, n+1, total)
	}
}

// isLast reports whether the path goes through the last child at each depth less than d.
func (t *tree[K, V]) isLast(p *path, d int) bool {
	for _, s := range p[:d] {
		if s.at != int(t.head(s.node).count)-1 {
			return false
		}
	}
	return true
}

// raise puts a new root above the old root and into the path.
func (t *tree[K, V]) raise(p *path) {
	old := t.root
	t.root = t.newNode(uint32(t.height))
	r, from := t.entries(t.root), t.entries(old)
	r.set(0, from.keys[0], from.values[0], old)
	t.head(t.root).count = 1
	copy(p[1:], p[:t.height])
	p[0] = step{t.root, 0}
	t.height++
}

// link puts leaf n to the right of leaf i.
func (t *tree[K, V]) link(i, n uint32) {
	a, b := t.head(i), t.head(n)
	b.next, b.prev = a.next, i+1
	a.next = n + 1
	if b.next == 0 {
		t.last = n
	} else {
		t.head(b.next - 1).prev = n + 1
	}
}

// unlink takes leaf i out of the list of leaves.
func (t *tree[K, V]) unlink(i uint32) {
	h := t.head(i)
	if h.prev == 0 {
		t.first = h.next - 1
	} else {
		t.head(h.prev - 1).next = h.next
	}
	if h.next == 0 {
		t.last = h.prev - 1
	} else {
		t.head(h.next - 1).prev = h.prev
	}
}

func (t *tree[K, V]) cut(i uint32, entry int) {
	h := t.head(i)
	r := t.entries(i)
	copyRows(r, entry, r, entry+1, int(h.count)-entry-1)
	h.count--
}

// neighbours returns a range of a parent's children: the child that the step leads to, and up to two children
// beside it. begin is the index of the first child, n the number of children.
func (t *tree[K, V]) neighbours(parent step) (begin, n int) {
	count := int(t.head(parent.node).count)
	n = min(maxNeighbours, count)
	return max(0, min(parent.at-1, count-n)), n
}

// gather copies the entries of n children of a parent into the scratch rows. begin is the index of the first
// child. gather returns the number of entries.
func (t *tree[K, V]) gather(parent uint32, begin, n int) (total int) {
	for _, c := range t.entries(parent).children[begin : begin+n] {
		count := int(t.head(c).count)
		copyRows(t.scratch, total, t.entries(c), 0, count)
		total += count
	}
	return total
}

// spread distributes scratch rows evenly over m children of the node at depth d-1. total is the number of
// rows, and begin the index of the first child. The rows come from n children, and m is n-1, n or n+1. A new
// child is inserted into the parent last, because the insertion may spread the parent's own entries.
func (t *tree[K, V]) spread(p *path, d, begin, n, m, total int) {
	parent := p[d-1].node
	up := t.entries(parent)
	var to [maxNeighbours + 1]uint32
	copy(to[:n], up.children[begin:begin+n])
	level := t.head(to[0]).level
	if m > n {
		to[n] = t.newNode(level)
		if level == 0 {
			t.link(to[n-1], to[n])
		}
	}
	s := t.scratch
	if level == 0 {
		s.children = nil
	}
	for j, from := 0, 0; j < m; j++ {
		count := (total - from) / (m - j)
		copyRows(t.entries(to[j]), 0, s, from, count)
		t.head(to[j]).count = uint32(count)
		switch {
		case j == 0 && level > 0:
			// The first pair of an inner node equals the pair in the parent's entry for the node. The loop
			// does not change this entry for the first child. If the first child was empty, the first scratch
			// row comes from another child and has another pair.
			r := t.entries(to[0])
			r.keys[0], r.values[0] = up.keys[begin], up.values[begin]
		case j > 0 && j < n:
			up.keys[begin+j], up.values[begin+j] = s.keys[from], s.values[from]
		}
		if j == n {
			k, v := s.keys[from], s.values[from]
			t.insert(p, d-1, begin+n, k, v, to[n])
			return
		}
		from += count
	}
	if m < n {
		if level == 0 {
			t.unlink(to[m])
		}
		t.free(to[m])
		t.cut(parent, begin+m)
	}
}

// fill mends the tree after the node at depth d of the path has lost an entry. If the node has too few
// entries left, fill spreads the entries of the node and its neighbours. If the parent loses an entry by
// this, fill continues with the parent.
func (t *tree[K, V]) fill(p *path, d int) {
	for ; d > 0; d-- {
		h := t.head(p[d].node)
		level := int(h.level)
		if int(h.count) >= t.form.minEntries(level) {
			return
		}
		begin, n := t.neighbours(p[d-1])
		if n == 1 {
			// An only child has no neighbours. It is freed when it is empty. The next iteration fills the
			// parent.
			if h.count == 0 {
				if level == 0 {
					t.unlink(p[d].node)
				}
				t.free(p[d].node)
				t.cut(p[d-1].node, 0)
			}
			continue
		}
		total := t.gather(p[d-1].node, begin, n)
		if total > (n-1)*t.form.maxEntries(level)*39/40 {
			t.spread(p, d, begin, n, n, total)
			return
		}
		t.spread(p, d, begin, n, n-1, total)
	}
	t.lower()
}

// lower removes roots that have a single child or no entries.
func (t *tree[K, V]) lower() {
	for t.height > 1 && t.head(t.root).count == 1 {
		child := t.childAt(t.root, 0)
		t.free(t.root)
		t.root = child
		t.height--
	}
	if t.height > 0 && t.head(t.root).count == 0 {
		t.free(t.root)
		t.height = 0
	}
}

// free marks a node as freed. The caller must call compact afterwards.
func (t *tree[K, V]) free(i uint32) { t.freed = append(t.freed, i) }

// compact gives the last nodes the numbers of freed nodes, so that the nodes in use have the lowest numbers.
func (t *tree[K, V]) compact() {
	if len(t.freed) == 0 {
		return
	}
	// Descending numbers: in each iteration, the last node must be node i itself or a node in use.
	slices.SortFunc(t.freed, func(a, b uint32) int { return int(b) - int(a) })
	for _, i := range t.freed {
		t.nodes--
		if last := uint32(t.nodes); i != last {
			t.move(last, i)
		}
		if invariants.Enabled {
			invariants.Poison(unsafe.Slice((*byte)(t.node(uint32(t.nodes))), bytesNode))
		}
	}
	t.freed = t.freed[:0]
	_ = t.giveBack() // after a failure, unused memory stays committed
}

// move moves a node to another number, which no node in use has.
func (t *tree[K, V]) move(from, to uint32) {
	h := t.head(from)
	// The parent is on the path to any pair below the node.
	leaf := from
	for range h.level {
		leaf = t.childAt(leaf, 0)
	}
	k, v := t.keys(leaf)[0], bitsOf(t.values(leaf)[0])
	if from == t.root {
		t.root = to
	} else {
		i := t.root
		for level := t.height - 1; ; level-- {
			at := t.child(i, k, v)
			if level == int(h.level)+1 {
				t.entries(i).children[at] = to
				break
			}
			i = t.childAt(i, at)
		}
	}
	if h.level == 0 {
		if h.prev == 0 {
			t.first = to
		} else {
			t.head(h.prev - 1).next = to + 1
		}
		if h.next == 0 {
			t.last = to
		} else {
			t.head(h.next - 1).prev = to + 1
		}
	}
	copy(unsafe.Slice((*byte)(t.node(to)), bytesNode), unsafe.Slice((*byte)(t.node(from)), bytesNode))
}
