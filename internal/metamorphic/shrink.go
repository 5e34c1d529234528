package metamorphic

// Shrink returns a short stream that fails, made from one that does: operations are left out in ever smaller groups, and then
// the numbers of those that are left made smaller, as long as it goes on failing.
func Shrink(ops []Op, fails func([]Op) bool) []Op {
	for size := len(ops) / 2; size > 0; {
		shorter, found := without(ops, size, fails)
		if found {
			ops = shorter
			size = min(size, len(ops)/2)
			continue
		}
		size /= 2
	}
	// The last one can leave out a single operation of one only.
	for {
		shorter, found := without(ops, 1, fails)
		if !found {
			break
		}
		ops = shorter
	}
	for i := range ops {
		for _, field := range []func(*Op) *uint16{
			func(o *Op) *uint16 { return &o.A }, func(o *Op) *uint16 { return &o.B }, func(o *Op) *uint16 { return &o.V },
		} {
			for _, v := range []uint16{0, 1, 2, *field(&ops[i]) % 8} {
				try := append([]Op(nil), ops...)
				if *field(&try[i]) <= v {
					break
				}
				if *field(&try[i]) = v; fails(try) {
					ops = try
					break
				}
			}
		}
	}
	return ops
}

// without leaves out one group of so many operations.
func without(ops []Op, size int, fails func([]Op) bool) ([]Op, bool) {
	for end := len(ops); end > 0; end -= size {
		begin := max(0, end-size)
		shorter := append(append([]Op(nil), ops[:begin]...), ops[end:]...)
		if fails(shorter) {
			return shorter, true
		}
	}
	return ops, false
}
