package bulk

import "iter"

// All yields all pairs in ascending order.
func (x *OrderedIndex[K, V]) All() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		x.mustBeOpen()
		if x.tree.len > 0 {
			x.walk("All", x.tree.first, 0, nil, yield)
		}
	}
}

// From yields the pairs whose keys are at least low, in ascending order.
func (x *OrderedIndex[K, V]) From(low K) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		x.mustBeOpen()
		if x.tree.len > 0 && low == low {
			leaf, at := x.tree.seek(low, 0)
			x.walk("From", leaf, at, nil, yield)
		}
	}
}

// Range yields the pairs whose keys are in [low, high), in ascending order. Complexity: a descent of O(log
// n), and a step for each pair. [OrderedIndex.Runs] is faster over many pairs.
func (x *OrderedIndex[K, V]) Range(low, high K) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		x.mustBeOpen()
		if x.tree.len > 0 && low < high {
			leaf, at := x.tree.seek(low, 0)
			x.walk("Range", leaf, at, &high, yield)
		}
	}
}

// walk yields the pairs from an index of a leaf on, in ascending order, up to the first key that is not below
// *high. If high is nil, it yields them up to the last pair.
func (x *OrderedIndex[K, V]) walk(loop string, leaf uint32, index int, high *K, yield func(K, V) bool) {
	changes := x.changes
	for {
		keys, values, more := x.run(leaf, index, high)
		for i := range keys {
			if !yield(keys[i], values[i]) {
				return
			}
			x.mustBe(changes, loop)
		}
		if !more {
			return
		}
		leaf, index = x.tree.head(leaf).next-1, 0
	}
}

// run returns the pairs of a leaf from an index on, as far as their keys are below *high. The result more
// reports whether the next leaf may have such pairs, too. If high is nil, all keys count as below *high.
func (x *OrderedIndex[K, V]) run(leaf uint32, index int, high *K) (keys []K, values []V, more bool) {
	keys, values = x.tree.keys(leaf), x.tree.values(leaf)
	more = x.tree.head(leaf).next != 0
	if n := len(keys); high != nil && !(keys[n-1] < *high) {
		n = lowerBound(keys, *high)
		keys, values, more = keys[:max(index, n)], values[:max(index, n)], false
	}
	return keys[index:], values[index:], more
}

// Runs yields the pairs whose keys are in [low, high), in ascending order, many at a time: a slice of keys
// and a slice of their values, together up to 1 KiB. Do not write to the slices. Runs is the fastest way to
// visit many pairs.
func (x *OrderedIndex[K, V]) Runs(low, high K) iter.Seq2[[]K, []V] {
	return func(yield func([]K, []V) bool) {
		x.mustBeOpen()
		if x.tree.len == 0 || !(low < high) {
			return
		}
		changes := x.changes
		leaf, at := x.tree.seek(low, 0)
		for {
			keys, values, more := x.run(leaf, at, &high)
			if more {
				x.tree.fetch(x.tree.head(leaf).next-1, bytesNode) // loads while the body works on this leaf
			}
			if len(keys) > 0 {
				if !yield(keys, values) {
					return
				}
				x.mustBe(changes, "Runs")
			}
			if !more {
				return
			}
			leaf, at = x.tree.head(leaf).next-1, 0
		}
	}
}

// Descend yields all pairs in descending order.
func (x *OrderedIndex[K, V]) Descend() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		x.mustBeOpen()
		if x.tree.len == 0 {
			return
		}
		changes := x.changes
		for leaf := x.tree.last + 1; leaf != 0; leaf = x.tree.head(leaf - 1).prev {
			keys, values := x.tree.keys(leaf-1), x.tree.values(leaf-1)
			for i := len(keys) - 1; i >= 0; i-- {
				if !yield(keys[i], values[i]) {
					return
				}
				x.mustBe(changes, "Descend")
			}
		}
	}
}
