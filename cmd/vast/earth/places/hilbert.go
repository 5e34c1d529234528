package places

// The Hilbert curve covers a square with sides of 2^hilbertBits units of position. Longitudes have 36,000,001
// different values, and latitudes have 18,000,001, so a coordinate fits in 26 bits.
const (
	hilbertBits = 26
	hilbertSide = 1 << hilbertBits
	hilbertEnd  = 1 << (2 * hilbertBits) // number of keys
)

// hilbertKey returns the distance along the curve to the point x, y; both coordinates must be below
// hilbertSide. It rotates quadrants, from the highest bit to the lowest. Source: Warren, Hacker's Delight,
// 2nd ed., chapter 16.
func hilbertKey(x, y uint32) uint64 {
	var key uint64
	for side := uint32(hilbertSide / 2); side > 0; side >>= 1 {
		var right, upper uint32
		if x&side != 0 {
			right = 1
		}
		if y&side != 0 {
			upper = 1
		}
		key = key<<2 | uint64(3*right^upper)
		x, y = x&(side-1), y&(side-1)
		if upper == 0 {
			if right == 1 {
				x, y = side-1-x, side-1-y
			}
			x, y = y, x
		}
	}
	return key
}

// hilbertPoint is the inverse of hilbertKey. It works from the lowest bits to the highest.
func hilbertPoint(key uint64) (x, y uint32) {
	for side := uint32(1); side < hilbertSide; side <<= 1 {
		right := uint32(key>>1) & 1
		upper := uint32(key)&1 ^ right
		if upper == 0 {
			if right == 1 {
				x, y = side-1-x, side-1-y
			}
			x, y = y, x
		}
		x += side * right
		y += side * upper
		key >>= 2
	}
	return x, y
}
