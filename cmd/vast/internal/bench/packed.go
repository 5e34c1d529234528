package bench

// packed is a slice without holes. Each element has an id. A removal moves the last element into the gap.
type packed struct {
	elements  []element
	ids       []uint32 // the id of each element
	positions []uint32 // the position of each id's element
	free      []uint32 // ids of removed elements, for reuse
}

func newPacked(n int) *packed {
	return &packed{
		elements:  make([]element, 0, n),
		ids:       make([]uint32, 0, n),
		positions: make([]uint32, 0, n),
		free:      make([]uint32, 0, n),
	}
}

func filledPacked(n int) *packed {
	p := newPacked(n)
	for i := range n {
		p.insert(numbered(i))
	}
	return p
}

func (p *packed) insert(e element) (id uint32) {
	if last := len(p.free) - 1; last >= 0 {
		id, p.free = p.free[last], p.free[:last]
		p.positions[id] = uint32(len(p.elements))
	} else {
		id = uint32(len(p.positions))
		p.positions = append(p.positions, uint32(len(p.elements)))
	}
	p.elements = append(p.elements, e)
	p.ids = append(p.ids, id)
	return id
}

func (p *packed) get(id uint32) *element { return &p.elements[p.positions[id]] }

func (p *packed) remove(id uint32) {
	i, last := p.positions[id], len(p.elements)-1
	moved := p.ids[last]
	p.elements[i] = p.elements[last]
	p.ids[i] = moved
	p.positions[moved] = i
	p.elements, p.ids = p.elements[:last], p.ids[:last]
	p.free = append(p.free, id)
}
