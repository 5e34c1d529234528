package bench

// packed is a slice without holes whose elements are known by their ids: removing moves the last element into the gap.
type packed struct {
	elements  []element
	ids       []uint32 // by position
	positions []uint32 // by id
}

func filledPacked(n int) *packed {
	p := &packed{elements: fillSlice(n, n), ids: make([]uint32, n), positions: make([]uint32, n)}
	for i := range p.ids {
		p.ids[i], p.positions[i] = uint32(i), uint32(i)
	}
	return p
}

func (p *packed) remove(id uint32) {
	i, last := p.positions[id], len(p.elements)-1
	moved := p.ids[last]
	p.elements[i] = p.elements[last]
	p.ids[i] = moved
	p.positions[moved] = i
	p.elements, p.ids = p.elements[:last], p.ids[:last]
}
