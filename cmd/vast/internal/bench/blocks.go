package bench

// geometricBlocks is a container of blocks. Each block after the first has as much room as all earlier blocks
// together.
type geometricBlocks struct {
	current []element // the last block
	total   int       // room of all blocks, in elements
	full    [][]element
}

const firstBlockLen = 64 // room of the first block, in elements

func (b *geometricBlocks) append(e element) {
	if len(b.current) == cap(b.current) {
		b.grow()
	}
	b.current = append(b.current, e)
}

//go:noinline
func (b *geometricBlocks) grow() {
	b.full = append(b.full, b.current)
	b.current = make([]element, 0, max(firstBlockLen, b.total))
	b.total += cap(b.current)
}

//go:noinline
func (b *geometricBlocks) fill(n int) {
	for i := range n {
		b.append(element{position: vector{float32(i), 1, 2}})
	}
}

//go:noinline
func (b *geometricBlocks) fillLapping(n int, s *stopwatch) {
	for i := range n {
		b.append(element{position: vector{float32(i), 1, 2}})
		s.lap()
	}
}

// fixedBlocks is a container of blocks of 16 KiB.
type fixedBlocks struct {
	current *block
	filled  int // number of elements in current
	all     []*block
}

type block [16 << 10 / bytesElement]element

func (b *fixedBlocks) append(e element) {
	if b.current == nil || b.filled == len(b.current) {
		b.grow()
	}
	b.current[b.filled] = e
	b.filled++
}

//go:noinline
func (b *fixedBlocks) grow() {
	b.current, b.filled = new(block), 0
	b.all = append(b.all, b.current)
}

//go:noinline
func (b *fixedBlocks) fill(n int) {
	for i := range n {
		b.append(element{position: vector{float32(i), 1, 2}})
	}
}

//go:noinline
func (b *fixedBlocks) fillLapping(n int, s *stopwatch) {
	for i := range n {
		b.append(element{position: vector{float32(i), 1, 2}})
		s.lap()
	}
}
