package bulk

// Reserved returns the bytes of addresses that the table takes: 0 before the first row or Grow, and after
// Close.
func (t *Table) Reserved() int {
	if t.region == nil || t.ended != nil {
		return 0
	}
	return t.region.Size()
}

// Committed returns the bytes of memory that the table may touch; 0 after Close.
func (t *Table) Committed() int {
	if t.region == nil {
		return 0
	}
	return t.region.Committed()
}

// Resident returns how many bytes of the table are in memory. It asks the operating system; see
// [vm.Region.Resident].
func (t *Table) Resident() (int, error) {
	if t.region == nil {
		return 0, nil
	}
	return t.region.Resident()
}
