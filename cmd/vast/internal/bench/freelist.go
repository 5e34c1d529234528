package bench

import (
	"math/bits"
	"unsafe"
)

// freeList is an array with holes, as in "Virtual Arrays for Virtual Worlds" (3dverse). The holes are a
// linked list: the first bytes of a hole are the index of the next hole.
type freeList struct {
	elements []element
	valid    []uint64 // one bit for each element: 1 if the element is live
	first    uint32   // index of the first hole, or noHole
}

const noHole = ^uint32(0)

func newFreeList(n int) *freeList {
	return &freeList{elements: make([]element, 0, n), valid: make([]uint64, (n+63)/64), first: noHole}
}

func (l *freeList) clear() {
	l.elements, l.first = l.elements[:0], noHole
	clear(l.valid)
}

func filledFreeList(n int) *freeList {
	l := newFreeList(n)
	for i := range n {
		l.insert(numbered(i))
	}
	return l
}

// next returns a pointer to the index in hole i. The conversion is sound because an element is larger than a
// uint32, has the same alignment, and holds no Go pointers.
func (l *freeList) next(i uint32) *uint32 { return (*uint32)(unsafe.Pointer(&l.elements[i])) }

func (l *freeList) insert(e element) uint32 {
	i := l.first
	if i == noHole {
		i = uint32(len(l.elements))
		l.elements = append(l.elements, e)
	} else {
		l.first = *l.next(i)
		l.elements[i] = e
	}
	l.valid[i/64] |= 1 << (i % 64)
	return i
}

func (l *freeList) remove(i uint32) {
	l.valid[i/64] &^= 1 << (i % 64)
	*l.next(i) = l.first
	l.first = i
}

func (l *freeList) live() int {
	n := 0
	for _, w := range l.valid {
		n += bits.OnesCount64(w)
	}
	return n
}
