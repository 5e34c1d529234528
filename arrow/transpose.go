package vastarrow

import "unsafe"

// gather copies n parts of a size from src to dst. Parts lie stride bytes apart in src, and side by side in
// dst. src begins with the first part and ends with or after the last. dst must have room for n parts.
func gather(dst, src []byte, stride, size, n int) {
	if n == 0 {
		return
	}
	if stride == size {
		copy(dst[:n*size], src)
		return
	}
	_, _ = dst[n*size-1], src[(n-1)*stride+size-1] // the loops below do not check bounds
	d, s := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	switch size {
	case 1:
		move[uint8](d, s, 1, stride, n)
	case 2:
		move[uint16](d, s, 2, stride, n)
	case 4:
		move[uint32](d, s, 4, stride, n)
	case 8:
		move[uint64](d, s, 8, stride, n)
	default:
		for i := range n {
			copy(dst[i*size:(i+1)*size], src[i*stride:])
		}
	}
}

// scatter copies n parts of a size from src to dst. Parts lie side by side in src, and stride bytes apart in
// dst. The rules of gather hold.
func scatter(dst, src []byte, stride, size, n int) {
	if n == 0 {
		return
	}
	if stride == size {
		copy(dst, src[:n*size])
		return
	}
	_, _ = src[n*size-1], dst[(n-1)*stride+size-1]
	d, s := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	switch size {
	case 1:
		move[uint8](d, s, stride, 1, n)
	case 2:
		move[uint16](d, s, stride, 2, n)
	case 4:
		move[uint32](d, s, stride, 4, n)
	case 8:
		move[uint64](d, s, stride, 8, n)
	default:
		for i := range n {
			copy(dst[i*stride:], src[i*size:(i+1)*size])
		}
	}
}

// move copies n values whose addresses grow by to and by from bytes. The callers have checked that the first
// and the last value lie in their slices, so all values do. Numbers in components and in Arrow buffers are
// aligned as Go aligns them.
func move[T uint8 | uint16 | uint32 | uint64](dst, src unsafe.Pointer, to, from, n int) {
	i := 0
	for ; i+4 <= n; i += 4 { // four values a round are faster than one
		a := *(*T)(unsafe.Add(src, i*from))
		b := *(*T)(unsafe.Add(src, (i+1)*from))
		c := *(*T)(unsafe.Add(src, (i+2)*from))
		e := *(*T)(unsafe.Add(src, (i+3)*from))
		*(*T)(unsafe.Add(dst, i*to)) = a
		*(*T)(unsafe.Add(dst, (i+1)*to)) = b
		*(*T)(unsafe.Add(dst, (i+2)*to)) = c
		*(*T)(unsafe.Add(dst, (i+3)*to)) = e
	}
	for ; i < n; i++ {
		*(*T)(unsafe.Add(dst, i*to)) = *(*T)(unsafe.Add(src, i*from))
	}
}
