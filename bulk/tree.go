package bulk

import (
	"cmp"
	"runtime"
	"unsafe"
)

// tree is a B+tree of distinct pairs of a key and a value, in ascending order of keys. The pairs of one key
// are in ascending order of the values' bits, so that a search for one of a million values of a key takes no
// longer than any other search.
//
// A node has bytesNode bytes and a number. The numbers of the nodes in use are 0 to nodes-1: at the end of a
// change, the last nodes move into the places of freed nodes, so that the end of the memory can be given
// back. An inner node has an entry for each child: the child's number, and a lower bound of the pairs below
// the child. A search does not read the lower bound of child 0.
//
// When a node overflows or becomes too empty, its entries and the entries of its neighbours under the same
// parent are spread evenly over these nodes (see tree_spread.go). This keeps nodes at least 65% full.
// Exceptions are the last node of each level, and the children of a parent with fewer than three children.
// Knuth's B*-tree spreads entries over a node and one neighbour, and keeps nodes two thirds full ("The Art of
// Computer Programming", volume 3, 6.2.4).
type tree[K cmp.Ordered, V any] struct {
	base    unsafe.Pointer // node 0
	root    uint32
	first   uint32 // the first leaf in the order of pairs
	last    uint32 // the last leaf in the order of pairs
	height  int    // number of levels; 0 if the tree has no nodes
	nodes   int    // number of nodes in use
	room    int    // number of nodes for which memory is committed
	len     int    // number of pairs
	form    nodeForm
	span    snugSpan
	scratch rows[K, V]
	freed   []uint32 // numbers of the nodes that the current change has freed
}

// bytesNode is a compromise. Larger nodes waste a smaller part of their memory and make the tree lower. In a
// smaller node, a search or a shift touches fewer cache lines.
const bytesNode = 1024

// treeAhead makes a tree commit a sixteenth more memory than it needs.
const treeAhead = 16

// nodeHead is the beginning of each node.
type nodeHead struct {
	count uint32
	level uint32 // 0 for a leaf
	next  uint32 // 1 + the number of the leaf to the right, or 0
	prev  uint32 // 1 + the number of the leaf to the left, or 0
}

// nodeForm is the layout of a node: keys, values, and in inner nodes children, in this order.
type nodeForm struct {
	maxLeaf, maxInner       int // number of entries of a full node
	leafValues, innerValues int // offsets from the node's beginning
	children                int // offset from the node's beginning
}

const bytesHead = int(unsafe.Sizeof(nodeHead{}))

func newNodeForm(sizeKey, sizeValue int) nodeForm {
	space := bytesNode - bytesHead
	align := func(at, unit int) int { return (at + unit - 1) / unit * unit }
	var f nodeForm
	for f.maxLeaf = space / (sizeKey + sizeValue); ; f.maxLeaf-- {
		f.leafValues = align(bytesHead+f.maxLeaf*sizeKey, sizeValue)
		if f.leafValues+f.maxLeaf*sizeValue <= bytesNode {
			break
		}
	}
	for f.maxInner = space / (sizeKey + sizeValue + 4); ; f.maxInner-- {
		f.innerValues = align(bytesHead+f.maxInner*sizeKey, sizeValue)
		f.children = f.innerValues + f.maxInner*sizeValue
		if f.children+f.maxInner*4 <= bytesNode {
			return f
		}
	}
}

func (f *nodeForm) maxEntries(level int) int {
	if level == 0 {
		return f.maxLeaf
	}
	return f.maxInner
}

// minEntries returns how many entries a node of a level should have at least.
func (f *nodeForm) minEntries(level int) int { return (f.maxEntries(level)*13 + 19) / 20 }

// bytesTree returns the bytes of a tree that may hold n pairs.
func bytesTree(n, sizeKey, sizeValue int) int {
	f := newNodeForm(sizeKey, sizeValue)
	return (f.nodesFor(n) + 2*maxLevels) * bytesNode
}

// nodesFor returns an upper bound for the number of nodes that n pairs take. It assumes half-full nodes, and
// two more nodes on each level.
func (f *nodeForm) nodesFor(n int) int {
	total := 0
	for k, most := n, f.maxLeaf; ; most = f.maxInner {
		k = (2*k+most-1)/most + 2
		total += k
		if k <= 4 {
			return total
		}
	}
}

func newTree[K cmp.Ordered, V any](span snugSpan) tree[K, V] {
	var k K
	var v V
	t := tree[K, V]{base: span.base, span: span, form: newNodeForm(int(unsafe.Sizeof(k)),
		int(unsafe.Sizeof(v)))}
	n := maxNeighbours*t.form.maxLeaf + 1
	t.scratch = rows[K, V]{make([]K, n), make([]V, n), make([]uint32, n)}
	return t
}

// rows holds entries of nodes as columns. Entries of a leaf have no children.
type rows[K, V any] struct {
	keys     []K
	values   []V
	children []uint32
}

// The methods node, head, keys, values and entries are sound for the nodes in use: the memory of these nodes
// is committed and does not move before Close, and neither K nor V holds Go pointers.

func (t *tree[K, V]) node(i uint32) unsafe.Pointer {
	return unsafe.Add(t.base, uintptr(i)*bytesNode)
}

func (t *tree[K, V]) head(i uint32) *nodeHead { return (*nodeHead)(t.node(i)) }

func (t *tree[K, V]) keys(i uint32) []K {
	p := t.node(i)
	return unsafe.Slice((*K)(unsafe.Add(p, bytesHead)), (*nodeHead)(p).count)
}

// values returns the values of leaf i.
func (t *tree[K, V]) values(i uint32) []V {
	p := t.node(i)
	return unsafe.Slice((*V)(unsafe.Add(p, t.form.leafValues)), (*nodeHead)(p).count)
}

// entries returns the entries of node i, in slices with the length of a full node.
func (t *tree[K, V]) entries(i uint32) rows[K, V] {
	p := t.node(i)
	keys := (*K)(unsafe.Add(p, bytesHead))
	if t.head(i).level == 0 {
		n := t.form.maxLeaf
		return rows[K, V]{unsafe.Slice(keys, n), unsafe.Slice((*V)(unsafe.Add(p, t.form.leafValues)), n), nil}
	}
	n := t.form.maxInner
	return rows[K, V]{unsafe.Slice(keys, n), unsafe.Slice((*V)(unsafe.Add(p, t.form.innerValues)), n),
		unsafe.Slice((*uint32)(unsafe.Add(p, t.form.children)), n)}
}

// copyRows copies n entries from index j of src to index i of dst. The ranges may overlap.
func copyRows[K, V any](dst rows[K, V], i int, src rows[K, V], j, n int) {
	copy(dst.keys[i:i+n], src.keys[j:j+n])
	copy(dst.values[i:i+n], src.values[j:j+n])
	if src.children != nil {
		copy(dst.children[i:i+n], src.children[j:j+n])
	}
}

func (r *rows[K, V]) set(at int, k K, v V, child uint32) {
	r.keys[at], r.values[at] = k, v
	if r.children != nil {
		r.children[at] = child
	}
}

// bitsOf returns the bits of a value of 4 or 8 bytes. The tree compares values by these bits. Reading them is
// sound because the types of values have no Go pointers and no padding.
func bitsOf[V any](v V) uint64 {
	if unsafe.Sizeof(v) == 4 {
		return uint64(*(*uint32)(unsafe.Pointer(&v)))
	}
	words := (*[2]uint32)(unsafe.Pointer(&v))
	return uint64(words[0]) | uint64(words[1])<<32
}

// fetch reads the first bytes of a node, so that the processor fetches their cache lines in parallel. A
// search alone would fetch one line after the other, because it must read a line before it knows the next.
func (t *tree[K, V]) fetch(i uint32, bytes int) {
	p := t.node(i)
	var read byte
	for at := 0; at < bytes; at += bytesLine {
		read |= *(*byte)(unsafe.Add(p, at))
	}
	runtime.KeepAlive(read)
}

// lowerBound returns how many of the ascending keys are less than k. It halves the range without a branch
// that the processor would have to predict.
func lowerBound[K cmp.Ordered](keys []K, k K) int {
	low := 0
	for n := len(keys); n > 0; {
		half := int(uint(n+1) / 2)
		next := low
		if keys[low+half-1] < k {
			next = low + half
		}
		low = next
		n -= half
	}
	return low
}

// pairBound returns the index of the first pair, from index start on, that is (k, v) or greater. If skipEqual
// is true, this pair must be greater than (k, v). keys[start] must be k or greater.
func pairBound[K cmp.Ordered, V any](keys []K, values []V, start int, k K, v uint64, skipEqual bool) int {
	low, high := start, len(keys)
	for low < high {
		m := int(uint(low+high) / 2)
		if b := bitsOf(values[m]); keys[m] == k && (b < v || skipEqual && b == v) {
			low = m + 1
		} else {
			high = m
		}
	}
	return low
}

// child returns the index of the child of inner node i whose range contains (k, v).
func (t *tree[K, V]) child(i uint32, k K, v uint64) int {
	keys := t.keys(i)[1:]
	at := lowerBound(keys, k)
	if at < len(keys) && keys[at] == k {
		values := unsafe.Slice((*V)(unsafe.Add(t.node(i), t.form.innerValues)), len(keys)+1)[1:]
		at = pairBound(keys, values, at, k, v, true)
	}
	return at
}

// place returns the index of the first pair of leaf i that is (k, v) or greater.
func (t *tree[K, V]) place(i uint32, k K, v uint64) int {
	keys := t.keys(i)
	at := lowerBound(keys, k)
	if v != 0 && at < len(keys) && keys[at] == k {
		at = pairBound(keys, t.values(i), at, k, v, false)
	}
	return at
}

// childAt returns the number of a child of inner node i; at is the index of the child.
func (t *tree[K, V]) childAt(i uint32, at int) uint32 {
	return *(*uint32)(unsafe.Add(t.node(i), t.form.children+4*at))
}

// seek returns the leaf and the index of the first pair that is (k, v) or greater. If there is no such pair,
// seek returns the last leaf and the number of its pairs. The tree must not be empty.
func (t *tree[K, V]) seek(k K, v uint64) (leaf uint32, at int) {
	leaf = t.root
	for range t.height - 1 {
		leaf = t.childAt(leaf, t.child(leaf, k, v))
		t.fetch(leaf, t.form.leafValues)
	}
	at = t.place(leaf, k, v)
	if h := t.head(leaf); at == int(h.count) && h.next != 0 {
		return h.next - 1, 0
	}
	return leaf, at
}

// find returns the leaf and the index of the first pair of key k. ok reports whether there is such a pair.
func (t *tree[K, V]) find(k K) (leaf uint32, at int, ok bool) {
	if t.len == 0 {
		return 0, 0, false
	}
	leaf, at = t.seek(k, 0)
	keys := t.keys(leaf)
	return leaf, at, at < len(keys) && keys[at] == k
}

func (t *tree[K, V]) contains(k K) bool {
	_, _, ok := t.find(k)
	return ok
}

func (t *tree[K, V]) has(k K, v V) bool {
	if t.len == 0 {
		return false
	}
	leaf, at := t.seek(k, bitsOf(v))
	keys := t.keys(leaf)
	return at < len(keys) && keys[at] == k && bitsOf(t.values(leaf)[at]) == bitsOf(v)
}

// count returns how many values key k has. Complexity: one descent, and one step for each leaf that has these
// values.
func (t *tree[K, V]) count(k K) (n int) {
	var values []V
	for leaf, at, ok := t.find(k); ok; at = 0 {
		values, leaf, ok = t.run(k, leaf, at)
		n += len(values)
	}
	return n
}

// hasFewer reports whether key k has fewer than n values. It stops counting at n, because a key may have a
// million values.
func (t *tree[K, V]) hasFewer(k K, n int) bool {
	var values []V
	for leaf, at, ok := t.find(k); ok && n > 0; at = 0 {
		values, leaf, ok = t.run(k, leaf, at)
		n -= len(values)
	}
	return n > 0
}

// run returns the values of key k in a leaf, from the given index on. If more is true, leaf number next may
// have more values of k.
func (t *tree[K, V]) run(k K, leaf uint32, at int) (values []V, next uint32, more bool) {
	keys, values := t.keys(leaf), t.values(leaf)
	if keys[len(keys)-1] == k {
		next = t.head(leaf).next
		return values[at:], next - 1, next != 0
	}
	return values[at:pairBound(keys, values, at, k, 1<<64-1, true)], 0, false
}

// step is one level of a descent: a node, and the index of the entry that the descent follows.
type step struct {
	node uint32
	at   int
}

// maxLevels is greater than the number of levels of a tree of 2^32 nodes: a half-full node has at least ten
// children.
const maxLevels = 12

// path is a descent from the root to a leaf.
type path [maxLevels]step

// descend stores the path to (k, v) in p. The last step has the index of the first pair in the leaf that is
// (k, v) or greater.
func (t *tree[K, V]) descend(p *path, k K, v uint64) {
	i := t.root
	for d := range t.height - 1 {
		at := t.child(i, k, v)
		p[d] = step{i, at}
		i = t.childAt(i, at)
		t.fetch(i, t.form.leafValues)
	}
	p[t.height-1] = step{i, t.place(i, k, v)}
}

// add adds a pair and reports whether the pair is new. Complexity: O(log n).
func (t *tree[K, V]) add(op operation, k K, v V) (bool, error) {
	if t.height == 0 {
		if err := t.makeRoom(op, 1); err != nil {
			return false, err
		}
		t.root, t.height, t.len = t.newNode(0), 1, 1
		t.first, t.last = t.root, t.root
		r := t.entries(t.root)
		r.set(0, k, v, 0)
		t.head(t.root).count = 1
		return true, nil
	}
	var p path
	t.descend(&p, k, bitsOf(v))
	s := p[t.height-1]
	if keys := t.keys(s.node); s.at < len(keys) && keys[s.at] == k &&
		bitsOf(t.values(s.node)[s.at]) == bitsOf(v) {
		return false, nil
	}
	if int(t.head(s.node).count) == t.form.maxLeaf {
		// Each level gets at most one new node, and the tree may get a new root.
		if err := t.makeNodes(op, t.nodes+t.height+1); err != nil {
			return false, err
		}
	}
	t.insert(&p, t.height-1, s.at, k, v, 0)
	t.len++
	return true, nil
}

// remove removes a pair and reports whether there was one. Complexity: O(log n).
func (t *tree[K, V]) remove(k K, v V) bool {
	removed, _ := t.removeBeside(k, v)
	return removed
}

// removeBeside is remove, and also returns how many other pairs of the key are near the removed pair in its
// leaf. It reads up to maxBeside entries on each side.
func (t *tree[K, V]) removeBeside(k K, v V) (removed bool, beside int) {
	if t.len == 0 {
		return false, 0
	}
	var p path
	t.descend(&p, k, bitsOf(v))
	d := t.height - 1
	s := p[d]
	keys := t.keys(s.node)
	if s.at == len(keys) || keys[s.at] != k || bitsOf(t.values(s.node)[s.at]) != bitsOf(v) {
		return false, 0
	}
	first, last := max(0, s.at-maxBeside), min(len(keys)-1, s.at+maxBeside)
	for keys[first] != k {
		first++
	}
	for keys[last] != k {
		last--
	}
	t.cut(s.node, s.at)
	t.len--
	t.fill(&p, d)
	t.compact()
	return true, last - first
}

// maxBeside is large enough for HashIndex.removeFromGroup, which asks whether at least fewestInGroup values
// remain.
const maxBeside = fewestInGroup

func (t *tree[K, V]) clear() {
	t.height, t.nodes, t.len = 0, 0, 0
	t.span.promised = 0
	_ = t.giveBack()
}

// makeRoom makes the next n insertions unable to fail.
func (t *tree[K, V]) makeRoom(op operation, n int) error {
	// need is the smaller of two bounds. The first bound adds the new nodes to the present nodes: each
	// insertion makes at most one leaf and one node on each level above, and at most one in eight nodes of
	// the larger tree is an inner node. The second bound assumes that nodes are at least half full.
	inner := min(n*max(0, t.height-1), t.nodes/8+n/8+maxLevels)
	need := min(t.nodes+n+inner, max(t.nodes, t.form.nodesFor(t.len+n)))
	// Before an insertion into a full leaf, add commits memory for a node on each level and a new root.
	return t.makeNodes(op, need+t.height+2)
}

// makeNodes commits memory for n nodes, including the nodes in use.
func (t *tree[K, V]) makeNodes(op operation, n int) error {
	if n <= t.room {
		return nil
	}
	err := t.span.grow(op, n*bytesNode)
	t.room = t.span.committed / bytesNode
	return err
}

// giveBack decommits memory that the tree does not need; see snugSpan.shrink.
func (t *tree[K, V]) giveBack() error {
	err := t.span.shrink(t.nodes * bytesNode)
	t.room = t.span.committed / bytesNode
	return err
}

// promise makes the next n insertions unable to fail. The memory for them stays committed until the caller
// sets span.promised to 0.
func (t *tree[K, V]) promise(n int) error {
	if err := t.makeRoom(opGrow, n); err != nil {
		return err
	}
	t.span.promised = max(t.span.promised, t.span.committed)
	return nil
}

// removeAll removes all values of key k and returns how many there were.
func (t *tree[K, V]) removeAll(k K) (n int) {
	for {
		leaf, at, ok := t.find(k)
		if !ok {
			return n
		}
		t.remove(k, t.values(leaf)[at])
		n++
	}
}
