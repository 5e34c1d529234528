package bench

// mapped is like packed, but finds the position of an id in a map.
type mapped struct {
	elements  []element
	ids       []uint64 // the id of each element
	positions map[uint64]int
	nextID    uint64
}

func newMapped(n int) *mapped {
	return &mapped{elements: make([]element, 0, n), ids: make([]uint64, 0, n),
		positions: make(map[uint64]int, n)}
}

func filledMapped(n int) *mapped {
	m := newMapped(n)
	for i := range n {
		m.insert(numbered(i))
	}
	return m
}

func (m *mapped) insert(e element) (id uint64) {
	id = m.nextID
	m.nextID++
	m.positions[id] = len(m.elements)
	m.elements = append(m.elements, e)
	m.ids = append(m.ids, id)
	return id
}

func (m *mapped) get(id uint64) *element { return &m.elements[m.positions[id]] }

func (m *mapped) remove(id uint64) {
	i, last := m.positions[id], len(m.elements)-1
	moved := m.ids[last]
	m.elements[i] = m.elements[last]
	m.ids[i] = moved
	m.positions[moved] = i
	m.elements, m.ids = m.elements[:last], m.ids[:last]
	delete(m.positions, id)
}
